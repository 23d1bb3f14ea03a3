package device

import (
	"encoding/binary"
)

// This file: accesses and queries in the form that tests need; executors use spans.

// Allocations returns all allocations by ascending address, which is the order
// in which they were made, freed ones included.
func (m *Memory) Allocations() []Allocation {
	list := make([]Allocation, len(m.regions))
	for i, r := range m.regions {
		list[i] = r.Allocation
	}
	return list
}

// Footprint returns the bytes of the pages that the view's writes occupy.
func (v *View) Footprint() int {
	if v.overlay == nil {
		return 0
	}
	v.settle()
	return v.overlay.used * pageSize
}

// ReadBytes copies memory at addr to dst. It returns false, and copies nothing,
// if the bytes are not all legal to read.
func (v *View) ReadBytes(addr uint64, dst []byte) bool {
	if len(dst) == 0 {
		return true
	}
	src := v.ReadSpan(addr, len(dst))
	if src == nil {
		return false
	}
	copy(dst, src)
	return true
}

// WriteBytes copies src to memory at addr. It returns false, and copies
// nothing, if the bytes are not all legal to write.
func (v *View) WriteBytes(addr uint64, src []byte) bool {
	if len(src) == 0 {
		return true
	}
	dst := v.WriteSpan(addr, len(src))
	if dst == nil {
		return false
	}
	copy(dst, src)
	return true
}

// Load8 returns the byte at addr; false if it is illegal to read.
func (v *View) Load8(addr uint64) (uint64, bool) {
	b := v.ReadSpan(addr, 1)
	if b == nil {
		return 0, false
	}
	return uint64(b[0]), true
}

// Load16 returns the two bytes at addr, little endian.
func (v *View) Load16(addr uint64) (uint64, bool) {
	b := v.ReadSpan(addr, 2)
	if b == nil {
		return 0, false
	}
	return uint64(binary.LittleEndian.Uint16(b)), true
}

// Load32 returns the four bytes at addr, little endian.
func (v *View) Load32(addr uint64) (uint64, bool) {
	b := v.ReadSpan(addr, 4)
	if b == nil {
		return 0, false
	}
	return uint64(binary.LittleEndian.Uint32(b)), true
}

// Load64 returns the eight bytes at addr, little endian.
func (v *View) Load64(addr uint64) (uint64, bool) {
	b := v.ReadSpan(addr, 8)
	if b == nil {
		return 0, false
	}
	return binary.LittleEndian.Uint64(b), true
}

// Store8 writes the low byte of x to addr; false if that is illegal.
func (v *View) Store8(addr, x uint64) bool {
	b := v.WriteSpan(addr, 1)
	if b == nil {
		return false
	}
	b[0] = byte(x)
	return true
}

// Store16 writes the low two bytes of x to addr, little endian.
func (v *View) Store16(addr, x uint64) bool {
	b := v.WriteSpan(addr, 2)
	if b == nil {
		return false
	}
	binary.LittleEndian.PutUint16(b, uint16(x))
	return true
}

// Store32 writes the low four bytes of x to addr, little endian.
func (v *View) Store32(addr, x uint64) bool {
	b := v.WriteSpan(addr, 4)
	if b == nil {
		return false
	}
	binary.LittleEndian.PutUint32(b, uint32(x))
	return true
}

// Store64 writes the eight bytes of x to addr, little endian.
func (v *View) Store64(addr, x uint64) bool {
	b := v.WriteSpan(addr, 8)
	if b == nil {
		return false
	}
	binary.LittleEndian.PutUint64(b, x)
	return true
}
