package ptx

import (
	"errors"
	"fmt"
	"math/bits"

	"github.com/heddle-sim/heddle/internal/exec/texture"
	"github.com/heddle-sim/heddle/internal/isa"
	"github.com/heddle-sim/heddle/internal/isa/ptx"
)

// This file: tex, tld4, txq and istypep. Filtering follows the CUDA programming guide,
// "Texture Fetching": coordinates are scaled exactly, weights have 8 bits of fraction.
// Choices that the guide leaves open are documented where they are made.

func init() {
	families["tex"] = decodeTex
	families["tld4"] = decodeTex
	families["txq"] = decodeTexQuery
	families["suq"] = decodeTexQuery
	families["istypep"] = decodeIstypep
}

// texOp is a decoded tex or tld4, kept in extra.any.
type texOp struct {
	texture.Op
	tex, smp texSource
	ownSmp   bool // smp is there
	texCoords
	dst  [4]ref // none for a sink
	res  ref    // predicate: the texels are resident; none if absent
	lodR ref
	grad [2][3]ref
	off  [3]ref // none without an offset
	cmp  ref    // depth to compare with, none if absent
}

func decodeTex(d *dec, in *ptx.Inst, o *inst) error {
	types := in.Types()
	if len(types) != 2 || len(in.Args) < 2 {
		return errors.New("needs a type of result, a type of coordinates, a destination and an address")
	}
	op := &texOp{Op: texture.Op{Gather: -1, Integer: types[1] == "s32"}, res: none, lodR: none, cmp: none}
	for i := range op.off {
		op.off[i] = none
		op.grad[0][i], op.grad[1][i] = none, none
	}
	var err error
	tex, smp, at, err := texParts(&in.Args[1])
	if err != nil {
		return err
	}
	if op.tex, err = d.texSource(tex, texture.IsTexture); err != nil {
		return err
	}
	if smp != nil {
		op.ownSmp = true
		if op.smp, err = d.texSource(smp, texture.IsSampler); err != nil {
			return err
		}
	}
	if op.texCoords, err = d.coords(in, at, types[1]); err != nil {
		return err
	}
	op.Dims, op.Cube = op.dims, op.cube
	if err := op.result(d, in, types[0]); err != nil {
		return err
	}
	if in.Op == "tld4" {
		for k, c := range []string{"r", "g", "b", "a"} {
			if in.Has(c) {
				op.Gather = k
			}
		}
		if op.Gather < 0 || op.Integer || op.dims < 2 || op.dims == 3 && !op.cube {
			return errUnsupported
		}
	}
	rest, err := op.detail(d, in, types[1])
	if err != nil {
		return err
	}
	if len(rest) > 0 && op.offsetFirst(&rest[0], len(rest)) {
		if op.cube {
			return errors.New("cannot have an offset on a cube, whose faces have no common directions")
		}
		if err := d.texRefs(&rest[0], op.off[:op.dims], "s32"); err != nil {
			return err
		}
		rest = rest[1:]
	}
	if len(rest) > 0 {
		if op.cmp, err = d.src32(&rest[0], "f32"); err != nil {
			return err
		}
		rest = rest[1:]
	}
	if len(rest) > 0 {
		return errors.New("has too many operands")
	}
	o.kind, o.run, o.x = kMem, texAny, &extra{any: op}
	d.describe(isa.Texture, 16, true, false)
	d.info.Unit = isa.UnitTex
	return nil
}

// detail decodes how the level of detail is chosen, and returns the operands after that.
func (op *texOp) detail(d *dec, in *ptx.Inst, coords ptx.Type) ([]ptx.Operand, error) {
	rest := in.Args[2:]
	var err error
	switch {
	case in.Has("base"):
		op.Lod = texture.LodBase
	case in.Has("level"):
		if len(rest) == 0 {
			return nil, errors.New("needs a level of detail")
		}
		op.Lod = texture.LodLevel
		op.lodR, err = d.src32(&rest[0], coords)
		rest = rest[1:]
	case in.Has("grad"):
		if len(rest) < len(op.grad) {
			return nil, errors.New("needs two derivatives")
		}
		op.Lod = texture.LodGrad
		for k := range op.grad {
			if err = d.texRefs(&rest[k], op.grad[k][:op.dims], "f32"); err != nil {
				return nil, err
			}
		}
		rest = rest[len(op.grad):]
	}
	return rest, err
}

// offsetFirst reports whether the next of n optional operands is the offset rather than
// the depth to compare with.
func (op *texOp) offsetFirst(a *ptx.Operand, n int) bool {
	switch {
	case n > 1 || a.Kind == ptx.OpVec:
		return true
	case op.dims > 1 && !(a.Kind == ptx.OpReg && a.Var != nil && a.Var.Vec > 1 && a.Elem == ""):
		return false
	case a.Kind == ptx.OpImm:
		return a.Imm.Kind == ptx.ImmInt || a.Imm.Kind == ptx.ImmUint
	case a.Kind == ptx.OpReg && a.Var != nil:
		return a.Var.Type != "f32"
	}
	return true
}

// texRefs decodes the elements of a vector operand into refs.
func (d *dec) texRefs(a *ptx.Operand, refs []ref, t ptx.Type) error {
	list, err := d.texVector(a, len(refs))
	if err != nil {
		return err
	}
	for k := range refs {
		if refs[k], err = d.src32(&list[k], t); err != nil {
			return err
		}
	}
	return nil
}

// result decodes the destination: a vector, and possibly a predicate.
func (op *texOp) result(d *dec, in *ptx.Inst, t ptx.Type) error {
	n := 4
	switch t {
	case "f16":
		op.Form = texture.F16
	case "f16x2":
		op.Form, n = texture.F16x2, 2
	}
	a := &in.Args[0]
	if a.Kind == ptx.OpPair {
		var err error
		if op.res, err = d.dstPred(&a.List[1]); err != nil {
			return err
		}
		a = &a.List[0]
	}
	list, err := d.texVector(a, n)
	if err != nil {
		return err
	}
	if len(list) > n {
		return fmt.Errorf("has %d destinations for %d values", len(list), n)
	}
	op.dst = [4]ref{none, none, none, none}
	for k := range list {
		if list[k].Kind == ptx.OpSink {
			continue
		}
		if op.dst[k], err = d.dst32(&list[k]); err != nil {
			return err
		}
	}
	return nil
}

// row returns the lanes of an operand, nil if it is absent.
func (w *warp) row(r ref) *[32]uint32 {
	if r == none {
		return nil
	}
	return w.u32(r)
}

// texAccess is an access with its coordinates.
func (w *warp) texAccess(c *texCoords) texture.Access {
	x := texture.Access{View: w.blk.View, Addr: &w.addr, Layer: w.row(c.layerR), Sample: w.row(c.sampR)}
	for k, r := range c.r {
		x.Coord[k] = w.row(r)
	}
	return x
}

// texFault makes a fault of an access the warp's.
func (w *warp) texFault(f *texture.Fault) {
	if f != nil {
		w.failAs(f.Kind, 1<<f.Lane, "%s", f.Text)
	}
}

// texAny is tex and tld4 of any form.
func texAny(w *warp, in *inst, m uint32) {
	op := in.x.any.(*texOp)
	x := w.texAccess(&op.texCoords)
	x.Lod, x.Compare = w.row(op.lodR), w.row(op.cmp)
	for k := range op.off {
		x.Offset[k], x.Grad[0][k], x.Grad[1][k] = w.row(op.off[k]), w.row(op.grad[0][k]), w.row(op.grad[1][k])
	}
	for k, r := range op.dst {
		if r != none {
			x.Out[k] = &w.r32[r]
		}
	}
	one := op.tex.uniform(w, m) && (!op.ownSmp || op.smp.uniform(w, m))
	ok := op.Read(&x, m, one, func(i int) (*texture.Slot, texture.Sampler) {
		slot := w.slot(&op.tex, i)
		if slot == nil {
			return nil, texture.Sampler{}
		}
		if !op.ownSmp {
			return slot, slot.Sampler()
		}
		s := w.slot(&op.smp, i)
		if s == nil {
			return nil, texture.Sampler{}
		}
		return slot, s.Separate(slot)
	})
	w.texFault(x.Fault)
	if ok {
		w.setPred(op.res, full, m)
	}
}

// texQuery is a decoded txq or suq, kept in extra.any.
type texQuery struct {
	src   texSource
	level ref // none for level 0
	query texture.Query
}

// decodeTexQuery decodes txq and suq.
func decodeTexQuery(d *dec, in *ptx.Inst, o *inst) error {
	q, known := &texQuery{level: none}, false
	want := texture.IsTexture
	if in.Op == "suq" {
		want = texture.IsSurface
	}
	for _, m := range in.Mods {
		if e, ok := texture.Queries[m]; ok {
			q.query, known = e, true
			if e.Sampling {
				want = texture.IsSampler
			}
		}
	}
	if !known {
		return errUnsupported
	}
	if n := 2 + int(b2u(in.Has("level"))); len(in.Args) != n {
		return fmt.Errorf("takes %d operands", n)
	}
	var err error
	if o.d, err = d.dst32(&in.Args[0]); err != nil {
		return err
	}
	if q.src, err = d.texSource(&in.Args[1], want); err != nil {
		return err
	}
	q.src.query = true
	if len(in.Args) > 2 {
		if q.level, err = d.src32(&in.Args[2], "u32"); err != nil {
			return err
		}
	}
	d.info.Unit = isa.UnitTex
	o.kind, o.x = kMem, &extra{any: q}
	o.run = func(w *warp, in *inst, m uint32) {
		q := in.x.any.(*texQuery)
		d := &w.r32[in.d]
		for ; m != 0; m &= m - 1 {
			i := bits.TrailingZeros32(m) & 31
			s := w.slot(&q.src, i)
			if s == nil {
				return
			}
			level := uint32(0)
			if q.level != none {
				level = w.u32(q.level)[i]
			}
			v, err := q.query.Of(s, level)
			if err != nil {
				w.failf(1<<i, "%v", err)
				return
			}
			d[i] = v
		}
	}
	return nil
}

// decodeIstypep tests what a handle refers to. A texture object counts as a texture and
// a surface, since it can be used as both.
func decodeIstypep(d *dec, in *ptx.Inst, o *inst) error {
	if len(in.Args) != 2 {
		return errors.New("takes two operands")
	}
	var err error
	if o.d, err = d.dstPred(&in.Args[0]); err != nil {
		return err
	}
	want, object := texture.IsTexture, true
	switch {
	case in.Has("samplerref"):
		want, object = texture.IsSampler, false
	case in.Has("surfref"):
		want = texture.IsSurface
	}
	src, err := d.src64(&in.Args[1], "b64")
	if err != nil {
		return err
	}
	o.a = src
	o.run = func(w *warp, in *inst, m uint32) {
		r := uint32(0)
		for k := m; k != 0; k &= k - 1 {
			i := bits.TrailingZeros32(k) & 31
			if s := w.blk.im.m.tex.Find(w.u64(in.a)[i]); s != nil && (s.Kind() == want || s.Kind() == texture.IsObject && object) {
				r |= 1 << i
			}
		}
		w.setPred(in.d, r, m)
	}
	return nil
}
