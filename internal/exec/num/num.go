package num

import "math"

// Round is a rounding mode.
type Round uint8

// The rounding modes of PTX. RNA exists for tf32 only; functions that accept it say
// so, the others treat it as RN.
const (
	RN  Round = iota // to nearest, ties to even
	RZ               // towards zero
	RM               // towards minus infinity
	RP               // towards plus infinity
	RNA              // to nearest, ties away from zero
)

// The NaNs that hardware returns for an operation without an f64 NaN operand.
const (
	NaNF32  uint32 = 0x7fffffff
	NaNF16  uint16 = 0x7fff
	NaNBF16 uint16 = 0x7fff
	NaNF64  uint64 = 0xfff8000000000000
)

const (
	sign32 = 1 << 31
	inf32  = 0x7f800000
	sign64 = 1 << 63
	inf64  = 0x7ff0000000000000
	quiet  = 1 << 51 // of an f64 NaN
	sign16 = 1 << 15
	infF16 = 0x7c00
	infBF  = 0x7f80
)

func f32(a uint32) float32 { return math.Float32frombits(a) }
func f64(a uint64) float64 { return math.Float64frombits(a) }
func b32(a float32) uint32 { return math.Float32bits(a) }
func b64(a float64) uint64 { return math.Float64bits(a) }

func isNaN32(a uint32) bool { return a&^sign32 > inf32 }
func isNaN64(a uint64) bool { return a&^sign64 > inf64 }
func isNaN16(a uint16) bool { return a&^sign16 > infF16 }
func isNaNBF(a uint16) bool { return a&^sign16 > infBF }

// nan64 is the NaN that an f64 operation on a and b returns.
func nan64(a, b uint64) uint64 {
	if isNaN64(a) {
		return a | quiet
	}
	if isNaN64(b) {
		return b | quiet
	}
	return NaNF64
}

// FTZ32 replaces a subnormal by the zero of its sign.
func FTZ32(a float32) float32 { return f32(FTZF32(b32(a))) }

// FTZF32 replaces a subnormal by the zero of its sign.
func FTZF32(a uint32) uint32 {
	if a&inf32 == 0 {
		return a & sign32
	}
	return a
}

// FTZF64 replaces a subnormal by the zero of its sign.
func FTZF64(a uint64) uint64 {
	if a&inf64 == 0 {
		return a & sign64
	}
	return a
}

// FTZBF16 replaces a subnormal by the zero of its sign. PTX has .ftz on bf16
// for ex2 only.
func FTZBF16(a uint16) uint16 {
	if a&infBF == 0 {
		return a & sign16
	}
	return a
}

// FTZF16 replaces a subnormal by the zero of its sign.
func FTZF16(a uint16) uint16 {
	if a&infF16 == 0 {
		return a & sign16
	}
	return a
}

// SatF32 clamps to [+0, 1]; NaN and -0 become +0 (that of -0 is an assumption).
func SatF32(a uint32) uint32 {
	switch {
	case a&sign32 != 0 || a > inf32:
		return 0
	case a > 0x3f800000:
		return 0x3f800000
	}
	return a
}

// SatF64 clamps as SatF32 does.
func SatF64(a uint64) uint64 {
	switch {
	case a&sign64 != 0 || a > inf64:
		return 0
	case a > 0x3ff0000000000000:
		return 0x3ff0000000000000
	}
	return a
}

// SatF16 clamps as SatF32 does.
func SatF16(a uint16) uint16 {
	switch {
	case a&sign16 != 0 || a > infF16:
		return 0
	case a > 0x3c00:
		return 0x3c00
	}
	return a
}

// SatBF16 clamps as SatF32 does.
func SatBF16(a uint16) uint16 {
	switch {
	case a&sign16 != 0 || a > infBF:
		return 0
	case a > 0x3f80:
		return 0x3f80
	}
	return a
}

// ReluF32 replaces negative values, -0 included, by +0, and NaN by the canonical NaN.
func ReluF32(a uint32) uint32 {
	switch {
	case isNaN32(a):
		return NaNF32
	case a&sign32 != 0:
		return 0
	}
	return a
}

// ReluF16 is ReluF32 for f16.
func ReluF16(a uint16) uint16 {
	switch {
	case isNaN16(a):
		return NaNF16
	case a&sign16 != 0:
		return 0
	}
	return a
}

// ReluBF16 is ReluF32 for bf16.
func ReluBF16(a uint16) uint16 {
	switch {
	case isNaNBF(a):
		return NaNBF16
	case a&sign16 != 0:
		return 0
	}
	return a
}

// NegF32 flips the sign, also of a NaN, which PTX leaves open.
func NegF32(a uint32) uint32 { return a ^ sign32 }

// AbsF32 clears the sign, also of a NaN, which PTX leaves open.
func AbsF32(a uint32) uint32 { return a &^ sign32 }

// NegF64 flips the sign.
func NegF64(a uint64) uint64 { return a ^ sign64 }

// AbsF64 clears the sign.
func AbsF64(a uint64) uint64 { return a &^ sign64 }

// NegF16 flips the sign.
func NegF16(a uint16) uint16 { return a ^ sign16 }

// AbsF16 clears the sign.
func AbsF16(a uint16) uint16 { return a &^ sign16 }

// NegBF16 flips the sign.
func NegBF16(a uint16) uint16 { return a ^ sign16 }

// AbsBF16 clears the sign.
func AbsBF16(a uint16) uint16 { return a &^ sign16 }

// CopysignF32 is copysign.f32: the sign of a with the magnitude of b.
func CopysignF32(a, b uint32) uint32 { return a&sign32 | b&^sign32 }

// CopysignF64 is copysign.f64: the sign of a with the magnitude of b.
func CopysignF64(a, b uint64) uint64 { return a&sign64 | b&^sign64 }

// Testp is the property that testp tests.
type Testp uint8

// The properties. Zeros count as normal.
const (
	TestpFinite Testp = iota
	TestpInfinite
	TestpNumber
	TestpNotANumber
	TestpNormal
	TestpSubnormal
)

// TestpF32 is testp.f32.
func TestpF32(t Testp, a uint32) bool { return testp(t, uint64(a&^sign32), inf32, 1<<23) }

// TestpF64 is testp.f64.
func TestpF64(t Testp, a uint64) bool { return testp(t, a&^sign64, inf64, 1<<52) }

func testp(t Testp, mag, inf, minNormal uint64) bool {
	switch t {
	case TestpFinite:
		return mag < inf
	case TestpInfinite:
		return mag == inf
	case TestpNumber:
		return mag <= inf
	case TestpNotANumber:
		return mag > inf
	case TestpNormal:
		return mag < inf && (mag >= minNormal || mag == 0)
	default:
		return mag != 0 && mag < minNormal
	}
}

// Cmp is a comparison: the set of relations for which it holds.
type Cmp uint8

// The relations of two values, and the comparisons of PTX composed of them. The
// integer comparisons lo, ls, hi, hs are LT, LE, GT, GE on unsigned operands.
const (
	relLess Cmp = 1 << iota
	relEqual
	relGreater
	relUnordered

	LT  = relLess
	EQ  = relEqual
	GT  = relGreater
	LE  = relLess | relEqual
	GE  = relGreater | relEqual
	NE  = relLess | relGreater
	LTU = LT | relUnordered
	EQU = EQ | relUnordered
	GTU = GT | relUnordered
	LEU = LE | relUnordered
	GEU = GE | relUnordered
	NEU = NE | relUnordered
	NUM = relLess | relEqual | relGreater
	NAN = relUnordered
)

func relation(a, b float64) Cmp {
	switch {
	case a < b:
		return relLess
	case a == b:
		return relEqual
	case a > b:
		return relGreater
	}
	return relUnordered
}

// CmpF32 compares two f32 values.
func CmpF32(c Cmp, a, b uint32) bool { return c&relation(float64(f32(a)), float64(f32(b))) != 0 }

// CmpF64 compares two f64 values.
func CmpF64(c Cmp, a, b uint64) bool { return c&relation(f64(a), f64(b)) != 0 }

// CmpF16 compares two f16 values.
func CmpF16(c Cmp, a, b uint16) bool { return CmpF32(c, F16ToF32(a), F16ToF32(b)) }

// CmpBF16 compares two bf16 values.
func CmpBF16(c Cmp, a, b uint16) bool { return CmpF32(c, BF16ToF32(a), BF16ToF32(b)) }

// CmpS compares two signed integers, sign-extended from any width.
func CmpS(c Cmp, a, b int64) bool {
	switch {
	case a < b:
		return c&relLess != 0
	case a == b:
		return c&relEqual != 0
	}
	return c&relGreater != 0
}

// CmpU compares two unsigned integers, zero-extended from any width.
func CmpU(c Cmp, a, b uint64) bool {
	switch {
	case a < b:
		return c&relLess != 0
	case a == b:
		return c&relEqual != 0
	}
	return c&relGreater != 0
}

// MinMax is the set of modifiers of a floating-point min or max.
type MinMax uint8

// The modifiers. Without PropagateNaN a number wins over a NaN. XorSign compares the
// magnitudes of the operands and gives the result the xor of their signs; Magnitude
// (three operands) only compares the magnitudes.
const (
	PropagateNaN MinMax = 1 << iota
	XorSign
	Magnitude
)

// key32 maps the bits of an f32 that is not NaN to integers in numeric order,
// -0 below +0.
func key32(a uint32) int32 { return int32(a ^ uint32(int32(a)>>31)>>1) }

func key64(a uint64) int64 { return int64(a ^ uint64(int64(a)>>63)>>1) }

// Min32 is min.f32 without modifiers.
func Min32(a, b float32) float32 {
	if a < b {
		return a
	}
	if b < a {
		return b
	}
	return f32(MinF32(b32(a), b32(b), 0))
}

// Max32 is max.f32 without modifiers.
func Max32(a, b float32) float32 {
	if a > b {
		return a
	}
	if b > a {
		return b
	}
	return f32(MaxF32(b32(a), b32(b), 0))
}

// MinF32 is min.f32: -0 is below +0, and the result is the canonical NaN if both
// operands are NaN (with PropagateNaN, if one is).
func MinF32(a, b uint32, m MinMax) uint32 { return minMax32(a, b, m, 0) }

// MaxF32 is max.f32, with the rules of MinF32.
func MaxF32(a, b uint32, m MinMax) uint32 { return minMax32(a, b, m, -1) }

// Min3F32 is the three-operand min.f32 of PTX 8.8, which is min(min(a, b), c).
func Min3F32(a, b, c uint32, m MinMax) uint32 { return MinF32(MinF32(a, b, m), c, m) }

// Max3F32 is the three-operand max.f32 of PTX 8.8.
func Max3F32(a, b, c uint32, m MinMax) uint32 { return MaxF32(MaxF32(a, b, m), c, m) }

// minMax32 is min for flip 0 and max for flip -1: flipping every bit of a key
// reverses the order.
func minMax32(a, b uint32, m MinMax, flip int32) uint32 {
	var sign uint32
	if m&(XorSign|Magnitude) != 0 {
		if m&XorSign != 0 {
			sign = (a ^ b) & sign32
		}
		a &^= sign32
		b &^= sign32
	}
	an, bn := isNaN32(a), isNaN32(b)
	if an || bn {
		switch {
		case an && bn || m&PropagateNaN != 0:
			return NaNF32
		case an:
			return b | sign
		}
		return a | sign
	}
	if key32(a)^flip <= key32(b)^flip {
		return a | sign
	}
	return b | sign
}

// MinF64 is min.f64. PTX gives it no modifiers: a number wins over a NaN, and
// of two NaNs the first is returned, quieted.
func MinF64(a, b uint64) uint64 { return minMax64(a, b, 0) }

// MaxF64 is max.f64, with the rules of MinF64.
func MaxF64(a, b uint64) uint64 { return minMax64(a, b, -1) }

func minMax64(a, b uint64, flip int64) uint64 {
	an, bn := isNaN64(a), isNaN64(b)
	switch {
	case an && bn:
		return nan64(a, b)
	case an:
		return b
	case bn:
		return a
	case key64(a)^flip <= key64(b)^flip:
		return a
	}
	return b
}

// MinF16 is min.f16, with the rules of MinF32.
func MinF16(a, b uint16, m MinMax) uint16 { return minMax16(a, b, m, 0, infF16) }

// MaxF16 is max.f16, with the rules of MinF32.
func MaxF16(a, b uint16, m MinMax) uint16 { return minMax16(a, b, m, -1, infF16) }

// MinBF16 is min.bf16, with the rules of MinF32.
func MinBF16(a, b uint16, m MinMax) uint16 { return minMax16(a, b, m, 0, infBF) }

// MaxBF16 is max.bf16, with the rules of MinF32.
func MaxBF16(a, b uint16, m MinMax) uint16 { return minMax16(a, b, m, -1, infBF) }

// minMax16 serves f16 and bf16, which share sign and canonical NaN.
func minMax16(a, b uint16, m MinMax, flip int32, inf uint16) uint16 {
	var sign uint16
	if m&(XorSign|Magnitude) != 0 {
		if m&XorSign != 0 {
			sign = (a ^ b) & sign16
		}
		a &^= sign16
		b &^= sign16
	}
	an, bn := a&^sign16 > inf, b&^sign16 > inf
	if an || bn {
		switch {
		case an && bn || m&PropagateNaN != 0:
			return NaNF16
		case an:
			return b | sign
		}
		return a | sign
	}
	if key32(uint32(a)<<16)^flip <= key32(uint32(b)<<16)^flip {
		return a | sign
	}
	return b | sign
}
