package num

import (
	"math"
	"math/bits"
)

// The approximate instructions are computed in f64 with series of our own and rounded
// once more. That leaves them barely more than half a unit in the last place off: far
// inside what PTX allows and the same on every machine, but not the bits of any
// hardware. Each function states the bound of the PTX manual.

// mul is a product that is never fused with a following addition.
func mul(a, b float64) float64 { return float64(a * b) }

// The Taylor coefficients of 2^f: ln(2)^k / k!.
const (
	ln2  = 0.693147180559945309417232121458176568
	e2c1 = ln2
	e2c2 = e2c1 * ln2 / 2
	e2c3 = e2c2 * ln2 / 3
	e2c4 = e2c3 * ln2 / 4
	e2c5 = e2c4 * ln2 / 5
	e2c6 = e2c5 * ln2 / 6
	e2c7 = e2c6 * ln2 / 7
	e2c8 = e2c7 * ln2 / 8
	e2c9 = e2c8 * ln2 / 9
	e2cA = e2c9 * ln2 / 10
	e2cB = e2cA * ln2 / 11
	e2cC = e2cB * ln2 / 12
	e2cD = e2cC * ln2 / 13
)

// exp2 is 2^x for |x| < 1000, to a few units in the last place of f64.
func exp2(x float64) float64 {
	n := math.RoundToEven(x)
	f := x - n
	f2 := mul(f, f)
	f4 := mul(f2, f2)
	// Evaluate in pairs, so that the products do not depend on each other.
	a := 1 + mul(e2c1, f) + mul(f2, e2c2+mul(e2c3, f))
	b := e2c4 + mul(e2c5, f) + mul(f2, e2c6+mul(e2c7, f))
	c := e2c8 + mul(e2c9, f) + mul(f2, e2cA+mul(e2cB, f))
	d := e2cC + mul(e2cD, f)
	s := a + mul(f4, b+mul(f4, c+mul(f4, d)))
	return mul(s, f64(uint64(1023+int(n))<<52))
}

// Ex2ApproxF32 is ex2.approx.f32: within 2 ulp (relative error 2^-22.5 in
// older manuals). -inf gives +0, results below the normal range are subnormal.
func Ex2ApproxF32(a uint32) uint32 {
	x := float64(f32(a))
	switch {
	case x != x:
		return NaNF32
	case x >= 128:
		return inf32
	case x < -151:
		return 0
	}
	return b32(float32(exp2(x)))
}

// Lg2ApproxF32 is lg2.approx.f32: absolute error 2^-22 where the operand lies in
// (0.5, 2), relative error 2^-22 elsewhere. Zeros give -inf, negative operands
// NaN.
func Lg2ApproxF32(a uint32) uint32 {
	switch {
	case a&^sign32 == 0:
		return sign32 | inf32
	case a >= inf32: // +inf, NaN, and everything negative
		if a == inf32 {
			return a
		}
		return NaNF32
	}
	// x = m·2^e with m in [√½, √2): ln m = 2·atanh((m-1)/(m+1)).
	u := b64(float64(f32(a)))
	e := int(u>>52) - 1023
	u = u&(1<<52-1) | one64
	if u > 0x3ff6a09e667f3bcd {
		u -= 1 << 52
		e++
	}
	m := f64(u)
	s := (m - 1) / (m + 1)
	s2 := mul(s, s)
	sum := 1.0 / 23
	for k := 21; k > 0; k -= 2 {
		sum = mul(sum, s2) + oddReciprocals[k/2]
	}
	const twoOverLn2 = 2.88539008177792681471984936200378427
	return b32(float32(float64(e) + mul(mul(sum, s), twoOverLn2)))
}

// oddReciprocals holds 1/(2k+1).
var oddReciprocals = [...]float64{1, 1. / 3, 1. / 5, 1. / 7, 1. / 9, 1. / 11, 1. / 13, 1. / 15, 1. / 17, 1. / 19, 1. / 21}

// twoOverPi is 2/π as a binary fraction of 320 bits, after 64 zero bits.
var twoOverPi = [...]uint64{
	0,
	0xa2f9836e4e441529, 0xfc2757d1f534ddc0, 0xdb6295993c439041,
	0xfe5163abdebbc561, 0xb7246e3a424dd2e0,
}

// reduce writes a finite, non-negative x as q·π/2 + r with |r| ≤ π/4 and
// returns q modulo 4 and r.
func reduce(x float32) (q uint64, r float64) {
	// π/2 in three parts, the first two of 33 bits, whose products with q are
	// then exact below 2^20.
	const (
		part1 = 0x1.921fb544p+00
		part2 = 0x1.0b4611a6p-34
		part3 = 0x1.3198a2e037073p-69
	)
	if x < 1<<20 {
		k := math.RoundToEven(mul(float64(x), 2/math.Pi))
		r = float64(x) - mul(k, part1)
		r = r - mul(k, part2)
		return uint64(k) & 3, r - mul(k, part3)
	}
	// x = m·2^e: multiply m by the 128 bits of 2/π that matter, those whose
	// weight times 2^e is below 4. The product's top two bits are then q.
	u := b32(x)
	m := uint64(u&(1<<23-1) | 1<<23)
	at := uint(64 + int(u>>23) - 150 - 2)
	w, s := at/64, at%64
	hi := twoOverPi[w]<<s | twoOverPi[w+1]>>1>>(63-s)
	lo := twoOverPi[w+1]<<s | twoOverPi[w+2]>>1>>(63-s)
	carry, low := bits.Mul64(m, lo)
	high := m*hi + carry
	// Round to the nearest q; the rest, as a signed fraction of π/2.
	q = high >> 62
	high, low = high<<2|low>>62, low<<2
	neg := high>>63 != 0
	if neg {
		q++
		var borrow uint64
		low, borrow = bits.Sub64(0, low, 0)
		high, _ = bits.Sub64(0, high, borrow)
	}
	r = mul(float64(high), 0x1p-64) + mul(float64(low), 0x1p-128)
	r = mul(r, math.Pi/2)
	if neg {
		r = -r
	}
	return q & 3, r
}

// sinCos is the sine of r + q·π/2 for |r| ≤ π/4.
func sinCos(q uint64, r float64) float64 {
	r2 := mul(r, r)
	var s float64
	if q&1 == 0 {
		s = -1. / 1307674368000
		for _, c := range [...]float64{1. / 6227020800, -1. / 39916800, 1. / 362880, -1. / 5040, 1. / 120, -1. / 6} {
			s = mul(s, r2) + c
		}
		s = r + mul(mul(s, r2), r)
	} else {
		s = 1. / 20922789888000
		for _, c := range [...]float64{-1. / 87178291200, 1. / 479001600, -1. / 3628800, 1. / 40320, -1. / 720, 1. / 24, -1. / 2, 1} {
			s = mul(s, r2) + c
		}
	}
	if q&2 != 0 {
		return -s
	}
	return s
}

// SinApproxF32 is sin.approx.f32: absolute error 2^-20.5 in [-2π, 2π] and
// 2^-14.7 in [-100π, 100π]. The manual gives no bound beyond that; here it
// holds everywhere. Infinities give NaN, zeros and subnormals themselves.
func SinApproxF32(a uint32) uint32 {
	if a&inf32 == inf32 {
		return NaNF32
	}
	if a&inf32 == 0 {
		return a
	}
	q, r := reduce(f32(a &^ sign32))
	return b32(float32(sinCos(q, r))) ^ a&sign32
}

// CosApproxF32 is cos.approx.f32, with the bounds of SinApproxF32.
func CosApproxF32(a uint32) uint32 {
	if a&inf32 == inf32 {
		return NaNF32
	}
	q, r := reduce(f32(a &^ sign32))
	return b32(float32(sinCos(q+1, r)))
}

// TanhApproxF32 is tanh.approx.f32: relative error 2^-11. Subnormals give
// themselves.
func TanhApproxF32(a uint32) uint32 {
	x := math.Abs(float64(f32(a)))
	var t float64
	switch {
	case x != x:
		return NaNF32
	case x > 10:
		t = 1
	case x < 1./4096:
		t = x - mul(mul(x, x), x)/3
	default:
		e := exp2(mul(x, 2*math.Log2E))
		t = (e - 1) / (e + 1)
	}
	return b32(float32(t)) | a&sign32
}

// RcpApproxF32 is rcp.approx.f32: within 1 ulp. Zeros give infinities, and
// results below the normal range are subnormal.
func RcpApproxF32(a uint32) uint32 { return b32(Div32(1, f32(a))) }

// RsqrtApproxF32 is rsqrt.approx.f32: relative error 2^-22.9. Zeros give the
// infinity of their sign, negative operands NaN.
func RsqrtApproxF32(a uint32) uint32 {
	d := float32(1 / math.Sqrt(float64(f32(a))))
	if d != d {
		return NaNF32
	}
	return b32(d)
}

// SqrtApproxF32 is sqrt.approx.f32: relative error 2^-23. It is sqrt.rn.f32.
func SqrtApproxF32(a uint32) uint32 { return b32(Sqrt32(f32(a))) }

// DivApproxF32 is div.approx.f32: within 2 ulp for a divisor of magnitude 2^-126
// to 2^126. Above that the manual has the reciprocal vanish: the result is a
// zero, or NaN for an infinite dividend. Below it the quotient is correct.
func DivApproxF32(a, b uint32) uint32 {
	if m := b &^ sign32; m > 253<<23 && m < inf32 {
		if a&inf32 == inf32 {
			return NaNF32
		}
		return (a ^ b) & sign32
	}
	return b32(Div32(f32(a), f32(b)))
}

// DivFullF32 is div.full.f32: within 2 ulp. It is div.rn.f32.
func DivFullF32(a, b uint32) uint32 { return b32(Div32(f32(a), f32(b))) }

// RcpApproxFTZF64 is rcp.approx.ftz.f64: only the upper 32 bits of operand and result
// count, so the relative error is about 2^-21 (the manual calls it gross and gives no
// bound). NaN is 0x7fffffff00000000.
func RcpApproxFTZF64(a uint64) uint64 {
	return upper32(1 / f64(FTZF64(a&^(1<<32-1))))
}

// RsqrtApproxFTZF64 is rsqrt.approx.ftz.f64, with the precision of
// RcpApproxFTZF64.
func RsqrtApproxFTZF64(a uint64) uint64 {
	return upper32(1 / math.Sqrt(f64(FTZF64(a&^(1<<32-1)))))
}

// upper32 rounds an f64 to its upper half and flushes subnormals. The low half
// of a NaN operand does not count: if the upper alone is an infinity, it is one.
func upper32(x float64) uint64 {
	d := b64(x)
	switch {
	case x != x:
		return 0x7fffffff << 32
	case d&inf64 != inf64:
		d += 1 << 31
	}
	return FTZF64(d &^ (1<<32 - 1))
}

// RsqrtApproxF64 is rsqrt.approx.f64: within 2 ulp of f64.
func RsqrtApproxF64(a uint64) uint64 { return b64(Rcp64(Sqrt64(f64(a)))) }

// Ex2ApproxF16 is ex2.approx.f16: relative error 2^-9.9.
func Ex2ApproxF16(a uint16) uint16 { return f16RN(Ex2ApproxF32(F16ToF32(a))) }

// TanhApproxF16 is tanh.approx.f16: absolute error 2^-10.987.
func TanhApproxF16(a uint16) uint16 { return f16RN(TanhApproxF32(F16ToF32(a))) }

// Ex2ApproxBF16 is ex2.approx.ftz.bf16 without the flushing: relative error
// 2^-7.
func Ex2ApproxBF16(a uint16) uint16 { return bf16RN(Ex2ApproxF32(BF16ToF32(a))) }

// TanhApproxBF16 is tanh.approx.bf16: relative error 2^-8.
func TanhApproxBF16(a uint16) uint16 { return bf16RN(TanhApproxF32(BF16ToF32(a))) }
