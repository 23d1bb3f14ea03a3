package compile

import (
	"fmt"

	"github.com/heddle-sim/heddle/internal/compile/ir"
	"github.com/heddle-sim/heddle/internal/isa/ptx"
)

// This file: conversions from and to pairs of numbers of 8 bits, in integers: instructions for them are not known.

// float8 is a format of 8 bits: the fraction's bits, the bits of the least normal number in binary32, a number whose last
// place is the least subnormal one, and the largest magnitude.
type float8 struct {
	fraction             int
	normal, magic, limit uint32
}

var floats8 = map[ptx.Type]float8{
	"e4m3x2": {3, 0x3c800000, 0x46800000, 0x7e},
	"e5m2x2": {2, 0x38800000, 0x43000000, 0x7b},
}

// fromFloat8 is cvt.rn.f16x2 of a pair. Numbers of e5m2 are the upper bytes of halves; of e4m3 the exponent has another
// bias, and the largest magnitude is no number.
func (b *builder) fromFloat8(from ptx.Type) {
	one := ir.R(b.value(ir.I(map[ptx.Type]uint32{"e4m3x2": 0x5c005c00, "e5m2x2": 0x3c003c00}[from]))) // 256 and 1
	x := b.applying(map[string]*ir.Value{"u": b.value(b.source(&b.inst.Args[1], "b16", 0)), "k": one.Vals[0]})
	x.text("PRMT h, u, 0x1404, RZ")
	if from == "e5m2x2" {
		x.text("HMUL2 r, h, k")
	} else {
		x.text(`LOP3.LUT t0, h, 0x7f007f00, RZ, 0xc0, !PT ; LOP3.LUT t1, h, 0x80008000, RZ, 0xc0, !PT ; SHF.R.U32.HI t2, RZ, 0x1, t0 ;
			LOP3.LUT t3, t2, t1, RZ, 0xfc, !PT ; HMUL2 t4, t3, k ; IADD3 t5, t0, 0x1000100, RZ ; LOP3.LUT n, t5, 0x80008000, RZ, 0xc0, !PT ;
			SHF.R.U32.HI t6, RZ, 0xf, n ; IADD3 t7, n, -t6, RZ ; LOP3.LUT r, t4, t7, n, 0x54, !PT`)
	}
	b.assign(&b.inst.Args[0], 0, x.names["r"])
}

// toFloat8 is cvt.rn.satfinite to a pair, of two numbers of binary32, or of a pair of halves.
func (b *builder) toFloat8(to, from ptx.Type) {
	in := b.inst
	var parts [2]ir.Arg // the lower first
	for i := range parts {
		u := b.f.NewValue(ir.GPR)
		if from == "f16x2" {
			half := ir.R(b.value(b.source(&in.Args[1], "b32", 0)))
			half.Suffix = []string{"H0_H0", "H1_H1"}[i]
			zero := ir.RZ()
			zero.Neg = true
			b.free("HADD2.F32", ir.D(u), zero, half)
		} else {
			u = b.value(b.source(&in.Args[2-i], "f32", 0))
		}
		parts[i] = ir.R(b.rounded8(floats8[to], u))
	}
	v := b.f.NewValue(ir.GPR)
	b.free("PRMT", ir.D(v), parts[0], ir.I(0x40), parts[1])
	b.assign(&in.Args[0], 0, v)
}

// rounded8 is a number of binary32 in a format of 8 bits, rounded to the nearest, with the largest number for larger ones.
func (b *builder) rounded8(f float8, u *ir.Value) *ir.Value {
	x, drop := b.applying(map[string]*ir.Value{"u": u}), 23-f.fraction
	x.text(fmt.Sprintf(`LOP3.LUT t0, u, 0x7fffffff, RZ, 0xc0, !PT ; SHF.R.U32.HI t1, RZ, %#x, t0 ; LOP3.LUT t2, t1, 0x1, RZ, 0xc0, !PT ;
		IADD3 t3, t0, %#x, t2 ; SHF.R.U32.HI t4, RZ, %#x, t3 ; IADD3 t5, t4, %d, RZ ; FADD t6, t0, %#x ; IADD3 t7, t6, %d, RZ ;
		ISETP.LT.U32.AND p0, PT, t0, %#x, PT ; SEL t8, t7, t5, p0 ; IMNMX.U32 t9, t8, %#x, PT ; SHF.R.U32.HI s, RZ, 0x18, u ;
		LOP3.LUT m, s, 0x80, t9, 0xea, !PT ; ISETP.GT.U32.AND p1, PT, t0, 0x7f800000, PT ; SEL r, m, 0x7f, !p1`,
		drop, 1<<(drop-1)-1, drop, -int64(f.normal>>drop-1<<f.fraction), f.magic, -int64(f.magic), f.normal, f.limit))
	return x.names["r"]
}
