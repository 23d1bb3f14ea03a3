package compile

import (
	"fmt"
	"slices"
	"strings"

	"github.com/heddle-sim/heddle/internal/compile/ir"
	"github.com/heddle-sim/heddle/internal/isa/ptx"
)

// This file: matrix products, and loads of their fragments.

// words are the registers of a vector of elements of 32 or 64 bits.
func (b *builder) words(o *ptx.Operand) ir.Arg {
	var list []*ir.Value
	for _, e := range elements(o) {
		for n := range b.wordsIn(e) {
			list = append(list, b.value(b.source(e, map[int]ptx.Type{1: "b32", 2: "b64"}[b.wordsIn(e)], n)))
		}
	}
	return ir.R(list...)
}

// wordsIn is how many registers an element has.
func (b *builder) wordsIn(e *ptx.Operand) int {
	switch {
	case e.Kind == ptx.OpReg && e.Var.Type.Bits() == 64:
		return 2
	case e.Kind == ptx.OpReg && e.Var.Type.Bits() != 32:
		stop(b.inst.FullName(), notYet)
	}
	return 1
}

// results are new values for a vector of elements of 32 or 64 bits.
func (b *builder) results(o *ptx.Operand) []*ir.Value {
	var list []*ir.Value
	for _, e := range elements(o) {
		list = append(list, b.fresh(b.wordsIn(e))...)
	}
	return list
}

func (b *builder) assignAll(o *ptx.Operand, list []*ir.Value) {
	for _, e := range elements(o) {
		for n := range b.wordsIn(e) {
			b.assign(e, n, list[n])
		}
		list = list[b.wordsIn(e):]
	}
}

// moveMatrix is movmatrix.
func (b *builder) moveMatrix() {
	in := b.inst
	d := b.f.NewValue(ir.GPR)
	b.emit("MOVM.16.MT88", ir.D(d), ir.R(b.value(b.source(&in.Args[1], "b32", 0))))
	b.assign(&in.Args[0], 0, d)
}

// loadMatrix is ldmatrix.
func (b *builder) loadMatrix() {
	in := b.inst
	s, sub := in.Space()
	n := len(elements(&in.Args[0]))
	if s != ptx.SpaceShared && s != ptx.SpaceNone || sub == "cluster" || !in.Has("m8n8") || !in.Has("b16") {
		stop(in.FullName(), notYet)
	}
	name := "LDSM.16.M88"
	if in.Has("trans") {
		name = "LDSM.16.MT88"
	}
	if n > 1 {
		name += fmt.Sprintf(".%d", n)
	}
	at := b.address(&in.Args[1], false)
	if s == ptx.SpaceNone { // it has to lie in shared memory
		if in.Args[1].List[0].Kind != ptx.OpReg {
			stop(in.FullName(), "of an address that is not in a register "+notYet)
		}
		at.Vals[0] = b.near(ptx.SpaceShared, ir.R(at.Vals[0]))
	}
	d := b.results(&in.Args[0])
	b.emit(name, ir.D(d...), at)
	b.assignAll(&in.Args[0], d)
}

// product is mma.
func (b *builder) product() {
	in := b.inst
	name := productName(in.Mods)
	if name == "" {
		stop(in.FullName(), notYet)
	}
	if ir.Base(name) == "QMMA" && b.mod.arch < 89 {
		stop(in.FullName(), fmt.Sprintf("needs %s, which %v does not have", name, b.mod.arch))
	}
	d := b.results(&in.Args[0])
	x, y, z := b.words(&in.Args[1]), b.words(&in.Args[2]), b.words(&in.Args[3])
	var places []ir.Arg // of a sparse A's elements
	if len(in.Args) > 4 {
		places = []ir.Arg{ir.R(b.value(b.source(&in.Args[4], "b32", 0))), ir.T(fmt.Sprintf("%#x", in.Args[5].Imm.Bits))}
	}
	b.multiply(name, d, x.Vals, y.Vals, z.Vals, places...)
	b.assignAll(&in.Args[0], d)
}

// productShapes are the shapes of the machine's matrix products by the bits of an element; those of sparse ones have
// a minus before the bits.
var productShapes = map[string]string{
	"16": "m16n8k8 m16n8k16", "32": "m16n8k4 m16n8k8", "64": "m8n8k4", "8": "m8n8k16 m16n8k16 m16n8k32", "4": "m8n8k32 m16n8k32 m16n8k64", "1": "m8n8k128 m16n8k128 m16n8k256",
	"-16": "m16n8k32", "-8": "m16n8k64", "f8": "m16n8k32",
}

// productName is the machine's instruction for mma with these modifiers, "" if there is none.
func productName(mods []string) string {
	var shape, sparse, sat, popc string
	var types []string
	for _, m := range mods {
		switch {
		case m == "sync", m == "aligned", m == "row", m == "col", m == "popc", m == "rn":
		case m == "sp", m == "sp::ordered_metadata":
			sparse = "-"
		case m == "satfinite":
			sat = ".SAT"
		case m == "xor", m == "and":
			popc = "." + strings.ToUpper(m) + ".POPC"
		case m[0] == 'm' && shape == "":
			shape = m
		default:
			types = append(types, m)
		}
	}
	if len(types) != 4 || types[0] != types[3] || sat != "" && types[0] != "s32" {
		return ""
	}
	d, a, b := types[0], types[1], types[2]
	bits := strings.TrimLeft(a, "subftn")
	if a == "tf32" {
		bits = "32"
	} else if a == "e4m3" || a == "e5m2" {
		bits = "f8"
	}
	if shape == "" || !slices.Contains(strings.Fields(productShapes[sparse+bits]), shape) {
		return ""
	}
	size := strings.NewReplacer("m", "", "n", "", "k", "").Replace(shape)
	types = []string{strings.ToUpper(a), strings.ToUpper(b)}
	name := ""
	switch {
	case a == "f64":
		return "DMMA." + size
	case a == "b1":
		return "BMMA." + size + popc
	case d == "s32":
		name = "IMMA."
	case bits == "f8":
		if name = "QMMA."; d != "f32" {
			return ""
		}
	default:
		if name = "HMMA."; a == "f16" {
			types = nil
		} else {
			types = types[:1]
		}
		types = append([]string{strings.ToUpper(d)}, types...)
	}
	if sparse != "" {
		name += "SP."
	}
	if bits == "f8" {
		size += ".F32"
	}
	return name + size + "." + strings.Join(types, ".") + sat
}

// multiply is a matrix product. On sm_75 those of integers have eight rows: one of 16 is two, whose rows are in
// registers of their own.
func (b *builder) multiply(name string, d, x, y, z []*ir.Value, places ...ir.Arg) {
	if half, ok := strings.CutPrefix(name, "IMMA.16816"); ok && b.mod.turing() {
		for i := range 2 {
			n := len(d) / 2
			b.multiply("IMMA.8816"+half, d[i*n:(i+1)*n], x[i:i+1], y, z[i*n:(i+1)*n])
		}
		return
	}
	p, q := ir.R(slices.Clone(x)...), ir.R(slices.Clone(y)...)
	if base := ir.Base(name); base == "IMMA" || base == "BMMA" {
		p.Suffix, q.Suffix = "ROW", "COL"
	}
	b.emit(name, append([]ir.Arg{ir.D(slices.Clone(d)...), p, q, ir.R(slices.Clone(z)...)}, places...)...)
}
