package compile

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/heddle-sim/heddle/internal/compile/ir"
	"github.com/heddle-sim/heddle/internal/isa/ptx"
)

// This file: matrix products, and loads of their fragments.

// storedBits is the size of an element in memory and in fragments.
func storedBits(t ptx.Type) int {
	if t == "tf32" {
		return 32
	}
	return t.Bits()
}

// ofElement is the type of a register with elements of a type, and how many words it has.
func ofElement(t ptx.Type) (ptx.Type, int) {
	switch t {
	case "f64":
		return t, 2
	case "f32":
		return t, 1
	}
	return "b32", 1
}

// words are the registers of a vector with elements of a type.
func (b *builder) words(o *ptx.Operand, t ptx.Type) ir.Arg {
	var list []*ir.Value
	t, n := ofElement(t)
	for _, e := range elements(o) {
		if e.Kind == ptx.OpReg && e.Var.Type.Bits() != 32*n {
			stop(b.inst.FullName(), notYet)
		}
		for part := range n {
			list = append(list, b.value(b.source(e, t, part)))
		}
	}
	return ir.R(list...)
}

// results are new values for a vector with elements of a type.
func (b *builder) results(o *ptx.Operand, t ptx.Type) []*ir.Value {
	_, n := ofElement(t)
	return b.fresh(n * len(elements(o)))
}

func (b *builder) assignAll(o *ptx.Operand, list []*ir.Value, t ptx.Type) {
	_, n := ofElement(t)
	for i, e := range elements(o) {
		for part := range n {
			b.assign(e, part, list[n*i+part])
		}
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
	d := b.results(&in.Args[0], "b32")
	b.emit(name, ir.D(d...), at)
	b.assignAll(&in.Args[0], d, "b32")
}

// product is mma.
func (b *builder) product() {
	in := b.inst
	name, sum := productName(in.Mods)
	if name == "" {
		stop(in.FullName(), notYet)
	}
	if ir.Base(name) == "QMMA" && b.mod.arch < 89 {
		stop(in.FullName(), fmt.Sprintf("needs %s, which %v does not have", name, b.mod.arch))
	}
	ts := in.Types()
	x, y, z := b.words(&in.Args[1], ts[1]), b.words(&in.Args[2], ts[2]), b.sums(&in.Args[3], ts[3], sum)
	d := b.fresh(len(z))
	var places []ir.Arg // of a sparse A's elements
	if len(in.Args) > 4 {
		if sel := in.Args[5].Imm.Bits; sel >= 2 || sel == 1 && ts[1].Bits() == 8 { // pairs of lanes have those of halves, all those of bytes
			stop(in.FullName(), fmt.Sprintf("with the selector %d cannot be compiled", int64(sel)))
		}
		places = []ir.Arg{ir.R(b.value(b.source(&in.Args[4], "b32", 0))), ir.T(fmt.Sprintf("%#x", in.Args[5].Imm.Bits))}
	}
	b.multiply(name, d, x.Vals, y.Vals, z, places...)
	b.assignSums(&in.Args[0], d, sum, ts[0])
}

// sums are the words of a product's C of a type as those of the type in which the machine adds: where only one of C
// and D has halves, that is binary32.
func (b *builder) sums(o *ptx.Operand, t, sum ptx.Type) []*ir.Value {
	list := b.words(o, t).Vals
	if t == sum {
		return list
	}
	var wide []*ir.Value
	for _, v := range list {
		for _, half := range []string{"H0_H0", "H1_H1"} {
			w := b.f.NewValue(ir.GPR)
			b.emit("HADD2.F32", ir.D(w), ir.Arg{Kind: ir.Reg, Vals: []*ir.Value{nil}, Neg: true}, ir.Arg{Kind: ir.Reg, Vals: []*ir.Value{v}, Suffix: half})
			wide = append(wide, w)
		}
	}
	return wide
}

// assignSums assigns D of a type from words of the type in which the machine adds.
func (b *builder) assignSums(o *ptx.Operand, list []*ir.Value, sum, t ptx.Type) {
	if t != sum {
		var halves []*ir.Value
		for ; len(list) > 1; list = list[2:] {
			halves = append(halves, b.pairOfHalves(ir.R(list[1]), ir.R(list[0]), "rn"))
		}
		list = halves
	}
	b.assignAll(o, list, t)
}

// productShapes are the shapes of the machine's matrix products by the bits of an element; those of sparse ones have
// a minus before the bits.
var productShapes = map[string]string{
	"16": "m16n8k8 m16n8k16", "32": "m16n8k4 m16n8k8", "64": "m8n8k4", "8": "m8n8k16 m16n8k16 m16n8k32", "4": "m8n8k32 m16n8k32 m16n8k64", "1": "m8n8k128 m16n8k128 m16n8k256",
	"-16": "m16n8k32", "-8": "m16n8k64", "f8": "m16n8k32",
}

// productName is the machine's instruction for mma with these modifiers, "" if there is none, and the type of its sums.
func productName(mods []string) (name string, sum ptx.Type) {
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
	if len(types) != 4 || sat != "" && types[0] != "s32" {
		return "", ""
	}
	d, a, b := types[0], types[1], types[2]
	if d != types[3] {
		if a != "f16" {
			return "", ""
		}
		d = "f32"
	}
	bits := strconv.Itoa(storedBits(ptx.Type(a)))
	if a == "e4m3" || a == "e5m2" {
		bits = "f8"
	}
	if shape == "" || !slices.Contains(strings.Fields(productShapes[sparse+bits]), shape) {
		return "", ""
	}
	size := strings.NewReplacer("m", "", "n", "", "k", "").Replace(shape)
	types = []string{strings.ToUpper(a), strings.ToUpper(b)}
	switch {
	case a == "f64":
		return "DMMA." + size, "f64"
	case a == "b1":
		return "BMMA." + size + popc, "s32"
	case d == "s32":
		name = "IMMA."
	case bits == "f8":
		if name = "QMMA."; d != "f32" {
			return "", ""
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
	return name + size + "." + strings.Join(types, ".") + sat, ptx.Type(d)
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
