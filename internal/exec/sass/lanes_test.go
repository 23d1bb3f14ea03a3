package sass

import (
	"fmt"
	"math/bits"
	"math/rand/v2"
	"strings"
	"testing"
)

// together runs one instruction over random warps and compares whole warps: r are
// R4 to R15 by lane, p P2 to P4, m the active lanes whose guard holds.
func together(t *testing.T, text, kinds string, want func(in *[32]lane, m uint32) (out [32]result, uniform uint32), regs, preds int) {
	t.Helper()
	k := load(t, "@P5 "+text+"\nEXIT\n")
	if len(k.bad) > 0 {
		t.Error(k.bad)
		return
	}
	b := begin(t, k, Launch{}, nil)
	r := rand.New(rand.NewPCG(11, uint64(len(text))))
	for round := range 100 {
		w := &b.warps[0]
		w.live = full
		w.start(b.im)
		m := r.Uint32() | 1<<r.IntN(32)
		if round%4 == 0 {
			m = full
		}
		w.pr[5] = m
		var in [32]lane
		for i := range in {
			for j := range in[i].r {
				in[i].r[j] = word(r, kinds[min(j, len(kinds)-1)])
				w.rows[4+j][i] = in[i].r[j]
			}
			for j := range in[i].p {
				if in[i].p[j] = r.IntN(2) == 0; in[i].p[j] {
					w.pr[2+j] |= 1 << i
				}
			}
		}
		finish(t, w)
		out, u := want(&in, m)
		if got := w.rows[k.regs+3][0]; regs < 0 && got != u {
			t.Errorf("%s, lanes %#x: UR3 = %#x, want %#x", text, m, got, u)
			return
		}
		for i := range in {
			if m>>i&1 == 0 {
				continue
			}
			for j := range max(regs, 0) {
				if got := w.rows[j][i]; got != out[i].r[j] {
					t.Errorf("%s, lanes %#x, lane %d: R%d = %#x, want %#x", text, m, i, j, got, out[i].r[j])
					return
				}
			}
			for j := range preds {
				if got := w.pr[j]>>i&1 != 0; got != out[i].p[j] {
					t.Errorf("%s, lanes %#x, lane %d: P%d = %v, want %v", text, m, i, j, got, out[i].p[j])
					return
				}
			}
		}
	}
}

// each gives every lane its own result.
func each(f func(in *[32]lane, m uint32, i int) result) func(*[32]lane, uint32) ([32]result, uint32) {
	return func(in *[32]lane, m uint32) (out [32]result, _ uint32) {
		for i := range out {
			out[i] = f(in, m, i)
		}
		return out, 0
	}
}

// fold gives one uniform result made of the active lanes.
func fold(first bool, f func(acc, v uint32) uint32) func(*[32]lane, uint32) ([32]result, uint32) {
	return func(in *[32]lane, m uint32) (out [32]result, acc uint32) {
		begun := false
		for i := range in {
			if m>>i&1 == 0 {
				continue
			}
			if !begun {
				acc, begun = in[i].r[0], true
			} else if !first {
				acc = f(acc, in[i].r[0])
			}
		}
		return out, acc
	}
}

func ballot(in *[32]lane, m uint32) (v uint32) {
	for i := range in {
		if m>>i&1 != 0 && in[i].p[0] {
			v |= 1 << i
		}
	}
	return v
}

func TestLanes(t *testing.T) {
	// partner gives lane i of a shuffle the first register of another lane.
	partner := func(mode int, in *[32]lane, m uint32, i int, from, c uint32) result {
		b, clamp, seg := int(from&31), int(c&31), int(c>>8&31)
		top := i&seg | clamp&^seg
		j := [...]int{i&seg | b&^seg, i - b, i + b, i ^ b}[mode]
		ok := j <= top
		if mode == 1 {
			ok = j >= top
		}
		if !ok {
			return result{r: [4]uint32{in[i].r[0]}}
		}
		v := uint32(0) // of a lane that does not take part
		if m>>j&1 != 0 {
			v = in[j].r[0]
		}
		return result{[4]uint32{v}, [2]bool{true}}
	}
	shfl := func(mode int) func(in *[32]lane, m uint32, i int) result {
		return func(in *[32]lane, m uint32, i int) result { return partner(mode, in, m, i, in[i].r[1], in[i].r[2]) }
	}
	for mode, name := range []string{"IDX", "UP", "DOWN", "BFLY"} {
		for _, b := range []uint32{0, 1, 2, 5, 16, 31} {
			for _, c := range []uint32{0, 0x1f, 0x1807, 0x181f, 0x1c03, 0x1c1f, 0x1000, 0x1fff} {
				text := fmt.Sprintf("SHFL.%s P0, R0, R4, %#x, %#x", name, b, c)
				together(t, text, "i", each(func(in *[32]lane, m uint32, i int) result { return partner(mode, in, m, i, b, c) }), 1, 1)
			}
		}
	}
	together(t, "SHFL.IDX P0, R0, R4, R5, R6", "i", each(shfl(0)), 1, 1)
	together(t, "SHFL.UP P0, R0, R4, R5, R6", "imi", each(shfl(1)), 1, 1)
	together(t, "SHFL.DOWN P0, R0, R4, R5, R6", "imi", each(shfl(2)), 1, 1)
	together(t, "SHFL.BFLY P0, R0, R4, R5, R6", "imi", each(shfl(3)), 1, 1)
	together(t, "SHFL.BFLY PT, R0, R4, 0x1, 0x1f", "i", each(func(in *[32]lane, m uint32, i int) result {
		if m>>(i^1)&1 == 0 {
			return word1(0)
		}
		return word1(in[i^1].r[0])
	}), 1, 0)
	together(t, "VOTE.ANY R0, P0, P2", "i", each(func(in *[32]lane, m uint32, _ int) result {
		v := ballot(in, m)
		return result{[4]uint32{v}, [2]bool{v != 0}}
	}), 1, 1)
	together(t, "VOTE.ALL P0, P2", "i", each(func(in *[32]lane, m uint32, _ int) result {
		return result{p: [2]bool{ballot(in, m) == m}}
	}), 0, 1)
	together(t, "VOTE.EQ P0, P2", "i", each(func(in *[32]lane, m uint32, _ int) result {
		return result{p: [2]bool{ballot(in, m) == m || ballot(in, m) == 0}}
	}), 0, 1)
	together(t, "VOTEU.ANY UR3, UPT, P2", "i", func(in *[32]lane, m uint32) (out [32]result, u uint32) { return out, ballot(in, m) }, -1, 0)
	together(t, "MATCH.ANY R0, R4", "m", each(func(in *[32]lane, m uint32, i int) result {
		v := uint32(0)
		for j := range in {
			if m>>j&1 != 0 && in[j].r[0] == in[i].r[0] {
				v |= 1 << j
			}
		}
		return word1(v)
	}), 1, 0)
	together(t, "REDUX UR3, R4", "i", fold(false, func(a, v uint32) uint32 { return a & v }), -1, 0)
	together(t, "REDUX.OR UR3, R4", "i", fold(false, func(a, v uint32) uint32 { return a | v }), -1, 0)
	together(t, "REDUX.XOR UR3, R4", "i", fold(false, func(a, v uint32) uint32 { return a ^ v }), -1, 0)
	together(t, "REDUX.SUM UR3, R4", "i", fold(false, func(a, v uint32) uint32 { return a + v }), -1, 0)
	together(t, "REDUX.MIN.S32 UR3, R4", "i", fold(false, func(a, v uint32) uint32 { return pick(int32(v) < int32(a), v, a) }), -1, 0)
	together(t, "REDUX.MAX UR3, R4", "i", fold(false, func(a, v uint32) uint32 { return pick(v > a, v, a) }), -1, 0)
	together(t, "R2UR UR3, R4", "i", fold(true, nil), -1, 0)
	together(t, "S2R R0, SR_LANEID", "i", each(func(_ *[32]lane, _ uint32, i int) result { return word1(uint32(i)) }), 1, 0)
	together(t, "S2R R0, SR_LTMASK", "i", each(func(_ *[32]lane, _ uint32, i int) result { return word1(uint32(1<<i - 1)) }), 1, 0)
	together(t, "S2R R0, SR_EQMASK", "i", each(func(_ *[32]lane, _ uint32, i int) result { return word1(1 << i) }), 1, 0)
	together(t, "S2R R0, SR_LEMASK", "i", each(func(_ *[32]lane, _ uint32, i int) result { return word1(full >> (31 - i)) }), 1, 0)
	together(t, "S2R R0, SR_GTMASK", "i", each(func(_ *[32]lane, _ uint32, i int) result { return word1(full << i << 1) }), 1, 0)
	together(t, "S2R R0, SR_GEMASK", "i", each(func(_ *[32]lane, _ uint32, i int) result { return word1(full << i) }), 1, 0)
	together(t, "S2R R0, SR_TID.X", "i", each(func(_ *[32]lane, _ uint32, i int) result { return word1(uint32(i)) }), 1, 0)
}

// TestUniform: the uniform datapath computes what the vector one does, once.
func TestUniform(t *testing.T) {
	k := load(t, `
    MOV R4, 0x12345678 ;
    R2UR UR4, R4 ;
    UMOV UR5, 0x9abcdef0 ;
    UIADD3 UR6, UP0, UR4, UR5, UR5 ;
    UIADD3.X UR7, UR4, UR5, URZ, UP0, !UPT ;
    UIMAD UR8, UR4, UR5, UR6 ;
    UIMAD.WIDE.U32 UR10, UR4, UR5, UR6 ;
    ULOP3.LUT UR12, UR4, UR5, UR6, 0x96, !UPT ;
    USHF.R.U32.HI UR13, URZ, 0x4, UR4 ;
    ULEA UR14, UR4, UR5, 0x2 ;
    UISETP.GT.U32.AND UP1, UPT, UR5, UR4, UPT ;
    USEL UR15, UR4, UR5, UP1 ;
    UPRMT UR16, UR4, 0x3210, UR5 ;
    UPOPC UR17, UR4 ;
    UFLO.U32 UR18, UR4 ;
    UBREV UR19, UR4 ;
    @UP1 UMOV UR20, 0x7 ;
    @!UP1 UMOV UR21, 0x7 ;
    IADD3 R0, R4, UR5, RZ ;
    ULDC.64 UR22, c[0x0][0x160] ;
    UPLOP3.LUT UP2, UPT, UP1, UPT, UPT, 0x80, 0x0 ;
    EXIT ;
`)
	if len(k.bad) > 0 {
		t.Fatal(k.bad)
	}
	b := begin(t, k, Launch{Params: []byte{1, 2, 3, 4, 5, 6, 7, 8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}}, nil)
	w := &b.warps[0]
	finish(t, w)
	x, y := uint32(0x12345678), uint32(0x9abcdef0)
	s := uint64(x) + 2*uint64(y)
	wide := uint64(x)*uint64(y) + uint64(uint32(s)) + uint64(x+y+1)<<32
	for n, want := range map[int]uint32{
		6: uint32(s), 7: x + y + 1, 8: x*y + uint32(s), 10: uint32(wide), 11: uint32(wide >> 32), 12: x ^ y ^ uint32(s), 13: x >> 4, 14: x<<2 + y, 15: x,
		16: x, 17: uint32(bits.OnesCount32(x)), 18: 28, 19: bits.Reverse32(x), 20: 7, 21: 0, 22: 0x04030201, 23: 0x08070605,
	} {
		for i := range 32 {
			if got := w.rows[k.regs+n][i]; got != want {
				t.Fatalf("UR%d = %#x, want %#x", n, got, want)
			}
		}
	}
	if w.pr[uniformPred+2] != full || w.rows[0][9] != x+y {
		t.Errorf("UP2 = %#x, R0 = %#x", w.pr[uniformPred+2], w.rows[0][9])
	}
}

// TestMatrices: matrix instructions with small integers, which are exact in any
// order of the sums.
func TestMatrices(t *testing.T) {
	for _, c := range []struct {
		text       string
		m, k, bits int
		float      int // 0 integers, 1 binary16, 2 bfloat16, 3 tf32, 4 narrow
		accHalf    bool
		narrow     [2]ieee // of A and B
	}{
		{"HMMA.16816.F32", 16, 16, 16, 1, false, noIEEE},
		{"HMMA.16816.F16", 16, 16, 16, 1, true, noIEEE},
		{"HMMA.1688.F32", 16, 8, 16, 1, false, noIEEE},
		{"HMMA.16816.F32.BF16", 16, 16, 16, 2, false, noIEEE},
		{"HMMA.1688.F32.TF32", 16, 8, 32, 3, false, noIEEE},
		{"IMMA.8816.S8.S8", 8, 16, 8, 0, false, noIEEE},
		{"IMMA.16816.S8.S8", 16, 16, 8, 0, false, noIEEE},
		{"IMMA.16832.S8.S8.SAT", 16, 32, 8, 0, false, noIEEE},
		{"IMMA.8832.S4.S4", 8, 32, 4, 0, false, noIEEE},
		{"IMMA.16864.S4.S4", 16, 64, 4, 0, false, noIEEE},
		{"BMMA.88128.XOR.POPC", 8, 128, 1, 0, false, noIEEE},
		{"BMMA.168256.AND.POPC", 16, 256, 1, 0, false, noIEEE},
		{"QMMA.16832.F32.E4M3.E4M3", 16, 32, 8, 4, false, [2]ieee{e4m3, e4m3}},
		{"QMMA.16832.F32.E5M2.E4M3", 16, 32, 8, 4, false, [2]ieee{e5m2, e4m3}},
		{"QMMA.16832.F32.E2M1.E2M3", 16, 32, 8, 4, false, [2]ieee{e2m1, e2m3}},
		{"QMMA.16832.F16.E3M2.E5M2", 16, 32, 8, 4, true, [2]ieee{e3m2, e5m2}},
	} {
		suffix := [2]string{}
		if c.float == 0 {
			suffix = [2]string{".ROW", ".COL"}
		}
		arch := "sm_86"
		if c.float == 4 {
			arch = "sm_120"
		}
		k := load(t, headerOf(arch)+c.text+" R0, R4"+suffix[0]+", R8"+suffix[1]+", R12\nEXIT\n")
		if len(k.bad) > 0 {
			t.Error(k.bad)
			continue
		}
		b := begin(t, k, Launch{}, nil)
		w := &b.warps[0]
		r := rand.New(rand.NewPCG(5, uint64(c.k)))
		draw := func() int {
			if c.bits == 1 {
				return r.IntN(2)
			}
			return r.IntN(7) - 3
		}
		encode := func(v int, f ieee) uint32 {
			switch c.float {
			case 4:
				return uint32(f.round(exact(float64(v)), nearest, false)) << f.low()
			case 1:
				return uint32(b16.round(exact(float64(v)), nearest, false))
			case 2:
				return uint32(bbf.round(exact(float64(v)), nearest, false))
			case 3:
				return uint32(b32.round(exact(float64(v)), nearest, false))
			}
			return uint32(v) & uint32(1<<c.bits-1)
		}
		A, B, C := make([][]int, c.m), make([][]int, 8), make([][]int, c.m)
		for i := range A {
			A[i], C[i] = make([]int, c.k), make([]int, 8)
			for j := range A[i] {
				A[i][j] = draw()
			}
			for j := range C[i] {
				C[i][j] = r.IntN(9) - 4
			}
		}
		for i := range B {
			B[i] = make([]int, c.k)
			for j := range B[i] {
				B[i][j] = draw()
			}
		}
		// The fragments of the PTX manual's mma: thread i holds row i/4, and
		// neighbours along k.
		per := 32 / c.bits
		for i := range 32 {
			for reg := range max(1, c.m*c.k*c.bits/1024) {
				row, at := i/4, reg
				if c.m == 16 {
					row, at = i/4+reg%2*8, reg/2
				}
				for n := range per {
					w.rows[4+reg][i] |= encode(A[row][at*4*per+i%4*per+n], c.narrow[0]) << (n * c.bits)
				}
			}
			for reg := range max(1, 8*c.k*c.bits/1024) {
				for n := range per {
					w.rows[8+reg][i] |= encode(B[i/4][reg*4*per+i%4*per+n], c.narrow[1]) << (n * c.bits)
				}
			}
			for n := range c.m / 4 {
				v := C[i/4+n/2*8][i%4*2+n%2]
				switch {
				case c.accHalf:
					w.rows[12+n/2][i] |= uint32(b16.round(exact(float64(v)), nearest, false)) << (n % 2 * 16)
				case c.float != 0:
					w.rows[12+n][i] = uint32(b32.round(exact(float64(v)), nearest, false))
				default:
					w.rows[12+n][i] = uint32(v)
				}
			}
		}
		finish(t, w)
		for i := range 32 {
			for n := range c.m / 4 {
				row, col := i/4+n/2*8, i%4*2+n%2
				want := C[row][col]
				for k := range c.k {
					switch {
					case c.text == "BMMA.88128.XOR.POPC":
						want += A[row][k] ^ B[col][k]
					default:
						want += A[row][k] * B[col][k]
					}
				}
				var got int
				switch {
				case c.accHalf:
					got = int(halfValue(uint16(w.rows[n/2][i] >> (n % 2 * 16))))
				case c.float != 0:
					l := lane{r: [12]uint32{w.rows[n][i]}}
					got = int(l.f32(0))
				default:
					got = int(int32(w.rows[n][i]))
				}
				if got != want {
					t.Fatalf("%s: element %d, %d is %d, want %d", c.text, row, col, got, want)
				}
			}
		}
	}
}

// TestMatrixDouble: DMMA, whose shape later disassemblers write with x.
func TestMatrixDouble(t *testing.T) {
	for arch, shape := range map[string]string{"sm_86": "884", "sm_120": "8x8x4"} {
		t.Run(shape, func(t *testing.T) {
			k := load(t, strings.Replace(header, "sm_86", arch, 1)+"DMMA."+shape+" R0, R4, R8, R12 ;\nEXIT ;\n")
			if len(k.bad) > 0 {
				t.Fatal(k.bad)
			}
			w := &begin(t, k, Launch{}, nil).warps[0]
			put := func(reg, lane int, v float64) {
				b := b64.round(exact(v), nearest, false)
				w.rows[reg][lane], w.rows[reg+1][lane] = uint32(b), uint32(b>>32)
			}
			for i := range 32 {
				put(4, i, float64(i+1))     // A[i/4][i%4]
				put(8, i, float64(3*i%7-2)) // B[i%4][i/4]
				put(12, i, 0.5)
				put(14, i, -1)
			}
			finish(t, w)
			for i := range 32 {
				for n := range 2 {
					row, col := i/4, i%4*2+n
					want := []float64{0.5, -1}[n]
					for k := range 4 {
						want += float64(row*4+k+1) * float64(3*(col*4+k)%7-2)
					}
					l := lane{r: [12]uint32{w.rows[2*n][i], w.rows[2*n+1][i]}}
					if got := l.f64(0); got != want {
						t.Fatalf("element %d, %d is %v, want %v", row, col, got, want)
					}
				}
			}
		})
	}
}

// TestMatrixMoves: the moves of 8 × 8 tiles.
func TestMatrixMoves(t *testing.T) {
	k := load(t, "MOVM.16.MT88 R0, R4\nEXIT\n")
	w := &begin(t, k, Launch{}, nil).warps[0]
	for i := range 32 { // element r, c is 16·r + c
		r, c := uint32(i/4), uint32(i%4*2)
		w.rows[4][i] = 16*r + c | (16*r+c+1)<<16
	}
	finish(t, w)
	for i := range 32 {
		r, c := uint32(i/4), uint32(i%4*2)
		if want := 16*c + r | (16*(c+1)+r)<<16; w.rows[0][i] != want {
			t.Fatalf("lane %d has %#x, want %#x", i, w.rows[0][i], want)
		}
	}
}
