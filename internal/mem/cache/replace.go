package cache

import (
	"fmt"
	"math/bits"

	"github.com/heddle-sim/heddle/internal/plug"
)

// This file: replacement policies that a program registers. LRU and FIFO are in
// tags.go and need no interface call.

// Policy chooses the lines that a cache evicts. Every cache has its own policy;
// those of several SMs are called concurrently. Sets and ways count from 0; now is
// a time in cycles that never decreases.
type Policy interface {
	// OnHit is called when an access finds its line, whether its sector is
	// there, on its way, or about to be fetched.
	OnHit(set, way int, now uint64)
	// OnFill is called when a way is allocated to the line of an address. The line
	// that it held before is gone.
	OnFill(set, way int, addr, now uint64)
	// OnInvalidate is called when a way is emptied.
	OnInvalidate(set, way int)
	// Victim returns the way to evict, one of from, which has at least one; ways
	// whose data are on their way and ways that the cache protects are not in it.
	// It is called only if no way is empty, and perhaps again before the way is
	// filled: the call itself must change nothing.
	Victim(set int, from Ways) int
}

// Ways is a set of ways.
type Ways []uint64

// Has reports whether a way is in the set.
func (w Ways) Has(way int) bool { return way>>6 < len(w) && w[way>>6]>>(way&63)&1 != 0 }

// Next returns the first way in the set at or after way, -1 if there is none. An
// iteration starts with Next(0).
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

// Replacements are the constructors of replacement policies by name, for the given
// numbers of sets and ways.
var Replacements = plug.New[func(sets, ways int) Policy]("replacement policy", replacementNames...)

var replacementNames = []string{"lru", "fifo"}

// plugIn creates the registered policy that the settings name, if any, and reports
// the lines in use to it, in each set the least recently used first.
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

// ask returns the line that the registered policy evicts.
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
		panic(fmt.Sprintf("heddle: the replacement policy of cache %s evicts way %d of set %d: want one of the ways passed to Victim", c.cfg.Name, w, set))
	}
	return int32(low + w)
}
