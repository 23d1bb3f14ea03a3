package kasm

import (
	"math"
	"math/bits"

	"github.com/heddle-sim/heddle/internal/isa/kasm"
)

// Parts of a binary32 pattern.
const (
	signBit   = 1 << 31
	hiddenBit = 1 << 23
	mantissa  = hiddenBit - 1
	expMask   = 255
	bias      = 127
)

func exponent(x uint32) uint32 { return x >> 23 & expMask }

// significand is the mantissa with its hidden bit, which numbers with exponent zero
// lack.
func significand(x uint32) uint32 {
	if exponent(x) != 0 {
		return x&mantissa | hiddenBit
	}
	return x & mantissa
}

// Float computes an operation of the floating-point unit on all lanes as the RTL
// does. It deviates from IEEE-754: results are truncated, the difference of equal
// numbers is not zero, infinities and NaNs give zero, and some negative products are
// wrong. out may be one of the operands.
func Float(op kasm.Op, a, b, c, out *Vector) {
	switch op {
	case kasm.FADD:
		for l := range out {
			out[l] = add(multiply(a[l], one), b[l], false)
		}
	case kasm.FSUB:
		for l := range out {
			out[l] = add(a[l], b[l], true)
		}
	case kasm.FMUL:
		for l := range out {
			out[l] = add(multiply(a[l], b[l]), 0, false)
		}
	case kasm.FFMA:
		for l := range out {
			out[l] = add(multiply(a[l], b[l]), c[l], false)
		}
	case kasm.FDIV:
		for l := range out {
			out[l] = quotient(a[l], b[l])
		}
	case kasm.FTOI:
		for l := range out {
			out[l] = truncateFloat(a[l])
		}
	case kasm.SIN, kasm.COS, kasm.EX2, kasm.LG2, kasm.RCP, kasm.RSQ, kasm.SQRT, kasm.TANH:
		t, turn := &tables[op&7], uint32(0)
		if op == kasm.COS {
			turn = 0x4000
		}
		for l := range out {
			out[l] = t.at(a[l] + turn)
		}
	default:
		*out = Vector{}
	}
}

// Constants of the reciprocal's Newton iteration: one, two, and the line
// 48/17 - 32/17·d, in the bits that the RTL uses.
const (
	one       = 0x3f800000
	two       = 0x40000000
	seedSlope = 0xc00b4b4b
	seedStart = 0x4034b4b5
)

// multiply is the RTL's product.
func multiply(a, b uint32) uint32 {
	ea, eb := exponent(a), exponent(b)
	if ea == expMask || eb == expMask {
		return 0
	}
	sign := (a ^ b) & signBit
	p := uint64(significand(a)) * uint64(significand(b))
	if p == 0 {
		return sign
	}
	n := uint32(p >> 47)
	if n == 0 {
		p <<= 1
	}
	m := uint32(p>>24) & mantissa
	if p>>23&1 != 0 && p&mantissa != 0 {
		m = (m + 1) & mantissa // the carry is lost
	}
	e := ea + eb - bias + n
	switch e >> 7 & 3 { // of nine bits
	case 2:
		return sign | expMask<<23
	case 3:
		return sign
	}
	return sign | e&expMask<<23 | m
}

// add is the RTL's sum, or difference if sub is set.
func add(a, b uint32, sub bool) uint32 {
	if exponent(a) == expMask || exponent(b) == expMask {
		return 0
	}
	large, small, swapped := a, b, false
	if a&^signBit < b&^signBit {
		large, small, swapped = b, a, true
	}
	e := exponent(large)
	sl, ss := significand(large), significand(small)>>(e-exponent(small))
	sign := large & signBit
	if sub && swapped {
		sign ^= signBit
	}
	var m uint32
	if ((a^b)&signBit == 0) != sub {
		s := sl + ss
		if s>>24 != 0 {
			m, e = s>>1, e+1
		} else {
			m = s
		}
	} else {
		s := sl + -ss&(1<<24-1)
		switch low := s & (1<<24 - 1); {
		case s>>24 == 0: // nothing was subtracted
			m = -s
		case low == 0:
			m, e = 0, e-24
		default:
			shift := uint32(bits.LeadingZeros32(low)) - 8
			m, e = low<<shift, e-shift
		}
	}
	return sign | e&expMask<<23 | m&mantissa
}

// quotient is the RTL's division by three steps of Newton's iteration.
func quotient(a, b uint32) uint32 {
	d := b&mantissa | 126<<23
	n := a&(signBit|mantissa) | (exponent(a)+126-exponent(b))&expMask<<23
	x := add(multiply(seedSlope, d), seedStart, false)
	for range 3 {
		x = multiply(x, add(two, multiply(x, d)|signBit, false))
	}
	return (a^b)&signBit | multiply(x, n)&^signBit
}

// truncateFloat is the RTL's FTOI: it drops the fraction bits and shifts the rest of
// the mantissa, but keeps the exponent, so the result is not an integer.
func truncateFloat(a uint32) uint32 {
	m := uint32(0)
	switch e := exponent(a); {
	case e >= 150:
		m = a & mantissa
	case e > bias:
		m = a & mantissa &^ (mantissa >> (e - bias))
	}
	return a&^mantissa | m>>1
}

// intToFloat converts rounding toward zero.
func intToFloat(x int32) uint32 {
	if x == 0 {
		return 0
	}
	sign, m := uint32(0), uint32(x)
	if x < 0 {
		sign, m = signBit, -m
	}
	top := uint32(bits.Len32(m)) - 1
	if top > 23 {
		m >>= top - 23
	} else {
		m <<= 23 - top
	}
	return sign | (bias+top)<<23 | m&mantissa
}

// table is a special function at 256 points in 16-bit fixed point, plus one more for
// interpolation.
type table [257]int16

// at interpolates: the operand's low 16 bits are eight bits of index and eight
// of fraction.
func (t *table) at(x uint32) uint32 {
	k, frac := x>>8&255, int32(x&255)
	v, next := int32(t[k]), int32(t[k+1])
	return uint32(int32(int16(v + (next-v)*frac>>8)))
}

// tables are the special functions by the low bits of their opcodes.
var tables = func() (t [8]table) {
	fill := func(op kasm.Op, end int16, f func(i float64) float64, scale func(i int) float64) {
		for i := range 256 {
			v := min(max(f(float64(i)), -1), 32767.0/32768)
			t[op&7][i] = int16(v * scale(i))
		}
		t[op&7][256] = end
	}
	scaled := func(s float64) func(int) float64 { return func(int) float64 { return s } }
	sine := func(i float64) float64 { return math.Sin(2 * math.Pi * i / 256) }
	half := func(i int) float64 {
		if i < 128 {
			return 32767
		}
		return 32768
	}
	fill(kasm.SIN, 0, sine, half)
	fill(kasm.COS, 0, sine, half)
	fill(kasm.EX2, 0x7fff, func(i float64) float64 { return math.Exp2(i/256 - 1) }, scaled(32767))
	fill(kasm.LG2, 0x7fff, func(i float64) float64 { return math.Log2(1 + i/256) }, scaled(32767))
	fill(kasm.RCP, 0x4000, func(i float64) float64 { return 1 / (1 + i/256) }, scaled(32767))
	fill(kasm.RSQ, 0x5a82, func(i float64) float64 { return 1 / math.Sqrt(1+i/256) }, scaled(32767))
	fill(kasm.SQRT, 0x5a82, func(i float64) float64 { return math.Sqrt(1+i/256) / 2 }, scaled(32768))
	fill(kasm.TANH, 0x7fdd, func(i float64) float64 { return math.Tanh((i - 128) / 32) }, scaled(32768))
	return t
}()
