package cuda

import (
	"encoding/binary"

	"github.com/heddle-sim/heddle/internal/gpu"
	"github.com/heddle-sim/heddle/internal/run"
)

// This file: nodes that run other graphs as a value says, which kernels of the graph set. A
// launch waits until the value is known, as it does for host functions.

// ConditionalKind is what a value selects (cudaGraphConditionalNodeType).
type ConditionalKind int32

// The kinds.
const (
	ConditionalIf     ConditionalKind = iota // the first body, or the second if the value is 0
	ConditionalWhile                         // the body, as long as the value is not 0
	ConditionalSwitch                        // the body with the value's number, if there is one
)

// condition is a value in device memory; its address is the handle that kernels have.
type condition struct {
	on      *Runtime
	addr    uint64
	initial uint32
	assign  bool  // every launch sets it to initial
	node    *node // which uses it, nil so far
	users   int   // its graph, and the copies of its node
}

// release drops the memory of a value that nothing uses any more.
func (c *condition) release() {
	if c.users--; c.users == 0 && c.on.mem != nil {
		c.on.free(c.addr)
	}
}

// conditionBytes is the size of the value.
const conditionBytes = 4

// assignInitial is cudaGraphCondAssignDefault.
const assignInitial = 1

// ConditionCreate makes a value for a node of a graph.
func (t *Thread) ConditionCreate(h uint64, initial, flags uint32) (handle uint64, err Error) {
	err = t.ofGraph(h, func(r *Runtime, g *graph) Error {
		if flags > assignInitial {
			return InvalidValue
		}
		addr, err := r.mem.AllocSystem(conditionBytes, "condition of a graph")
		if err != nil {
			return MemoryAllocation
		}
		g.conditions = append(g.conditions, &condition{on: r, addr: addr, initial: initial, assign: flags == assignInitial, users: 1})
		handle = addr
		return Success
	})
	return handle, err
}

// set sets the value; get returns it.
func (c *condition) set(v uint32) Error {
	if c.on.mem.Write(c.addr, binary.LittleEndian.AppendUint32(nil, v)) != nil {
		return InvalidValue
	}
	return Success
}

func (c *condition) get() (uint32, Error) {
	var b [conditionBytes]byte
	if c.on.mem.Read(c.addr, b[:]) != nil {
		return 0, InvalidValue
	}
	return binary.LittleEndian.Uint32(b[:]), Success
}

// conditionalWork is a node with bodies.
type conditionalWork struct {
	kindOf    ConditionalKind
	condition *condition
	bodies    []*graph
}

func (w *conditionalWork) kind() NodeKind { return NodeConditional }

// body returns the graph that a value selects, or nil.
func (w *conditionalWork) body(v uint32) *graph {
	at := uint64(v)
	switch w.kindOf {
	case ConditionalIf:
		at = 0
		if v == 0 {
			at = 1
		}
	case ConditionalWhile:
		at = 0
		if v == 0 {
			return nil
		}
	}
	if at >= uint64(len(w.bodies)) {
		return nil
	}
	return w.bodies[at]
}

// each calls f with the bodies to run, one after another.
func (w *conditionalWork) each(f func(g *graph) Error) Error {
	for {
		v, err := w.condition.get()
		if err != Success {
			return err
		}
		g := w.body(v)
		if g == nil {
			return Success
		}
		if err := f(g); err != Success || w.kindOf != ConditionalWhile {
			return err
		}
		if w.condition.on.life.Err() != nil { // interrupted
			return Unknown
		}
	}
}

func (w *conditionalWork) now(_ *Runtime, s *stream) Error {
	return w.each(func(g *graph) Error { return g.compute(s, 0) })
}

// op is never called: the bodies' nodes take its place.
func (w *conditionalWork) op(*Runtime, *stream) (*gpu.Op, *run.Launch, Error) {
	return nil, nil, NotSupported
}

// ConditionalNode has size bodies, empty graphs at first, which NodeInfo returns.
func ConditionalNode(handle uint64, kind ConditionalKind, size uint32) Work {
	return func(r *Runtime) (work, Error) {
		const most = 1 << 10 // our choice
		if kind < ConditionalIf || kind > ConditionalSwitch || size == 0 || size > most || kind == ConditionalIf && size > 2 || kind == ConditionalWhile && size > 1 {
			return nil, InvalidValue
		}
		w := &conditionalWork{kindOf: kind, condition: &condition{on: r, addr: handle}}
		for range size {
			w.bodies = append(w.bodies, r.newGraph())
		}
		return w, Success
	}
}

// adopt connects a conditional node with its value, which is one of its graph, or of the
// graph around it, and of no other node.
func (g *graph) adopt(w *conditionalWork) Error {
	for at := g; at != nil; at = at.outer {
		for _, c := range at.conditions {
			if c.addr == w.condition.addr && c.node == nil {
				w.condition = c
				return Success
			}
		}
	}
	return InvalidValue
}

// prepare sets the values that every launch sets.
func (g *graph) prepare() Error {
	for _, n := range g.nodes {
		if w, ok := n.work.(*conditionalWork); ok && w.condition.assign {
			if err := w.condition.set(w.condition.initial); err != Success {
				return err
			}
		}
		for _, c := range inner(n.work) {
			if err := c.prepare(); err != Success {
				return err
			}
		}
	}
	return Success
}

// endless reports whether a graph has a loop whose body has no kernel that could end it.
func (g *graph) endless() bool {
	for _, n := range g.nodes {
		w, ok := n.work.(*conditionalWork)
		if ok && w.kindOf == ConditionalWhile && !w.bodies[0].launches() {
			return true
		}
		for _, c := range inner(n.work) {
			if c.endless() {
				return true
			}
		}
	}
	return false
}

// conditional reports whether a graph has conditional nodes.
func (g *graph) conditional() bool {
	for _, n := range g.nodes {
		if n.work.kind() == NodeConditional {
			return true
		}
		for _, c := range inner(n.work) {
			if c.conditional() {
				return true
			}
		}
	}
	return false
}

// launches reports whether a graph has kernels.
func (g *graph) launches() bool {
	for _, n := range g.nodes {
		if n.work.kind() == NodeKernel {
			return true
		}
		for _, c := range inner(n.work) {
			if c.launches() {
				return true
			}
		}
	}
	return false
}
