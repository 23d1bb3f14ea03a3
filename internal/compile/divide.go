package compile

import (
	"strings"

	"github.com/heddle-sim/heddle/internal/compile/ir"
	"github.com/heddle-sim/heddle/internal/isa/ptx"
)

// This file: divisions and roots that are rounded exactly. What is common goes straight on; what the
// approximation cannot do (subnormal, huge and special numbers) goes another way, in binary64, whose
// range and precision suffice.

// divide is div and rcp.
func (b *builder) divide() {
	in := b.inst
	reciprocal, exact := in.Op == "rcp", directed[in.Rounding()]
	switch t := b.typeOf(); {
	case t == "f32" && exact.known:
		b.quotient(reciprocal, in.Has("ftz"), exact)
	case t == "f64" && exact.known:
		b.quotient64(reciprocal, exact)
	default:
		stop(in.FullName(), notYet)
	}
}

// flushed is an operand with subnormals as zero if ftz is set.
func (b *builder) flushed(a ir.Arg, ftz bool) *ir.Value {
	if !ftz {
		return b.value(a)
	}
	v := b.f.NewValue(ir.GPR)
	b.emit("FMUL.FTZ", ir.D(v), a, ir.I(one32))
	return v
}

// Bits of floats.
const one32 = 0x3f800000

// quotient is div and rcp of binary32. To the nearest it is the quotient by an approximate reciprocal,
// corrected by the remainder, which is exact where FCHK does not object. Otherwise it is that of binary64,
// which is never so close to a number of binary32 that its own rounding could matter.
func (b *builder) quotient(reciprocal, ftz bool, r rounding) {
	in, g := b.inst, b.guard
	b.guard = ir.Guard{}
	n, d := ir.R(b.value(ir.I(one32))), &in.Args[1]
	if !reciprocal {
		n, d = ir.R(b.flushed(b.source(&in.Args[1], "f32", 0), ftz)), &in.Args[2]
	}
	x := b.applying(map[string]*ir.Value{"n": n.Vals[0], "m": b.flushed(b.source(d, "f32", 0), ftz)})
	wide := func() []*ir.Value {
		x.reciprocal64("n", "m")
		x.text("DMUL v0, w0, w9 ; DFMA v1, -w1, v0, w0 ; DFMA v2, v1, w9, v0 ; DMUL v3, w0, w8")
		x.text("DSETP.NAN.AND p1, PT, v2, v2, PT ; FSETP.EQ.AND p2, PT, n, RZ, PT ; PLOP3.LUT p3, PT, p1, p2, PT, 0xa8, 0x0")
		x.text("F2F.F32.F64" + r.mod + " t6, v2 ; F2F.F32.F64" + r.mod + " t7, v3 ; SEL t8, t7, t6, p3")
		return []*ir.Value{x.names["t8"]}
	}
	if r.mod != "" {
		b.give(wide()[0], ftz, g)
		return
	}
	x.text("MUFU.RCP t0, m ; FFMA t1, -m, t0, 0x3f800000 ; FFMA t2, t0, t1, t0 ; FFMA t3, n, t2, RZ ; FFMA t4, -m, t3, n ; FFMA t5, t2, t4, t3 ; FCHK p0, n, m")
	list := b.aside(x.names["p0"], []*ir.Value{x.names["t5"]}, wide)
	b.give(list[0], ftz, g)
}

// reciprocal64 makes w0 and w1 the operands in binary64, w8 the approximate reciprocal of the second,
// and w9 the exact one: three steps of Newton's method make it exact to the last bits, and then the
// remainder corrects the quotient (Markstein).
func (x *applying) reciprocal64(n, d string) {
	x.text("F2F.F64.F32 w0, " + n + " ; F2F.F64.F32 w1, " + d)
	x.part("reciprocal64")
}

// root is sqrt. Of binary32 it is, to the nearest, an approximation, corrected by the remainder; small numbers
// are scaled, and zero, infinity, negative numbers and what is no number have the machine's own root. Otherwise
// it is that of binary64, as quotients are.
func (b *builder) root() {
	in, g := b.inst, b.guard
	r := directed[in.Rounding()]
	switch t := b.typeOf(); {
	case t == "f64" && r.known:
		b.root64(r)
		return
	case t != "f32" || !r.known:
		stop(in.FullName(), notYet)
	}
	ftz := in.Has("ftz")
	b.guard = ir.Guard{}
	x := b.applying(map[string]*ir.Value{"m": b.flushed(b.source(&in.Args[1], "f32", 0), ftz)})
	const special = "MUFU.SQRT t7, m ; FSETP.LT.AND p1, PT, m, RZ, PT ; MOV t9, 0x7fffffff ; SEL t8, t9, t7, p1"
	if r.mod != "" {
		x.text("F2F.F64.F32 w0, m")
		x.part("trustedRoot64")
		x.text("F2F.F32.F64" + r.mod + " t6, v4 ; " + special)
		x.text("FSETP.GT.AND p2, PT, m, RZ, PT ; FSETP.LT.AND p3, PT, m, 0x7f800000, p2 ; SEL t5, t6, t8, p3")
		b.give(x.names["t5"], ftz, g)
		return
	}
	const steps = "MUFU.RSQ t1, X ; FMUL t2, X, t1 ; FMUL t3, t1, 0x3f000000 ; FFMA t4, -t2, t2, X ; FFMA t5, t4, t3, t2"
	x.text("IADD3 t0, m, 0xf3000000, RZ ; ISETP.GT.U32.AND p0, PT, t0, 0x727fffff, PT")
	x.text(strings.ReplaceAll(steps, "X", "m"))
	list := b.aside(x.names["p0"], []*ir.Value{x.names["t5"]}, func() []*ir.Value {
		x.text("FMUL t0, m, 0x5f800000") // 2^64
		x.text(strings.ReplaceAll(steps, "X", "t0"))
		x.text("FMUL t6, t5, 0x2f800000 ; " + special) // 2^-32
		x.text("FSETP.GT.AND p2, PT, m, RZ, PT ; FSETP.LT.AND p3, PT, m, 0x0d000000, p2 ; SEL u0, t6, t8, p3")
		return []*ir.Value{x.names["u0"]}
	})
	b.give(list[0], ftz, g)
}

// give ends an instruction whose steps run without its guard: its result, flushed if asked for, is
// assigned under the guard.
func (b *builder) give(v *ir.Value, ftz bool, g ir.Guard) {
	if ftz {
		v = b.flushed(ir.R(v), true)
	}
	b.guard = g
	b.assign(&b.inst.Args[0], 0, v)
}

// field is a place or a width of bfe and bfi: their lowest eight bits count.
func (b *builder) field(o *ptx.Operand) ir.Arg {
	a := b.source(o, "u32", 0)
	if a.Kind == ir.Imm {
		return ir.I(uint32(a.Imm) & 0xff)
	}
	v := b.f.NewValue(ir.GPR)
	b.emit("LOP3.LUT", ir.D(v), a, ir.I(0xff), ir.RZ(), ir.T("0xc0"), ir.Pr(nil, true))
	return ir.R(v)
}

// bfe extracts a field of bits.
func (b *builder) bfe() {
	in := b.inst
	t := b.typeOf()
	if t.Bits() != 32 {
		stop(in.FullName(), notYet)
	}
	a, at, n := b.source(&in.Args[1], t, 0), b.field(&in.Args[2]), b.field(&in.Args[3])
	moved, d := b.f.NewValue(ir.GPR), b.f.NewValue(ir.GPR)
	if t.Signed() {
		b.emit("SHF.R.S32.HI", ir.D(moved), ir.RZ(), at, a)
		b.emit("SGXT", ir.D(d), ir.R(moved), n)
	} else {
		mask := b.f.NewValue(ir.GPR)
		b.emit("SHF.R.U32.HI", ir.D(moved), ir.RZ(), at, a)
		b.emit("BMSK", ir.D(mask), ir.RZ(), n)
		b.emit("LOP3.LUT", ir.D(d), ir.R(moved), ir.R(mask), ir.RZ(), ir.T("0xc0"), ir.Pr(nil, true))
	}
	b.assign(&in.Args[0], 0, d)
}

// bfi inserts a field of bits: where the mask has ones, those of the first source.
func (b *builder) bfi() {
	in := b.inst
	words := b.typeOf().Bits() / 32
	at, n := b.field(&in.Args[3]), b.field(&in.Args[4])
	mask := b.mask(at, n, words)
	moved := b.movedLeft([2]ir.Arg{b.source(&in.Args[1], b.typeOf(), 0), b.upper(&in.Args[1], words)}, at, words)
	for i := range words {
		old, d := b.source(&in.Args[2], b.typeOf(), i), b.f.NewValue(ir.GPR)
		b.emit("LOP3.LUT", ir.D(d), ir.R(moved[i]), mask[i], ir.R(b.value(old)), ir.T("0xe2"), ir.Pr(nil, true))
		b.assign(&in.Args[0], i, d)
	}
}

// upper is the upper word of a source, if it has two.
func (b *builder) upper(o *ptx.Operand, words int) ir.Arg {
	if words < 2 {
		return ir.RZ()
	}
	return b.source(o, b.typeOf(), 1)
}

// mask is n ones from a place on, in one or two words.
func (b *builder) mask(at, n ir.Arg, words int) [2]ir.Arg {
	if at.Kind == ir.Imm && n.Kind == ir.Imm {
		m := (uint64(1)<<uint64(n.Imm) - 1) << uint64(at.Imm)
		return [2]ir.Arg{ir.I(uint32(m)), ir.I(uint32(m >> 32))}
	}
	if words < 2 {
		v := b.f.NewValue(ir.GPR)
		b.emit("BMSK", ir.D(v), ir.R(b.value(at)), n)
		return [2]ir.Arg{ir.R(v)}
	}
	p, one, ones := b.f.NewValue(ir.Pred), b.movedLeft([2]ir.Arg{ir.I(1), ir.RZ()}, n, 2), [2]*ir.Value{b.f.NewValue(ir.GPR), b.f.NewValue(ir.GPR)}
	b.emit("IADD3", ir.D(ones[0]), ir.DP(p), ir.R(one[0]), ir.I(0xffffffff), ir.RZ())
	b.emit("IADD3.X", ir.D(ones[1]), ir.R(one[1]), ir.I(0xffffffff), ir.RZ(), ir.Pr(p, false), ir.Pr(nil, true))
	m := b.movedLeft([2]ir.Arg{ir.R(ones[0]), ir.R(ones[1])}, at, 2)
	return [2]ir.Arg{ir.R(m[0]), ir.R(m[1])}
}

// movedLeft is a number of one or two words, shifted left; more than all bits leave nothing.
func (b *builder) movedLeft(a [2]ir.Arg, at ir.Arg, words int) (out [2]*ir.Value) {
	lo := b.value(a[0])
	out[0] = b.f.NewValue(ir.GPR)
	b.emit("SHF.L.U32", ir.D(out[0]), ir.R(lo), at.Clone(), ir.RZ())
	if words == 2 {
		out[1] = b.f.NewValue(ir.GPR)
		b.emit("SHF.L.U64.HI", ir.D(out[1]), ir.R(lo), at.Clone(), ir.R(b.value(a[1])))
	}
	return out
}
