package modern

import "github.com/heddle-sim/heddle/internal/core"

// This file: warps that wait in a loop for what never comes.

// WatchSpin begins to look for endless loops. A warp may come back to the same
// place so many times with other values before the search is given up.
func (c *Core) WatchSpin(tries int) {
	if c.spin == nil {
		c.spin = new(core.Spin)
	}
	c.spin.Watch(tries)
	c.spins = true
}

// EndSpin ends the search.
func (c *Core) EndSpin() { c.spins = false }

// Spinning reports whether no resident warp can do anything but go round for
// ever, as long as no other SM changes memory; ended is true if the search has
// been given up, since something has changed.
func (c *Core) Spinning() (yes, ended bool) {
	if !c.spins {
		return false, true
	}
	yes, ended = c.spin.Spinning(c.alive & c.ready &^ c.done)
	return yes && c.done == 0, ended // a warp that ended and waits for its memory accesses will be gone
}
