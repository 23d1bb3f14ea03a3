package cache

import (
	"math/bits"

	"github.com/heddle-sim/heddle/internal/mem"
)

// Warm does to the tags what an access to sectors of one line would have done once all that it causes has
// come and gone: without time, traffic and counters. index is the address that picks the set (PartAddr for
// an L2), bytes those that a write writes. It returns how many sectors
// would have gone to and fro: those fetched, writes that go through, and dirty victims.
func (c *Cache) Warm(now, addr, index uint64, secs uint8, write bool, bytes mem.ByteMask) (fetched, written int) {
	if c.cfg.Perfect {
		return 0, 0
	}
	c.used = true
	low := uint64(c.cfg.Line - 1)
	set, tag := c.set(index&^low), addr&^low
	for m := secs & (1<<sectors - 1); m != 0; m &= m - 1 {
		sec, own := m&-m, bytes
		if c.cfg.Sectored {
			var of mem.ByteMask
			of.Set(bits.TrailingZeros8(sec)*mem.SectorBytes, mem.SectorBytes)
			own = bytes.And(of)
		} else {
			sec, m = 1, m&-m
		}
		f, w := c.warm(now, set, tag, sec, write, own)
		fetched, written = fetched+f, written+w
	}
	return fetched, written
}

// warm is Warm for one sector, or for the line of a cache without sectors.
func (c *Cache) warm(now uint64, set int, tag uint64, sec uint8, write bool, bytes mem.ByteMask) (fetched, written int) {
	st, i := c.look(set, tag, sec, write)
	through := write && c.cfg.Write != WriteBack
	size := 1
	if !c.cfg.Sectored {
		size = sectors
	}
	if through {
		written = size
	}
	switch {
	case st == Hit:
		c.touch(i, now)
		if write && !through {
			c.modify(i, sec, bytes)
			c.complete(i, sec)
		}
		return 0, written
	case st == HitReserved:
		c.touch(i, now)
		return 0, written
	case st == Fail || write && c.cfg.WriteAlloc == NoWriteAlloc:
		if written == 0 {
			fetched = size
		}
		return fetched, written
	case st == Miss:
		i = c.victim(set)
		if c.cfg.Write != WriteThrough && c.lines[i].mod != 0 {
			written += int(c.writeBack(i).size) / mem.SectorBytes
		}
		c.take(i, tag, sec, now)
	default:
		c.reserve(i, sec, now)
	}
	whole := uint64(bits.OnesCount64(bytes[0])+bits.OnesCount64(bytes[1])) == c.atom
	if !write || c.cfg.WriteAlloc == NaiveAlloc || c.cfg.WriteAlloc == FetchOnWrite && !whole {
		fetched = size
		c.put(i, sec, mem.ByteMask{})
	}
	if write && !through {
		c.modify(i, sec, bytes)
		if l := &c.lines[i]; c.cfg.WriteAlloc == LazyFetch && !whole {
			l.rd &^= sec
		}
		c.complete(i, sec)
	} else if l := &c.lines[i]; l.rsv&sec != 0 {
		c.put(i, sec, mem.ByteMask{})
	}
	return fetched, written
}
