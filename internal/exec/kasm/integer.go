package kasm

import (
	"math/bits"

	"github.com/heddle-sim/heddle/internal/isa/kasm"
)

// truth is a condition as a register value.
func truth(b bool) uint32 {
	if b {
		return 1
	}
	return 0
}

// Integer computes an operation of the integer unit on all lanes: a, b and c are the
// values of rs1, rs2 and rs3; sel has a bit for each lane in which SELP's predicate
// holds. Unknown operations, and those without a result, give zero. out may be one of
// the operands.
func Integer(op kasm.Op, imm int32, sel uint32, a, b, c, out *Vector) {
	i := uint32(imm)
	switch op {
	case kasm.ADD:
		for l := range out {
			out[l] = a[l] + b[l] + i
		}
	case kasm.SUB:
		for l := range out {
			out[l] = a[l] - b[l] - i
		}
	case kasm.MUL:
		for l := range out {
			out[l] = a[l] * (b[l] + i)
		}
	case kasm.IMAD:
		for l := range out {
			out[l] = a[l]*b[l] + c[l]
		}
	case kasm.NEG:
		for l := range out {
			out[l] = -a[l]
		}
	case kasm.MOV:
		for l := range out {
			out[l] = a[l] | i
		}
	case kasm.IDIV:
		for l := range out {
			out[l], _ = divide(a[l], b[l]+i)
		}
	case kasm.IREM:
		for l := range out {
			_, out[l] = divide(a[l], b[l]+i)
		}
	case kasm.IABS:
		for l := range out {
			out[l] = a[l]
			if int32(a[l]) < 0 {
				out[l] = -a[l]
			}
		}
	case kasm.IMIN:
		for l := range out {
			out[l] = uint32(min(int32(a[l]), int32(b[l]+i)))
		}
	case kasm.IMAX:
		for l := range out {
			out[l] = uint32(max(int32(a[l]), int32(b[l]+i)))
		}
	case kasm.SLT:
		for l := range out {
			out[l] = truth(a[l] < b[l]+i)
		}
	case kasm.SLE:
		for l := range out {
			out[l] = truth(int32(a[l]) <= int32(b[l]+i))
		}
	case kasm.SEQ:
		for l := range out {
			out[l] = truth(a[l] == b[l]+i)
		}
	case kasm.AND:
		for l := range out {
			out[l] = a[l] & (b[l] | i)
		}
	case kasm.OR:
		for l := range out {
			out[l] = a[l] | b[l] | i
		}
	case kasm.XOR:
		for l := range out {
			out[l] = a[l] ^ (b[l] | i)
		}
	case kasm.NOT:
		for l := range out {
			out[l] = ^a[l]
		}
	case kasm.SHL:
		for l := range out {
			out[l] = a[l] << (b[l] + i)
		}
	case kasm.SHR:
		for l := range out {
			out[l] = a[l] >> (b[l] + i)
		}
	case kasm.SHA:
		for l := range out {
			out[l] = uint32(int32(a[l]) >> (b[l] + i))
		}
	case kasm.POPC:
		for l := range out {
			out[l] = uint32(bits.OnesCount32(a[l]))
		}
	case kasm.CLZ:
		for l := range out {
			out[l] = uint32(bits.LeadingZeros32(a[l]))
		}
	case kasm.BREV:
		for l := range out {
			out[l] = bits.Reverse32(a[l])
		}
	case kasm.CNOT:
		for l := range out {
			out[l] = truth(a[l] == 0)
		}
	case kasm.TID:
		for l := range out {
			out[l] = uint32(l)
		}
	case kasm.SELP:
		for l := range out {
			if sel>>l&1 != 0 {
				out[l] = a[l]
			} else {
				out[l] = b[l]
			}
		}
	case kasm.ISETP:
		cc := kasm.Comparison(imm & 7)
		for l := range out {
			x, y := int32(a[l]), int32(b[l])
			out[l] = truth(compare(cc, x == y, x < y))
		}
	case kasm.FSETP:
		cc := kasm.Comparison(imm & 7)
		for l := range out {
			out[l] = truth(compare(cc, floatEqual(a[l], b[l]), floatLess(a[l], b[l])))
		}
	case kasm.FMIN:
		for l := range out {
			if floatLess(a[l], b[l]) {
				out[l] = a[l]
			} else {
				out[l] = b[l]
			}
		}
	case kasm.FMAX:
		for l := range out {
			if floatLess(b[l], a[l]) {
				out[l] = a[l]
			} else {
				out[l] = b[l]
			}
		}
	case kasm.FABS:
		for l := range out {
			out[l] = a[l] &^ signBit
		}
	case kasm.FNEG:
		for l := range out {
			out[l] = a[l] ^ signBit
		}
	case kasm.ITOF:
		for l := range out {
			out[l] = intToFloat(int32(a[l]))
		}
	default:
		*out = Vector{}
	}
}

// divide is signed division rounding toward zero. On division by zero, and in the one
// case that overflows, the core's quotient and remainder are zero.
func divide(a, b uint32) (quo, rem uint32) {
	x, y := int32(a), int32(b)
	if y == 0 || x == -1<<31 && y == -1 {
		return 0, 0
	}
	return uint32(x / y), uint32(x % y)
}

// compare derives the six comparisons from equal and less.
func compare(cc kasm.Comparison, equal, less bool) bool {
	switch cc {
	case kasm.EQ:
		return equal
	case kasm.NE:
		return !equal
	case kasm.LT:
		return less
	case kasm.LE:
		return less || equal
	case kasm.GT:
		return !less && !equal
	case kasm.GE: // zeros of different signs are both less and equal
		return equal || !less
	}
	return false
}

// floatEqual and floatLess order floating-point numbers by their bits; NaNs are
// ordered like any other pattern.
func floatEqual(a, b uint32) bool {
	return a == b || (a|b)&^signBit == 0
}

func floatLess(a, b uint32) bool {
	switch {
	case (a^b)&signBit != 0:
		return a&signBit != 0
	case a&signBit != 0:
		return a > b
	}
	return a < b
}
