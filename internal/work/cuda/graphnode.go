package cuda

import (
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// This file: properties of nodes, and what graphs look like.

// ExecEnable turns a node of an executable graph on or off. One that is off does nothing;
// those that wait for it go on. Only kernels, copies and fills can be turned off.
func (t *Thread) ExecEnable(exec, h uint64, on bool) Error {
	return t.ofSwitch(exec, h, func(n *node) { n.off = !on })
}

// ExecEnabled reports whether a node of an executable graph is on.
func (t *Thread) ExecEnabled(exec, h uint64) (on bool, err Error) {
	err = t.ofSwitch(exec, h, func(n *node) { on = !n.off })
	return on, err
}

func (t *Thread) ofSwitch(exec, h uint64, f func(n *node)) Error {
	return t.ofExec(exec, func(r *Runtime, x *graphExec) Error {
		n := r.nodes[h]
		if n != nil {
			n = x.order.find(n)
		}
		if n == nil || n.work.kind() != NodeKernel && n.work.kind() != NodeCopy && n.work.kind() != NodeFill {
			return InvalidValue
		}
		f(n)
		return Success
	})
}

// NodePlace returns the graph of a node, and the node's number there in order of creation.
func (t *Thread) NodePlace(h uint64) (graph uint64, number int, err Error) {
	err = t.ofNode(h, func(_ *Runtime, n *node) Error {
		graph, number = n.graph.handle, slices.Index(n.graph.nodes, n)
		return Success
	})
	return graph, number, err
}

// KernelAttribute is an attribute of a kernel's node (cudaLaunchAttributeID). Those that
// streams have too are theirs; of these, only the priority has an effect.
type KernelAttribute int32

// The attributes that streams do not have.
const (
	kernelTogether KernelAttribute = 2 // a cooperative launch
	kernelCluster  KernelAttribute = 4 // blocks of a cluster in each direction
	kernelSpread   KernelAttribute = 5 // how clusters are placed; advice
	kernelPriority KernelAttribute = KernelAttribute(streamPriority)
)

// Bytes returns the size of an attribute's value; 0 if kernels do not have it.
func (a KernelAttribute) Bytes() int {
	switch a {
	case kernelTogether, kernelSpread:
		return 4
	case kernelCluster:
		return 12
	case KernelAttribute(streamPolicy):
		return 0
	}
	return StreamAttribute(a).Bytes()
}

// value returns an attribute of a launch.
func (w *kernelWork) value(a KernelAttribute) []byte {
	le := binary.LittleEndian
	switch a {
	case kernelTogether:
		if w.launch.Cooperative {
			return []byte{1, 0, 0, 0}
		}
		return make([]byte, 4)
	case kernelCluster:
		c := w.call.Cluster
		return le.AppendUint32(le.AppendUint32(le.AppendUint32(nil, c.X), c.Y), c.Z)
	case kernelPriority:
		return le.AppendUint32(nil, uint32(int32(w.priority)))
	}
	if v, set := w.attributes[a]; set {
		return []byte(v)
	}
	if a == kernelSpread {
		return make([]byte, 4)
	}
	return slices.Clone(streamAttributes[StreamAttribute(a)].initial)
}

// with returns a launch with an attribute.
func (w *kernelWork) with(r *Runtime, a KernelAttribute, v []byte) (*kernelWork, Error) {
	x, le := *w, binary.LittleEndian
	switch a {
	case kernelTogether:
		x.launch.Cooperative = le.Uint32(v) != 0
		if x.launch.Cooperative && x.launch.Grid.Count() > uint64(x.launch.Resident) {
			return nil, CooperativeTooLarge
		}
	case kernelCluster:
		var err Error
		if x.call.Cluster, _, _, err = r.clusters(w.f, Dim3{X: le.Uint32(v), Y: le.Uint32(v[4:]), Z: le.Uint32(v[8:])}); err != Success {
			return nil, err
		}
		x.launch.Cluster = x.call.Cluster
	case kernelPriority:
		x.priority = validPriority(int(int32(le.Uint32(v))))
	default:
		if a == kernelSpread && le.Uint32(v) > 2 || a != kernelSpread && !streamAttributes[StreamAttribute(a)].valid(r, v) {
			return nil, InvalidValue
		}
		x.attributes = maps.Clone(w.attributes)
		if x.attributes == nil {
			x.attributes = map[KernelAttribute]string{}
		}
		x.attributes[a] = string(v)
	}
	return &x, Success
}

// like returns a launch with the attributes of another.
func (w *kernelWork) like(r *Runtime, other *kernelWork) (*kernelWork, Error) {
	for _, a := range []KernelAttribute{kernelTogether, kernelCluster, kernelPriority} {
		x, err := w.with(r, a, other.value(a))
		if err != Success {
			return nil, err
		}
		w = x
	}
	w.attributes = other.attributes
	return w, Success
}

// KernelNodeAttribute stores an attribute of a kernel's node in to.
func (t *Thread) KernelNodeAttribute(h uint64, a KernelAttribute, to []byte) Error {
	return t.ofKernel(h, func(_ *Runtime, _ *node, w *kernelWork) Error {
		if a.Bytes() == 0 || len(to) != a.Bytes() {
			return InvalidValue
		}
		copy(to, w.value(a))
		return Success
	})
}

// SetKernelNodeAttribute sets an attribute of a kernel's node.
func (t *Thread) SetKernelNodeAttribute(h uint64, a KernelAttribute, v []byte) Error {
	return t.ofKernel(h, func(r *Runtime, n *node, w *kernelWork) Error {
		if a.Bytes() == 0 || len(v) != a.Bytes() {
			return InvalidValue
		}
		x, err := w.with(r, a, v)
		if err == Success {
			n.work = x
		}
		return err
	})
}

// CopyKernelNodeAttributes gives a kernel's node the attributes of another.
func (t *Thread) CopyKernelNodeAttributes(to, from uint64) Error {
	return t.ofKernel(from, func(r *Runtime, _ *node, src *kernelWork) Error {
		n := r.nodes[to]
		if n == nil {
			return InvalidValue
		}
		w, ok := n.work.(*kernelWork)
		if !ok {
			return InvalidValue
		}
		w, err := w.like(r, src)
		if err == Success {
			n.work = w
		}
		return err
	})
}

// ofKernel runs a call on the node of a kernel.
func (t *Thread) ofKernel(h uint64, f func(r *Runtime, n *node, w *kernelWork) Error) Error {
	return t.ofNode(h, func(r *Runtime, n *node) Error {
		w, ok := n.work.(*kernelWork)
		if !ok {
			return InvalidValue
		}
		return f(r, n, w)
	})
}

// kindNames are how messages and pictures call the kinds.
var kindNames = [...]string{
	NodeKernel: "kernel", NodeCopy: "copy", NodeFill: "fill", NodeHost: "host function", NodeGraph: "graph", NodeEmpty: "empty", NodeEventWait: "wait for an event",
	NodeEventRecord: "record of an event", NodeAlloc: "allocation", NodeFree: "free", NodeMemory: "values in memory", NodeConditional: "condition",
}

// title is a node's text in a picture.
func (n *node) title() string {
	text := kindNames[n.work.kind()]
	switch w := n.work.(type) {
	case *kernelWork:
		g, b := w.call.Grid, w.call.Block
		text = fmt.Sprintf("%s\n<<<(%d,%d,%d), (%d,%d,%d), %d>>>", w.f.name, g.X, g.Y, g.Z, b.X, b.Y, b.Z, w.call.Shared)
	case *copyWork:
		text += fmt.Sprintf(" of %d bytes\n%#x to %#x", w.rows.Width*w.rows.Height*w.rows.Depth, w.src, w.dst)
	case *fillWork:
		text += fmt.Sprintf(" of %d bytes\n%#x", w.rows.Width*w.rows.Height*max(w.rows.Depth, 1), w.dst)
	case *hostWork:
		text += fmt.Sprintf("\n%#x(%#x)", w.fn, w.data)
	case *markWork:
		if w.ev != nil {
			text += fmt.Sprintf("\n%#x", w.handle)
		}
	case *allocWork:
		text += fmt.Sprintf(" of %d bytes\n%#x", w.mem.size, w.mem.addr)
	case *freeWork:
		text += fmt.Sprintf("\n%#x", w.mem.addr)
	case *conditionalWork:
		text = [...]string{"if", "while", "switch"}[w.kindOf]
	}
	return text
}

// GraphDot describes a graph in the language of Graphviz.
func (t *Thread) GraphDot(h uint64) (text string, err Error) {
	err = t.ofGraph(h, func(_ *Runtime, g *graph) Error {
		var b strings.Builder
		b.WriteString("digraph graph_1 {\n  node [shape=box];\n")
		names := map[*node]string{}
		next := 1
		g.dot(&b, "  ", names, &next)
		b.WriteString("}\n")
		text = b.String()
		return Success
	})
	return text, err
}

// dot writes nodes and edges. Graphs within nodes are clusters.
func (g *graph) dot(b *strings.Builder, indent string, names map[*node]string, next *int) {
	for _, n := range g.nodes {
		names[n] = fmt.Sprintf("node_%d", *next)
		*next++
		fmt.Fprintf(b, "%s%s [label=%s];\n", indent, names[n], dotText(n.title()))
		for i, c := range inner(n.work) {
			fmt.Fprintf(b, "%ssubgraph cluster_%s_%d {\n%s  label=%s;\n", indent, names[n], i, indent, dotText(fmt.Sprintf("%s %d", names[n], i)))
			c.dot(b, indent+"  ", names, next)
			fmt.Fprintf(b, "%s}\n", indent)
		}
	}
	for _, n := range g.nodes {
		for _, f := range n.from {
			fmt.Fprintf(b, "%s%s -> %s;\n", indent, names[f], names[n])
		}
	}
}

// dotText quotes a text for Graphviz.
func dotText(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(s) + `"`
}
