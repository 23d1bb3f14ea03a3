package num

// The formats of eight bits and fewer. E4M3 has NaN (0x7f) but no infinity, E5M2 has
// both, E2M3, E3M2 and E2M1 have neither, and UE8M0 is a power of two with one NaN.
// Conversions to them saturate; a format without NaN turns it into the largest
// positive value.

// Narrow names a format with at most eight bits.
type Narrow uint8

// The narrow formats.
const (
	E4M3 Narrow = iota
	E5M2
	E2M3
	E3M2
	E2M1
)

// narrowFormat describes a format: fraction bits, smallest normal exponent,
// largest finite magnitude, NaN, position of the sign bit.
type narrowFormat struct {
	mbits    uint
	emin     int
	max, nan uint8
	sign     uint
}

var narrowFormats = [...]narrowFormat{
	E4M3: {3, -6, 0x7e, 0x7f, 7},  // up to 448
	E5M2: {2, -14, 0x7b, 0x7f, 7}, // up to 57344
	E2M3: {3, 0, 0x1f, 0x1f, 5},   // up to 7.5
	E3M2: {2, -2, 0x1f, 0x1f, 5},  // up to 28
	E2M1: {1, 0, 0x07, 0x07, 3},   // up to 6
}

// toNarrow rounds an f64 to nearest even.
func toNarrow(a uint64, n Narrow) uint8 {
	f := &narrowFormats[n]
	return f.pack(a, narrow(a, f.mbits, f.emin, RN))
}

// pack adds the sign and saturates the result of narrow, in which an infinity exceeds
// every finite value.
func (f *narrowFormat) pack(a, mag uint64) uint8 {
	if isNaN64(a) {
		return f.nan
	}
	return uint8(a>>63)<<f.sign | uint8(min(mag, uint64(f.max)))
}

// toNarrowRS rounds stochastically with the low eight bits of rbits, aligned with the
// first dropped bits (an assumption, as in F32ToF16RS).
func toNarrowRS(a, rbits uint32, n Narrow) uint8 {
	f := &narrowFormats[n]
	u := F32ToF64(a)
	return f.pack(u, narrowRS(u, f.mbits, f.emin, rbits, 8))
}

// F32ToNarrow converts to any of the formats like the function named after it.
func F32ToNarrow(a uint32, n Narrow) uint8 { return toNarrow(F32ToF64(a), n) }

// F32ToNarrowRS converts stochastically to any of the formats like the function named
// after it.
func F32ToNarrowRS(a, rbits uint32, n Narrow) uint8 { return toNarrowRS(a, rbits, n) }

// NarrowToF32 widens a value of any of the formats; bits above it are ignored.
func NarrowToF32(a uint8, n Narrow) uint32 {
	f := &narrowFormats[n]
	mag := a & (1<<f.sign - 1)
	switch {
	case n == E5M2 && mag >= 0x7c:
		if mag > 0x7c {
			return NaNF32
		}
		return uint32(a>>7)<<31 | inf32
	case n == E4M3 && mag == 0x7f:
		return NaNF32
	}
	// As an f32 with the exponent of the narrow format, subnormal or not, then
	// scaled: 2^(127-bias), where emin is 1-bias.
	v := f32(uint32(mag)<<(23-f.mbits)) * f32(uint32(126+f.emin+127)<<23)
	return uint32(a>>f.sign)<<31 | b32(v)
}

// F32ToUE8M0 is cvt.ue8m0x2.f32 for one element: the power of two below (RZ) or above
// (RP) the magnitude, from 2^-127 to 2^127. NaN and larger values give 0xff, except
// that with satfinite larger values give 0xfe. Ignoring the sign is an assumption: the
// format has none.
func F32ToUE8M0(a uint32, r Round, satfinite bool) uint8 {
	mag := a &^ sign32
	if mag > inf32 {
		return 0xff
	}
	exp := mag >> 23
	if r == RP {
		// Above 2^-127 (a subnormal f32) the next power is 2^-126.
		if exp == 0 && mag > 1<<22 || exp != 0 && mag&(1<<23-1) != 0 {
			exp++
		}
	}
	if exp > 0xfe && satfinite {
		return 0xfe
	}
	return uint8(exp)
}

// UE8M0ToBF16 is cvt.rn.bf16x2.ue8m0x2 for one element.
func UE8M0ToBF16(a uint8) uint16 {
	switch a {
	case 0:
		return 0x40 // 2^-127 is subnormal
	case 0xff:
		return NaNBF16
	}
	return uint16(a) << 7
}
