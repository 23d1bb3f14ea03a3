package modern

import (
	"fmt"

	"github.com/heddle-sim/heddle/internal/core"
	"github.com/heddle-sim/heddle/internal/mem/cache"
)

// This file: what the owner of several cores asks for between two cycles.

// RepliesFull reports whether there is no room for the reply to a load or a
// store.
func (c *Core) RepliesFull() bool { return c.ls.replies.Full() }

// paramBytes is how much of constant bank 0 a launch writes: what is in front of
// the parameters (SASS, sm_90) and 4 KiB of them (CUDA programming guide).
const paramBytes = 0x210 + 4096

// WarmCode puts into the L1I what a kernel's launch has written into constant
// bank 0, and its instructions, from the first to the last: what does not fit
// pushes out what came before it.
func (c *Core) WarmCode(kernel core.Kernel) {
	k := kernel.(*Kernel)
	if c.l1i == nil {
		return
	}
	c.turnTo(k)
	core.Warm(c.l1i, c.now, constBase, paramBytes)
	core.Warm(c.l1i, c.now, instBase+k.Base, uint64(len(k.ops))*codeBytes)
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
	if c.alive != 0 {
		return fmt.Errorf("SM %d: the L1D cannot change while warps are resident", c.id)
	}
	d, err := core.Resplit(c.ls.l1d, l1d, c.env.Pool)
	if err != nil {
		return fmt.Errorf("SM %d: %w", c.id, err)
	}
	l1d.Name = d.Config().Name
	c.cfg.L1D, c.ls.l1d = l1d, d
	return nil
}
