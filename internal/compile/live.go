package compile

import (
	"sort"

	"github.com/heddle-sim/heddle/internal/compile/ir"
)

// This file: where values are needed. Instructions have the numbers 2, 4, 6 … in the order of the
// code: one reads its sources at its number, and writes its results at the next one.

// segment is a piece of code in which a value is needed, without its end.
type segment struct{ from, to int }

// ranges are pieces of code in ascending order.
type ranges []segment

// overlaps reports whether two ranges have a place in common.
func (r ranges) overlaps(o ranges) bool {
	if len(r) > len(o) {
		r, o = o, r
	}
	if len(r) == 0 {
		return false
	}
	j := sort.Search(len(o), func(j int) bool { return o[j].to > r[0].from })
	for i := 0; i < len(r) && j < len(o); {
		switch {
		case r[i].to <= o[j].from:
			i++
		case o[j].to <= r[i].from:
			j++
		default:
			return true
		}
	}
	return false
}

// join returns both ranges as one.
func (r ranges) join(o ranges) ranges {
	out := make(ranges, 0, len(r)+len(o))
	for len(r) > 0 || len(o) > 0 {
		next := &r
		if len(r) == 0 || len(o) > 0 && o[0].from < r[0].from {
			next = &o
		}
		s := (*next)[0]
		*next = (*next)[1:]
		if n := len(out); n > 0 && out[n-1].to >= s.from {
			out[n-1].to = max(out[n-1].to, s.to)
		} else {
			out = append(out, s)
		}
	}
	return out
}

type bitset []uint64

func (b bitset) has(i int) bool { return b[i/64]>>(i%64)&1 != 0 }
func (b bitset) set(i int)      { b[i/64] |= 1 << (i % 64) }
func (b bitset) clear(i int)    { b[i/64] &^= 1 << (i % 64) }

// liveness has the ranges of all values.
type liveness struct {
	of    []ranges // by value
	first []int    // by block: the number before its first instruction
	last  []int    // by block: the number of its end, at which its condition is read
	in    []bitset
}

// findLive computes where each value is needed.
func findLive(f *ir.Func) *liveness {
	f.Renumber()
	n := len(f.Blocks)
	l := &liveness{of: make([]ranges, len(f.Values)), first: make([]int, n), last: make([]int, n), in: make([]bitset, n)}
	at := 0
	for i, b := range f.Blocks {
		l.first[i] = at
		at += 2*len(b.Insts) + 2
		l.last[i] = at
		at += 2
		l.in[i] = make(bitset, len(f.Values)/64+1)
	}
	for again := true; again; {
		again = false
		for i := n - 1; i >= 0; i-- {
			live := l.out(f.Blocks[i])
			l.through(f.Blocks[i], live, nil)
			for k, w := range live {
				if w&^l.in[i][k] != 0 {
					l.in[i][k] |= w
					again = true
				}
			}
		}
	}
	for i := n - 1; i >= 0; i-- {
		b := f.Blocks[i]
		live := l.out(b)
		ends := map[int]int{} // by value: where its range in this block ends
		for v := range f.Values {
			if live.has(v) {
				ends[v] = l.last[i] + 2
			}
		}
		l.through(b, live, ends)
		for v, to := range ends {
			l.add(v, segment{l.first[i], to})
		}
	}
	for v, r := range l.of { // they came in descending order
		for a, z := 0, len(r)-1; a < z; a, z = a+1, z-1 {
			r[a], r[z] = r[z], r[a]
		}
		l.of[v] = r.join(nil)
	}
	return l
}

func (l *liveness) add(v int, s segment) { l.of[v] = append(l.of[v], s) }

// out is what is needed at a block's end: sources of phis are needed up to the end of the block from
// which they come.
func (l *liveness) out(b *ir.Block) bitset {
	live := make(bitset, len(l.of)/64+1)
	for _, s := range b.Succs() {
		for k, w := range l.in[s.ID] {
			live[k] |= w
		}
		for _, p := range s.Phis {
			live.clear(p.Dst.ID)
		}
		i := s.PredIndex(b)
		for _, p := range s.Phis {
			if a := p.Args[i]; a != nil {
				live.set(a.ID)
			}
		}
	}
	return live
}

// through goes from a block's end to its beginning. With ends, it notes the ranges within the block;
// what remains in ends is needed from its beginning on.
func (l *liveness) through(b *ir.Block, live bitset, ends map[int]int) {
	use := func(v *ir.Value, at int) {
		if !live.has(v.ID) {
			live.set(v.ID)
			if ends != nil {
				ends[v.ID] = at + 1
			}
		}
	}
	if b.Term.Cond != nil {
		use(b.Term.Cond, l.last[b.ID])
	}
	for k := len(b.Insts) - 1; k >= 0; k-- {
		in := b.Insts[k]
		at := l.first[b.ID] + 2 + 2*k
		for _, v := range in.Defs() {
			if ends != nil {
				to, ok := ends[v.ID]
				if !ok {
					to = at + 2 // nobody reads it, but it is written
				}
				l.add(v.ID, segment{at + 1, to})
				delete(ends, v.ID)
			}
			live.clear(v.ID)
		}
		in.Uses(func(p **ir.Value) { use(*p, at) })
	}
	for _, p := range b.Phis {
		if ends != nil {
			to, ok := ends[p.Dst.ID]
			if !ok {
				to = l.first[b.ID] + 1
			}
			l.add(p.Dst.ID, segment{l.first[b.ID], to})
			delete(ends, p.Dst.ID)
		}
		live.clear(p.Dst.ID)
	}
}
