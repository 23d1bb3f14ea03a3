package simt

import "github.com/heddle-sim/heddle/internal/core"

// WarmCode fills the instruction cache with a kernel's code from its beginning, as far as
// that fits.
func (c *Core) WarmCode(kernel core.Kernel) {
	k := kernel.(*Kernel)
	if c.l1i == nil {
		return
	}
	core.Warm(c.l1i, c.now, instBase+k.Base, uint64(len(k.ops))<<k.Shift, 0)
}
