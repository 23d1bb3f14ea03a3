package num

import (
	"math"
	"math/bits"
)

// Add32 is add.rn.f32.
func Add32(a, b float32) float32 {
	if d := a + b; d == d {
		return d
	}
	return f32(NaNF32)
}

// Sub32 is sub.rn.f32.
func Sub32(a, b float32) float32 {
	if d := a - b; d == d {
		return d
	}
	return f32(NaNF32)
}

// Mul32 is mul.rn.f32.
func Mul32(a, b float32) float32 {
	if d := float32(a * b); d == d {
		return d
	}
	return f32(NaNF32)
}

// Div32 is div.rn.f32.
func Div32(a, b float32) float32 {
	if d := a / b; d == d {
		return d
	}
	return f32(NaNF32)
}

// Rcp32 is rcp.rn.f32.
func Rcp32(a float32) float32 { return Div32(1, a) }

// Sqrt32 is sqrt.rn.f32. The square root in f64, rounded to f32, equals the correctly
// rounded f32 result, since f64 has more than twice the bits.
func Sqrt32(a float32) float32 {
	if d := float32(math.Sqrt(float64(a))); d == d {
		return d
	}
	return f32(NaNF32)
}

// FMA32 is fma.rn.f32, rounded once. The product is exact in f64; the sum is then
// rounded twice, which is wrong only if the f64 lies halfway between two f32. Those
// cases, and all outside the normal range, take the slow path.
func FMA32(a, b, c float32) float32 {
	p := float64(a) * float64(b)
	s := p + float64(c)
	u := math.Float64bits(s)
	if u&0x1fffffff != 0x10000000 && (u>>52&0x7ff)-897 < 253 {
		return float32(s)
	}
	return fma32Slow(p, float64(c))
}

// FMALanes is fma.f32 of 32 lanes, to nearest: FMA32 without a call per lane.
func FMALanes(d, a, b, c *[32]uint32) {
	for i := range d {
		p, x := float64(f32(a[i]))*float64(f32(b[i])), float64(f32(c[i]))
		s := p + x
		if u := b64(s); u&0x1fffffff != 0x10000000 && (u>>52&0x7ff)-897 < 253 || s == 0 { // a zero is exact
			d[i] = b32(float32(s))
		} else {
			d[i] = b32(fma32Slow(p, x))
		}
	}
}

// FMALanesFTZ is FMALanes with .ftz.
func FMALanesFTZ(d, a, b, c *[32]uint32) {
	for i := range d {
		p, x := float64(f32(FTZF32(a[i])))*float64(f32(FTZF32(b[i]))), float64(f32(FTZF32(c[i])))
		s := p + x
		if u := b64(s); u&0x1fffffff != 0x10000000 && (u>>52&0x7ff)-897 < 253 || s == 0 { // a normal number or zero
			d[i] = b32(float32(s))
		} else {
			d[i] = FTZF32(b32(fma32Slow(p, x)))
		}
	}
}

//go:noinline
func fma32Slow(p, c float64) float32 {
	d := float32(f64(oddSum(p, c)))
	if d != d {
		return f32(NaNF32)
	}
	return d
}

// oddSum adds, rounding to odd: if the sum is not exact, it takes the neighbour with
// the odd significand. Rounding that once more to a format of at most 51 bits equals
// rounding once. The operands are products or values of f32 and narrower, so nothing
// here overflows.
func oddSum(p, c float64) uint64 {
	s := p + c
	t := s - p
	err := (p - (s - t)) + (c - t)
	u := b64(s)
	if err == 0 || u&1 != 0 || u&inf64 == inf64 {
		return u
	}
	// s is even and not exact: go one step towards the exact sum.
	if (err > 0) == (s > 0) {
		return u + 1
	}
	return u - 1
}

// exactZero gives the sum d of p and c its correct sign if it is zero and the mode is
// RM.
func exactZero(d uint64, p, c float64, r Round) uint64 {
	if d<<1 == 0 && r == RM && (math.Signbit(p) || math.Signbit(c)) {
		return sign64
	}
	return d
}

// AddF32 is add.f32.
func AddF32(a, b uint32, r Round) uint32 {
	if r == RN {
		return b32(Add32(f32(a), f32(b)))
	}
	return sumF32(float64(f32(a)), float64(f32(b)), r)
}

// SubF32 is sub.f32.
func SubF32(a, b uint32, r Round) uint32 {
	if r == RN {
		return b32(Sub32(f32(a), f32(b)))
	}
	return sumF32(float64(f32(a)), -float64(f32(b)), r)
}

// FMAF32 is fma.f32, rounded once.
func FMAF32(a, b, c uint32, r Round) uint32 {
	if r == RN {
		return b32(FMA32(f32(a), f32(b), f32(c)))
	}
	return sumF32(float64(f32(a))*float64(f32(b)), float64(f32(c)), r)
}

func sumF32(p, c float64, r Round) uint32 {
	return F64ToF32(exactZero(oddSum(p, c), p, c, r), r)
}

// MulF32 is mul.f32.
func MulF32(a, b uint32, r Round) uint32 {
	if r == RN {
		return b32(Mul32(f32(a), f32(b)))
	}
	return F64ToF32(b64(float64(f32(a))*float64(f32(b))), r)
}

// DivF32 is div.f32 with a rounding mode.
func DivF32(a, b uint32, r Round) uint32 {
	if r == RN {
		return b32(Div32(f32(a), f32(b)))
	}
	x, y := float64(f32(a)), float64(f32(b))
	q := x / y
	if q == 0 || math.IsInf(q, 0) || q != q || math.IsInf(y, 0) {
		return F64ToF32(b64(q), r)
	}
	// The remainder x - q·y is exact in f64; its sign tells on which side of q the
	// exact quotient lies.
	return F64ToF32(towards(q, math.FMA(-q, y, x), y), r)
}

// towards makes q odd if it is not exact: rem/y has the sign of the exact
// value minus q.
func towards(q, rem, y float64) uint64 {
	u := b64(q)
	if rem == 0 || u&1 != 0 {
		return u
	}
	if (rem > 0) == (y > 0) == (q > 0) {
		return u + 1
	}
	return u - 1
}

// RcpF32 is rcp.f32 with a rounding mode.
func RcpF32(a uint32, r Round) uint32 { return DivF32(0x3f800000, a, r) }

// SqrtF32 is sqrt.f32 with a rounding mode.
func SqrtF32(a uint32, r Round) uint32 {
	if r == RN {
		return b32(Sqrt32(f32(a)))
	}
	x := float64(f32(a))
	q := math.Sqrt(x)
	if q != q || q == 0 || math.IsInf(q, 0) {
		return F64ToF32(b64(q), r)
	}
	return F64ToF32(towards(q, math.FMA(-q, q, x), 1), r)
}

// Add64 is add.rn.f64.
func Add64(a, b float64) float64 {
	if d := a + b; d == d {
		return d
	}
	return f64(nan64(b64(a), b64(b)))
}

// Sub64 is sub.rn.f64.
func Sub64(a, b float64) float64 {
	if d := a - b; d == d {
		return d
	}
	return f64(nan64(b64(a), b64(b)))
}

// Mul64 is mul.rn.f64.
func Mul64(a, b float64) float64 {
	if d := float64(a * b); d == d {
		return d
	}
	return f64(nan64(b64(a), b64(b)))
}

// Div64 is div.rn.f64.
func Div64(a, b float64) float64 {
	if d := a / b; d == d {
		return d
	}
	return f64(nan64(b64(a), b64(b)))
}

// FMA64 is fma.rn.f64.
func FMA64(a, b, c float64) float64 {
	if d := math.FMA(a, b, c); d == d {
		return d
	}
	return f64(nanFMA64(b64(a), b64(b), b64(c)))
}

func nanFMA64(a, b, c uint64) uint64 {
	if isNaN64(a) {
		return a | quiet
	}
	return nan64(b, c)
}

// Rcp64 is rcp.rn.f64.
func Rcp64(a float64) float64 { return Div64(1, a) }

// Sqrt64 is sqrt.rn.f64.
func Sqrt64(a float64) float64 {
	if d := math.Sqrt(a); d == d {
		return d
	}
	return f64(nan64(b64(a), 0))
}

// The f64 operations in the directed modes work on significands of 128 bits.

const (
	one64 = 0x3ff0000000000000
	max64 = inf64 - 1
)

// unpack64 splits a finite f64 other than zero into an exponent and a
// significand with bit 63 set: the magnitude is sig·2^(exp-63).
func unpack64(a uint64) (exp int, sig uint64) {
	exp, sig = int(a>>52&0x7ff), a&(1<<52-1)
	if exp == 0 {
		s := bits.LeadingZeros64(sig)
		return -1011 - s, sig << s
	}
	return exp - 1023, (sig | 1<<52) << 11
}

// round64 rounds a significand with bit 63 set to an f64 of the given sign;
// sticky reports that nonzero bits lie below it.
func round64(sign uint64, exp int, sig uint64, sticky bool, r Round) uint64 {
	shift := uint(11)
	var d uint64
	if exp >= -1022 {
		d = uint64(exp+1022) << 52
	} else {
		shift = uint(min(11-1022-exp, 65))
	}
	q, half := sig>>shift, sig>>(shift-1)&1 != 0
	sticky = sticky || sig<<1<<(64-shift) != 0
	if shift == 65 {
		half, sticky = false, true
	}
	if roundsUp(r, sign != 0, q&1 != 0, half, sticky) {
		q++
	}
	if d += q; d >= inf64 {
		d = inf64
		if !overflowsToInf(r, sign != 0) {
			d = max64
		}
	}
	return sign | d
}

// roundsUp reports whether a magnitude is rounded away from zero, given its last kept
// bit, the first dropped bit, and whether any later bit is set.
func roundsUp(r Round, neg, odd, half, rest bool) bool {
	switch r {
	case RN:
		return half && (odd || rest)
	case RNA:
		return half
	case RM:
		return neg && (half || rest)
	case RP:
		return !neg && (half || rest)
	}
	return false
}

// overflowsToInf reports whether a magnitude beyond the largest finite value becomes
// infinite; otherwise it becomes the largest finite value.
func overflowsToInf(r Round, neg bool) bool {
	return r == RN || r == RNA || r == RM && neg || r == RP && !neg
}

// AddF64 is add.f64.
func AddF64(a, b uint64, r Round) uint64 {
	if r == RN {
		return b64(Add64(f64(a), f64(b)))
	}
	return FMAF64(a, one64, b, r)
}

// SubF64 is sub.f64. A NaN operand keeps its sign.
func SubF64(a, b uint64, r Round) uint64 {
	if r == RN || isNaN64(b) {
		return b64(Sub64(f64(a), f64(b)))
	}
	return FMAF64(a, one64, b^sign64, r)
}

// MulF64 is mul.f64.
func MulF64(a, b uint64, r Round) uint64 {
	if d := f64(a) * f64(b); r == RN || special(a, b) || d != d {
		return b64(Mul64(f64(a), f64(b)))
	}
	ea, ma := unpack64(a)
	eb, mb := unpack64(b)
	hi, lo := bits.Mul64(ma, mb)
	exp := ea + eb + 1
	if hi>>63 == 0 {
		hi, lo, exp = hi<<1|lo>>63, lo<<1, exp-1
	}
	return round64((a^b)&sign64, exp, hi, lo != 0, r)
}

// special reports whether an operand is zero, infinite or NaN, so that product and
// quotient need no rounding.
func special(a, b uint64) bool {
	return a<<1 == 0 || b<<1 == 0 || a&inf64 == inf64 || b&inf64 == inf64
}

// DivF64 is div.f64.
func DivF64(a, b uint64, r Round) uint64 {
	if r == RN || special(a, b) {
		return b64(Div64(f64(a), f64(b)))
	}
	ea, ma := unpack64(a)
	eb, mb := unpack64(b)
	exp := ea - eb
	if ma < mb {
		exp--
	} else {
		ma >>= 1 // drops a zero: the low 11 bits are
	}
	q, rem := bits.Div64(ma, 0, mb)
	return round64((a^b)&sign64, exp, q, rem != 0, r)
}

// RcpF64 is rcp.f64.
func RcpF64(a uint64, r Round) uint64 { return DivF64(one64, a, r) }

// SqrtF64 is sqrt.f64: the nearest f64, moved by one if its square lies on the
// wrong side of a.
func SqrtF64(a uint64, r Round) uint64 {
	d := b64(Sqrt64(f64(a)))
	if r == RN || d<<1 == 0 || d&inf64 == inf64 {
		return d
	}
	ea, ma := unpack64(a)
	es, ms := unpack64(d)
	hi, lo := bits.Mul64(ms, ms) // the square is that·2^(2es-126)
	s := uint(ea - 2*es + 63)    // 62, 63 or 64
	ahi, alo := ma>>(64-s), ma<<s
	switch {
	case r == RP && (hi < ahi || hi == ahi && lo < alo):
		return d + 1
	case r != RP && (hi > ahi || hi == ahi && lo > alo):
		return d - 1
	}
	return d
}

// FMAF64 is fma.f64, rounded once.
func FMAF64(a, b, c uint64, r Round) uint64 {
	x, y, z := f64(a), f64(b), f64(c)
	switch {
	case r == RN || special(a, b) && c<<1 != 0 || c&inf64 == inf64 || isNaN64(a) || isNaN64(b) ||
		a&inf64 == inf64 || b&inf64 == inf64:
		// Exact, infinite or NaN in every mode.
		return b64(FMA64(x, y, z))
	case special(a, b): // zero plus zero
		p := (a ^ b) & sign64
		if p == c&sign64 {
			return p
		}
		return zero64(r)
	}
	ea, ma := unpack64(a)
	eb, mb := unpack64(b)
	// Product and addend as 128-bit significands with bit 126 the highest.
	ph, pl := bits.Mul64(ma, mb)
	pe, ps := ea+eb, (a^b)&sign64
	if ph>>63 != 0 {
		ph, pl, pe = ph>>1, ph<<63|pl>>1, pe+1 // drops a zero
	}
	if c<<1 == 0 {
		return pack128(ps, pe, ph, pl, r)
	}
	ce, mc := unpack64(c)
	ch, cl, cs := mc>>1, mc<<63, c&sign64
	if pe >= ce {
		ch, cl = shiftJam(ch, cl, uint(pe-ce))
	} else {
		ph, pl = shiftJam(ph, pl, uint(ce-pe))
		pe = ce
	}
	if ps == cs {
		lo, carry := bits.Add64(pl, cl, 0)
		hi, _ := bits.Add64(ph, ch, carry)
		return pack128(ps, pe, hi, lo, r)
	}
	if ph < ch || ph == ch && pl < cl {
		ph, pl, ch, cl, ps = ch, cl, ph, pl, cs
	}
	lo, borrow := bits.Sub64(pl, cl, 0)
	hi, _ := bits.Sub64(ph, ch, borrow)
	if hi|lo == 0 {
		return zero64(r)
	}
	return pack128(ps, pe, hi, lo, r)
}

// zero64 is the sum of opposite numbers.
func zero64(r Round) uint64 {
	if r == RM {
		return sign64
	}
	return 0
}

// shiftJam shifts 128 bits right and sets the last bit if any set bit was lost.
func shiftJam(hi, lo uint64, n uint) (uint64, uint64) {
	var lost uint64
	switch {
	case n == 0:
		return hi, lo
	case n < 64:
		lost = lo << (64 - n)
		hi, lo = hi>>n, hi<<(64-n)|lo>>n
	case n < 128:
		lost = lo | hi<<1<<(127-n)
		hi, lo = 0, hi>>(n-64)
	default:
		lost = hi | lo
		hi, lo = 0, 0
	}
	if lost != 0 {
		lo |= 1
	}
	return hi, lo
}

// pack128 rounds the magnitude {hi, lo}·2^(exp-126), which is not zero.
func pack128(sign uint64, exp int, hi, lo uint64, r Round) uint64 {
	exp++
	if hi == 0 {
		hi, lo, exp = lo, 0, exp-64
	}
	if n := uint(bits.LeadingZeros64(hi)); n != 0 {
		hi, lo, exp = hi<<n|lo>>(64-n), lo<<n, exp-int(n)
	}
	return round64(sign, exp, hi, lo != 0, r)
}
