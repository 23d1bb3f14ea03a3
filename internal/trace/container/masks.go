package container

import (
	"math/bits"

	"github.com/heddle-sim/heddle/internal/isa"
)

// This file: masks. Most are equal to that of the previous instruction; of the
// others, most are one that the warp had recently, the lanes of it that a branch
// left over, or empty. For each instruction the way in which its mask was found is
// remembered.

// How a mask is found. The first mruSize values are indices into the list of the
// warp's most recent masks.
const (
	mruSize          = 4
	maskZero   uint8 = mruSize + iota - 1
	maskOther        // the lanes of the mask before the last that the last one lacks
	maskSame         // the instruction's last mask, in this warp or another
	maskWithin       // some lanes of the last mask: one bit for each follows
	maskBefore       // some lanes of the mask before the last
	maskBits         // 32 bits follow
	maskKinds
)

type masks struct {
	kind  []uint8 // by instruction
	plain []uint8 // by instruction: how many times in a row the bits that follow were all set
	last  []isa.LaneMask
	mru   [mruSize]isa.LaneMask
	first isa.LaneMask // of the last warp
	fresh bool
	run   hits
}

func (m *masks) reset(code int) {
	if cap(m.kind) < code {
		m.kind, m.plain, m.last = make([]uint8, code), make([]uint8, code), make([]isa.LaneMask, code)
	}
	m.kind, m.plain, m.last = m.kind[:code], m.plain[:code], m.last[:code]
	clear(m.kind)
	clear(m.plain)
	clear(m.last)
	m.first, m.run = isa.FullMask, hits{}
}

// begin starts a warp.
func (m *masks) begin() {
	m.mru = [mruSize]isa.LaneMask{m.first}
	m.fresh = true
}

// guess returns the mask of a kind that no bits follow.
func (m *masks) guess(at int32, kind uint8) (isa.LaneMask, bool) {
	switch {
	case kind < mruSize:
		return m.mru[kind], true
	case kind == maskZero:
		return 0, true
	case kind == maskOther:
		return m.mru[1] &^ m.mru[0], true
	case kind == maskSame:
		return m.last[at], true
	}
	return 0, false
}

// find returns the best kind for a mask.
func (m *masks) find(at int32, v isa.LaneMask) uint8 {
	for kind := range maskWithin {
		if g, _ := m.guess(at, kind); g == v {
			return kind
		}
	}
	switch {
	case v&^m.mru[0] == 0:
		return maskWithin
	case v&^m.mru[1] == 0:
		return maskBefore
	}
	return maskBits
}

// push records a mask.
func (m *masks) push(at int32, kind uint8, v isa.LaneMask) {
	if m.fresh {
		m.first, m.fresh = v, false
	}
	// Bits that are always set need not be sent each time.
	if kind >= maskWithin && v == m.mru[0] {
		if m.plain[at]++; m.plain[at] == 2 {
			kind, m.plain[at] = 0, 0
		}
	} else {
		m.plain[at] = 0
	}
	m.kind[at], m.last[at] = kind, v
	if v != 0 && v != m.mru[0] {
		i := 1
		for i < mruSize-1 && m.mru[i] != v {
			i++
		}
		copy(m.mru[1:i+1], m.mru[:i])
		m.mru[0] = v
	}
}

// leave removes lanes that have exited.
func (m *masks) leave(lanes isa.LaneMask) {
	n := 0
	for _, x := range m.mru {
		if x &^= lanes; x != 0 && !has(m.mru[:n], x) {
			m.mru[n] = x
			n++
		}
	}
	clear(m.mru[n:])
}

func has(list []isa.LaneMask, v isa.LaneMask) bool {
	for _, x := range list {
		if x == v {
			return true
		}
	}
	return false
}

// gather packs the bits of v at the places of within.
func gather(v, within isa.LaneMask) uint32 {
	if within == isa.FullMask {
		return uint32(v)
	}
	var out uint32
	for i := 0; within != 0; i++ {
		out |= uint32(v) >> bits.TrailingZeros32(uint32(within)) & 1 << i
		within &= within - 1
	}
	return out
}

// scatter is the inverse of gather.
func scatter(v uint32, within isa.LaneMask) isa.LaneMask {
	if within == isa.FullMask {
		return isa.LaneMask(v)
	}
	var out isa.LaneMask
	for ; within != 0; within &= within - 1 {
		out |= isa.LaneMask(v&1) << bits.TrailingZeros32(uint32(within))
		v >>= 1
	}
	return out
}

// parent returns the mask whose lanes the bits select from.
func (m *masks) parent(kind uint8) isa.LaneMask {
	switch kind {
	case maskWithin:
		return m.mru[0]
	case maskBefore:
		return m.mru[1]
	}
	return isa.FullMask
}

// put writes a mask into the columns run, run+1 and run+2.
func (m *masks) put(c *[columns][]byte, run column, at int32, v isa.LaneMask) {
	kind := m.kind[at]
	hit := false
	if g, free := m.guess(at, kind); free {
		hit = g == v
	} else {
		hit = v&^m.parent(kind) == 0
	}
	if hit {
		m.run.n++
	} else {
		kind = m.find(at, v)
		c[run] = m.run.miss(c[run])
		c[run+1] = append(c[run+1], kind)
	}
	if kind >= maskWithin {
		p := m.parent(kind)
		b := gather(v, p)
		for n := p.Count(); n > 0; n -= 8 {
			c[run+2] = append(c[run+2], byte(b))
			b >>= 8
		}
	}
	m.push(at, kind, v)
}

// get reads a mask.
func (m *masks) get(c *[columns]reader, run column, at int32) isa.LaneMask {
	kind := m.kind[at]
	if !m.run.next(&c[run]) {
		if kind = c[run+1].byte(); kind >= maskKinds {
			c[run+1].bad = true
			kind = 0
		}
	}
	v, free := m.guess(at, kind)
	if !free {
		p := m.parent(kind)
		var b uint32
		for n, i := p.Count(), 0; i < n; i += 8 {
			b |= uint32(c[run+2].byte()) << i
		}
		v = scatter(b, p)
	}
	m.push(at, kind, v)
	return v
}
