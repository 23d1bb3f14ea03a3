package sdk_test

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle"
	"github.com/heddle-sim/heddle/internal/alltests"
)

// spread returns a number with an exponent between two bounds.
func spread(rng *rand.Rand, low, high int) float64 {
	return math.Ldexp(1+rng.Float64(), low+rng.IntN(high-low)) * float64(1-2*rng.IntN(2))
}

// TestExact: functions whose value is a number of the format return exactly that.
// The reference is the host's math package, whose values are exact here.
func TestExact(t *testing.T) {
	alltests.Only(t, "exact functions, compiled")
	rng := rand.New(rand.NewPCG(1, 2))
	corners := []float64{0, math.Copysign(0, -1), 1, -1, 0.5, 3, -7, 5e-324, -5e-324, 0x1p-1022, math.MaxFloat64, math.Inf(1), math.Inf(-1), math.NaN(), 0x1p53, 0x1p53 - 1}
	var a, b []float64
	for _, x := range corners {
		for _, y := range corners {
			a, b = append(a, x), append(b, y)
		}
	}
	for range 2000 {
		x := spread(rng, -1070, 1020)
		y := x * math.Ldexp(1+rng.Float64(), rng.IntN(80)-60)
		if y == 0 || math.IsInf(y, 0) {
			y = 3
		}
		a, b = append(a, x), append(b, y)
	}
	small := func(y float64) int { // an exponent derived from a number
		if math.IsNaN(y) || math.IsInf(y, 0) {
			return 0
		}
		return int(math.Float64bits(y)>>20) % 2200
	}
	quotient := func(x, y float64) float64 { // the quotient bits that remquo returns
		if math.IsNaN(x) || math.IsInf(x, 0) || math.IsNaN(y) || y == 0 || math.IsInf(y, 0) {
			return 0
		}
		q := new(big.Rat).Quo(new(big.Rat).SetFloat64(x), new(big.Rat).SetFloat64(y))
		n, rest := new(big.Int).DivMod(q.Num(), q.Denom(), new(big.Int))
		if c := rest.Lsh(rest, 1).Cmp(q.Denom()); c > 0 || c == 0 && n.Bit(0) == 1 {
			n.Add(n, big.NewInt(1))
		}
		low := new(big.Int).And(new(big.Int).Abs(n), big.NewInt(7)).Int64()
		return float64(int64(n.Sign()) * low)
	}
	logb := func(x float64) float64 {
		if x == 0 {
			return math.Inf(-1)
		}
		return math.Logb(x)
	}
	cases := []struct {
		name, call string
		want       func(x, y float64) float64
	}{
		{"fmod", "fmod(x, y)", math.Mod},
		{"remainder", "remainder(x, y)", math.Remainder},
		{"remquo", "remquo(x, y, &q)", math.Remainder},
		{"remquo_q", "(remquo(x, y, &q), (double)(q < 0 ? -(-q & 7) : q & 7))", quotient},
		{"nextafter", "nextafter(x, y)", func(x, y float64) float64 {
			if x == y {
				return y // also for zeros of both signs
			}
			return math.Nextafter(x, y)
		}},
		{"frexp", "frexp(x, &q)", func(x, _ float64) float64 { m, _ := math.Frexp(x); return m }},
		{"frexp_e", "(frexp(x, &q), (double)q)", func(x, _ float64) float64 { _, e := math.Frexp(x); return float64(e) }},
		{"ldexp", "ldexp(x, small(y))", func(x, y float64) float64 { return math.Ldexp(x, small(y)-1100) }},
		{"scalbn", "scalbn(x, small(y))", func(x, y float64) float64 { return math.Ldexp(x, small(y)-1100) }},
		{"logb", "logb(x)", func(x, _ float64) float64 { return logb(x) }},
		{"modf", "modf(x, &d)", func(x, _ float64) float64 {
			if math.IsInf(x, 0) {
				return math.Copysign(0, x)
			}
			_, f := math.Modf(x)
			return f
		}},
		{"rint", "rint(x)", func(x, _ float64) float64 { return math.RoundToEven(x) }},
		{"round", "round(x)", func(x, _ float64) float64 { return math.Round(x) }},
		{"floor", "floor(x)", func(x, _ float64) float64 { return math.Floor(x) }},
		{"ceil", "ceil(x)", func(x, _ float64) float64 { return math.Ceil(x) }},
		{"trunc", "trunc(x)", func(x, _ float64) float64 { return math.Trunc(x) }},
		{"sqrt", "sqrt(x)", func(x, _ float64) float64 { return math.Sqrt(x) }},
		{"fdim", "fdim(x, y)", func(x, y float64) float64 {
			if x <= y {
				return 0 // also for infinities
			}
			return math.Dim(x, y)
		}},
		{"copysign", "copysign(x, y)", math.Copysign},
		{"fma", "fma(x, y, 3.0)", func(x, y float64) float64 { return math.FMA(x, y, 3) }},
	}
	var src strings.Builder
	src.WriteString(`static __device__ int small(double y) {
  if (isnan(y) || isinf(y)) return -1100;
  return (int)(((unsigned long long)__double_as_longlong(y) >> 20) % 2200) - 1100;
}
`)
	for _, c := range cases {
		fmt.Fprintf(&src, "extern \"C\" __global__ void test_%s(const double *a, const double *b, double *out, int n) {\n"+
			"  int i = blockIdx.x * blockDim.x + threadIdx.x, q = 0;\n  double d = 0;\n  (void)d; (void)q;\n"+
			"  if (i < n) { double x = a[i], y = b[i]; (void)y; out[i] = %s; }\n}\n", c.name, c.call)
	}
	gpu := device(t, kit(t), src.String())
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			bad := 0
			for i, got := range compute(t, gpu, "test_"+c.name, [2][]float64{a, b}) {
				want := c.want(a[i], b[i])
				if c.name == "frexp_e" && (math.IsInf(a[i], 0) || math.IsNaN(a[i])) {
					continue // unspecified
				}
				if math.Float64bits(got) != math.Float64bits(want) && !(math.IsNaN(got) && math.IsNaN(want)) {
					if bad++; bad <= 3 {
						t.Errorf("%s of %v and %v is %v, want %v", c.name, a[i], b[i], got, want)
					}
				}
			}
			if bad > 3 {
				t.Errorf("and %d more", bad-3)
			}
		})
	}
}

// TestNorms: lengths of vectors of two to five numbers, and their reciprocals, are
// within 2 units in the last place for all exponents.
func TestNorms(t *testing.T) {
	calls := []struct {
		name, double, single string
		n                    int
		inverse              bool
	}{
		{"hypot", "hypot(v[0], v[1])", "hypotf(v[0], v[1])", 2, false},
		{"rhypot", "rhypot(v[0], v[1])", "rhypotf(v[0], v[1])", 2, true},
		{"norm3d", "norm3d(v[0], v[1], v[2])", "norm3df(v[0], v[1], v[2])", 3, false},
		{"rnorm3d", "rnorm3d(v[0], v[1], v[2])", "rnorm3df(v[0], v[1], v[2])", 3, true},
		{"norm4d", "norm4d(v[0], v[1], v[2], v[3])", "norm4df(v[0], v[1], v[2], v[3])", 4, false},
		{"rnorm4d", "rnorm4d(v[0], v[1], v[2], v[3])", "rnorm4df(v[0], v[1], v[2], v[3])", 4, true},
		{"norm", "norm(5, v)", "normf(5, v)", 5, false},
		{"rnorm", "rnorm(5, v)", "rnormf(5, v)", 5, true},
	}
	var src strings.Builder
	for _, c := range calls {
		for _, typ := range []string{"double", "float"} {
			call := map[string]string{"double": c.double, "float": c.single}[typ]
			fmt.Fprintf(&src, "extern \"C\" __global__ void %s_%s(const %[2]s *a, const %[2]s *b, %[2]s *out, int n) {\n"+
				"  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i < n) { const %[2]s *v = a + 5 * i; out[i] = %[3]s; }\n}\n", c.name, typ, call)
		}
	}
	gpu := device(t, kit(t), src.String())
	const count = 1500
	rng := rand.New(rand.NewPCG(3, 4))
	want := func(v []float64, inverse bool) *big.Float {
		s := big.NewFloat(0).SetPrec(2500)
		for _, x := range v {
			b := big.NewFloat(x).SetPrec(2500)
			s.Add(s, b.Mul(b, b))
		}
		s = s.SetPrec(300).Sqrt(s)
		if inverse {
			s.Quo(big.NewFloat(1).SetPrec(300), s)
		}
		return s
	}
	for _, c := range calls {
		v64, v32 := make([]float64, 5*count), make([]float32, 5*count)
		for i := range count {
			at := rng.IntN(1900) - 950
			at32 := rng.IntN(220) - 110
			for k := range 5 {
				v64[5*i+k] = spread(rng, at-40, at+40)
				v32[5*i+k] = float32(spread(rng, at32-12, at32+12))
			}
		}
		got64 := launchNorms(t, gpu, c.name+"_double", v64, count)
		got32 := launchNorms(t, gpu, c.name+"_float", v32, count)
		var worst64, worst32 uint64
		for i := range count {
			w64, _ := want(v64[5*i:5*i+c.n], c.inverse).Float64()
			worst64 = max(worst64, ulps64(got64[i], w64))
			wide := make([]float64, c.n)
			for k := range wide {
				wide[k] = float64(v32[5*i+k])
			}
			w32, _ := want(wide, c.inverse).Float32()
			worst32 = max(worst32, ulps32(got32[i], w32))
		}
		if worst64 > 2 || worst32 > 2 {
			t.Errorf("%s: off by up to %d units in double, %d in float", c.name, worst64, worst32)
		}
	}
}

func launchNorms[T float32 | float64](t *testing.T, gpu *heddle.GPU, kernel string, v []T, n int) []T {
	t.Helper()
	a, err := heddle.Upload(gpu, "a", v)
	if err != nil {
		t.Fatal(err)
	}
	out, err := heddle.Upload(gpu, "out", make([]T, n))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := gpu.Launch(t.Context(), kernel, heddle.Dim(uint32((n+127)/128)), heddle.Dim(128), a, a, out, int32(n)); err != nil {
		t.Fatal(err)
	}
	got, err := heddle.Download[T](gpu, out, n)
	if err != nil {
		t.Fatal(err)
	}
	return got
}
