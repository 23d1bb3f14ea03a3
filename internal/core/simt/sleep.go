package simt

import (
	"math/bits"

	"github.com/heddle-sim/heddle/internal/core"
)

// KeepAwake turns sleeping off, so that every cycle is simulated.
func (c *Core) KeepAwake() {
	c.Sync()
	c.StayAwake()
}

// NextEvent returns the first cycle after now, the argument of the last call of Cycle,
// in which the core may do anything by itself.
func (c *Core) NextEvent(now uint64) uint64 {
	if c.alive == 0 && !c.Busy() {
		return core.Never
	}
	return c.Next(now)
}

// Skip replaces n calls of Cycle, none of them at or after NextEvent.
func (c *Core) Skip(n uint64) {
	if !c.More(n) {
		c.tick += n
		c.now += n
	}
}

// Unblock is as in core.SM.
func (c *Core) Unblock() bool {
	c.Sync()
	return c.Residents.Unblock()
}

// Sync brings the counters up to date with the cycles slept. Owners call it
// before they read Stats or Places while warps are resident.
func (c *Core) Sync() {
	n := c.Wake()
	if n == 0 {
		return
	}
	c.tick += n
	c.now += n
	c.ls.ticks += n * uint64(c.cfg.MemPorts)
	c.Stats.Cycles += n
	c.Stats.WarpCycles += n * uint64(bits.OnesCount64(c.alive))
	for k := range c.sched {
		c.Stats.Slots[k][c.acct.slot[k]] += n
	}
	s := uint64(len(c.sched))
	c.turn = int((uint64(c.turn) + n) % s)
	if c.l1i != nil {
		c.l1i.Skip(n * uint64(c.cfg.FetchWidth))
	}
	l := &c.ls
	if l.stuck > 0 {
		c.Stats.LSStalls += n
		c.Stats.LSStallBy[clientOf(&c.flight[l.entry])][StallNetwork] += n
	}
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

// settle determines at the end of a cycle whether the stages before the load/store unit
// are idle: no instruction moved, and nothing has happened that enables one to move.
// Then only the load/store unit is simulated, until something that the others wait for
// happens.
func (c *Core) settle() {
	c.quiet = !c.moved && !c.Awake() && c.calmPolicy && len(c.wb) == 0 && c.waiting == 0 && c.col.waiting == 0 &&
		!c.fr.valid && (c.l1i == nil || !c.l1i.Ready() && c.l1i.MissLen() == 0)
}

// pass counts a quiet cycle: every scheduler does what it did in the last one.
func (c *Core) pass() {
	c.col.written = 0
	for k := range c.sched {
		c.Stats.Slots[k][c.acct.slot[k]]++
	}
	c.turn++
	if c.turn == len(c.sched) {
		c.turn = 0
	}
	if c.l1i != nil {
		c.l1i.Skip(uint64(c.cfg.FetchWidth))
	}
}

// doze puts a quiet core to sleep if the load/store unit has nothing to do in
// the next cycle either.
func (c *Core) doze() {
	if c.cfg.MemPorts > 1 {
		return // several load/store cycles per core cycle
	}
	next := c.ls.next(c.tick)
	if next <= c.tick+1 {
		return
	}
	if c.staged > 0 {
		t := c.tick + 1
		for ; t < next && c.ends[t&c.ring]|c.frees[t&c.ring] == 0; t++ {
		}
		next = t
	}
	c.Doze(c.tick, next, c.ls.stuck)
}

// next returns the first tick after the core's tick in which the load/store unit may do
// anything. The unit counts its own ticks separately.
func (l *ldst) next(tick uint64) uint64 {
	now := tick + 1
	switch {
	case l.entry >= 0 && l.stuck == 0, l.wb >= 0 || l.direct != nil || l.replies.Len() > 0,
		l.l1d != nil && (l.l1d.Ready() || l.l1d.MissLen() > 0),
		l.l1c != nil && (l.l1c.Ready() || l.l1c.MissLen() > 0),
		l.l1t != nil && !l.l1t.Quiet():
		return now
	}
	next := uint64(core.Never)
	if l.shared.Len() > 0 {
		next = l.shared.Front().due
	}
	if l.queued > 0 {
		for i := range l.l1 {
			if l.l1[i].Len() > 0 {
				next = min(next, l.l1[i].Front().due)
			}
		}
	}
	if next == core.Never {
		return core.Never
	}
	if next <= l.ticks {
		return now
	}
	return tick + next - l.ticks
}
