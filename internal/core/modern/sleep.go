package modern

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
	c.acct.flush(c)
	n := c.Wake()
	if n == 0 {
		return
	}
	c.tick += n
	c.now += n
	c.Stats.Cycles += n
	c.Stats.WarpCycles += n * uint64(bits.OnesCount64(c.alive))
	for k := range c.subs {
		c.Stats.Slots[k][c.acct.slot[k]] += n
	}
	if c.l1i != nil {
		c.l1i.Skip(n)
	}
	if c.ls.l1d != nil {
		c.ls.l1d.Skip(n)
	}
}

// doze puts a core in which nothing has moved to sleep until the next due event.
func (c *Core) doze(t uint64) {
	next := c.wheel.next(t)
	for m := c.done; m != 0; m &= m - 1 {
		if u := c.warps[bits.TrailingZeros64(m)].until; u > t {
			next = min(next, u)
		}
	}
	if c.stalled != 0 {
		for i := t + 1; i < t+64 && i < next; i++ {
			if c.stallEnds[i&63] != 0 {
				next = i
			}
		}
	}
	if c.ls.look.Len() > 0 {
		next = min(next, c.ls.look.Front().due)
	}
	if c.up.Len() > 0 {
		next = min(next, c.up.Front().due)
	}
	if c.down.Len() > 0 {
		next = min(next, c.down.Front().due)
	}
	c.Doze(t, next, c.ls.stuck)
}
