package num

import (
	"math"
	"math/bits"
)

// F32ToF64 widens.
func F32ToF64(a uint32) uint64 {
	if isNaN32(a) {
		return uint64(a&sign32)<<32 | inf64 | quiet | uint64(a&(1<<23-1))<<29
	}
	return b64(float64(f32(a)))
}

// narrow rounds the magnitude of the f64 a, which is neither infinite nor NaN, to a
// format of mbits fraction bits whose smallest normal exponent is emin. The result is
// encoded as if exponents were unbounded: the caller compares it with the largest
// finite value.
func narrow(a uint64, mbits uint, emin int, r Round) uint64 {
	enc, q, rem, shift := split(a, mbits, emin)
	half := uint64(1) << (shift - 1)
	if roundsUp(r, a&sign64 != 0, q&1 != 0, rem&half != 0, rem&(half-1) != 0) {
		q++
	}
	return enc + q
}

// narrowRS is narrow with stochastic rounding: the low n bits of rbits are
// added to the first n bits dropped, and a carry rounds away from zero.
func narrowRS(a uint64, mbits uint, emin int, rbits uint32, n uint) uint64 {
	enc, q, rem, shift := split(a, mbits, emin)
	return enc + q + (rem>>(shift-n)+uint64(rbits)&(1<<n-1))>>n
}

// split cuts the magnitude of a at the last bit of the target format: enc is
// the exponent's share of the encoding, q what is kept (hidden bit included),
// rem what is dropped, shift bits wide.
func split(a uint64, mbits uint, emin int) (enc, q, rem uint64, shift uint) {
	exp, sig := int(a>>52&0x7ff)-1023, a&(1<<52-1)
	if exp >= -1022 {
		sig |= 1 << 52
	}
	shift = 52 - mbits
	if exp >= emin {
		enc = uint64(exp-emin) << mbits
	} else {
		// From 54 on everything is dropped and below half of the last bit.
		shift = min(shift+uint(emin-exp), 63)
	}
	return enc, sig >> shift, sig & (1<<shift - 1), shift
}

// limit handles overflow of a magnitude encoded by narrow.
func limit(mag, inf uint64, neg bool, r Round) uint64 {
	if mag < inf {
		return mag
	}
	if overflowsToInf(r, neg) {
		return inf
	}
	return inf - 1
}

// F64ToF32 narrows.
func F64ToF32(a uint64, r Round) uint32 {
	if a&inf64 == inf64 {
		if isNaN64(a) {
			return NaNF32
		}
		return uint32(a>>32)&sign32 | inf32
	}
	if r == RN {
		return b32(float32(f64(a)))
	}
	return uint32(a>>32)&sign32 | uint32(limit(narrow(a, 23, -126, r), inf32, a&sign64 != 0, r))
}

// F64ToF16 narrows, rounding once.
func F64ToF16(a uint64, r Round) uint16 {
	if a&inf64 == inf64 {
		if isNaN64(a) {
			return NaNF16
		}
		return uint16(a>>48)&sign16 | infF16
	}
	return uint16(a>>48)&sign16 | uint16(limit(narrow(a, 10, -14, r), infF16, a&sign64 != 0, r))
}

// F64ToBF16 narrows, rounding once.
func F64ToBF16(a uint64, r Round) uint16 {
	if a&inf64 == inf64 {
		if isNaN64(a) {
			return NaNBF16
		}
		return uint16(a>>48)&sign16 | infBF
	}
	return uint16(a>>48)&sign16 | uint16(limit(narrow(a, 7, -126, r), infBF, a&sign64 != 0, r))
}

// F32ToF16 narrows.
func F32ToF16(a uint32, r Round) uint16 {
	if r == RN {
		return f16RN(a)
	}
	return F64ToF16(F32ToF64(a), r)
}

// F32ToBF16 narrows.
func F32ToBF16(a uint32, r Round) uint16 {
	if r == RN {
		return bf16RN(a)
	}
	return F64ToBF16(F32ToF64(a), r)
}

// FiniteF16 is .satfinite: infinities become the largest finite value of their sign;
// NaN stays.
func FiniteF16(a uint16) uint16 { return satfinite16(a, infF16) }

// FiniteBF16 is FiniteF16 for bf16.
func FiniteBF16(a uint16) uint16 { return satfinite16(a, infBF) }

// FiniteTF32 is FiniteF16 for tf32.
func FiniteTF32(a uint32) uint32 {
	if a&^sign32 == inf32 {
		return a - 1<<13
	}
	return a
}

func satfinite16(a, inf uint16) uint16 {
	if a&^sign16 == inf {
		return a - 1
	}
	return a
}

// F32ToTF32 rounds to the 10 fraction bits of tf32 (RNA, RN or RZ; the other modes
// work too). The 13 bits below are zero; the manual leaves them open.
func F32ToTF32(a uint32, r Round) uint32 {
	mag := a &^ sign32
	if mag >= inf32 {
		if mag > inf32 {
			return NaNF32
		}
		return a
	}
	q := mag >> 13
	if roundsUp(r, a&sign32 != 0, q&1 != 0, mag&0x1000 != 0, mag&0xfff != 0) {
		q++
	}
	return a&sign32 | uint32(limit(uint64(q), inf32>>13, a&sign32 != 0, r))<<13
}

// F32ToF16RS is cvt.rs.f16x2.f32 for one element: stochastic rounding with the low 13
// bits of rbits. It is documented that the carry out of their sum with the dropped bits
// decides. How they are aligned for a subnormal result is an assumption: with the
// first dropped bits, as always.
func F32ToF16RS(a, rbits uint32, satfinite bool) uint16 {
	if a&inf32 == inf32 {
		return rs16(F32ToF16(a, RZ), infF16, satfinite)
	}
	mag := narrowRS(F32ToF64(a), 10, -14, rbits, 13)
	return rs16(uint16(a>>16)&sign16|uint16(min(mag, infF16)), infF16, satfinite)
}

// F32ToBF16RS is cvt.rs.bf16x2.f32 for one element, with the low 16 bits of
// rbits.
func F32ToBF16RS(a, rbits uint32, satfinite bool) uint16 {
	if a&inf32 == inf32 {
		return rs16(F32ToBF16(a, RZ), infBF, satfinite)
	}
	mag := narrowRS(F32ToF64(a), 7, -126, rbits, 16)
	return rs16(uint16(a>>16)&sign16|uint16(min(mag, infBF)), infBF, satfinite)
}

func rs16(a, inf uint16, satfinite bool) uint16 {
	if satfinite {
		return satfinite16(a, inf)
	}
	return a
}

// F16ToBF16 converts.
func F16ToBF16(a uint16, r Round) uint16 { return F32ToBF16(F16ToF32(a), r) }

// BF16ToF16 converts.
func BF16ToF16(a uint16, r Round) uint16 { return F32ToF16(BF16ToF32(a), r) }

func rint(x float64, r Round) float64 {
	switch r {
	case RZ:
		return math.Trunc(x)
	case RM:
		return math.Floor(x)
	case RP:
		return math.Ceil(x)
	}
	return math.RoundToEven(x)
}

// RintF32 rounds to an integral value, as cvt.rni.f32.f32 and similar conversions do.
// A zero keeps the sign of the operand.
func RintF32(a uint32, r Round) uint32 {
	if isNaN32(a) {
		return NaNF32
	}
	return b32(float32(rint(float64(f32(a)), r)))
}

// RintF64 rounds to an integral value.
func RintF64(a uint64, r Round) uint64 {
	if isNaN64(a) {
		return a | quiet
	}
	return b64(rint(f64(a), r))
}

// RintF16 rounds to an integral value.
func RintF16(a uint16, r Round) uint16 { return f16RN(RintF32(F16ToF32(a), r)) }

// RintBF16 rounds to an integral value.
func RintBF16(a uint16, r Round) uint16 { return bf16RN(RintF32(BF16ToF32(a), r)) }

// F32ToS converts to a signed integer of 8, 16, 32 or 64 bits, returned
// sign-extended. Out-of-range values clamp, and NaN gives 0, or the smallest integer
// if width is 64.
func F32ToS(a uint32, r Round, width uint) uint64 {
	if isNaN32(a) && width < 64 {
		return 0
	}
	return F64ToS(F32ToF64(a), r, width)
}

// F32ToU converts to an unsigned integer of 8, 16, 32 or 64 bits. Out-of-range values
// clamp, and NaN gives 0, or 1<<63 if width is 64.
func F32ToU(a uint32, r Round, width uint) uint64 {
	if isNaN32(a) && width < 64 {
		return 0
	}
	return F64ToU(F32ToF64(a), r, width)
}

// F64ToS converts to a signed integer, returned sign-extended. Out-of-range values
// clamp, and NaN gives the smallest integer.
func F64ToS(a uint64, r Round, width uint) uint64 {
	if isNaN64(a) {
		return -(uint64(1) << (width - 1))
	}
	x, end := rint(f64(a), r), f64(uint64(1022+width)<<52) // 2^(width-1)
	switch {
	case x >= end:
		return 1<<(width-1) - 1
	case x < -end:
		return -(uint64(1) << (width - 1))
	}
	return uint64(int64(x))
}

// F64ToU converts to an unsigned integer. Out-of-range values clamp, and NaN gives the
// integer with only its highest bit set.
func F64ToU(a uint64, r Round, width uint) uint64 {
	if isNaN64(a) {
		return 1 << (width - 1)
	}
	x := rint(f64(a), r)
	switch {
	case x >= f64(uint64(1023+width)<<52): // 2^width
		return ^uint64(0) >> (64 - width)
	case x <= 0:
		return 0
	case x >= 1<<63:
		return uint64(int64(x-1<<63)) | 1<<63
	}
	return uint64(int64(x))
}

// magnitude splits a signed integer.
func magnitude(a int64) (neg, mag uint64) {
	if a < 0 {
		return sign64, -uint64(a)
	}
	return 0, uint64(a)
}

// oddInt is an integer as an f64, rounded to odd if it does not fit.
func oddInt(sign, mag uint64) uint64 {
	if mag>>53 == 0 {
		return sign | b64(float64(mag))
	}
	n := uint(bits.Len64(mag) - 53)
	odd := mag >> n
	if mag&(1<<n-1) != 0 {
		odd |= 1
	}
	return sign | (b64(float64(odd)) + uint64(n)<<52)
}

// SToF32 converts, rounding once. A zero is +0 in every mode.
func SToF32(a int64, r Round) uint32 {
	if r == RN {
		return b32(float32(a))
	}
	return F64ToF32(oddInt(magnitude(a)), r)
}

// UToF32 converts, rounding once.
func UToF32(a uint64, r Round) uint32 {
	if r == RN {
		return b32(float32(a))
	}
	return F64ToF32(oddInt(0, a), r)
}

// SToF16 converts, rounding once. Values beyond the range of f16 overflow according to
// the mode.
func SToF16(a int64, r Round) uint16 { return F64ToF16(oddInt(magnitude(a)), r) }

// UToF16 converts, rounding once.
func UToF16(a uint64, r Round) uint16 { return F64ToF16(oddInt(0, a), r) }

// SToBF16 converts, rounding once.
func SToBF16(a int64, r Round) uint16 { return F64ToBF16(oddInt(magnitude(a)), r) }

// UToBF16 converts, rounding once.
func UToBF16(a uint64, r Round) uint16 { return F64ToBF16(oddInt(0, a), r) }

// SToF64 converts.
func SToF64(a int64, r Round) uint64 {
	if r == RN {
		return b64(float64(a))
	}
	return intF64(r, a < 0, uint64(max(a, -a)))
}

// UToF64 converts.
func UToF64(a uint64, r Round) uint64 {
	if r == RN {
		return b64(float64(a))
	}
	return intF64(r, false, a)
}

func intF64(r Round, neg bool, mag uint64) uint64 {
	if mag == 0 {
		return 0
	}
	var sign uint64
	if neg {
		sign = sign64
	}
	n := bits.LeadingZeros64(mag)
	return round64(sign, 63-n, mag<<n, false, r)
}

// SignExtend keeps the low width bits (8, 16, 32 or 64) and extends the highest of
// them.
func SignExtend(a uint64, width uint) uint64 { return uint64(int64(a<<(64-width)) >> (64 - width)) }

// ZeroExtend keeps the low width bits.
func ZeroExtend(a uint64, width uint) uint64 { return a << (64 - width) >> (64 - width) }

// SatSToS is cvt.sat from a signed to a signed integer of the given width.
func SatSToS(a int64, width uint) uint64 {
	most := int64(1)<<(width-1) - 1
	return uint64(min(max(a, -most-1), most))
}

// SatSToU is cvt.sat from a signed to an unsigned integer of the given width.
func SatSToU(a int64, width uint) uint64 {
	return min(uint64(max(a, 0)), ^uint64(0)>>(64-width))
}

// SatUToS is cvt.sat from an unsigned to a signed integer of the given width.
func SatUToS(a uint64, width uint) uint64 { return min(a, 1<<(width-1)-1) }

// SatUToU is cvt.sat from an unsigned to an unsigned integer of the given
// width.
func SatUToU(a uint64, width uint) uint64 { return min(a, ^uint64(0)>>(64-width)) }

// CvtPack is cvt.pack.sat: a and b clamped to width bits (16, 8, 4 or 2), with a above
// b above the low bits of c; at width 16 nothing of c is left.
func CvtPack(a, b int32, c uint32, width uint, signed bool) uint32 {
	var hi, lo uint64
	if signed {
		hi, lo = SatSToS(int64(a), width), SatSToS(int64(b), width)
	} else {
		hi, lo = SatSToU(int64(a), width), SatSToU(int64(b), width)
	}
	mask := uint32(1)<<width - 1
	return c<<(2*width) | uint32(hi)&mask<<width | uint32(lo)&mask
}
