package compile

import (
	"fmt"
	"slices"
	"strings"

	"github.com/heddle-sim/heddle/internal/compile/ir"
	"github.com/heddle-sim/heddle/internal/isa/ptx"
)

// This file: matrix products, and loads of their fragments.

// words are the registers of a vector of 32-bit elements.
func (b *builder) words(o *ptx.Operand) ir.Arg {
	var list []*ir.Value
	for _, e := range elements(o) {
		if e.Kind == ptx.OpReg && e.Var.Type.Bits() != 32 {
			stop(b.inst.FullName(), notYet)
		}
		list = append(list, b.value(b.source(e, "b32", 0)))
	}
	return ir.R(list...)
}

// results are new values for a vector of 32-bit elements.
func (b *builder) results(o *ptx.Operand) []*ir.Value {
	var list []*ir.Value
	for range elements(o) {
		list = append(list, b.f.NewValue(ir.GPR))
	}
	return list
}

func (b *builder) assignAll(o *ptx.Operand, list []*ir.Value) {
	for i, e := range elements(o) {
		b.assign(e, 0, list[i])
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

// products are the machine's matrix products by shape and types.
var products = map[string]string{
	"m16n8k16.row.col.f32.f16.f16.f32": "HMMA.16816.F32", "m16n8k16.row.col.f16.f16.f16.f16": "HMMA.16816.F16",
	"m16n8k8.row.col.f32.f16.f16.f32": "HMMA.1688.F32", "m16n8k8.row.col.f16.f16.f16.f16": "HMMA.1688.F16",
	"m16n8k16.row.col.f32.bf16.bf16.f32": "HMMA.16816.F32.BF16", "m16n8k8.row.col.f32.tf32.tf32.f32": "HMMA.1688.F32.TF32",
	"m16n8k32.row.col.s32.s8.s8.s32": "IMMA.16832.S8.S8", "m16n8k32.row.col.s32.u8.u8.s32": "IMMA.16832.U8.U8",
}

// product is mma.
func (b *builder) product() {
	in := b.inst
	shape := ""
	for _, m := range in.Mods {
		if m != "sync" && m != "aligned" {
			shape += "." + m
		}
	}
	name := ""
	if shape != "" {
		name = products[shape[1:]]
	}
	if name == "" {
		stop(in.FullName(), notYet)
	}
	d := b.results(&in.Args[0])
	x, y, z := b.words(&in.Args[1]), b.words(&in.Args[2]), b.words(&in.Args[3])
	b.multiply(name, d, x.Vals, y.Vals, z.Vals)
	b.assignAll(&in.Args[0], d)
}

// multiply is a matrix product. On sm_75 those of integers have eight rows: one of 16 is two, whose rows are in
// registers of their own.
func (b *builder) multiply(name string, d, x, y, z []*ir.Value) {
	if half, ok := strings.CutPrefix(name, "IMMA.16816"); ok && b.mod.turing() {
		for i := range 2 {
			n := len(d) / 2
			b.multiply("IMMA.8816"+half, d[i*n:(i+1)*n], x[i:i+1], y, z[i*n:(i+1)*n])
		}
		return
	}
	p, q := ir.R(slices.Clone(x)...), ir.R(slices.Clone(y)...)
	if ir.Base(name) == "IMMA" {
		p.Suffix, q.Suffix = "ROW", "COL"
	}
	b.emit(name, ir.D(slices.Clone(d)...), p, q, ir.R(slices.Clone(z)...))
}
