package kasm

import (
	"math"

	"github.com/heddle-sim/heddle/internal/exec/num"
	"github.com/heddle-sim/heddle/internal/isa/kasm"
)

// IEEE computes the operations that IEEE-754 binary32 defines, rounding to nearest
// even: FADD, FSUB, FMUL, FFMA, FDIV, FSETP, ITOF, and FTOI toward zero, where NaN
// gives zero and out-of-range values give the nearest integer. It reports whether op
// is one of them. out may be one of the operands.
func IEEE(op kasm.Op, imm int32, a, b, c, out *Vector) bool {
	f := math.Float32frombits
	switch op {
	case kasm.FADD:
		for l := range out {
			out[l] = math.Float32bits(num.Add32(f(a[l]), f(b[l])))
		}
	case kasm.FSUB:
		for l := range out {
			out[l] = math.Float32bits(num.Sub32(f(a[l]), f(b[l])))
		}
	case kasm.FMUL:
		for l := range out {
			out[l] = math.Float32bits(num.Mul32(f(a[l]), f(b[l])))
		}
	case kasm.FFMA:
		for l := range out {
			out[l] = math.Float32bits(num.FMA32(f(a[l]), f(b[l]), f(c[l])))
		}
	case kasm.FDIV:
		for l := range out {
			out[l] = math.Float32bits(num.Div32(f(a[l]), f(b[l])))
		}
	case kasm.FTOI:
		for l := range out {
			out[l] = uint32(toInt(f(a[l])))
		}
	case kasm.ITOF:
		for l := range out {
			out[l] = math.Float32bits(float32(int32(a[l])))
		}
	case kasm.FSETP:
		for l := range out {
			out[l] = truth(compareFloats(kasm.Comparison(imm&7), f(a[l]), f(b[l])))
		}
	default:
		return false
	}
	return true
}

// toInt converts toward zero.
func toInt(x float32) int32 {
	switch {
	case x != x:
		return 0
	case x >= math.MaxInt32:
		return math.MaxInt32
	case x <= math.MinInt32:
		return math.MinInt32
	}
	return int32(x)
}

// compareFloats compares; NaN is unequal to everything and unordered.
func compareFloats(cc kasm.Comparison, a, b float32) bool {
	switch cc {
	case kasm.EQ:
		return a == b
	case kasm.NE:
		return a != b
	case kasm.LT:
		return a < b
	case kasm.LE:
		return a <= b
	case kasm.GT:
		return a > b
	case kasm.GE:
		return a >= b
	}
	return false
}
