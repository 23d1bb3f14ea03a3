package texture

import (
	"fmt"
	"math"

	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/exec/num"
)

// This file: surfaces, which are the first level of a texture; the faces of a cube are layers.
// Unformatted accesses move bytes and count x in bytes; formatted ones convert texels and
// count x in texels.

// Bounds is the handling of an access outside a surface.
type Bounds uint8

const (
	Trap      Bounds = iota // a fault
	ClampEdge               // the access at the edge
	Zero                    // reads zero, writes nothing
)

// Surface is how an instruction accesses a surface.
type Surface struct {
	Dims      int    // coordinates within a layer
	Name      string // of the opcode, for messages
	Formatted bool
	Bounds    Bounds
	Size      int // bytes that a lane moves, in registers
}

// Place finds where lane i's access lies, and notes the address; there is false if it is out of
// bounds and has no effect, or after a fault.
func (op *Surface) Place(x *Access, s *Slot, i int) (addr uint64, there bool) {
	t := &s.tex
	lv := &t.levels[0]
	unit, width := 1, lv.w*t.size*t.samples
	size := op.Size
	if op.Formatted {
		unit, width, size = t.size*t.samples, lv.w, 1
	}
	if size > width {
		if op.Bounds == Zero {
			return 0, false
		}
		x.failf(exec.IllegalInst, i, "%s of %d bytes on %s, whose rows have %d", op.Name, size, s.name, width)
		return 0, false
	}
	// One past the last place of each coordinate: x, y, z, layer.
	limit := [4]int{width - size + 1, lv.h, lv.d, t.layers}
	c := [4]int{}
	for k := range op.Dims {
		c[k] = int(int32(x.Coord[k][i]))
	}
	if x.Layer != nil {
		c[3] = int(x.Layer[i])
	}
	for k, v := range c {
		if v >= 0 && v < limit[k] {
			continue
		}
		switch op.Bounds {
		case Zero:
			return 0, false
		case ClampEdge:
			v = max(0, min(v, limit[k]-1))
			if k == 0 && !op.Formatted {
				v -= v % size
			}
			c[k] = v
		default:
			what := [4]string{"x", "y", "z", "layer"}[k]
			if k == 0 && !op.Formatted {
				what = "byte offset x"
			}
			x.failf(exec.BadAddress, i, "%s of %d bytes out of bounds of %s: %s is %d; want at least 0 and below %d", op.Name, op.Size, s.name, what, v, limit[k])
			return 0, false
		}
	}
	if !op.Formatted && c[0]%op.Size != 0 {
		x.failf(exec.Misaligned, i, "misaligned %s of %d bytes on %s: byte offset x is %d, which must be a multiple of %d", op.Name, op.Size, s.name, c[0], op.Size)
		return 0, false
	}
	addr = lv.addr + uint64(t.first+c[3])*lv.layer + uint64(c[2])*lv.slice + uint64(c[1])*lv.row + uint64(c[0]*unit)
	x.Addr[i] = addr
	return addr, true
}

// Bytes returns n bytes of lane i's access to read, or to write; nil if it has no effect, or after
// a fault.
func (op *Surface) Bytes(x *Access, s *Slot, i, n int, write bool) []byte {
	a, there := op.Place(x, s, i)
	if !there {
		return nil
	}
	var b []byte
	if write {
		b = x.View.WriteSpan(a, n)
	} else {
		b = x.View.ReadSpan(a, n)
	}
	if b == nil {
		x.failAt(i, x.View.Fault(a, n, write), "%s on %s: %v", op.Name, s.name)
	}
	return b
}

// Load reads lane i's texel as four registers; of one outside the surface that reads zero, all are
// zero. It reports whether it could.
func (op *Surface) Load(x *Access, s *Slot, i int) (v [4]uint32, ok bool) {
	b := op.Bytes(x, s, i, s.tex.size, false)
	if b == nil {
		return v, x.Fault == nil
	}
	f := s.tex.format
	v[3] = f.one()
	for k := range s.tex.channels {
		v[k] = f.decode(b[k*f.Bytes():])
	}
	return v, true
}

// Store writes the first n channels of lane i's texel, as many as it has. Values are signed
// integers, or unsigned ones.
func (op *Surface) Store(x *Access, s *Slot, i, n int, signed bool, value func(channel int) uint32) {
	f := s.tex.format
	n = min(n, s.tex.channels)
	b := op.Bytes(x, s, i, n*f.Bytes(), true)
	if b == nil {
		return
	}
	for k := range n {
		v := f.encode(value(k), signed)
		switch p := b[k*f.Bytes():]; f.Bytes() {
		case 1:
			p[0] = byte(v)
		case 2:
			le.PutUint16(p, uint16(v))
		default:
			le.PutUint32(p, uint32(v))
		}
	}
}

// String names the type of the texels in registers.
func (f Format) String() string {
	switch {
	case f.Float():
		return "floats"
	case f.Signed():
		return fmt.Sprintf("signed integers of %d bits", 8*f.Bytes())
	}
	return fmt.Sprintf("unsigned integers of %d bits", 8*f.Bytes())
}

// encode converts a register to one channel of a texel. Integers saturate; normalised
// floats are rounded to nearest even. (The PTX manual says "converted"; this is what
// image stores of graphics APIs do.)
func (f Format) encode(v uint32, signed bool) uint64 {
	saturate := func(lo, hi int64) uint64 {
		x := int64(v)
		if signed {
			x = int64(int32(v))
		}
		return uint64(max(lo, min(x, hi)))
	}
	norm := func(lo, scale float64) uint64 {
		x := float64(math.Float32frombits(v))
		if x != x {
			x = 0
		}
		return uint64(int64(math.RoundToEven(max(lo, min(x, 1)) * scale)))
	}
	switch f {
	case fmtU8:
		return saturate(0, math.MaxUint8)
	case fmtS8:
		return saturate(math.MinInt8, math.MaxInt8)
	case fmtU16:
		return saturate(0, math.MaxUint16)
	case fmtS16:
		return saturate(math.MinInt16, math.MaxInt16)
	case fmtU32:
		return saturate(0, math.MaxUint32)
	case fmtS32:
		return saturate(math.MinInt32, math.MaxInt32)
	case fmtF16:
		return uint64(num.F32ToF16(v, num.RN))
	case fmtU8Norm:
		return norm(0, 255)
	case fmtS8Norm:
		return norm(-1, 127)
	case fmtU16Norm:
		return norm(0, 65535)
	case fmtS16Norm:
		return norm(-1, 32767)
	}
	return uint64(v)
}
