package cuda

import (
	"fmt"
	"slices"

	"github.com/heddle-sim/heddle/internal/gpu"
	"github.com/heddle-sim/heddle/internal/run"
)

// This file: memory that nodes of graphs allocate and free. It has its address from the
// node's creation on, and is there for kernels from the allocation by a launch until it is
// freed: by a node of the same graph or another one, or by a call outside of graphs.

// graphMemory is the memory of an allocation node.
type graphMemory struct {
	on     *Runtime
	addr   uint64
	size   uint64
	guests []int // other devices that may access it

	owner *graph          // in which it is allocated
	freed map[*graph]bool // those with a node that frees it
	users int             // graphs with its allocation node: owner and an executable one
	live  bool            // allocated when all work so far has completed
	open  int             // allocations and frees that have not executed yet
}

// newGraphMemory makes memory for an allocation node.
func (r *Runtime) newGraphMemory(size uint64, guests []int) (*graphMemory, Error) {
	if err := r.begin(); err != Success {
		return nil, err
	}
	if size == 0 {
		return nil, InvalidValue
	}
	addr, err := r.mem.Alloc(size, fmt.Sprintf("memory of a graph (%d)", size))
	if err != nil {
		return nil, MemoryAllocation
	}
	r.mem.Sleep(addr)
	for _, d := range r.devices {
		if d != r {
			r.mem.Grant(addr, d.number, slices.Contains(guests, d.number))
		}
	}
	m := &graphMemory{on: r, addr: addr, size: size, guests: guests, freed: map[*graph]bool{}}
	r.graphMemory[addr] = m
	return m, Success
}

// settle gives back memory that nothing can allocate or free any more.
func (m *graphMemory) settle() {
	if m.users == 0 && m.open == 0 && !m.live && m.on.mem != nil && m.on.graphMemory[m.addr] == m {
		delete(m.on.graphMemory, m.addr)
		m.on.free(m.addr)
	}
}

// count notes that memory will be allocated or free when all work so far has completed.
func (m *graphMemory) count(live bool) {
	d := m.on
	switch {
	case live && !m.live:
		d.graphUsed += m.size
		d.graphHigh = max(d.graphHigh, d.graphUsed)
	case !live && m.live:
		d.graphUsed -= m.size
	}
	m.live = live
}

// set allocates memory, or frees it, as far as kernels are concerned.
func (m *graphMemory) set(live bool) Error {
	if m.on.mem == nil { // the device was reset
		return Success
	}
	if !live {
		m.on.mem.Sleep(m.addr)
		m.settle()
		return Success
	}
	if err := m.on.mem.Wake(m.addr); err != nil {
		m.on.say("a launch of a graph: %v", err)
		return MemoryAllocation
	}
	return Success
}

// later is set as an action of the chip.
func (m *graphMemory) later(live bool) *gpu.Op {
	m.open++
	return &gpu.Op{Kind: gpu.OpCopy, Copy: func() error {
		m.open--
		if err := m.set(live); err != Success {
			return err
		}
		return nil
	}}
}

// release frees memory outside of graphs: in the order of a stream, or at once if it is nil.
func (m *graphMemory) release(s *stream) Error {
	if !m.live || m.freed[m.owner] {
		return InvalidValue
	}
	m.count(false)
	if s == nil {
		m.on.tellWait(nil, 0)
	}
	m.on.tellMemory(s, &MemoryDetail{Free: true, Addr: m.addr, Bytes: m.size, Kind: DeviceKind, Async: s != nil})
	if m.on.chip == nil || s == nil {
		return m.set(false)
	}
	return s.on.give(s, nil, m.later(false), nil)
}

// allocWork is an allocation by a node.
type allocWork struct{ mem *graphMemory }

func (w *allocWork) kind() NodeKind { return NodeAlloc }

func (w *allocWork) now(*Runtime, *stream) Error { return w.mem.set(true) }

func (w *allocWork) op(*Runtime, *stream) (*gpu.Op, *run.Launch, Error) {
	return w.mem.later(true), nil, Success
}

// freeWork frees memory that a node allocates.
type freeWork struct{ mem *graphMemory }

func (w *freeWork) kind() NodeKind { return NodeFree }

func (w *freeWork) now(*Runtime, *stream) Error { return w.mem.set(false) }

func (w *freeWork) op(*Runtime, *stream) (*gpu.Op, *run.Launch, Error) {
	return w.mem.later(false), nil, Success
}

// AllocNode allocates memory of a device, for it and for other devices.
func AllocNode(device int, size uint64, guests []int) Work {
	return func(r *Runtime) (work, Error) {
		d, err := r.numbered(device)
		if err != Success {
			return nil, InvalidValue
		}
		for _, n := range guests {
			if _, err := r.numbered(n); err != Success {
				return nil, InvalidValue
			}
		}
		m, err := d.newGraphMemory(size, slices.DeleteFunc(slices.Clone(guests), func(n int) bool { return n == device }))
		return &allocWork{m}, err
	}
}

// FreeNode frees memory of an allocation node.
func FreeNode(addr uint64) Work {
	return func(r *Runtime) (work, Error) {
		m := r.graphMemory[addr]
		if m == nil {
			return nil, InvalidValue
		}
		return &freeWork{m}, Success
	}
}

// may returns an error unless a graph may have work, which it then drops: graphs within nodes
// neither allocate nor free memory (CUDA programming guide, memory nodes and conditional
// nodes); memory is freed once in a graph, and in its own graph or in others; a conditional
// node has a value of the graph.
func (g *graph) may(w work) Error {
	err := Success
	switch w := w.(type) {
	case *conditionalWork:
		err = g.adopt(w)
	case *allocWork:
		err = g.outermost()
	case *freeWork:
		if err = g.outermost(); err == Success && (w.mem.freed[g] || w.mem.freed[w.mem.owner] || g == w.mem.owner && len(w.mem.freed) > 0) {
			err = InvalidValue
		}
	}
	if err != Success {
		discard(w)
	}
	return err
}

// outermost returns an error if a graph is within a node of another.
func (g *graph) outermost() Error {
	if g.outer == nil {
		return Success
	}
	g.r.once("memory within", "a child graph and the body of a conditional node cannot allocate or free memory")
	return NotSupported
}

// memory reports whether a graph has nodes that allocate or free memory.
func (g *graph) memory() bool {
	return slices.ContainsFunc(g.nodes, func(n *node) bool { return n.memory() != nil })
}

// fixed returns an error if a graph allocates or frees memory, which forbids what.
func (g *graph) fixed(what string) Error {
	if !g.memory() {
		return Success
	}
	g.r.once(what+" memory", "a graph with nodes that allocate or free memory cannot %s", what)
	return NotSupported
}

// plan notes what a launch does to memory. It is an error if an allocation of an earlier
// launch was not freed, unless this frees it, or if memory is freed that is not allocated.
func (x *graphExec) plan() Error {
	after := map[*graphMemory]bool{}
	live := func(m *graphMemory) bool {
		if is, ok := after[m]; ok {
			return is
		}
		return m.live
	}
	for _, n := range x.order.nodes {
		switch w := n.work.(type) {
		case *allocWork:
			if live(w.mem) && x.flags&instantiateAutoFree == 0 {
				w.mem.on.once("graph memory", "cudaGraphLaunch: %d bytes at %#x that the last launch allocated have not been freed; free them, or instantiate the graph with cudaGraphInstantiateFlagAutoFreeOnLaunch", w.mem.size, w.mem.addr)
				return InvalidValue
			}
			after[w.mem] = true
		case *freeWork:
			if !live(w.mem) {
				w.mem.on.once("graph free", "cudaGraphLaunch: the graph frees %d bytes at %#x that are not allocated at that time", w.mem.size, w.mem.addr)
				return InvalidValue
			}
			after[w.mem] = false
		}
	}
	for _, n := range x.order.nodes {
		switch w := n.work.(type) {
		case *allocWork:
			w.mem.count(true)
		case *freeWork:
			w.mem.count(false)
		}
	}
	return Success
}

// GraphMemoryAttribute is a count of a device's memory for graphs
// (cudaGraphMemAttributeType).
type GraphMemoryAttribute int32

// The attributes. There is no reserve: what is reserved is in use.
const (
	GraphMemoryUsed GraphMemoryAttribute = iota
	GraphMemoryUsedHigh
	GraphMemoryReserved
	GraphMemoryReservedHigh
)

// GraphMemory returns an attribute of a device.
func (t *Thread) GraphMemory(device int, which GraphMemoryAttribute) (v uint64, err Error) {
	err = t.on(device, func(d *Runtime) Error {
		switch which {
		case GraphMemoryUsed, GraphMemoryReserved:
			v = d.graphUsed
		case GraphMemoryUsedHigh, GraphMemoryReservedHigh:
			v = d.graphHigh
		default:
			return InvalidValue
		}
		return Success
	})
	return v, err
}

// SetGraphMemory resets a peak to what is in use; other values than 0 are invalid.
func (t *Thread) SetGraphMemory(device int, which GraphMemoryAttribute, v uint64) Error {
	return t.on(device, func(d *Runtime) Error {
		if v != 0 || which != GraphMemoryUsedHigh && which != GraphMemoryReservedHigh {
			return InvalidValue
		}
		d.graphHigh = d.graphUsed
		return Success
	})
}

// TrimGraphMemory gives back a device's reserve for graphs, which is always empty.
func (t *Thread) TrimGraphMemory(device int) Error {
	return t.on(device, func(*Runtime) Error { return Success })
}
