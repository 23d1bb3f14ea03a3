package modern

import (
	"fmt"

	"github.com/heddle-sim/heddle/internal/mem"
	"github.com/heddle-sim/heddle/internal/mem/cache"
)

// This file: what the owner of several cores asks for between two cycles.

// RepliesFull reports whether there is no room for the reply to a load or a
// store.
func (c *Core) RepliesFull() bool { return c.ls.replies.Full() }

// WarmCode puts a kernel's instructions into the L1I, from its first to its
// last: what does not fit pushes out what came before it.
func (c *Core) WarmCode(k *Kernel) {
	if c.l1i == nil {
		return
	}
	c.turnTo(k)
	line := uint64(c.l1i.Config().Line)
	all := uint8(1<<(line/mem.SectorBytes) - 1)
	from := instBase + k.base
	to := from + uint64(len(k.ops))*codeBytes
	for at := from &^ (line - 1); at < to; at += line {
		c.l1i.FillDirect(c.now, at, at, all)
	}
}

// Resplit gives the core another L1D, empty, and another amount of shared
// memory, as launches that prefer one or the other want it. No warp may be
// resident. The L1D's counters go on; what waits in it is dropped, as when it
// is invalidated.
func (c *Core) Resplit(l1d cache.Config, shared int) error {
	c.Sync()
	c.cfg.Shared = shared
	if c.ls.l1d == nil || l1d.Disabled {
		return nil
	}
	old := c.ls.l1d
	if c.alive != 0 || old.Pending() > 0 {
		return fmt.Errorf("SM %d: the L1D cannot change while it is in use", c.id)
	}
	for r := old.MissHead(); r != nil; r = old.MissHead() {
		c.env.Pool.Put(old.PopMiss())
	}
	l1d.Name = old.Config().Name
	d, err := cache.New(l1d, c.env.Pool)
	if err != nil {
		return err
	}
	d.Stats = old.Stats
	c.cfg.L1D, c.ls.l1d = l1d, d
	return nil
}
