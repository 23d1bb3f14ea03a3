package ptx

import (
	"math/bits"

	"github.com/heddle-sim/heddle/internal/exec/num"
)

// finite replaces an infinity by the largest finite value, which is below it by
// ulp. sign is the format's sign bit.
func finite(x, sign, inf, ulp uint64) uint64 {
	if x&^sign == inf {
		return x - ulp
	}
	return x
}

// The stages. Each is a loop of its own, so that a lane costs no call but that
// of its arithmetic.

func stFTZ32(v *[32]uint64, _ *cvtStage, _ *warp, m uint32) {
	for ; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m) & 31
		x := v[i]
		v[i] = uint64(num.FTZF32(uint32(x)))
	}
}

func stSatSToS(v *[32]uint64, s *cvtStage, _ *warp, m uint32) {
	for ; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m) & 31
		x := v[i]
		v[i] = num.SatSToS(int64(x), s.width)
	}
}

func stSatSToU(v *[32]uint64, s *cvtStage, _ *warp, m uint32) {
	for ; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m) & 31
		x := v[i]
		v[i] = num.SatSToU(int64(x), s.width)
	}
}

func stSatUToS(v *[32]uint64, s *cvtStage, _ *warp, m uint32) {
	for ; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m) & 31
		x := v[i]
		v[i] = num.SatUToS(x, s.width)
	}
}

func stSatUToU(v *[32]uint64, s *cvtStage, _ *warp, m uint32) {
	for ; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m) & 31
		x := v[i]
		v[i] = num.SatUToU(x, s.width)
	}
}

func stF32ToS(v *[32]uint64, s *cvtStage, _ *warp, m uint32) {
	for ; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m) & 31
		x := v[i]
		v[i] = num.F32ToS(uint32(x), s.round, s.width)
	}
}

func stF32ToU(v *[32]uint64, s *cvtStage, _ *warp, m uint32) {
	for ; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m) & 31
		x := v[i]
		v[i] = num.F32ToU(uint32(x), s.round, s.width)
	}
}

func stF64ToS(v *[32]uint64, s *cvtStage, _ *warp, m uint32) {
	for ; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m) & 31
		x := v[i]
		v[i] = num.F64ToS(x, s.round, s.width)
	}
}

func stF64ToU(v *[32]uint64, s *cvtStage, _ *warp, m uint32) {
	for ; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m) & 31
		x := v[i]
		v[i] = num.F64ToU(x, s.round, s.width)
	}
}

func stSToF16(v *[32]uint64, s *cvtStage, _ *warp, m uint32) {
	for ; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m) & 31
		x := v[i]
		v[i] = uint64(num.SToF16(int64(x), s.round))
	}
}

func stUToF16(v *[32]uint64, s *cvtStage, _ *warp, m uint32) {
	for ; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m) & 31
		x := v[i]
		v[i] = uint64(num.UToF16(x, s.round))
	}
}

func stSToBF16(v *[32]uint64, s *cvtStage, _ *warp, m uint32) {
	for ; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m) & 31
		x := v[i]
		v[i] = uint64(num.SToBF16(int64(x), s.round))
	}
}

func stUToBF16(v *[32]uint64, s *cvtStage, _ *warp, m uint32) {
	for ; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m) & 31
		x := v[i]
		v[i] = uint64(num.UToBF16(x, s.round))
	}
}

func stSToF32(v *[32]uint64, s *cvtStage, _ *warp, m uint32) {
	for ; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m) & 31
		x := v[i]
		v[i] = uint64(num.SToF32(int64(x), s.round))
	}
}

func stUToF32(v *[32]uint64, s *cvtStage, _ *warp, m uint32) {
	for ; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m) & 31
		x := v[i]
		v[i] = uint64(num.UToF32(x, s.round))
	}
}

func stSToF64(v *[32]uint64, s *cvtStage, _ *warp, m uint32) {
	for ; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m) & 31
		x := v[i]
		v[i] = num.SToF64(int64(x), s.round)
	}
}

func stUToF64(v *[32]uint64, s *cvtStage, _ *warp, m uint32) {
	for ; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m) & 31
		x := v[i]
		v[i] = num.UToF64(x, s.round)
	}
}

func stF16ToF32(v *[32]uint64, _ *cvtStage, _ *warp, m uint32) {
	for ; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m) & 31
		x := v[i]
		v[i] = uint64(num.F16ToF32(uint16(x)))
	}
}

func stF16ToF64(v *[32]uint64, _ *cvtStage, _ *warp, m uint32) {
	for ; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m) & 31
		x := v[i]
		v[i] = num.F16ToF64(uint16(x))
	}
}

func stF16ToBF16(v *[32]uint64, s *cvtStage, _ *warp, m uint32) {
	for ; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m) & 31
		x := v[i]
		v[i] = uint64(num.F16ToBF16(uint16(x), s.round))
	}
}

func stBF16ToF32(v *[32]uint64, _ *cvtStage, _ *warp, m uint32) {
	for ; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m) & 31
		x := v[i]
		v[i] = uint64(num.BF16ToF32(uint16(x)))
	}
}

func stBF16ToF64(v *[32]uint64, _ *cvtStage, _ *warp, m uint32) {
	for ; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m) & 31
		x := v[i]
		v[i] = num.BF16ToF64(uint16(x))
	}
}

func stBF16ToF16(v *[32]uint64, s *cvtStage, _ *warp, m uint32) {
	for ; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m) & 31
		x := v[i]
		v[i] = uint64(num.BF16ToF16(uint16(x), s.round))
	}
}

func stF32ToF16(v *[32]uint64, s *cvtStage, _ *warp, m uint32) {
	for ; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m) & 31
		x := v[i]
		v[i] = uint64(num.F32ToF16(uint32(x), s.round))
	}
}

func stF32ToBF16(v *[32]uint64, s *cvtStage, _ *warp, m uint32) {
	for ; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m) & 31
		x := v[i]
		v[i] = uint64(num.F32ToBF16(uint32(x), s.round))
	}
}

func stF32ToF64(v *[32]uint64, _ *cvtStage, _ *warp, m uint32) {
	for ; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m) & 31
		x := v[i]
		v[i] = num.F32ToF64(uint32(x))
	}
}

func stF32ToTF32(v *[32]uint64, s *cvtStage, _ *warp, m uint32) {
	for ; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m) & 31
		x := v[i]
		v[i] = uint64(num.F32ToTF32(uint32(x), s.round))
	}
}

func stF64ToF16(v *[32]uint64, s *cvtStage, _ *warp, m uint32) {
	for ; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m) & 31
		x := v[i]
		v[i] = uint64(num.F64ToF16(x, s.round))
	}
}

func stF64ToBF16(v *[32]uint64, s *cvtStage, _ *warp, m uint32) {
	for ; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m) & 31
		x := v[i]
		v[i] = uint64(num.F64ToBF16(x, s.round))
	}
}

func stF64ToF32(v *[32]uint64, s *cvtStage, _ *warp, m uint32) {
	for ; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m) & 31
		x := v[i]
		v[i] = uint64(num.F64ToF32(x, s.round))
	}
}

func stRint16(v *[32]uint64, s *cvtStage, _ *warp, m uint32) {
	for ; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m) & 31
		x := v[i]
		v[i] = uint64(num.RintF16(uint16(x), s.round))
	}
}

func stRintBF(v *[32]uint64, s *cvtStage, _ *warp, m uint32) {
	for ; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m) & 31
		x := v[i]
		v[i] = uint64(num.RintBF16(uint16(x), s.round))
	}
}

func stRint32(v *[32]uint64, s *cvtStage, _ *warp, m uint32) {
	for ; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m) & 31
		x := v[i]
		v[i] = uint64(num.RintF32(uint32(x), s.round))
	}
}

func stRint64(v *[32]uint64, s *cvtStage, _ *warp, m uint32) {
	for ; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m) & 31
		x := v[i]
		v[i] = num.RintF64(x, s.round)
	}
}

func stSat16(v *[32]uint64, _ *cvtStage, _ *warp, m uint32) {
	for ; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m) & 31
		x := v[i]
		v[i] = uint64(num.SatF16(uint16(x)))
	}
}

func stSatBF(v *[32]uint64, _ *cvtStage, _ *warp, m uint32) {
	for ; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m) & 31
		x := v[i]
		v[i] = uint64(num.SatBF16(uint16(x)))
	}
}

func stSat32(v *[32]uint64, _ *cvtStage, _ *warp, m uint32) {
	for ; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m) & 31
		x := v[i]
		v[i] = uint64(num.SatF32(uint32(x)))
	}
}

func stSat64(v *[32]uint64, _ *cvtStage, _ *warp, m uint32) {
	for ; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m) & 31
		x := v[i]
		v[i] = num.SatF64(x)
	}
}

func stRelu16(v *[32]uint64, _ *cvtStage, _ *warp, m uint32) {
	for ; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m) & 31
		x := v[i]
		v[i] = uint64(num.ReluF16(uint16(x)))
	}
}

func stReluBF(v *[32]uint64, _ *cvtStage, _ *warp, m uint32) {
	for ; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m) & 31
		x := v[i]
		v[i] = uint64(num.ReluBF16(uint16(x)))
	}
}

func stRelu32(v *[32]uint64, _ *cvtStage, _ *warp, m uint32) {
	for ; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m) & 31
		x := v[i]
		v[i] = uint64(num.ReluF32(uint32(x)))
	}
}

func stFinite16(v *[32]uint64, _ *cvtStage, _ *warp, m uint32) {
	for ; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m) & 31
		x := v[i]
		v[i] = finite(x, 1<<15, 0x7c00, 1)
	}
}

func stFiniteBF(v *[32]uint64, _ *cvtStage, _ *warp, m uint32) {
	for ; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m) & 31
		x := v[i]
		v[i] = finite(x, 1<<15, 0x7f80, 1)
	}
}

func stFiniteTF(v *[32]uint64, _ *cvtStage, _ *warp, m uint32) {
	for ; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m) & 31
		x := v[i]
		v[i] = finite(x, 1<<31, 0x7f800000, 1<<13)
	}
}

func stToNarrow(v *[32]uint64, s *cvtStage, _ *warp, m uint32) {
	for ; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m) & 31
		x := v[i]
		v[i] = uint64(num.F32ToNarrow(uint32(x), s.fmt))
	}
}

func stNarrowToF32(v *[32]uint64, s *cvtStage, _ *warp, m uint32) {
	for ; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m) & 31
		x := v[i]
		v[i] = uint64(num.NarrowToF32(uint8(x), s.fmt))
	}
}

func stToUE8M0(v *[32]uint64, s *cvtStage, _ *warp, m uint32) {
	for ; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m) & 31
		x := v[i]
		v[i] = uint64(num.F32ToUE8M0(uint32(x), s.round, s.sat))
	}
}

func stUE8M0ToBF16(v *[32]uint64, _ *cvtStage, _ *warp, m uint32) {
	for ; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m) & 31
		x := v[i]
		v[i] = uint64(num.UE8M0ToBF16(uint8(x)))
	}
}

func stF32ToF16RS(v *[32]uint64, s *cvtStage, w *warp, m uint32) {
	b := w.u32(s.rbits)
	for ; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m) & 31
		x, rb := v[i], b[i]>>s.shift
		v[i] = uint64(num.F32ToF16RS(uint32(x), rb, s.sat))
	}
}

func stF32ToBF16RS(v *[32]uint64, s *cvtStage, w *warp, m uint32) {
	b := w.u32(s.rbits)
	for ; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m) & 31
		x, rb := v[i], b[i]>>s.shift
		v[i] = uint64(num.F32ToBF16RS(uint32(x), rb, s.sat))
	}
}

func stToNarrowRS(v *[32]uint64, s *cvtStage, w *warp, m uint32) {
	b := w.u32(s.rbits)
	for ; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m) & 31
		x, rb := v[i], b[i]>>s.shift
		v[i] = uint64(num.F32ToNarrowRS(uint32(x), rb, s.fmt))
	}
}
