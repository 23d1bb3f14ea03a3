package simt

import (
	"fmt"
	"math/bits"

	"github.com/heddle-sim/heddle/internal/core"
	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/isa"
)

// scheduler is one warp scheduler. Warp slot w belongs to scheduler w mod S.
type scheduler struct {
	mine   uint64 // its slots
	last   int    // slot that issued last, -1 if none has
	age    []uint8
	active []uint8 // two-level: warps that are tried, in order
	wait   []uint8 // two-level: warps that wait for a place in active
	turn   int     // strict round robin: the warp whose turn it is
	issued int     // instructions issued in the last cycle

	own   core.Scheduler // a program's scheduler, nil for a built-in policy
	warps core.Warps     // for own
	order []uint8        // buffer for its result
}

func (c *Core) newSchedulers() {
	n := c.cfg.Schedulers
	c.calmPolicy = c.cfg.Policy != TwoLevel && c.cfg.Policy != RRR
	c.sched = make([]scheduler, n)
	for i := range c.sched {
		s := &c.sched[i]
		s.last, s.turn = -1, i
		if c.cfg.Policy != LRR {
			s.last = i
		}
		for w := i; w < c.cfg.Warps; w += n {
			s.mine |= 1 << w
			if len(s.active) < c.cfg.PolicyWarps {
				s.active = append(s.active, uint8(w))
			} else {
				s.wait = append(s.wait, uint8(w))
			}
		}
		s.age = make([]uint8, 0, maxWarps)
		if maker, ok := core.Schedulers.Maker(int(c.cfg.Policy)); ok {
			s.own, s.warps, s.order = maker(c.id, i), core.NewWarps(c), make([]uint8, 0, maxWarps)
		}
	}
}

// join and leave keep the slots sorted by the age of their warps: a launched warp is
// the youngest.
func (s *scheduler) join(w uint8) { s.age = append(s.age, w) }

func (s *scheduler) leave(w uint8) {
	for i, x := range s.age {
		if x == w {
			s.age = append(s.age[:i], s.age[i+1:]...)
			return
		}
	}
}

// slot is the outcome of a scheduler's cycle.
type slot uint8

const (
	slotIdle  slot = iota // no warp had an instruction to issue
	slotScore             // all warps with an instruction waited for registers
	slotStall             // no issue register was free
	slotIssued
)

// issue runs the schedulers.
func (c *Core) issue() {
	n := len(c.sched)
	c.acct.Issued = 0
	c.acct.stalled = 0
	if free := c.ready &^ c.atomic; c.calmPolicy && free&(c.full&^c.blocked|c.fence) == 0 {
		// No scheduler has a warp to try.
		for k := range c.sched {
			st := slotIdle
			if c.sched[k].mine&free&c.full != 0 {
				st = slotScore
			}
			c.Stats.Slots[k][st]++
			c.acct.slot[k] = st
		}
	} else {
		for i := range n {
			k := c.turn + i
			if k >= n {
				k -= n
			}
			c.schedule(k)
		}
	}
	c.turn++
	if c.turn == n {
		c.turn = 0
	}
	c.acct.charge(c)
}

// schedule lets scheduler k issue.
func (c *Core) schedule(k int) {
	s := &c.sched[k]
	// free are the warps that do not wait. Those at a fence are checked one by one,
	// and the check ends the wait if possible.
	free := s.mine & c.ready &^ c.atomic
	if c.fence&free != 0 {
		if c.cfg.Policy != LRR {
			for m := c.fence & free; m != 0; m &= m - 1 {
				c.passFence(int32(bits.TrailingZeros64(m)))
			}
			free &^= c.fence
		}
	}
	try := free & (c.full | c.fence)
	st := slotIdle
	if try&c.blocked&c.full&^c.fence != 0 {
		st = slotScore
	}
	try &^= c.blocked &^ c.fence
	can := c.roomy(k) & try // nothing prevents them from issuing
	if h := try & c.passed &^ can; h != 0 {
		// Warps whose issue register is still taken remain stalled.
		try &^= h
		c.acct.stalled |= h
		st = slotStall
	}
	issued := 0
	switch c.cfg.Policy {
	case LRR:
		issued = c.looselyInTurn(k, try, can, &st)
	case GTO, Limiting, Oldest:
		if try != 0 {
			issued = c.oldestFirst(k, free, try, can, &st)
		}
	case RRR:
		issued = c.strictlyInTurn(k, free, &st)
	case TwoLevel:
		c.reorder(s, free)
		issued = c.activeFirst(k, free, &st)
	default:
		if try != 0 {
			issued = c.consult(k, free, try, can, &st)
		}
	}
	s.issued = issued
	if issued > 0 {
		c.moved = true
		st = slotIssued
		c.Stats.Issues[min(issued, 2)-1]++
		c.Stats.IssuesBy[k][min(issued, 2)-1]++
	} else {
		c.Stats.Slots[k][st]++
	}
	c.acct.slot[k] = st
}

// looselyInTurn is the policy LRR: from the warp after the one that issued last.
func (c *Core) looselyInTurn(k int, try, can uint64, st *slot) int {
	next := ^uint64(0) << (c.sched[k].last + 1)
	if try&c.fence != 0 {
		issued := 0
		if m := try & next; m != 0 {
			issued = c.first(k, m, st)
		}
		if m := try &^ next; m != 0 && issued == 0 {
			issued = c.first(k, m, st)
		}
		return issued
	}
	// over are the warps tried before the first that can issue.
	over, w := try, -1
	if m := can & next; m != 0 {
		w = bits.TrailingZeros64(m)
		over &= next & (1<<w - 1)
	} else if can != 0 {
		w = bits.TrailingZeros64(can)
		over &= next | 1<<w - 1
	}
	if over != 0 {
		*st = c.over(over, *st)
	}
	if w >= 0 {
		return c.attempt(k, int32(w), st)
	}
	return 0
}

// oldestFirst is GTO, Limiting and Oldest: the warp that issued last, then by age.
func (c *Core) oldestFirst(k int, free, try, can uint64, st *slot) int {
	s := &c.sched[k]
	over, w := uint64(0), -1
	g := -1
	if c.cfg.Policy != Oldest {
		if g = s.last; can>>g&1 != 0 {
			w = g
		}
		over = try & (1 << g)
	}
	if rest := try &^ over; w < 0 && rest != 0 {
		left := len(s.age)
		if c.cfg.Policy == Limiting {
			left = c.cfg.PolicyWarps
		}
		for _, x := range s.age {
			if left == 0 {
				break
			}
			if free>>x&1 != 0 {
				left--
			}
			if rest>>x&1 == 0 {
				continue
			}
			over |= 1 << x
			if can>>x&1 != 0 {
				w = int(x)
				break
			}
		}
	}
	if w >= 0 {
		over &^= 1 << w
	}
	if over != 0 {
		*st = c.over(over, *st)
	}
	if w >= 0 {
		return c.attempt(k, int32(w), st)
	}
	return 0
}

// strictlyInTurn is RRR: the next warp that does not wait.
func (c *Core) strictlyInTurn(k int, free uint64, st *slot) int {
	s := &c.sched[k]
	if s.issued > 0 || free>>s.turn&1 == 0 {
		if w := nextBit(free, s.last+1); w >= 0 {
			s.turn = w
		} else {
			*st = slotIdle
			return 0
		}
	}
	*st = slotIdle
	if c.full>>s.turn&1 == 0 {
		return 0
	}
	if c.blocked>>s.turn&1 != 0 {
		*st = slotScore
		return 0
	}
	return c.attempt(k, int32(s.turn), st)
}

// activeFirst is TwoLevel: the warps that are tried, in order.
func (c *Core) activeFirst(k int, free uint64, st *slot) int {
	s := &c.sched[k]
	*st = slotIdle
	for i := 0; i < len(s.active); i++ {
		w := s.active[i]
		if free&c.full>>w&1 == 0 {
			continue
		}
		if c.blocked>>w&1 != 0 {
			*st = max(*st, slotScore)
			continue
		}
		if issued := c.attempt(k, int32(w), st); issued > 0 {
			for range issued {
				s.rotate(w)
			}
			return issued
		}
	}
	return 0
}

// consult lets a program's scheduler decide: try are the warps that it may name, can
// those that can issue.
func (c *Core) consult(k int, free, try, can uint64, st *slot) int {
	s := &c.sched[k]
	w := &s.warps
	w.Cycle, w.ByAge, w.Last, w.Try, w.Can = c.now, s.age, s.last, try, can
	mine := s.mine & c.alive &^ c.done
	full := free & c.full &^ c.fence
	w.Memory = full&c.collide&c.willLong | mine&(c.atomic|c.fence)
	w.Result = full & c.collide &^ c.willLong
	w.Barrier = mine &^ c.ready
	w.Fetch = free &^ (c.full | c.fence)
	over := uint64(0)
	for _, x := range s.own.Order(w, s.order[:0]) {
		bit := uint64(1) << x
		if can&bit == 0 {
			over |= try & bit
			continue
		}
		if over != 0 {
			*st = c.over(over, *st)
		}
		w.LastCycle = c.now
		return c.attempt(k, int32(x), st)
	}
	if over != 0 {
		*st = c.over(over, *st)
	}
	c.moved = true // it may decide differently in the next cycle
	return 0
}

// WarpInfo returns the information about the warp in a slot for schedulers.
func (c *Core) WarpInfo(slot int) core.WarpInfo { return c.Info(slot, c.Stats.PerWarp[:]) }

// roomy returns the warps whose next instruction can issue: it waits for nothing and
// its issue register is free.
func (c *Core) roomy(k int) uint64 {
	var m uint64
	for _, x := range c.inUse {
		if c.need[x] != 0 && c.idoc[x].room(c.cfg.SubCore, k) {
			m |= c.need[x]
		}
	}
	return m
}

// over notes why the warps of a set did not issue when tried, and returns st updated
// accordingly.
func (c *Core) over(set uint64, st slot) slot {
	if m := set & c.astray; m != 0 {
		set &^= m
		for ; m != 0; m &= m - 1 {
			// The warp has branched elsewhere.
			s := int32(bits.TrailingZeros64(m))
			c.flush(s)
			c.warps[s].fetch = c.warps[s].Next
		}
	}
	if m := set & c.collide; m != 0 {
		set &^= m
		c.blocked |= m
		c.onShort = c.onShort&^m | c.willShort&m
		c.onLong = c.onLong&^m | c.willLong&m
		st = max(st, slotScore)
	}
	if set != 0 {
		c.acct.stalled |= set
		c.passed |= set
		st = slotStall
	}
	return st
}

// first issues from the first warp of a set that can issue.
func (c *Core) first(k int, set uint64, st *slot) int {
	for ; set != 0; set &= set - 1 {
		w := int32(bits.TrailingZeros64(set))
		if c.fence>>w&1 != 0 && !c.passFence(w) {
			continue
		}
		if n := c.attempt(k, w, st); n > 0 {
			return n
		}
	}
	return 0
}

// passFence ends a warp's wait at a fence if the fence is satisfied.
func (c *Core) passFence(s int32) bool {
	if !c.fenceOpen(s) {
		return false
	}
	c.fence &^= 1 << s
	c.moved = true
	if c.cfg.FlushL1 && c.ls.l1d != nil {
		c.ls.l1d.Invalidate()
	}
	return true
}

// fenceOpen reports whether everything that a warp's fence waits for has happened.
func (c *Core) fenceOpen(s int32) bool {
	w := &c.warps[s]
	return w.regs == 0 && (c.cfg.Compat.FenceLoadsOnly || w.stores == 0 && w.storing == 0)
}

// reorder replaces warps with long waits in the two-level scheduler's active list.
func (c *Core) reorder(s *scheduler, free uint64) {
	n := 0
	for _, w := range s.active {
		waits := free>>w&1 == 0
		if !waits && c.full>>w&1 != 0 {
			x := &c.warps[w]
			if i := x.ib[x.ibHead]; i >= 0 && x.regs > 0 {
				for _, p := range x.K.ops[i].reads {
					waits = waits || c.regs[int32(w)*int32(c.words)+p.Word].long&p.Mask != 0
				}
			}
		}
		if waits {
			s.wait = append(s.wait, w)
		} else {
			s.active[n] = w
			n++
		}
	}
	s.active = s.active[:n]
	k := min(c.cfg.PolicyWarps-n, len(s.wait))
	s.active = append(s.active, s.wait[:k]...)
	s.wait = s.wait[:copy(s.wait, s.wait[k:])]
}

// rotate moves the warps of the active list up to the one that issued to its end.
func (s *scheduler) rotate(w uint8) {
	var tmp [maxWarps]uint8
	for i, x := range s.active {
		if x == w {
			n := copy(tmp[:], s.active[i+1:])
			copy(tmp[n:], s.active[:i+1])
			copy(s.active, tmp[:len(s.active)])
			return
		}
	}
}

// attempt tries to issue from warp s and returns the number of instructions issued.
func (c *Core) attempt(k int, s int32, st *slot) int {
	w := &c.warps[s]
	bit := uint64(1) << s
	issued := 0
	last := Sets
	for tried := 0; tried < c.cfg.MaxIssue && tried <= issued; tried++ {
		if (c.ready&^c.atomic&^c.fence)&c.full&bit == 0 {
			break
		}
		i := w.ib[w.ibHead]
		if w.ibHas>>w.ibHead&1 == 0 {
			break
		}
		if i != w.Next {
			// The warp has branched elsewhere.
			c.flush(s)
			w.fetch = w.Next
			continue
		}
		o := &w.ops[i]
		if c.collides(s, o) {
			c.blocked |= bit
			c.onShort &^= bit
			c.onLong &^= bit
			switch c.waitsOn(s) {
			case dependLong:
				c.onLong |= bit
			case dependShort:
				c.onShort |= bit
			}
			*st = max(*st, slotScore)
			continue
		}
		*st = slotStall
		if c.cfg.DualDiffer && o.set == last {
			continue
		}
		if !c.idoc[o.set].room(c.cfg.SubCore, k) {
			c.acct.stalled |= bit
			c.passed |= bit
			continue
		}
		c.issueOne(k, s, i, o)
		last = o.set
		issued++
		if c.err != nil {
			break
		}
	}
	if issued > 0 {
		c.sched[k].last = int(s)
		c.acct.Issued |= bit
	}
	return issued
}

// issueOne issues the instruction at the head of warp s's buffer.
func (c *Core) issueOne(k int, s, i int32, o *op) {
	w := &c.warps[s]
	bit := uint64(1) << s
	c.moved = true
	w.ibHas &^= 1 << w.ibHead
	if w.ibHas == 0 {
		c.full &^= bit
	}
	c.acct.Step(s, i)
	fi := c.take()
	f := &c.flight[fi]
	f.op, f.uid, f.warp, f.sched, f.delay, f.at = o, c.uids, int16(s), int16(k), int32(o.init), i
	f.shared, f.spread = 0, 0
	f.out, f.path, f.piped, f.local, f.copies, f.acc = 0, pathNone, true, false, false, f.acc[:0]
	c.uids++
	if c.log != nil {
		c.logged(fi, s, k)
	}
	c.idoc[o.set].put(c.cfg.SubCore, k, fi, f.uid)
	c.col.pend |= 1 << rankOf[o.set]

	e := &c.eff
	if c.env.Turn != nil && !o.inst.Private {
		c.env.Turn()
	}
	if err := w.X.Step(e); err != nil {
		c.fail(err)
		return
	}
	f.lanes = e.Lanes
	n := e.Lanes.Count()
	c.Stats.WarpInsts++
	c.Stats.ThreadInsts += uint64(n)
	c.Stats.Lanes[e.Active.Count()]++
	c.Stats.PerWarp[s]++
	if w.Places != nil {
		p := &w.Places[i]
		p.Issues++
		p.Lanes += uint64(n)
		if o.branches {
			p.Branch(e.Active, e.Lanes)
		}
	}
	w.ibHead ^= 1
	if w.ahead == nil {
		if e.Exited != 0 {
			c.flush(s)
		}
		w.fetch = i + 1
	} else {
		w.fetch = w.foreseen(0, int32(len(w.ops)))
	}

	kind := dependFixed
	switch o.class {
	case classMem:
		kind = c.memory(f, e)
	case classFence:
		c.fence |= bit
	default:
		if o.set == SFU {
			kind = dependShort
		}
		if o.commit || o.await {
			c.groups(s, o)
		}
	}
	c.reserve(s, o, kind)
	c.refresh(s)
	if o.inst.Barrier || e.Exited != 0 || w.State != exec.Ready {
		c.RefreshBlock(w.Block)
	}
	if c.Spins {
		c.Spin.Issued(int(s), w.X, w.Next, w.State == exec.Ready, o.calm, e)
	}
	if c.paths != nil {
		c.skip(s)
	}
}

// memory prepares a memory instruction: its path and its accesses.
func (c *Core) memory(f *flight, e *exec.Effects) depend {
	in := f.op.inst
	f.path = pathNone
	kind := dependLong
	switch e.Space {
	case isa.Shared:
		f.path, kind = pathShared, dependShort
	case isa.Const, isa.Param:
		f.path = pathConst
	case isa.Texture:
		f.path = pathTexture
	case isa.Local:
		f.path, f.local = pathMemory, true
	case isa.NoSpace:
	default:
		f.path, f.shared, f.spread = pathMemory, e.Shared, e.Local
	}
	if f.path == pathConst && c.ls.l1c == nil && !c.cfg.PerfectInstConst && !c.cfg.Ideal.Const || f.path == pathTexture && c.ls.l1t == nil {
		f.path = pathMemory
	}
	if f.lanes != 0 && e.Addr != nil {
		c.coal.accesses(c, f, e.Addr)
		if c.cfg.Ideal.Coalescing && f.path == pathMemory && len(f.acc) > 0 && f.shared|f.spread == 0 && !f.local && !in.Atomic {
			c.pack(f)
		}
		if p := c.warps[f.warp].Places; p != nil {
			f.account(&p[f.at])
		}
	}
	if !f.op.load {
		c.warps[f.warp].storing++
	}
	if f.op.copy && len(f.acc) > 0 {
		f.copies = true
		c.warps[f.warp].copies++
		if f.op.group != isa.ByNothing {
			f.group = c.copies[f.warp][f.op.group].join()
		}
	}
	if in.Atomic {
		n := f.shared.Count()
		if f.path == pathShared {
			n = f.lanes.Count()
		}
		for i := range f.acc {
			if f.path == pathMemory {
				n += f.acc[i].lanes.Count()
			}
		}
		c.warps[f.warp].atomics += int32(n)
		if n > 0 && c.cfg.Compat.AtomicsBlock {
			c.atomic |= 1 << f.warp
		}
	}
	return kind
}

// answered subtracts n answered lanes from the atomics that a warp waits for.
func (c *Core) answered(s int32, n int) {
	w := &c.warps[s]
	c.quiet = false
	if w.atomics -= int32(n); w.atomics < 0 {
		c.fail(fmt.Errorf("SM %d, warp slot %d: %d more lanes of atomics were answered than requested; this is a bug in the simulator", c.id, s, -w.atomics))
	}
	switch bit := uint64(1) << s; {
	case w.atomics == 0:
		c.atomic &^= bit &^ c.copying
	case c.cfg.Compat.AtomicsBlock:
		c.atomic |= bit
	}
}
