package compile

import (
	"slices"

	"github.com/heddle-sim/heddle/internal/compile/ir"
	"github.com/heddle-sim/heddle/internal/isa/ptx"
)

// This file: surfaces: bytes that are loaded and stored, and texels that are stored.

// outside are what accesses outside of a surface do: the machine's names of PTX's. A trap is the default of PTX.
func outside(in *ptx.Inst) string {
	switch {
	case in.Has("clamp"):
		return ""
	case in.Has("zero"):
		return ".IGN"
	}
	return ".TRAP"
}

// surfaceShapes are the machine's names of the shapes that surfaces may have.
var surfaceShapes = map[string]string{"1D": "1D", "2D": "2D", "3D": "3D", "ARRAY_1D": "1D_ARRAY", "ARRAY_2D": "2D_ARRAY"}

// surface is suld.b, sust.b and sust.p.
func (b *builder) surface() {
	in := b.inst
	addr, data := &in.Args[0], &in.Args[len(in.Args)-1]
	if in.Op == "suld" {
		addr, data = data, addr
	}
	t := b.typeOf()
	list := elements(data)
	x := b.accessed(addr)
	shape, bytes := surfaceShapes[x.name], t.Bytes()*len(list)
	formatted := in.Has("p")
	if shape == "" || x.sample || len(in.Args) != 2 || bytes > 16 || formatted && (in.Op == "suld" || t != "b32" && t != "f32" || len(list) == 3) {
		stop(in.FullName(), notYet)
	}
	at := b.together(slices.Concat(x.coord, x.layerAt))
	at.Kind, at.Suffix = ir.Mem, "E" // of registers of 32 bits
	handle := ir.R(b.value(x.handle))
	switch {
	case in.Op == "suld":
		var words []*ir.Value
		for range max(1, bytes/4) {
			words = append(words, b.f.NewValue(ir.GPR))
		}
		b.effect("SULD.D.BA."+shape+sizeOf(bytes, t.Signed())+".STRONG.SM"+outside(in), ir.D(words...), at, handle)
		b.spread(list, words, t)
	case formatted:
		channels := []string{1: ".R", 2: ".RG", 4: ""}[len(list)]
		b.effect("SUST.P."+shape+".STRONG.SM"+channels+outside(in), at, b.gather(list, t), handle)
	default:
		b.effect("SUST.D.BA."+shape+sizeOf(bytes, false)+".STRONG.SM"+outside(in), at, b.gather(list, t), handle)
	}
}
