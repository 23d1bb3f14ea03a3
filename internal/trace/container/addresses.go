package container

import (
	"math"
	"math/bits"

	"github.com/heddle-sim/heddle/internal/isa"
	"github.com/heddle-sim/heddle/internal/trace"
)

// This file: addresses. An access is a vector with an address per lane. It is
// encoded relative to known vectors:
//
//   - at a uniform distance from the same instruction's vector in the previous
//     iteration or the previous warp: the distance is remembered;
//   - a multiple of another instruction's vector plus an offset, as for A[i] and
//     B[i], or cost[v] and visited[v]: the instruction and the offset are
//     remembered;
//   - one line: base and stride;
//   - otherwise, a list.
//
// The rule by which tracers write addresses (see write) reproduces the record; a
// record that does not follow it is stored unchanged.

// Encodings of an access.
const (
	addrShift    uint8 = iota // at the remembered distance
	addrRelation              // by the remembered relation
	addrNewShift
	addrNewRelation
	addrLine
	addrList
	addrRaw
	addrKinds
)

const (
	recentSize = 8 // instructions of the warp that a new relation may refer to
	shiftLimit = 4 // a multiple is a power of two, at most 1<<4 or its inverse
)

// vector is an address per lane; lanes outside of have are unknown.
type vector struct {
	a    [32]uint64
	have isa.LaneMask
}

// slot is the history of an instruction's access.
type slot struct {
	last, first vector // of the last execution, and of the first in that warp
	epoch       int32  // the warp of the last execution, 0 if there was none
	near, far   uint64 // distances: from the last execution in the warp, from the previous warp
	misses      uint8  // how many times in a row near had to be sent
	from        int32  // relation: to this slot's last vector, -1 if there is none
	scale       int8
	off         uint64
	kind        [2]uint8 // remembered: for the first access in a warp, and for later ones
	low         uint64   // of lists
	stride      uint64
}

type addresses struct {
	index    []int32 // by instruction and access (0, or 1 for all others): slot, -1 for none yet
	slots    []*slot
	used     int
	epoch    int32
	recent   [recentSize]int32
	nRecent  int
	lastBase uint64
	all      bool // addresses are written in full, not by base and stride
	run      hits
	v        vector // the current access
}

func (d *addresses) reset(code int) {
	if cap(d.index) < 2*code {
		d.index = make([]int32, 2*code)
	}
	d.index = d.index[:2*code]
	for i := range d.index {
		d.index[i] = -1
	}
	d.used, d.epoch, d.lastBase, d.run = 0, 0, 0, hits{}
}

// begin starts a warp.
func (d *addresses) begin() {
	d.epoch++
	d.nRecent = 0
}

// slot returns the history of an instruction's access.
func (d *addresses) slot(at int32, nth uint8) int32 {
	i := 2*at + int32(min(nth, 1))
	if d.index[i] < 0 {
		if d.used == len(d.slots) {
			d.slots = append(d.slots, new(slot))
		}
		*d.slots[d.used] = slot{from: -1, kind: [2]uint8{addrLine, addrShift}}
		d.index[i] = int32(d.used)
		d.used++
	}
	return d.index[i]
}

// origin returns the vector from which the slot's next one is at a uniform
// distance, and that distance.
func (d *addresses) origin(s *slot) (from *vector, distance *uint64) {
	if s.epoch == d.epoch {
		return &s.last, &s.near
	}
	return &s.first, &s.far
}

// relative writes scale·from + off to the lanes of v.
func relative(v *vector, from *vector, mask isa.LaneMask, scale int8, off uint64) {
	for m := mask; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(uint32(m)) & 31
		v.a[l] = scaled(from.a[l], scale) + off
	}
}

func scaled(a uint64, scale int8) uint64 {
	if scale >= 0 {
		return a << scale
	}
	return a >> -scale
}

// isRelative reports whether v is scale·from + off in the lanes of mask.
func isRelative(v *vector, from *vector, mask isa.LaneMask, scale int8, off uint64) bool {
	if mask&^from.have != 0 {
		return false
	}
	for m := mask; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(uint32(m)) & 31
		if v.a[l] != scaled(from.a[l], scale)+off {
			return false
		}
	}
	return true
}

// source returns the vector of the relation, nil if it cannot be used now.
func (d *addresses) source(s *slot, mask isa.LaneMask) *vector {
	if s.from < 0 || int(s.from) >= d.used {
		return nil
	}
	f := d.slots[s.from]
	if f.epoch != d.epoch || mask&^f.last.have != 0 {
		return nil
	}
	return &f.last
}

// line reports whether the lanes of mask lie on a line, and its stride. A single
// lane does, with the expected stride.
func line(v *vector, mask isa.LaneMask, expect uint64) (stride uint64, ok bool) {
	l0 := mask.First()
	rest := mask & (mask - 1)
	if rest == 0 {
		return expect, true
	}
	l1 := rest.First()
	d, n := int64(v.a[l1]-v.a[l0]), int64(l1-l0)
	if d%n != 0 {
		return 0, false
	}
	stride = uint64(d / n)
	for m := rest & (rest - 1); m != 0; m &= m - 1 {
		l := m.First()
		if v.a[l] != v.a[l0]+stride*uint64(l-l0) {
			return 0, false
		}
	}
	return stride, true
}

// push records the current access.
func (d *addresses) push(n int32, s *slot, mask isa.LaneMask) {
	first := s.epoch != d.epoch
	stride, straight := line(&d.v, mask, s.stride)
	if straight && (mask.Count() >= 3 || s.last.have == 0) {
		l0 := mask.First()
		at := d.v.a[l0] - stride*uint64(l0)
		for l := range s.last.a {
			s.last.a[l] = at
			at += stride
		}
		s.last.have, s.stride = isa.FullMask, stride
	} else {
		for m := mask; m != 0; m &= m - 1 {
			l := m.First() & 31
			s.last.a[l] = d.v.a[l]
		}
		s.last.have |= mask
	}
	if first {
		s.first, s.epoch = s.last, d.epoch
	}
	d.lastBase = d.v.a[mask.First()]
	// The list of recent slots, latest first.
	i := 0
	for i < d.nRecent && d.recent[i] != n {
		i++
	}
	if i == d.nRecent && d.nRecent < recentSize {
		d.nRecent++
	}
	i = min(i, recentSize-1)
	copy(d.recent[1:i+1], d.recent[:i])
	d.recent[0] = n
}

// relation looks for another instruction of whose vector this one is a multiple.
func (d *addresses) relation(n int32, mask isa.LaneMask) (nth int, scale int8, off uint64, ok bool) {
	l := mask.First()
	for i, from := range d.recent[:d.nRecent] {
		f := &d.slots[from].last
		if from == n || mask&^f.have != 0 {
			continue
		}
		for k := range int8(2*shiftLimit + 1) {
			scale := (k + 1) / 2
			if k%2 == 0 {
				scale = -scale
			}
			off := d.v.a[l] - scaled(f.a[l], scale)
			if isRelative(&d.v, f, mask, scale, off) {
				return i, scale, off, true
			}
		}
	}
	return 0, 0, 0, false
}

// choose returns the encoding of the current access.
func (d *addresses) choose(n int32, s *slot, mask isa.LaneMask, remembered uint8) (kind uint8, nth int, scale int8, off uint64) {
	from, distance := d.origin(s)
	canShift := mask&^from.have == 0 && from.have != 0
	shift := func() bool { return canShift && isRelative(&d.v, from, mask, 0, *distance) }
	related := func() bool {
		f := d.source(s, mask)
		return f != nil && isRelative(&d.v, f, mask, s.scale, s.off)
	}
	if remembered == addrRelation && related() {
		return addrRelation, 0, 0, 0
	}
	if shift() {
		return addrShift, 0, 0, 0
	}
	if remembered != addrRelation && related() {
		return addrRelation, 0, 0, 0
	}
	l := mask.First()
	several := mask&(mask-1) != 0
	inWarp := s.epoch == d.epoch
	shifted := canShift && several && isRelative(&d.v, from, mask, 0, d.v.a[l]-from.a[l])
	if shifted && inWarp && s.misses < 2 {
		return addrNewShift, 0, 0, 0
	}
	if several {
		if nth, scale, off, ok := d.relation(n, mask); ok {
			return addrNewRelation, nth, scale, off
		}
	}
	if shifted {
		return addrNewShift, 0, 0, 0
	}
	if _, ok := line(&d.v, mask, s.stride); ok && (remembered != addrList || mask.Count() > 2) {
		return addrLine, 0, 0, 0
	}
	return addrList, 0, 0, 0
}

// put writes an access of an instruction.
func (d *addresses) put(c *[columns][]byte, b *trace.Block, at int32, nth uint8, mask isa.LaneMask, m *trace.Mem) {
	n := d.slot(at, nth)
	s := d.slots[n]
	which := 0
	if s.epoch == d.epoch {
		which = 1
	}
	if !d.follows(b, m, mask) {
		d.kind(c, s, which, addrRaw)
		c[colRaw] = raw(c[colRaw], b, m)
		return
	}
	if mask == 0 { // nothing to encode, whatever the kind
		if s.kind[which] == addrRaw {
			d.kind(c, s, which, addrLine)
		} else {
			d.run.n++
		}
		return
	}
	kind, i, scale, off := d.choose(n, s, mask, s.kind[which])
	d.kind(c, s, which, kind)
	l := mask.First()
	from, distance := d.origin(s)
	switch kind {
	case addrShift:
		s.misses = 0
	case addrNewShift:
		dist := d.v.a[l] - from.a[l]
		c[colShift] = uvarint(c[colShift], zigzag(int64(dist-*distance)))
		*distance = dist
		s.misses = min(s.misses+1, 3)
	case addrNewRelation:
		c[colRelation] = append(c[colRelation], byte(i)<<4|byte(scale+shiftLimit))
		c[colRelation] = uvarint(c[colRelation], zigzag(int64(off)))
		s.from, s.scale, s.off = d.recent[i], scale, off
	case addrLine:
		stride, _ := line(&d.v, mask, s.stride)
		base := d.v.a[l] - stride*uint64(l)
		c[colBase] = uvarint(c[colBase], zigzag(int64(base-d.expect(s))))
		c[colStride] = uvarint(c[colStride], zigzag(int64(stride-s.stride)))
	case addrList:
		d.putList(c, s, mask)
	}
	d.push(n, s, mask)
}

// expect returns where a line that was not predicted might begin.
func (d *addresses) expect(s *slot) uint64 {
	if s.last.have == 0 {
		return d.lastBase
	}
	from, distance := d.origin(s)
	return from.a[0] + *distance
}

// kind writes a kind and remembers it.
func (d *addresses) kind(c *[columns][]byte, s *slot, which int, kind uint8) {
	if s.kind[which] == kind && kind != addrNewShift && kind != addrNewRelation {
		d.run.n++
		return
	}
	c[colAddrRun] = d.run.miss(c[colAddrRun])
	c[colAddrKind] = append(c[colAddrKind], kind)
	d.remember(s, which, kind)
}

func (d *addresses) remember(s *slot, which int, kind uint8) {
	switch kind {
	case addrNewShift:
		kind = addrShift
	case addrNewRelation:
		kind = addrRelation
	}
	s.kind[which] = kind
}

// follows reports whether the tracers' rule reproduces the record, and expands it
// over the lanes.
func (d *addresses) follows(b *trace.Block, m *trace.Mem, mask isa.LaneMask) bool {
	b.Expand(m, mask, &d.v.a)
	count := mask.Count()
	if d.all {
		return m.Mode == trace.ListAll && int(m.N) == count && m.Base == 0 && m.Stride == 0
	}
	switch m.Mode {
	case trace.BaseStride:
		if m.N != 0 {
			return false
		}
		return mask == 0 && m.Base == 0 && m.Stride == 0 || isRun(mask)
	case trace.BaseDelta:
		if mask == 0 || int(m.N) != count-1 || m.Stride != 0 {
			return false
		}
		_, strided := d.strided(mask)
		return !strided
	}
	return false
}

// isRun reports whether the lanes are consecutive, at least two.
func isRun(mask isa.LaneMask) bool {
	up := mask >> mask.First()
	return mask&(mask-1) != 0 && up&(up+1) == 0
}

// strided reports whether the current access is written as base and stride.
func (d *addresses) strided(mask isa.LaneMask) (stride int32, ok bool) {
	if !isRun(mask) {
		return 0, false
	}
	s, ok := line(&d.v, mask, 0)
	if v := int64(s); !ok || v < math.MinInt32 || v > math.MaxInt32 {
		return 0, false
	}
	return int32(int64(s)), true
}

// write builds the record of the current access as tracers do: base and stride if
// the lanes are consecutive, at least two, and lie on a line; otherwise the first
// address and the differences.
func (d *addresses) write(b *trace.Block, mask isa.LaneMask) {
	if d.all {
		m := trace.Mem{Mode: trace.ListAll, First: int32(len(b.Deltas)), N: uint8(mask.Count())}
		for k := mask; k != 0; k &= k - 1 {
			b.Deltas = append(b.Deltas, int64(d.v.a[k.First()&31]))
		}
		b.Mems = append(b.Mems, m)
		return
	}
	if mask == 0 {
		b.Mems = append(b.Mems, trace.Mem{Mode: trace.BaseStride})
		return
	}
	m := trace.Mem{Mode: trace.BaseStride, Base: d.v.a[mask.First()]}
	if stride, ok := d.strided(mask); ok {
		m.Stride = stride
	} else {
		m.Mode, m.First, m.N = trace.BaseDelta, int32(len(b.Deltas)), uint8(mask.Count()-1)
		before := m.Base
		for k := mask & (mask - 1); k != 0; k &= k - 1 {
			a := d.v.a[k.First()&31]
			b.Deltas = append(b.Deltas, int64(a-before))
			before = a
		}
	}
	b.Mems = append(b.Mems, m)
}

// raw appends a record unchanged.
func raw(c []byte, b *trace.Block, m *trace.Mem) []byte {
	c = append(c, byte(m.Mode), m.N)
	c = uvarint(c, m.Base)
	c = uvarint(c, zigzag(int64(m.Stride)))
	for _, v := range b.Deltas[m.First : m.First+int32(m.N)] {
		c = uvarint(c, zigzag(v))
	}
	return c
}

func getRaw(r *reader, b *trace.Block) {
	m := trace.Mem{Mode: trace.Mode(r.byte()), N: r.byte()}
	m.Base, m.Stride = r.uvarint(), int32(r.varint())
	if m.Mode > trace.BaseDelta {
		r.bad = true
		return
	}
	if m.N > 0 {
		m.First = int32(len(b.Deltas))
	}
	for range m.N {
		b.Deltas = append(b.Deltas, r.varint())
	}
	b.Mems = append(b.Mems, m)
}

// get reads an access of an instruction and appends it to the block.
func (d *addresses) get(c *[columns]reader, b *trace.Block, at int32, nth uint8, mask isa.LaneMask) {
	n := d.slot(at, nth)
	s := d.slots[n]
	which := 0
	if s.epoch == d.epoch {
		which = 1
	}
	kind := s.kind[which]
	if !d.run.next(&c[colAddrRun]) {
		if kind = c[colAddrKind].byte(); kind >= addrKinds {
			c[colAddrKind].bad = true
			return
		}
		d.remember(s, which, kind)
	}
	if kind == addrRaw {
		getRaw(&c[colRaw], b)
		return
	}
	if mask == 0 {
		d.write(b, 0)
		return
	}
	from, distance := d.origin(s)
	switch kind {
	case addrNewShift:
		*distance += uint64(c[colShift].varint())
		s.misses = min(s.misses+1, 3)
		relative(&d.v, from, mask, 0, *distance)
	case addrShift:
		s.misses = 0
		relative(&d.v, from, mask, 0, *distance)
	case addrNewRelation:
		r := &c[colRelation]
		k := r.byte()
		off := uint64(r.varint())
		if int(k>>4) >= d.nRecent || k&15 > 2*shiftLimit {
			r.bad = true
			return
		}
		s.from, s.scale, s.off = d.recent[k>>4], int8(k&15)-shiftLimit, off
		relative(&d.v, &d.slots[s.from].last, mask, s.scale, s.off)
	case addrRelation:
		f := d.source(s, mask)
		if f == nil {
			c[colAddrKind].bad = true
			return
		}
		relative(&d.v, f, mask, s.scale, s.off)
	case addrLine:
		base := d.expect(s) + uint64(c[colBase].varint())
		stride := s.stride + uint64(c[colStride].varint())
		for m := mask; m != 0; m &= m - 1 {
			l := m.First() & 31
			d.v.a[l] = base + stride*uint64(l)
		}
	case addrList:
		d.getList(c, s, mask)
	}
	d.write(b, mask)
	d.push(n, s, mask)
}

// A list is written as offsets from the lowest address in the instruction's lists
// so far, or as the first address and differences. The byte in colList has this
// choice in bit 7, the bytes per element minus one in bits 4 to 6, and in bits 0 to
// 3 the number of zero bits at the bottom of each element, which are left out.
const listDiffers = 0x80

// width returns the number of bytes that v needs, at least one.
func width(v uint64) int { return max(1, (bits.Len64(v)+7)/8) }

func (d *addresses) putList(c *[columns][]byte, s *slot, mask isa.LaneMask) {
	low := s.low
	if low == 0 {
		low = math.MaxUint64
	}
	for m := mask; m != 0; m &= m - 1 {
		low = min(low, d.v.a[m.First()&31])
	}
	var ors, most, ors2, most2 uint64
	l0 := mask.First()
	before := d.v.a[l0]
	for m := mask; m != 0; m &= m - 1 {
		a := d.v.a[m.First()&31]
		ors |= a - low
		most = max(most, a-low)
		z := zigzag(int64(a - before))
		ors2 |= (a - before) << 1 // its zero bits are those of z
		most2 = max(most2, z)
		before = a
	}
	zeros, zeros2 := min(15, bits.TrailingZeros64(ors)), min(15, max(0, bits.TrailingZeros64(ors2)-1))
	w, w2 := width(most>>zeros), width(most2>>zeros2)
	if w <= w2 {
		c[colList] = append(c[colList], byte(w-1)<<4|byte(zeros))
		c[colBase] = uvarint(c[colBase], zigzag(int64(low-s.low)))
		s.low = low
		for m := mask; m != 0; m &= m - 1 {
			element(c, colOff0, (d.v.a[m.First()&31]-low)>>zeros, w)
		}
		return
	}
	c[colList] = append(c[colList], listDiffers|byte(w2-1)<<4|byte(zeros2))
	c[colBase] = uvarint(c[colBase], zigzag(int64(d.v.a[l0]-d.expect(s))))
	before = d.v.a[l0]
	for m := mask & (mask - 1); m != 0; m &= m - 1 {
		a := d.v.a[m.First()&31]
		element(c, colDelta0, zigzag(int64(a-before)>>zeros2), w2)
		before = a
	}
}

// element writes the bytes of an element of a list into three columns.
func element(c *[columns][]byte, first column, v uint64, w int) {
	c[first] = append(c[first], byte(v))
	if w > 1 {
		c[first+1] = append(c[first+1], byte(v>>8))
	}
	for k := 2; k < w; k++ {
		c[first+2] = append(c[first+2], byte(v>>(8*k)))
	}
}

func (d *addresses) getList(c *[columns]reader, s *slot, mask isa.LaneMask) {
	f := c[colList].byte()
	w, zeros := int(f>>4&7)+1, f&15
	if f&listDiffers == 0 {
		low := s.low + uint64(c[colBase].varint())
		s.low = low
		for m := mask; m != 0; m &= m - 1 {
			d.v.a[m.First()&31] = low + getElement(c, colOff0, w)<<zeros
		}
		return
	}
	a := d.expect(s) + uint64(c[colBase].varint())
	d.v.a[mask.First()&31] = a
	for m := mask & (mask - 1); m != 0; m &= m - 1 {
		a += uint64(unzigzag(getElement(c, colDelta0, w)) << zeros)
		d.v.a[m.First()&31] = a
	}
}

func getElement(c *[columns]reader, first column, w int) uint64 {
	v := uint64(c[first].byte())
	if w > 1 {
		v |= uint64(c[first+1].byte()) << 8
	}
	for k := 2; k < w; k++ {
		v |= uint64(c[first+2].byte()) << (8 * k)
	}
	return v
}
