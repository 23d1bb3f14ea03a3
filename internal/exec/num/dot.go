package num

import "math/bits"

// Dot products of the tensor cores. PTX leaves the order and the precision of
// the accumulation open. Hardware aligns all products and the accumulator to
// the largest and truncates; how far differs by generation. Here products are
// exact, they are added to the accumulator in ascending order in f64, and the
// sum is rounded once, to nearest even: an assumption, closer to the exact
// result than any hardware. If a and b differ in length the rest is ignored.

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

// DotF16 multiplies f16 and accumulates in f32.
func DotF16(acc uint32, a, b []uint16) uint32 {
	return F64ToF32(b64(dotF16(float64(f32(acc)), a, b)), RN)
}

// DotF16F16 multiplies f16 and accumulates in f16.
func DotF16F16(acc uint16, a, b []uint16) uint16 {
	return F64ToF16(b64(dotF16(float64(h32(acc)), a, b)), RN)
}

func dotF16(s float64, a, b []uint16) float64 {
	for i := range min(len(a), len(b)) {
		s += mul(float64(h32(a[i])), float64(h32(b[i])))
	}
	return s
}

// DotBF16 multiplies bf16 and accumulates in f32.
func DotBF16(acc uint32, a, b []uint16) uint32 {
	s := float64(f32(acc))
	for i := range min(len(a), len(b)) {
		s += mul(float64(w32(a[i])), float64(w32(b[i])))
	}
	return F64ToF32(b64(s), RN)
}

// DotTF32 multiplies tf32, whose low 13 bits are ignored, and accumulates in
// f32.
func DotTF32(acc uint32, a, b []uint32) uint32 {
	s := float64(f32(acc))
	for i := range min(len(a), len(b)) {
		s += mul(float64(f32(TF32ToF32(a[i]))), float64(f32(TF32ToF32(b[i]))))
	}
	return F64ToF32(b64(s), RN)
}

// TF32ToF32 reads a register as tf32: the low 13 bits are ignored.
func TF32ToF32(a uint32) uint32 {
	if isNaN32(a) {
		return NaNF32
	}
	return a &^ 0x1fff
}

// DotFP8 multiplies values of narrow formats and accumulates in f32.
func DotFP8(acc uint32, a, b []uint8, aFmt, bFmt Narrow) uint32 {
	return F64ToF32(b64(dotFP8(float64(f32(acc)), a, b, aFmt, bFmt)), RN)
}

// DotFP8F16 multiplies values of narrow formats and accumulates in f16.
func DotFP8F16(acc uint16, a, b []uint8, aFmt, bFmt Narrow) uint16 {
	return F64ToF16(b64(dotFP8(float64(h32(acc)), a, b, aFmt, bFmt)), RN)
}

func dotFP8(s float64, a, b []uint8, aFmt, bFmt Narrow) float64 {
	for i := range min(len(a), len(b)) {
		s += mul(float64(f32(NarrowToF32(a[i], aFmt))), float64(f32(NarrowToF32(b[i], bFmt))))
	}
	return s
}

// DotF64 is a chain of fused multiply-adds in ascending order, each rounded.
func DotF64(acc uint64, a, b []uint64, r Round) uint64 {
	for i := range min(len(a), len(b)) {
		acc = FMAF64(a[i], b[i], acc, r)
	}
	return acc
}

// finishInt ends an integer accumulation: wraps, or clamps with .satfinite.
func finishInt(s int64, satfinite bool) int32 {
	if satfinite {
		return clampS32(s)
	}
	return int32(s)
}

// DotS8 multiplies bytes, four to a word.
func DotS8(acc int32, a, b []uint32, aSigned, bSigned, satfinite bool) int32 {
	return dotInt(acc, a, b, 8, aSigned, bSigned, satfinite)
}

// DotS4 multiplies four-bit integers, eight to a word.
func DotS4(acc int32, a, b []uint32, aSigned, bSigned, satfinite bool) int32 {
	return dotInt(acc, a, b, 4, aSigned, bSigned, satfinite)
}

func dotInt(acc int32, a, b []uint32, width uint, aSigned, bSigned, satfinite bool) int32 {
	s := int64(acc)
	for i := range min(len(a), len(b)) {
		for at := uint(0); at < 32; at += width {
			s += int64(part(a[i], at, width, aSigned) * part(b[i], at, width, bSigned))
		}
	}
	return finishInt(s, satfinite)
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
