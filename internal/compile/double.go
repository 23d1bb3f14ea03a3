package compile

import (
	"github.com/heddle-sim/heddle/internal/compile/ir"
	"github.com/heddle-sim/heddle/internal/isa/ptx"
)

// This file: divisions and roots of binary64 that are rounded exactly; select/double.txt has the steps.

// rounding is how a quotient or a root is rounded. The nearest is known first; the sign of its remainder
// then decides.
type rounding struct {
	known bool
	mod   string // of the machine's instructions; "" for the nearest
	// pack makes what packed64 in select/double.txt needs: for each of eight cases of the lowest bit of a
	// subnormal number and the two beyond it, whether it becomes larger (u1), and what becomes of numbers that
	// are too large (u2, u3). t30 is a word with the result's sign.
	pack string
}

const (
	sign64  = "ISETP.LT.AND p9, PT, t30, RZ, PT ; MOV u4, 0xee ; MOV u5, 0x7ff00000 ; MOV u6, 0x7fefffff ; MOV u7, 0xffffffff ; "
	outward = "MOV u1, 0xc8 ; MOV u2, 0x7ff00000 ; MOV u3, RZ"
)

// directed are the roundings of PTX.
var directed = map[string]rounding{
	"rn": {true, "", outward},
	"rz": {true, ".RZ", "MOV u1, RZ ; MOV u2, 0x7fefffff ; MOV u3, 0xffffffff"},
	"rm": {true, ".RM", sign64 + "SEL u1, u4, RZ, p9 ; SEL u2, u5, u6, p9 ; SEL u3, RZ, u7, p9"},
	"rp": {true, ".RP", sign64 + "SEL u1, RZ, u4, p9 ; SEL u2, u6, u5, p9 ; SEL u3, u7, RZ, p9"},
}

// double binds a pair of names to an operand of binary64.
func (x *applying) double(name string, o *ptx.Operand) {
	x.names[name+".lo"], x.names[name+".hi"] = x.value(x.source(o, "f64", 0)), x.value(x.source(o, "f64", 1))
}

// both are the two halves of a name.
func (x *applying) both(name string) []*ir.Value {
	return []*ir.Value{x.names[name+".lo"], x.names[name+".hi"]}
}

// round makes v7 what v4 is to the nearest, rounded otherwise: v3 is v4's remainder, and it is in units of
// a factor of the same sign.
func (x *applying) round(r rounding, remainder, factor string) {
	if r.mod == "" {
		x.names["v7.lo"], x.names["v7.hi"] = x.names["v4.lo"], x.names["v4.hi"]
		return
	}
	x.text(remainder + " ; DFMA" + r.mod + " v7, v3, " + factor + ", v4")
}

// quotient64 is div and rcp of binary64.
func (b *builder) quotient64(reciprocal bool, r rounding) {
	in, g := b.inst, b.guard
	b.guard = ir.Guard{}
	x := b.applying(nil)
	if reciprocal {
		x.text("MOV w0.lo, RZ ; MOV w0.hi, 0x3ff00000")
		x.double("w1", &in.Args[1])
	} else {
		x.double("w0", &in.Args[1])
		x.double("w1", &in.Args[2])
	}
	x.part("trusted64")
	x.round(r, "DFMA v3, -w1, v4, w0", "w9")
	list := b.aside(x.names["p1"], x.both("v7"), func() []*ir.Value {
		x.part("scaled64")
		x.round(r, "DFMA v3, -v9, v4, v8", "w9")
		x.text("LOP3.LUT t30, w0.hi, w1.hi, RZ, 0x3c, !PT ; " + r.pack)
		x.part("packed64")
		x.part("special64")
		return []*ir.Value{x.names["t22"], x.names["t23"]}
	})
	b.giveBoth(list, g)
}

// root64 is sqrt of binary64. What is beside the range is scaled by a power of two, whose root is known.
func (b *builder) root64(r rounding) {
	g := b.guard
	b.guard = ir.Guard{}
	x := b.applying(nil)
	x.double("w0", &b.inst.Args[1])
	x.part("trustedRoot64")
	x.round(r, "DFMA v3, -v4, v4, w0", "v5")
	list := b.aside(x.names["p1"], x.both("v7"), func() []*ir.Value {
		x.part("scaledRoot64")
		x.round(r, "DFMA v3, -v4, v4, v6", "v5")
		x.part("specialRoot64")
		return []*ir.Value{x.names["t22"], x.names["t23"]}
	})
	b.giveBoth(list, g)
}

// giveBoth is give for a result of 64 bits.
func (b *builder) giveBoth(list []*ir.Value, g ir.Guard) {
	b.guard = g
	for n, v := range list {
		b.assign(&b.inst.Args[0], n, v)
	}
}
