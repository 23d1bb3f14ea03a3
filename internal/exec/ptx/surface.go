package ptx

import (
	"errors"
	"math/bits"

	"github.com/heddle-sim/heddle/internal/exec/texture"
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

// surfOp is a decoded surface instruction, kept in extra.any.
type surfOp struct {
	texture.Surface
	src texSource
	texCoords
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
	op := &surfOp{Surface: texture.Surface{Name: in.Op, Formatted: in.Has("p")}, t: types[0]}
	switch {
	case in.Has("clamp"):
		op.Bounds = texture.ClampEdge
	case in.Has("zero"):
		op.Bounds = texture.Zero
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
	if op.src, err = d.texSource(surf, texture.IsSurface); err != nil {
		return err
	}
	if op.texCoords, err = d.coords(in, at, "s32"); err != nil {
		return err
	}
	if op.mem, err = d.memElems(in, data, load); err != nil {
		return err
	}
	op.Dims, op.Size = op.dims, op.mem.total
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

// surface finds the target of lane i's access, nil after a fault.
func (op *surfOp) surface(w *warp, i int) *texture.Slot {
	s := w.slot(&op.src, i)
	if s != nil && op.Formatted && !op.fits(s.Format()) {
		w.failf(1<<i, "%s.p.%s on %s, whose texels are %s", op.Name, op.t, s.Name(), s.Format())
		return nil
	}
	return s
}

// fits reports whether the type of a formatted access is that of the texels in
// registers; untyped accesses fit all.
func (op *surfOp) fits(f texture.Format) bool {
	switch {
	case op.Name == "sured":
		return op.t.Bits() == 32 && !f.Float() && f.Bytes() == 4
	case op.t.Float():
		return f.Float()
	case op.t.Integer():
		return !f.Float()
	}
	return true
}

func surfLoad(w *warp, in *inst, m uint32) {
	op := in.x.any.(*surfOp)
	x := w.texAccess(&op.texCoords)
	for ; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m) & 31
		s := op.surface(w, i)
		if s == nil {
			return
		}
		var buf [32]byte // 4 elements of 8 bytes
		b := buf[:]
		if op.Formatted {
			v, _ := op.Load(&x, s, i)
			for k := range v {
				le.PutUint32(buf[4*k:], v[k])
			}
		} else if at := op.Bytes(&x, s, i, op.mem.total, false); at != nil {
			b = at
		}
		if w.texFault(x.Fault); x.Fault != nil {
			return
		}
		w.giveLane(op.mem, b, i)
	}
}

func surfStore(w *warp, in *inst, m uint32) {
	op := in.x.any.(*surfOp)
	x := w.texAccess(&op.texCoords)
	for ; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m) & 31
		s := op.surface(w, i)
		if s == nil {
			return
		}
		if op.Formatted {
			signed := op.t == "s32" || op.t == "b32" && s.Format().Signed()
			op.Store(&x, s, i, len(op.mem.elems), signed, func(k int) uint32 { return uint32(w.value(op.mem, k, i)) })
		} else if b := op.Bytes(&x, s, i, len(op.mem.elems)*op.mem.size, true); b != nil {
			for k := range op.mem.elems {
				putBytes(b[k*op.mem.size:], op.mem.size, w.value(op.mem, k, i))
			}
		}
		if w.texFault(x.Fault); x.Fault != nil {
			return
		}
	}
}

// surfReduce is sured: an atomic update of one element.
func surfReduce(w *warp, in *inst, m uint32) {
	op := in.x.any.(*surfOp)
	x := w.texAccess(&op.texCoords)
	for ; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m) & 31
		s := op.surface(w, i)
		if s == nil {
			return
		}
		b := op.Bytes(&x, s, i, op.mem.total, true)
		if w.texFault(x.Fault); x.Fault != nil {
			return
		}
		if b == nil {
			continue
		}
		red := op.red
		if op.Formatted && s.Format().Signed() {
			red = op.redSigned
		}
		updateAt(b, op.mem.size, red, w.value(op.mem, 0, i), 0)
	}
}
