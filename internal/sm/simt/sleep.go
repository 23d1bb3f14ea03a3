package simt

import "math/bits"

// This file: sleeping. When a cycle has ended with nothing left to do before
// tick T but wait, the cycles up to T are counted, not simulated. That changes
// no number: what they would have counted is added when the core wakes.

// Never is the answer of NextEvent when only a reply or a block can wake the
// core.
const Never = ^uint64(0)

// KeepAwake turns sleeping off, so that every cycle is simulated.
func (c *Core) KeepAwake() { c.Sync(); c.awake = true }

// NextEvent returns the first cycle after now, that of the last call of Cycle,
// in which the core may do anything by itself.
func (c *Core) NextEvent(now uint64) uint64 {
	switch {
	case c.alive == 0 && !c.Busy():
		return Never
	case c.wake == 0:
		return now + 1
	case c.wake == Never:
		return Never
	}
	return now + c.wake - c.tick - c.slept
}

// Skip stands for n calls of Cycle, none of them at or after NextEvent.
func (c *Core) Skip(n uint64) {
	if c.wake != 0 {
		c.slept += n
		return
	}
	c.tick += n
	c.now += n
}

// Sync brings the counters up to date with the cycles slept. Owners call it
// before they read Stats or Places while warps are resident.
func (c *Core) Sync() {
	n := c.slept
	c.wake, c.slept = 0, 0
	if n == 0 {
		return
	}
	c.tick += n
	c.now += n
	c.ls.ticks += n * uint64(c.cfg.MemPorts)
	c.Stats.Cycles += n
	c.Stats.WarpCycles += n * uint64(bits.OnesCount64(c.alive))
	for k := range c.sched {
		c.Stats.Slots[k][c.waitSlot(k)] += n
	}
	s := uint64(len(c.sched))
	c.turn = int((uint64(c.turn) + n) % s)
	if c.l1i != nil {
		c.l1i.Skip(n * uint64(c.cfg.FetchWidth))
	}
	l := &c.ls
	if l.l1d != nil {
		l.l1d.Skip(n * uint64(c.cfg.MemPorts))
	}
	if l.l1c != nil {
		l.l1c.Skip(n * uint64(c.cfg.MemPorts))
	}
	if l.l1t != nil {
		l.l1t.Skip(n * uint64(c.cfg.MemPorts))
	}
}

// waitSlot is what scheduler k does in a cycle in which no warp can issue.
func (c *Core) waitSlot(k int) slot {
	if c.sched[k].mine&c.ready&c.full&c.blocked&^c.atomic&^c.fence != 0 {
		return slotScore
	}
	return slotIdle
}

// doze puts the core to sleep if it can.
func (c *Core) doze() {
	if c.awake || c.acct.issued != 0 || len(c.wb) > 0 || c.col.held > 0 || c.fr.valid || c.ls.entry >= 0 {
		return
	}
	if c.cfg.Policy == TwoLevel || c.cfg.Policy == RRR || c.cfg.MemPorts > 1 {
		return // their state moves every cycle, or several times
	}
	if c.alive&^c.done&^c.imiss&^c.full != 0 {
		return // something to fetch
	}
	if c.ready&c.full&^c.blocked&^c.atomic&^c.fence != 0 {
		return // something to issue
	}
	for m := c.fence & c.ready &^ c.atomic; m != 0; m &= m - 1 {
		if c.fenceOpen(int32(bits.TrailingZeros64(m))) {
			return
		}
	}
	for m := c.done; m != 0; m &= m - 1 {
		if w := &c.warps[bits.TrailingZeros64(m)]; w.drained() {
			return // somebody to retire
		}
	}
	for s := range Sets {
		if c.idoc[s].used|c.ocex[s].used != 0 {
			return
		}
	}
	if c.entries != 0 {
		return
	}
	next := c.ls.next(c.tick)
	if c.staged > 0 {
		t := c.tick + 1
		for ; t < next && c.ends[t&c.ring] == 0; t++ {
		}
		next = t
	}
	if c.l1i != nil && (c.l1i.Ready() || c.l1i.MissLen() > 0) {
		return
	}
	if next > c.tick+1 {
		c.wake = next
	}
}

// next returns the first tick after the core's tick in which the load/store
// unit may do anything. Its own count of ticks runs apart from the core's.
func (l *ldst) next(tick uint64) uint64 {
	now := tick + 1
	switch {
	case l.entry >= 0 || l.wb >= 0 || l.direct != nil || l.replies.Len() > 0,
		l.l1d != nil && (l.l1d.Ready() || l.l1d.MissLen() > 0),
		l.l1c != nil && (l.l1c.Ready() || l.l1c.MissLen() > 0),
		l.l1t != nil && !l.l1t.Quiet():
		return now
	}
	next := uint64(Never)
	if l.shared.n > 0 {
		next = l.shared.due()
	}
	if l.queued > 0 {
		for i := range l.l1 {
			if l.l1[i].n > 0 {
				next = min(next, l.l1[i].due())
			}
		}
	}
	if next == Never {
		return Never
	}
	if next <= l.ticks {
		return now
	}
	return tick + next - l.ticks
}

// due returns when the first entry reaches the end.
func (p *pipe[T]) due() uint64 { return p.buf[p.head].due }
