package compile

import (
	"fmt"
	"slices"

	"github.com/heddle-sim/heddle/internal/compile/ir"
	"github.com/heddle-sim/heddle/internal/isa/ptx"
)

// This file: textures that are read by a handle in a register. The operands are those that exec/sass knows.

// geometry is a texture's shape: its name in the machine's text, its coordinates, and what comes before them in
// PTX: a layer, a sample.
type geometry struct {
	name          string
	coords        int
	layer, sample bool
}

var geometries = map[string]geometry{
	"1d": {name: "1D", coords: 1}, "2d": {name: "2D", coords: 2}, "3d": {name: "3D", coords: 3}, "cube": {name: "CUBE", coords: 3},
	"a1d": {name: "ARRAY_1D", coords: 1, layer: true}, "a2d": {name: "ARRAY_2D", coords: 2, layer: true}, "acube": {name: "ARRAY_CUBE", coords: 3, layer: true},
	"2dms": {name: "2D", coords: 2, sample: true}, "a2dms": {name: "ARRAY_2D", coords: 2, layer: true, sample: true},
}

// geometryOf is the shape that an instruction names.
func geometryOf(in *ptx.Inst) (g geometry) {
	for _, m := range in.Mods {
		if x, ok := geometries[m]; ok {
			g = x
		}
	}
	return g
}

// noLevel is the level of an access without one: so low that no bias lifts it (measured on a compiled kernel,
// as exec/sass).
const noLevel = 0xc2000000

// texels is an access to a texture or a surface: its operands, nil for those that it lacks.
type texels struct {
	geometry
	handle           ir.Arg
	coord            []ir.Arg
	layerAt, number  []ir.Arg // the layer, and the sample
	level            []ir.Arg
	ddx, ddy         []ir.Arg
	offset, compared []ir.Arg // the offset in one word
}

// accessed begins an access: [handle, {coordinates}].
func (b *builder) accessed(a *ptx.Operand) *texels {
	in := b.inst
	x := &texels{geometry: geometryOf(in)}
	if x.name == "" || a.Kind != ptx.OpTexAddr || len(a.List) != 2 || a.List[0].Kind != ptx.OpReg && a.List[0].Kind != ptx.OpSym {
		stop(in.FullName(), "with these operands "+notYet)
	}
	x.handle = b.source(&a.List[0], "u64", 0)
	at := elements(&a.List[1])
	next := func() []ir.Arg {
		if len(at) == 0 {
			stop(in.FullName(), "with too few coordinates "+notYet)
		}
		o := at[0]
		at = at[1:]
		return []ir.Arg{b.source(o, "b32", 0)}
	}
	if x.layer {
		x.layerAt = next()
	}
	if x.sample {
		x.number = next()
	}
	for range x.coords {
		x.coord = append(x.coord, next()...)
	}
	return x
}

// texture is tex and tld4 in all forms that the machine has, but with samplers of their own.
func (b *builder) texture() {
	in := b.inst
	ts := in.Types()
	gather := ""
	for _, m := range in.Mods {
		if in.Op == "tld4" && len(m) == 1 {
			gather = map[string]string{"r": ".R", "g": ".G", "b": ".B", "a": ".A"}[m]
		}
	}
	fetch := len(ts) == 2 && ts[1] == "s32"
	if !in.Has("v4") || in.Has("base") || len(ts) != 2 || ts[0].Bits() != 32 || !fetch && ts[1] != "f32" || in.Args[0].Kind == ptx.OpPair || in.Op == "tld4" && (gather == "" || fetch) {
		stop(in.FullName(), notYet)
	}
	x := b.accessed(&in.Args[1])
	b.details(x, ts[1], map[bool]uint{true: 8, false: 4}[in.Op == "tld4"])
	name, first, second := "", slices.Concat(x.layerAt, x.coord), []ir.Arg{x.handle}
	switch {
	case in.Op == "tld4":
		name = "TLD4" + gather + ".B"
	case in.Has("grad"):
		b.gradients(x)
		return
	case fetch && x.level != nil:
		name = "TLD.B.LL"
	case fetch:
		name = "TLD.B.LZ"
	default:
		name = "TEX.B.LL"
		if x.level == nil {
			x.level = []ir.Arg{ir.I(noLevel)}
		}
		if x.name == "1D" { // as one of two dimensions
			x.name, first = "2D", append(first, ir.RZ())
		}
	}
	if x.offset != nil {
		name += ".AOFFI"
	}
	if x.compared != nil {
		name += ".DC"
	}
	if x.sample {
		name += ".MS"
	}
	b.readTexels(name, first, slices.Concat(second, x.number, x.level, x.offset, x.compared), x.name)
}

// details are the operands after the address: a level or two derivatives, an offset, of bits for each coordinate, and
// a depth to compare with.
func (b *builder) details(x *texels, t ptx.Type, bits uint) {
	in := b.inst
	rest := in.Args[2:]
	vector := func(o *ptx.Operand, t ptx.Type) (list []ir.Arg) {
		for i, e := range elements(o) {
			if i < x.coords {
				list = append(list, b.source(e, t, 0))
			}
		}
		if len(list) < x.coords {
			stop(in.FullName(), "with these operands "+notYet)
		}
		return list
	}
	switch {
	case in.Has("level") && len(rest) > 0:
		x.level, rest = []ir.Arg{b.source(&rest[0], t, 0)}, rest[1:]
	case in.Has("grad") && len(rest) > 1:
		x.ddx, x.ddy, rest = vector(&rest[0], "f32"), vector(&rest[1], "f32"), rest[2:]
	}
	if len(rest) > 0 && (len(rest) > 1 || offsets(&rest[0], x.coords)) {
		v := ir.RZ()
		for i, o := range vector(&rest[0], "s32") {
			v = b.putField(v, o, bits*uint(i), bits)
		}
		x.offset, rest = []ir.Arg{v}, rest[1:]
	}
	if len(rest) > 0 {
		x.compared, rest = []ir.Arg{b.source(&rest[0], "f32", 0)}, rest[1:]
	}
	if len(rest) > 0 {
		stop(in.FullName(), "with these operands "+notYet)
	}
}

// offsets reports whether the last operand of an access to n dimensions is an offset, and not a depth.
func offsets(o *ptx.Operand, n int) bool {
	switch {
	case len(elements(o)) > 1 || o.Kind == ptx.OpVec:
		return true
	case n > 1:
		return false
	case o.Kind == ptx.OpImm:
		return o.Imm.Kind == ptx.ImmInt || o.Imm.Kind == ptx.ImmUint
	}
	return o.Var == nil || o.Var.Type != "f32"
}

// putField adds the low bits of a value to a word that is zero there.
func (b *builder) putField(word, v ir.Arg, at, bits uint) ir.Arg {
	mask := uint32(1)<<bits - 1
	if v.Kind == ir.Imm && (word.Kind == ir.Imm || zero(&word)) {
		n := uint32(0)
		if word.Kind == ir.Imm {
			n = uint32(word.Imm)
		}
		return ir.I(n | uint32(v.Imm)&mask<<at)
	}
	part, sum := b.f.NewValue(ir.GPR), b.f.NewValue(ir.GPR)
	b.free("LOP3.LUT", ir.D(part), ir.R(b.value(v)), ir.I(mask), ir.RZ(), ir.T("0xc0"), ir.Pr(nil, true))
	if at == 0 {
		return ir.R(part)
	}
	b.free("LEA", ir.D(sum), ir.R(part), ir.R(b.value(word)), ir.T(fmt.Sprintf("%#x", at)))
	return ir.R(sum)
}

// gradients is tex with derivatives: by x and by y of each coordinate in turn.
func (b *builder) gradients(x *texels) {
	if x.ddx == nil || x.coords > 2 || x.sample || x.compared != nil {
		stop(b.inst.FullName(), "in this form "+notYet)
	}
	name, first := "TXD.B", append([]ir.Arg{x.handle}, x.coord...)
	switch {
	case x.offset != nil && x.layer:
		stop(b.inst.FullName(), "with a layer and an offset "+notYet)
	case x.offset != nil:
		name, first = name+".AOFFI", append(first, b.putField(ir.RZ(), x.offset[0], 16, 16))
	case x.layer:
		first = append(first, x.layerAt...)
	}
	var second []ir.Arg
	for i := range x.coords {
		second = append(second, x.ddx[i], x.ddy[i])
	}
	b.readTexels(name, first, second, x.name)
}

// readTexels reads four channels.
func (b *builder) readTexels(name string, first, second []ir.Arg, shape string) {
	d := [4]*ir.Value{}
	for i := range d {
		d[i] = b.f.NewValue(ir.GPR)
	}
	b.effect(name, ir.D(d[2], d[3]), ir.D(d[0], d[1]), b.together(first), b.together(second), ir.T(shape))
	for i, o := range elements(&b.inst.Args[0]) {
		b.assign(o, 0, d[i])
	}
}

// together are operands in neighbouring registers: of three, a fourth is anything.
func (b *builder) together(list []ir.Arg) ir.Arg {
	var vals []*ir.Value
	for _, a := range list {
		vals = append(vals, b.value(a))
	}
	if len(vals) == 3 {
		vals = append(vals, vals[2])
	}
	return ir.R(vals...)
}
