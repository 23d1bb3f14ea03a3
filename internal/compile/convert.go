package compile

import (
	"slices"
	"strings"

	"github.com/heddle-sim/heddle/internal/compile/ir"
	"github.com/heddle-sim/heddle/internal/isa/ptx"
)

// This file: cvt.

// convert is cvt between the types that fit registers of 16, 32 and 64 bits.
func (b *builder) convert() {
	in := b.inst
	ts := in.Types()
	if len(ts) == 2 && !in.Has("relu") {
		_, to8 := floats8[ts[0]]
		_, from8 := floats8[ts[1]]
		switch {
		case from8 && ts[0] == "f16x2" && len(in.Args) == 2:
			b.fromFloat8(ts[1])
			return
		case to8 && in.Has("satfinite") && (ts[1] == "f16x2" && len(in.Args) == 2 || ts[1] == "f32" && len(in.Args) == 3):
			b.toFloat8(ts[0], ts[1])
			return
		}
	}
	if len(ts) != 2 || len(in.Args) > 3 || in.Has("relu") && len(in.Args) < 3 || in.Has("satfinite") {
		stop(in.FullName(), notYet)
	}
	to, from := ts[0], ts[1]
	if len(in.Args) == 3 {
		b.convertPair(to, from)
		return
	}
	if o := &in.Args[0]; !to.Integer() && o.Kind == ptx.OpReg && o.Var.Type.Bits() > to.Bits() {
		stop(in.FullName(), "to a wider register "+notYet)
	}
	switch {
	case to.Integer() && from.Integer():
		b.convertInt(to, from)
	case known(to) && known(from) && !in.Has("sat"):
		b.convertFloat(to, from)
	case to == "f32" && from == "f32":
		b.saturated()
	default:
		stop(in.FullName(), notYet)
	}
}

// known reports whether conversions from and to a type are compiled.
func known(t ptx.Type) bool {
	return t.Integer() || t == "f16" || t == "bf16" || t == "f32" || t == "f64"
}

func flush(in *ptx.Inst) string { return map[bool]string{true: ".FTZ"}[in.Has("ftz")] }

// saturated is cvt.sat.f32.f32, after rounding to an integer if it has that.
func (b *builder) saturated() {
	in := b.inst
	a, v := b.source(&in.Args[1], "f32", 0), b.f.NewValue(ir.GPR)
	if round, integral := toInteger[in.Rounding()]; integral {
		r := b.f.NewValue(ir.GPR)
		b.emit("FRND"+flush(in)+round, ir.D(r), a)
		a = ir.R(r)
	} else if in.Rounding() != "" {
		stop(in.FullName(), notYet)
	}
	b.emit("FADD"+flush(in)+".SAT", ir.D(v), a, ir.RZ())
	b.assign(&in.Args[0], 0, v)
}

// convertPair is cvt.rn.f16x2.f32 and its like.
func (b *builder) convertPair(to, from ptx.Type) {
	in := b.inst
	if from != "f32" || to != "f16x2" && to != "bf16x2" || in.Rounding() != "rn" && in.Rounding() != "rz" {
		stop(in.FullName(), notYet)
	}
	if to == "f16x2" && !in.Has("relu") {
		b.assign(&in.Args[0], 0, b.pairOfHalves(ir.R(b.value(b.source(&in.Args[1], from, 0))), b.source(&in.Args[2], from, 0), in.Rounding()))
		return
	}
	name := "F2FP"
	if in.Has("relu") {
		name += ".RELU"
	}
	if to == "bf16x2" {
		name += ".BF16"
	}
	name += ".PACK_AB"
	if in.Rounding() == "rz" {
		name += ".RZ"
	}
	v := b.f.NewValue(ir.GPR)
	b.emit(name, ir.D(v), ir.R(b.value(b.source(&in.Args[1], from, 0))), b.source(&in.Args[2], from, 0))
	b.assign(&in.Args[0], 0, v)
}

// pairOfHalves is a word with two binary32 as halves, rounded to the nearest (rn) or towards zero (rz).
func (b *builder) pairOfHalves(hi, lo ir.Arg, round string) *ir.Value {
	if b.mod.turing() { // whose compiler does not use F2FP
		l := b.half(lo, toFloat[round])
		return b.pack16(l, b.half(hi, toFloat[round]))
	}
	v := b.f.NewValue(ir.GPR)
	b.emit("F2FP.PACK_AB"+toFloat[round], ir.D(v), hi, lo)
	return v
}

// half is F2F from binary32.
func (b *builder) half(a ir.Arg, round string) ir.Arg {
	v := b.f.NewValue(ir.GPR)
	b.emit("F2F.F16.F32"+round, ir.D(v), a)
	return ir.R(v)
}

// convertInt is a conversion between integers.
func (b *builder) convertInt(to, from ptx.Type) {
	in := b.inst
	if in.Has("sat") {
		stop(in.FullName(), notYet)
	}
	d, a := &in.Args[0], &in.Args[1]
	lo := b.source(a, from, 0)
	if n := from.Bits(); n < 32 {
		lo = b.extended(a, from, n, from.Signed())
	}
	if n := to.Bits(); n < 32 && (n < from.Bits() || to.Signed() != from.Signed()) {
		lo = b.extend(lo, n, to.Signed())
	}
	v := b.value(lo)
	b.assign(d, 0, v)
	if width(d.Var.Type) < 2 {
		return
	}
	var hi *ir.Value
	switch signed := from.Signed(); {
	case from.Bits() == 64 && to.Bits() == 64:
		hi = b.value(b.source(a, from, 1))
	case to.Bits() < 64:
		signed = to.Signed()
		fallthrough
	default:
		hi = b.f.NewValue(ir.GPR)
		if signed {
			b.emit("SHF.R.S32.HI", ir.D(hi), ir.RZ(), ir.I(31), ir.R(v))
		} else {
			b.emit("MOV", ir.D(hi), ir.RZ())
		}
	}
	b.assign(d, 1, hi)
}

// extend extends the low bits of a register.
func (b *builder) extend(a ir.Arg, n int, signed bool) ir.Arg {
	v := b.f.NewValue(ir.GPR)
	sel := ir.I(selector(n, 0, signed))
	b.emit("PRMT", ir.D(v), ir.R(b.value(a)), sel, ir.RZ())
	return ir.R(v)
}

// roundings of conversions to integers and, after them, between floats.
var (
	toInteger = map[string]string{"rni": "", "rmi": ".FLOOR", "rpi": ".CEIL", "rzi": ".TRUNC"}
	toFloat   = map[string]string{"": "", "rn": "", "rm": ".RM", "rp": ".RP", "rz": ".RZ"}
)

// machineType is a type in the machine's mnemonics of conversions.
func machineType(t ptx.Type) string {
	if t == "s32" {
		return ""
	}
	return "." + strings.ToUpper(string(t))
}

// convertFloat is a conversion from or to a float.
func (b *builder) convertFloat(to, from ptx.Type) {
	in := b.inst
	round, integral := toInteger[in.Rounding()]
	if !integral {
		var ok bool
		if round, ok = toFloat[in.Rounding()]; !ok {
			stop(in.FullName(), notYet)
		}
	}
	a := b.tuple(&in.Args[1], from, width(from))
	if n := from.Bits(); from.Integer() && n < 32 {
		a = b.extended(&in.Args[1], from, n, from.Signed())
		from = map[bool]ptx.Type{true: "s32", false: "u32"}[from.Signed()]
	}
	var d []*ir.Value
	for range width(to) {
		d = append(d, b.f.NewValue(ir.GPR))
	}
	switch {
	case from == "bf16" || to == "bf16" && from != "f32":
		stop(in.FullName(), notYet)
	case to.Integer():
		b.toInteger(d, a, to, from, round)
	case from.Integer():
		b.fromInteger(d, a, to, from, round)
	case to == from && integral:
		b.emit("FRND"+flush(in)+map[ptx.Type]string{"f16": ".F16", "f64": ".F64"}[from]+round, ir.D(d...), a)
	case integral:
		stop(in.FullName(), notYet)
	case to == "f32" && from == "f16":
		a.Suffix = "H0_H0"
		b.emit("HADD2.F32", ir.D(d...), ir.Arg{Kind: ir.Reg, Vals: []*ir.Value{nil}, Neg: true}, a)
	case to == "f16" && from == "f32" && (round == "" || round == ".RZ") && !b.mod.turing(): // whose compiler does not use it
		b.emit("F2FP.PACK_AB"+round, ir.D(d...), ir.RZ(), a)
	case to == "bf16" && from == "f32" && !in.Has("ftz") && (round == "" || round == ".RZ"):
		b.emit("F2FP.BF16.PACK_AB"+round, ir.D(d...), ir.RZ(), a)
	case to == "bf16":
		stop(in.FullName(), notYet)
	case to == from && (in.Has("ftz") || in.Has("sat") || round != ""):
		stop(in.FullName(), notYet)
	case to == from:
		for n, v := range d {
			b.emit("MOV", ir.D(v), b.source(&in.Args[1], from, n))
		}
	default:
		b.emit("F2F"+flush(in)+machineType(to)+machineType(from)+round, ir.D(d...), a)
	}
	if len(d) == 1 && to.Integer() {
		b.assignWide(&in.Args[0], d[0], to.Signed())
		return
	}
	for i, v := range d {
		b.assign(&in.Args[0], i, v)
	}
}

// toInteger is F2I: it saturates, as PTX does.
func (b *builder) toInteger(d []*ir.Value, a ir.Arg, to, from ptx.Type, round string) {
	name := "F2I" + flush(b.inst) + machineType(to)
	if from != "f32" {
		name += machineType(from)
	}
	// A NaN becomes 0 in 32 bits, and the least number in 64 and from binary64.
	b.emit(name+round+map[bool]string{true: ".NTZ"}[from != "f64" && to.Bits() <= 32], ir.D(slices.Clone(d)...), a)
	if from == "f64" && to.Bits() < 32 && to.Signed() { // the machine does not extend that
		d[0] = b.extend(ir.R(d[0]), to.Bits(), true).Vals[0]
	}
}

// fromInteger is I2F, or I2FP, which has a fixed latency.
func (b *builder) fromInteger(d []*ir.Value, a ir.Arg, to, from ptx.Type, round string) {
	if to == "f32" && from.Bits() == 32 && round == "" && b.mod.arch >= 80 {
		b.emit("I2FP.F32."+strings.ToUpper(string(from)), ir.D(d...), a)
		return
	}
	name := "I2F"
	if to != "f32" {
		name += machineType(to)
	}
	b.emit(name+machineType(from)+round, ir.D(d...), a)
}
