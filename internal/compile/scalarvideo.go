package compile

import (
	"fmt"
	"strings"

	"github.com/heddle-sim/heddle/internal/compile/ir"
	"github.com/heddle-sim/heddle/internal/isa/ptx"
)

// This file: the video instructions on words, halves and bytes that operands select. They are exact in 33 bits and a
// few more, for which they get two words, w0 and w1 for the operands, and v0 for the result; vmad three.

// scalarVideoSteps make v0. Low words compare without sign.
var scalarVideoSteps = map[string]string{
	"vadd": "IADD3 v0.lo, p0, w0.lo, w1.lo, RZ ; IADD3.X v0.hi, w0.hi, w1.hi, RZ, p0, !PT",
	"vsub": "IADD3 v0.lo, p0, w0.lo, -w1.lo, RZ ; IADD3.X v0.hi, w0.hi, ~w1.hi, RZ, p0, !PT",
	"vmin": "ISETP.LT.U32.AND p1, PT, w0.lo, w1.lo, PT ; ISETP.LT.AND.EX p2, PT, w0.hi, w1.hi, PT, p1 ; SEL v0.lo, w0.lo, w1.lo, p2 ; SEL v0.hi, w0.hi, w1.hi, p2",
	"vmax": "ISETP.GT.U32.AND p1, PT, w0.lo, w1.lo, PT ; ISETP.GT.AND.EX p2, PT, w0.hi, w1.hi, PT, p1 ; SEL v0.lo, w0.lo, w1.lo, p2 ; SEL v0.hi, w0.hi, w1.hi, p2",
	"vabsdiff": "IADD3 t0, p0, w0.lo, -w1.lo, RZ ; IADD3.X t1, w0.hi, ~w1.hi, RZ, p0, !PT ; IADD3 t2, p0, RZ, -t0, RZ ; IADD3.X t3, RZ, ~t1, RZ, p0, !PT ; " +
		"ISETP.LT.AND p1, PT, t1, RZ, PT ; SEL v0.lo, t2, t0, p1 ; SEL v0.hi, t3, t1, p1",
	"vset": "ISETP.%[1]s.U32.AND p1, PT, w0.lo, w1.lo, PT ; ISETP.%[1]s.AND.EX p2, PT, w0.hi, w1.hi, PT, p1 ; MOV t0, 0x1 ; SEL v0.lo, t0, RZ, p2 ; MOV v0.hi, RZ",
	"vshl": "SHF.L.U32 v0.lo, w0.lo, t9, RZ ; SHF.L.U64.HI v0.hi, w0.lo, t9, w0.hi",
	"vshr": "SHF.R.U64 v0.lo, w0.lo, t9, w0.hi ; SHF.R.S32.HI v0.hi, RZ, t9, w0.hi",
}

// selectedPart is where a selector's part is in a word, and its size in bits.
func selectedPart(sel string) (at, size int) {
	switch {
	case strings.HasPrefix(sel, "b"):
		return 8 * int(sel[1]-'0'), 8
	case strings.HasPrefix(sel, "h"):
		return 16 * int(sel[1]-'0'), 16
	}
	return 0, 32
}

// partSelectors checks the selectors of the operands of an instruction on words, halves and bytes: sources have one, but for
// the last of three, and the result has one if it is put into that.
func (b *builder) partSelectors(merges bool) {
	for i := range b.inst.Args {
		switch sel := b.inst.Args[i].Elem; sel {
		case "":
		case "b0", "b1", "b2", "b3", "h0", "h1":
			if i == 3 || i == 0 && !merges {
				stop(b.inst.FullName(), "with the selector ."+sel+" there cannot be compiled")
			}
		default:
			stop(b.inst.FullName(), "with the selector ."+sel+" cannot be compiled")
		}
	}
}

// whole is an operand without selector and sign.
func whole(o *ptx.Operand) *ptx.Operand {
	w := *o
	w.Elem, w.Neg = "", false
	return &w
}

// selected gives a name to what an operand selects, extended to 64 bits.
func (x *applying) selected(name string, o *ptx.Operand, signed bool) {
	v := x.value(x.source(whole(o), "b32", 0))
	if at, size := selectedPart(o.Elem); size < 32 {
		from := v
		v = x.f.NewValue(ir.GPR)
		x.free("PRMT", ir.D(v), ir.R(from), ir.I(selector(size, at/8, signed)), ir.RZ())
	}
	x.names[name+".lo"] = v
	x.extend(name, signed)
}

// extend makes the high word of a name.
func (x *applying) extend(name string, signed bool) {
	if signed {
		x.text(fmt.Sprintf("SHF.R.S32.HI %[1]s.hi, RZ, 0x1f, %[1]s.lo", name))
	} else {
		x.text("MOV " + name + ".hi, RZ")
	}
}

// clamp puts v0 between two numbers.
func (x *applying) clamp(low, high int64) {
	x.text(fmt.Sprintf("ISETP.GE.U32.AND p1, PT, v0.lo, %[1]d, PT ; ISETP.GE.AND.EX p2, PT, v0.hi, %[2]d, PT, p1 ; SEL v1.lo, v0.lo, %[1]d, p2 ; SEL v1.hi, v0.hi, %[2]d, p2", uint32(low), uint32(low>>32)))
	x.text(fmt.Sprintf("ISETP.LE.U32.AND p1, PT, v1.lo, %[1]d, PT ; ISETP.LE.AND.EX p2, PT, v1.hi, %[2]d, PT, p1 ; SEL v0.lo, v1.lo, %[1]d, p2 ; SEL v0.hi, v1.hi, %[2]d, p2", uint32(high), uint32(high>>32)))
}

// scalarVideo is vadd, vsub, vabsdiff, vmin, vmax, vset, vshl and vshr.
func (b *builder) scalarVideo() {
	in, ts := b.inst, b.inst.Types()
	body := scalarVideoSteps[in.Op]
	if in.Op == "vset" {
		ts = append([]ptx.Type{"u32"}, ts...)
		body = b.comparing(body)
	}
	if len(ts) != 3 || in.Args[1].Neg || in.Args[2].Neg {
		stop(in.FullName(), notYet)
	}
	second, size := "", 32
	for _, m := range []string{"add", "min", "max"} {
		if in.Has(m) {
			second = m
		}
	}
	if second == "" && len(in.Args) == 4 {
		second = "merge"
	}
	b.partSelectors(second == "merge")
	x := b.applying(map[string]*ir.Value{})
	x.selected("w0", &in.Args[1], ts[1].Signed())
	x.selected("w1", &in.Args[2], ts[2].Signed())
	if in.Op == "vshl" || in.Op == "vshr" {
		if in.Has("wrap") {
			x.text("LOP3.LUT t9, w1.lo, 0x1f, RZ, 0xc0, !PT")
		} else {
			x.text("IMNMX.U32 t9, w1.lo, 0x20, PT")
		}
	}
	x.text(body)
	if in.Op == "vshl" && !ts[1].Signed() { // by 32 it would be negative, but is beyond all that can be
		x.text("ISETP.EQ.U32.AND p1, PT, t9, 0x20, PT ; ISETP.LT.AND p2, PT, w0.lo, RZ, p1 ; MOV t0, 0x40000000 ; SEL v0.hi, t0, v0.hi, p2")
	}
	at := 0
	if second == "merge" {
		at, size = selectedPart(in.Args[0].Elem)
	}
	if in.Has("sat") {
		if ts[0].Signed() {
			x.clamp(-1<<(size-1), 1<<(size-1)-1)
		} else {
			x.clamp(0, 1<<size-1)
		}
	}
	if second != "" {
		x.names["w1.lo"] = b.value(b.source(whole(&in.Args[3]), "b32", 0))
		x.extend("w1", ts[0].Signed())
	}
	switch second {
	case "add":
		x.text("IADD3 v0.lo, v0.lo, w1.lo, RZ")
	case "min", "max":
		x.names["w0.lo"], x.names["w0.hi"] = x.names["v0.lo"], x.names["v0.hi"]
		x.text(scalarVideoSteps["v"+second])
	case "merge":
		order := uint32(0x3210)
		for n := range size / 8 {
			order = order&^(15<<(4*(at/8+n))) | uint32(4+n)<<(4*(at/8+n))
		}
		x.text(fmt.Sprintf("PRMT v0.lo, w1.lo, %#x, v0.lo", order))
	}
	b.assign(whole(&in.Args[0]), 0, x.names["v0.lo"])
}

// productOfParts is vmad: the words of the result are v0 and t9.
func (b *builder) productOfParts() {
	in, ts := b.inst, b.inst.Types()
	if len(ts) != 3 || len(in.Args) != 4 {
		stop(in.FullName(), notYet)
	}
	b.partSelectors(false)
	x := b.applying(map[string]*ir.Value{})
	x.selected("w0", &in.Args[1], ts[1].Signed())
	x.selected("w1", &in.Args[2], ts[2].Signed())
	x.names["w2.lo"] = b.value(b.source(whole(&in.Args[3]), "b32", 0))
	negative, signed := in.Args[1].Neg != in.Args[2].Neg, ts[1].Signed() || ts[2].Signed()
	switch {
	case ts[1].Signed() && ts[2].Signed():
		x.text("IMAD.WIDE v0, w0.lo, w1.lo, RZ")
	case ts[1].Signed():
		x.text("IMAD.WIDE.U32 v0, w0.lo, w1.lo, RZ ; LOP3.LUT t0, w0.hi, w1.lo, RZ, 0xc0, !PT ; IADD3 v0.hi, v0.hi, -t0, RZ")
	case ts[2].Signed():
		x.text("IMAD.WIDE.U32 v0, w0.lo, w1.lo, RZ ; LOP3.LUT t0, w1.hi, w0.lo, RZ, 0xc0, !PT ; IADD3 v0.hi, v0.hi, -t0, RZ")
	default:
		x.text("IMAD.WIDE.U32 v0, w0.lo, w1.lo, RZ")
	}
	if signed {
		x.text("SHF.R.S32.HI t9, RZ, 0x1f, v0.hi")
	} else {
		x.text("MOV t9, RZ")
	}
	if negative {
		x.text("IADD3 v0.lo, p0, RZ, -v0.lo, RZ ; IADD3.X v0.hi, p1, RZ, ~v0.hi, RZ, p0, !PT ; IADD3.X t9, RZ, ~t9, RZ, p1, !PT")
	}
	signed = signed || negative
	x.extend("w2", signed)
	if in.Args[3].Neg {
		x.text("IADD3 v0.lo, p0, v0.lo, -w2.lo, RZ ; IADD3.X v0.hi, p1, v0.hi, ~w2.hi, RZ, p0, !PT ; IADD3.X t9, t9, ~w2.hi, RZ, p1, !PT")
		signed = true
	} else {
		x.text("IADD3 v0.lo, p0, v0.lo, w2.lo, RZ ; IADD3.X v0.hi, p1, v0.hi, w2.hi, RZ, p0, !PT ; IADD3.X t9, t9, w2.hi, RZ, p1, !PT")
	}
	if in.Has("po") {
		x.text("IADD3 v0.lo, p0, v0.lo, 0x1, RZ ; IADD3.X v0.hi, p1, v0.hi, RZ, RZ, p0, !PT ; IADD3.X t9, t9, RZ, RZ, p1, !PT")
	}
	for _, n := range []int{7, 15} {
		if in.Has(fmt.Sprintf("shr%d", n)) {
			x.text(fmt.Sprintf("SHF.R.U64 v0.lo, v0.lo, %[1]d, v0.hi ; SHF.R.U64 v0.hi, v0.hi, %[1]d, t9 ; SHF.R.S32.HI t9, RZ, %[1]d, t9", n))
		}
	}
	if in.Has("sat") {
		if signed {
			x.text("SHF.R.S32.HI t0, RZ, 0x1f, v0.lo ; ISETP.EQ.AND p0, PT, v0.hi, t0, PT ; ISETP.EQ.AND p1, PT, t9, t0, p0 ; SHF.R.S32.HI t1, RZ, 0x1f, t9 ; LOP3.LUT t2, t1, 0x7fffffff, RZ, 0x3c, !PT")
		} else {
			x.text("LOP3.LUT t0, v0.hi, t9, RZ, 0xfc, !PT ; ISETP.EQ.AND p1, PT, t0, RZ, PT ; MOV t2, 0xffffffff")
		}
		x.text("SEL v0.lo, v0.lo, t2, p1")
	}
	b.assign(whole(&in.Args[0]), 0, x.names["v0.lo"])
}
