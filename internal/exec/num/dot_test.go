package num

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

// exactDot is the exact sum; bound is the size of the largest partial sum times
// the error of f64 arithmetic, by which the result may differ from it before
// its one rounding.
func exactDot(acc *big.Float, a, b []*big.Float) (sum *big.Float, bound float64) {
	sum = new(big.Float).SetPrec(3000).Set(acc)
	size, _ := new(big.Float).Abs(sum).Float64()
	for i := range a {
		p := new(big.Float).SetPrec(3000).Mul(a[i], b[i])
		sum.Add(sum, p)
		v, _ := p.Float64()
		size += math.Abs(v)
	}
	return sum, size * 0x1p-52 * float64(len(a))
}

// checkDot accepts the exact sum, rounded once, or any rounding of a value within bound of
// it.
func checkDot(t *testing.T, name string, to binary, got uint64, sum *big.Float, bound float64) {
	t.Helper()
	lo := new(big.Float).SetPrec(3000).Sub(sum, new(big.Float).SetFloat64(bound))
	hi := new(big.Float).SetPrec(3000).Add(sum, new(big.Float).SetFloat64(bound))
	l, h := to.round(lo, false, RN), to.round(hi, false, RN)
	if to.isNaN(got) {
		t.Fatalf("%s = NaN", name)
	}
	key := func(x uint64) int64 {
		if x&to.sign() != 0 {
			return -int64(x &^ to.sign())
		}
		return int64(x)
	}
	if key(got) < key(l) || key(got) > key(h) {
		t.Fatalf("%s = %#x, want %#x to %#x", name, got, l, h)
	}
}

func finite(f binary, g *rand.Rand) uint64 {
	for {
		if x := f.random(g); !f.isNaN(x) && !f.isInf(x) {
			return x
		}
	}
}

func TestDotFloat(t *testing.T) {
	g := rng("dot")
	const k = 16
	wide := func(ref binary, x []uint64) []*big.Float {
		v := make([]*big.Float, len(x))
		for i := range x {
			v[i] = ref.value(x[i])
		}
		return v
	}
	for range 1500 {
		for _, f := range []struct {
			name string
			ref  binary
			dot  func(acc uint32, a, b []uint16) uint32
		}{{"f16", refF16, DotF16}, {"bf16", refBF16, DotBF16}} {
			a, b := make([]uint16, k), make([]uint16, k)
			ax, bx := make([]uint64, k), make([]uint64, k)
			af, bfl := make([]float32, k), make([]float32, k)
			for i := range a {
				ax[i], bx[i] = finite(f.ref, g), finite(f.ref, g)
				a[i], b[i] = uint16(ax[i]), uint16(bx[i])
				x, _ := f.ref.value(ax[i]).Float32()
				y, _ := f.ref.value(bx[i]).Float32()
				af[i], bfl[i] = x, y
			}
			acc := finite(refF32, g)
			sum, bound := exactDot(refF32.value(acc), wide(f.ref, ax), wide(f.ref, bx))
			got := f.dot(uint32(acc), a, b)
			checkDot(t, f.name, refF32, uint64(got), sum, bound)
			if d := DotF32(uint32(acc), af, bfl); d != got {
				t.Fatalf("DotF32 of %s = %#x, want %#x", f.name, d, got)
			}
			if f.name == "f16" {
				h := finite(refF16, g)
				sum, bound := exactDot(refF16.value(h), wide(f.ref, ax), wide(f.ref, bx))
				got := DotF16F16(uint16(h), a, b)
				checkDot(t, "f16 to f16", refF16, uint64(got), sum, bound)
				if d := DotF32F16(uint16(h), af, bfl); d != got {
					t.Fatalf("DotF32F16 = %#x, want %#x", d, got)
				}
			}
		}
		// tf32: the low bits do not count.
		a, b := make([]uint32, 8), make([]uint32, 8)
		ax, bx := make([]*big.Float, 8), make([]*big.Float, 8)
		for i := range a {
			a[i], b[i] = uint32(finite(refF32, g)), uint32(finite(refF32, g))
			ax[i], bx[i] = refF32.value(uint64(a[i]>>13<<13)), refF32.value(uint64(b[i]>>13<<13))
		}
		acc := finite(refF32, g)
		sum, bound := exactDot(refF32.value(acc), ax, bx)
		checkDot(t, "tf32", refF32, uint64(DotTF32(uint32(acc), a, b)), sum, bound)

		// Narrow formats, every pair of them.
		fa, fb := narrowTests[g.IntN(len(narrowTests))], narrowTests[g.IntN(len(narrowTests))]
		na, nb := make([]uint8, 32), make([]uint8, 32)
		va, vb := make([]*big.Float, 32), make([]*big.Float, 32)
		for i := range na {
			m, n := g.IntN(len(fa.values)), g.IntN(len(fb.values))
			na[i], nb[i], va[i], vb[i] = uint8(m), uint8(n), bf(fa.values[m]), bf(fb.values[n])
			if g.IntN(2) == 0 {
				na[i] |= fa.sign
				va[i].Neg(va[i])
			}
		}
		sum, bound = exactDot(refF32.value(acc), va, vb)
		checkDot(t, fa.name+" × "+fb.name, refF32, uint64(DotFP8(uint32(acc), na, nb, fa.format, fb.format)), sum, bound)
		h := finite(refF16, g)
		sum, bound = exactDot(refF16.value(h), va, vb)
		checkDot(t, fa.name+" × "+fb.name+" to f16", refF16, uint64(DotFP8F16(uint16(h), na, nb, fa.format, fb.format)), sum, bound)
	}
	// Where f64 is exact so is the result: small integers, and cancellation.
	a, b := []uint16{0x6400, 0x3c00, 0xe400, 0x0001}, []uint16{0x6400, 0x3c00, 0x6400, 0x3c00} // 1024², 1, -1024², 2^-24
	if got, want := f32(DotF16(0, a, b)), float32(1+0x1p-24); got != want {
		t.Errorf("cancelling sum = %v, want %v", got, want)
	}
	if got := DotF16(0, []uint16{0x7c00, 0x3c00}, []uint16{0x0000, 0x3c00}); got != NaNF32 {
		t.Errorf("∞·0 = %#x", got)
	}
	if got := DotF16(0, []uint16{0x7c00, 0x3c00}, []uint16{0x3c00, 0x3c00}); got != inf32 {
		t.Errorf("∞·1 = %#x", got)
	}
	if got := DotTF32(0, []uint32{0x7f800001}, []uint32{0x3f800000}); got != NaNF32 {
		t.Errorf("tf32 NaN with a payload in the ignored bits = %#x", got)
	}
	if got := DotF16(0x3f800000, a, nil); got != 0x3f800000 {
		t.Errorf("nothing to add = %#x", got)
	}
}

func TestDotF64(t *testing.T) {
	g := rng("dotf64")
	for range 1000 {
		a, b := make([]uint64, 4), make([]uint64, 4)
		for i := range a {
			a[i], b[i] = refF64.random(g)&^(1<<62)|1<<61, refF64.random(g)&^(1<<62)|1<<61
		}
		for _, r := range modes {
			acc := b64(g.NormFloat64())
			want := acc
			for i := range a {
				var ok bool
				if want, ok = refF64.refOp("fma", r, a[i], b[i], want); !ok {
					t.Fatalf("operands %#x %#x are not finite", a[i], b[i])
				}
			}
			if got := DotF64(acc, a, b, r); got != want {
				t.Fatalf("DotF64.%s = %#x, want %#x", r, got, want)
			}
		}
	}
}

func TestDotInt(t *testing.T) {
	g := rng("dotint")
	for range 5000 {
		n := 1 + g.IntN(8)
		a, b := make([]uint32, n), make([]uint32, n)
		for i := range a {
			a[i], b[i] = g.Uint32(), g.Uint32()
		}
		acc := int32(g.Uint32())
		if g.IntN(2) == 0 {
			acc = []int32{math.MaxInt32, math.MinInt32, math.MaxInt32 - 100, 0}[g.IntN(4)]
		}
		for m := range 4 {
			as, bs := m&1 != 0, m&2 != 0
			for _, f := range []struct {
				width uint
				dot   func(acc int32, a, b []uint32, as, bs, sat bool) int32
			}{{8, DotS8}, {4, DotS4}} {
				sum := int64(acc)
				for i := range a {
					for at := uint(0); at < 32; at += f.width {
						sum += partOf(a[i], at, f.width, as) * partOf(b[i], at, f.width, bs)
					}
				}
				if got := f.dot(acc, a, b, as, bs, false); got != int32(sum) {
					t.Fatalf("dot of %d bits = %d, want %d", f.width, got, int32(sum))
				}
				lo, hi := bounds(true, 32)
				if got, want := f.dot(acc, a, b, as, bs, true), clampBig(bigS(sum), lo, hi).Int64(); int64(got) != want {
					t.Fatalf("dot of %d bits, satfinite = %d, want %d", f.width, got, want)
				}
			}
		}
		xor, and := acc, acc
		for i := range a {
			for k := range 32 {
				xor += int32(a[i]>>k&1 ^ b[i]>>k&1)
				and += int32(a[i] >> k & 1 & (b[i] >> k & 1))
			}
		}
		if got := DotB1(acc, a, b, false); got != xor {
			t.Fatalf("b1 xor = %d, want %d", got, xor)
		}
		if got := DotB1(acc, a, b, true); got != and {
			t.Fatalf("b1 and = %d, want %d", got, and)
		}
	}
	if got := DotB1(0, []uint32{math.MaxUint32}, []uint32{0}, false); got != 32 {
		t.Errorf("b1 xor of ones and zeros = %d", got)
	}
}

func TestTF32ToF32(t *testing.T) {
	for _, c := range []struct{ a, want uint32 }{
		{0x3f801fff, 0x3f800000}, {0x3f802000, 0x3f802000}, {0x7f800000, 0x7f800000}, {0x7f800001, NaNF32}, {0x80001fff, 0x80000000},
	} {
		if got := TF32ToF32(c.a); got != c.want {
			t.Errorf("TF32ToF32(%#x) = %#x, want %#x", c.a, got, c.want)
		}
	}
}
