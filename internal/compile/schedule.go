package compile

import (
	"slices"
	"strings"

	"github.com/heddle-sim/heddle/internal/compile/ir"
	"github.com/heddle-sim/heddle/internal/compile/machine"
)

// This file: the order of instructions in a block. What long waits follow comes first, as far as there
// are registers for what is waited for.

// most live values while instructions with long waits are preferred; beyond, what frees registers is
// (our choice: 40 registers let an SM of sm_86 hold its 48 warps). A block through which many values
// go has room for some more: else its loads would wait one after the other.
const (
	mostLive       = 36
	moreLive       = 24
	mostPredicates = 4
	mostCompared   = 128 // instructions among which one is chosen, the first of those that may come
	spare          = 2   // registers that are left for tuples where values are made again so that the rest fits
)

// node is an instruction with what it waits for.
type node struct {
	in      *ir.Inst
	uses    []use // each value once
	defs    []use
	after   []int // places of instructions that must come first
	sources int   // how many of these, the first, are its sources
	early   bool  // an exit, or a source of one
	next    []int
	left    int // of after
	path    int // cycles to the end of the block at least
	ready   int // the cycle in which its sources are there
	order   int
	latency int
}

// use is a value that an instruction reads, or writes, and how often.
type use struct {
	id, times int32
	class     ir.Class
}

// arrange orders the instructions of every block: in the order that is asked for or, while more general registers
// would be needed than there are, in the next. If none suffices it is the one that needs the fewest, and values are
// to be made again where they are needed. It returns how many values are needed at once.
func (o *options) arrange(f *ir.Func, m *machine.Machine) (peak [ir.Classes]int) {
	s := &scheduler{m: m, live: findNeeded(f), by: make([]int, len(f.Values))}
	s.p.left = make([]int32, len(f.Values))
	written := make([][]*ir.Inst, len(f.Blocks))
	for i, b := range f.Blocks {
		written[i] = b.Insts
	}
	least := 0
	for {
		for i, b := range f.Blocks {
			if b.Insts = written[i]; o.order != asWritten {
				s.block(b, o.order)
			}
		}
		peak = highest(s.live.peaks(f))
		if peak[ir.GPR] <= m.Registers || o.registers > 0 {
			return peak
		}
		if least == 0 || peak[ir.GPR] < least {
			least, o.leanest = peak[ir.GPR], o.order
		}
		if o.order <= frugal && peak[ir.GPR] <= least {
			o.spilling = o.order
		}
		if o.order++; o.order == orders {
			if o.joined { // it begins again without them
				o.order = asWritten
				stop(tooMany(ir.GPR, m.Registers), "at once, which "+notYet)
			}
			o.order, o.registers = o.leanest, m.Registers-spare
		}
	}
}

// block orders the instructions of a block, in a list of its own.
func (s *scheduler) block(b *ir.Block, o order) {
	if s.most = 0; o != frugal {
		s.most = s.room(b)
	}
	run := s.run
	if o == late {
		run = s.backward
	}
	var out []*ir.Inst
	from := 0
	for i, in := range b.Insts { // nothing passes a reading of the clock, or is before a function's beginning
		if in.Base() == "CS2R" || in.Name == enterName {
			out = append(append(out, run(b, from, i)...), in)
			from = i + 1
		}
	}
	b.Insts = append(out, run(b, from, len(b.Insts))...)
}

// scheduler orders the instructions of one function.
type scheduler struct {
	m    *machine.Machine
	live *liveness
	by   []int // by value: 1 + the place in the run of the instruction that defines it; 0 between runs
	p    pressure
	some []*ir.Value // of an instruction
	most int         // general registers that may be needed before those are freed first
}

// room is how many general registers a block's instructions may need at once before what frees some is
// preferred.
func (s *scheduler) room(b *ir.Block) int {
	n := 0
	for _, v := range s.live.in[b.ID] {
		if v.Class == ir.GPR {
			n++
		}
	}
	return max(mostLive, min(n+moreLive, s.m.Registers-moreLive))
}

// latencyOf is about how long a result takes.
func latencyOf(in *ir.Inst, m *machine.Machine) int {
	if callsRoutine(in) {
		return 200
	}
	switch c := machine.ClassOf(in.Name); c {
	case machine.Memory: // the least of loads, and what a second-level cache adds, weighed
		return 60
	case machine.SFU, machine.Special:
		return 20
	case machine.Double, machine.Matrix:
		return 40
	case machine.Constant, machine.Control:
		return 10
	default:
		return int(m.Need[c][machine.ByALU])
	}
}

// ordered reports whether an instruction reads memory, or depends on which lanes are active: it stays
// between the effects around it. Of memory that is only read that holds for some effects.
func ordered(in *ir.Inst) bool {
	switch in.Base() {
	case "LDG", "LD", "LDS", "LDL", "LDSM", "MOVM", "SHFL", "VOTE", "MATCH", "REDUX", "B2R":
		return true
	}
	return false
}

// spaces are those whose memory overlaps no other's: global, shared and local.
const spaces = 3

// spacesOf are the spaces that an instruction accesses, as bits; loads and stores of unknown addresses are in
// all, what accesses no memory in none.
func spacesOf(in *ir.Inst) uint8 {
	switch in.Base() {
	case "LDG":
		if in.Has("CONSTANT") { // nobody writes there
			return 0
		}
		return 1
	case "STG":
		return 1
	case "LDS", "LDSM", "STS":
		return 2
	case "LDL", "STL":
		return 4
	case "LD", "ST":
		return 7
	}
	return 0
}

// memoryOrder says what an instruction has to come after, by the places of those before it: a plain store
// after the loads and stores of its space, a load after the stores of its own, all else that has an
// effect after all that, and before all that follows. A load of memory that nobody writes only stays after
// exits and traps, above which lanes that end there would load, too, and calls, which would have to keep what it
// loads.
type memoryOrder struct {
	held   int         // the last exit, trap or call, -1 if there was none
	full   int         // the last one that all others stay on their side of, -1 if there was none
	since  []int       // what came after it and must stay there
	stored [spaces]int // the last store to a space, full if there was none since then
	loaded [spaces][]int
}

// add returns what the instruction at a place has to come after, in addition to a list.
func (m *memoryOrder) add(after []int, at int, in *ir.Inst) []int {
	store := false
	switch in.Base() {
	case "STG", "STS", "STL", "ST":
		store = true
	}
	switch {
	case !in.Effect && !ordered(in):
		return after
	case in.Base() == "LDG" && in.Has("CONSTANT"):
		if m.held >= 0 {
			after = append(after, m.held)
		}
		return after
	case in.Effect && !store || in.Has("STRONG"):
		if after = append(after, m.since...); m.full >= 0 {
			after = append(after, m.full)
		}
		held := m.held
		if in.Base() == "EXIT" || in.Base() == "BPT" || strings.HasPrefix(in.Name, callName) {
			held = at
		}
		*m = memoryOrder{held: held, full: at, stored: [spaces]int{at, at, at}}
		return after
	}
	m.since = append(m.since, at)
	if m.full >= 0 {
		after = append(after, m.full)
	}
	of := spacesOf(in)
	for s := range spaces {
		if of>>s&1 == 0 {
			continue
		}
		if n := m.stored[s]; n >= 0 && n != m.full {
			after = append(after, n)
		}
		if store {
			after = append(after, m.loaded[s]...)
			m.stored[s], m.loaded[s] = at, m.loaded[s][:0]
		} else {
			m.loaded[s] = append(m.loaded[s], at)
		}
	}
	return after
}

// nodes finds what each instruction waits for.
func (s *scheduler) nodes(list []*ir.Inst) []node {
	all := make([]node, len(list))
	uses, after := make([]use, 0, 4*len(list)), make([]int, 0, 3*len(list))
	mem := memoryOrder{held: -1, full: -1, stored: [spaces]int{-1, -1, -1}}
	for i, in := range list {
		n := &all[i]
		n.in, n.order, n.latency = in, i, latencyOf(in, s.m)
		from, first := len(uses), len(after)
		s.some = in.Reads(s.some[:0])
		for _, v := range s.some {
			uses = addUse(uses, from, v)
		}
		n.uses = uses[from:len(uses):len(uses)]
		from = len(uses)
		s.some = in.Writes(s.some[:0])
		for _, v := range s.some {
			uses = append(uses, use{int32(v.ID), 1, v.Class})
		}
		n.defs = uses[from:len(uses):len(uses)]
		for _, u := range n.uses {
			if d := s.by[u.id]; d > 0 {
				after = append(after, d-1)
			}
		}
		for _, u := range n.defs {
			s.by[u.id] = i + 1
		}
		n.sources, n.early = len(after)-first, in.Base() == "EXIT"
		after = mem.add(after, i, in)
		n.after = after[first:len(after):len(after)]
		for _, a := range n.after {
			all[a].left++
		}
	}
	next := make([]int, len(after))
	for i := range all {
		n := &all[i]
		for _, u := range n.defs {
			s.by[u.id] = 0
		}
		n.next, next = next[:0:n.left], next[n.left:]
		n.left = len(n.after)
		for _, a := range n.after { // they are before it
			all[a].next = append(all[a].next, i)
		}
	}
	for i := len(all) - 1; i >= 0; i-- {
		n := &all[i]
		for _, x := range n.next {
			n.path = max(n.path, all[x].path+s.after(n, &all[x]))
		}
		n.path = max(n.path, n.latency)
		for _, a := range n.after[:n.sources] {
			all[a].early = all[a].early || n.early
		}
	}
	return all
}

// after is how many cycles after one instruction another can issue that comes after it.
func (s *scheduler) after(n, x *node) int {
	if g, c := x.in.Guard.Val, machine.ClassOf(n.in.Name); g != nil && g.Def == n.in && !c.Late() {
		return max(n.latency, int(s.m.Predicate[c][machine.ByGuard]))
	}
	return n.latency
}

// addUse adds a value to those of a list that an instruction reads, which begin at a place.
func addUse(list []use, from int, v *ir.Value) []use {
	for i := from; i < len(list); i++ {
		if list[i].id == int32(v.ID) {
			list[i].times++
			return list
		}
	}
	return append(list, use{int32(v.ID), 1, v.Class})
}

// pressure counts the values that are needed.
type pressure struct {
	left []int32 // by value: uses to come; values that are needed after the run have one more; 0 between runs
	live [ir.Classes]int
}

// begin counts for a run of a block; the instructions of its other runs count as what comes after.
func (s *scheduler) begin(b *ir.Block, from, to int, all []node) {
	p := &s.p
	p.live = [ir.Classes]int{}
	for _, v := range s.live.in[b.ID] {
		p.live[v.Class]++
	}
	s.each(b, from, to, all, func(id, times int32) { p.left[id] += times })
}

// end forgets the run.
func (s *scheduler) end(b *ir.Block, from, to int, all []node) {
	s.each(b, from, to, all, func(id, _ int32) { s.p.left[id] = 0 })
}

// each calls f for the uses of values in a block, of which a run has become nodes, and after it.
func (s *scheduler) each(b *ir.Block, from, to int, all []node, f func(id, times int32)) {
	one := func(v *ir.Value) { f(int32(v.ID), 1) }
	for i := range all {
		for _, u := range all[i].uses {
			f(u.id, u.times)
		}
	}
	for _, list := range [...][]*ir.Inst{b.Insts[:from], b.Insts[to:]} {
		for _, in := range list {
			s.some = in.Reads(s.some[:0])
			for _, v := range s.some {
				one(v)
			}
		}
	}
	s.live.eachOut(b, one)
	if b.Term.Cond != nil {
		one(b.Term.Cond)
	}
}

// change is how many more values of a class an instruction makes needed than it frees.
func (p *pressure) change(x *node, c ir.Class) int {
	n := 0
	for _, u := range x.uses {
		if u.class == c && p.left[u.id] == u.times {
			n--
		}
	}
	for _, u := range x.defs {
		if u.class == c && p.left[u.id] > 0 {
			n++
		}
	}
	return n
}

// issue counts an instruction.
func (p *pressure) issue(x *node) {
	for c := range ir.Classes {
		p.live[c] += p.change(x, c)
	}
	for _, u := range x.uses {
		p.left[u.id] -= u.times
	}
}

// run orders instructions of a block that have no reading of the clock among them.
func (s *scheduler) run(b *ir.Block, from, to int) []*ir.Inst {
	list := b.Insts[from:to]
	if len(list) < 3 {
		return append([]*ir.Inst(nil), list...)
	}
	all := s.nodes(list)
	p := &s.p
	s.begin(b, from, to, all)
	defer s.end(b, from, to, all)
	var open []int
	for i := range all {
		if all[i].left == 0 {
			open = append(open, i)
		}
	}
	out := make([]*ir.Inst, 0, len(list))
	now := 0
	for len(open) > 0 {
		k := choose(all, open, p, now, s.most)
		n := &all[open[k]]
		open = append(open[:k], open[k+1:]...) // in their order
		now = max(now+1, n.ready+1)
		p.issue(n)
		out = append(out, n.in)
		for _, x := range n.next {
			next := &all[x]
			next.ready = max(next.ready, now-1+s.after(n, next))
			if next.left--; next.left == 0 {
				k, _ := slices.BinarySearch(open, x)
				open = slices.Insert(open, k, x)
			}
		}
	}
	return out
}

// choose is the place in open of the instruction to issue next.
func choose(all []node, open []int, p *pressure, now, most int) int {
	tight, narrow := p.live[ir.GPR] >= most, p.live[ir.Pred] >= mostPredicates
	type candidate struct {
		*node
		preds, regs int // how many more are needed after it
	}
	better := func(x, y *candidate) bool {
		switch a, z := max(x.ready, now), max(y.ready, now); {
		case narrow && x.preds != y.preds && (x.preds > 0 || y.preds > 0):
			return x.preds < y.preds
		case tight && x.regs != y.regs:
			return x.regs < y.regs
		case !tight && x.early != y.early: // warps that end at an exit waste what comes before it
			return x.early
		case !tight && a != z:
			return a < z
		case !tight && x.path != y.path:
			return x.path > y.path
		}
		return x.order < y.order
	}
	if len(open) == 1 {
		return 0
	}
	best := 0
	var first candidate
	for k, i := range open[:min(len(open), mostCompared)] {
		c := candidate{node: &all[i]}
		if narrow {
			c.preds = p.change(c.node, ir.Pred)
		}
		if tight {
			c.regs = p.change(c.node, ir.GPR)
		}
		if k == 0 || better(&c, &first) {
			best, first = k, c
		}
	}
	return best
}

// backward orders instructions of a block from its end: next to what comes after is what makes the most of its
// sources, and needs the fewest that are not needed there anyway; of several the last one.
func (s *scheduler) backward(b *ir.Block, from, to int) []*ir.Inst {
	list := b.Insts[from:to]
	all := s.nodes(list)
	needed := make([]bool, len(s.by))
	s.live.eachOut(b, func(v *ir.Value) { needed[v.ID] = true })
	if b.Term.Cond != nil {
		needed[b.Term.Cond.ID] = true
	}
	for _, in := range b.Insts[to:] {
		s.some = in.Reads(s.some[:0])
		for _, v := range s.some {
			needed[v.ID] = true
		}
	}
	var open []int
	for i := range all {
		if all[i].left = len(all[i].next); all[i].left == 0 {
			open = append(open, i)
		}
	}
	out := make([]*ir.Inst, len(list))
	for n := len(list) - 1; n >= 0; n-- {
		best, least := -1, 0
		for k := len(open) - 1; k >= max(0, len(open)-mostCompared); k-- {
			if c := all[open[k]].grows(needed); best < 0 || c < least {
				best, least = k, c
			}
		}
		x := &all[open[best]]
		open = slices.Delete(open, best, best+1)
		out[n] = x.in
		for _, u := range x.defs {
			needed[u.id] = false
		}
		for _, u := range x.uses {
			needed[u.id] = true
		}
		for _, a := range x.after {
			if all[a].left--; all[a].left == 0 {
				k, _ := slices.BinarySearch(open, a)
				open = slices.Insert(open, k, a)
			}
		}
	}
	return out
}

// grows is how many general registers more are needed before an instruction than after it.
func (x *node) grows(needed []bool) int {
	n := 0
	for _, u := range x.uses {
		if u.class == ir.GPR && !needed[u.id] {
			n++
		}
	}
	for _, u := range x.defs {
		if u.class == ir.GPR && needed[u.id] {
			n--
		}
	}
	return n
}
