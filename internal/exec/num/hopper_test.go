package num

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/heddle-sim/heddle/internal/alltests"
)

// refHopper is the rule in rational numbers. Terms are f32 with their smallest exponents.
func refHopper(acc uint32, a, b []uint32, eminA, eminB int, bits int) uint32 {
	exponent := func(x uint32, emin int) int { return max(int(x>>23&255)-127, emin) }
	e := hopperLeast
	zero := func(x uint32) bool { return x<<1 == 0 }
	if !zero(acc) {
		e = max(e, exponent(acc, -126))
	}
	for i := range a {
		if !zero(a[i]) && !zero(b[i]) {
			e = max(e, exponent(a[i], eminA)+exponent(b[i], eminB))
		}
	}
	unit := func(x *big.Rat) *big.Int { // truncated, in units of 2^(e-bits)
		n := bits - e
		p := new(big.Rat).SetInt(new(big.Int).Lsh(big.NewInt(1), uint(max(n, -n))))
		if n < 0 {
			p.Inv(p)
		}
		x.Mul(x, p)
		return new(big.Int).Quo(x.Num(), x.Denom())
	}
	rat := func(x uint32) *big.Rat { return new(big.Rat).SetFloat64(float64(math.Float32frombits(x))) }
	sum := unit(rat(acc))
	for i := range a {
		sum.Add(sum, unit(new(big.Rat).Mul(rat(a[i]), rat(b[i]))))
	}
	if sum.Sign() == 0 {
		return 0
	}
	f := new(big.Float).SetPrec(200).SetInt(sum)
	f.SetMantExp(f, e-bits)
	f.SetMode(big.ToZero)
	v, _ := f.Float64()
	exp := math.Ilogb(v)
	if exp > 127 {
		return math.Float32bits(float32(math.Inf(f.Sign())))
	}
	// 24 bits, fewer below the smallest normal number, toward zero.
	keep := math.Ldexp(1, max(exp, -126)-23)
	return math.Float32bits(float32(math.Trunc(v/keep) * keep))
}

func TestHopperSums(t *testing.T) {
	rnd := rand.New(rand.NewPCG(90, 1))
	formats := []struct {
		name string
		emin int
		bits int32
		get  func() uint32
	}{
		{"f16", -14, HopperBits, func() uint32 { return F16ToF32(uint16(rnd.Uint32())) }},
		{"f16 near one", -14, HopperBits, func() uint32 { return F16ToF32(uint16(rnd.Uint32())&0x8fff | 0x3000) }},
		{"f16 subnormal", -14, HopperBits, func() uint32 { return F16ToF32(uint16(rnd.Uint32()) & 0x87ff) }},
		{"bf16", -126, HopperBits, func() uint32 { return rnd.Uint32() &^ 0xffff }},
		{"bf16 tiny", -126, HopperBits, func() uint32 { return rnd.Uint32() &^ 0xffff &^ 0x60000000 }},
		{"tf32", -126, HopperBits, func() uint32 { return rnd.Uint32() &^ 0x1fff &^ 0x20000000 }},
		{"e4m3", -6, HopperBitsByte, func() uint32 { return NarrowToF32(uint8(rnd.Uint32()), E4M3) }},
		{"e5m2", -14, HopperBitsByte, func() uint32 { return NarrowToF32(uint8(rnd.Uint32()), E5M2) }},
	}
	for _, f := range formats {
		for _, k := range []int{8, 16, 32} {
			for range alltests.Count(500, 3000) {
				var ta, tb Terms
				ta.Clear()
				tb.Clear()
				a, b := make([]uint32, k), make([]uint32, k)
				for i := range k {
					for _, x := range []*uint32{&a[i], &b[i]} {
						for *x = f.get(); *x&inf32 == inf32; *x = f.get() {
						}
						if rnd.IntN(8) == 0 {
							*x = 0
						}
					}
					ta.Set(i, a[i], int32(f.emin))
					tb.Set(i, b[i], int32(f.emin))
				}
				acc := f.get()
				switch rnd.IntN(4) {
				case 0:
					acc = rnd.Uint32() &^ 0x40000000
				case 1:
					acc = 0
				}
				if acc&inf32 == inf32 {
					acc = 1
				}
				if got, want := HopperF32(acc, &ta, &tb, k, f.bits), refHopper(acc, a, b, f.emin, f.emin, int(f.bits)); got != want {
					t.Fatalf("%s, k = %d: %#08x + %#x·%#x = %#08x, want %#08x", f.name, k, acc, a, b, got, want)
				}
			}
		}
	}
}

func TestHopperSpecial(t *testing.T) {
	const inf, one, big = inf32, 0x3f800000, 0x7f000000
	for _, c := range []struct {
		name      string
		acc, a, b uint32
		want      uint32
	}{
		{"infinity", one, inf, one, inf},
		{"negative infinity", one, inf, one | sign32, inf | sign32},
		{"infinity times zero", one, inf, 0, NaNF32},
		{"infinities of both signs", inf | sign32, inf, one, NaNF32},
		{"NaN", one, 0x7fc00000, one, NaNF32},
		{"accumulator is NaN", 0x7fc00001, one, one, NaNF32},
		{"accumulator is infinite", inf, one, one, inf},
		{"overflow", 0, big, big, inf},
		{"zero", sign32, 0, one, 0},
	} {
		var a, b Terms
		a.Clear()
		b.Clear()
		a.Set(0, c.a, -126)
		b.Set(0, c.b, -126)
		if got := HopperF32(c.acc, &a, &b, 16, HopperBits); got != c.want {
			t.Errorf("%s: %#08x, want %#08x", c.name, got, c.want)
		}
	}
}

// TestHopperTruncates shows what differs from an exact sum: small terms lose bits, toward zero.
func TestHopperTruncates(t *testing.T) {
	var a, b Terms
	a.Clear()
	b.Clear()
	for i := range 16 {
		a.Set(i, 0x33000000, -14) // 2^-25
		b.Set(i, 0x3f000000, -14) // 1/2
	}
	if got := HopperF32(0x3f800000, &a, &b, 16, HopperBits); got != 0x3f800000 {
		t.Errorf("1 + 16·2^-26 = %#08x, want 1: each term is below 2^-25", got)
	}
}

func BenchmarkHopperF32(bench *testing.B) {
	rnd := rand.New(rand.NewPCG(90, 2))
	var a, b Terms
	for i := range 16 {
		a.Set(i, math.Float32bits(rnd.Float32()-0.5)&^0x1fff, -14)
		b.Set(i, math.Float32bits(rnd.Float32()-0.5)&^0x1fff, -14)
	}
	acc := uint32(0)
	for bench.Loop() {
		acc = HopperF32(acc, &a, &b, 16, HopperBits)
	}
}

// TestHopperChosen: terms that are not chosen do not count, special or not; stored zeros do.
func TestHopperChosen(t *testing.T) {
	inf, nan := float32(math.Inf(1)), float32(math.NaN())
	for _, c := range []struct {
		name string
		a, b [4]float32
		want float32
	}{
		{"NaN that is not chosen", [4]float32{1, 0, 2, 0}, [4]float32{3, nan, 5, nan}, 13},
		{"infinity that is not chosen", [4]float32{1, 0, 2, 0}, [4]float32{3, inf, 5, -inf}, 13},
		{"truncated as without NaN", [4]float32{1 << 26, 0, 1, 0}, [4]float32{1, 9, 1.5, nan}, 1 << 26},
		{"stored zero by infinity", [4]float32{0, 0, 2, 0}, [4]float32{inf, 1, 5, 1}, nan},
		{"chosen infinity", [4]float32{1, 0, 2, 0}, [4]float32{inf, nan, 5, 1}, inf},
		{"infinite A", [4]float32{inf, 0, 2, 0}, [4]float32{1, nan, 5, 1}, inf},
	} {
		var a, b Terms
		a.Clear()
		b.Clear()
		for i := range c.a {
			a.Set(i, math.Float32bits(c.a[i]), -14)
			b.Set(i, math.Float32bits(c.b[i]), -14)
		}
		a.Choose(0b0101)
		same := func(got float32) bool { return got == c.want || got != got && c.want != c.want }
		if got := math.Float32frombits(HopperF32(0, &a, &b, 4, HopperBits)); !same(got) {
			t.Errorf("%s: the sum is %v, want %v", c.name, got, c.want)
		}
		if got := math.Float32frombits(F16ToF32(HopperF16(0, &a, &b, 4, HopperBits))); c.want < 1<<16 && !same(got) {
			t.Errorf("%s: the sum in f16 is %v, want %v", c.name, got, c.want)
		}
	}
}
