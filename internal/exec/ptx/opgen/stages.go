package main

import "strings"

// stages are the steps of conversions that are one expression per lane, by name. x is
// the lane's bits, s the step; rb is the lane's random bits, for steps that use them.
var stages = [][2]string{
	{"stFTZ32", "uint64(num.FTZF32(uint32(x)))"},
	{"stSatSToS", "num.SatSToS(int64(x), s.width)"},
	{"stSatSToU", "num.SatSToU(int64(x), s.width)"},
	{"stSatUToS", "num.SatUToS(x, s.width)"},
	{"stSatUToU", "num.SatUToU(x, s.width)"},
	{"stF32ToS", "num.F32ToS(uint32(x), s.round, s.width)"},
	{"stF32ToU", "num.F32ToU(uint32(x), s.round, s.width)"},
	{"stF64ToS", "num.F64ToS(x, s.round, s.width)"},
	{"stF64ToU", "num.F64ToU(x, s.round, s.width)"},
	{"stSToF16", "uint64(num.SToF16(int64(x), s.round))"},
	{"stUToF16", "uint64(num.UToF16(x, s.round))"},
	{"stSToBF16", "uint64(num.SToBF16(int64(x), s.round))"},
	{"stUToBF16", "uint64(num.UToBF16(x, s.round))"},
	{"stSToF32", "uint64(num.SToF32(int64(x), s.round))"},
	{"stUToF32", "uint64(num.UToF32(x, s.round))"},
	{"stSToF64", "num.SToF64(int64(x), s.round)"},
	{"stUToF64", "num.UToF64(x, s.round)"},
	{"stF16ToF32", "uint64(num.F16ToF32(uint16(x)))"},
	{"stF16ToF64", "num.F16ToF64(uint16(x))"},
	{"stF16ToBF16", "uint64(num.F16ToBF16(uint16(x), s.round))"},
	{"stBF16ToF32", "uint64(num.BF16ToF32(uint16(x)))"},
	{"stBF16ToF64", "num.BF16ToF64(uint16(x))"},
	{"stBF16ToF16", "uint64(num.BF16ToF16(uint16(x), s.round))"},
	{"stF32ToF16", "uint64(num.F32ToF16(uint32(x), s.round))"},
	{"stF32ToBF16", "uint64(num.F32ToBF16(uint32(x), s.round))"},
	{"stF32ToF64", "num.F32ToF64(uint32(x))"},
	{"stF32ToTF32", "uint64(num.F32ToTF32(uint32(x), s.round))"},
	{"stF64ToF16", "uint64(num.F64ToF16(x, s.round))"},
	{"stF64ToBF16", "uint64(num.F64ToBF16(x, s.round))"},
	{"stF64ToF32", "uint64(num.F64ToF32(x, s.round))"},
	{"stRint16", "uint64(num.RintF16(uint16(x), s.round))"},
	{"stRintBF", "uint64(num.RintBF16(uint16(x), s.round))"},
	{"stRint32", "uint64(num.RintF32(uint32(x), s.round))"},
	{"stRint64", "num.RintF64(x, s.round)"},
	{"stSat16", "uint64(num.SatF16(uint16(x)))"},
	{"stSatBF", "uint64(num.SatBF16(uint16(x)))"},
	{"stSat32", "uint64(num.SatF32(uint32(x)))"},
	{"stSat64", "num.SatF64(x)"},
	{"stRelu16", "uint64(num.ReluF16(uint16(x)))"},
	{"stReluBF", "uint64(num.ReluBF16(uint16(x)))"},
	{"stRelu32", "uint64(num.ReluF32(uint32(x)))"},
	{"stFinite16", "uint64(num.FiniteF16(uint16(x)))"},
	{"stFiniteBF", "uint64(num.FiniteBF16(uint16(x)))"},
	{"stFiniteTF", "uint64(num.FiniteTF32(uint32(x)))"},
	{"stToNarrow", "uint64(num.F32ToNarrow(uint32(x), s.fmt))"},
	{"stNarrowToF32", "uint64(num.NarrowToF32(uint8(x), s.fmt))"},
	{"stToUE8M0", "uint64(num.F32ToUE8M0(uint32(x), s.round, s.sat))"},
	{"stUE8M0ToBF16", "uint64(num.UE8M0ToBF16(uint8(x)))"},
	{"stF32ToF16RS", "uint64(num.F32ToF16RS(uint32(x), rb, s.sat))"},
	{"stF32ToBF16RS", "uint64(num.F32ToBF16RS(uint32(x), rb, s.sat))"},
	{"stToNarrowRS", "uint64(num.F32ToNarrowRS(uint32(x), rb, s.fmt))"},
}

// stage writes the function of a step: a separate loop, so that the only call per lane
// is that of its arithmetic.
func stage(name, expr string) string {
	head, lane := "", "x := v[i]\n"
	if strings.Contains(expr, "rb") {
		head, lane = "b := w.u32(s.rbits)\n", "x, rb := v[i], b[i]>>s.shift\n"
	}
	return "\nfunc " + name + "(v *[32]uint64, s *cvtStage, w *warp, m uint32) {\n" + head +
		"for ; m != 0; m &= m - 1 {\ni := bits.TrailingZeros32(m) & 31\n" + lane + "v[i] = " + expr + "\n}\n}\n"
}
