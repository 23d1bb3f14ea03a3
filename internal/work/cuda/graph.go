package cuda

import (
	"cmp"
	"slices"

	"github.com/heddle-sim/heddle/internal/gpu"
	"github.com/heddle-sim/heddle/internal/run"
)

// NodeKind is what a node of a graph does (cudaGraphNodeType).
type NodeKind int32

// The kinds.
const (
	NodeKernel NodeKind = iota
	NodeCopy
	NodeFill
	NodeHost
	NodeGraph
	NodeEmpty
	NodeEventWait
	NodeEventRecord
	_ // signals and waits of external semaphores
	_
	NodeAlloc
	NodeFree
	NodeMemory
	NodeConditional
)

// graph is partially ordered work of any devices.
type graph struct {
	r      *Runtime // with whose reset it ends
	handle uint64
	nodes  []*node // in creation order
	execs  int     // executable graphs made of it

	conditions []*condition      // values that its conditional nodes may use
	outer      *graph            // in a node of which it is, or nil
	users      map[uint64]uint64 // references to objects of the program, by handle
}

// node is a piece of work in a graph.
type node struct {
	handle uint64 // 0 in an executable graph
	graph  *graph
	on     *Runtime // where the work is done: where it was made
	work   work
	off    bool    // it does nothing
	from   []*node // its predecessors
	origin *node   // the node that it is a copy of, or nil
}

// childWork is a graph within a graph; the node owns it.
type childWork struct{ graph *graph }

func (w *childWork) kind() NodeKind { return NodeGraph }

func (w *childWork) now(_ *Runtime, s *stream) Error { return w.graph.compute(s, 0) }

// op is never called: the child's nodes take its place.
func (w *childWork) op(*Runtime, *stream) (*gpu.Op, *run.Launch, Error) {
	return nil, nil, NotSupported
}

// inner returns the graphs that work consists of.
func inner(w work) []*graph {
	switch w := w.(type) {
	case *childWork:
		return []*graph{w.graph}
	case *conditionalWork:
		return w.bodies
	}
	return nil
}

// graphExec is a graph that is ready to run.
type graphExec struct {
	handle      uint64
	order       *graph   // its nodes, each after those that it waits for
	from        *graph   // of which it was made
	flags       uint64   // of its instantiation
	conditional bool     // it has conditional nodes
	last        *gpu.Op  // the end of its last launch, in a timing run
	on          *Runtime // in one of whose streams that was, or nil
}

// newGraph makes an empty graph with a handle.
func (r *Runtime) newGraph() *graph {
	g := &graph{r: r, handle: r.handle()}
	r.graphs[g.handle] = g
	return g
}

// uses reports whether a graph is of a device, or has work there.
func (g *graph) uses(r *Runtime) bool {
	return g.r == r || slices.ContainsFunc(g.conditions, func(c *condition) bool { return c.on == r }) || slices.ContainsFunc(g.nodes, func(n *node) bool {
		return n.on == r || slices.ContainsFunc(inner(n.work), func(c *graph) bool { return c.uses(r) })
	})
}

// fine returns the sticky error of the devices that a graph uses, if any.
func (g *graph) fine() Error {
	for _, d := range g.r.devices {
		if d.sticky != Success && g.uses(d) {
			return d.sticky
		}
	}
	return Success
}

// add appends a node with work of a device. An event is recorded on its own, and memory is
// that of its own.
func (g *graph) add(on *Runtime, w work, from []*node) *node {
	switch w := w.(type) {
	case *markWork:
		if w.nodeKind == NodeEventRecord {
			on = w.ev.on
		}
	case *allocWork:
		on = w.mem.on
		w.mem.users++
		if w.mem.owner == nil {
			w.mem.owner = g
		}
	case *freeWork:
		on = w.mem.on
		if g.handle != 0 {
			w.mem.freed[g] = true
		}
	case *conditionalWork:
		on = w.condition.on
		w.condition.users++
	}
	for _, c := range inner(w) {
		c.outer = g
	}
	n := &node{graph: g, on: on, work: w, from: slices.Clone(from)}
	if g.handle != 0 {
		n.handle = g.r.handle()
		g.r.nodes[n.handle] = n
	}
	g.nodes = append(g.nodes, n)
	return n
}

// copyInto copies a graph's nodes, and its references to objects, to an empty graph. Graphs
// within it are copied too, with handles if the copy has one.
func (g *graph) copyInto(to *graph) {
	for h, count := range g.users {
		if o := g.r.users[h]; o != nil {
			o.count += count
			to.retain(h, count)
		}
	}
	copied := func(c *graph) *graph {
		x := &graph{r: g.r}
		if to.handle != 0 {
			x = g.r.newGraph()
		}
		c.copyInto(x)
		return x
	}
	twin := map[*node]*node{}
	for _, n := range g.nodes {
		w := n.work
		switch c := w.(type) {
		case *childWork:
			w = &childWork{copied(c.graph)}
		case *conditionalWork:
			x := &conditionalWork{kindOf: c.kindOf, condition: c.condition}
			for _, b := range c.bodies {
				x.bodies = append(x.bodies, copied(b))
			}
			w = x
		}
		x := to.add(n.on, w, nil)
		x.origin, x.off = n, n.off
		twin[n] = x
	}
	for _, n := range g.nodes {
		for _, f := range n.from {
			twin[n].from = append(twin[n].from, twin[f])
		}
	}
}

// destroy removes a graph, its nodes and its child graphs.
func (r *Runtime) destroy(g *graph) {
	for _, n := range g.nodes {
		r.dropNode(n)
	}
	g.nodes = nil
	for h, count := range g.users {
		r.dropUser(h, count)
	}
	g.users = nil
	for _, c := range g.conditions {
		c.release()
	}
	g.conditions = nil
	delete(r.graphs, g.handle)
}

// dropNode removes a node and its child graph.
func (r *Runtime) dropNode(n *node) {
	delete(r.nodes, n.handle)
	for _, c := range inner(n.work) {
		r.destroy(c)
	}
	switch w := n.work.(type) {
	case *allocWork:
		w.mem.users--
		w.mem.settle()
	case *conditionalWork:
		w.condition.release()
	case *freeWork:
		if n.graph != w.mem.owner { // whose executable graph still frees it
			delete(w.mem.freed, n.graph)
		}
	}
}

// sort puts every node after those that it waits for, and otherwise keeps the order. It
// returns false if there is a cycle.
func (g *graph) sort() bool {
	open, next := map[*node]int{}, map[*node][]*node{}
	at := map[*node]int{}
	var ready []int // indices, ascending
	for i, n := range g.nodes {
		at[n], open[n] = i, len(n.from)
		for _, f := range n.from {
			next[f] = append(next[f], n)
		}
		if len(n.from) == 0 {
			ready = append(ready, i)
		}
	}
	list := make([]*node, 0, len(g.nodes))
	for len(ready) > 0 {
		n := g.nodes[ready[0]]
		ready = ready[1:]
		list = append(list, n)
		for _, x := range next[n] {
			if open[x]--; open[x] == 0 {
				i, _ := slices.BinarySearch(ready, at[x])
				ready = slices.Insert(ready, i, at[x])
			}
		}
	}
	if len(list) < len(g.nodes) {
		return false
	}
	g.nodes = list
	for _, n := range g.nodes {
		for _, c := range inner(n.work) {
			if !c.sort() {
				return false
			}
		}
	}
	return true
}

// leaves returns the nodes that no other node waits for.
func (g *graph) leaves() []*node {
	awaited := map[*node]bool{}
	for _, n := range g.nodes {
		for _, f := range n.from {
			awaited[f] = true
		}
	}
	return slices.DeleteFunc(slices.Clone(g.nodes), func(n *node) bool { return awaited[n] })
}

// compute executes a sorted graph immediately: an executable graph with a handle, or the graph
// of a node.
func (g *graph) compute(s *stream, exec uint64) Error {
	tell := g.tellNodes(s, exec)
	defer tell(nil)
	for _, n := range g.nodes {
		tell(n)
		if n.off {
			continue
		}
		n.mark()
		if err := n.on.execute(s, n.work); err != Success {
			return err
		}
	}
	return Success
}

// mark notes that the next work is a node's, of an executable graph.
func (n *node) mark() { n.on.trace.place.Node = n.origin.handle }

// launching is the launch of an executable graph on the chips.
type launching struct {
	s     *stream
	own   bool      // kernels have the priorities of their nodes
	calls []*gpu.Op // those that call the host
}

// meet waits until actions have completed, and returns one that has completed after them.
func (l *launching) meet(after []*gpu.Op) (*gpu.Op, Error) {
	mark := &gpu.Op{Kind: gpu.OpMark, Loose: true, After: after}
	if err := l.s.on.give(l.s, nil, mark, nil); err != Success {
		return nil, err
	}
	return mark, l.s.on.await(mark)
}

// one passes the work of a node to the chip, and returns its last actions.
func (l *launching) one(n *node, deps []*gpu.Op) ([]*gpu.Op, Error) {
	n.mark()
	on, s, w := n.on, l.s, n.work
	if n.off {
		w = &markWork{nodeKind: NodeEmpty}
	}
	switch w := w.(type) {
	case *childWork:
		return l.play(w.graph, 0, deps)
	case *conditionalWork:
		mark, err := l.meet(deps)
		if err != Success {
			return nil, err
		}
		err = w.each(func(body *graph) Error {
			ends, err := l.play(body, 0, []*gpu.Op{mark})
			if err == Success {
				mark, err = l.meet(ends)
			}
			return err
		})
		return []*gpu.Op{mark}, err
	case *memoryWork:
		if w.waits() {
			mark, err := l.meet(deps)
			on.tellWork(s, w)
			if err == Success {
				err = w.do(on)
			}
			return []*gpu.Op{mark}, err
		}
	case *hostWork:
		on = s.on // which waits for the call
	case *kernelWork:
		if l.own {
			lane := *s
			lane.priority = w.priority
			s = &lane
		}
	}
	op, rec, err := w.op(on, s)
	if err == Success {
		op.Loose, op.After = true, append(op.After, deps...)
		err = on.give(s, w, op, rec)
	}
	if w.kind() == NodeHost {
		l.calls = append(l.calls, op)
	}
	return []*gpu.Op{op}, err
}

// play passes a sorted graph to the chips, after the given actions, and returns its last
// ones; exec is as for compute.
func (l *launching) play(g *graph, exec uint64, after []*gpu.Op) ([]*gpu.Op, Error) {
	tell := g.tellNodes(l.s, exec)
	defer tell(nil)
	ends := map[*node][]*gpu.Op{}
	for _, n := range g.nodes {
		tell(n)
		deps := after
		if len(n.from) > 0 {
			deps = nil
			for _, f := range n.from {
				deps = append(deps, ends[f]...)
			}
		}
		list, err := l.one(n, deps)
		if err != Success {
			return nil, err
		}
		ends[n] = list
	}
	var list []*gpu.Op
	for _, n := range g.leaves() {
		list = append(list, ends[n]...)
	}
	if len(g.nodes) == 0 {
		list = after
	}
	return list, Success
}

// run launches an executable graph in a stream.
func (r *Runtime) run(x *graphExec, s *stream) Error {
	if err := x.order.fine(); err != Success {
		return err
	}
	if err := x.plan(); err != Success {
		return err
	}
	r.trace.place.Graph = uint32(x.handle)
	defer func() { r.trace.place = GraphPlace{} }()
	if r.chip == nil {
		if err := x.order.prepare(); err != Success {
			return err
		}
		start := r.now()
		err := x.order.compute(s, x.handle)
		if err == Success {
			r.observeGraph(x, s, nil, nil, start)
		}
		return err
	}
	if x.conditional { // values are those of this launch
		if x.last != nil {
			if err := r.await(x.last); err != Success {
				return err
			}
		}
		if err := r.await(s.lasts()...); err != Success {
			return err
		}
		if err := x.order.prepare(); err != Success {
			return err
		}
	}
	start := r.now()
	begin := &gpu.Op{Kind: gpu.OpMark}
	if x.last != nil { // launches of a graph run one after another, whatever their streams
		begin.After = []*gpu.Op{x.last}
	}
	if err := r.give(s, nil, begin, nil); err != Success {
		return err
	}
	l := launching{s: s, own: x.flags&instantiateOwnPriority != 0}
	ends, err := l.play(x.order, x.handle, []*gpu.Op{begin})
	if err != Success {
		return err
	}
	x.last, x.on = &gpu.Op{Kind: gpu.OpMark, After: ends}, r
	if err := r.give(s, nil, x.last, nil); err != Success {
		return err
	}
	r.observeGraph(x, s, begin, x.last, start)
	if err := r.await(l.calls...); err != Success { // as HostCall does
		return err
	}
	return r.crowded()
}

// handlesOf returns the handles of nodes.
func handlesOf(nodes []*node) []uint64 {
	list := make([]uint64, len(nodes))
	for i, n := range nodes {
		list[i] = n.handle
	}
	return list
}

// nodesOf returns the nodes of one graph with the given handles.
func (r *Runtime) nodesOf(g *graph, handles []uint64) ([]*node, Error) {
	var list []*node
	for _, h := range handles {
		n := r.nodes[h]
		if n == nil || n.graph != g {
			return nil, InvalidValue
		}
		list = append(list, n)
	}
	return list, Success
}

// ofGraph runs a call on a graph.
func (t *Thread) ofGraph(h uint64, f func(r *Runtime, g *graph) Error) Error {
	return t.do(func(r *Runtime) Error {
		g := r.graphs[h]
		if g == nil {
			return InvalidValue
		}
		return f(r, g)
	})
}

// ofNode runs a call on a node.
func (t *Thread) ofNode(h uint64, f func(r *Runtime, n *node) Error) Error {
	return t.do(func(r *Runtime) Error {
		n := r.nodes[h]
		if n == nil {
			return InvalidValue
		}
		return f(r, n)
	})
}

// ofExec runs a call on an executable graph.
func (t *Thread) ofExec(h uint64, f func(r *Runtime, x *graphExec) Error) Error {
	return t.do(func(r *Runtime) Error {
		x := r.execs[h]
		if x == nil {
			return InvalidValue
		}
		return f(r, x)
	})
}

// GraphCreate makes an empty graph.
func (t *Thread) GraphCreate(flags uint32) (h uint64, err Error) {
	err = t.do(func(r *Runtime) Error {
		if flags != 0 {
			return InvalidValue
		}
		h = r.newGraph().handle
		return Success
	})
	return h, err
}

// GraphDestroy destroys a graph. Executable graphs and clones made from it stay.
func (t *Thread) GraphDestroy(h uint64) Error {
	return t.ofGraph(h, func(r *Runtime, g *graph) Error {
		if g.capturing() {
			return InvalidValue
		}
		r.destroy(g)
		return Success
	})
}

// capturing reports whether a capture adds nodes to a graph, after some of its nodes: until
// it ends the graph keeps its nodes (CUDA runtime API, cudaStreamGetCaptureInfo).
func (g *graph) capturing() bool {
	return slices.ContainsFunc(g.r.captures, func(c *capture) bool { return c.graph == g })
}

// GraphClone copies a graph.
func (t *Thread) GraphClone(h uint64) (clone uint64, err Error) {
	err = t.ofGraph(h, func(r *Runtime, g *graph) Error {
		if err := g.fixed("be cloned"); err != Success {
			return err
		}
		c := g.r.newGraph()
		g.copyInto(c)
		clone = c.handle
		return Success
	})
	return clone, err
}

// NodeInClone returns the copy of a node in a clone of its graph.
func (t *Thread) NodeInClone(h, clone uint64) (found uint64, err Error) {
	err = t.ofNode(h, func(r *Runtime, n *node) Error {
		g := r.graphs[clone]
		if g == nil {
			return InvalidValue
		}
		x := g.find(n)
		if x == nil {
			return InvalidValue
		}
		found = x.handle
		return Success
	})
	return found, err
}

// find returns the copy of a node in a graph or its child graphs; nil if there is none.
func (g *graph) find(n *node) *node {
	for _, x := range g.nodes {
		if x.origin == n {
			return x
		}
		for _, c := range inner(x.work) {
			if y := c.find(n); y != nil {
				return y
			}
		}
	}
	return nil
}

// Work makes the work of a node.
type Work func(r *Runtime) (work, Error)

// KernelNode is a launch; the arguments are as in Thread.Launch, and are read
// immediately.
func KernelNode(host uint64, c Call, cooperative bool, arg func(n, offset int, to []byte)) Work {
	return func(r *Runtime) (work, Error) {
		w, err := r.prepareLaunch(host, c, cooperative, arg)
		return w, err
	}
}

// CopyNode is a copy. It accesses host memory when it executes.
func CopyNode(dst, src uint64, c Rows, kind Kind) Work {
	return func(r *Runtime) (work, Error) {
		w, err := r.prepareCopy(dst, src, c, kind)
		if err == Success && w == nil {
			return nil, InvalidValue // an empty copy
		}
		return w, err
	}
}

// BoxNode is a copy of a box.
func BoxNode(b Box, kind Kind) Work {
	return func(r *Runtime) (work, Error) {
		dst, src, c, err := r.rows(b)
		if err != Success {
			return nil, err
		}
		return CopyNode(dst, src, c, kind)(r)
	}
}

// CopyBytesNode is a copy of contiguous bytes.
func CopyBytesNode(dst, src, n uint64, kind Kind) Work { return CopyNode(dst, src, line(n), kind) }

// SymbolNode is a copy to or from a device variable.
func SymbolNode(host, offset, other, n uint64, kind Kind, to bool) Work {
	return func(r *Runtime) (work, Error) {
		v, err := r.symbol(host)
		switch {
		case err != Success:
			return nil, err
		case offset > v.size || n > v.size-offset:
			return nil, InvalidValue
		case to:
			return CopyBytesNode(v.addr[r.number]+offset, other, n, kind)(r)
		}
		return CopyBytesNode(other, v.addr[r.number]+offset, n, kind)(r)
	}
}

// FillNode sets rows to a value of 1, 2 or 4 bytes.
func FillNode(dst uint64, value []byte, c Rows) Work {
	return func(r *Runtime) (work, Error) {
		if n := len(value); n != 1 && n != 2 && n != 4 {
			return nil, InvalidValue
		}
		w, err := r.prepareFill(dst, slices.Clone(value), c)
		if err == Success && w == nil {
			return nil, InvalidValue
		}
		return w, err
	}
}

// HostNode calls a function of the program.
func HostNode(fn, data uint64) Work {
	return func(*Runtime) (work, Error) {
		if fn == 0 {
			return nil, InvalidValue
		}
		return &hostWork{fn, data}, Success
	}
}

// ChildNode is a copy of a graph.
func ChildNode(h uint64) Work {
	return func(r *Runtime) (work, Error) {
		g := r.graphs[h]
		if g == nil {
			return nil, InvalidValue
		}
		if err := g.fixed("be a child graph"); err != Success {
			return nil, err
		}
		inner := r.newGraph()
		g.copyInto(inner)
		return &childWork{inner}, Success
	}
}

// EmptyNode only waits for other nodes.
func EmptyNode() Work {
	return func(*Runtime) (work, Error) { return &markWork{nodeKind: NodeEmpty}, Success }
}

// EventNode records an event or waits for it.
func EventNode(h uint64, kind NodeKind) Work {
	return func(r *Runtime) (work, Error) {
		e := r.events[h]
		if e == nil {
			return nil, InvalidHandle
		}
		return &markWork{kind, h, e}, Success
	}
}

// GraphAdd adds a node after others.
func (t *Thread) GraphAdd(to uint64, deps []uint64, what Work) (h uint64, err Error) {
	err = t.ofGraph(to, func(r *Runtime, g *graph) Error {
		from, err := r.nodesOf(g, deps)
		if err != Success {
			return err
		}
		distinct := slices.Clone(deps)
		slices.Sort(distinct)
		if len(slices.Compact(distinct)) < len(deps) {
			return InvalidValue
		}
		w, err := what(r)
		if err == Success {
			err = g.may(w)
		}
		if err == Success {
			n := g.add(r, w, from)
			if c, ok := w.(*conditionalWork); ok {
				c.condition.node = n
			}
			h = n.handle
		}
		return err
	})
	return h, err
}

// NodeSet replaces the work of a node by work of the same kind.
func (t *Thread) NodeSet(h uint64, what Work) Error {
	return t.ofNode(h, func(_ *Runtime, n *node) Error { return n.set(what) })
}

// ExecSet replaces the work of a node's copy in an executable graph.
func (t *Thread) ExecSet(exec, h uint64, what Work) Error {
	return t.ofExec(exec, func(r *Runtime, x *graphExec) Error {
		n := r.nodes[h]
		if n == nil {
			return InvalidValue
		}
		if n = x.order.find(n); n == nil {
			return InvalidValue
		}
		c, ok := n.work.(*childWork)
		if !ok {
			return n.set(what)
		}
		w, err := what(n.on)
		if err != Success {
			return err
		}
		g, ok := w.(*childWork)
		if !ok {
			discard(w)
			return InvalidValue
		}
		defer r.destroy(g.graph)
		if !g.graph.sort() {
			return InvalidValue
		}
		if res, _ := differ(c.graph, g.graph); res != UpdateSuccess {
			return InvalidValue
		}
		replace(c.graph, g.graph)
		return Success
	})
}

// set replaces the work of a node by work of the same kind, on the same device. A kernel
// keeps the node's attributes.
func (n *node) set(what Work) Error {
	w, err := what(n.on)
	if err != Success {
		return err
	}
	k := w.kind()
	if k != n.work.kind() || k == NodeAlloc || k == NodeFree || k == NodeConditional || k == NodeEventRecord && w.(*markWork).ev.on != n.on {
		discard(w)
		return InvalidValue
	}
	if launch, ok := w.(*kernelWork); ok {
		if w, err = launch.like(n.on, n.work.(*kernelWork)); err != Success {
			return err
		}
	}
	n.work = w
	return Success
}

// discard drops what a piece of work has made that is in no graph.
func discard(w work) {
	for _, c := range inner(w) {
		c.r.destroy(c)
	}
	if a, ok := w.(*allocWork); ok {
		a.mem.settle()
	}
}

// NodeDestroy removes a node from its graph.
func (t *Thread) NodeDestroy(h uint64) Error {
	return t.ofNode(h, func(r *Runtime, n *node) Error {
		if n.graph.capturing() {
			return InvalidValue
		}
		if err := n.graph.fixed("lose a node"); err != Success {
			return err
		}
		is := func(x *node) bool { return x == n }
		n.graph.nodes = slices.DeleteFunc(n.graph.nodes, is)
		for _, x := range n.graph.nodes {
			x.from = slices.DeleteFunc(x.from, is)
		}
		r.dropNode(n)
		return Success
	})
}

// GraphConnect adds edges between nodes, pair by pair, or removes them.
func (t *Thread) GraphConnect(h uint64, from, to []uint64, connect bool) Error {
	return t.ofGraph(h, func(r *Runtime, g *graph) Error {
		a, err := r.nodesOf(g, from)
		if err != Success {
			return err
		}
		b, err := r.nodesOf(g, to)
		if err != Success {
			return err
		}
		if !connect {
			if err := g.fixed("lose an edge"); err != Success {
				return err
			}
		}
		for i := range a { // all or nothing
			if slices.Contains(b[i].from, a[i]) == connect || a[i] == b[i] {
				return InvalidValue
			}
		}
		for i := range a {
			if connect {
				b[i].from = append(b[i].from, a[i])
			} else {
				b[i].from = slices.DeleteFunc(b[i].from, func(x *node) bool { return x == a[i] })
			}
		}
		return Success
	})
}

// GraphNodes returns a graph's nodes in creation order; with roots, only those that wait
// for none.
func (t *Thread) GraphNodes(h uint64, roots bool) (list []uint64, err Error) {
	err = t.ofGraph(h, func(r *Runtime, g *graph) Error {
		for _, n := range g.nodes {
			if !roots || len(n.from) == 0 {
				list = append(list, n.handle)
			}
		}
		return Success
	})
	return list, err
}

// GraphEdges returns the edges of a graph.
func (t *Thread) GraphEdges(h uint64) (from, to []uint64, err Error) {
	err = t.ofGraph(h, func(r *Runtime, g *graph) Error {
		for _, n := range g.nodes {
			for _, f := range n.from {
				from, to = append(from, f.handle), append(to, n.handle)
			}
		}
		return Success
	})
	return from, to, err
}

// HasNode reports whether a node with a handle exists.
func (t *Thread) HasNode(h uint64) bool {
	t.r.mu.Lock()
	defer t.r.mu.Unlock()
	return t.r.nodes[h] != nil
}

// NodeInfo describes the work of a node.
type NodeInfo struct {
	Kind   NodeKind
	Before []uint64 // nodes that it waits for
	After  []uint64 // nodes that wait for it

	// A launch.
	Kernel   uint64
	Call     Call
	Params   []byte
	Places   [][2]int // offset and bytes of each parameter in Params
	Together bool     // a cooperative launch

	// A copy or a fill.
	Dst, Src  uint64
	Rows      Rows
	Direction Kind
	Value     []byte

	Fn, Data uint64 // a call of a host function
	Graph    uint64 // a child graph
	Event    uint64

	// Memory of a node that allocates or frees it.
	Addr, Size uint64
	Device     int
	Guests     []int // other devices that may access it

	Ops []MemoryOp // that write values or wait for them

	// A conditional node.
	Conditional ConditionalKind
	Bodies      []uint64
}

// NodeInfo returns the work of a node.
func (t *Thread) NodeInfo(h uint64) (info NodeInfo, err Error) {
	err = t.ofNode(h, func(r *Runtime, n *node) Error {
		info.Kind, info.Before = n.work.kind(), handlesOf(n.from)
		for _, x := range n.graph.nodes {
			if slices.Contains(x.from, n) {
				info.After = append(info.After, x.handle)
			}
		}
		switch w := n.work.(type) {
		case *kernelWork:
			info.Kernel, info.Call, info.Params, info.Together = w.host, w.call, w.launch.Params, w.launch.Cooperative
			for _, p := range w.launch.Kernel.Params() {
				info.Places = append(info.Places, [2]int{p.Offset, p.Size})
			}
		case *copyWork:
			info.Dst, info.Src, info.Rows, info.Direction = w.dst, w.src, w.rows, w.asked
		case *fillWork:
			info.Dst, info.Rows, info.Value = w.dst, w.rows, w.value
		case *hostWork:
			info.Fn, info.Data = w.fn, w.data
		case *childWork:
			info.Graph = w.graph.handle
		case *markWork:
			info.Event = w.handle
		case *allocWork:
			info.Addr, info.Size, info.Device, info.Guests = w.mem.addr, w.mem.size, w.mem.on.number, w.mem.guests
		case *freeWork:
			info.Addr = w.mem.addr
		case *memoryWork:
			info.Ops = w.ops
		case *conditionalWork:
			info.Addr, info.Conditional = w.condition.addr, w.kindOf
			for _, b := range w.bodies {
				info.Bodies = append(info.Bodies, b.handle)
			}
		}
		return Success
	})
	return info, err
}

// Flags of GraphInstantiate. Launches from device code are not supported; flags without a
// name here have no effect.
const (
	instantiateAutoFree    = 1 // a launch frees what the last one has left
	instantiateOnDevice    = 4
	instantiateOwnPriority = 8 // kernels have their nodes' priority, not the stream's
	instantiateFlags       = 15
)

// GraphInstantiate makes an executable copy of a graph, which must not have cycles.
func (t *Thread) GraphInstantiate(h uint64, flags uint64) (exec uint64, err Error) {
	err = t.ofGraph(h, func(r *Runtime, g *graph) Error {
		switch {
		case flags > instantiateFlags:
			return InvalidValue
		case flags&instantiateOnDevice != 0:
			r.once("device launch", "graphs that device code launches (cudaGraphInstantiateFlagDeviceLaunch) are not supported")
			return NotSupported
		case g.execs > 0:
			if err := g.fixed("have two executable graphs at a time"); err != Success {
				return err
			}
		}
		order := &graph{r: g.r}
		g.copyInto(order)
		if !order.sort() {
			r.destroy(order)
			return InvalidValue
		}
		if order.endless() {
			r.once("endless", "cudaGraphInstantiate: the body of a WHILE node has no kernel that could end it with cudaGraphSetConditional")
			r.destroy(order)
			return InvalidValue
		}
		exec = r.handle()
		r.execs[exec] = &graphExec{handle: exec, order: order, from: g, flags: flags, conditional: order.conditional()}
		g.execs++
		return Success
	})
	return exec, err
}

// ExecDestroy destroys an executable graph; its launches continue, and what it keeps alive
// lives until they have ended.
func (t *Thread) ExecDestroy(h uint64) Error {
	return t.ofExec(h, func(r *Runtime, x *graphExec) Error {
		delete(r.execs, h)
		x.from.execs--
		cmp.Or(x.on, r).afterwards(func() { r.destroy(x.order) })
		return Success
	})
}

// ExecFlags returns the flags with which an executable graph was instantiated.
func (t *Thread) ExecFlags(h uint64) (flags uint64, err Error) {
	err = t.ofExec(h, func(_ *Runtime, x *graphExec) Error {
		flags = x.flags
		return Success
	})
	return flags, err
}

// ExecLaunch launches an executable graph in a stream. In a captured stream it
// becomes a node.
func (t *Thread) ExecLaunch(h, stream uint64) Error {
	return t.ofExec(h, func(r *Runtime, x *graphExec) Error {
		s, err := r.stream(stream)
		if err != Success {
			return err
		}
		c, err := r.captured(s)
		if err != Success {
			return err
		}
		if c != nil {
			if err := x.order.fixed("be a child graph"); err != Success {
				return err
			}
			inner := s.on.newGraph()
			x.order.copyInto(inner)
			c.add(s, &childWork{inner})
			return Success
		}
		if err := s.on.run(x, s); err != Success {
			return r.launched(err)
		}
		return r.launched(r.blocked(s))
	})
}

// ExecUpload prepares an executable graph, which needs nothing here.
func (t *Thread) ExecUpload(h, stream uint64) Error {
	return t.ofExec(h, func(r *Runtime, _ *graphExec) Error {
		_, err := r.stream(stream)
		return err
	})
}

// UpdateResult is the reason why an executable graph could not be updated
// (cudaGraphExecUpdateResult).
type UpdateResult int32

// The results.
const (
	UpdateSuccess           UpdateResult = 0
	UpdateTopologyChanged   UpdateResult = 2
	UpdateKindChanged       UpdateResult = 3
	UpdateParametersChanged UpdateResult = 5 // in a way that is not possible: another device, other memory
	UpdateFunctionChanged   UpdateResult = 7 // likewise, that of a kernel
)

// ExecUpdate replaces the work of an executable graph by that of a graph with the same
// shape; nodes correspond in creation order. If the shapes differ, it returns the first
// node of the graph that does, and changes nothing.
func (t *Thread) ExecUpdate(exec, h uint64) (res UpdateResult, at uint64, err Error) {
	err = t.ofExec(exec, func(r *Runtime, x *graphExec) Error {
		g := r.graphs[h]
		if g == nil {
			return InvalidValue
		}
		like := &graph{r: g.r}
		g.copyInto(like)
		defer r.destroy(like)
		if !like.sort() {
			res = UpdateTopologyChanged
			return GraphUpdateFailure
		}
		if res, at = differ(x.order, like); res != UpdateSuccess {
			return GraphUpdateFailure
		}
		replace(x.order, like)
		return Success
	})
	return res, at, err
}

// differ compares the shapes of two sorted graphs.
func differ(a, b *graph) (UpdateResult, uint64) {
	if len(a.nodes) != len(b.nodes) {
		return UpdateTopologyChanged, 0
	}
	ia, ib := map[*node]int{}, map[*node]int{}
	for i := range a.nodes {
		n, m := a.nodes[i], b.nodes[i]
		ia[n], ib[m] = i, i
		if n.work.kind() != m.work.kind() {
			return UpdateKindChanged, m.origin.handle
		}
		if n.on != m.on || n.memory() != m.memory() {
			if n.work.kind() == NodeKernel {
				return UpdateFunctionChanged, m.origin.handle
			}
			return UpdateParametersChanged, m.origin.handle
		}
		if len(n.from) != len(m.from) {
			return UpdateTopologyChanged, m.origin.handle
		}
		places := func(list []*node, at map[*node]int) []int {
			var p []int
			for _, f := range list {
				p = append(p, at[f])
			}
			slices.Sort(p)
			return p
		}
		if !slices.Equal(places(n.from, ia), places(m.from, ib)) {
			return UpdateTopologyChanged, m.origin.handle
		}
		theirs := inner(m.work)
		if len(inner(n.work)) != len(theirs) {
			return UpdateTopologyChanged, m.origin.handle
		}
		for i, c := range inner(n.work) {
			if res, at := differ(c, theirs[i]); res != UpdateSuccess {
				return res, at
			}
		}
	}
	return UpdateSuccess, 0
}

// memory returns what a node allocates or frees, or nil.
func (n *node) memory() *graphMemory {
	switch w := n.work.(type) {
	case *allocWork:
		return w.mem
	case *freeWork:
		return w.mem
	}
	return nil
}

// replace replaces the work of a graph's nodes by that of another graph's.
func replace(a, b *graph) {
	for i, n := range a.nodes {
		theirs := inner(b.nodes[i].work)
		for j, c := range inner(n.work) {
			replace(c, theirs[j])
		}
		if len(theirs) == 0 {
			n.work = b.nodes[i].work
		}
	}
}
