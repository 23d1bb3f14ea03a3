package ptx

import (
	"errors"
	"fmt"
	"math"
	"math/bits"

	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/exec/num"
	"github.com/heddle-sim/heddle/internal/isa"
	"github.com/heddle-sim/heddle/internal/isa/ptx"
)

// This file: suld, sust and sured. The .b forms move bytes and count x in
// bytes; the .p forms convert texels and count x in texels. Surfaces are the
// first level of a texture; the faces of a cube are layers.

func init() {
	families["suld"] = decodeSurface
	families["sust"] = decodeSurface
	families["sured"] = decodeSurface
}

// bounds is the handling of an access outside a surface.
type bounds uint8

const (
	boundsTrap bounds = iota
	boundsClamp
	boundsZero
)

// surfOp is a decoded surface instruction, kept in extra.any.
type surfOp struct {
	src texSource
	texCoords
	name      string // of the opcode, for messages
	formatted bool   // .p
	outOf     bounds
	mem       *memOp
	t         ptx.Type
	red       rmw // sured: for unsigned or untyped values
	redSigned rmw // sured.p: for signed texels
}

func decodeSurface(d *dec, in *ptx.Inst, o *inst) error {
	types := in.Types()
	if len(in.Args) != 2 || len(types) != 1 {
		return errors.New("needs a type, a surface and a register")
	}
	op := &surfOp{name: in.Op, formatted: in.Has("p"), t: types[0]}
	switch {
	case in.Has("clamp"):
		op.outOf = boundsClamp
	case in.Has("zero"):
		op.outOf = boundsZero
	}
	load := in.Op == "suld"
	addr, data := &in.Args[0], &in.Args[1]
	if load {
		addr, data = data, addr
	}
	surf, smp, at, err := texParts(addr)
	if err != nil {
		return err
	}
	if smp != nil {
		return errors.New("takes no sampler")
	}
	if op.src, err = d.texSource(surf, isSurface); err != nil {
		return err
	}
	if op.texCoords, err = d.coords(in, at, "s32"); err != nil {
		return err
	}
	if op.mem, err = d.memElems(in, data, load); err != nil {
		return err
	}
	o.kind, o.x, o.size = kMem, &extra{any: op}, uint8(op.mem.total)
	d.describe(isa.Surface, op.mem.total, load, !load)
	d.info.Unit = isa.UnitTex
	d.ordering(in, o, isa.Global, load)
	switch in.Op {
	case "suld":
		o.run = surfLoad
	case "sust":
		o.run = surfStore
	default:
		var ok bool
		if op.red, ok = rmwOf(rmwName(in), op.t); !ok {
			return errUnsupported
		}
		op.redSigned, _ = rmwOf(rmwName(in), map[int]ptx.Type{32: "s32", 64: "s64"}[op.t.Bits()])
		if !op.t.Integer() && !op.t.Untyped() {
			return errUnsupported
		}
		d.info.Load, d.info.Atomic = true, true
		d.im.ordered = true // in place, as other atomics
		o.run = surfReduce
	}
	return nil
}

// place finds where lane i's access to n units of size bytes lies; there is false if
// it is out of bounds and .zero makes it a no-op. x counts bytes, or texels for
// formatted accesses.
func (op *surfOp) place(w *warp, s *texSlot, i int) (addr uint64, there bool) {
	t := &s.tex
	lv := &t.levels[0]
	unit, width := 1, lv.w*t.size*t.samples
	size := op.mem.total
	if op.formatted {
		unit, width, size = t.size*t.samples, lv.w, 1
	}
	if size > width {
		if op.outOf == boundsZero {
			return 0, false
		}
		w.failf(1<<i, "%s of %d bytes on %s, whose rows have %d", op.name, size, s.name, width)
		return 0, false
	}
	// One past the last place of each coordinate: x, y, z, layer.
	limit := [4]int{width - size + 1, lv.h, lv.d, t.layers}
	c := [4]int{}
	for k := range op.dims {
		c[k] = int(int32(w.u32(op.r[k])[i]))
	}
	if op.layerR != none {
		c[3] = int(w.u32(op.layerR)[i])
	}
	for k, v := range c {
		if v >= 0 && v < limit[k] {
			continue
		}
		switch op.outOf {
		case boundsZero:
			return 0, false
		case boundsClamp:
			v = max(0, min(v, limit[k]-1))
			if k == 0 && !op.formatted {
				v -= v % size
			}
			c[k] = v
		default:
			what := [4]string{"x", "y", "z", "layer"}[k]
			if k == 0 && !op.formatted {
				what = "byte offset x"
			}
			w.failAs(exec.BadAddress, 1<<i, "%s of %d bytes out of bounds of %s: %s is %d; want at least 0 and below %d", op.name, op.mem.total, s.name, what, v, limit[k])
			return 0, false
		}
	}
	if !op.formatted && c[0]%op.mem.total != 0 {
		w.failAs(exec.Misaligned, 1<<i, "misaligned %s of %d bytes on %s: byte offset x is %d, which must be a multiple of %d", op.name, op.mem.total, s.name, c[0], op.mem.total)
		return 0, false
	}
	addr = lv.addr + uint64(t.first+c[3])*lv.layer + uint64(c[2])*lv.slice + uint64(c[1])*lv.row + uint64(c[0]*unit)
	w.addr[i] = addr
	return addr, true
}

// surface finds the target of lane i's access, nil after a fault.
func (op *surfOp) surface(w *warp, i int) *texSlot {
	s := w.slot(&op.src, i)
	if s != nil && op.formatted && !op.fits(s.tex.format) {
		w.failf(1<<i, "%s.p.%s on %s, whose texels are %s", op.name, op.t, s.name, s.tex.format.reads())
		return nil
	}
	return s
}

// fits reports whether the type of a formatted access is that of the texels in
// registers; untyped accesses fit all.
func (op *surfOp) fits(f texFormat) bool {
	switch {
	case op.name == "sured":
		return op.t.Bits() == 32 && (f == fmtU32 || f == fmtS32)
	case op.t.Float():
		return f.float()
	case op.t.Integer():
		return !f.float()
	}
	return true
}

// reads names the type of the texels in registers.
func (f texFormat) reads() string {
	switch {
	case f.float():
		return "floats"
	case f.signed():
		return fmt.Sprintf("signed integers of %d bits", 8*f.bytes())
	}
	return fmt.Sprintf("unsigned integers of %d bits", 8*f.bytes())
}

// surfFault records why the bytes of an access are not accessible.
func (w *warp) surfFault(op *surfOp, s *texSlot, i int, addr uint64, size int, write bool) {
	w.failAt(1<<i, w.blk.View.Fault(addr, size, write), "%s on %s: %v", op.name, s.name)
}

func surfLoad(w *warp, in *inst, m uint32) {
	op := in.x.any.(*surfOp)
	for ; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m) & 31
		s := op.surface(w, i)
		if s == nil {
			return
		}
		a, there := op.place(w, s, i)
		if w.fault != nil {
			return
		}
		var buf [32]byte // 4 elements of 8 bytes
		if !there {
			w.giveLane(op.mem, buf[:], i)
			continue
		}
		size := op.mem.total
		if op.formatted {
			size = s.tex.size
		}
		b := w.blk.View.ReadSpan(a, size)
		if b == nil {
			w.surfFault(op, s, i, a, size, false)
			return
		}
		if op.formatted {
			f, v := s.tex.format, [4]uint32{}
			v[3] = f.one()
			for k := range s.tex.channels {
				v[k] = f.decode(b[k*f.bytes():])
			}
			for k := range v {
				le.PutUint32(buf[4*k:], v[k])
			}
			b = buf[:]
		}
		w.giveLane(op.mem, b, i)
	}
}

func surfStore(w *warp, in *inst, m uint32) {
	op := in.x.any.(*surfOp)
	for ; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m) & 31
		s := op.surface(w, i)
		if s == nil {
			return
		}
		a, there := op.place(w, s, i)
		if w.fault != nil {
			return
		}
		if !there {
			continue
		}
		f := s.tex.format
		n, size := len(op.mem.elems), op.mem.size
		if op.formatted {
			n, size = min(n, s.tex.channels), f.bytes()
		}
		b := w.blk.View.WriteSpan(a, n*size)
		if b == nil {
			w.surfFault(op, s, i, a, n*size, true)
			return
		}
		for k := range n {
			v := w.value(op.mem, k, i)
			if op.formatted {
				v = f.encode(uint32(v), op.t == "s32" || op.t == "b32" && f.signed())
			}
			putBytes(b[k*size:], size, v)
		}
	}
}

// encode converts a register to one channel of a texel. Integers saturate; normalised
// floats are rounded to nearest even. (The PTX manual says "converted"; this is what
// image stores of graphics APIs do.)
func (f texFormat) encode(v uint32, signed bool) uint64 {
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

// surfReduce is sured: an atomic update of one element.
func surfReduce(w *warp, in *inst, m uint32) {
	op := in.x.any.(*surfOp)
	for ; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m) & 31
		s := op.surface(w, i)
		if s == nil {
			return
		}
		a, there := op.place(w, s, i)
		if w.fault != nil {
			return
		}
		if !there {
			continue
		}
		b := w.blk.View.WriteSpan(a, op.mem.total)
		if b == nil {
			w.surfFault(op, s, i, a, op.mem.total, true)
			return
		}
		red := op.red
		if op.formatted && s.tex.format.signed() {
			red = op.redSigned
		}
		updateAt(b, op.mem.size, red, w.value(op.mem, 0, i), 0)
	}
}
