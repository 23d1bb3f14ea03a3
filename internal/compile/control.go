package compile

import (
	"math"
	mathbits "math/bits"
	"slices"
	"sort"

	"github.com/heddle-sim/heddle/internal/compile/ir"
	"github.com/heddle-sim/heddle/internal/compile/machine"
	"github.com/heddle-sim/heddle/internal/isa"
)

// This file: control bits. The hardware checks no dependence: by stalls, an instruction waits for
// results of fixed latency, by counters for all others and for sources that have been read.

// register is one of a thread's registers: general ones, then predicates.
type register int

const (
	predicates register = 256
	uniforms   register = 512
	registers  register = 576 // their number
)

func registerOf(v *ir.Value) register {
	return [ir.Classes]register{ir.Pred: predicates, ir.UGPR: uniforms}[v.Class] + register(v.Reg)
}

// registerSet is a set of registers: 256 general ones, as many numbers for predicates, 64 uniform ones.
type registerSet [9]uint64

func (s *registerSet) has(r register) bool { return s[r/64]>>(r%64)&1 != 0 }
func (s *registerSet) add(r register)      { s[r/64] |= 1 << (r % 64) }
func (s *registerSet) remove(r register)   { s[r/64] &^= 1 << (r % 64) }

// each calls f for each register of a set, in ascending order.
func (s *registerSet) each(f func(r register)) {
	for i, w := range s {
		for ; w != 0; w &= w - 1 {
			f(register(64*i + mathbits.TrailingZeros64(w)))
		}
	}
}

// include adds a set; it reports whether there was anything new.
func (s *registerSet) include(o *registerSet) bool {
	more := false
	for i, w := range o {
		more = more || w&^s[i] != 0
		s[i] |= w
	}
	return more
}

func (r register) predicate() bool { return r >= predicates && r < uniforms }

// access is what an instruction does with registers.
type access struct {
	class  machine.Class
	reads  []reading
	writes []register
	all    bool // a call of our own function, or its end: all registers
	leaves bool // a call or an end of a function: other code comes next

	chosen      bool  // the counters are
	write, read uint8 // counters of results and of sources, isa.NoCounter if none is needed
}

type reading struct {
	r  register
	by machine.Reader
}

// accessOf lists an instruction's registers.
func (c *controller) accessOf(in *ir.Inst) access {
	a := access{class: machine.ClassOf(in.Name)}
	reads, writes := c.allReads, c.allWrites
	if g := in.Guard.Val; g != nil {
		reads = append(reads, reading{registerOf(g), machine.ByGuard})
	}
	by, pred := machine.ReaderOf(a.class, in.Name, false), machine.ReaderOf(a.class, in.Name, true)
	for i := range in.Args {
		for _, v := range in.Args[i].Vals {
			switch {
			case v == nil:
			case in.Args[i].Dst:
				writes = append(writes, registerOf(v))
			case v.Class == ir.Pred:
				reads = append(reads, reading{registerOf(v), pred})
			default:
				reads = append(reads, reading{registerOf(v), by})
			}
		}
	}
	for i := range in.Hidden {
		if h := &in.Hidden[i]; h.Dst {
			writes = append(writes, registerOf(h.Vals[0]))
		} else {
			reads = append(reads, reading{registerOf(h.Vals[0]), by})
		}
	}
	a.reads, a.writes = slices.Clip(reads[len(c.allReads):]), slices.Clip(writes[len(c.allWrites):])
	c.allReads, c.allWrites = reads, writes
	a.all = in.Base() == "RET" || in.Base() == "CALL" && !slices.ContainsFunc(in.Hidden, func(h ir.Arg) bool { return h.Dst })
	a.leaves = a.all || in.Base() == "CALL" && in.Callee != ""
	return a
}

// handsOver reports whether the code that an access leads to reads a register that it writes: operands and results,
// not the return address, which is read later.
func (a *access) handsOver(r register) bool {
	return r != returnRegister && r != returnRegister+1 && slices.ContainsFunc(a.reads, func(x reading) bool { return x.r == r })
}

// everything is all registers that a function names.
func everything(all [][]access) (list []register) {
	var seen registerSet
	add := func(r register) {
		if !seen.has(r) {
			seen.add(r)
			list = append(list, r)
		}
	}
	for _, b := range all {
		for _, a := range b {
			for _, r := range a.reads {
				add(r.r)
			}
			for _, r := range a.writes {
				add(r)
			}
		}
	}
	return list
}

// pending is an instruction of variable latency that code may have to wait for.
type pending struct {
	in      *ir.Inst // nil: several that read their sources
	results bool     // waits are for its results, not for its sources
	counter uint8
	regs    []register
}

// pendingID tells what is open apart.
type pendingID struct {
	in      *ir.Inst
	results bool
}

// written is the last instruction of fixed latency that wrote a register.
type written struct {
	class machine.Class
	at    int
	guard bool
}

// controller sets the control bits of a kernel.
type controller struct {
	f     *ir.Func
	m     *machine.Machine
	later []registerSet        // by block: registers that code after it uses
	entry [][]pending          // by block: what may be open where it begins
	known []map[pendingID]bool // by block: what is in entry
	more  bool                 // more is open at the beginning of a block than was known when it was done
	all   [][]access           // by block, for each instruction

	allReads  []reading // of which those in all are parts
	allWrites []register

	// In a block.
	open []pending
	// What code may have to wait for, by counter: registers of open results, and of open sources.
	results, sources [isa.Counters]registerSet

	isFixed, isRead registerSet // which of the next two count
	fixed           [registers]written
	read            [registers]int   // when an instruction of fixed latency read it last
	reads           [registers][]int // the places of instructions that read a register, ascending
	writes          [registers][]int
	named           []register // those that have any

	now       int
	last      *ir.Inst
	lastClass machine.Class
	issued    [machine.Classes]int

	groups bool // counter 0 counts groups of asynchronous copies, and nothing else

	choices int               // of counters, so far
	chosen  [isa.Counters]int // for each counter, which choice was the last to take it
}

// control sets the control bits of every instruction. It goes through the code until it knows all that
// may be open where a block begins, in loops what earlier rounds have left, too. The counters are those
// that are chosen when it first comes to an instruction, so that there is an end.
func control(f *ir.Func, m *machine.Machine) {
	n := len(f.Blocks)
	c := &controller{f: f, m: m, entry: make([][]pending, n), known: make([]map[pendingID]bool, n)}
	for _, b := range f.Blocks {
		for _, in := range b.Insts {
			c.groups = c.groups || in.Name == "LDGDEPBAR"
		}
	}
	if f.IsRoutine { // callers may count groups
		c.groups = m.Counters > 1
	}
	if c.groups && m.Counters < 2 {
		stop("cp.async", "needs a second dependence counter, which the machine does not have")
	}
	c.usedLater()
	for c.more = true; c.more; {
		c.more = false
		for i, b := range f.Blocks {
			c.block(i, b)
		}
	}
}

// usedLater finds which registers code that can follow a block names.
func (c *controller) usedLater() {
	n := len(c.f.Blocks)
	c.later, c.all = make([]registerSet, n), make([][]access, n)
	own := make([]registerSet, n)
	for i, b := range c.f.Blocks {
		c.all[i] = make([]access, len(b.Insts))
		for k, in := range b.Insts {
			c.all[i][k] = c.accessOf(in)
		}
	}
	if c.f.Reserved > 0 {
		every := everything(c.all)
		for _, list := range c.all {
			for k := range list {
				if list[k].all {
					list[k].writes = every
				}
			}
		}
	}
	for i := range c.f.Blocks {
		for _, a := range c.all[i] {
			for _, r := range a.reads {
				own[i].add(r.r)
			}
			for _, r := range a.writes {
				own[i].add(r)
			}
		}
	}
	for again := true; again; {
		again = false
		for i := n - 1; i >= 0; i-- {
			for _, s := range c.f.Blocks[i].Succs() {
				if c.later[i].include(&own[s.ID]) || c.later[i].include(&c.later[s.ID]) {
					again = true
				}
			}
		}
	}
}

// index notes where a block's instructions read and write each register.
func (c *controller) index(i int) {
	for _, r := range c.named {
		c.reads[r], c.writes[r] = c.reads[r][:0], c.writes[r][:0]
	}
	c.named = c.named[:0]
	name := func(r register) {
		if len(c.reads[r])+len(c.writes[r]) == 0 {
			c.named = append(c.named, r)
		}
	}
	for n := range c.all[i] {
		a := &c.all[i][n]
		for _, r := range a.reads {
			name(r.r)
			c.reads[r.r] = append(c.reads[r.r], n)
		}
		for _, r := range a.writes {
			name(r)
			c.writes[r] = append(c.writes[r], n)
		}
	}
}

// next is the first place in a list after one, a place beyond the end if there is none.
func next(list []int, after int) int {
	if i := sort.SearchInts(list, after+1); i < len(list) {
		return list[i]
	}
	return math.MaxInt
}

// block sets the control bits of a block.
func (c *controller) block(i int, b *ir.Block) {
	c.open = append(c.open[:0], c.entry[i]...)
	c.count()
	c.isFixed, c.isRead = registerSet{}, registerSet{}
	c.now, c.last = 0, nil
	c.index(i)
	for k := range c.issued {
		c.issued[k] = -100
	}
	for n, in := range b.Insts {
		a := &c.all[i][n]
		in.Ctl = isa.Control{Stall: 1, Write: isa.NoCounter, Read: isa.NoCounter}
		c.issue(in, a)
		if n == len(b.Insts)-1 || in.Base() == "BRA" {
			c.leave(i, b, in)
		}
		if in.Name == "LDGDEPBAR" {
			in.Ctl.Write = 0
		} else if a.class.Late() && !a.leaves {
			c.raise(i, n, in, a)
		}
	}
	c.end(i, b)
}

// issue determines when an instruction issues, and what it waits for.
func (c *controller) issue(in *ir.Inst, a *access) {
	at := c.now
	if c.last != nil {
		at += max(1, int(c.m.After[c.lastClass]), int(c.last.Ctl.Stall)) // a branch's stall is set before
	}
	at = max(at, c.issued[a.class]+int(c.m.Spacing[a.class]))
	for _, r := range a.reads {
		if c.isFixed.has(r.r) {
			w := &c.fixed[r.r]
			at = max(at, w.at+c.need(w.class, r))
		}
		c.wait(in, r.r, false)
	}
	if in.Base() == "BAR" {
		c.waitResult(in)
	}
	for _, r := range a.writes {
		if c.isFixed.has(r) {
			w := c.fixed[r]
			at = max(at, w.at+c.again(w, a.class))
			switch {
			case a.all && !c.f.IsRoutine || a.leaves && a.handsOver(r): // whoever reads it next
				for by := range machine.Readers {
					if by != machine.ByGuard || r.predicate() {
						at = max(at, w.at+c.need(w.class, reading{r, by}))
					}
				}
			case a.leaves: // whoever writes it next, or moves the return address
				at = max(at, w.at+c.again(w, machine.ALU), w.at+c.need(w.class, reading{r, machine.ByALU}))
			}
		}
		if c.isRead.has(r) && a.class.Late() {
			at = max(at, c.read[r]+2)
		}
		c.wait(in, r, true)
	}
	if c.last != nil {
		if c.last.Ctl.Write != isa.NoCounter && in.Ctl.Wait>>c.last.Ctl.Write&1 != 0 || c.last.Ctl.Read != isa.NoCounter && in.Ctl.Wait>>c.last.Ctl.Read&1 != 0 {
			at = max(at, c.now+c.m.CounterGap)
		}
		c.stall(c.last, at-c.now)
	}
	c.now, c.last, c.lastClass = at, in, a.class
	c.issued[a.class] = at
	for _, r := range a.writes {
		if c.isFixed.remove(r); !a.class.Late() {
			c.isFixed.add(r)
			c.fixed[r] = written{a.class, at, in.Guard.Val != nil}
		}
	}
	if !a.class.Late() {
		for _, r := range a.reads {
			c.isRead.add(r.r)
			c.read[r.r] = at
		}
	}
}

// need is after how many cycles a reader sees what an instruction of a class writes.
func (c *controller) need(w machine.Class, r reading) int {
	if r.r.predicate() {
		return int(c.m.Predicate[w][r.by])
	}
	return int(c.m.Need[w][r.by])
}

// again is after how many cycles another instruction may write a register.
func (c *controller) again(w written, class machine.Class) int {
	if class.Late() {
		if w.guard {
			return 6
		}
		return 1
	}
	return max(1, int(c.m.Need[w.class][machine.ByALU])-int(c.m.Need[class][machine.ByALU])+2)
}

// stall makes an instruction hold back the next one.
func (c *controller) stall(in *ir.Inst, n int) {
	if n > c.m.LongestStall {
		stop(in.Name, "needs more cycles than a stall has, which "+notYet)
	}
	in.Ctl.Stall = uint8(n)
	in.Ctl.Yield = n >= c.m.YieldFrom
}

// wait makes an instruction wait for those that still write a register, or still read one that it
// overwrites.
func (c *controller) wait(in *ir.Inst, r register, overwrites bool) {
	mask := uint8(0)
	for k := range c.results {
		if c.results[k].has(r) || overwrites && c.sources[k].has(r) {
			mask |= 1 << k
		}
	}
	if in.Ctl.Wait |= mask; mask != 0 {
		c.forget(in.Ctl.Wait)
	}
}

// count finds what code may have to wait for, by counter.
func (c *controller) count() {
	c.results, c.sources = [isa.Counters]registerSet{}, [isa.Counters]registerSet{}
	for i := range c.open {
		c.note(&c.open[i])
	}
}

// note adds to what code may have to wait for.
func (c *controller) note(p *pending) {
	set := &c.sources[p.counter]
	if p.results {
		set = &c.results[p.counter]
	}
	for _, r := range p.regs {
		set.add(r)
	}
}

// push opens what code may have to wait for.
func (c *controller) push(p pending) {
	c.note(&p)
	c.open, _ = c.united(c.open, p)
}

// waitResult makes a barrier wait until B2R has read the result of the one before.
func (c *controller) waitResult(in *ir.Inst) {
	for i := range c.open {
		if p := &c.open[i]; p.results && p.in.Base() == "B2R" {
			in.Ctl.Wait |= 1 << p.counter
		}
	}
	c.forget(in.Ctl.Wait)
}

// forget drops what has been waited for.
func (c *controller) forget(mask uint8) {
	n := 0
	var gone []*ir.Inst
	for _, p := range c.open {
		if mask>>p.counter&1 == 0 {
			c.open[n] = p
			n++
		} else if p.results {
			gone = append(gone, p.in)
		}
	}
	c.open = c.open[:n]
	for _, in := range gone { // what has written its results has read its sources
		n = 0
		for _, p := range c.open {
			if p.in != in {
				c.open[n] = p
				n++
			}
		}
		c.open = c.open[:n]
	}
	c.count()
}

// raise gives an instruction of variable latency the counters that code after it waits for.
func (c *controller) raise(b, n int, in *ir.Inst, a *access) {
	var sources []register
	for _, r := range a.reads {
		if !r.r.predicate() { // they are read at issue
			sources = append(sources, r.r)
		}
	}
	results := len(a.writes) > 0 && c.matters(b, n, a.writes)
	if !a.chosen {
		a.write, a.read = isa.NoCounter, isa.NoCounter
		if results {
			a.write = c.counter(fromAfar(in))
		}
	}
	if in.Ctl.Write = a.write; results {
		c.push(pending{in, true, a.write, a.writes})
	}
	if !a.chosen && len(sources) > 0 && c.overwritten(b, n, sources, a.writes, results) {
		a.read = c.counter(false)
	}
	if in.Ctl.Read = a.read; a.read != isa.NoCounter {
		c.push(pending{in, false, a.read, sources})
	}
	a.chosen = true
}

// mostOfOne is how many instructions count in one counter while others have fewer: less than the 63 that it
// can count to (our choice).
const mostOfOne = 32

// counter is one that nothing uses, or else one of those with what takes about as long: who waits for
// sources or for a result from near by must not wait for global memory. One is kept for such.
func (c *controller) counter(far bool) uint8 {
	var near, away [isa.Counters]int
	last := -1
	for _, p := range c.open {
		if !p.far() {
			near[p.counter]++
			continue
		}
		away[p.counter]++
		last = int(p.counter)
	}
	first := 0
	if c.groups {
		first = 1
	}
	list := make([]int, 0, isa.Counters)
	kept := 1 // counters that far results leave to others
	for k := first; k < min(c.m.Counters, isa.Counters); k++ {
		if near[k]+away[k] == 0 {
			list = append(list, k)
		} else if away[k] == 0 {
			kept = 0
		}
	}
	if !far {
		kept = 0
	}
	if len(list) > kept {
		return c.unused(list)
	}
	if far && last >= first && near[last] == 0 && away[last] < mostOfOne { // with the one before: they come at about the same time
		return uint8(last)
	}
	best := first
	cost := func(k int) int {
		if far {
			return near[k]<<8 + away[k]
		}
		return away[k]<<8 + near[k]
	}
	for k := first; k < min(c.m.Counters, isa.Counters); k++ {
		if cost(k) < cost(best) {
			best = k
		}
	}
	return uint8(best)
}

// unused is that of some counters which was chosen longest ago: what a round of a loop leaves open is not known
// when the first instructions of the loop choose, and who waits for it must not wait for them.
func (c *controller) unused(list []int) uint8 {
	best := list[0]
	for _, k := range list {
		if c.chosen[k] < c.chosen[best] {
			best = k
		}
	}
	c.choices++
	c.chosen[best] = c.choices
	return uint8(best)
}

// far reports whether what is open may come from beyond the SM.
func (p *pending) far() bool { return p.results && fromAfar(p.in) }

func fromAfar(in *ir.Inst) bool {
	switch in.Base() {
	case "LDG", "LD", "LDL", "ATOM", "ATOMG", "RED", "TEX", "TLD", "TLD4", "TXD", "SULD":
		return true
	}
	return false
}

// matters reports whether code after an instruction of a block names its results.
func (c *controller) matters(b, n int, list []register) bool {
	for _, r := range list {
		if c.later[b].has(r) || next(c.reads[r], n) < math.MaxInt || next(c.writes[r], n) < math.MaxInt {
			return true
		}
	}
	return false
}

// overwritten reports whether code may overwrite an instruction's sources before it waits for its
// results.
func (c *controller) overwritten(b, n int, sources, results []register, counted bool) bool {
	over, waited := math.MaxInt, math.MaxInt // where the first does, and where the first waits
	for _, r := range sources {
		over = min(over, next(c.writes[r], n))
	}
	if counted {
		for _, r := range results {
			waited = min(waited, next(c.reads[r], n), next(c.writes[r], n))
		}
	}
	if over < math.MaxInt || waited < math.MaxInt {
		return over < waited // an instruction that does both waits first
	}
	for _, r := range sources {
		if c.later[b].has(r) && !slices.Contains(results, r) {
			return true
		}
	}
	return false
}

// leave makes a block's last instruction, or a branch before it, hold back what follows long enough for
// results of fixed latency.
func (c *controller) leave(i int, b *ir.Block, in *ir.Inst) {
	n := int(max(1, c.m.After[machine.ClassOf(in.Name)]))
	if machine.ClassOf(in.Name).Late() {
		n = max(n, c.m.CounterGap)
	}
	c.isFixed.each(func(r register) {
		w := &c.fixed[r]
		if c.now-w.at > c.m.LongestStall {
			return
		}
		for _, s := range b.Succs() {
			n = max(n, w.at-c.now+c.ahead(s, r, w.class, 0, 0))
		}
	})
	c.isRead.each(func(r register) {
		if c.later[i].has(r) {
			n = max(n, c.read[r]+2-c.now)
		}
	})
	c.stall(in, n)
}

// mostAhead bounds the blocks, empty ones too, over which ahead looks: our choice, as at most 16 cycles count.
const mostAhead = 20

// ahead is after how many cycles a block may begin that reads a register, less those that pass in it
// before. Over edges that fall through no cycle passes.
func (c *controller) ahead(b *ir.Block, r register, w machine.Class, passed, blocks int) int {
	n := 0
	if blocks > mostAhead {
		return n
	}
	for k := range b.Insts {
		if passed > 16 {
			return n
		}
		a := &c.all[b.ID][k]
		for _, x := range a.reads {
			if x.r == r {
				n = max(n, c.need(w, x)-passed)
			}
		}
		for _, x := range a.writes {
			if x == r {
				return n
			}
		}
		passed++
	}
	for _, s := range b.Succs() {
		if len(b.Insts) > 0 || s != b {
			n = max(n, c.ahead(s, r, w, passed, blocks+1))
		}
	}
	return n
}

// end passes what is open to the blocks that follow.
func (c *controller) end(i int, b *ir.Block) {
	succs := b.Succs()
	for _, p := range c.open {
		if !slices.ContainsFunc(p.regs, c.later[i].has) {
			continue
		}
		for _, s := range succs {
			if c.enter(s.ID, p) {
				c.more = c.more || s.ID <= i
			}
		}
	}
}

// enter notes what may be open where a block begins; it reports whether that is new.
func (c *controller) enter(s int, p pending) bool {
	if p.in != nil && c.knows(s, p) {
		return false
	}
	list, more := c.united(c.entry[s], p)
	c.entry[s] = list
	if known := c.known[s]; more && known != nil {
		known[pendingID{p.in, p.results}] = true
	}
	return more
}

// fewKnown are looked for one after the other; more have a map (our choice).
const fewKnown = 32

// knows reports whether something is listed as open where a block begins.
func (c *controller) knows(s int, p pending) bool {
	if c.known[s] != nil {
		return c.known[s][pendingID{p.in, p.results}]
	}
	list := c.entry[s]
	if len(list) > fewKnown {
		c.known[s] = make(map[pendingID]bool, 2*len(list))
		for _, q := range list {
			c.known[s][pendingID{q.in, q.results}] = true
		}
		return c.knows(s, p)
	}
	return slices.ContainsFunc(list, func(q pending) bool { return q.in == p.in && q.results == p.results })
}

// mostOpen is how much that is open is kept apart. What only reads its sources beyond that is united by its
// counter, so that the time of many stores is not that of their pairs. Our choice: fewer change the choice of
// counters in kernels with many stores.
const mostOpen = 128

// united adds to a list of what is open; more says whether that is new.
func (c *controller) united(list []pending, p pending) (_ []pending, more bool) {
	if p.in != nil && (p.results || len(list) < mostOpen) {
		return append(list, p), true
	}
	for i := range list {
		q := &list[i]
		if q.in != nil || q.counter != p.counter {
			continue
		}
		regs := slices.Clip(q.regs) // others have the list, too
		for _, r := range p.regs {
			if !slices.Contains(regs, r) {
				regs = append(regs, r)
			}
		}
		more = len(regs) > len(q.regs)
		q.regs = regs
		return list, more
	}
	p.in = nil
	return append(list, p), true
}
