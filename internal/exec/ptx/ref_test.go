package ptx_test

import (
	"math/big"
	"math/rand/v2"
)

// References in math/big for the tests of arithmetic: exact values, rounded
// once to the format of the result. They share no code with internal/exec/num.

// floatFormat is a binary format: fraction bits, smallest normal exponent,
// encoding of infinity (of the first value that is too large where there is
// none), and the canonical NaN.
type floatFormat struct {
	bits, mant uint
	emin       int
	inf, nan   uint64
}

var formats = map[string]*floatFormat{
	"f16":  {16, 10, -14, 0x7c00, 0x7fff},
	"bf16": {16, 7, -126, 0x7f80, 0x7fff},
	"f32":  {32, 23, -126, 0x7f800000, 0x7fffffff},
	"tf32": {32, 10, -126, 0x3fc00, 0x7fffffff}, // before its 13 zeros are appended
	"f64":  {64, 52, -1022, 0x7ff0000000000000, 0xfff8000000000000},
	"e4m3": {8, 3, -6, 0x7f, 0x7f},
	"e5m2": {8, 2, -14, 0x7c, 0x7f},
	"e2m3": {6, 3, 0, 0x20, 0x1f},
	"e3m2": {6, 2, -2, 0x20, 0x1f},
	"e2m1": {4, 1, 0, 0x8, 0x7},
}

// real is a decoded float: NaN with its bits, infinity, or a value, exact but
// for what sticky says lies below its last bit.
type real struct {
	nan, inf, neg, sticky bool
	bits                  uint64
	x                     *big.Float // magnitude, never nil for a value
}

const exact = 4600 // bits that hold every sum of products of two f64

func newBig() *big.Float { return new(big.Float).SetPrec(exact) }

func (f *floatFormat) decode(v uint64) real {
	r := real{bits: v, neg: v>>(f.bits-1)&1 != 0}
	mag := v & (1<<(f.bits-1) - 1)
	switch {
	case f == formats["e4m3"]:
		r.nan = mag == 0x7f
	case f.bits < 8:
	case mag > f.inf:
		r.nan = true
	case mag == f.inf:
		r.inf = true
	}
	if r.nan || r.inf {
		return r
	}
	exp, m := int(mag>>f.mant), mag&(1<<f.mant-1)
	if exp > 0 {
		m |= 1 << f.mant
		exp--
	}
	r.x = newBig().SetUint64(m)
	r.x.SetMantExp(r.x, exp+f.emin-int(f.mant))
	return r
}

func (r real) zero() bool { return !r.nan && !r.inf && r.x.Sign() == 0 && !r.sticky }

func (r real) signed() *big.Float {
	x := newBig().Set(r.x)
	if r.neg {
		x.Neg(x)
	}
	return x
}

// fraction splits |r|/2^q into its integer and how the rest compares with a
// half: 0 is nothing, 1 below, 2 a half, 3 above.
func (r real) fraction(q int) (*big.Int, int) {
	x := newBig().Set(r.x)
	if x.Sign() != 0 {
		x.SetMantExp(x, -q)
	}
	i, _ := x.Int(nil)
	rest := newBig().Sub(x, newBig().SetInt(i))
	switch c := rest.Cmp(big.NewFloat(0.5)); {
	case rest.Sign() == 0 && !r.sticky:
		return i, 0
	case c < 0:
		return i, 1
	case c == 0 && !r.sticky:
		return i, 2
	}
	return i, 3
}

// up reports whether a magnitude is rounded up.
func up(mode string, neg, odd bool, rest int) bool {
	switch mode {
	case "rz":
		return false
	case "rm":
		return neg && rest > 0
	case "rp":
		return !neg && rest > 0
	case "rna":
		return rest >= 2
	}
	return rest == 3 || rest == 2 && odd
}

// round encodes a value; nan is what a NaN becomes.
func (f *floatFormat) round(r real, mode string, nan uint64) uint64 {
	var sign uint64
	if r.neg {
		sign = 1 << (f.bits - 1)
	}
	switch {
	case r.nan:
		return nan
	case r.inf:
		return f.infinity(sign)
	}
	e := f.emin
	if r.x.Sign() != 0 {
		e = max(e, r.x.MantExp(nil)-1)
	}
	i, rest := r.fraction(e - int(f.mant))
	if up(mode, r.neg, i.Bit(0) != 0, rest) {
		i.Add(i, big.NewInt(1))
	}
	i.Add(i, new(big.Int).Lsh(big.NewInt(int64(e-f.emin)), f.mant))
	if i.Cmp(new(big.Int).SetUint64(f.inf)) >= 0 {
		if mode == "rz" || mode == "rm" && !r.neg || mode == "rp" && r.neg {
			return sign | (f.inf - 1)
		}
		return f.infinity(sign)
	}
	return sign | i.Uint64()
}

// infinity is its encoding in the format; below eight bits there is none.
func (f *floatFormat) infinity(sign uint64) uint64 {
	if f.bits < 8 {
		return sign | (f.inf - 1)
	}
	return sign | f.inf
}

func sumOf(p, q real, mode string) real {
	switch {
	case p.nan || q.nan || p.inf && q.inf && p.neg != q.neg:
		return real{nan: true}
	case p.inf:
		return p
	case q.inf:
		return q
	}
	s := newBig().Add(p.signed(), q.signed())
	r := real{x: s, neg: s.Sign() < 0}
	if s.Sign() == 0 {
		r.neg = mode == "rm"
		if p.zero() && q.zero() && p.neg == q.neg {
			r.neg = p.neg
		}
	}
	r.x.Abs(s)
	return r
}

func productOf(p, q real) real {
	r := real{neg: p.neg != q.neg}
	switch {
	case p.nan || q.nan || p.inf && q.zero() || p.zero() && q.inf:
		r.nan = true
	case p.inf || q.inf:
		r.inf = true
	default:
		r.x = newBig().Mul(p.x, q.x)
	}
	return r
}

func quotientOf(p, q real) real {
	r := real{neg: p.neg != q.neg, x: new(big.Float)}
	switch {
	case p.nan || q.nan || p.inf && q.inf || p.zero() && q.zero():
		r.nan = true
	case p.inf || q.zero():
		r.inf = true
	case q.inf || p.zero():
	default:
		r.x = new(big.Float).SetPrec(300).SetMode(big.ToZero).Quo(p.x, q.x)
		r.sticky = r.x.Acc() != big.Exact
	}
	return r
}

func rootOf(p real) real {
	switch {
	case p.nan || p.neg && !p.zero():
		return real{nan: true}
	case p.inf || p.zero():
		return p
	}
	// x = m·2^e with an even e and an m of many bits.
	m := newBig()
	e := p.x.MantExp(m)
	shift := 600 + e&1
	m.SetMantExp(m, shift)
	i, _ := m.Int(nil)
	s := new(big.Int).Sqrt(i)
	r := real{x: newBig().SetInt(s), sticky: new(big.Int).Mul(s, s).Cmp(i) != 0}
	r.x.SetMantExp(r.x, (e-shift)/2)
	return r
}

func intReal(v *big.Int) real {
	return real{neg: v.Sign() < 0, x: newBig().SetInt(new(big.Int).Abs(v))}
}

// toInt rounds to an integer of the given width, clamped; NaN gives nan.
func toInt(r real, mode string, width uint, signed bool, nan uint64) uint64 {
	lo, hi := new(big.Int), new(big.Int).Lsh(big.NewInt(1), width)
	if signed {
		hi.Rsh(hi, 1)
		lo.Neg(hi)
	}
	hi.Sub(hi, big.NewInt(1))
	var i *big.Int
	switch {
	case r.nan:
		return nan
	case r.inf:
		i = new(big.Int).Lsh(big.NewInt(1), 100)
	default:
		var rest int
		if i, rest = r.fraction(0); up(mode, r.neg, i.Bit(0) != 0, rest) {
			i.Add(i, big.NewInt(1))
		}
	}
	if r.neg {
		i.Neg(i)
	}
	if i.Cmp(lo) < 0 {
		i = lo
	}
	if i.Cmp(hi) > 0 {
		i = hi
	}
	return wrap(i, width)
}

// integral rounds a value to an integral one.
func integral(r real, mode string) real {
	if r.nan || r.inf {
		return r
	}
	i, rest := r.fraction(0)
	if up(mode, r.neg, i.Bit(0) != 0, rest) {
		i.Add(i, big.NewInt(1))
	}
	return real{neg: r.neg, x: newBig().SetInt(i)}
}

// wrap takes an integer modulo 2^width.
func wrap(i *big.Int, width uint) uint64 {
	m := new(big.Int).Lsh(big.NewInt(1), width)
	return new(big.Int).Mod(i, m).Uint64()
}

// integer reads the low bits of v.
func integer(v uint64, width uint, signed bool) *big.Int {
	i := new(big.Int).SetUint64(v & (^uint64(0) >> (64 - width)))
	if signed && i.Bit(int(width-1)) != 0 {
		i.Sub(i, new(big.Int).Lsh(big.NewInt(1), width))
	}
	return i
}

// flush replaces a subnormal by the zero of its sign.
func (f *floatFormat) flush(v uint64) uint64 {
	if mag := v & (1<<(f.bits-1) - 1); mag < 1<<f.mant {
		return v - mag
	}
	return v
}

// saturate clamps to [0, 1]; NaN gives 0.
func (f *floatFormat) saturate(v uint64) uint64 {
	r := f.decode(v)
	one := uint64(1-f.emin) << f.mant // the exponent of 1 is the bias
	switch {
	case r.nan || r.neg:
		return 0
	case r.inf || r.x.Cmp(big.NewFloat(1)) > 0:
		return one
	}
	return v
}

// relu replaces what is negative by 0 and NaN by the canonical one.
func (f *floatFormat) relu(v uint64) uint64 {
	switch r := f.decode(v); {
	case r.nan:
		return f.nan
	case r.neg:
		return 0
	}
	return v
}

// compareReal is -1, 0, 1, or 2 if unordered.
func compareReal(p, q real) int {
	if p.nan || q.nan {
		return 2
	}
	val := func(r real) *big.Float {
		x := newBig()
		if r.inf {
			x.SetInf(r.neg)
			return x
		}
		return r.signed()
	}
	return val(p).Cmp(val(q))
}

// Operand values: for each type corners first, then random ones, half of them
// with an exponent near that of one so that sums do not all lose one side.
var corners = map[uint][]uint64{
	4:  {0, 1, 2, 3, 7, 8, 0xf},
	6:  {0, 1, 7, 8, 0x1f, 0x20, 0x21, 0x3f},
	8:  {0, 1, 2, 7, 8, 0x10, 0x3f, 0x40, 0x7b, 0x7c, 0x7d, 0x7e, 0x7f, 0x80, 0x81, 0xfb, 0xfc, 0xfe, 0xff},
	16: {0, 1, 2, 0x3ff, 0x400, 0x401, 0x3bff, 0x3c00, 0x3c01, 0x4000, 0x7bff, 0x7c00, 0x7c01, 0x7e00, 0x7fff, 0x8000, 0x8001, 0x83ff, 0x8400, 0xbc00, 0xfbff, 0xfc00, 0xfe00, 0xffff, 0x3f80, 0x3f7f, 0x3f81, 0x7f80, 0x7f7f, 0x7f, 0x80, 0x8080, 0xff80, 0xbf80, 0x3555, 0x5640},
	32: {0, 1, 2, 7, 31, 32, 33, 63, 64, 0xff, 0x7f, 0x80, 0xffff, 0x10000, 0x7fffff, 0x800000, 0x800001, 0xffffff, 0x3f800000, 0x3f800001, 0x3f7fffff, 0x3f000000, 0x3fc00000, 0x40200000, 0x4effffff, 0x4f000000, 0x4f7fffff, 0x4f800000, 0x5f000000, 0x7effffff, 0x7f7fffff, 0x7f800000, 0x7f800001, 0x7fc00000, 0x7fffffff, 0x80000000, 0x80000001, 0x807fffff, 0x80800000, 0xbf800000, 0xbf000000, 0xcf000000, 0xcf000001, 0xff7fffff, 0xff800000, 0xffc00001, 0xffffffff, 0xffff8000, 0x33800000, 0x477fe000, 0x477ff000, 0x33000000, 0x33000001, 0x387fe000},
	64: {0, 1, 2, 31, 63, 64, 65, 0x7fffffff, 0x80000000, 0xffffffff, 0x100000000, 0xfffffffffffff, 0x10000000000000, 0x10000000000001, 0x1fffffffffffff, 0x20000000000001, 0x3fe0000000000000, 0x3ff0000000000000, 0x3ff0000000000001, 0x3fefffffffffffff, 0x3ff0000010000000, 0x3ff0000030000000, 0x3ff8000000000000, 0x4004000000000000, 0x41dfffffffc00000, 0x41e0000000000000, 0x41efffffffe00000, 0x41f0000000000000, 0x43e0000000000000, 0x43f0000000000000, 0x47efffffe0000000, 0x47effffff0000000, 0x36a0000000000000, 0x3690000000000000, 0x380fffffc0000000, 0x7fefffffffffffff, 0x7ff0000000000000, 0x7ff0000000000001, 0x7ff8000000000000, 0x7fffffffffffffff, 0x8000000000000000, 0x8000000000000001, 0x800fffffffffffff, 0xbff0000000000000, 0xc1e0000000000000, 0xc1e0000000200000, 0xc3e0000000000000, 0xffefffffffffffff, 0xfff0000000000000, 0xfff8000000000001, 0xffffffffffffffff, 0x3f80000000000000, 0xffffffff00000000},
}

// operand returns value number n of a type of the given width; isFloat says
// that it is read as a float of that format.
func operand(rnd *rand.Rand, width uint, f *floatFormat) uint64 {
	list := corners[width]
	v := rnd.Uint64() & (^uint64(0) >> (64 - width))
	switch rnd.IntN(8) {
	case 0, 1, 2:
		return list[rnd.IntN(len(list))]
	case 3:
		// Few bits set.
		return v & rnd.Uint64() & rnd.Uint64() & rnd.Uint64()
	case 4:
		// Small, of either sign.
		return uint64(int64(v)<<(64-width)>>(64-width)>>(rnd.Uint64N(uint64(width)))) & (^uint64(0) >> (64 - width))
	case 5, 6:
		if f == nil {
			return v >> rnd.Uint64N(uint64(width))
		}
		// Near one, with a short fraction now and then.
		bias := uint64(1 - f.emin)
		v = v&(1<<f.mant-1) | (bias+rnd.Uint64N(9)-4)<<f.mant | v>>(f.bits-1)<<(f.bits-1)
		if rnd.IntN(2) == 0 {
			v = v >> (f.mant / 2) << (f.mant / 2)
		}
	}
	return v
}
