package sass

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/exec/device"
)

// This file: modes of instructions that compilers seldom use, against what the
// PTX manual says of the instructions that they come from.

// TestPermutations: the modes of PRMT by the tables of the PTX manual, prmt: which
// of the eight bytes {b, a} each byte of the result is, for each value of the
// selector's two lowest bits; the highest byte first.
func TestPermutations(t *testing.T) {
	tables := map[string][4]string{
		"F4E":  {"3210", "4321", "5432", "6543"},
		"B4E":  {"5670", "6701", "7012", "0123"},
		"RC8":  {"0000", "1111", "2222", "3333"},
		"ECL":  {"3210", "3211", "3222", "3333"},
		"ECR":  {"0000", "1110", "2210", "3210"},
		"RC16": {"1010", "3232", "1010", "3232"},
	}
	var cases []opCase
	for mode, table := range tables {
		cases = append(cases, opCase{"PRMT." + mode + " R0, R4, R5, R6", "i", 1, 0, func(l *lane) result {
			var v uint32
			for i, c := range table[l.r[1]%4] {
				n := c - '0'
				from := l.r[0]
				if n >= 4 {
					from = l.r[2]
				}
				v |= from >> (n % 4 * 8) & 0xff << (8 * (3 - i))
			}
			return word1(v)
		}})
	}
	check(t, cases)
}

// bigHigh is bits 63:32 of a·b + c, by exact arithmetic.
func bigHigh(a, b, c *big.Int) uint32 {
	s := new(big.Int).Mul(a, b)
	s.Add(s, c)
	s.Rsh(s, 32)
	return uint32(s.And(s, big.NewInt(0xffffffff)).Uint64())
}

func TestIntegerModes(t *testing.T) {
	signed := func(v uint32) *big.Int { return big.NewInt(int64(int32(v))) }
	unsigned := func(v uint32) *big.Int { return big.NewInt(int64(v)) }
	pair := func(l *lane, k int) *big.Int { return new(big.Int).SetUint64(l.pair(k)) }
	check(t, []opCase{
		{"LOP3.LUT.PAND P0, R0, R4, R5, R6, 0x80, P2", "m", 1, 1, func(l *lane) result {
			v := l.r[0] & l.r[1] & l.r[2]
			return result{[4]uint32{v}, [2]bool{v != 0 && l.p[0]}}
		}},
		{"LOP3.LUT.PAND P0, R0, R4, R5, RZ, 0x3c, !P2", "m", 1, 1, func(l *lane) result {
			v := l.r[0] ^ l.r[1]
			return result{[4]uint32{v}, [2]bool{v != 0 && !l.p[0]}}
		}},
		// Bit i of the mask is set from position a on, as many as b says.
		{"BMSK R0, R4, R5", "s", 1, 0, func(l *lane) result {
			var v uint32
			for i := range uint64(32) {
				if a, b := uint64(l.r[0]), uint64(l.r[1]); i >= a && i < a+b {
					v |= 1 << i
				}
			}
			return word1(v)
		}},
		{"BMSK.W R0, R4, R5", "s", 1, 0, func(l *lane) result {
			var v uint32
			for i := range uint32(32) {
				if a, b := l.r[0]%32, l.r[1]%32; i >= a && i < a+b {
					v |= 1 << i
				}
			}
			return word1(v)
		}},
		{"SGXT.W R0, R4, R5", "is", 1, 0, func(l *lane) result {
			n := l.r[1] % 32
			v := l.r[0] % (1 << n)
			if n > 0 && v>>(n-1) == 1 {
				v |= full << n
			}
			return word1(v)
		}},
		{"SGXT.W.U32 R0, R4, R5", "is", 1, 0, func(l *lane) result { return word1(l.r[0] % (1 << (l.r[1] % 32))) }},
		{"SGXT.U32 R0, R4, R5", "is", 1, 0, func(l *lane) result { return word1(uint32(uint64(l.r[0]) % (1 << min(l.r[1], 32)))) }},
		{"IMAD.HI R0, R4, R5, R6", "i", 1, 0, func(l *lane) result {
			return word1(bigHigh(signed(l.r[0]), signed(l.r[1]), pair(l, 2)))
		}},
		{"IMAD.HI.U32 R0, R4, R5, R6", "i", 1, 0, func(l *lane) result {
			return word1(bigHigh(unsigned(l.r[0]), unsigned(l.r[1]), pair(l, 2)))
		}},
		{"IMAD.HI R0, R4, R5, -R6", "i", 1, 0, func(l *lane) result {
			return word1(bigHigh(signed(l.r[0]), signed(l.r[1]), new(big.Int).Neg(pair(l, 2))))
		}},
		{"IMAD.HI.U32 R0, R4, 0x55555556, RZ", "i", 1, 0, func(l *lane) result { // a division by three
			return word1(bigHigh(unsigned(l.r[0]), big.NewInt(0x55555556), new(big.Int)))
		}},
		{"IMAD.WIDE R0, R4, R5, -R6", "i", 2, 0, func(l *lane) result {
			return word2(uint64(int64(int32(l.r[0]))*int64(int32(l.r[1]))) - l.pair(2))
		}},
		{"IMAD.WIDE.U32.X R0, R4, R5, ~R6, P2", "i", 2, 0, func(l *lane) result {
			return word2(uint64(l.r[0])*uint64(l.r[1]) + ^l.pair(2) + uint64(b2u(l.p[0])))
		}},
		{"FLO.SH R0, R4", "i", 1, 0, func(l *lane) result {
			v := l.r[0]
			if int32(v) < 0 {
				v = ^v
			}
			if v == 0 {
				return word1(full)
			}
			return word1(31 - topBit(v))
		}},
		{"LEPC R0", "i", 2, 0, func(*lane) result { return word2(0) }}, // it is the first instruction
	})
	// Further on in the code LEPC gives the place where it stands.
	w := &begin(t, load(t, "NOP\nNOP\nLEPC R4\nEXIT\n"), Launch{}, nil).warps[0]
	finish(t, w)
	if w.rows[4][7] != 0x20 || w.rows[5][7] != 0 {
		t.Errorf("LEPC at 0x20 gives %#x, %#x", w.rows[4][7], w.rows[5][7])
	}
}

func TestFloatModes(t *testing.T) {
	fl := func(l *lane, k int) float64 { return float64(l.f32(k)) }
	fz := func(l *lane, k int) float64 { return float64(flushed(l.f32(k))) }
	k := load(t, "FSWZADD R0, R4, R5, PPPNNPZP\nFSWZADD.FTZ.RM R1, R4, R5, ZPNPPPPN\nFSWZADD.NDV R2, R4, R5, ZPPPZPPP\nEXIT\n")
	if len(k.bad) > 0 {
		t.Fatal(k.bad)
	}
	r := rand.New(rand.NewPCG(3, 4))
	b := begin(t, k, Launch{}, nil)
	for range 50 {
		w := &b.warps[0]
		w.live = full
		w.start(b.im)
		var in [32]lane
		for i := range in {
			for j := range 2 {
				in[i].r[j] = word(r, "fi"[r.IntN(2)])
				w.rows[4+j][i] = in[i].r[j]
			}
		}
		finish(t, w)
		for i := range in {
			l := &in[i]
			want := [3]uint64{}
			switch i % 4 {
			case 0:
				want = [3]uint64{b32.add(fl(l, 0), fl(l, 1), nearest, nan32), b32.add(0, fz(l, 1), nearest, nan32), b32.add(0, fl(l, 1), nearest, nan32)}
			case 1:
				want = [3]uint64{b32.add(fl(l, 0), -fl(l, 1), nearest, nan32), b32.add(-fz(l, 0), fz(l, 1), down, nan32), b32.add(fl(l, 0), fl(l, 1), nearest, nan32)}
			case 2:
				want = [3]uint64{b32.add(-fl(l, 0), fl(l, 1), nearest, nan32), b32.add(fz(l, 0), fz(l, 1), down, nan32), b32.add(0, fl(l, 1), nearest, nan32)}
			case 3:
				want = [3]uint64{b32.add(0, fl(l, 1), nearest, nan32), b32.add(fz(l, 0), -fz(l, 1), down, nan32), b32.add(fl(l, 0), fl(l, 1), nearest, nan32)}
			}
			want[1] = uint64(flushedBits(uint32(want[1])))
			for n, v := range want {
				if v&0x7fffffff == 0 && w.rows[n][i]&0x7fffffff == 0 {
					continue // the sign of a zero plus nothing is left open
				}
				if uint64(w.rows[n][i]) != v {
					t.Fatalf("place %d of four, sum %d of %#x and %#x is %#x, want %#x", i%4, n, l.r[0], l.r[1], w.rows[n][i], v)
				}
			}
		}
	}
}

// TestDoubleMinMax: what compilers make of min.f64 and max.f64 gives what the PTX
// manual says of those: a number wins over none, -0 is below +0.
func TestDoubleMinMax(t *testing.T) {
	const pick = `
    DSETP.%s.AND P0, P1, R4, R6, PT
    SEL R0, R4, R6, P0
    FSEL R1, R5, R7, P0
@P1 LOP3.LUT R1, R7, 0x80000, RZ, 0xfc, !PT
    EXIT
`
	r := rand.New(rand.NewPCG(12, 1))
	for mode, less := range map[string]bool{"MIN": true, "MAX": false} {
		b := begin(t, load(t, fmt.Sprintf(pick, mode)), Launch{}, nil)
		for range 300 {
			w := &b.warps[0]
			w.live = full
			w.start(b.im)
			var in [32]lane
			for i := range in {
				for j := range 4 {
					in[i].r[j] = word(r, "id"[j%2])
					if r.IntN(3) == 0 { // zeros, infinities and no numbers more often
						in[i].r[j] = []uint32{0, 0, 1 << 31, 0x7ff00000, 0xfff00000, 0x7ff80000, 0xfff00001}[r.IntN(7)]
					}
					w.rows[4+j][i] = in[i].r[j]
				}
			}
			finish(t, w)
			for i := range in {
				a, c := in[i].pair(0), in[i].pair(2)
				x, y := math.Float64frombits(a), math.Float64frombits(c)
				want := c
				switch {
				case math.IsNaN(x) && math.IsNaN(y):
					want |= 1 << 51
				case math.IsNaN(x):
				case math.IsNaN(y):
					want = a
				case x == 0 && y == 0:
					if math.Signbit(x) == less {
						want = a
					}
				case x < y == less:
					want = a
				}
				if got := uint64(w.rows[0][i]) | uint64(w.rows[1][i])<<32; got != want {
					t.Fatalf("%s of %#x and %#x is %#x, want %#x", mode, a, c, got, want)
				}
			}
		}
	}
	check(t, []opCase{{"DSETP.MIN.AND P0, P1, |R4|, -R6, P2", "id", 0, 2, func(l *lane) result {
		x, y := math.Abs(l.f64(0)), -l.f64(2)
		switch {
		case math.IsNaN(x) && math.IsNaN(y):
			return result{p: [2]bool{false, l.p[0]}}
		case math.IsNaN(x):
			return result{}
		}
		return result{p: [2]bool{l.p[0] && (math.IsNaN(y) || x < y)}}
	}}})
}

// TestHalfModes: .SAT clamps to [0, 1] and makes NaN zero, .RELU makes negative values zero,
// .FTZ subnormal ones (PTX manual, add, mul and fma of f16 and bf16).
func TestHalfModes(t *testing.T) {
	value := func(brain bool, bits uint64) float64 {
		if brain {
			return brainValue(uint16(bits))
		}
		return halfValue(uint16(bits))
	}
	sat := func(brain bool, bits uint64) uint64 {
		one := uint64(0x3c00)
		if brain {
			one = 0x3f80
		}
		switch v := value(brain, bits); {
		case !(v > 0):
			return 0
		case v > 1:
			return one
		}
		return bits
	}
	relu := func(brain bool, bits uint64) uint64 {
		switch v := value(brain, bits); {
		case math.IsNaN(v):
			return nan16
		case v <= 0:
			return 0
		}
		return bits
	}
	ftz := func(bits uint16) uint16 {
		if bits&0x7c00 == 0 {
			return bits & 0x8000
		}
		return bits
	}
	type form struct {
		text  string
		brain bool
		f     func(a, b, c float64) uint64
		after func(brain bool, bits uint64) uint64
	}
	add := func(f ieee) func(a, b, _ float64) uint64 {
		return func(a, b, _ float64) uint64 { return f.add(a, b, nearest, nan16) }
	}
	mul := func(f ieee) func(a, b, _ float64) uint64 {
		return func(a, b, _ float64) uint64 { return f.mul(a, b, nearest, nan16) }
	}
	fma := func(f ieee) func(a, b, c float64) uint64 {
		return func(a, b, c float64) uint64 { return f.fma(a, b, c, nearest, nan16) }
	}
	var cases []opCase
	for _, c := range []form{
		{"HADD2.SAT R0, R4, R5", false, add(b16), sat},
		{"HMUL2.SAT R0, R4, R5", false, mul(b16), sat},
		{"HFMA2.SAT R0, R4, R5, R6", false, fma(b16), sat},
		{"HFMA2.MMA.SAT R0, R4, R5, R6", false, fma(b16), sat},
		{"HADD2.BF16_V2.SAT R0, R4, R5", true, add(bbf), sat},
		{"HMUL2.BF16_V2.SAT R0, R4, R5", true, mul(bbf), sat},
		{"HFMA2.BF16_V2.SAT R0, R4, R5, R6", true, fma(bbf), sat},
		{"HFMA2.RELU R0, R4, R5, R6, PT", false, fma(b16), relu},
		{"HFMA2.BF16_V2.RELU R0, R4, R5, R6, PT", true, fma(bbf), relu},
	} {
		cases = append(cases, opCase{c.text, "h", 1, 0, func(l *lane) result {
			return halves(func(n int) uint64 {
				var v [3]float64
				for k := range v {
					v[k] = value(c.brain, uint64(l.r[k]>>(16*n)&0xffff))
				}
				return c.after(c.brain, c.f(v[0], v[1], v[2]))
			})
		}})
	}
	for text, f := range map[string]func(a, b, c float64) uint64{
		"HADD2.FTZ R0, R4, R5": add(b16), "HMUL2.FTZ R0, R4, R5": mul(b16), "HFMA2.FTZ R0, R4, R5, R6": fma(b16),
	} {
		cases = append(cases, opCase{text, "h", 1, 0, func(l *lane) result {
			return halves(func(n int) uint64 {
				var v [3]float64
				for k := range v {
					v[k] = halfValue(ftz(uint16(l.r[k] >> (16 * n))))
				}
				return uint64(ftz(uint16(f(v[0], v[1], v[2]))))
			})
		}})
	}
	check(t, cases)
}

// TestUniformWide: sums of 64 bits on the uniform datapath.
func TestUniformWide(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 8))
	for text, want := range map[string]func(a, b, c uint64) uint64{
		"UIADD3.64 UR4, UR6, UR8, UR10":   func(a, b, c uint64) uint64 { return a + b + c },
		"UIADD3.64 UR4, -UR6, UR8, UR10":  func(a, b, c uint64) uint64 { return b + c - a },
		"UIADD3.64 UR4, UR6, -UR8, URZ":   func(a, b, _ uint64) uint64 { return a - b },
		"UIADD3.64 UR4, UR6, 0x1000, URZ": func(a, _, _ uint64) uint64 { return a + 4096 },
		"UIADD3.64 UR4, UR6, -0x8, UR10":  func(a, _, c uint64) uint64 { return a + c - 8 },
	} {
		k := load(t, strings.Replace(header, "sm_86", "sm_80", 1)+text+"\nEXIT\n")
		if len(k.bad) > 0 {
			t.Error(k.bad)
			continue
		}
		b := begin(t, k, Launch{}, nil)
		for range 100 {
			w := &b.warps[0]
			w.live = full
			w.start(b.im)
			var v [3]uint64
			for n := range v {
				v[n] = uint64(word(r, 'i')) | uint64(word(r, 'i'))<<32
				for i := range 32 {
					w.rows[k.regs+6+2*n][i], w.rows[k.regs+7+2*n][i] = uint32(v[n]), uint32(v[n]>>32)
				}
			}
			finish(t, w)
			if got := uint64(w.rows[k.regs+4][31]) | uint64(w.rows[k.regs+5][31])<<32; got != want(v[0], v[1], v[2]) {
				t.Fatalf("%s of %#x: %#x, want %#x", text, v, got, want(v[0], v[1], v[2]))
			}
		}
	}
}

// TestCaches: cache operations of CCTL change no value, and their address need not be
// allocated.
func TestCaches(t *testing.T) {
	fill := randomBytes(4096)
	for _, text := range []string{"CCTL.IVALL", "CCTL.E.PF2 [R4]", "CCTL.E.IV [R6]", "CCTL.E.WB [R2+0x10]"} {
		w, got := memory(t, "MOV R6, 0x7\nMOV R7, 0x7\n@P0 "+text+"\n"+text+"\nLDG.E R8, [R2]", fill, nil)
		if string(got) != string(fill) || w.rows[8][2] != uint32(fill[32])|uint32(fill[33])<<8|uint32(fill[34])<<16|uint32(fill[35])<<24 {
			t.Errorf("%s changes memory, or what is read of it", text)
		}
		for n := range 128 {
			if n < 1 || n > 3 && n != 6 && n != 7 && n != 8 {
				if w.rows[n] != [32]uint32{} {
					t.Errorf("%s changes R%d", text, n)
				}
			}
		}
	}
}

// TestMatrixSigns: a sign before a fragment is that of each of its elements.
func TestMatrixSigns(t *testing.T) {
	for _, c := range []struct {
		text, plain string
		flip        [2]func(reg int, v uint32) uint32 // of A and B
	}{
		{"HMMA.16816.F32 R0, -R16, R24, R32", "HMMA.16816.F32 R4, R16, R24, R32", [2]func(int, uint32) uint32{negHalves, nil}},
		{"HMMA.16816.F32.BF16 R0, R16, -R24, R32", "HMMA.16816.F32.BF16 R4, R16, R24, R32", [2]func(int, uint32) uint32{nil, negHalves}},
		{"HMMA.1688.F32.TF32 R0, -R16, -R24, R32", "HMMA.1688.F32.TF32 R4, R16, R24, R32", [2]func(int, uint32) uint32{negWord, negWord}},
		{"DMMA.884 R0, -R16, R24, R32", "DMMA.884 R4, R16, R24, R32", [2]func(int, uint32) uint32{negHigh, nil}},
		{"DMMA.884 R0, R16, |R24|, R32", "DMMA.884 R4, R16, R24, R32", [2]func(int, uint32) uint32{nil, absHigh}},
		{"DMMA.884 R0, |R16|, -R24, R32", "DMMA.884 R4, R16, R24, R32", [2]func(int, uint32) uint32{absHigh, negHigh}},
	} {
		var out [2][4][32]uint32
		for pass, text := range []string{c.text, c.plain} {
			k := load(t, text+"\nEXIT\n")
			if len(k.bad) > 0 {
				t.Fatal(k.bad)
			}
			w := &begin(t, k, Launch{}, nil).warps[0]
			r := rand.New(rand.NewPCG(6, 6))
			for reg := 16; reg < 40; reg++ {
				for i := range 32 {
					v := r.Uint32()&0x83ff83ff | 0x3c003c00 // numbers of either sign near one
					if strings.HasPrefix(text, "DMMA") && reg%2 == 1 {
						v = r.Uint32()&0x800fffff | 0x3ff00000
					}
					if f := c.flip[0]; pass == 1 && f != nil && reg < 24 {
						v = f(reg, v)
					}
					if f := c.flip[1]; pass == 1 && f != nil && reg >= 24 && reg < 32 {
						v = f(reg, v)
					}
					w.rows[reg][i] = v
				}
			}
			finish(t, w)
			for n := range 4 {
				out[pass][n] = w.rows[4*pass+n]
			}
		}
		if out[0] != out[1] {
			t.Errorf("%s is not what %s gives with other signs", c.text, c.plain)
		}
	}
}

func negHalves(_ int, v uint32) uint32 { return v ^ 0x80008000 }
func negWord(_ int, v uint32) uint32   { return v ^ 0x80000000 }
func negHigh(reg int, v uint32) uint32 { return v ^ uint32(reg%2)<<31 }
func absHigh(reg int, v uint32) uint32 { return v &^ (uint32(reg%2) << 31) }

// TestSparseMatrices: A with two elements in every four columns that are not zero,
// put together as the figures of the PTX manual's mma.sp have it, against the
// product of the whole matrices. The integers are small, so exact in any order.
func TestSparseMatrices(t *testing.T) {
	for _, c := range []struct {
		text string
		sel  int
		k    int
		bits int
		kind int // 0 integers, 1 binary16, 2 bfloat16; 3 binary16 that adds up in binary16
	}{
		{"HMMA.SP.16832.F32 R0, R4, R8, R12, R16, 0x0", 0, 32, 16, 1},
		{"HMMA.SP.16832.F32 R0, R4, R8, R12, R16, 0x1", 1, 32, 16, 1},
		{"HMMA.SP.16832.F32.BF16 R0, R4, R8, R12, R16, 0x0", 0, 32, 16, 2},
		{"HMMA.SP.16832.F16 R0, R4, R8, R12, R16, 0x1", 1, 32, 16, 3},
		{"IMMA.SP.16864.S8.S8 R0, R4.ROW, R8.COL, R12, R16, 0x0", 0, 64, 8, 0},
		{"IMMA.SP.16864.U8.S8.SAT R0, R4.ROW, R8.COL, R12, R16, 0x0", 0, 64, 8, 0},
	} {
		k := load(t, c.text+"\nEXIT\n")
		if len(k.bad) > 0 {
			t.Error(k.bad)
			continue
		}
		r := rand.New(rand.NewPCG(2, uint64(c.k)))
		encode := func(v int) uint32 {
			switch c.kind {
			case 1, 3:
				return uint32(b16.round(exact(float64(v)), nearest, false))
			case 2:
				return uint32(bbf.round(exact(float64(v)), nearest, false))
			}
			return uint32(v) & 0xff
		}
		var A [16][64]int     // whole
		var packed [16][]int  // its elements that are there
		var places [16]uint64 // two bits each, the first lowest
		var B [8][64]int
		var C [16][8]int
		for row := range A {
			for four := range c.k / 4 {
				two := r.Perm(4)[:2]
				if two[0] > two[1] {
					two[0], two[1] = two[1], two[0]
				}
				for _, p := range two {
					v := r.IntN(5) // of either sign for S8 below
					if !strings.Contains(c.text, "U8") {
						v -= 2
					}
					A[row][4*four+p] = v
					places[row] |= uint64(p) << (2 * len(packed[row]))
					packed[row] = append(packed[row], v)
				}
			}
			for col := range C[row] {
				C[row][col] = r.IntN(9) - 4
			}
		}
		for col := range B {
			for n := range c.k {
				B[col][n] = r.IntN(7) - 3
			}
		}
		w := &begin(t, k, Launch{}, nil).warps[0]
		per := 32 / c.bits
		for i := range 32 {
			g, f := i/4, i%4
			for reg := range 4 {
				for n := range per {
					w.rows[4+reg][i] |= encode(packed[g+reg%2*8][reg/2*4*per+f*per+n]) << (n * c.bits)
					w.rows[8+reg][i] |= encode(B[g][reg*4*per+f*per+n]) << (n * c.bits)
				}
			}
			for n := range 4 {
				v := C[g+n/2*8][f*2+n%2]
				switch c.kind {
				case 0:
					w.rows[12+n][i] = uint32(v)
				case 3:
					w.rows[12+n/2][i] |= uint32(b16.round(exact(float64(v)), nearest, false)) << (n % 2 * 16)
				default:
					w.rows[12+n][i] = uint32(b32.round(exact(float64(v)), nearest, false))
				}
			}
			// 16-bit elements: of the four lanes the selector picks a pair; its first
			// holds the places of columns 0 to 15 of rows g and g+8, its second those of
			// 16 to 31. 8-bit elements: lanes 0 and 1 hold those of the first half of rows
			// g and g+8, lanes 2 and 3 of the second.
			w.rows[16][i] = r.Uint32() // the others are ignored
			if c.bits == 8 {
				w.rows[16][i] = uint32(places[g+f%2*8] >> (f / 2 * 32))
			} else if f/2 == c.sel {
				w.rows[16][i] = uint32(places[g]>>(f%2*16)&0xffff) | uint32(places[g+8]>>(f%2*16)&0xffff)<<16
			}
		}
		finish(t, w)
		for i := range 32 {
			for n := range 4 {
				row, col := i/4+n/2*8, i%4*2+n%2
				want := C[row][col]
				for x := range c.k {
					want += A[row][x] * B[col][x]
				}
				var got int
				switch c.kind {
				case 0:
					got = int(int32(w.rows[n][i]))
				case 3:
					got = int(halfValue(uint16(w.rows[n/2][i] >> (n % 2 * 16))))
				default:
					got = int(math.Float32frombits(w.rows[n][i]))
				}
				if got != want {
					t.Fatalf("%s: element %d, %d is %d, want %d", c.text, row, col, got, want)
				}
			}
		}
		// The same element twice is a fault.
		w.live = full
		w.start(w.blk.im)
		var err error
		var e exec.Effects
		for err == nil && w.ready() { // all places are zero
			err = w.Step(&e)
		}
		if err == nil || !strings.Contains(err.Error(), "the same element of a group twice") {
			t.Errorf("%s with places that are all 0 ends with %v", c.text, err)
		}
	}
	for _, text := range []string{"HMMA.SP.16832.F32 R0, R4, R8, R12, R16, 0x2", "IMMA.SP.16864.S8.S8 R0, R4.ROW, R8.COL, R12, R16, 0x1"} {
		if k := load(t, text+"\nEXIT\n"); len(k.bad) != 1 {
			t.Errorf("%s has no lanes for the places: %v", text, k.bad)
		}
	}
}

// TestWords: raw words of a kernel that are not instructions are rejected with their own
// reason.
func TestWords(t *testing.T) {
	for words, want := range map[string]string{
		".word 0x0000000000000fff, 0x000fea0003800000": "opcode 0xfff is unknown",
		".word 0x0000580000027a02, 0x000fa40000000f00": "dependence counter 6 does not exist",
	} {
		k := load(t, words+"\nEXIT\n")
		if len(k.bad) != 1 || !strings.HasSuffix(k.bad[0].Error(), want) {
			t.Errorf("%s: %v, want %s", words, k.bad, want)
		}
		if _, err := launch(t, k, Launch{Grid: exec.Dim3{X: 1, Y: 1, Z: 1}, Block: exec.Dim3{X: 1, Y: 1, Z: 1}, Params: make([]byte, 20)}, device.New(device.Config{})); err == nil {
			t.Error(fmt.Sprint(words, " runs"))
		}
	}
}
