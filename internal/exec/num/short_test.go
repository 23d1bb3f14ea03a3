package num

// This file: names for functions that tests call by name and executors reach by a format.

func F32ToF16Sat(a uint32, r Round) uint16  { return FiniteF16(F32ToF16(a, r)) }
func F32ToBF16Sat(a uint32, r Round) uint16 { return FiniteBF16(F32ToBF16(a, r)) }
func F32ToTF32Sat(a uint32, r Round) uint32 { return FiniteTF32(F32ToTF32(a, r)) }

// F32ToE4M3 is cvt.rn.satfinite.e4m3x2.f32 for one element.
func F32ToE4M3(a uint32) uint8 { return toNarrow(F32ToF64(a), E4M3) }

// F32ToE5M2 is cvt.rn.satfinite.e5m2x2.f32 for one element.
func F32ToE5M2(a uint32) uint8 { return toNarrow(F32ToF64(a), E5M2) }

// F32ToE2M3 is cvt.rn.satfinite.e2m3x2.f32 for one element.
func F32ToE2M3(a uint32) uint8 { return toNarrow(F32ToF64(a), E2M3) }

// F32ToE3M2 is cvt.rn.satfinite.e3m2x2.f32 for one element.
func F32ToE3M2(a uint32) uint8 { return toNarrow(F32ToF64(a), E3M2) }

// F32ToE2M1 is cvt.rn.satfinite.e2m1x2.f32 for one element, in the low four
// bits.
func F32ToE2M1(a uint32) uint8 { return toNarrow(F32ToF64(a), E2M1) }

// F16ToE4M3 is cvt.rn.satfinite.e4m3x2.f16x2 for one element.
func F16ToE4M3(a uint16) uint8 { return toNarrow(F16ToF64(a), E4M3) }

// F16ToE5M2 is cvt.rn.satfinite.e5m2x2.f16x2 for one element.
func F16ToE5M2(a uint16) uint8 { return toNarrow(F16ToF64(a), E5M2) }

// F32ToE4M3RS is cvt.rs.satfinite.e4m3x4.f32 for one element.
func F32ToE4M3RS(a, rbits uint32) uint8 { return toNarrowRS(a, rbits, E4M3) }

// F32ToE5M2RS is cvt.rs.satfinite.e5m2x4.f32 for one element.
func F32ToE5M2RS(a, rbits uint32) uint8 { return toNarrowRS(a, rbits, E5M2) }

// F32ToE2M3RS is cvt.rs.satfinite.e2m3x4.f32 for one element.
func F32ToE2M3RS(a, rbits uint32) uint8 { return toNarrowRS(a, rbits, E2M3) }

// F32ToE3M2RS is cvt.rs.satfinite.e3m2x4.f32 for one element.
func F32ToE3M2RS(a, rbits uint32) uint8 { return toNarrowRS(a, rbits, E3M2) }

// F32ToE2M1RS is cvt.rs.satfinite.e2m1x4.f32 for one element.
func F32ToE2M1RS(a, rbits uint32) uint8 { return toNarrowRS(a, rbits, E2M1) }

// E4M3ToF32 widens.
func E4M3ToF32(a uint8) uint32 { return NarrowToF32(a, E4M3) }

// E5M2ToF32 widens.
func E5M2ToF32(a uint8) uint32 { return NarrowToF32(a, E5M2) }

// E2M3ToF32 widens; bits 6 and 7 are ignored.
func E2M3ToF32(a uint8) uint32 { return NarrowToF32(a, E2M3) }

// E3M2ToF32 widens; bits 6 and 7 are ignored.
func E3M2ToF32(a uint8) uint32 { return NarrowToF32(a, E3M2) }

// E2M1ToF32 widens; bits 4 to 7 are ignored.
func E2M1ToF32(a uint8) uint32 { return NarrowToF32(a, E2M1) }

// E4M3ToF16 widens.
func E4M3ToF16(a uint8) uint16 { return f16RN(E4M3ToF32(a)) }

// E5M2ToF16 widens.
func E5M2ToF16(a uint8) uint16 { return f16RN(E5M2ToF32(a)) }

// E2M3ToF16 widens.
func E2M3ToF16(a uint8) uint16 { return f16RN(E2M3ToF32(a)) }

// E3M2ToF16 widens.
func E3M2ToF16(a uint8) uint16 { return f16RN(E3M2ToF32(a)) }

// E2M1ToF16 widens.
func E2M1ToF16(a uint8) uint16 { return f16RN(E2M1ToF32(a)) }

// BF16ToUE8M0 is cvt.ue8m0x2.bf16x2 for one element.
func BF16ToUE8M0(a uint16, r Round, satfinite bool) uint8 {
	return F32ToUE8M0(BF16ToF32(a), r, satfinite)
}

// UE8M0ToF32 widens.
func UE8M0ToF32(a uint8) uint32 { return BF16ToF32(UE8M0ToBF16(a)) | uint32(a/0xff)*0xffff }

// Min64 is min.f64.
func Min64(a, b float64) float64 { return f64(MinF64(b64(a), b64(b))) }

// Max64 is max.f64.
func Max64(a, b float64) float64 { return f64(MaxF64(b64(a), b64(b))) }

// widened gives the elements of a format as executors widen them for DotF32.
func widened[T any](list []T, wide func(T) float32) []float32 {
	var out []float32
	for _, x := range list {
		out = append(out, wide(x))
	}
	return out
}

func byFormat(n Narrow) func(uint8) float32 {
	return func(x uint8) float32 { return f32(NarrowToF32(x, n)) }
}

func wideTF32(x uint32) float32 { return f32(TF32ToF32(x)) }

func DotF16(acc uint32, a, b []uint16) uint32 { return DotF32(acc, widened(a, h32), widened(b, h32)) }
func DotF16F16(acc uint16, a, b []uint16) uint16 {
	return DotF32F16(acc, widened(a, h32), widened(b, h32))
}
func DotBF16(acc uint32, a, b []uint16) uint32 { return DotF32(acc, widened(a, w32), widened(b, w32)) }
func DotTF32(acc uint32, a, b []uint32) uint32 {
	return DotF32(acc, widened(a, wideTF32), widened(b, wideTF32))
}

func DotFP8(acc uint32, a, b []uint8, aFmt, bFmt Narrow) uint32 {
	return DotF32(acc, widened(a, byFormat(aFmt)), widened(b, byFormat(bFmt)))
}

func DotFP8F16(acc uint16, a, b []uint8, aFmt, bFmt Narrow) uint16 {
	return DotF32F16(acc, widened(a, byFormat(aFmt)), widened(b, byFormat(bFmt)))
}

// parts gives the integers of words.
func parts(list []uint32, width uint, signed bool) []int32 {
	var out []int32
	for _, x := range list {
		for at := uint(0); at < 32; at += width {
			out = append(out, part(x, at, width, signed))
		}
	}
	return out
}

func DotS8(acc int32, a, b []uint32, aSigned, bSigned, satfinite bool) int32 {
	n := min(len(a), len(b))
	return DotInt(acc, parts(a[:n], 8, aSigned), parts(b[:n], 8, bSigned), satfinite)
}

func DotS4(acc int32, a, b []uint32, aSigned, bSigned, satfinite bool) int32 {
	n := min(len(a), len(b))
	return DotInt(acc, parts(a[:n], 4, aSigned), parts(b[:n], 4, bSigned), satfinite)
}
