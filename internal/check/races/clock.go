package races

import "math/bits"

// clock says of threads up to which time their accesses happened before. nil knows nothing.
// It is a Patricia tree that is never changed, so that threads share clocks and parts of
// them, and a union costs what the two do not share.
type clock struct {
	key         uint64 // of a leaf; of a branch the bits above bit, which all keys below share
	bit         uint64 // 0 for a leaf
	left, right *clock
	time        uint32
}

// Keys of a clock, by block: all its threads, a warp, a thread, the phases of an mbarrier.
const (
	threadKeys  = 1 << 10
	warpKeys    = 2 << 10
	mbarKeys    = 3 << 10
	keysOfBlock = 12
)

func blockKey(block uint32) uint64 { return uint64(block) << keysOfBlock }
func warpKey(block uint32, warp uint8) uint64 {
	return blockKey(block) | warpKeys | uint64(warp&31)
}
func threadKey(block uint32, warp uint8, lane int) uint64 {
	return blockKey(block) | threadKeys | uint64(warp&31)<<5 | uint64(lane&31)
}
func mbarKey(block uint32, slot int) uint64 { return blockKey(block) | mbarKeys | uint64(slot&1023) }

// get returns the time of a key, 0 if there is none.
func (c *clock) get(key uint64) uint32 {
	for c != nil {
		if c.bit == 0 {
			if c.key == key {
				return c.time
			}
			return 0
		}
		if key&c.bit == 0 {
			c = c.left
		} else {
			c = c.right
		}
	}
	return 0
}

// set returns the clock with at least the given time for a key.
func (c *clock) set(key uint64, time uint32) *clock {
	if c.get(key) >= time {
		return c
	}
	return c.join(&clock{key: key, time: time})
}

// prefix is the part of a key above a bit.
func prefix(key, bit uint64) uint64 { return key &^ (bit<<1 - 1) }

// join returns the union; one of the two if that has everything.
func (c *clock) join(d *clock) *clock {
	switch {
	case c == d || d == nil:
		return c
	case c == nil:
		return d
	case c.bit == 0 && d.bit == 0 && c.key == d.key:
		if d.time > c.time {
			return d
		}
		return c
	case c.bit == d.bit && c.bit != 0 && c.key == d.key:
		return c.with(c.left.join(d.left), c.right.join(d.right), d)
	case c.bit > d.bit && prefix(d.key, c.bit) == c.key:
		if d.key&c.bit == 0 {
			return c.with(c.left.join(d), c.right, nil)
		}
		return c.with(c.left, c.right.join(d), nil)
	case d.bit > c.bit && prefix(c.key, d.bit) == d.key:
		if c.key&d.bit == 0 {
			return d.with(c.join(d.left), d.right, nil)
		}
		return d.with(d.left, c.join(d.right), nil)
	}
	bit := uint64(1) << (63 - bits.LeadingZeros64(c.key^d.key))
	if c.key&bit != 0 {
		c, d = d, c
	}
	return &clock{key: prefix(c.key, bit), bit: bit, left: c, right: d}
}

// with returns the branch with the given children: c itself, or other, if it has them.
func (c *clock) with(left, right, other *clock) *clock {
	switch {
	case left == c.left && right == c.right:
		return c
	case other != nil && left == other.left && right == other.right:
		return other
	}
	return &clock{key: c.key, bit: c.bit, left: left, right: right}
}
