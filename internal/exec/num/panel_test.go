package num

import (
	"fmt"
	"math"
	"testing"
)

// A panel's sums equal the dot products, one by one.
func TestFloatPanel(t *testing.T) {
	g := rng("float panel")
	special := []float32{0, float32(math.Copysign(0, -1)), 1, -1, 65504, 0x1p-24, 0x1p127, -0x1p-126, float32(math.Inf(1)), float32(math.Inf(-1)), float32(math.NaN())}
	for _, k := range []int{4, 8, 16, 32, 64} {
		for _, odd := range []int{0, 64, 4} { // on average one element of this number is special, 0: none
			t.Run(fmt.Sprintf("k=%d,special=%d", k, odd), func(t *testing.T) {
				var p FloatPanel
				element := func() float32 {
					if odd > 0 && g.IntN(odd) == 0 {
						return special[g.IntN(len(special))]
					}
					return float32(math.Ldexp(g.Float64()-0.5, g.IntN(24)-12))
				}
				for range 200 {
					a, b := make([]float32, k), make([]float32, Columns*k)
					for i := range a {
						a[i] = element()
					}
					for i := range b {
						b[i] = element()
					}
					p.Fill(b, k)
					var full, half [Columns]uint32
					for i := range full {
						full[i], half[i] = math.Float32bits(element()), uint32(g.Uint32()&0xffff)
					}
					gotFull, gotHalf := full, half
					p.RowF32(&gotFull, a)
					p.RowF16(&gotHalf, a)
					for i := range full {
						col := b[i*k : i*k+k]
						if want := DotF32(full[i], a, col); gotFull[i] != want {
							t.Fatalf("RowF32, column %d: %#x, want %#x", i, gotFull[i], want)
						}
						if want := uint32(DotF32F16(uint16(half[i]), a, col)); gotHalf[i] != want {
							t.Fatalf("RowF16, column %d: %#x, want %#x", i, gotHalf[i], want)
						}
					}
				}
			})
		}
	}
}

func TestIntPanel(t *testing.T) {
	g := rng("int panel")
	limits := func(bits int, signed bool) (lo, hi int) {
		if signed {
			return -1 << (bits - 1), 1<<(bits-1) - 1
		}
		return 0, 1<<bits - 1
	}
	for _, s := range []struct {
		bits, k int
	}{{8, 16}, {8, 32}, {8, 64}, {4, 32}, {4, 64}, {8, 48}} {
		for signs := range 4 {
			aSigned, bSigned := signs&1 != 0, signs&2 != 0
			t.Run(fmt.Sprintf("%d bits,k=%d,signed=%v,%v", s.bits, s.k, aSigned, bSigned), func(t *testing.T) {
				aLo, aHi := limits(s.bits, aSigned)
				bLo, bHi := limits(s.bits, bSigned)
				// Elements are random, or all of a row or column the least or the greatest.
				fill := func(v []int32, lo, hi int) {
					kind := g.IntN(4)
					for i := range v {
						switch kind {
						case 0:
							v[i] = int32(lo)
						case 1:
							v[i] = int32(hi)
						default:
							v[i] = int32(lo + g.IntN(hi-lo+1))
						}
					}
				}
				var p IntPanel
				for range 300 {
					a, b := make([]int32, s.k), make([]int32, Columns*s.k)
					fill(a, aLo, aHi)
					for c := range Columns {
						fill(b[c*s.k:][:s.k], bLo, bHi)
					}
					p.Fill(b, s.k, aSigned || bSigned)
					var acc [Columns]uint32
					for i := range acc {
						acc[i] = g.Uint32()
						if g.IntN(2) == 0 {
							acc[i] = uint32([]int32{math.MinInt32, math.MaxInt32}[g.IntN(2)])
						}
					}
					for _, sat := range []bool{false, true} {
						got := acc
						p.Row(&got, a, sat)
						for i := range acc {
							if want := uint32(DotInt(int32(acc[i]), a, b[i*s.k:][:s.k], sat)); got[i] != want {
								t.Fatalf("saturating=%v, column %d: %d, want %d", sat, i, int32(got[i]), int32(want))
							}
						}
					}
				}
			})
		}
	}
}
