package exec

import (
	"encoding/binary"
	"fmt"
)

// This file: tensor maps, the 128 bytes by which bulk copies know a tensor and the box that they copy.
// PTX and CUDA leave their layout open. Ours, by bytes, little-endian: 0 address (8), 8 type, 9 rank,
// 11 swizzle and atom (high four bits), 12 fill, 13 mode, 14 a mark (2), 16 extents less one (4 each), 36 box (2 each), 46 steps
// (1 each), 56 strides of the dimensions from 1 on (8 each), 88 corners of im2col (2 each). Byte 10 is
// not used: CUTLASS clears a bit of it.

// TensorMapBytes is the size of a tensor map.
const TensorMapBytes = 128

const (
	tensorMark  = 0x4d54
	tensorRanks = 5
)

// TensorType is the type of a tensor's elements (CUDA driver API, CUtensorMapDataType).
type TensorType uint8

// The types.
const (
	TensorU8 TensorType = iota
	TensorU16
	TensorU32
	TensorS32
	TensorU64
	TensorS64
	TensorF16
	TensorF32
	TensorF64
	TensorBF16
	TensorF32FTZ
	TensorTF32
	TensorTF32FTZ
	TensorU4       // packed, of sm_100
	TensorU4Spread // 16 of them, 8 bytes, in 16 bytes of shared memory
	TensorU6Spread // 16 elements of 6 bits, 12 bytes, in 16 bytes of shared memory
	tensorTypes
)

// Bytes is the size of an element; 0 of a packed one: see Unpack.
func (t TensorType) Bytes() int {
	return int([tensorTypes]uint8{1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4, 0, 0, 0}[t])
}

// Float reports whether elements are floating-point numbers.
func (t TensorType) Float() bool { return t >= TensorF16 && t < TensorU4 }

// TensorMap is a decoded tensor map. Dimension 0 is innermost and contiguous.
type TensorMap struct {
	Address uint64
	Type    TensorType
	Rank    int
	Swizzle uint8 // 0 none, else 32, 64 or 128 bytes: 1 to 3
	Atom    uint8 // what changes places in a swizzle of 128 bytes: 0 for 16 bytes, 1 for 32 (sm_100)
	NaN     bool  // elements outside of the tensor are NaN, not zero
	Im2col  bool
	Dims    [tensorRanks]uint64
	Strides [tensorRanks]uint64 // bytes; of dimension 0 the size of an element
	Box     [tensorRanks]uint32 // of im2col: channels and pixels
	Steps   [tensorRanks]uint32 // between elements that are copied
	Lower   [3]int16            // corners of im2col by spatial dimension
	Upper   [3]int16

	// Of an unpacked map: the elements of the packed type in one of its own, and the bytes of that in memory and in
	// shared memory. Zero otherwise.
	per, bytes, slot int
}

// Bytes is the size of an element of an unpacked map in memory.
func (m *TensorMap) Bytes() int { return max(m.bytes, m.Type.Bytes()) }

// Slot is the bytes from one element of an unpacked map to the next in shared memory: more than Bytes if they lie spread.
func (m *TensorMap) Slot() int { return max(m.slot, m.Type.Bytes()) }

// Per is the number of elements of the packed type in an element of an unpacked map: coordinates count the former.
func (m *TensorMap) Per() int { return max(m.per, 1) }

// Unpack makes elements of 4 and 6 bits bytes, or units of 16. The error says what a packed type does not permit (CUDA
// driver API, CUtensorMapDataType).
func (m *TensorMap) Unpack() error {
	switch m.Type {
	case TensorU4:
		if m.Dims[0]%2 != 0 || m.Box[0]%2 != 0 || m.Box[0] > 256 {
			return fmt.Errorf("%d elements of 4 bits, %d in a box: want even numbers, at most 256 in a box", m.Dims[0], m.Box[0])
		}
		m.Type, m.per, m.bytes, m.slot = TensorU8, 2, 1, 1
	case TensorU4Spread, TensorU6Spread:
		size := 8
		if m.Type == TensorU6Spread {
			size = 12
		}
		switch {
		case m.Dims[0]%128 != 0 || m.Box[0] != 128:
			return fmt.Errorf("%d spread elements, %d in a box: want a multiple of 128, and 128", m.Dims[0], m.Box[0])
		case m.Address%32 != 0:
			return fmt.Errorf("address %#x of spread elements is not a multiple of 32", m.Address)
		}
		for i := 1; i < min(m.Rank, tensorRanks); i++ {
			if m.Strides[i]%32 != 0 {
				return fmt.Errorf("stride %d of dimension %d: want a multiple of 32 for spread elements", m.Strides[i], i)
			}
		}
		m.Type, m.per, m.bytes, m.slot = TensorU8, 16, size, 16
	default:
		return nil
	}
	m.Dims[0] /= uint64(m.per)
	m.Box[0] /= uint32(m.per)
	m.Strides[0] = uint64(m.bytes)
	return nil
}

// Width is the number of bytes in a row of the swizzle, 0 without one.
func (m *TensorMap) Width() int { return [4]int{0, 32, 64, 128}[m.Swizzle&3] }

// Swizzled returns where a byte of a box lies in shared memory. Atoms of 32 bytes change places by the number of their row
// of 128 bytes modulo four (CUTLASS, the layout Swizzle<2,5,2>), those of 16 bytes by the next bits too.
func (m *TensorMap) Swizzled(at uint64) uint64 {
	switch {
	case m.Swizzle == 0:
		return at
	case m.Atom == 1:
		return at ^ at>>2&0x60
	}
	return at ^ at>>3&(uint64(m.Width()/16-1)<<4)
}

// Check reports what makes a map invalid (CUDA driver API, cuTensorMapEncodeTiled and Im2col); a packed one is unpacked first.
func (m *TensorMap) Check() error {
	size := uint64(0)
	if m.Type < tensorTypes {
		size = uint64(m.Slot())
	}
	switch {
	case size == 0:
		return fmt.Errorf("type %d is not supported: want 0 to %d", m.Type, tensorTypes-1)
	case m.Rank < 1 || m.Rank > tensorRanks || m.Im2col && m.Rank < 3:
		return fmt.Errorf("rank %d: want 1 to %d, or 3 to %[2]d for im2col", m.Rank, tensorRanks)
	case m.Address%16 != 0:
		return fmt.Errorf("address %#x is not a multiple of 16", m.Address)
	case m.Swizzle > 3:
		return fmt.Errorf("swizzle %d is not supported", m.Swizzle)
	case m.Atom > 1 || m.Atom == 1 && m.Swizzle != 3:
		return fmt.Errorf("swizzle %d with atom %d is not supported: atoms of 32 bytes need a swizzle of 128", m.Swizzle, m.Atom)
	case m.NaN && !m.Type.Float():
		return fmt.Errorf("NaN outside of the tensor, whose elements are integers")
	}
	for i := range m.Rank {
		switch {
		case m.Dims[i] == 0 || m.Dims[i] > 1<<32:
			return fmt.Errorf("dimension %d has %d elements: want 1 to 2^32", i, m.Dims[i])
		case i > 0 && (m.Strides[i]%16 != 0 || m.Strides[i] >= 1<<40):
			return fmt.Errorf("stride %d of dimension %d: want a multiple of 16 below 2^40", m.Strides[i], i)
		case m.Steps[i] == 0 || m.Steps[i] > 8:
			return fmt.Errorf("element stride %d of dimension %d: want 1 to 8", m.Steps[i], i)
		case !m.Im2col && (m.Box[i] == 0 || m.Box[i] > 256):
			return fmt.Errorf("box of %d elements in dimension %d: want 1 to 256", m.Box[i], i)
		}
	}
	row := uint64(m.Box[0]) * size
	switch {
	case m.Im2col && !m.corners():
		bits := cornerBits[m.Rank-3]
		return fmt.Errorf("corners %v and %v: want %d to %d in each of %d dimensions", m.Lower[:m.Rank-2], m.Upper[:m.Rank-2], -1<<bits, 1<<bits-1, m.Rank-2)
	case m.Im2col && (m.Box[0] == 0 || m.Box[0] > 256 || m.Box[1] == 0 || m.Box[1] > 1024):
		return fmt.Errorf("%d channels and %d pixels: want 1 to 256 and 1 to 1024", m.Box[0], m.Box[1])
	case row%16 != 0:
		return fmt.Errorf("a row of the box has %d bytes: want a multiple of 16", row)
	case m.Width() > 0 && row > uint64(m.Width()):
		return fmt.Errorf("a row of the box has %d bytes, more than the %d of the swizzle", row, m.Width())
	}
	return nil
}

// cornerBits bounds the corners of im2col in 1, 2 and 3 spatial dimensions: ±2^n (PTX manual, im2col
// mode).
var cornerBits = [3]int{15, 7, 4}

// corners reports whether the corners are within their bounds.
func (m *TensorMap) corners() bool {
	n := m.Rank - 2
	for i := range n {
		for _, c := range [2]int{int(m.Lower[i]), int(m.Upper[i])} {
			if b := 1 << cornerBits[n-1]; c < -b || c >= b {
				return false
			}
		}
	}
	return true
}

// Encode writes the map.
func (m *TensorMap) Encode(to *[TensorMapBytes]byte) {
	le := binary.LittleEndian
	*to = [TensorMapBytes]byte{}
	le.PutUint64(to[:], m.Address)
	to[8], to[9], to[11] = byte(m.Type), byte(m.Rank), m.Swizzle|m.Atom<<4
	if m.NaN {
		to[12] = 1
	}
	if m.Im2col {
		to[13] = 1
	}
	le.PutUint16(to[14:], tensorMark)
	for i := range tensorRanks {
		le.PutUint32(to[16+4*i:], uint32(m.Dims[i]-1))
		le.PutUint16(to[36+2*i:], uint16(m.Box[i]))
		to[46+i] = byte(m.Steps[i])
		if i > 0 {
			le.PutUint64(to[48+8*i:], m.Strides[i])
		}
	}
	for i := range m.Lower {
		le.PutUint16(to[88+2*i:], uint16(m.Lower[i]))
		le.PutUint16(to[94+2*i:], uint16(m.Upper[i]))
	}
}

// Decode reads a map as Encode has written it; its fields are checked by Check alone.
func (m *TensorMap) Decode(from *[TensorMapBytes]byte) error {
	le := binary.LittleEndian
	if le.Uint16(from[14:]) != tensorMark {
		return fmt.Errorf("its bytes are no tensor map: want what cuTensorMapEncodeTiled or cuTensorMapEncodeIm2col has written")
	}
	*m = TensorMap{Address: le.Uint64(from[:]), Type: TensorType(from[8]), Rank: int(from[9]), Swizzle: from[11] & 15, Atom: from[11] >> 4, NaN: from[12] != 0, Im2col: from[13] != 0}
	for i := range tensorRanks {
		m.Dims[i] = uint64(le.Uint32(from[16+4*i:])) + 1
		m.Box[i] = uint32(le.Uint16(from[36+2*i:]))
		m.Steps[i] = uint32(from[46+i])
		if i > 0 {
			m.Strides[i] = le.Uint64(from[48+8*i:])
		}
	}
	if m.Type < tensorTypes {
		m.Strides[0] = uint64(m.Type.Bytes())
	}
	for i := range m.Lower {
		m.Lower[i], m.Upper[i] = int16(le.Uint16(from[88+2*i:])), int16(le.Uint16(from[94+2*i:]))
	}
	return nil
}

// TensorRow is a row of a box: consecutive elements of dimension 0.
type TensorRow struct {
	Global uint64 // address of its first element, also if that is outside of the tensor
	Image  int    // its offset in shared memory, bytes, without swizzle
	N      int    // elements
	Lo, Hi int    // those from Lo to Hi-1 are in the tensor
}

// counts returns the number of elements of a box in each dimension. The step of dimension 0 counts with
// an interleave only, which is not supported here.
func (m *TensorMap) counts() (n [tensorRanks]int) {
	for i := range n {
		n[i] = 1
		if i < m.Rank {
			n[i] = int((m.Box[i] + m.Steps[i] - 1) / m.Steps[i])
		}
	}
	n[0] = int(m.Box[0])
	if m.Im2col {
		return [tensorRanks]int{n[0], int(m.Box[1]), 1, 1, 1}
	}
	return n
}

// BoxBytes is the size of a box in shared memory, elements outside of the tensor included.
func (m *TensorMap) BoxBytes() int {
	n := m.Slot()
	for _, c := range m.counts() {
		n *= c
	}
	return n
}

// Rows calls visit for all rows of the box at the given coordinates, until it returns false. The offsets
// are those of im2col, by spatial dimension.
func (m *TensorMap) Rows(at [tensorRanks]int64, offsets [3]int64, visit func(r *TensorRow) bool) {
	if m.Im2col {
		m.pixels(at, offsets, visit)
		return
	}
	n, size := m.counts(), m.Slot()
	rows := n[1] * n[2] * n[3] * n[4]
	for row := range rows {
		x, rest := at, row
		for d := 1; d < m.Rank; d++ {
			x[d] += int64(rest%n[d]) * int64(m.Steps[d])
			rest /= n[d]
		}
		r := m.row(x)
		r.Image = row * n[0] * size
		if !visit(&r) {
			return
		}
	}
}

// row is the row that begins at an element.
func (m *TensorMap) row(x [tensorRanks]int64) (r TensorRow) {
	r.N, r.Global = int(m.Box[0]), m.Address
	inside := true
	for d := range m.Rank {
		r.Global += uint64(x[d]) * m.Strides[d]
		inside = inside && (d == 0 || x[d] >= 0 && uint64(x[d]) < m.Dims[d])
	}
	if inside {
		r.Lo = int(min(max(0, -x[0]), int64(r.N)))
		r.Hi = int(min(max(int64(r.Lo), int64(m.Dims[0])-x[0]), int64(r.N)))
	}
	return r
}

// pixels visits the pixels of an im2col box. They run through the bounding box of each image, from the
// lower to the upper corner of the last spatial dimension but the batch, first dimension first.
func (m *TensorMap) pixels(at [tensorRanks]int64, offsets [3]int64, visit func(r *TensorRow) bool) {
	spatial := m.Rank - 2
	size := m.Slot()
	x := at
	for p := range int(m.Box[1]) {
		y := x
		for d := range spatial {
			y[1+d] += offsets[d]
		}
		r := m.row(y)
		r.Image = p * r.N * size
		if !visit(&r) {
			return
		}
		for d := range spatial {
			x[1+d] += int64(m.Steps[1+d])
			if x[1+d] <= int64(m.Dims[1+d])-1+int64(m.Upper[d]) {
				break
			}
			x[1+d] = int64(m.Lower[d])
			if d == spatial-1 {
				x[m.Rank-1]++
			}
		}
	}
}
