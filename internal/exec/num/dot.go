package num

import "math/bits"

// Dot products of the tensor cores. PTX leaves the order and the precision of the
// accumulation open. Hardware aligns all products and the accumulator to the largest
// and truncates; how far differs by generation. Here products are exact, they are
// added to the accumulator in ascending order in f64, and the sum is rounded once, to
// nearest even. This is an assumption, closer to the exact result than any hardware.
// If a and b differ in length, the excess is ignored.

// DotF32 is the product of values that were widened to f32 from any format of
// at most 24 bits, so that an executor can widen each operand once.
func DotF32(acc uint32, a, b []float32) uint32 {
	return F64ToF32(b64(dot(float64(f32(acc)), a, b)), RN)
}

// DotF32F16 is DotF32 with an f16 accumulator.
func DotF32F16(acc uint16, a, b []float32) uint16 {
	return F64ToF16(b64(dot(float64(h32(acc)), a, b)), RN)
}

func dot(s float64, a, b []float32) float64 {
	n := min(len(a), len(b))
	a, b = a[:n], b[:n]
	for i, x := range a {
		s += mul(float64(x), float64(b[i]))
	}
	return s
}

// TF32ToF32 reads a register as tf32: the low 13 bits are ignored.
func TF32ToF32(a uint32) uint32 {
	if isNaN32(a) {
		return NaNF32
	}
	return a &^ 0x1fff
}

// DotF64 is a chain of fused multiply-adds in ascending order, each rounded.
func DotF64(acc uint64, a, b []uint64, r Round) uint64 {
	for i := range min(len(a), len(b)) {
		acc = FMAF64(a[i], b[i], acc, r)
	}
	return acc
}

// DotInt multiplies integers of any width, sign- or zero-extended. The sum is exact;
// at the end it wraps or, with satfinite, saturates.
func DotInt(acc int32, a, b []int32, satfinite bool) int32 {
	b = b[:len(a)]
	s := int64(acc)
	for i, x := range a {
		s += int64(x) * int64(b[i])
	}
	if satfinite {
		return clampS32(s)
	}
	return int32(s)
}

// DotB1 counts the set bits of a xor b, or of a and b.
func DotB1(acc int32, a, b []uint32, and bool) int32 {
	for i := range min(len(a), len(b)) {
		x := a[i] ^ b[i]
		if and {
			x = a[i] & b[i]
		}
		acc += int32(bits.OnesCount32(x))
	}
	return acc
}
