package sass

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/isa"
	"github.com/heddle-sim/heddle/internal/isa/sass"
)

// This file: what sm_89, sm_120 and sm_121 add.

// The formats of eight bits and fewer. In their own bits they are like those of IEEE, but for
// what they do with the highest exponent.
var (
	e4m3   = ieee{3, -6, 8}
	e5m2   = ieee{2, -14, 15}
	e2m3   = ieee{3, 0, 2}
	e3m2   = ieee{2, -2, 4}
	e2m1   = ieee{1, 0, 2}
	noIEEE = [2]ieee{}
)

// low is the first bit of a number in its byte for a matrix instruction (PTX manual,
// .kind::f8f6f4).
func (f ieee) low() int {
	if f == e2m1 {
		return 2
	}
	return 0
}

// wide is a result of 64 bits from operands of 64 bits.
func wide(f func(a, b uint64) uint64) func(l *lane) result {
	return func(l *lane) result { return word2(f(l.pair(0), l.pair(2))) }
}

// parts applies a function to the numbers of some bits in two words.
func parts(bits int, a, b uint32, f func(x, y uint32) uint32) (v uint32) {
	mask := uint32(1)<<bits - 1
	for at := 0; at < 32; at += bits {
		v |= f(a>>at&mask, b>>at&mask) & mask << at
	}
	return v
}

func TestNewIntegers(t *testing.T) {
	u8 := func(signed bool, f func(x, y int) int) func(x, y uint32) uint32 {
		return func(x, y uint32) uint32 {
			if signed {
				return uint32(f(int(int8(x)), int(int8(y))))
			}
			return uint32(f(int(x), int(y)))
		}
	}
	s16 := func(f func(x, y int) int) func(x, y uint32) uint32 {
		return func(x, y uint32) uint32 { return uint32(f(int(int16(x)), int(int16(y)))) }
	}
	checkOn(t, "sm_120", []opCase{
		{"IADD R0, R4, R5", "i", 1, 0, func(l *lane) result { return word1(l.r[0] + l.r[1]) }},
		{"IADD R0, -R4, R5", "i", 1, 0, func(l *lane) result { return word1(l.r[1] - l.r[0]) }},
		{"IADD R0, R4, -0x7", "i", 1, 0, func(l *lane) result { return word1(l.r[0] - 7) }},
		{"IADD R0, P0, R4, -R5", "i", 1, 1, func(l *lane) result {
			return result{[4]uint32{l.r[0] - l.r[1]}, [2]bool{l.r[0] >= l.r[1]}}
		}},
		{"IADD R0, P0, R4, R5", "i", 1, 1, func(l *lane) result {
			return result{[4]uint32{l.r[0] + l.r[1]}, [2]bool{l.r[0]+l.r[1] < l.r[0]}}
		}},
		{"IADD.X R0, R4, ~R5, P2", "i", 1, 0, func(l *lane) result {
			v := l.r[0] - l.r[1]
			if !l.p[0] {
				v--
			}
			return word1(v)
		}},
		{"IADD.X R0, R4, -0x1, !P2", "i", 1, 0, func(l *lane) result {
			v := l.r[0]
			if l.p[0] {
				v--
			}
			return word1(v)
		}},
		{"MOV.SPILL R0, UR4", "i", 1, 0, func(*lane) result { return word1(0) }},
		{"LEPC R0, 0x10", "i", 2, 0, func(*lane) result { return word2(0x10) }},
		{"IADD.64 R0, R4, R6", "i", 2, 0, wide(func(a, b uint64) uint64 { return a + b })},
		{"IADD.64 R0, R4, -R6", "i", 2, 0, wide(func(a, b uint64) uint64 { return a - b })},
		{"IADD.64 R0, -R4, R6", "i", 2, 0, wide(func(a, b uint64) uint64 { return b - a })},
		{"IADD.64 R0, R4, -0x800", "i", 2, 0, wide(func(a, _ uint64) uint64 { return a - 0x800 })},
		{"IADD3 R0, P0, P1, R4, R5, R6", "i", 1, 2, func(l *lane) result {
			v, u, w := sum3(l.r[0], l.r[1], l.r[2], [3]bool{}, 0)
			return result{[4]uint32{v}, [2]bool{u, w}}
		}},
		{"MOV.64 R0, 0xdf9f00010badc0de", "i", 2, 0, func(*lane) result { return word2(0xdf9f00010badc0de) }},
		{"MOV.64 R0, R6", "i", 2, 0, func(l *lane) result { return word2(l.pair(2)) }},
		{"MOV.64 R0, RZ", "i", 2, 0, func(l *lane) result { return word2(0) }},
		{"SEL.64 R0, R4, R6, P2", "i", 2, 0, func(l *lane) result {
			if l.p[0] {
				return word2(l.pair(0))
			}
			return word2(l.pair(2))
		}},
		{"SEL.64 R0, R4, -0x2, !P3", "i", 2, 0, func(l *lane) result {
			if !l.p[1] {
				return word2(l.pair(0))
			}
			return word2(0xfffffffffffffffe)
		}},
		{"ISETP.LT.S64.AND P0, P1, R4, R6, P2", "i", 0, 2, func(l *lane) result {
			r := int64(l.pair(0)) < int64(l.pair(2))
			return result{p: [2]bool{r && l.p[0], !r && l.p[0]}}
		}},
		{"ISETP.GE.U64.OR P0, P1, R4, R6, P2", "i", 0, 2, func(l *lane) result {
			r := l.pair(0) >= l.pair(2)
			return result{p: [2]bool{r || l.p[0], !r || l.p[0]}}
		}},
		{"ISETP.NE.S64.XOR P0, P1, R4, R4, P2", "i", 0, 2, func(l *lane) result { return result{p: [2]bool{l.p[0], !l.p[0]}} }},
		{"ISETP.GT.S64.AND P0, PT, R4, -0x1, PT", "i", 0, 1, func(l *lane) result { return result{p: [2]bool{int64(l.pair(0)) > -1}} }},
		{"IMNMX.S64 PT, PT, R0, R4, R6, P2, !PT", "i", 2, 0, func(l *lane) result {
			a, b := int64(l.pair(0)), int64(l.pair(2))
			if l.p[0] {
				return word2(uint64(min(a, b)))
			}
			return word2(uint64(max(a, b)))
		}},
		{"IMNMX.U64 PT, PT, R0, R4, 0x20, !PT, !PT", "i", 2, 0, wide(func(a, _ uint64) uint64 { return max(a, 32) })},
		{"VIADD R0, R4, -R5", "i", 1, 0, func(l *lane) result { return word1(l.r[0] - l.r[1]) }},
		{"VIADD.16x2 R0, R4, -R5", "i", 1, 0, func(l *lane) result {
			return word1(parts(16, l.r[0], l.r[1], func(x, y uint32) uint32 { return x - y }))
		}},
		{"VIADD.U8x4 R0, R4, R5", "i", 1, 0, func(l *lane) result {
			return word1(parts(8, l.r[0], l.r[1], func(x, y uint32) uint32 { return x + y }))
		}},
		{"VIADD.S32.ISAT R0, R4, R5", "i", 1, 0, func(l *lane) result {
			s := int64(int32(l.r[0])) + int64(int32(l.r[1]))
			return word1(uint32(int32(max(math.MinInt32, min(s, math.MaxInt32)))))
		}},
		{"VIMNMX.S32 R0, R4, R5, P2", "i", 1, 0, func(l *lane) result {
			a, b := int32(l.r[0]), int32(l.r[1])
			if l.p[0] {
				return word1(uint32(min(a, b)))
			}
			return word1(uint32(max(a, b)))
		}},
		{"VIMNMX.U32 R0, R4, 0x2, PT", "i", 1, 0, func(l *lane) result { return word1(min(l.r[0], 2)) }},
		{"VIMNMX.S32.RELU R0, R4, R5, PT", "i", 1, 0, func(l *lane) result {
			return word1(uint32(max(0, min(int32(l.r[0]), int32(l.r[1])))))
		}},
		{"VIMNMX.S16x2 R0, R4, R5, !PT", "i", 1, 0, func(l *lane) result {
			return word1(parts(16, l.r[0], l.r[1], s16(func(x, y int) int { return max(x, y) })))
		}},
		{"VIMNMX.S16x2.RELU R0, R4, R5, PT", "i", 1, 0, func(l *lane) result {
			return word1(parts(16, l.r[0], l.r[1], s16(func(x, y int) int { return max(0, min(x, y)) })))
		}},
		{"VIMNMX.U8x4 R0, R4, R5, PT", "i", 1, 0, func(l *lane) result {
			return word1(parts(8, l.r[0], l.r[1], u8(false, func(x, y int) int { return min(x, y) })))
		}},
		{"VIMNMX.S8x4 R0, R4, R5, !PT", "i", 1, 0, func(l *lane) result {
			return word1(parts(8, l.r[0], l.r[1], u8(true, func(x, y int) int { return max(x, y) })))
		}},
		{"FMNMX3 R0, R4, R5, R6, P2", "f", 1, 0, func(l *lane) result {
			f := func(a, b float32) float32 { return float32(math.Max(float64(a), float64(b))) }
			if l.p[0] {
				f = func(a, b float32) float32 { return float32(math.Min(float64(a), float64(b))) }
			}
			v, some := float32(0), false
			for k := range 3 {
				switch x := l.f32(k); {
				case x != x:
				case !some:
					v, some = x, true
				default:
					v = f(v, x)
				}
			}
			if !some {
				return word1(0x7fffffff)
			}
			return word1(math.Float32bits(v))
		}},
	})
}

// narrowFormat is a format as the PTX manual defines it: its numbers, by code, the bits of the
// magnitude, and what NaN becomes.
type narrowFormat struct {
	name   string
	f      ieee
	bits   int // without the sign
	finite int // codes of magnitudes of numbers
	nan    uint32
}

var narrowFormats = []narrowFormat{
	{"E4M3", e4m3, 7, 0x7f, 0x7f},
	{"E5M2", e5m2, 7, 0x7c, 0x7f},
	{"E2M3", e2m3, 5, 0x20, 0x1f},
	{"E3M2", e3m2, 5, 0x20, 0x1f},
	{"E2M1", e2m1, 3, 8, 0x07},
}

// value is the number with a code below finite.
func (n *narrowFormat) value(code int) float64 {
	e, m := code>>n.f.frac, float64(code&(1<<n.f.frac-1))
	if e == 0 {
		return math.Ldexp(m, n.f.least-n.f.frac)
	}
	return math.Ldexp(m+float64(int(1)<<n.f.frac), n.f.least+e-1-n.f.frac)
}

// nearest is the code of a number: the nearest one, of two the even one.
func (n *narrowFormat) nearest(x float32) uint32 {
	if x != x {
		return n.nan
	}
	best, a := 0, min(math.Abs(float64(x)), n.value(n.finite-1))
	for c := range n.finite {
		d, b := math.Abs(n.value(c)-a), math.Abs(n.value(best)-a)
		if d < b || d == b && c%2 == 0 {
			best = c
		}
	}
	sign := math.Float32bits(x) >> 31 << n.bits
	return sign | uint32(best)
}

func TestNarrowFloats(t *testing.T) {
	for _, n := range narrowFormats {
		width := 8
		if n.name == "E2M1" {
			width = 4
		}
		mask := uint32(1)<<(2*width) - 1
		pack := func(l *lane, relu bool) uint32 {
			v := uint32(0)
			for k := range 2 {
				x := l.f32(k)
				if relu && (x < 0 || x == 0 && math.Signbit(float64(x))) {
					x = 0
				}
				v = v<<width | n.nearest(x)
			}
			return v
		}
		archs := []string{"sm_120"}
		if width == 8 && n.bits == 7 {
			archs = append(archs, "sm_89")
		}
		for _, arch := range archs {
			mod := "F2FP.SATFINITE." + n.name + ".F32.PACK_AB_MERGE_C"
			cases := []opCase{
				{mod + " R0, R4, R5, RZ", "f", 1, 0, func(l *lane) result { return word1(pack(l, false)) }},
				{mod + " R0, R4, R5, R6", "f", 1, 0, func(l *lane) result { return word1(l.r[2]&^mask | pack(l, false)) }},
			}
			if width == 8 {
				cases = append(cases, opCase{mod + ".H1 R0, R4, R5, R6", "f", 1, 0, func(l *lane) result { return word1(l.r[2]&0xffff | pack(l, false)<<16) }})
			}
			if arch == "sm_120" {
				cases = append(cases, opCase{"F2FP.SATFINITE.RELU." + n.name + ".F32.PACK_AB_MERGE_C R0, R4, R5, RZ", "f", 1, 0, func(l *lane) result { return word1(pack(l, true)) }})
			}
			unpack := func(v uint32) uint32 {
				r := uint32(0)
				for k := range 2 {
					code := v >> (width * k)
					mag := int(code & (1<<n.bits - 1))
					sign := code >> n.bits & 1 << 15
					switch {
					case mag < n.finite:
						sign |= uint32(b16.round(exact(n.value(mag)), nearest, false))
					case n.name == "E5M2" && mag == 0x7c:
						sign |= 0x7c00
					default:
						sign = 0x7fff
					}
					r |= sign << (16 * k)
				}
				return r
			}
			if arch == "sm_120" || n.name == "E4M3" {
				cases = append(cases,
					opCase{"F2FP.F16." + n.name + ".UNPACK_B R0, R4", "i", 1, 0, func(l *lane) result { return word1(unpack(l.r[0])) }},
					opCase{"F2FP.F16." + n.name + ".UNPACK_B R0, R4.H1", "i", 1, 0, func(l *lane) result { return word1(unpack(l.r[0] >> 16)) }})
			}
			checkOn(t, arch, cases)
		}
	}
}

// TestUniformFloats: the uniform datapath of sm_120.
func TestUniformFloats(t *testing.T) {
	f := func(x float32) uint32 { return math.Float32bits(x) }
	for text, want := range map[string]uint32{
		"UFADD UR3, UR4, UR5":                            f(-0.75),
		"UFADD UR3, -UR4, |UR5|":                         f(0.75),
		"UFADD UR3, UR4, 2":                              f(3.5),
		"UFMUL UR3, UR4, UR5":                            f(-3.375),
		"UFMUL UR3, UR4, 0.5":                            f(0.75),
		"UFFMA UR3, UR4, UR5, UR6":                       f(-3.375 + 8),
		"UFFMA UR3, UR4, UR5, 1":                         f(-2.375),
		"UFSEL UR3, UR4, UR5, UP1":                       f(1.5),
		"UFSEL UR3, UR4, 4, !UP1":                        f(4),
		"UI2F.RP UR3, UR7":                               f(-7),
		"UI2F.U16 UR3, UR7":                              f(65529),
		"UI2FP.F32.U32.RZ UR3, UR7":                      f(4294967040),
		"UI2FP.F32.S32 UR3, UR7":                         f(-7),
		"UF2I.FLOOR.NTZ UR3, UR5":                        0xfffffffd,
		"UF2I.U32.TRUNC.NTZ UR3, UR4":                    1,
		"UF2F.BF16.F32 UR3, UR4":                         0x3fc0,
		"UFRND.FLOOR UR3, UR5":                           f(-3),
		"UVIMNMX.S32 UR3, UR7, 0x3, UPT":                 0xfffffff9,
		"UVIMNMX.U32 UR3, UR7, 0x3, UPT":                 3,
		"UIMAD.HI.U32 UR3, UR7, UR7, URZ":                0xfffffff2,
		"UMOV.64 UR2, 0x1234567800000000":                0x12345678,
		"USEL.64 UR2, URZ, -0x5, !UP1":                   0xffffffff,
		"UIADD3.64 UR2, UPT, UPT, UR8, UR8, URZ":         0x22222222,
		"UIMNMX.S64 UPT, UPT, UR2, UR8, -0x1, UPT, !UPT": 0xffffffff,
		"UISETP.GT.S64.AND UP2, UPT, UR8, -0x1, UPT\nUSEL UR3, UR4, UR5, UP2": f(1.5),
		"UFSETP.GEU.AND UP2, UPT, |UR5|, 2, UPT\nUSEL UR3, UR4, UR5, UP2":     f(1.5),
		"UFSETP.LT.AND UP2, UPT, UR4, UR5, UPT\n@UP2 UMOV UR3, 0x1":           0,
		"ISETP.EQ.AND P0, PT, RZ, RZ, PT\n@P0 ELECT P1, UR3, PT":              0,
		"LDCU UR3, c[0x0][0x384]":                                             0x08070605,
		"UMOV UR2, 0x4\nLDCU UR3, c[0x0][UR2+0x380]":                          0x08070605,
		"LDCU.128 UR0, c[0x0][0x380]":                                         0x100f0e0d,
	} {
		code := "UMOV UR4, 0x3fc00000\nUMOV UR5, 0xc0100000\nUMOV UR6, 0x41000000\nUMOV UR7, 0xfffffff9\nUMOV.64 UR8, 0x1111111100000000\nUISETP.EQ.AND UP1, UPT, URZ, URZ, UPT\n"
		k := load(t, headerOf("sm_120")+code+text+"\nEXIT\n")
		if len(k.bad) > 0 {
			t.Errorf("%s: %v", text, k.bad)
			continue
		}
		params := make([]byte, k.ParamBytes())
		for i := range params {
			params[i] = byte(i + 1)
		}
		w := &begin(t, k, Launch{Params: params}, nil).warps[0]
		finish(t, w)
		for i := range 32 {
			if got := w.rows[k.regs+3][i]; got != want {
				t.Errorf("%s: UR3 = %#x, want %#x", strings.ReplaceAll(text, "\n", "; "), got, want)
				break
			}
		}
	}
}

// TestNewConstants: what lies in constant bank 0 of sm_120 before the parameters.
func TestNewConstants(t *testing.T) {
	k := load(t, headerOf("sm_120")+"LDC.64 R0, c[0x0][0x370]\nLDC R2, c[0x0][0x378]\nLDC.64 R4, c[0x0][0x360]\nLDC R6, c[0x0][0x368]\nLDC.64 R8, c[0x0][0x2f8]\n"+
		"F2FP.BF16.E8.UNPACK_B R10, R11\nEXIT\n")
	if len(k.bad) > 0 {
		t.Fatal(k.bad)
	}
	w := &begin(t, k, Launch{Grid: exec.Dim3{X: 7, Y: 5, Z: 3}, Block: exec.Dim3{X: 16, Y: 4, Z: 2}}, nil).warps[0]
	w.rows[11][0] = 0x017f
	w.rows[11][1] = 0xff00
	finish(t, w)
	for n, want := range map[int]uint32{0: 7, 1: 5, 2: 3, 4: 16, 5: 4, 6: 2, 8: isa.LocalWindow, 9: 0, 10: 0x0080_3f80} {
		if got := w.rows[n][0]; got != want {
			t.Errorf("R%d is %#x, want %#x", n, got, want)
		}
	}
	if got := w.rows[10][1]; got != 0x7fff_0040 { // NaN and 2^-127
		t.Errorf("powers of two become %#x", got)
	}
}

// TestNewFlow: branches and synchronisation of sm_120; R0 is counted up in lanes that get there.
func TestNewFlow(t *testing.T) {
	const lanes = "S2R R1, SR_LANEID\nISETP.LT.AND P0, PT, R1, 0x3, PT\nISETP.LT.AND P1, PT, RZ, RZ, PT\nUISETP.EQ.AND UP0, UPT, URZ, URZ, UPT\n"
	for _, c := range []struct {
		text string
		want uint32 // lanes with R0 = 1
	}{
		{"BRA.U UP0, L\nEXIT\nL:\nMOV R0, 0x1", full},
		{"BRA.U !UP0, L\nMOV R0, 0x1\nL:", full},
		{"@P0 BRA.U.ANY L\nEXIT\nL:\nMOV R0, 0x1", full},
		{"@P1 BRA.U.ANY L\nMOV R0, 0x1\nL:", full},
		{"@P0 BRA L\nWARPSYNC.ALL\nMOV R0, 0x1\nEXIT\nL:\nWARPSYNC.ALL", ^uint32(7)},
		{"ELECT P2, UR4, PT\n@P2 MOV R0, 0x1", 1},
		{"MOV R2, 0x5\n@P0 MOV R2, R1\nR2UR P2, UR4, R2\n@P2 MOV R0, 0x1", full &^ 1}, // lane 0 has 0
		{"S2UR UR4, SR_CgaCtaId\nCS2R.32 R0, SR_CgaSize\nIADD R0, R0, UR4", full},
		{"MOV R2, 0x400\nS2R R3, SR_SWINHI\nMOV R5, 0x1\nSTS [R2], R5\nLD.E R0, desc[UR4][R2.64]", full},
		{"MOV R2, 0x404\nS2R R3, SR_SWINHI\nMOV R5, 0x1\nST.E desc[UR4][R2.64+-0x4], R5\nLDS R0, [0x400]", full},
		{"MOV R2, 0x400\nS2R R3, SR_SWINHI\nQSPC.E.S P2, RZ, [R2]\n@P2 MOV R0, 0x1", full},
		{"@P0 BRA L\nMOV R7, 0xfffffff8\nWARPSYNC.EXCLUSIVE R7\nVOTE.ANY R7, PT, PT\nISETP.EQ.AND P2, PT, R7, -0x8, PT\n@P2 MOV R0, 0x1\nL:", ^uint32(7)},
		{"R2UR.FILL UR4, R1\nMOV R0, UR4\n@!P0 IADD R0, R0, 0x1", ^uint32(7)},
		{"MOV R7, R1\nMOV R6, 0x1f\nWARPSYNC.COLLECTIVE.ALL A\nSHFL.IDX PT, R7, R1, R6, 0x1f\nENDCOLLECTIVE\nA:\nISETP.EQ.AND P2, PT, R7, 0x1f, PT\n@P2 MOV R0, 0x1", full},
		{"R2UR P2, UR4, R1\nMOV R2, 0x5\n@P0 MOV R2, 0x6\nR2UR P2, UR4, R2\n@P2 MOV R0, 0x1", ^uint32(7)},
		{"ISETP.EQ.AND P3, PT, R1, 0x1, PT\nMOV R2, 0x5\n@P3 MOV R2, 0x6\nR2UR P2, UR4, R2\nMOV R3, 0x5\n@!P0 MOV R3, 0x6\nR2UR.OR P2, UR4, R3\n@P2 MOV R0, 0x1", ^uint32(5)},
		// A collective region is entered from two places with the same registers.
		{"MOV R5, 0xffffffff\nMOV R6, 0x1f\nMOV R7, R1\n@P0 BRA L\nWARPSYNC.COLLECTIVE R5, A\nSHFL.IDX PT, R7, R1, R6, 0x1f\nENDCOLLECTIVE\nA:\nISETP.EQ.AND P2, PT, R7, 0x1f, PT\n@P2 MOV R0, 0x1\nEXIT\n" +
			"L:\nWARPSYNC.COLLECTIVE R5, B\nSHFL.IDX PT, R7, R1, R6, 0x1f\nENDCOLLECTIVE\nB:\nISETP.EQ.AND P2, PT, R7, 0x1f, PT\n@P2 IADD R0, R0, 0x1", full},
		{"@!P0 ELECT P2, UR4, PT\n@!P0 MOV R0, UR4\n@!P0 IADD R0, R0, -0x2", ^uint32(7)},
	} {
		k := load(t, headerOf("sm_120")+lanes+c.text+"\nEXIT\n")
		if len(k.bad) > 0 {
			t.Errorf("%s: %v", c.text, k.bad)
			continue
		}
		w := &begin(t, k, Launch{}, nil).warps[0]
		finish(t, w)
		for i := range 32 {
			if got := w.rows[0][i]; got != c.want>>i&1 {
				t.Errorf("%s: R0 = %d in lane %d, want %d", strings.ReplaceAll(c.text, "\n", "; "), got, i, c.want>>i&1)
			}
		}
	}
}

// TestScaledMatrices: OMMA multiplies each 32 elements of a row and a column by powers of two, or
// each 16 by numbers of E4M3 (PTX manual, mma with .kind::mxf4, .kind::mxf4nvf4 and
// .scale_vec::4X). All numbers are exact.
func TestScaledMatrices(t *testing.T) {
	scaled(t, "E8", 2, func(r *rand.Rand) (uint8, float64) {
		e := r.IntN(5) - 2
		return uint8(127 + e), math.Ldexp(1, e)
	})
	scaled(t, "UE4M3.4X", 4, func(r *rand.Rand) (uint8, float64) {
		code := 0x28 + r.IntN(0x20)
		return uint8(code | r.IntN(2)<<7), narrowFormats[0].value(code) // the highest bit is ignored
	})
}

func scaled(t *testing.T, format string, parts int, draw func(*rand.Rand) (uint8, float64)) {
	t.Helper()
	k := load(t, headerOf("sm_120")+"OMMA.SF.16864.F32.E2M1.E2M1."+format+" R0, R4, R8, R12, R16, R17, URZ\nEXIT\n")
	if len(k.bad) > 0 {
		t.Fatal(k.bad)
	}
	w := &begin(t, k, Launch{}, nil).warps[0]
	r := rand.New(rand.NewPCG(3, 3))
	values := [8]float64{0, 0.5, 1, 1.5, 2, 3, 4, 6}
	number := func(code uint32) float64 {
		v := values[code&7]
		if code&8 != 0 {
			v = -v
		}
		return v
	}
	var a [16][64]float64
	var b [8][64]float64
	var c [16][8]float64
	var sa [16][4]float64
	var sb [8][4]float64
	for i := range 32 {
		for reg := range 4 {
			w.rows[4+reg][i] = r.Uint32()
			for n := range 8 {
				a[i/4+reg%2*8][i%4*8+reg/2*32+n] = number(w.rows[4+reg][i] >> (4 * n))
			}
		}
		for reg := range 2 {
			w.rows[8+reg][i] = r.Uint32()
			for n := range 8 {
				b[i/4][i%4*8+reg*32+n] = number(w.rows[8+reg][i] >> (4 * n))
			}
		}
		for n := range 4 {
			v := float64(r.IntN(100) - 50)
			c[i/4+n/2*8][i%4*2+n%2] = v
			w.rows[12+n][i] = math.Float32bits(float32(v))
		}
		w.rows[16][i], w.rows[17][i] = r.Uint32(), r.Uint32()
		for k := range parts { // bytes beyond are not read
			e, x := draw(r)
			f, y := draw(r)
			w.rows[16][i] = w.rows[16][i]&^(0xff<<(8*k)) | uint32(e)<<(8*k)
			w.rows[17][i] = w.rows[17][i]&^(0xff<<(8*k)) | uint32(f)<<(8*k)
			if i%4 < 2 {
				sa[i/4+i%4*8][k] = x
			}
			if i%4 == 0 {
				sb[i/4][k] = y
			}
		}
	}
	finish(t, w)
	for i := range 32 {
		for n := range 4 {
			row, col := i/4+n/2*8, i%4*2+n%2
			want := c[row][col]
			for k := range 64 {
				want += a[row][k] * sa[row][k*parts/64] * b[col][k] * sb[col][k*parts/64]
			}
			if got := math.Float32frombits(w.rows[n][i]); float64(got) != want {
				t.Fatalf(format+": element %d, %d is %v, want %v", row, col, got, want)
			}
		}
	}
}

// TestMatrixStores: STSM stores what LDSM loads.
func TestMatrixStores(t *testing.T) {
	for _, mod := range []string{"M88", "MT88", "M88.2", "MT88.4"} {
		text := fmt.Sprintf("S2R R1, SR_LANEID\nIMAD R2, R1, 0x10, RZ\nSTSM.16.%s [R2], R4\nLDSM.16.%s R8, [R2]\nEXIT\n", mod, mod)
		k := load(t, headerOf("sm_120")+text)
		if len(k.bad) > 0 {
			t.Fatal(k.bad)
		}
		w := &begin(t, k, Launch{}, nil).warps[0]
		r := rand.New(rand.NewPCG(4, 4))
		for reg := 4; reg < 8; reg++ {
			for i := range 32 {
				w.rows[reg][i] = r.Uint32()
			}
		}
		finish(t, w)
		n := 1
		if strings.HasSuffix(mod, ".2") || strings.HasSuffix(mod, ".4") {
			n = int(mod[len(mod)-1] - '0')
		}
		for reg := range n {
			if w.rows[8+reg] != w.rows[4+reg] {
				t.Errorf("%s: register %d is %x, want %x", mod, reg, w.rows[8+reg], w.rows[4+reg])
			}
		}
		// Row r of matrix 0 lies at 16·r; its column c is half c%2 of lane 4·r + c/2.
		lo, hi := w.rows[4][4*3+2]&0xffff, w.rows[4][4*3+2]>>16 // row 3, columns 4 and 5
		at := w.blk.Shared[16*3+8:]
		if strings.HasPrefix(mod, "MT88") {
			lo, hi = w.rows[4][4*4+1]>>16, w.rows[4][4*5+1]>>16 // rows 4 and 5, column 3
		}
		if got := le.Uint32(at); got != lo|hi<<16 {
			t.Errorf("%s stores %#x, want %#x", mod, got, lo|hi<<16)
		}
	}
}

// TestVectors: loads and stores of 32 bytes, whose halves have registers of their own. R2 of a
// lane points 16 bytes further on than that of the lane before.
func TestVectors(t *testing.T) {
	fill := randomBytes(4096)
	for _, c := range []struct {
		text string
		at   int // of the load
		to   int // of the store, 0 if there is none
	}{
		{"LDG.E.ENL2.256 R8, R16, desc[UR4][R2.64+0x20]", 32, 0},
		{"IADD.64 R2, R2, 0x40\nLDG.E.ENL2.256.CONSTANT R8, R16, desc[UR4][R2.64+-0x20]", 32, 0},
		{"LDG.E.ENL2.256 R8, R16, desc[UR4][R2.64]\nSTG.E.ENL2.256 desc[UR4][R2.64+0x400], R16, R8", 0, 1024},
	} {
		// Lanes 1, 3, … are not aligned.
		w, out := memory(t, headerOf("sm_120")+"LOP3.LUT R1, R1, 0x10, RZ, 0xc0, !PT\nISETP.NE.AND P0, PT, R1, RZ, PT\n@P0 EXIT\n"+c.text, fill, nil)
		for i := 0; i < 32; i += 2 {
			b := fill[16*i+c.at:]
			for k := range 4 {
				if lo, hi := w.rows[16+k][i], w.rows[8+k][i]; lo != le.Uint32(b[4*k:]) || hi != le.Uint32(b[16+4*k:]) {
					t.Errorf("%s: word %d of lane %d is %#x and %#x, want %#x and %#x", c.text, k, i, lo, hi, le.Uint32(b[4*k:]), le.Uint32(b[16+4*k:]))
				}
			}
			if c.to != 0 && !bytes.Equal(out[16*i+c.to:][:32], b[:32]) {
				t.Errorf("%s: lane %d stores %x, want %x", c.text, i, out[16*i+c.to:][:32], b[:32])
			}
		}

	}
	if _, err := sass.Assemble(120, "LDG.E.ENL2.256 R8, R16, desc[UR4][R2.64+0x10]", 0); err == nil {
		t.Error("an offset that is no multiple of 32 assembles")
	}
}
