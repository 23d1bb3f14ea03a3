package num

import (
	"math"
	"math/big"
	"testing"
)

// operands of a conversion test: corners of every format, as values of from.
func (f binary) conversionOperands(name string, count int, do func(x uint64)) {
	for _, to := range []binary{refF64, refF32, refF16, refBF16} {
		for _, c := range to.corners() {
			if to.isNaN(c) || to.isInf(c) {
				continue
			}
			// The value itself, and its neighbours in the finer format, are
			// where rounding to the coarser one changes.
			v := to.value(c)
			x := f.round(v, c&to.sign() != 0, RN)
			for d := uint64(0); d < 3; d++ {
				do((x + d - 1) & (f.sign()<<1 - 1))
			}
		}
	}
	for _, c := range f.corners() {
		do(c)
	}
	g := rng(name)
	for range count {
		do(f.random(g))
	}
}

// refNarrow converts between formats.
func refNarrow(from, to binary, x uint64, r Round, nan uint64) uint64 {
	neg := x&from.sign() != 0
	switch {
	case from.isNaN(x):
		return nan
	case from.isInf(x):
		if neg {
			return to.inf() | to.sign()
		}
		return to.inf()
	}
	return to.round(from.value(x), neg, r)
}

func TestNarrowing(t *testing.T) {
	for _, r := range modes {
		refF64.conversionOperands("narrow64", 30000, func(x uint64) {
			if got, want := uint64(F64ToF32(x, r)), refNarrow(refF64, refF32, x, r, 0x7fffffff); got != want {
				t.Fatalf("f64→f32.%s %#x = %#x, want %#x", r, x, got, want)
			}
			if got, want := uint64(F64ToF16(x, r)), refNarrow(refF64, refF16, x, r, 0x7fff); got != want {
				t.Fatalf("f64→f16.%s %#x = %#x, want %#x", r, x, got, want)
			}
			if got, want := uint64(F64ToBF16(x, r)), refNarrow(refF64, refBF16, x, r, 0x7fff); got != want {
				t.Fatalf("f64→bf16.%s %#x = %#x, want %#x", r, x, got, want)
			}
		})
		refF32.conversionOperands("narrow32", 30000, func(x uint64) {
			a := uint32(x)
			h, b := refNarrow(refF32, refF16, x, r, 0x7fff), refNarrow(refF32, refBF16, x, r, 0x7fff)
			if got := uint64(F32ToF16(a, r)); got != h {
				t.Fatalf("f32→f16.%s %#x = %#x, want %#x", r, x, got, h)
			}
			if got := uint64(F32ToBF16(a, r)); got != b {
				t.Fatalf("f32→bf16.%s %#x = %#x, want %#x", r, x, got, b)
			}
			if h&0x7fff == 0x7c00 {
				h--
			}
			if b&0x7fff == 0x7f80 {
				b--
			}
			if got := uint64(F32ToF16Sat(a, r)); got != h {
				t.Fatalf("f32→f16.%s.satfinite %#x = %#x, want %#x", r, x, got, h)
			}
			if got := uint64(F32ToBF16Sat(a, r)); got != b {
				t.Fatalf("f32→bf16.%s.satfinite %#x = %#x, want %#x", r, x, got, b)
			}
		})
		for x := range uint64(1 << 16) {
			if got, want := uint64(F16ToBF16(uint16(x), r)), refNarrow(refF16, refBF16, x, r, 0x7fff); got != want {
				t.Fatalf("f16→bf16.%s %#x = %#x, want %#x", r, x, got, want)
			}
			if got, want := uint64(BF16ToF16(uint16(x), r)), refNarrow(refBF16, refF16, x, r, 0x7fff); got != want {
				t.Fatalf("bf16→f16.%s %#x = %#x, want %#x", r, x, got, want)
			}
		}
	}
	for _, r := range []Round{RN, RZ, RNA} {
		refF32.conversionOperands("tf32", 20000, func(x uint64) {
			want := refNarrow(refF32, refTF32, x, r, 0x3ffff) << 13
			if refF32.isNaN(x) {
				want = 0x7fffffff
			}
			if got := uint64(F32ToTF32(uint32(x), r)); got != want {
				t.Fatalf("f32→tf32.%s %#x = %#x, want %#x", r, x, got, want)
			}
			if want&^sign32 == inf32 {
				want -= 1 << 13
			}
			if got := uint64(F32ToTF32Sat(uint32(x), r)); got != want {
				t.Fatalf("f32→tf32.%s.satfinite %#x = %#x, want %#x", r, x, got, want)
			}
		})
	}
}

func TestWidening(t *testing.T) {
	for x := range uint64(1 << 16) {
		a := uint16(x)
		if got, want := uint64(F16ToF32(a)), refNarrow(refF16, refF32, x, RN, 0x7fffffff); got != want {
			t.Fatalf("f16→f32 %#x = %#x, want %#x", x, got, want)
		}
		if got, want := F16ToF64(a), refNarrow(refF16, refF64, x, RN, 0x7fffffffe0000000); got != want {
			t.Fatalf("f16→f64 %#x = %#x, want %#x", x, got, want)
		}
		if got := BF16ToF32(a); got != uint32(x)<<16 {
			t.Fatalf("bf16→f32 %#x = %#x", x, got)
		}
		if !refBF16.isNaN(x) {
			if got, want := BF16ToF64(a), refNarrow(refBF16, refF64, x, RN, 0); got != want {
				t.Fatalf("bf16→f64 %#x = %#x, want %#x", x, got, want)
			}
		} else if !math.IsNaN(f64(BF16ToF64(a))) {
			t.Fatalf("bf16→f64 %#x is a number", x)
		}
	}
	refF32.conversionOperands("widen", 20000, func(x uint64) {
		want := refNarrow(refF32, refF64, x, RN, x>>31<<63|0x7ff8000000000000|x&0x7fffff<<29)
		if got := F32ToF64(uint32(x)); got != want {
			t.Fatalf("f32→f64 %#x = %#x, want %#x", x, got, want)
		}
	})
}

// Stochastic rounding: the random bits are added below the last kept one.
func TestStochastic(t *testing.T) {
	for _, c := range []struct {
		a, rbits  uint32
		f16, bf16 uint16
	}{
		{0x3f800000, 0xffffffff, 0x3c00, 0x3f80}, // exact: nothing to carry
		{0x3f801000, 0x0fff, 0x3c00, 0x3f80},     // f16: half, no carry
		{0x3f801000, 0x1000, 0x3c01, 0x3f80},     // f16: half, carry
		{0x3f808000, 0x7fff, 0x3c04, 0x3f80},     // bf16: half, no carry
		{0x3f808000, 0x8000, 0x3c04, 0x3f81},     // bf16: half, carry
		{0xbf808000, 0x8000, 0xbc04, 0xbf81},
		{0x7f7fffff, 0x0001, 0x7c00, 0x7f80}, // one more than the largest
		{0x7f7fffff, 0x0000, 0x7c00, 0x7f7f},
		{0x7fc12345, 0x1234, 0x7fff, 0x7fff},
		{0xff800000, 0x1234, 0xfc00, 0xff80},
		{0x33000000, 0x0fff, 0x0000, 0x3300}, // half the smallest f16
		{0x33000000, 0x1000, 0x0001, 0x3300},
	} {
		if d := F32ToF16RS(c.a, c.rbits, false); d != c.f16 {
			t.Errorf("f16.rs %#x %#x = %#x, want %#x", c.a, c.rbits, d, c.f16)
		}
		if d := F32ToBF16RS(c.a, c.rbits, false); d != c.bf16 {
			t.Errorf("bf16.rs %#x %#x = %#x, want %#x", c.a, c.rbits, d, c.bf16)
		}
		if c.f16&0x7fff == 0x7c00 {
			c.f16--
		}
		if c.bf16&0x7fff == 0x7f80 {
			c.bf16--
		}
		if d := F32ToF16RS(c.a, c.rbits, true); d != c.f16 {
			t.Errorf("f16.rs.satfinite %#x %#x = %#x, want %#x", c.a, c.rbits, d, c.f16)
		}
		if d := F32ToBF16RS(c.a, c.rbits, true); d != c.bf16 {
			t.Errorf("bf16.rs.satfinite %#x %#x = %#x, want %#x", c.a, c.rbits, d, c.bf16)
		}
	}
	// Over all random bits the mean is the operand.
	const a = 0x3f801234 // 1 + 0x1234/2^23
	sum := 0.0
	for r := range uint32(1 << 13) {
		sum += float64(f32(F16ToF32(F32ToF16RS(a, r, false))))
	}
	if mean := sum / (1 << 13); mean != float64(f32(a)) {
		t.Errorf("mean of stochastic rounding %v, want %v", mean, f32(a))
	}
}

// refRint rounds to an integer.
func refRint(v *big.Float, r Round) *big.Int {
	i, acc := v.Int(nil) // towards zero
	if acc == big.Exact {
		return i
	}
	away := big.NewInt(int64(v.Sign()))
	rest := new(big.Float).SetPrec(2000).Sub(v, new(big.Float).SetInt(i))
	rest.Abs(rest)
	up := false
	switch c := rest.Cmp(big.NewFloat(0.5)); r {
	case RN:
		up = c > 0 || c == 0 && i.Bit(0) == 1
	case RM:
		up = v.Sign() < 0
	case RP:
		up = v.Sign() > 0
	}
	if up {
		i.Add(i, away)
	}
	return i
}

// bounds of an integer type.
func bounds(signed bool, width uint) (lo, hi *big.Int) {
	one := big.NewInt(1)
	if !signed {
		return new(big.Int), new(big.Int).Sub(new(big.Int).Lsh(one, width), one)
	}
	m := new(big.Int).Lsh(one, width-1)
	return new(big.Int).Neg(m), new(big.Int).Sub(m, one)
}

// low64 is an integer modulo 2^64.
func low64(v *big.Int) uint64 {
	return new(big.Int).And(v, new(big.Int).SetUint64(math.MaxUint64)).Uint64()
}

func clampBig(v, lo, hi *big.Int) *big.Int {
	if v.Cmp(lo) < 0 {
		return lo
	}
	if v.Cmp(hi) > 0 {
		return hi
	}
	return v
}

func TestFloatToInt(t *testing.T) {
	for _, f := range []struct {
		name string
		ref  binary
		s, u func(a uint64, r Round, width uint) uint64
	}{
		{"f32", refF32, func(a uint64, r Round, w uint) uint64 { return F32ToS(uint32(a), r, w) },
			func(a uint64, r Round, w uint) uint64 { return F32ToU(uint32(a), r, w) }},
		{"f64", refF64, F64ToS, F64ToU},
	} {
		g := rng(f.name)
		check := func(x uint64) {
			for _, width := range []uint{8, 16, 32, 64} {
				for _, signed := range []bool{true, false} {
					fn := f.u
					if signed {
						fn = f.s
					}
					lo, hi := bounds(signed, width)
					for _, r := range modes {
						var want uint64
						switch {
						case f.ref.isNaN(x):
							if f.name == "f64" || width == 64 {
								want = 1 << (width - 1)
								if signed {
									want = -want
								}
							}
						case f.ref.isInf(x):
							want = low64(hi)
							if x&f.ref.sign() != 0 {
								want = low64(lo)
							}
						default:
							want = low64(clampBig(refRint(f.ref.value(x), r), lo, hi))
						}
						if got := fn(x, r, width); got != want {
							t.Fatalf("%s→int%d signed %v .%si %#x = %#x, want %#x", f.name, width, signed, r, x, got, want)
						}
					}
				}
			}
		}
		f.ref.conversionOperands(f.name, 3000, check)
		// Around the ends of every integer type, and around ties.
		for _, width := range []uint{8, 16, 32, 64} {
			for _, signed := range []bool{true, false} {
				lo, hi := bounds(signed, width)
				for _, end := range []*big.Int{lo, hi} {
					for d := -6; d <= 6; d++ {
						v := new(big.Float).SetPrec(100).SetInt(end)
						v.Add(v, big.NewFloat(float64(d)/4))
						x := f.ref.round(v, false, RN)
						for k := uint64(0); k < 3; k++ {
							check((x + k - 1) & (f.ref.sign()<<1 - 1))
						}
					}
				}
			}
		}
		for range 500 {
			v := big.NewFloat(float64(g.IntN(2000)-1000) / 4)
			check(f.ref.round(v, false, RN))
		}
	}
}

func TestRint(t *testing.T) {
	check := func(name string, ref binary, x uint64, r Round, got, nan uint64) {
		t.Helper()
		want := x
		switch {
		case ref.isNaN(x):
			want = nan
		case !ref.isInf(x):
			i := refRint(ref.value(x), r)
			want = ref.round(new(big.Float).SetInt(i), x&ref.sign() != 0, RN)
		}
		if got != want {
			t.Fatalf("rint %s.%s %#x = %#x, want %#x", name, r, x, got, want)
		}
	}
	for _, r := range modes {
		refF32.conversionOperands("rint32", 10000, func(x uint64) {
			check("f32", refF32, x, r, uint64(RintF32(uint32(x), r)), 0x7fffffff)
		})
		refF64.conversionOperands("rint64", 5000, func(x uint64) {
			check("f64", refF64, x, r, RintF64(x, r), x|0x0008000000000000)
		})
		for x := range uint64(1 << 16) {
			check("f16", refF16, x, r, uint64(RintF16(uint16(x), r)), 0x7fff)
			check("bf16", refBF16, x, r, uint64(RintBF16(uint16(x), r)), 0x7fff)
		}
	}
}

func TestIntToFloat(t *testing.T) {
	g := rng("int")
	check := func(a uint64) {
		for _, r := range modes {
			for _, signed := range []bool{true, false} {
				v := new(big.Float).SetPrec(64).SetUint64(a)
				f32, f64, f16, bf := UToF32(a, r), UToF64(a, r), UToF16(a, r), UToBF16(a, r)
				if signed {
					s := int64(a)
					v.SetInt64(s)
					f32, f64, f16, bf = SToF32(s, r), SToF64(s, r), SToF16(s, r), SToBF16(s, r)
				}
				for _, c := range []struct {
					ref binary
					got uint64
				}{{refF32, uint64(f32)}, {refF64, f64}, {refF16, uint64(f16)}, {refBF16, uint64(bf)}} {
					if want := c.ref.round(v, false, r); c.got != want {
						t.Fatalf("int %#x signed %v →%d bits.%s = %#x, want %#x", a, signed, c.ref.p, r, c.got, want)
					}
				}
			}
		}
	}
	for s := range 64 {
		for d := uint64(0); d < 5; d++ {
			check(1<<s + d - 2)
			check(-(1<<s + d - 2))
			check(3<<s + d - 2)
		}
	}
	for range 20000 {
		// Any width, and ties: a few high bits and little below.
		a := g.Uint64() >> g.IntN(64)
		if g.IntN(2) == 0 {
			a = a&(^uint64(0)<<g.IntN(64)) + uint64(g.IntN(3)) - 1
		}
		check(a)
	}
}

func TestIntToInt(t *testing.T) {
	g := rng("int to int")
	widths := []uint{8, 16, 32, 64}
	for range 3000 {
		a := g.Uint64() >> g.IntN(64)
		if g.IntN(2) == 0 {
			a = -a
		}
		for _, w := range widths {
			lo, hi := bounds(true, w)
			ulo, uhi := bounds(false, w)
			s, u := big.NewInt(int64(a)), new(big.Int).SetUint64(a)
			mod := new(big.Int).And(u, uhi)
			wrapped := new(big.Int).Set(mod)
			if mod.Cmp(hi) > 0 {
				wrapped.Sub(mod, new(big.Int).Add(uhi, big.NewInt(1)))
			}
			for _, c := range []struct {
				name      string
				got, want uint64
			}{
				{"SatSToS", SatSToS(int64(a), w), low64(clampBig(s, lo, hi))},
				{"SatSToU", SatSToU(int64(a), w), low64(clampBig(s, ulo, uhi))},
				{"SatUToS", SatUToS(a, w), low64(clampBig(u, lo, hi))},
				{"SatUToU", SatUToU(a, w), low64(clampBig(u, ulo, uhi))},
				{"SignExtend", SignExtend(a, w), low64(wrapped)},
				{"ZeroExtend", ZeroExtend(a, w), low64(mod)},
			} {
				if c.got != c.want {
					t.Fatalf("%s(%#x, %d) = %#x, want %#x", c.name, a, w, c.got, c.want)
				}
			}
		}
	}
	for _, c := range []struct {
		a, b   int32
		c      uint32
		width  uint
		signed bool
		want   uint32
	}{
		{-257, 257, 0xf839b0ed, 8, false, 0xb0ed00ff},
		{-257, 257, 0xf839b0ed, 8, true, 0xb0ed807f},
		{70000, -1, 0x12345678, 16, false, 0xffff0000},
		{70000, -1, 0x12345678, 16, true, 0x7fffffff},
		{-9, 5, 0xabcdef01, 4, true, 0xcdef0185},
		{20, 5, 0xabcdef01, 4, false, 0xcdef01f5},
		{-2, 1, 0xabcdef01, 2, true, 0xbcdef019},
		{7, 2, 0xabcdef01, 2, false, 0xbcdef01e},
	} {
		if got := CvtPack(c.a, c.b, c.c, c.width, c.signed); got != c.want {
			t.Errorf("CvtPack(%d, %d, %#x, %d, %v) = %#x, want %#x", c.a, c.b, c.c, c.width, c.signed, got, c.want)
		}
	}
}

// narrowValues lists the finite magnitudes of a narrow format, built from its
// definition, in ascending order of encoding.
func narrowValues(mbits, bias int, count int) []float64 {
	v := make([]float64, count)
	for i := range v {
		e, m := i>>mbits, i&(1<<mbits-1)
		frac := float64(m) / float64(int(1)<<mbits)
		if e == 0 {
			v[i] = math.Ldexp(frac, 1-bias)
		} else {
			v[i] = math.Ldexp(1+frac, e-bias)
		}
	}
	return v
}

var narrowTests = []struct {
	name   string
	format Narrow
	values []float64 // by magnitude encoding
	sign   uint8
	nan    uint8 // result of a NaN operand
	max    float64
	from   func(a uint32) uint8
	rs     func(a, rbits uint32) uint8
	f32    func(a uint8) uint32
	f16    func(a uint8) uint16
}{
	{"e4m3", E4M3, narrowValues(3, 7, 0x7f), 0x80, 0x7f, 448, F32ToE4M3, F32ToE4M3RS, E4M3ToF32, E4M3ToF16},
	{"e5m2", E5M2, narrowValues(2, 15, 0x7c), 0x80, 0x7f, 57344, F32ToE5M2, F32ToE5M2RS, E5M2ToF32, E5M2ToF16},
	{"e2m3", E2M3, narrowValues(3, 1, 0x20), 0x20, 0x1f, 7.5, F32ToE2M3, F32ToE2M3RS, E2M3ToF32, E2M3ToF16},
	{"e3m2", E3M2, narrowValues(2, 3, 0x20), 0x20, 0x1f, 28, F32ToE3M2, F32ToE3M2RS, E3M2ToF32, E3M2ToF16},
	{"e2m1", E2M1, narrowValues(1, 1, 8), 0x08, 0x07, 6, F32ToE2M1, F32ToE2M1RS, E2M1ToF32, E2M1ToF16},
}

func TestNarrowFormats(t *testing.T) {
	for _, f := range narrowTests {
		t.Run(f.name, func(t *testing.T) {
			if last := f.values[len(f.values)-1]; last != f.max {
				t.Fatalf("largest value is %v, want %v", last, f.max)
			}
			// Widening, every encoding.
			for i, v := range f.values {
				for _, neg := range []bool{false, true} {
					a, want := uint8(i), v
					if neg {
						a, want = a|f.sign, math.Copysign(v, -1)
					}
					if got := f.f32(a); got != b32(float32(want)) {
						t.Errorf("%#x to f32 = %#x, want %v", a, got, want)
					}
					if got := halfValue(uint64(f.f16(a))); got != want || math.Signbit(got) != neg {
						t.Errorf("%#x to f16 = %v, want %v", a, got, want)
					}
					if f.sign < 0x80 {
						if got := f.f32(a | -(f.sign << 1)); got != b32(float32(want)) {
							t.Errorf("%#x with higher bits to f32 = %#x", a, got)
						}
					}
					// Exact values convert to themselves.
					if got := f.from(b32(float32(want))); got != a {
						t.Errorf("%v = %#x, want %#x", want, got, a)
					}
					if got := f.rs(b32(float32(want)), 0xff); got != a {
						t.Errorf("%v.rs = %#x, want %#x", want, got, a)
					}
				}
			}
			// Between neighbours: the middle goes to the even one, what is off
			// it to the nearer one.
			for i := range f.values[1:] {
				lo, hi := uint8(i), uint8(i+1)
				mid := float32((f.values[lo] + f.values[hi]) / 2)
				even := lo + lo&1
				below, above := math.Nextafter32(mid, 0), math.Nextafter32(mid, 1e9)
				for _, c := range []struct {
					v    float32
					want uint8
				}{{mid, even}, {below, lo}, {above, hi}, {-mid, even | f.sign}, {-below, lo | f.sign}, {-above, hi | f.sign}} {
					if got := f.from(b32(c.v)); got != c.want {
						t.Errorf("%v = %#x, want %#x", c.v, got, c.want)
					}
				}
				// A half is carried by random bits from 0x80 on.
				if got := f.rs(b32(mid), 0x7f); got != lo {
					t.Errorf("%v.rs 0x7f = %#x, want %#x", mid, got, lo)
				}
				if got := f.rs(b32(mid), 0x80); got != hi {
					t.Errorf("%v.rs 0x80 = %#x, want %#x", mid, got, hi)
				}
			}
			top := uint8(len(f.values) - 1)
			for _, c := range []struct {
				a    uint32
				want uint8
			}{
				{0x7f7fffff, top}, {0xff7fffff, top | f.sign}, {inf32, top}, {inf32 | sign32, top | f.sign},
				{b32(float32(f.max * 1.5)), top}, {0x7fc00000, f.nan}, {0xff800001, f.nan},
				{0x00000001, 0}, {0x80000001, f.sign},
			} {
				if got := f.from(c.a); got != c.want {
					t.Errorf("%#x = %#x, want %#x", c.a, got, c.want)
				}
				if got := F32ToNarrow(c.a, f.format); got != c.want {
					t.Errorf("F32ToNarrow(%#x) = %#x, want %#x", c.a, got, c.want)
				}
				if got := F32ToNarrowRS(c.a, 0, f.format); got != c.want {
					t.Errorf("F32ToNarrowRS(%#x) = %#x, want %#x", c.a, got, c.want)
				}
				if got := f.rs(c.a, 0); got != c.want {
					t.Errorf("%#x.rs = %#x, want %#x", c.a, got, c.want)
				}
			}
		})
	}
	// Infinities and NaNs.
	for _, c := range []struct {
		got  uint32
		want uint32
	}{
		{E4M3ToF32(0x7f), NaNF32}, {E4M3ToF32(0xff), NaNF32},
		{E5M2ToF32(0x7c), inf32}, {E5M2ToF32(0xfc), inf32 | sign32}, {E5M2ToF32(0x7d), NaNF32}, {E5M2ToF32(0xff), NaNF32},
		{uint32(E5M2ToF16(0x7c)), infF16}, {uint32(E5M2ToF16(0x7e)), 0x7fff}, {uint32(E4M3ToF16(0x7f)), 0x7fff},
	} {
		if c.got != c.want {
			t.Errorf("got %#x, want %#x", c.got, c.want)
		}
	}
	// f16 sources: widening first changes nothing, and f16 covers e5m2's range.
	for x := range 1 << 16 {
		a := uint16(x)
		w := b32(float32(halfValue(uint64(a))))
		if F16ToE4M3(a) != F32ToE4M3(w) || F16ToE5M2(a) != F32ToE5M2(w) {
			t.Fatalf("f16 %#x", a)
		}
	}
}

func TestUE8M0(t *testing.T) {
	for i := range 255 {
		want := math.Ldexp(1, i-127)
		if got := float64(f32(UE8M0ToF32(uint8(i)))); got != want {
			t.Errorf("ue8m0 %#x = %v, want %v", i, got, want)
		}
		if got := float64(f32(uint32(UE8M0ToBF16(uint8(i))) << 16)); got != want {
			t.Errorf("ue8m0 %#x to bf16 = %v, want %v", i, got, want)
		}
		for _, r := range []Round{RZ, RP} {
			if got := F32ToUE8M0(b32(float32(want)), r, false); got != uint8(i) {
				t.Errorf("%v to ue8m0.%s = %#x, want %#x", want, r, got, i)
			}
		}
		above := math.Nextafter32(float32(want), math.MaxFloat32)
		if got := F32ToUE8M0(b32(above), RZ, true); got != uint8(i) {
			t.Errorf("%v to ue8m0.rz = %#x, want %#x", above, got, i)
		}
		next := min(i+1, 254)
		if got := F32ToUE8M0(b32(above), RP, true); got != uint8(next) {
			t.Errorf("%v to ue8m0.rp.satfinite = %#x, want %#x", above, got, next)
		}
		if got := F32ToUE8M0(b32(above), RP, false); got != uint8(i+1) {
			t.Errorf("%v to ue8m0.rp = %#x, want %#x", above, got, i+1)
		}
	}
	if UE8M0ToF32(0xff) != NaNF32 || UE8M0ToBF16(0xff) != NaNBF16 {
		t.Error("ue8m0 0xff is not NaN")
	}
	for _, c := range []struct {
		a    uint32
		r    Round
		sat  bool
		want uint8
	}{
		{0, RZ, true, 0}, {0, RP, true, 0}, {1, RP, true, 0}, {0x7fc00000, RZ, true, 0xff},
		{inf32, RZ, true, 0xfe}, {inf32, RP, false, 0xff}, {0xbf800000, RZ, true, 127},
	} {
		if got := F32ToUE8M0(c.a, c.r, c.sat); got != c.want {
			t.Errorf("%#x to ue8m0.%s = %#x, want %#x", c.a, c.r, got, c.want)
		}
		if c.a<<16 == 0 {
			if got := BF16ToUE8M0(uint16(c.a>>16), c.r, c.sat); got != c.want {
				t.Errorf("bf16 %#x to ue8m0.%s = %#x, want %#x", c.a>>16, c.r, got, c.want)
			}
		}
	}
}
