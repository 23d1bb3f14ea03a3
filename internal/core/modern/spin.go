package modern

import "github.com/heddle-sim/heddle/internal/core"

// This file: detecting endless wait loops.

// WatchSpin starts the search for endless loops. It ends once a warp has returned more
// than tries times to the same instruction with other values.
func (c *Core) WatchSpin(tries int) {
	if c.spin == nil {
		c.spin = new(core.Spin)
	}
	c.spin.Watch(tries)
	c.spins = true
}

// EndSpin ends the search.
func (c *Core) EndSpin() { c.spins = false }

// Spinning reports whether all resident warps will loop forever unless another SM
// changes memory. Ended is true if the search has ended because something has changed.
func (c *Core) Spinning() (yes, ended bool) {
	if !c.spins {
		return false, true
	}
	yes, ended = c.spin.Spinning(c.alive & c.ready &^ c.done)
	return yes && c.done == 0, ended // a warp that has ended will retire after its memory accesses
}
