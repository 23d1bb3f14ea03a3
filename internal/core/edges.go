package core

import (
	"cmp"
	"slices"
)

// This file: for which other instructions of a kernel each instruction waited. States know at
// which instruction a warp waits; the core says whose result, or whose reading of registers,
// ended the wait. A wait for several is charged to the last: the others did not prolong it.

// Edge is a number of warp cycles in which warps waited at an instruction for another.
type Edge struct {
	From   int32 // the instruction waited for
	next   int32 // index of the next edge of the same instruction, plus one; 0 for none
	Cycles uint64
}

// Edges are those of a kernel, by the instruction that waits. There is one for each pair that
// occurs: few, as an instruction has few producers.
type Edges struct {
	first []int32 // by instruction: index of its first edge, plus one; 0 for none
	list  []Edge
}

// NewEdges returns no edges of a kernel with n instructions, with room for as many as kernels
// usually have (our choice: two for each instruction), so that adding does not allocate.
func NewEdges(n int) *Edges {
	return &Edges{first: make([]int32, n), list: make([]Edge, 0, 2*n)}
}

// add charges cycles to an edge.
func (e *Edges) add(at, from int32, cycles uint64) {
	for i := e.first[at]; i > 0; i = e.list[i-1].next {
		if x := &e.list[i-1]; x.From == from {
			x.Cycles += cycles
			return
		}
	}
	e.list = append(e.list, Edge{from, e.first[at], cycles})
	e.first[at] = int32(len(e.list))
}

// Add adds the edges of the same kernel; o may be nil.
func (e *Edges) Add(o *Edges) {
	if o == nil {
		return
	}
	for at, i := range o.first {
		for ; i > 0; i = o.list[i-1].next {
			e.add(int32(at), o.list[i-1].From, o.list[i-1].Cycles)
		}
	}
}

// Of returns the edges of an instruction, those with most cycles first; e may be nil.
func (e *Edges) Of(at int) []Edge {
	if e == nil {
		return nil
	}
	var list []Edge
	for i := e.first[at]; i > 0; i = e.list[i-1].next {
		list = append(list, e.list[i-1])
	}
	slices.SortFunc(list, func(a, b Edge) int {
		return cmp.Or(cmp.Compare(b.Cycles, a.Cycles), cmp.Compare(a.From, b.From))
	})
	return list
}

// KeepEdges makes a ledger keep edges, too.
func (l *Ledger) KeepEdges() { l.edges = map[Kernel]*Edges{} }

// ReadEdges adds a kernel's edges so far to sum.
func (l *Ledger) ReadEdges(k Kernel, sum *Edges) { sum.Add(l.edges[k]) }

// TakeEdges is like ReadEdges, and forgets them.
func (l *Ledger) TakeEdges(k Kernel, sum *Edges) {
	l.ReadEdges(k, sum)
	delete(l.edges, k)
}

// EdgesOf returns the edges of a kernel with n instructions; nil if they are not kept.
func (b *Books) EdgesOf(k Kernel, n int) *Edges {
	if b.ledger == nil || b.ledger.edges == nil {
		return nil
	}
	e := b.ledger.edges[k]
	if e == nil {
		e = NewEdges(n)
		b.ledger.edges[k] = e
	}
	return e
}

// ends is what ended the waits of warps, by slot.
type ends struct {
	by    [maxWarps]int32  // instruction that ended the wait last, -1 for none
	open  [maxWarps]uint64 // cycles of the wait before the next instruction that are in no edge yet
	waits [maxWarps]uint32 // the states that are waits for instructions, one bit each
}

// Explain makes the waits of the warp in slot s go to edges: the states in a mask. The warp has
// just been launched.
func (a *States) Explain(s int, waits uint32) {
	if a.ends == nil {
		a.ends = &ends{}
	}
	a.ends.by[s], a.ends.open[s], a.ends.waits[s] = -1, 0, waits
}

// Waited reports whether the warp in slot s, whose waits go to edges, waits for instructions as its state
// says, or has waited before its next one. Settling in between changes nothing.
func (a *States) Waited(s int32) bool {
	x := a.ends
	return x.open[s] > 0 || x.waits[s]>>a.Of(int(s))&1 != 0
}

// Ended notes that an instruction no longer holds back the warp in slot s, whose waits go to
// edges, and which waits for it or has.
func (a *States) Ended(s, by int32) { a.ends.by[s] = by }

// WaitedFor returns the instruction for which the warp in slot s, which issues in this cycle, waited
// before; -1 if it waited for none, or its waits do not go to edges.
func (a *States) WaitedFor(s int16) int32 {
	if a.ends == nil || !a.Waited(int32(s)) {
		return -1
	}
	return a.ends.by[s]
}

// wait counts n cycles of a state.
func (x *ends) wait(s int, state uint8, n uint64) {
	if x.waits[s]>>state&1 != 0 {
		x.open[s] += n
	}
}

// explain charges the waits before an instruction to the edge to the one that ended them, if
// there is one.
func (x *ends) explain(s int, at int32, e *Edges) {
	if x.by[s] >= 0 && x.open[s] > 0 {
		e.add(at, x.by[s], x.open[s])
		x.by[s], x.open[s] = -1, 0
	}
}
