package simt

import (
	"math/bits"

	"github.com/heddle-sim/heddle/internal/core"
	"github.com/heddle-sim/heddle/internal/isa"
	"github.com/heddle-sim/heddle/internal/mem"
)

// path is the path of a memory instruction through the load/store unit.
type path uint8

const (
	pathNone path = iota
	pathShared
	pathConst
	pathTexture
	pathMemory // global and local
)

// access is one request that an instruction makes.
type access struct {
	addr    uint64
	bytes   mem.ByteMask
	lanes   isa.LaneMask
	size    uint16
	sectors uint8
	local   bool
}

// segment is an access under construction: a piece of memory that some lanes share.
type segment struct {
	base  uint64
	bytes mem.ByteMask
	lanes isa.LaneMask
	parts uint8 // 32-byte sectors touched, within the 128-byte line
	next  int16 // atomics: the next transaction on the same segment, -1 at the end
}

// coalescer holds the buffers for combining accesses.
type coalescer struct {
	segs  []segment
	order []int16 // indices of segments, by base

	// The distinct words of shared memory that a part of a warp accesses, those of
	// a bank linked in a chain.
	word [256]uint64
	next [256]int16
	same [256]uint8 // lanes that access it
	bank [256]uint8
	head [maxBanks]int16
}

// sectorsOf returns the mask of the sectors of a line that size bytes at addr touch.
func sectorsOf(addr uint64, size uint32) uint8 {
	at := uint(addr % mem.LineBytes)
	first := at / mem.SectorBytes
	last := min(at+max(uint(size), 1)-1, mem.LineBytes-1) / mem.SectorBytes
	return uint8(1<<(last+1) - 1<<first)
}

// accesses generates the accesses of a memory instruction (GPGPU-Sim).
func (a *coalescer) accesses(c *Core, f *flight, addr *[32]uint64) {
	switch f.path {
	case pathShared:
		f.delay = int32(a.conflicts(c, f, f.lanes, addr))
	case pathConst:
		line := uint64(32)
		if c.ls.l1c != nil {
			line = uint64(c.ls.l1c.Config().Line)
		} else if n := c.cfg.L1C.Line; n > 0 {
			line = uint64(n)
		}
		a.lines(f, addr, line)
	case pathTexture:
		a.lines(f, addr, uint64(c.ls.l1t.Config().Line))
	case pathMemory:
		if f.shared != 0 {
			f.delay = int32(a.conflicts(c, f, f.shared, addr))
		}
		if f.spread != 0 {
			a.memory(c, f, f.spread, true, addr)
		}
		if rest := f.lanes &^ f.shared &^ f.spread; rest != 0 {
			a.memory(c, f, rest, f.local, addr)
		}
	}
}

// account counts the accesses of an instruction at its place.
func (f *flight) account(p *core.Place) {
	if f.path == pathShared || f.shared != 0 {
		p.Conflicts += uint64(f.delay - 1)
	}
	if f.path != pathMemory || len(f.acc) == 0 {
		return
	}
	n := 0
	for i := range f.acc {
		n += bits.OnesCount8(f.acc[i].sectors)
	}
	p.Access(n, int(f.op.elem)*(f.lanes&^f.shared).Count())
}

// lines makes an access for every line that contains the first byte of a lane.
func (a *coalescer) lines(f *flight, addr *[32]uint64, line uint64) {
	a.segs, a.order = a.segs[:0], a.order[:0]
	var all mem.ByteMask
	last, i := uint64(0), int16(-1) // address of the previous lane, and its segment
	for m := f.lanes; m != 0; m &= m - 1 {
		l := m.First() & 31
		at := addr[l]
		if i >= 0 && at == last {
			a.segs[i].lanes |= 1 << l
			continue
		}
		last, i = at, a.find(at&^(line-1))
		a.segs[i].lanes |= 1 << l
		all.Set(int(at&(line-1)), int(f.op.elem))
	}
	for _, i := range a.order {
		s := &a.segs[i]
		f.acc = append(f.acc, access{addr: s.base, size: uint16(line), lanes: s.lanes, bytes: all})
	}
}

// find returns the index of the segment at base, a new one if there is none. Lanes
// mostly have ascending addresses, so the search starts at the top.
func (a *coalescer) find(base uint64) int16 {
	i := len(a.order)
	for i > 0 {
		s := &a.segs[a.order[i-1]]
		if s.base == base {
			return a.order[i-1]
		}
		if s.base < base {
			break
		}
		i--
	}
	n := int16(len(a.segs))
	a.segs = append(a.segs, segment{base: base, next: -1})
	a.order = append(a.order, 0)
	copy(a.order[i+1:], a.order[i:])
	a.order[i] = n
	return n
}

// memory makes the accesses of lanes to global or local memory.
func (a *coalescer) memory(c *Core, f *flight, of isa.LaneMask, local bool, addr *[32]uint64) {
	from := len(f.acc)
	sector := c.sectorsOnly(f)
	width := uint64(f.op.elem)
	seg := uint64(32)
	switch {
	case width == 1 || sector:
	case width == 2:
		seg = 64
	default:
		seg = 128
	}
	w := &c.warps[f.warp]
	b := &c.Residents.Blocks[w.Block]
	simple := !local && !f.op.inst.Atomic && width&(width-1) == 0 && width <= mem.SectorBytes
	parts := c.cfg.WarpParts
	per := 32 / parts
	for p := range parts {
		lanes := of & isa.LaneMask((uint64(1)<<per-1)<<(p*per))
		if lanes == 0 {
			continue
		}
		a.segs, a.order = a.segs[:0], a.order[:0]
		last := int16(-1) // segment of the previous lane
		for m := lanes; m != 0; m &= m - 1 {
			l := m.First() & 31
			at := addr[l]
			if simple && at&(width-1) == 0 && at != 0 {
				// It lies within a sector.
				base := at &^ (seg - 1)
				if last < 0 || a.segs[last].base != base {
					last = a.find(base)
				}
				s := &a.segs[last]
				off := at % mem.LineBytes
				s.lanes |= 1 << l
				s.parts |= 1 << (off / mem.SectorBytes)
				s.bytes[off>>6] |= (1<<width - 1) << (off & 63)
				continue
			}
			switch {
			case local:
				// The words of a thread are not adjacent: each is next to the same
				// word of the neighbouring threads.
				n, piece := uint64(1), width
				if width >= 4 {
					n, piece = width/4, 4
				}
				for i := range n {
					a.touch(c, l, c.localAddress(b.K, int(f.warp), l, at+4*i), piece, seg)
				}
			case c.cfg.Compat.ZeroIsNone && at == 0:
			case f.op.inst.Atomic:
				a.touchAtomic(l, at, width, seg)
			default:
				a.touch(c, l, at, width, seg)
			}
		}
		for _, i := range a.order {
			for j := i; j >= 0; j = a.segs[j].next {
				x := a.segs[j].shrink(seg)
				x.local = local
				f.acc = append(f.acc, x)
			}
		}
	}
	if !c.cfg.Compat.HighestFirst {
		// They are consumed from the back.
		for i, j := from, len(f.acc)-1; i < j; i, j = i+1, j-1 {
			f.acc[i], f.acc[j] = f.acc[j], f.acc[i]
		}
	}
}

// sectorsOnly reports whether accesses are 32-byte sectors.
func (c *Core) sectorsOnly(f *flight) bool {
	switch arch := c.cfg.CoalesceArch; {
	case arch >= 40:
		return true
	case arch >= 20 && arch < 39:
		return c.cfg.GlobalSkipsL1 || f.toL2()
	}
	return false
}

// toL2 reports whether an instruction bypasses the L1D: because of its cache operator,
// or because it is an atomic, which the L2 executes whatever the operator.
func (f *flight) toL2() bool { return f.op.inst.Cache == isa.CacheCG || f.op.inst.Atomic }

// touch adds n bytes at an address to the segments that contain them.
func (a *coalescer) touch(c *Core, lane int, at, n, seg uint64) {
	base := at &^ (seg - 1)
	s := &a.segs[a.find(base)]
	s.lanes |= 1 << lane
	s.parts |= 1 << (at % mem.LineBytes / mem.SectorBytes)
	end := at + n - 1
	if end&^(seg-1) == base {
		if last := end % mem.LineBytes / mem.SectorBytes; !c.cfg.Compat.EndSegments {
			// An access across two sectors of a segment touches both.
			s.parts |= 1 << last
		}
		s.bytes.Set(int(at%mem.LineBytes), int(n))
		return
	}
	if c.cfg.Compat.EndSegments {
		s.bytes.Set(int(at%mem.LineBytes), int(n))
		s = &a.segs[a.find(end&^(seg-1))]
		s.lanes |= 1 << lane
		s.parts |= 1 << (end % mem.LineBytes / mem.SectorBytes)
		s.bytes.Set(int(end%mem.LineBytes), int(n))
		return
	}
	for n > 0 {
		k := min(n, base+seg-at)
		s = &a.segs[a.find(base)]
		s.lanes |= 1 << lane
		s.parts |= sectorsOf(at, uint32(k))
		s.bytes.Set(int(at%mem.LineBytes), int(k))
		at += k
		n -= k
		base += seg
	}
}

// touchAtomic adds an atomic's bytes to the first transaction of its segment that does
// not touch them yet, because lanes on the same bytes are serialised.
func (a *coalescer) touchAtomic(lane int, at, n, seg uint64) {
	var want mem.ByteMask
	want.Set(int(at%mem.LineBytes), int(n))
	i := a.find(at &^ (seg - 1))
	for a.segs[i].lanes != 0 {
		if got := a.segs[i].bytes.And(want); got[0]|got[1] == 0 {
			break
		}
		if a.segs[i].next < 0 {
			a.segs[i].next = int16(len(a.segs))
			a.segs = append(a.segs, segment{base: a.segs[i].base, next: -1})
		}
		i = a.segs[i].next
	}
	s := &a.segs[i]
	s.lanes |= 1 << lane
	s.parts |= 1 << (at % mem.LineBytes / mem.SectorBytes)
	s.bytes = s.bytes.Or(want)
}

// shrink turns a segment into an access, halved as long as only one half is used.
func (s *segment) shrink(seg uint64) access {
	at, size := s.base, seg
	off := uint(at % mem.LineBytes / mem.SectorBytes)
	parts := s.parts >> off
	for n := uint(size / mem.SectorBytes); n > 1; {
		n /= 2
		low, high := parts&(1<<n-1), parts>>n
		if low != 0 && high != 0 {
			break
		}
		size /= 2
		if low == 0 {
			at += size
			parts = high
		}
	}
	return access{addr: at, size: uint16(size), bytes: s.bytes, lanes: s.lanes, sectors: s.parts}
}

// localAddress returns the physical address of a byte of a thread's local memory
// (GPGPU-Sim). Words with the same local address are adjacent for all threads of the
// GPU.
func (c *Core) localAddress(k *Kernel, warp, lane int, at uint64) uint64 {
	if c.cfg.LocalSlots {
		return core.LocalAddress(c.cfg.LocalBase, at, 32*warp+lane, 32*c.cfg.Warps, c.id, c.cfg.SMs)
	}
	at &= 1<<24 - 1 // drops the window of a generic address
	t := uint64(32*warp + lane)
	sms := uint64(c.cfg.SMs)
	p := uint64(k.Padded())
	n := p * uint64(k.MaxBlocks) * sms
	return c.cfg.LocalBase + 4*(at/4*n+p*(uint64(c.id)+sms*(t/p))+t%p) + at%4
}

// conflicts returns the number of passes that an instruction needs through the banks
// of shared memory.
func (a *coalescer) conflicts(c *Core, f *flight, of isa.LaneMask, addr *[32]uint64) int {
	parts, words := c.cfg.WarpParts, uint64(1)
	if !c.cfg.Compat.WordPerLane && f.op.elem > 4 {
		// Wide accesses are served in halves and quarters of a warp, with all words of
		// a lane at once.
		words = uint64(f.op.elem+3) / 4
		parts = max(parts, min(32, 1<<bits.Len64(words-1)))
	}
	per := 32 / parts
	total := 0
	for p := range parts {
		lanes := of & isa.LaneMask((uint64(1)<<per-1)<<(p*per))
		if lanes == 0 {
			continue
		}
		if c.cfg.Ideal.SharedBanks {
			total++
			continue
		}
		total += a.degree(c, lanes, addr, words)
	}
	return max(total, 1)
}

// degree returns the passes of one part of a warp: the largest number of words that
// one bank must supply.
func (a *coalescer) degree(c *Core, lanes isa.LaneMask, addr *[32]uint64, words uint64) int {
	if words == 1 && c.cfg.SharedBanks&(c.cfg.SharedBanks-1) == 0 && !c.cfg.LimitedBroadcast && a.apart(lanes, addr, uint64(c.cfg.SharedBanks-1)) {
		return 1
	}
	seen, next, same, of, head := &a.word, &a.next, &a.same, &a.bank, &a.head
	var per [maxBanks]uint8
	for i := range c.cfg.SharedBanks {
		head[i] = -1
	}
	n := int16(0)
	banks := uint64(c.cfg.SharedBanks)
	mask := banks - 1
	pow2 := banks&mask == 0
	for m := lanes; m != 0; m &= m - 1 {
		word := addr[m.First()&31] / 4
	word:
		for range words {
			bank := word & mask
			if !pow2 {
				bank = word % banks
			}
			for i := head[bank]; i >= 0; i = next[i] {
				if seen[i] == word {
					same[i]++
					word++
					continue word
				}
			}
			if n < int16(len(seen)) {
				seen[n], next[n], same[n], of[n] = word, head[bank], 1, uint8(bank)
				head[bank] = n
				n++
			}
			per[bank]++
			word++
		}
	}
	if c.cfg.LimitedBroadcast {
		return limited(n, seen, same, of, banks)
	}
	most := uint8(0)
	for i := range c.cfg.SharedBanks {
		most = max(most, per[i])
	}
	return int(most)
}

// apart reports whether no bank must supply two different words to lanes that access
// one word each.
func (a *coalescer) apart(lanes isa.LaneMask, addr *[32]uint64, mask uint64) bool {
	var taken uint64
	for m := lanes; m != 0; m &= m - 1 {
		word := addr[m.First()&31] / 4
		b := word & mask % maxBanks
		if taken>>b&1 == 0 {
			taken |= 1 << b
			a.word[b] = word
		} else if a.word[b] != word {
			return false
		}
	}
	return true
}

// limited counts passes if only one word can be broadcast: of those that several lanes
// access, the first in the order of banks and words.
func limited(n int16, word *[256]uint64, same, bank *[256]uint8, banks uint64) int {
	cast := int16(-1)
	for i := range n {
		if same[i] < 2 {
			continue
		}
		if cast < 0 || bank[i] < bank[cast] || bank[i] == bank[cast] && word[i] < word[cast] {
			cast = i
		}
	}
	var per [maxBanks]int
	for i := range n {
		k := int(same[i])
		if i == cast {
			k = 1
		}
		per[bank[i]] += k
	}
	most := 0
	for i := range banks {
		most = max(most, per[i])
	}
	return most
}
