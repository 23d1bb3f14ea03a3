package modern

import (
	"github.com/heddle-sim/heddle/internal/core"
	"github.com/heddle-sim/heddle/internal/mem/cache"
)

// This file: what a chip calls between two cycles.

// RepliesFull reports whether there is no room for the reply to a load or a
// store.
func (c *Core) RepliesFull() bool { return !c.ls.replies.Room(c.cfg.RepliesTaken) }

// paramBytes is the number of bytes of constant bank 0 that a launch writes: those
// before the parameters (SASS, sm_90) and 4 KiB of parameters (CUDA programming guide).
const paramBytes = 0x210 + 4096

// WarmCode fills the L1I with the part of constant bank 0 that a launch has written,
// and with the kernel's code from its beginning, as far as that fits.
func (c *Core) WarmCode(kernel core.Kernel) {
	k := kernel.(*Kernel)
	if c.l1i == nil {
		return
	}
	c.turnTo(k)
	core.Warm(c.l1i, c.now, constBase, paramBytes, 0)
	core.Warm(c.l1i, c.now, instBase+k.Base, uint64(len(k.ops))*codeBytes, paramBytes)
}

// Resplit gives the core an empty L1D of another size, and another amount of shared
// memory, according to the preference of a launch. No warp may be resident. The L1D's
// counters continue; its waiting requests are dropped, as by an invalidation.
func (c *Core) Resplit(l1d cache.Config, shared int) error {
	c.Sync()
	c.cfg.Shared = shared
	return core.Resplit(&c.ls.l1d, &c.cfg.L1D, l1d, c.env.Pool, c.id, c.alive != 0)
}
