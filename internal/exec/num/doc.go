// Package num is arithmetic as PTX defines it, one lane at a time: bits in, bits
// out. It knows rounding modes, subnormals, saturation, the NaNs that NVIDIA
// hardware returns, the narrow formats of the tensor cores, and the error
// bounds of the approximate instructions. It does not know instructions,
// registers, warps or types of operands; exec calls it once per lane.
//
// Nothing here allocates, keeps state, or depends on the host processor: only IEEE
// add, subtract, multiply, divide, square root and fused multiply-add are taken from
// the host. Every product that is added to something is exact, or written so that the
// compiler must not fuse the two.
//
// # Naming
//
// Functions whose name ends in 32 or 64 alone (Add32, FMA64) take and return Go
// floats, round to nearest even, and are the fast path. Functions that end in a
// format (AddF32, MinBF16) take and return bits: uint64 for F64, uint32 for F32
// and TF32, uint16 for F16 and BF16, uint8 for E4M3, E5M2, E2M3, E3M2, E2M1 and
// UE8M0 (the narrow ones in the low bits). Packed types (f16x2 and friends) are
// two calls. Integer functions end in S (signed) or U (unsigned) and a width.
//
// # Modifiers
//
// The .ftz modifier is FTZF32 (or FTZF16) around each operand and around the
// result; .sat is SatF32 and so on around the result; .relu is ReluF16 and so
// on. Both are separate so that the common case does not pay for them.
//
// # NaN
//
// An f32, f16 or bf16 operation whose result is NaN returns the one NaN of that
// format, 0x7fffffff or 0x7fff, for all operands (PTX manual: payloads
// are not preserved in single precision; the bits are those that hardware
// returns). An f64 operation returns its first NaN operand with the quiet bit
// set, and 0xfff8000000000000 if it has none (the manual promises that payloads
// are preserved; which operand wins, and the sign of the generated one, is an
// assumption based on the observed behaviour of hardware). Conversions between formats
// return the NaN of the target format, except that bf16 to f32 keeps all bits
// (the manual leaves it open), and that to f64 sign and payload of the source
// are kept and the quiet bit is set.
//
// # Functions
//
// Rounding, f32 (fast path, then every mode of Round, RN RZ RM RP):
//
//	Add32, Sub32, Mul32, Div32(a, b float32) float32
//	FMA32(a, b, c float32) float32
//	Sqrt32, Rcp32(a float32) float32
//	Min32, Max32(a, b float32) float32
//	AddF32, SubF32, MulF32, DivF32(a, b uint32, r Round) uint32
//	FMAF32(a, b, c uint32, r Round) uint32
//	SqrtF32, RcpF32(a uint32, r Round) uint32
//
// f64 likewise:
//
//	Add64, Sub64, Mul64, Div64(a, b float64) float64
//	FMA64(a, b, c float64) float64
//	Sqrt64, Rcp64(a float64) float64
//	AddF64, SubF64, MulF64, DivF64(a, b uint64, r Round) uint64
//	FMAF64(a, b, c uint64, r Round) uint64
//	SqrtF64, RcpF64(a uint64, r Round) uint64
//
// f16 and bf16, round to nearest even, rounded once:
//
//	AddF16, SubF16, MulF16(a, b uint16) uint16
//	FMAF16(a, b, c uint16) uint16
//	AddBF16, SubBF16, MulBF16(a, b uint16) uint16
//	FMABF16(a, b, c uint16) uint16
//
// Signs, flushing, clamping, classes, order:
//
//	FTZ32(a float32) float32
//	FTZF32(a uint32) uint32, FTZF64(a uint64) uint64, FTZF16, FTZBF16(a uint16) uint16
//	SatF32(a uint32) uint32, SatF64(a uint64) uint64, SatF16, SatBF16(a uint16) uint16
//	ReluF32(a uint32) uint32, ReluF16, ReluBF16(a uint16) uint16
//	NegF32, AbsF32(a uint32) uint32, NegF64, AbsF64(a uint64) uint64
//	NegF16, AbsF16, NegBF16, AbsBF16(a uint16) uint16
//	CopysignF32(a, b uint32) uint32, CopysignF64(a, b uint64) uint64
//	TestpF32(t Testp, a uint32) bool, TestpF64(t Testp, a uint64) bool
//	CmpF32(c Cmp, a, b uint32) bool, CmpF64(c Cmp, a, b uint64) bool
//	CmpF16, CmpBF16(c Cmp, a, b uint16) bool
//	CmpS(c Cmp, a, b int64) bool, CmpU(c Cmp, a, b uint64) bool
//	MinF32, MaxF32(a, b uint32, m MinMax) uint32
//	Min3F32, Max3F32(a, b, c uint32, m MinMax) uint32
//	MinF64, MaxF64(a, b uint64) uint64
//	MinF16, MaxF16, MinBF16, MaxBF16(a, b uint16, m MinMax) uint16
//
// Conversions between float formats, in any of the four modes; RNA rounds to
// nearest, ties away:
//
//	F32ToF64(a uint32) uint64
//	F16ToF32, BF16ToF32(a uint16) uint32
//	F16ToF64, BF16ToF64(a uint16) uint64
//	F64ToF32(a uint64, r Round) uint32
//	F64ToF16, F64ToBF16(a uint64, r Round) uint16
//	F32ToF16, F32ToBF16(a uint32, r Round) uint16
//	F32ToTF32(a uint32, r Round) uint32                          RNA, RN, RZ
//	FiniteF16, FiniteBF16(a uint16) uint16, FiniteTF32(a uint32) uint32   .satfinite
//	F32ToF16RS, F32ToBF16RS(a, rbits uint32, satfinite bool) uint16
//	F16ToBF16, BF16ToF16(a uint16, r Round) uint16
//	RintF32(a uint32, r Round) uint32, RintF64(a uint64, r Round) uint64
//	RintF16, RintBF16(a uint16, r Round) uint16
//
// Narrow formats; these round to nearest even and saturate to the largest
// finite value, which is all that PTX has (relu: ReluF32 on the operand):
//
//	F32ToUE8M0(a uint32, r Round, satfinite bool) uint8           RZ, RP
//	UE8M0ToBF16(a uint8) uint16
//	F32ToNarrow(a uint32, n Narrow) uint8, F32ToNarrowRS(a, rbits uint32, n Narrow) uint8
//	NarrowToF32(a uint8, n Narrow) uint32                         E4M3, E5M2, E2M3, E3M2, E2M1
//	TF32ToF32(a uint32) uint32                                    drops the low 13 bits
//
// Conversions between floats and integers. Width is that of the integer, 8, 16, 32 or
// 64; its value is returned sign- or zero-extended to 64 bits. An f16 or bf16 operand
// is widened with F16ToF32 or BF16ToF32 first:
//
//	F32ToS(a uint32, r Round, width uint) uint64, F32ToU(a uint32, r Round, width uint) uint64
//	F64ToS(a uint64, r Round, width uint) uint64, F64ToU(a uint64, r Round, width uint) uint64
//	SToF32(a int64, r Round) uint32, UToF32(a uint64, r Round) uint32
//	SToF64(a int64, r Round) uint64, UToF64(a uint64, r Round) uint64
//	SToF16, SToBF16(a int64, r Round) uint16, UToF16, UToBF16(a uint64, r Round) uint16
//
// Conversions between integers:
//
//	SignExtend(a uint64, width uint) uint64, ZeroExtend(a uint64, width uint) uint64
//	SatSToS, SatSToU(a int64, width uint) uint64, SatUToS, SatUToU(a uint64, width uint) uint64
//	CvtPack(a, b int32, c uint32, width uint, signed bool) uint32
//
// Integers:
//
//	MulHiU64(a, b uint64) uint64, MulHiS64(a, b int64) int64
//	MulHiU32(a, b uint32) uint32, MulHiS32(a, b int32) int32
//	Mul24LoU, Mul24HiU(a, b uint32) uint32, Mul24LoS, Mul24HiS(a, b int32) int32
//	AddSatS32, SubSatS32(a, b int32) int32
//	MadHiSatS32, Mad24HiSatS32(a, b, c int32) int32
//	AddC32, SubC32(a, b, carry uint32) (d, carryOut uint32)
//	AddC64, SubC64(a, b uint64, carry uint32) (d uint64, carryOut uint32)
//	DivU32, RemU32(a, b uint32) uint32, DivS32, RemS32(a, b int32) int32
//	DivU64, RemU64(a, b uint64) uint64, DivS64, RemS64(a, b int64) int64
//	DivU16, RemU16(a, b uint16) uint16, DivS16, RemS16(a, b int16) int16
//	SadU64(a, b, c uint64) uint64, SadS64(a, b, c int64) int64
//	ShlB16(a uint16, n uint32) uint16, ShrU16(a uint16, n uint32) uint16, ShrS16(a int16, n uint32) int16
//	ShlB32, ShrU32(a, n uint32) uint32, ShrS32(a int32, n uint32) int32
//	ShlB64, ShrU64(a uint64, n uint32) uint64, ShrS64(a int64, n uint32) int64
//	ShfL, ShfR(a, b, c uint32, clamp bool) uint32
//	BfeU32, BfeS32(a, pos, length uint32) uint32
//	BfeU64, BfeS64(a uint64, pos, length uint32) uint64
//	BfiB32(a, b, pos, length uint32) uint32, BfiB64(a, b uint64, pos, length uint32) uint64
//	BfindU32, BfindS32(a uint32, shiftamt bool) uint32
//	BfindU64, BfindS64(a uint64, shiftamt bool) uint32
//	Bmsk(a, b uint32, clamp bool) uint32
//	SzextS32, SzextU32(a, b uint32, clamp bool) uint32
//	Fns(mask, base uint32, offset int32) uint32
//	Prmt(a, b, c uint32, m PrmtMode) uint32
//	Lop3(a, b, c uint32, lut uint8) uint32
//	Dp4a(a, b, c uint32, aSigned, bSigned bool) uint32
//	Dp2a(a, b, c uint32, aSigned, bSigned, hi bool) uint32
//
// Leading zeros, population count and bit reversal are those of math/bits.
//
// Video instructions, over decoded parameters:
//
//	VSelect(a uint32, s VSel, signed bool) int64
//	VScalar(op VOp, a, b int64, p VParams) int64
//	VSet(c Cmp, a, b int64) int64
//	VMad(a, b, c uint32, p VMadParams) uint32
//	VFinish(v int64, c uint32, p VParams) uint32
//	VSimd(op VOp, a, b, c uint32, p VSimdParams) uint32
//	VSimdSet(cmp Cmp, a, b, c uint32, p VSimdParams) uint32
//
// Approximations; each one's comment states the bound that its test asserts:
//
//	Ex2ApproxF32, Lg2ApproxF32, SinApproxF32, CosApproxF32, TanhApproxF32(a uint32) uint32
//	RcpApproxF32, RsqrtApproxF32, SqrtApproxF32(a uint32) uint32
//	DivApproxF32, DivFullF32(a, b uint32) uint32
//	RcpApproxFTZF64, RsqrtApproxF64, RsqrtApproxFTZF64(a uint64) uint64
//	Ex2ApproxF16, TanhApproxF16, Ex2ApproxBF16, TanhApproxBF16(a uint16) uint16
//
// Dot products of the tensor cores; a and b have the same length:
//
//	DotF32(acc uint32, a, b []float32) uint32                     widened operands, f32 accumulator
//	DotF32F16(acc uint16, a, b []float32) uint16
//	DotF64(acc uint64, a, b []uint64, r Round) uint64
//	DotInt(acc int32, a, b []int32, satfinite bool) int32
//	DotB1(acc int32, a, b []uint32, and bool) int32
//	HopperF32(acc uint32, a, b *Terms, k int, bits int32) uint32  as wgmma sums
//	HopperF16(acc uint16, a, b *Terms, k int, bits int32) uint16
//
//	Unpack8(to *[4]int32, x uint32, signed bool)                  the integers of a register
//	Unpack4(to *[8]int32, x uint32, signed bool)
//
// FloatPanel and IntPanel compute eight of DotF32, DotF32F16 or DotInt at once.
//
// Whole warps:
//
//	FMALanes(d, a, b, c *[32]uint32)                              fma.rn.f32
//	FMALanesFTZ(d, a, b, c *[32]uint32)                           fma.rn.ftz.f32
package num
