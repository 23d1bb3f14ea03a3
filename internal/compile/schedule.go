package compile

import (
	"github.com/heddle-sim/heddle/internal/compile/ir"
	"github.com/heddle-sim/heddle/internal/compile/machine"
)

// This file: the order of instructions in a block. What long waits follow comes first, as far as there
// are registers for what is waited for.

// most live values while instructions with long waits are preferred; beyond, what frees registers is
// (our choice: 40 registers let an SM of sm_86 hold its 48 warps).
const (
	mostLive       = 36
	mostPredicates = 4
)

// node is an instruction with what it waits for.
type node struct {
	in      *ir.Inst
	after   []int // places of instructions that must come first
	next    []int
	left    int // of after
	path    int // cycles to the end of the block at least
	ready   int // the cycle in which its sources are there
	order   int
	latency int
}

// schedule orders the instructions of every block.
func schedule(f *ir.Func, m *machine.Machine) {
	live := findLive(f)
	for _, b := range f.Blocks {
		var out []*ir.Inst
		from := 0
		for i, in := range b.Insts { // nothing passes a reading of the clock
			if in.Base() == "CS2R" {
				out = append(append(out, scheduleRun(f, m, b, live, b.Insts[from:i])...), in)
				from = i + 1
			}
		}
		b.Insts = append(out, scheduleRun(f, m, b, live, b.Insts[from:])...)
	}
}

// latencyOf is about how long a result takes.
func latencyOf(in *ir.Inst, m *machine.Machine) int {
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
// between the effects around it. That holds for memory that is only read, too: above an exit, lanes
// that have ended would read it.
func ordered(in *ir.Inst) bool {
	switch in.Base() {
	case "LDG", "LD", "LDS", "LDL", "LDSM", "SHFL", "VOTE", "MATCH", "REDUX", "B2R":
		return true
	}
	return false
}

// nodes finds what each instruction waits for.
func nodes(m *machine.Machine, list []*ir.Inst) []node {
	all := make([]node, len(list))
	by := map[*ir.Value]int{}
	effect := -1
	var reads []int // since the last effect
	for i, in := range list {
		n := &all[i]
		n.in, n.order, n.latency = in, i, latencyOf(in, m)
		in.Uses(func(v **ir.Value) {
			if d, ok := by[*v]; ok {
				n.after = append(n.after, d)
			}
		})
		for _, v := range in.Defs() {
			by[v] = i
		}
		switch {
		case in.Effect:
			if n.after = append(n.after, reads...); effect >= 0 {
				n.after = append(n.after, effect)
			}
			effect, reads = i, nil
		case ordered(in):
			if reads = append(reads, i); effect >= 0 {
				n.after = append(n.after, effect)
			}
		}
	}
	for i := range all {
		for _, a := range all[i].after {
			all[a].next = append(all[a].next, i)
		}
		all[i].left = len(all[i].after)
	}
	for i := len(all) - 1; i >= 0; i-- {
		n := &all[i]
		for _, x := range n.next {
			n.path = max(n.path, all[x].path)
		}
		n.path += n.latency
	}
	return all
}

// pressure counts the values that are needed.
type pressure struct {
	left map[*ir.Value]int // uses to come; values that are needed after the run have one more
	live [ir.Classes]int
}

func newPressure(f *ir.Func, b *ir.Block, live *liveness, list []*ir.Inst) *pressure {
	p := &pressure{left: map[*ir.Value]int{}}
	for _, v := range f.Values {
		if live.in[b.ID].has(v.ID) {
			p.live[v.Class]++
		}
	}
	for _, in := range list {
		in.Uses(func(v **ir.Value) { p.left[*v]++ })
	}
	out := live.out(b)
	in := map[*ir.Inst]bool{}
	for _, x := range list {
		in[x] = true
	}
	after := func(v *ir.Value) { p.left[v]++ }
	for _, x := range b.Insts { // other runs of the block
		if !in[x] {
			x.Uses(func(v **ir.Value) { after(*v) })
		}
	}
	for _, v := range f.Values {
		if out.has(v.ID) {
			after(v)
		}
	}
	if b.Term.Cond != nil {
		after(b.Term.Cond)
	}
	return p
}

// change is how many more values of a class an instruction makes needed than it frees.
func (p *pressure) change(in *ir.Inst, c ir.Class) int {
	n := 0
	uses := map[*ir.Value]int{}
	in.Uses(func(v **ir.Value) { uses[*v]++ })
	for v, k := range uses {
		if v.Class == c && p.left[v] == k {
			n--
		}
	}
	for _, v := range in.Defs() {
		if v.Class == c && p.left[v] > 0 {
			n++
		}
	}
	return n
}

// issue counts an instruction.
func (p *pressure) issue(in *ir.Inst) {
	for c := range ir.Classes {
		p.live[c] += p.change(in, c)
	}
	in.Uses(func(v **ir.Value) { p.left[*v]-- })
}

// scheduleRun orders instructions that have no reading of the clock among them.
func scheduleRun(f *ir.Func, m *machine.Machine, b *ir.Block, live *liveness, list []*ir.Inst) []*ir.Inst {
	if len(list) < 3 {
		return append([]*ir.Inst(nil), list...)
	}
	all := nodes(m, list)
	p := newPressure(f, b, live, list)
	var open []int
	for i := range all {
		if all[i].left == 0 {
			open = append(open, i)
		}
	}
	var out []*ir.Inst
	now := 0
	for len(open) > 0 {
		k := choose(all, open, p, now)
		n := &all[open[k]]
		open = append(open[:k], open[k+1:]...)
		now = max(now+1, n.ready+1)
		p.issue(n.in)
		out = append(out, n.in)
		for _, x := range n.next {
			s := &all[x]
			s.ready = max(s.ready, now-1+n.latency)
			if s.left--; s.left == 0 {
				open = append(open, x)
			}
		}
	}
	return out
}

// choose is the place in open of the instruction to issue next.
func choose(all []node, open []int, p *pressure, now int) int {
	tight, narrow := p.live[ir.GPR] >= mostLive, p.live[ir.Pred] >= mostPredicates
	best := -1
	better := func(x, y *node) bool {
		if tight || narrow {
			c := ir.GPR
			if narrow {
				c = ir.Pred
			}
			if a, z := p.change(x.in, c), p.change(y.in, c); a != z {
				return a < z
			}
			return x.order < y.order
		}
		if a, z := max(x.ready, now), max(y.ready, now); a != z {
			return a < z
		}
		if x.path != y.path {
			return x.path > y.path
		}
		return x.order < y.order
	}
	for k := range open {
		if best < 0 || better(&all[open[k]], &all[open[best]]) {
			best = k
		}
	}
	return best
}
