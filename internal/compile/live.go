package compile

import (
	"slices"
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

// cover reports whether one range contains another, but for where that begins: a value is made of what ends there.
func (r ranges) cover(o ranges) bool {
	for _, s := range o {
		j := sort.Search(len(r), func(j int) bool { return r[j].to > s.from })
		if j == len(r) || r[j].from > s.from || r[j].to < s.to {
			return false
		}
	}
	return true
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

// compact unites ranges that touch; r changes.
func (r ranges) compact() ranges {
	n := 0
	for _, s := range r {
		if n > 0 && r[n-1].to >= s.from {
			r[n-1].to = max(r[n-1].to, s.to)
			continue
		}
		r[n] = s
		n++
	}
	return r[:n]
}

// with adds ranges that do not overlap r to it; r changes.
func (r ranges) with(o ranges) ranges {
	if len(o) == 0 {
		return r
	}
	from := sort.Search(len(r), func(i int) bool { return r[i].to >= o[0].from })
	to := from
	for to < len(r) && r[to].from <= o[len(o)-1].to {
		to++
	}
	return slices.Replace(r, from, to, r[from:to].join(o)...)
}

// liveness has the ranges of all values, or only what is needed where blocks begin.
type liveness struct {
	of    []ranges      // by value
	first []int         // by block: the number before its first instruction
	last  []int         // by block: the number of its end, at which its condition is read
	in    [][]*ir.Value // by block: what is needed at its beginning, but for its phis, by ID
	some  []*ir.Value   // of an instruction
}

// demand is a value that is needed at the beginning of a block, or at its end.
type demand struct {
	v   *ir.Value
	b   *ir.Block
	end bool
}

// findNeeded computes what is needed at the beginning of each block: from each use back to the definition, so
// that the time is that of the result (Boissinot et al., "Computing Liveness Sets for SSA-Form Programs", 2011).
// That does not depend on the order of instructions in a block.
func findNeeded(f *ir.Func) *liveness {
	f.Renumber()
	n := len(f.Blocks)
	l := &liveness{in: make([][]*ir.Value, n)}
	list, home := demands(f)
	seen := make([]int, n) // by block: 1 + the value that was last found to be needed at its beginning
	var queue []demand
	for _, d := range list {
		for queue = append(queue, d); len(queue) > 0; {
			d := queue[len(queue)-1]
			queue = queue[:len(queue)-1]
			if i := d.b.ID; d.end && home[d.v.ID] == i || seen[i] == d.v.ID+1 {
				continue
			}
			seen[d.b.ID] = d.v.ID + 1
			l.in[d.b.ID] = append(l.in[d.b.ID], d.v)
			for _, p := range d.b.Preds {
				queue = append(queue, demand{d.v, p, true})
			}
		}
	}
	return l
}

// findLive computes where each value is needed.
func findLive(f *ir.Func) *liveness {
	l := findNeeded(f)
	n := len(f.Blocks)
	l.of, l.first, l.last = make([]ranges, len(f.Values)), make([]int, n), make([]int, n)
	at := 0
	for i, b := range f.Blocks {
		l.first[i] = at
		at += 2*len(b.Insts) + 2
		l.last[i] = at
		at += 2
	}
	room := make(ranges, len(f.Values)) // most values have one range
	for v := range l.of {
		l.of[v] = room[v : v : v+1]
	}
	ends := make([]int, len(f.Values)) // where a value's range in the block ends, 0 if it has none
	for _, b := range f.Blocks {
		l.ranges(b, ends)
	}
	for v, r := range l.of {
		l.of[v] = r.compact()
	}
	return l
}

// demands lists where values are needed outside the part of a block that follows their definition, by
// the values' IDs; home is the block of each definition.
func demands(f *ir.Func) (list []demand, home []int) {
	home = make([]int, len(f.Values))
	for i := range home {
		home[i] = -1
	}
	for _, b := range f.Blocks {
		for _, p := range b.Phis {
			home[p.Dst.ID] = b.ID
		}
	}
	var some []*ir.Value
	for _, b := range f.Blocks {
		use := func(v *ir.Value) {
			if home[v.ID] != b.ID {
				list = append(list, demand{v, b, false})
			}
		}
		for _, in := range b.Insts {
			some = in.Reads(some[:0])
			for _, v := range some {
				use(v)
			}
			in.EachDef(func(v *ir.Value) { home[v.ID] = b.ID })
		}
		if b.Term.Cond != nil {
			use(b.Term.Cond)
		}
		for _, s := range b.Succs() {
			i := s.PredIndex(b)
			for _, p := range s.Phis {
				if a := p.Args[i]; a != nil {
					list = append(list, demand{a, b, true})
				}
			}
		}
	}
	return byValue(list, len(f.Values)), home
}

// byValue sorts demands by the IDs of their values, of which there are n.
func byValue(list []demand, n int) []demand {
	at := make([]int, n+1) // by ID: where its demands go
	for _, d := range list {
		at[d.v.ID+1]++
	}
	for i := range n {
		at[i+1] += at[i]
	}
	out := make([]demand, len(list))
	for _, d := range list {
		out[at[d.v.ID]] = d
		at[d.v.ID]++
	}
	return out
}

// eachOut calls f for each value that is needed at a block's end, for some more than once: sources of
// phis are needed up to the end of the block from which they come.
func (l *liveness) eachOut(b *ir.Block, f func(v *ir.Value)) {
	for _, s := range b.Succs() {
		for _, v := range l.in[s.ID] {
			f(v)
		}
		i := s.PredIndex(b)
		for _, p := range s.Phis {
			if a := p.Args[i]; a != nil {
				f(a)
			}
		}
	}
}

// ranges adds the ranges within a block. ends is 0 for all values, before and after.
func (l *liveness) ranges(b *ir.Block, ends []int) {
	l.eachOut(b, func(v *ir.Value) { ends[v.ID] = l.last[b.ID] + 2 })
	use := func(v *ir.Value, at int) {
		if ends[v.ID] == 0 {
			ends[v.ID] = at + 1
		}
	}
	if b.Term.Cond != nil {
		use(b.Term.Cond, l.last[b.ID])
	}
	for k := len(b.Insts) - 1; k >= 0; k-- {
		in := b.Insts[k]
		at := l.first[b.ID] + 2 + 2*k
		in.EachDef(func(v *ir.Value) {
			to := ends[v.ID]
			if to == 0 {
				to = at + 2 // nobody reads it, but it is written
			}
			l.add(v, at+1, to)
			ends[v.ID] = 0
		})
		l.some = in.Reads(l.some[:0])
		for _, v := range l.some {
			use(v, at)
		}
	}
	for _, p := range b.Phis {
		to := ends[p.Dst.ID]
		if to == 0 {
			to = l.first[b.ID] + 1
		}
		l.add(p.Dst, l.first[b.ID], to)
		ends[p.Dst.ID] = 0
	}
	for _, v := range l.in[b.ID] {
		l.add(v, l.first[b.ID], ends[v.ID])
		ends[v.ID] = 0
	}
}

func (l *liveness) add(v *ir.Value, from, to int) { l.of[v.ID] = append(l.of[v.ID], segment{from, to}) }

// peaks counts how many values each block needs at once, at most, with its instructions in the order that they have.
func (l *liveness) peaks(f *ir.Func) [][ir.Classes]int {
	peaks := make([][ir.Classes]int, len(f.Blocks))
	needed := make([]bool, len(f.Values))
	for i, b := range f.Blocks {
		var now [ir.Classes]int
		need := func(v *ir.Value) {
			if !needed[v.ID] {
				needed[v.ID] = true
				if now[v.Class]++; now[v.Class] > peaks[i][v.Class] {
					peaks[i][v.Class] = now[v.Class]
				}
			}
		}
		l.eachOut(b, need)
		if b.Term.Cond != nil {
			need(b.Term.Cond)
		}
		for _, in := range slices.Backward(b.Insts) {
			in.EachDef(need) // also what nobody reads
			in.EachDef(func(v *ir.Value) {
				needed[v.ID] = false
				now[v.Class]--
			})
			l.some = in.Reads(l.some[:0])
			for _, v := range l.some {
				need(v)
			}
		}
		for _, p := range b.Phis {
			need(p.Dst)
		}
		for _, p := range b.Phis {
			needed[p.Dst.ID] = false
		}
		for _, v := range l.in[i] {
			needed[v.ID] = false
		}
	}
	return peaks
}

// highest is the most of what blocks need.
func highest(peaks [][ir.Classes]int) (most [ir.Classes]int) {
	for _, p := range peaks {
		for c, n := range p {
			most[c] = max(most[c], n)
		}
	}
	return most
}
