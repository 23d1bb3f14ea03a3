package num

// F16 addition and multiplication go through f32, whose 24 bits suffice for the two
// roundings to equal one. Everything that f32 cannot hold goes through f64.

// F16ToF32 widens.
func F16ToF32(a uint16) uint32 {
	sign, mag := uint32(a&sign16)<<16, uint32(a&^sign16)<<13
	switch {
	case mag >= infF16<<13:
		if mag > infF16<<13 {
			return NaNF32
		}
		return sign | inf32
	case mag < 1<<23:
		// A subnormal: as the fraction of 2^-14, less the hidden bit.
		return sign | b32(f32(mag|113<<23)-1.0/(1<<14))
	}
	return sign | (mag + 112<<23)
}

// BF16ToF32 widens: a bf16 is the upper half of an f32, payload of a NaN
// included.
func BF16ToF32(a uint16) uint32 { return uint32(a) << 16 }

// F16ToF64 widens.
func F16ToF64(a uint16) uint64 { return F32ToF64(F16ToF32(a)) }

// BF16ToF64 widens.
func BF16ToF64(a uint16) uint64 { return F32ToF64(BF16ToF32(a)) }

// f16RN is f32 to f16 to nearest even.
func f16RN(a uint32) uint16 {
	sign, mag := uint16(a>>16)&sign16, a&^sign32
	switch {
	case mag >= 143<<23: // 2^16 and more
		if mag > inf32 {
			return NaNF16
		}
		return sign | infF16
	case mag < 113<<23:
		// Subnormal: the last bit of 0.5 weighs what that of an f16 does here,
		// and the exponent of the sum lies above the 16 bits that are kept.
		return sign | uint16(b32(f32(mag)+0.5))
	}
	return sign | uint16((mag-112<<23+0xfff+mag>>13&1)>>13)
}

// bf16RN is f32 to bf16 to nearest even.
func bf16RN(a uint32) uint16 {
	if isNaN32(a) {
		return NaNBF16
	}
	return uint16((a + 0x7fff + a>>16&1) >> 16)
}

func h32(a uint16) float32 { return f32(F16ToF32(a)) }
func w32(a uint16) float32 { return f32(BF16ToF32(a)) }

// AddF16 is add.rn.f16.
func AddF16(a, b uint16) uint16 { return f16RN(b32(h32(a) + h32(b))) }

// SubF16 is sub.rn.f16.
func SubF16(a, b uint16) uint16 { return f16RN(b32(h32(a) - h32(b))) }

// MulF16 is mul.rn.f16.
func MulF16(a, b uint16) uint16 { return f16RN(b32(float32(h32(a) * h32(b)))) }

// FMAF16 is fma.rn.f16, rounded once.
func FMAF16(a, b, c uint16) uint16 {
	u := oddSum(float64(h32(a))*float64(h32(b)), float64(h32(c)))
	if v, ok := oddF32(u); ok {
		return f16RN(v)
	}
	return F64ToF16(u, RN)
}

// oddF32 narrows an f64 that was rounded to odd, again to odd; ok is false outside the
// normal range of f32.
func oddF32(u uint64) (v uint32, ok bool) {
	exp := u>>52&0x7ff - 897
	v = uint32(u>>32)&sign32 | uint32(exp+1)<<23 | uint32(u>>29)&(1<<23-1)
	if u&(1<<29-1) != 0 {
		v |= 1
	}
	return v, exp < 254
}

// AddBF16 is add.rn.bf16.
func AddBF16(a, b uint16) uint16 { return bf16RN(b32(w32(a) + w32(b))) }

// SubBF16 is sub.rn.bf16.
func SubBF16(a, b uint16) uint16 { return bf16RN(b32(w32(a) - w32(b))) }

// MulBF16 is mul.rn.bf16. The product may be too small for f32.
func MulBF16(a, b uint16) uint16 {
	return F64ToBF16(b64(float64(w32(a))*float64(w32(b))), RN)
}

// FMABF16 is fma.rn.bf16, rounded once.
func FMABF16(a, b, c uint16) uint16 {
	u := oddSum(float64(w32(a))*float64(w32(b)), float64(w32(c)))
	if v, ok := oddF32(u); ok {
		return bf16RN(v)
	}
	return F64ToBF16(u, RN)
}
