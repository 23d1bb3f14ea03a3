package replay

import (
	"strings"

	"github.com/heddle-sim/heddle/internal/isa"
)

// This file: control bits as a compiler would set them. Stall counters cover results of
// fixed latency. Dependence counters cover results of variable latency, and sources that
// instructions of variable latency read late. The possible successors are given as a
// graph; for a trace, the actual successors. No path through the graph has a hazard.

// maxStall is the largest stall counter.
const maxStall = 15

// yieldStall is the smallest stall counter that needs the yield bit: above 11, the
// hardware waits one or two cycles without it (measured, MICRO'25).
const yieldStall = 12

// Latencies are the latencies for which control bits are inferred.
type Latencies struct {
	// Fixed is the number of cycles from the issue of an instruction of a class to
	// that of one that reads its result; 0 means variable latency.
	Fixed [isa.Classes]uint8
	// Predicate is the latency of predicates written at fixed latency, except carries,
	// which additions write for the upper half: those have the latency of the class.
	Predicate uint8
	// Late is added if the reader has variable latency, since it cannot use the
	// bypass.
	Late uint8
	// Branch is the stall of control-flow instructions, Depbar that after a DEPBAR,
	// Raise the minimum from an instruction that raises a counter to one that waits
	// for it.
	Branch, Depbar, Raise uint8
}

// AmpereLatencies returns those of sm_80 and sm_86. Measured dependent distances are 4
// and, for packed halves, 5. Compilers leave 4 after IMAD and between an addition and
// the reader of its carry, 13 between a comparison and what it guards, 5 after a branch
// (MICRO'25, and a listing of sm_80). Within the uniform datapath 4 was measured, but
// compilers leave 6 if a vector instruction reads the result, and 2 after UMOV and ULDC.
// Matrix instructions differ by shape, so a counter guards them.
func AmpereLatencies() Latencies {
	l := Latencies{Predicate: 13, Late: 1, Branch: 5, Depbar: 4, Raise: 2}
	for c, n := range map[isa.Class]uint8{
		isa.ClassInt: 4, isa.ClassFP32: 4, isa.ClassIMAD: 4, isa.ClassHalf: 5, isa.ClassSetp: 13, isa.ClassPred: 13, isa.ClassUniform: 6, isa.ClassUniformMove: 2,
		isa.ClassBranch: 5, isa.ClassMisc: 4, isa.ClassFence: 4, isa.ClassNone: 4,
	} {
		l.Fixed[c] = n
	}
	return l
}

// late reports whether an instruction has variable latency, or one beyond the range of a
// stall counter.
func (l *Latencies) late(in *isa.Inst) bool {
	if l.Fixed[in.Class] == 0 {
		return true
	}
	for _, r := range in.Dsts {
		if int(l.of(in, r))+int(l.Late) > maxStall {
			return true
		}
	}
	return false
}

// of returns the fixed latency of a result.
func (l *Latencies) of(in *isa.Inst, r isa.Reg) uint8 {
	n := l.Fixed[in.Class]
	if r.File == isa.RegPred || r.File == isa.RegUPred {
		switch in.Class {
		case isa.ClassInt, isa.ClassIMAD:
			if !strings.HasPrefix(in.Op, "LOP3") {
				return n
			}
		}
		return max(l.Predicate, n)
	}
	return n
}

// regKey is one register of a file.
type regKey uint32

func keyOf(r isa.Reg, part int) regKey { return regKey(r.File)<<24 | regKey(r.Index) + regKey(part) }

// node is an instruction with its registers listed one by one.
type node struct {
	in      *isa.Inst
	late    bool
	reads   []regKey
	writes  []regKey
	latency []uint8 // of each of writes, unless it is late
	next    []int32
	stall   uint8
	wait    uint8
	w, r    uint8 // counters
}

// pending is what may be outstanding when an instruction issues.
type pending struct {
	key    regKey
	cycles uint8 // until a result of fixed latency can be read
	writes uint8 // counters of outstanding results
	reads  uint8 // counters of instructions that have not read it
}

// Infer returns control bits for instructions; next lists the possible successors of
// each. The list is in code order, which only affects the choice of counters.
func Infer(list []isa.Inst, next [][]int32, l Latencies) []isa.Control {
	g := newGraph(list, next, l)
	g.counters()
	g.waits()
	g.stalls()
	out := make([]isa.Control, len(list))
	for i := range g.n {
		n := &g.n[i]
		out[i] = isa.Control{Stall: n.stall, Wait: n.wait, Write: n.w, Read: n.r, Yield: n.stall >= yieldStall}
	}
	return out
}

// graph is the code with its successors.
type graph struct {
	n []node
	l Latencies
}

func newGraph(list []isa.Inst, next [][]int32, l Latencies) *graph {
	g := &graph{n: make([]node, len(list)), l: l}
	for i := range list {
		in := &list[i]
		n := &g.n[i]
		*n = node{in: in, late: l.late(in), next: next[i], stall: 1, w: isa.NoCounter, r: isa.NoCounter}
		for _, r := range in.Srcs {
			if r.File == isa.NoReg {
				continue
			}
			for k := range max(r.Count, 1) {
				n.reads = append(n.reads, keyOf(r, int(k)))
			}
		}
		for _, r := range in.Dsts {
			if r.File == isa.NoReg {
				continue
			}
			for k := range max(r.Count, 1) {
				n.writes = append(n.writes, keyOf(r, int(k)))
				n.latency = append(n.latency, l.of(in, r))
			}
		}
		switch {
		case in.Flow != isa.FlowNext || in.Class == isa.ClassBranch && in.Guarded:
			n.stall = max(n.stall, l.Branch)
		case in.Depbar != nil:
			n.stall = max(n.stall, l.Depbar)
		}
	}
	return g
}

// lookAhead is the number of instructions searched for the first that waits for a
// result (our choice: anything further away can share a counter at no cost).
const lookAhead = 256

// counters assigns counters to instructions of variable latency: if possible, one that
// no other instruction needs until it is waited for.
func (g *graph) counters() {
	groups := false // groups of copies use counter 0
	for i := range g.n {
		groups = groups || isCommit(g.n[i].in)
	}
	var busy [isa.Counters]int // position up to which a counter is in use
	for i := range busy {
		busy[i] = -1
	}
	first := 0
	if groups {
		first = 1
	}
	take := func(i, end int) uint8 {
		best, least := first, -1
		for c := first; c < isa.Counters; c++ {
			if busy[c] < i {
				best = c
				least = 0
				break
			}
			d := busy[c] - end
			if d < 0 {
				d = -d
			}
			if least < 0 || d < least {
				best, least = c, d
			}
		}
		busy[best] = max(busy[best], end)
		return uint8(best)
	}
	seen := make([]int32, len(g.n))
	for i := range g.n {
		n := &g.n[i]
		if isCommit(n.in) {
			n.w = 0
			continue
		}
		if !n.late {
			continue
		}
		use, overwritten := g.ahead(i, seen)
		if len(n.writes) > 0 {
			n.w = take(i, i+use)
		}
		if overwritten > 0 {
			n.r = take(i, i+overwritten)
		}
	}
}

// isCommit reports whether an instruction closes a group of copies.
func isCommit(in *isa.Inst) bool {
	return in.Async.Does == isa.AsyncCommit
}

// ahead returns the distance to the first instruction that needs the result of
// instruction i, and to the first earlier one that overwrites one of its sources; 0 if
// there is none.
func (g *graph) ahead(i int, seen []int32) (use, overwritten int) {
	type at struct {
		i int32
		d int
	}
	n := &g.n[i]
	mark := int32(i) + 1
	queue := []at{}
	for _, j := range n.next {
		queue = append(queue, at{j, 1})
	}
	use = lookAhead
	for len(queue) > 0 {
		q := queue[0]
		queue = queue[1:]
		if seen[q.i] == mark {
			continue
		}
		seen[q.i] = mark
		m := &g.n[q.i]
		if meets(n.writes, m.reads) || meets(n.writes, m.writes) {
			use = min(use, q.d)
			continue // it waits for the result, and so for the sources
		}
		if overwritten == 0 && meets(n.reads, m.writes) {
			overwritten = q.d
			if len(n.writes) == 0 {
				continue
			}
		}
		if q.d >= lookAhead {
			overwritten = max(overwritten, lookAhead) // it may come after that
			continue
		}
		for _, j := range m.next {
			queue = append(queue, at{j, q.d + 1})
		}
	}
	return use, overwritten
}

func meets(a, b []regKey) bool {
	for _, x := range a {
		for _, y := range b {
			if x == y {
				return true
			}
		}
	}
	return false
}

// flow propagates pending state through the graph to a fixed point. step computes the
// state after an instruction from the state before it.
func (g *graph) flow(step func(i int, in []pending) []pending) {
	state := make([][]pending, len(g.n))
	var work []int32
	queued := make([]bool, len(g.n))
	for i := len(g.n) - 1; i >= 0; i-- {
		work = append(work, int32(i))
		queued[i] = true
	}
	for len(work) > 0 {
		i := work[len(work)-1]
		work = work[:len(work)-1]
		queued[i] = false
		out := step(int(i), state[i])
		for _, j := range g.n[i].next {
			if merge(&state[j], out) && !queued[j] {
				queued[j] = true
				work = append(work, j)
			}
		}
	}
}

// merge joins the pending state of two paths and reports whether it grew.
func merge(to *[]pending, from []pending) bool {
	changed := false
next:
	for _, f := range from {
		for i := range *to {
			t := &(*to)[i]
			if t.key != f.key {
				continue
			}
			if f.cycles > t.cycles {
				t.cycles, changed = f.cycles, true
			}
			if f.writes&^t.writes|f.reads&^t.reads != 0 {
				t.writes |= f.writes
				t.reads |= f.reads
				changed = true
			}
			continue next
		}
		*to = append(*to, f)
		changed = true
	}
	return changed
}

func find(list []pending, k regKey) *pending {
	for i := range list {
		if list[i].key == k {
			return &list[i]
		}
	}
	return nil
}

// waits sets wait masks. A wait that is set stays, and reduces the pending state after
// it; so masks only grow, and in the last round none is missing.
func (g *graph) waits() {
	for more := true; more; {
		more = false
		g.flow(func(i int, in []pending) []pending {
			n := &g.n[i]
			need := n.wait
			for _, k := range n.reads {
				if p := find(in, k); p != nil {
					need |= p.writes
				}
			}
			for _, k := range n.writes {
				if p := find(in, k); p != nil {
					need |= p.writes | p.reads
				}
			}
			if need != n.wait {
				n.wait, more = need, true
			}
			out := make([]pending, 0, len(in)+len(n.reads)+len(n.writes))
			for _, p := range in {
				if p.writes, p.reads = p.writes&^n.wait, p.reads&^n.wait; p.writes|p.reads != 0 {
					out = append(out, p)
				}
			}
			if n.w != isa.NoCounter {
				for _, k := range n.writes {
					merge(&out, []pending{{key: k, writes: 1 << n.w}})
				}
			}
			if n.r != isa.NoCounter {
				for _, k := range n.reads {
					merge(&out, []pending{{key: k, reads: 1 << n.r}})
				}
			}
			return out
		})
	}
}

// stalls sets stall counters: an instruction issues when its predecessors on all paths
// are ready.
func (g *graph) stalls() {
	for i := range g.n {
		n := &g.n[i]
		// A counter counts from the second cycle on.
		raised := uint8(0)
		for _, c := range [2]uint8{n.w, n.r} {
			if c != isa.NoCounter {
				raised |= 1 << c
			}
		}
		for _, j := range n.next {
			m := &g.n[j]
			if m.wait&raised != 0 || raised != 0 && m.in.Depbar != nil {
				n.stall = max(n.stall, g.l.Raise)
			}
		}
	}
	for more := true; more; {
		more = false
		g.flow(func(i int, in []pending) []pending {
			n := &g.n[i]
			out := make([]pending, 0, len(in)+len(n.writes))
			if !n.late {
				for k, key := range n.writes {
					out = append(out, pending{key: key, cycles: n.latency[k]})
				}
			}
			for _, p := range in {
				if q := find(out, p.key); q == nil {
					out = append(out, p)
				} else {
					q.cycles = max(q.cycles, p.cycles)
				}
			}
			for _, j := range n.next {
				if d := g.short(out, &g.n[j]); d > n.stall {
					n.stall, more = d, true
				}
			}
			kept := out[:0]
			for _, p := range out {
				if p.cycles > n.stall {
					p.cycles -= n.stall
					kept = append(kept, p)
				}
			}
			return kept
		})
	}
}

// short returns the number of cycles after an instruction until the next may issue,
// given the pending state at its issue.
func (g *graph) short(out []pending, m *node) uint8 {
	d := uint8(0)
	for _, k := range m.reads {
		if p := find(out, k); p != nil {
			c := p.cycles
			if m.late {
				c += g.l.Late
			}
			d = max(d, c)
		}
	}
	for i, k := range m.writes {
		p := find(out, k)
		if p == nil {
			continue
		}
		// The later result must not be overwritten by the earlier one.
		own := uint8(1)
		if !m.late {
			own = m.latency[i]
		}
		if p.cycles+1 > own {
			d = max(d, p.cycles+1-own)
		}
	}
	return min(d, maxStall)
}
