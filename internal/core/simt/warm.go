package simt

import "github.com/heddle-sim/heddle/internal/core"

// WarmCode puts a kernel's instructions into the instruction cache, from its
// first to its last: what does not fit pushes out what came before it.
func (c *Core) WarmCode(kernel core.Kernel) {
	k := kernel.(*Kernel)
	if c.l1i == nil {
		return
	}
	core.Warm(c.l1i, c.now, instBase+k.Base, uint64(len(k.ops))<<k.Shift)
}
