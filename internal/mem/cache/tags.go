package cache

import (
	"math/bits"

	"github.com/heddle-sim/heddle/internal/mem"
)

// layOut numbers the lines for a count of ways and rebuilds everything that
// depends on it: sets, hash, lists and counts. Contents stay.
func (c *Cache) layOut(ways int) {
	c.ways, c.stride, c.policy = ways, c.cfg.maxWays(), nil
	if c.cfg.Compat.ReindexWays {
		c.stride = ways
	}
	c.maxDirty = c.cfg.WriteRatio * c.cfg.Sets * ways
	for i := range c.inv {
		c.inv[i] = 0
	}
	for i := range c.hash {
		c.hash[i] = none
	}
	for s := range c.cfg.Sets {
		c.old[s], c.young[s], c.rsvN[s], c.modN[s] = none, none, 0, 0
	}
	c.dirty = 0
	for i := range c.lines {
		l := &c.lines[i]
		l.set, l.class, l.hashed, l.inList = none, 0, false, false
		if s := i / c.stride; s < c.cfg.Sets && i%c.stride < ways {
			l.set = int32(s)
			c.inv[s*c.words+i%c.stride/64] |= 1 << (i % c.stride % 64)
			l.class = isInvalid
			c.enlist(int32(i))
		} else if !c.cfg.Compat.ReindexWays {
			l.rsv, l.val, l.mod, l.rd, l.modFill, l.rdFill = 0, 0, 0, 0, 0, 0
		}
		c.settle(int32(i))
	}
	c.plugIn()
}

// settle updates hash, masks and counts after a change of a line's sectors.
func (c *Cache) settle(i int32) {
	l := &c.lines[i]
	var k uint8
	if l.rsv|l.val|l.mod == 0 {
		k = isInvalid
	}
	if l.rsv != 0 {
		k |= isReserved
	}
	if l.mod != 0 && c.keepsMod {
		k |= isDirty
	}
	diff := k ^ l.class
	if diff == 0 {
		return
	}
	was := l.class
	l.class = k
	if diff&isDirty != 0 {
		if k&isDirty != 0 {
			c.dirty++
		} else {
			c.dirty--
		}
	}
	if l.set == none { // out of reach until the ways change again
		return
	}
	if diff&isInvalid != 0 {
		way := c.way(i)
		bit := uint64(1) << (way & 63)
		word := &c.inv[int(l.set)*c.words+way>>6]
		if k&isInvalid != 0 {
			*word |= bit
			c.unhash(i)
			if l.ahead != 0 {
				c.unused(l)
			}
			if c.policy != nil {
				c.policy.OnInvalidate(int(l.set), way)
			}
		} else {
			*word &^= bit
			c.rehash(i)
		}
	}
	if diff&isReserved != 0 {
		if k&isReserved != 0 {
			c.rsvN[l.set]++
		} else {
			c.rsvN[l.set]--
		}
	}
	const both = isReserved | isDirty
	switch {
	case was&both != isDirty && k&both == isDirty:
		c.modN[l.set]++
	case was&both == isDirty && k&both != isDirty:
		c.modN[l.set]--
	}
}

// rehash enters a line under its tag.
func (c *Cache) rehash(i int32) {
	l := &c.lines[i]
	if l.hashed {
		return
	}
	p := &c.hash[mix(l.tag)&c.hmask]
	l.chain, *p, l.hashed = *p, i, true
}

// unhash takes a line out of the hash.
func (c *Cache) unhash(i int32) {
	l := &c.lines[i]
	if !l.hashed {
		return
	}
	p := &c.hash[mix(l.tag)&c.hmask]
	for *p != i {
		p = &c.lines[*p].chain
	}
	*p, l.hashed = l.chain, false
}

// enlist puts a line into its set's list, which is in order of stamp, then way.
func (c *Cache) enlist(i int32) {
	l := &c.lines[i]
	after := c.young[l.set]
	for after != none {
		if o := &c.lines[after]; o.stamp < l.stamp || o.stamp == l.stamp && after < i {
			break
		}
		after = c.lines[after].prev
	}
	l.prev = after
	if after == none {
		l.next = c.old[l.set]
		c.old[l.set] = i
	} else {
		l.next = c.lines[after].next
		c.lines[after].next = i
	}
	if l.next == none {
		c.young[l.set] = i
	} else {
		c.lines[l.next].prev = i
	}
	l.inList = true
}

// delist takes a line out of its set's list.
func (c *Cache) delist(i int32) {
	l := &c.lines[i]
	if l.prev == none {
		c.old[l.set] = l.next
	} else {
		c.lines[l.prev].next = l.next
	}
	if l.next == none {
		c.young[l.set] = l.prev
	} else {
		c.lines[l.next].prev = l.prev
	}
	l.inList = false
}

// stampIt gives a line a new time: that of a hit, or of its allocation.
func (c *Cache) stampIt(i int32, now uint64, hit bool) {
	l := &c.lines[i]
	if c.policy != nil && hit {
		c.policy.OnHit(int(l.set), c.way(i), now)
	}
	if l.stamp == now {
		return
	}
	if !l.inList || l.next == none && l.stamp < now {
		l.stamp = now // still the youngest
		return
	}
	c.delist(i)
	l.stamp = now
	c.enlist(i)
}

// touch notes an access to a line.
func (c *Cache) touch(i int32, now uint64) {
	if c.cfg.Replace != FIFO {
		c.stampIt(i, now, true)
	}
}

// set returns the set of a line's address.
func (c *Cache) set(addr uint64) int {
	if c.cfg.Index == Linear && c.cfg.Compat.MaskIndex {
		return int(addr>>c.shift) & (c.cfg.Sets - 1)
	}
	return Index(c.cfg.Index, c.cfg.Sets, c.shift, addr)
}

// where returns the set and tag of a request.
func (c *Cache) where(r *mem.Req) (set int, tag uint64) {
	a := r.Addr
	if c.cfg.Level == L2 {
		a = r.PartAddr
	}
	low := uint64(c.cfg.Line - 1)
	return c.set(a &^ low), r.Addr &^ low
}

// sector returns the bit of the sector a request is for. A request to a
// sector cache has one.
func (c *Cache) sector(r *mem.Req) uint8 {
	if !c.cfg.Sectored {
		return 1
	}
	if m := r.Sectors & (1<<sectors - 1); m != 0 {
		return m & -m
	}
	return 1 << (r.Addr / mem.SectorBytes % sectors)
}

// look looks a sector up in a set: it returns the outcome that an access would
// start with, and the line, none for Miss and Fail.
func (c *Cache) look(set int, tag uint64, sec uint8, write bool) (Status, int32) {
	at := none
	low := int32(set * c.stride)
	for i := c.hash[mix(tag)&c.hmask]; i != none; i = c.lines[i].chain {
		if c.lines[i].tag == tag && i >= low && i < low+int32(c.ways) && (at == none || i < at) {
			at = i // of two lines with one tag the first way counts
		}
	}
	if at != none {
		l := &c.lines[at]
		switch {
		case l.rsv&sec != 0:
			return HitReserved, at
		case l.val&sec != 0:
			return Hit, at
		case l.mod&sec != 0 && (write || l.rd&sec != 0):
			return Hit, at
		}
		return SectorMiss, at
	}
	out := int(c.rsvN[set])
	if c.protect() {
		out += int(c.modN[set])
	}
	if out >= c.ways {
		return Fail, none
	}
	return Miss, none
}

// protect reports whether dirty lines are spared: too few lines are dirty yet.
func (c *Cache) protect() bool { return c.dirty*100 < c.maxDirty }

// victim returns the line that a set evicts; look has found that there is one.
func (c *Cache) victim(set int) int32 {
	for w := c.words - 1; w >= 0; w-- {
		if m := c.inv[set*c.words+w]; m != 0 {
			return int32(set*c.stride + w*64 + bits.Len64(m) - 1)
		}
	}
	spared := uint8(isReserved)
	if c.protect() {
		spared |= isDirty
	}
	if c.policy != nil {
		return c.ask(set, spared)
	}
	i := c.old[set]
	for c.lines[i].class&spared != 0 {
		i = c.lines[i].next
	}
	return i
}

// evicted describes an evicted dirty line.
type evicted struct {
	tag     uint64
	size    uint32 // 0: nothing to write back
	sectors uint8
	bytes   mem.ByteMask
}

// writeBack returns the part of a line that must be written back.
func (c *Cache) writeBack(i int32) evicted {
	l := &c.lines[i]
	if l.mod == 0 {
		return evicted{}
	}
	e := evicted{tag: l.tag, bytes: l.dirty, sectors: l.mod, size: uint32(bits.OnesCount8(l.mod)) * mem.SectorBytes}
	if !c.cfg.Sectored {
		// GPGPU-Sim writes 128 bytes whatever the length of the line.
		e.size, e.sectors = mem.LineBytes, 1<<sectors-1
	}
	return e
}

// take gives a line to a tag and reserves one sector of it.
func (c *Cache) take(i int32, tag uint64, sec uint8, now uint64) {
	l := &c.lines[i]
	c.unhash(i)
	if l.ahead != 0 {
		c.unused(l)
	}
	c.stampIt(i, now, false)
	if c.policy != nil {
		c.policy.OnFill(int(l.set), c.way(i), tag, now)
	}
	l.tag = tag
	l.dirty = mem.ByteMask{}
	l.rsv, l.val, l.mod, l.modFill, l.rdFill, l.maskFill = sec, 0, 0, 0, 0, false
	l.rd = 1<<sectors - 1
	c.rehash(i)
	c.settle(i)
}

// reserve marks one more sector of a line as on its way.
func (c *Cache) reserve(i int32, sec uint8, now uint64) {
	l := &c.lines[i]
	c.touch(i, now)
	if l.mod&sec != 0 {
		l.modFill |= sec
	} else {
		l.modFill &^= sec
	}
	l.rdFill &^= sec
	l.rd |= sec
	l.val &^= sec
	l.mod &^= sec
	l.rsv |= sec
	c.settle(i)
}

// use updates the tags after a look-up with the given outcome, and returns the
// line, or none if the line is taken at the fill.
func (c *Cache) use(st Status, i int32, set int, tag uint64, sec uint8, now uint64) (int32, evicted) {
	c.used = true
	var out evicted
	switch st {
	case Hit, HitReserved:
		c.touch(i, now)
	case Miss:
		if !c.onMiss {
			return none, out
		}
		i = c.victim(set)
		if c.cfg.Write != WriteThrough {
			out = c.writeBack(i)
		}
		c.take(i, tag, sec, now)
	case SectorMiss:
		if !c.onMiss {
			return none, out
		}
		c.reserve(i, sec, now)
	}
	return i, out
}

// modify marks a sector as written.
func (c *Cache) modify(i int32, sec uint8, bytes mem.ByteMask) {
	l := &c.lines[i]
	l.rsv &^= sec
	l.val &^= sec
	l.mod |= sec
	l.dirty = l.dirty.Or(bytes)
	c.settle(i)
}

// complete makes a written sector readable if every byte of it is dirty.
func (c *Cache) complete(i int32, sec uint8) {
	l := &c.lines[i]
	if c.cfg.Sectored {
		if l.dirty.Sector(bits.TrailingZeros8(sec)) == 1<<32-1 {
			l.rd |= sec
		}
		return
	}
	all := mem.ByteMask{}
	all.Set(int(l.tag%mem.LineBytes), c.cfg.Line)
	if l.dirty.And(all) == all {
		l.rd |= sec
	}
}

// put fills a sector.
func (c *Cache) put(i int32, sec uint8, bytes mem.ByteMask) {
	l := &c.lines[i]
	l.rsv &^= sec
	l.val &^= sec
	l.mod &^= sec
	if l.modFill&sec != 0 {
		l.mod |= sec
	} else {
		l.val |= sec
	}
	l.modFill &^= sec
	if l.rdFill&sec != 0 {
		l.rd |= sec
		l.rdFill &^= sec
	}
	if l.maskFill {
		l.dirty = l.dirty.Or(bytes)
	}
	c.settle(i)
}

// fillTag fills a sector by address, taking a line if there is none; a dirty
// victim is lost. Without a candidate the data are not stored.
func (c *Cache) fillTag(now uint64, set int, tag uint64, sec uint8, write bool, bytes mem.ByteMask) int32 {
	if !c.cfg.Compat.FillByWay {
		c.used = true
	}
	st, i := c.look(set, tag, sec, write)
	switch st {
	case Fail:
		return none
	case Miss:
		i = c.victim(set)
		c.take(i, tag, sec, now)
	case SectorMiss:
		c.reserve(i, sec, now)
	}
	c.put(i, sec, bytes)
	return i
}

// FillDirect puts sectors of a line into the cache at once, as a copy from the
// host does; index is the address that picks the set (PartAddr for an L2).
// A dirty victim is dropped without traffic.
func (c *Cache) FillDirect(now, addr, index uint64, secs uint8) {
	c.fillDirect(now, 0, addr, index, secs)
}

// FillInTurn is FillDirect with the sectors filled in consecutive cycles.
func (c *Cache) FillInTurn(now, addr, index uint64, secs uint8) {
	c.fillDirect(now, 1, addr, index, secs)
}

func (c *Cache) fillDirect(now, step, addr, index uint64, secs uint8) {
	low := uint64(c.cfg.Line - 1)
	set, tag := c.set(index&^low), addr&^low
	for m := secs & (1<<sectors - 1); m != 0; m &= m - 1 {
		sec := m & -m
		if !c.cfg.Sectored {
			sec = 1
		}
		i := c.fillTag(now, set, tag, sec, true, mem.ByteMask{})
		if rest := m &^ sec; i != none && c.cfg.Sectored && c.allAbsent(i, rest) {
			c.putAbsent(i, rest, now+step*uint64(bits.OnesCount8(rest)))
			return
		}
		now += step
	}
}

// allAbsent reports whether none of the given sectors of a line is present or on
// its way.
func (c *Cache) allAbsent(i int32, secs uint8) bool {
	l := &c.lines[i]
	return (l.rsv|l.val|l.mod)&secs == 0
}

// putAbsent has the effect of filling such sectors one by one, the last of them
// now.
func (c *Cache) putAbsent(i int32, secs uint8, now uint64) {
	if secs == 0 {
		return
	}
	l := &c.lines[i]
	c.touch(i, now)
	l.val |= secs
	l.rd |= secs
	l.modFill &^= secs
	l.rdFill &^= secs
	c.settle(i)
}

// drop makes a line invalid.
func (c *Cache) drop(i int32) {
	l := &c.lines[i]
	l.rsv, l.val, l.mod = 0, 0, 0
	c.settle(i)
}

// Invalidate empties the cache without traffic, unless there was no look-up since
// the last call. Pending misses stay pending.
func (c *Cache) Invalidate() {
	if !c.used {
		return
	}
	c.used = false
	for s := range c.cfg.Sets {
		for w := range c.words {
			// All ways within reach, less the invalid ones.
			in := ^uint64(0)
			if left := c.ways - 64*w; left <= 0 {
				break
			} else if left < 64 {
				in = 1<<left - 1
			}
			for m := in &^ c.inv[s*c.words+w]; m != 0; m &= m - 1 {
				c.drop(int32(s*c.stride + 64*w + bits.TrailingZeros64(m)))
			}
		}
	}
}

// Held returns the number of lines with a sector in use.
func (c *Cache) Held() int {
	n := 0
	for i := range c.lines {
		if l := &c.lines[i]; l.set != none && l.class&isInvalid == 0 {
			n++
		}
	}
	return n
}

// Flush drops modified lines without traffic.
func (c *Cache) Flush() {
	for i := range c.lines {
		if l := &c.lines[i]; l.set != none && l.mod != 0 {
			c.drop(int32(i))
		}
	}
}

// Ways returns the current number of ways.
func (c *Cache) Ways() int { return c.ways }

// SetWays changes the number of ways to n, limited to the range from 1 to the
// configuration's MaxWays.
func (c *Cache) SetWays(n int) {
	n = min(max(n, 1), c.cfg.maxWays())
	if n != c.ways {
		c.layOut(n)
	}
}

// SetAlloc changes when lines are taken, as a streaming L1 does per kernel. A
// write-back cache or one that allocates on writes stays as it is.
func (c *Cache) SetAlloc(a Alloc) {
	ok := c.cfg
	ok.Alloc = a
	if ok.Check() == nil {
		c.onMiss = a == OnMiss
	}
}
