package cache

import (
	"fmt"
	"math/bits"

	"github.com/heddle-sim/heddle/internal/plug"
)

// This file: replacement policies that a program registers. LRU and FIFO are in
// tags.go, without a call through an interface.

// Policy picks the lines that a cache gives up. Every cache has a policy of its
// own; those of several SMs are called side by side. Sets and ways count from 0;
// now is a time in cycles that does not run backwards.
type Policy interface {
	// OnHit is called when an access finds its line, whether its sector is
	// there, on its way, or about to be fetched.
	OnHit(set, way int, now uint64)
	// OnFill is called when a way is given to the line of an address. What was
	// there before is gone.
	OnFill(set, way int, addr, now uint64)
	// OnInvalidate is called when a way is emptied.
	OnInvalidate(set, way int)
	// Victim returns the way that the set gives up, one of those in from, of
	// which there is at least one: ways whose data are on their way, and those
	// that the cache protects, are not among them. A cache asks only if no way is
	// empty, and it may ask again before it fills the way: an answer changes
	// nothing.
	Victim(set int, from Ways) int
}

// Ways is a set of ways.
type Ways []uint64

// Has reports whether a way is in the set.
func (w Ways) Has(way int) bool { return way>>6 < len(w) && w[way>>6]>>(way&63)&1 != 0 }

// Next returns the first way in the set from the given one on, -1 if there is
// none. It begins with Next(0).
func (w Ways) Next(way int) int {
	for i := way >> 6; i < len(w); i++ {
		m := w[i]
		if i == way>>6 {
			m &^= 1<<(way&63) - 1
		}
		if m != 0 {
			return i<<6 + bits.TrailingZeros64(m)
		}
	}
	return -1
}

// Replacements are the replacement policies, each made for a cache of so many
// sets and ways.
var Replacements = plug.New[func(sets, ways int) Policy]("replacement policy", replacementNames...)

var replacementNames = []string{"lru", "fifo"}

// plugIn makes the registered policy that the settings name, if they name one,
// for the lines as they lie now: it hears of those that are in use, the one used
// longest ago first.
func (c *Cache) plugIn() {
	c.policy = nil
	maker, ok := Replacements.Maker(int(c.cfg.Replace))
	if !ok {
		return
	}
	c.policy, c.from = maker(c.cfg.Sets, c.ways), make(Ways, c.words)
	for s := range c.cfg.Sets {
		for i := c.old[s]; i != none; i = c.lines[i].next {
			if l := &c.lines[i]; l.class&isInvalid == 0 {
				c.policy.OnFill(s, c.way(i), l.tag, l.stamp)
			}
		}
	}
}

// way returns the way of a line that is within reach.
func (c *Cache) way(i int32) int { return int(i) - int(c.lines[i].set)*c.stride }

// ask returns the line that the registered policy gives up.
func (c *Cache) ask(set int, spared uint8) int32 {
	clear(c.from)
	low := set * c.stride
	for w := range c.ways {
		if c.lines[low+w].class&spared == 0 {
			c.from[w>>6] |= 1 << (w & 63)
		}
	}
	w := c.policy.Victim(set, c.from)
	if w < 0 || !c.from.Has(w) {
		panic(fmt.Sprintf("heddle: the replacement policy of the cache %s gives up way %d of set %d: want one of those that it was asked about", c.cfg.Name, w, set))
	}
	return int32(low + w)
}
