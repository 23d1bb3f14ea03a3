package compile

import (
	"github.com/heddle-sim/heddle/internal/compile/ir"
	"github.com/heddle-sim/heddle/internal/isa/ptx"
)

// This file: textures that are read by a handle in a register. The operands are those that exec/sass knows.

// geometry is a texture's shape: its name in the machine's text, its coordinates, and whether a layer
// comes before them.
type geometry struct {
	name   string
	coords int
	layer  bool
}

var geometries = map[string]geometry{
	"1d": {"1D", 1, false}, "2d": {"2D", 2, false}, "3d": {"3D", 3, false}, "a1d": {"ARRAY_1D", 1, true}, "a2d": {"ARRAY_2D", 2, true},
	"cube": {"CUBE", 3, false}, "acube": {"ARRAY_CUBE", 3, true},
}

// noLevel is the level of an access without one: so low that no bias lifts it (measured on a compiled kernel,
// as exec/sass).
const noLevel = 0xc2000000

// texture is tex with coordinates and perhaps a level.
func (b *builder) texture() {
	in := b.inst
	ts := in.Types()
	var g geometry
	for _, m := range in.Mods {
		if x, ok := geometries[m]; ok {
			g = x
		}
	}
	level := in.Has("level")
	args := 2
	if level {
		args = 3
	}
	a := &in.Args[1]
	if g.name == "" || !in.Has("v4") || len(ts) != 2 || ts[0].Bits() != 32 || len(in.Args) != args || a.Kind != ptx.OpTexAddr || len(a.List) != 2 || a.List[0].Kind != ptx.OpReg && a.List[0].Kind != ptx.OpSym {
		stop(in.FullName(), "with these operands "+notYet)
	}
	fetch := ts[1] == "s32"
	if !fetch && ts[1] != "f32" {
		stop(in.FullName(), notYet)
	}
	var first, second []ir.Arg
	for i, o := range elements(&a.List[1]) {
		if n := g.coords; i < n || g.layer && i == n {
			first = append(first, b.source(o, "b32", 0))
		}
	}
	name := "TEX.B.LL"
	if second = append(second, b.source(&a.List[0], "u64", 0)); fetch {
		name = "TLD.B.LZ"
	} else if g.name == "1D" { // as one of two dimensions
		g.name, first = "2D", append(first, ir.RZ())
	}
	switch {
	case level && fetch:
		name, second = "TLD.B.LL", append(second, b.source(&in.Args[2], "s32", 0))
	case level:
		second = append(second, b.source(&in.Args[2], "f32", 0))
	case !fetch:
		second = append(second, ir.I(noLevel))
	}
	d := [4]*ir.Value{}
	for i := range d {
		d[i] = b.f.NewValue(ir.GPR)
	}
	b.effect(name, ir.D(d[2], d[3]), ir.D(d[0], d[1]), b.together(first), b.together(second), ir.T(g.name))
	for i, o := range elements(&in.Args[0]) {
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
