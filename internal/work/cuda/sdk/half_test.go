package sdk_test

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle"
	"github.com/heddle-sim/heddle/internal/alltests"
)

// narrow is a 16-bit format as a list of its numbers from 0 upwards; the bits of
// each number are its index.
type narrow struct {
	name, typ string
	values    []float64 // without a sign; the last is infinity
}

func formats() []narrow {
	half, bf16 := narrow{name: "half", typ: "__half"}, narrow{name: "bfloat16", typ: "__nv_bfloat16"}
	for u := range 0x7c01 {
		e, m := u>>10, float64(u&0x3ff)
		switch e {
		case 0:
			half.values = append(half.values, math.Ldexp(m, -24))
		case 31:
			half.values = append(half.values, math.Inf(1))
		default:
			half.values = append(half.values, math.Ldexp(1024+m, e-25))
		}
	}
	for u := range 0x7f81 {
		bf16.values = append(bf16.values, float64(math.Float32frombits(uint32(u)<<16)))
	}
	return []narrow{half, bf16}
}

// value returns the number with the given bits.
func (f *narrow) value(u uint16) float64 {
	if int(u&0x7fff) >= len(f.values) {
		return math.NaN()
	}
	return math.Copysign(f.values[u&0x7fff], float64(1-2*int(u>>15)))
}

// round is x in the format: to the nearest, ties to even (n), towards zero (z),
// down (d), or up (u).
func (f *narrow) round(x float64, way byte) uint16 {
	if math.IsNaN(x) {
		return 0x7fff
	}
	sign := uint16(0)
	if math.Signbit(x) {
		sign, x = 0x8000, -x
		way = map[byte]byte{'n': 'n', 'z': 'z', 'd': 'u', 'u': 'd'}[way]
	}
	i, exact := slices.BinarySearch(f.values, x) // the first that is not smaller
	if exact {
		return sign | uint16(i)
	}
	up := way == 'u'
	if way == 'n' {
		below, above := f.values[i-1], f.values[i]
		if math.IsInf(above, 1) { // as if there were one more number
			above = 2*below - f.values[i-2]
		}
		up = x-below > above-x || x-below == above-x && i%2 == 0
	}
	if !up {
		i--
	}
	return sign | uint16(i)
}

// TestRounding: floats around every 16-bit number, and at the middle between two, are
// rounded to the nearest, alone, in pairs, and if the compiler knows them; a pair is one
// instruction.
func TestRounding(t *testing.T) {
	alltests.Only(t, "roundings of device functions, compiled")
	const per = 8
	low := [per]uint32{0, 1, 0x0fff, 0x1000, 0x1001, 0x7fff, 0x8000, 0x8001}
	for _, f := range formats() {
		source := strings.NewReplacer("NAME", f.name, "TYPE", f.typ).Replace(`
#include <cuda_bf16.h>
#include <cuda_fp16.h>
extern "C" __global__ void singles(const float *in, TYPE *out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = __float2NAME(in[i]);
}
extern "C" __global__ void pairs(const float2 *in, TYPE##2 *out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = i & 1 ? __float22NAME2_rn(in[i]) : __floats2NAME2_rn(in[i].x, in[i].y);
}
extern "C" __global__ void known(TYPE *out) {
  out[0] = __float2NAME(0x1.01p0f);
  TYPE##2 p = __floats2NAME2_rn(0x1.0p-1f, -__int_as_float(0x7f800000));
  out[1] = p.x;
  out[2] = p.y;
}
`)
		source = strings.ReplaceAll(source, "##", "")
		file := ptxFile(t, kit(t), source, "-std=c++17")
		gpu := load(t, file)
		in := make([]float32, per<<16)
		for u := range in {
			in[u] = math.Float32frombits(uint32(u/per)<<16 | low[u%per])
		}
		from, err := heddle.Upload(gpu, "in", in)
		if err != nil {
			t.Fatal(err)
		}
		to, err := gpu.Alloc(2*len(in), "out")
		if err != nil {
			t.Fatal(err)
		}
		for kernel, each := range map[string]int{"singles": 1, "pairs": 2} {
			if _, err := gpu.Launch(t.Context(), kernel, heddle.Dim(uint32(len(in)/each/256)), heddle.Dim(256), from, to); err != nil {
				t.Fatal(err)
			}
			got, err := heddle.Download[uint16](gpu, to, len(in))
			if err != nil {
				t.Fatal(err)
			}
			for i, x := range in {
				if want := f.round(float64(x), 'n'); got[i] != want {
					t.Fatalf("%s: %s of %x is %#04x, want %#04x", f.name, kernel, x, got[i], want)
				}
			}
		}
		if _, err := gpu.Launch(t.Context(), "known", heddle.Dim(1), heddle.Dim(1), to); err != nil {
			t.Fatal(err)
		}
		got, err := heddle.Download[uint16](gpu, to, 3)
		if err != nil {
			t.Fatal(err)
		}
		if want := []uint16{f.round(0x1.01p0, 'n'), f.round(0.5, 'n'), f.round(math.Inf(-1), 'n')}; !slices.Equal(got, want) {
			t.Errorf("%s: constants are %#04x, want %#04x", f.name, got, want)
		}
		short := map[string]string{"half": "f16", "bfloat16": "bf16"}[f.name]
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		_, pairs, _ := strings.Cut(string(text), ".entry pairs")
		pairs, _, _ = strings.Cut(pairs, ".entry")
		if n := strings.Count(pairs, "cvt.rn."+short); n == 0 || strings.Count(pairs, "cvt.rn."+short+"x2.f32") != n {
			t.Errorf("%s: a pair is not converted at once:\n%s", f.name, pairs)
		}
	}
}

// TestHalf: conversions, arithmetic, selections and comparisons of both 16-bit
// formats agree with a list of all their numbers.
func TestHalf(t *testing.T) {
	n := alltests.Count(1<<11, 1<<14)
	rng := rand.New(rand.NewPCG(5, 6))
	doubles, bits := make([]float64, n), make([]uint32, n)
	for i := range n {
		doubles[i] = spread(rng, -30, 20)
		if i%4 == 0 {
			doubles[i] = spread(rng, -140, 128)
		}
		bits[i] = rng.Uint32()
	}
	copy(doubles, []float64{0, math.Copysign(0, -1), math.Inf(1), math.Inf(-1), math.NaN(), 65504, 65519.99, 65520, 65536, 1e300, 2048.5, 2049, 2049.0000001, 0x1p-25, 0x1.00000001p-25, 1.00390625, 1.00390626})
	// Each is a function of a (both numbers of a pair of random bits) or of a
	// random double x.
	cases := []struct {
		name, call string
		want       func(f *narrow, a, b uint16, x float64) uint16
	}{
		{"from_double", "NAME_AS_USHORT(__double2FORMAT(x))", func(f *narrow, _, _ uint16, x float64) uint16 { return f.round(x, 'n') }},
		{"from_float", "NAME_AS_USHORT(__float2FORMAT((float)x))", func(f *narrow, _, _ uint16, x float64) uint16 { return f.round(float64(float32(x)), 'n') }},
		{"from_float_rz", "NAME_AS_USHORT(__float2FORMAT_rz((float)x))", func(f *narrow, _, _ uint16, x float64) uint16 { return f.round(float64(float32(x)), 'z') }},
		{"from_float_rd", "NAME_AS_USHORT(__float2FORMAT_rd((float)x))", func(f *narrow, _, _ uint16, x float64) uint16 { return f.round(float64(float32(x)), 'd') }},
		{"from_float_ru", "NAME_AS_USHORT(__float2FORMAT_ru((float)x))", func(f *narrow, _, _ uint16, x float64) uint16 { return f.round(float64(float32(x)), 'u') }},
		{"from_int", "NAME_AS_USHORT(__int2FORMAT_rn((int)__double_as_longlong(x)))", func(f *narrow, _, _ uint16, x float64) uint16 {
			return f.round(float64(int32(math.Float64bits(x))), 'n')
		}},
		{"from_ll", "NAME_AS_USHORT(__ll2FORMAT_ru(__double_as_longlong(x) >> 40))", func(f *narrow, _, _ uint16, x float64) uint16 {
			return f.round(float64(int64(math.Float64bits(x))>>40), 'u')
		}},
		{"add", "NAME_AS_USHORT(__hadd(a, b))", func(f *narrow, a, b uint16, _ float64) uint16 { return f.round(f.value(a)+f.value(b), 'n') }},
		{"sub", "NAME_AS_USHORT(a - b)", func(f *narrow, a, b uint16, _ float64) uint16 { return f.round(f.value(a)-f.value(b), 'n') }},
		{"mul", "NAME_AS_USHORT(a * b)", func(f *narrow, a, b uint16, _ float64) uint16 { return f.round(f.value(a)*f.value(b), 'n') }},
		{"mul_sat", "NAME_AS_USHORT(__hmul_sat(a, b))", func(f *narrow, a, b uint16, _ float64) uint16 {
			v := f.value(a) * f.value(b)
			if !(v > 0) {
				v = 0
			}
			return f.round(min(v, 1), 'n')
		}},
		{"div", "NAME_AS_USHORT(a / b)", func(f *narrow, a, b uint16, _ float64) uint16 { return f.round(f.value(a)/f.value(b), 'n') }},
		{"fma", "NAME_AS_USHORT(__hfma(a, b, a))", func(f *narrow, a, b uint16, _ float64) uint16 {
			return f.round(oddSum(f.value(a)*f.value(b), f.value(a)), 'n')
		}},
		{"max", "NAME_AS_USHORT(__hmax(a, b))", func(f *narrow, a, b uint16, _ float64) uint16 {
			x, y := f.value(a), f.value(b)
			if math.IsNaN(x) {
				x = y
			}
			if math.IsNaN(y) {
				y = x
			}
			return f.round(max(x, y), 'n')
		}},
		{"min_nan", "NAME_AS_USHORT(__hmin_nan(a, b))", func(f *narrow, a, b uint16, _ float64) uint16 { return f.round(min(f.value(a), f.value(b)), 'n') }},
		{"orders", "__hlt(a, b) | __hleu(a, b) << 1 | __hne(a, b) << 2 | __hneu(a, b) << 3 | (a >= b) << 4 | __hisnan(a) << 5", func(f *narrow, a, b uint16, _ float64) uint16 {
			x, y := f.value(a), f.value(b)
			none := math.IsNaN(x) || math.IsNaN(y)
			r := uint16(0)
			for i, is := range []bool{x < y, x <= y || none, x != y && !none, x != y, x >= y, math.IsNaN(x)} {
				if is {
					r |= 1 << i
				}
			}
			return r
		}},
		{"to_short", "(unsigned short)__FORMAT2short_rn(a)", func(f *narrow, a, _ uint16, _ float64) uint16 {
			return uint16(int16(integer(math.RoundToEven(f.value(a)), math.MinInt16, math.MaxInt16)))
		}},
		{"to_uint_ru", "(unsigned short)(__FORMAT2uint_ru(a) >> 3)", func(f *narrow, a, _ uint16, _ float64) uint16 {
			return uint16(uint32(integer(math.Ceil(f.value(a)), 0, math.MaxUint32)) >> 3)
		}},
		{"to_int_rd", "(unsigned short)__FORMAT2int_rd(a)", func(f *narrow, a, _ uint16, _ float64) uint16 {
			return uint16(int32(integer(math.Floor(f.value(a)), math.MinInt32, math.MaxInt32)))
		}},
		{"to_ll_rz", "(unsigned short)(__FORMAT2ll_rz(a) ^ __FORMAT2ll_rz(a) >> 48)", func(f *narrow, a, _ uint16, _ float64) uint16 {
			i := integer64(math.Trunc(f.value(a)), -0x1p63, math.MaxInt64)
			return uint16(i ^ i>>48)
		}},
		{"to_ull_ru", "(unsigned short)(__FORMAT2ull_ru(a) ^ __FORMAT2ull_ru(a) >> 48)", func(f *narrow, a, _ uint16, _ float64) uint16 {
			i := integer64(math.Ceil(f.value(a)), 0, math.MaxUint64)
			return uint16(i ^ i>>48)
		}},
	}
	s := kit(t)
	for _, f := range formats() {
		for _, arch := range []string{"sm_70", "sm_90"} {
			if arch == "sm_90" && s.Clang.Major < 16 {
				continue // the function is unknown on the host
			}
			if (f.name == "half") != (arch == "sm_90") && !alltests.On() {
				continue // one architecture for each
			}
			var src strings.Builder
			src.WriteString("#include <cuda_fp16.h>\n#include <cuda_bf16.h>\n")
			for _, c := range cases {
				call := strings.NewReplacer("NAME_AS_USHORT", "__FORMAT_as_ushort").Replace(c.call)
				fmt.Fprintf(&src, "extern \"C\" __global__ void test_%s(const double *xs, const unsigned int *bits, unsigned short *out) {\n"+
					"  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  double x = xs[i];\n  TYPE a = __ushort_as_FORMAT((unsigned short)bits[i]), b = __ushort_as_FORMAT((unsigned short)(bits[i] >> 16));\n"+
					"  (void)x, (void)a, (void)b;\n  out[i] = %s;\n}\n", c.name, call)
			}
			gpu := device(t, s, strings.NewReplacer("FORMAT", f.name, "TYPE", f.typ).Replace(src.String()), "--no-cuda-gpu-arch=sm_80", "--cuda-gpu-arch="+arch)
			for _, c := range cases {
				t.Run(f.name+"/"+arch+"/"+c.name, func(t *testing.T) {
					xs, _ := heddle.Upload(gpu, "xs", doubles)
					us, _ := heddle.Upload(gpu, "bits", bits)
					out, err := heddle.Upload(gpu, "out", make([]uint16, n))
					if err != nil {
						t.Fatal(err)
					}
					if _, err := gpu.Launch(t.Context(), "test_"+c.name, heddle.Dim(uint32(n/128)), heddle.Dim(128), xs, us, out); err != nil {
						t.Fatal(err)
					}
					got, err := heddle.Download[uint16](gpu, out, n)
					if err != nil {
						t.Fatal(err)
					}
					bad := 0
					for i := range n {
						a, b := uint16(bits[i]), uint16(bits[i]>>16)
						if want := c.want(&f, a, b, doubles[i]); got[i] != want {
							if bad++; bad <= 3 {
								t.Errorf("of %#04x (%v), %#04x (%v), %v: %#04x, want %#04x", a, f.value(a), b, f.value(b), doubles[i], got[i], want)
							}
						}
					}
					if bad > 3 {
						t.Errorf("and %d more", bad-3)
					}
				})
			}
		}
	}
}

// integer returns x clamped to bounds, and 0 for NaN.
func integer(x float64, low, high float64) int64 {
	if math.IsNaN(x) {
		return 0
	}
	return int64(min(max(x, low), high))
}

// integer64 returns the bits of x in 64-bit integers from low to high, which is the most if x is
// larger, and 2^63 for NaN, as the manual of CUDA's mathematical functions has it.
func integer64(x float64, low float64, high uint64) uint64 {
	switch {
	case math.IsNaN(x):
		return 1 << 63
	case x >= float64(high): // which is rounded up
		return high
	case low < 0:
		return uint64(int64(max(x, low)))
	}
	return uint64(max(x, low))
}

// TestNaNAsInteger: on the host too, NaN becomes 2^63 in 64 bits, and 0 in fewer.
func TestNaNAsInteger(t *testing.T) {
	const source = `
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
#include <stdio.h>
template <class T> void narrow(unsigned char bits) {
  T v;
  v.__x = bits;
  printf("%llx %llx %lx %lx %x %x\n", (long long)v, (unsigned long long)v, (long)v, (unsigned long)v, (int)v, (unsigned)v);
}
int main() {
  __half h = __ushort_as_half(0xfe00);
  __nv_bfloat16 b = __ushort_as_bfloat16(0x7fc0);
  printf("%llx %llx %llx %llx %x %x\n", __half2ll_rz(h), __half2ull_rn(h), __half2ll_rd(h), __half2ull_ru(h), __half2int_rz(h), __half2uint_rn(h));
  printf("%llx %llx %llx %llx %x %x\n", __bfloat162ll_rz(b), __bfloat162ull_rn(b), __bfloat162ll_ru(b), __bfloat162ull_rd(b), __bfloat162int_rz(b), __bfloat162uint_rn(b));
  narrow<__nv_fp8_e4m3>(0xff);
  narrow<__nv_fp8_e5m2>(0x7e);
  narrow<__nv_fp8_e8m0>(0xff);
}
`
	want := strings.Repeat(strings.Repeat("8000000000000000 ", 4)+"0 0\n", 5)
	for _, s := range compilers(t) {
		if got := runHost(t, s, source, ""); got != want {
			t.Errorf("%s: on the host\n%s\nwant\n%s", s.Clang.Version, got, want)
		}
	}
}

// oddSum returns the sum of two doubles rounded to odd, so that rounding it again
// to fewer bits is correct: if it is not exact, its last bit is one.
func oddSum(x, y float64) float64 {
	s := x + y
	if math.IsNaN(s) || math.IsInf(s, 0) || math.Float64bits(s)&1 == 1 {
		return s
	}
	exact := new(big.Float).SetPrec(2200).SetFloat64(x)
	exact.Add(exact, new(big.Float).SetFloat64(y))
	switch exact.Cmp(new(big.Float).SetFloat64(s)) {
	case 1:
		return math.Nextafter(s, math.Inf(1))
	case -1:
		return math.Nextafter(s, math.Inf(-1))
	}
	return s
}

// TestFP8: widening from and rounding to both 8-bit formats agree with a list of
// all their numbers.
func TestFP8(t *testing.T) {
	gpu := device(t, kit(t), `
#include <cuda_fp8.h>
#define KERNELS(name, kind)                                                                  \
  extern "C" __global__ void widen_##name(const float *, float *out) {                       \
    name v; v.__x = (unsigned char)threadIdx.x; out[threadIdx.x] = (float)v;                 \
  }                                                                                          \
  extern "C" __global__ void sat_##name(const float *x, float *out) {                        \
    int i = blockIdx.x * 256 + threadIdx.x; out[i] = name(x[i]).__x;                         \
  }                                                                                          \
  extern "C" __global__ void nosat_##name(const float *x, float *out) {                      \
    int i = blockIdx.x * 256 + threadIdx.x; out[i] = __nv_cvt_float_to_fp8(x[i], __NV_NOSAT, kind); \
  }                                                                                          \
  extern "C" __global__ void four_##name(const float *x, float *out) {                       \
    int i = blockIdx.x * 256 + threadIdx.x; FOUR_##name v(make_float4(0, x[i], 1, x[i])); out[i] = (((float4)v).w == (float)name(x[i])) + 2 * (((float4)v).z == 1) + 4 * (((float4)v).x == 0); \
  }
#define FOUR___nv_fp8_e4m3 __nv_fp8x4_e4m3
#define FOUR___nv_fp8_e5m2 __nv_fp8x4_e5m2
KERNELS(__nv_fp8_e4m3, __NV_E4M3)
KERNELS(__nv_fp8_e5m2, __NV_E5M2)
`)
	for _, c := range []struct {
		name           string
		fraction, bias int
		count          int // of finite numbers without a sign
		over           uint8
	}{{"__nv_fp8_e4m3", 3, 7, 0x7f, 0x7f}, {"__nv_fp8_e5m2", 2, 15, 0x7c, 0x7c}} {
		f := narrow{}
		for u := range c.count {
			m, e := float64(u&(1<<c.fraction-1)), u>>c.fraction
			if e > 0 {
				m, e = m+float64(int(1)<<c.fraction), e-1
			}
			f.values = append(f.values, math.Ldexp(m, e+1-c.bias-c.fraction))
		}
		f.values = append(f.values, math.Inf(1))
		rng := rand.New(rand.NewPCG(7, 8))
		xs := make([]float32, 8192)
		for i := range xs {
			xs[i] = float32(spread(rng, -20, 18))
		}
		copy(xs, []float32{0, float32(math.Copysign(0, -1)), float32(math.Inf(1)), float32(math.Inf(-1)), 448, 464, 463.99, 465, 57344, 61440, 61439, 0x1p-10, 0x1.8p-10, 0x1p-17, 1e-30})
		launch := func(kernel string, blocks int) []float32 {
			in, _ := heddle.Upload(gpu, "x", xs)
			out, err := heddle.Upload(gpu, "out", make([]float32, len(xs)))
			if err != nil {
				t.Fatal(err)
			}
			if _, err := gpu.Launch(t.Context(), kernel+"_"+c.name, heddle.Dim(uint32(blocks)), heddle.Dim(256), in, out); err != nil {
				t.Fatal(err)
			}
			got, err := heddle.Download[float32](gpu, out, len(xs))
			if err != nil {
				t.Fatal(err)
			}
			return got
		}
		for u, got := range launch("widen", 1)[:256] {
			want := math.NaN()
			if k := u & 0x7f; k < c.count || k == c.count && c.over == 0x7c {
				want = math.Copysign(f.values[k], float64(1-2*(u>>7)))
			}
			if float64(got) != want && !math.IsNaN(want) || math.IsNaN(want) != (got != got) {
				t.Errorf("%s: %#02x is %v, want %v", c.name, u, got, want)
			}
		}
		for i, got := range launch("sat", len(xs)/256) {
			r := f.round(float64(xs[i]), 'n')
			if want := uint8(r>>8) | uint8(min(r&0x7fff, uint16(c.count-1))); uint8(got) != want {
				t.Errorf("%s: %v saturates to %#02x, want %#02x", c.name, xs[i], uint8(got), want)
			}
		}
		for i, got := range launch("nosat", len(xs)/256) {
			r := f.round(float64(xs[i]), 'n')
			want := uint8(r>>8) | uint8(r)
			if int(r&0x7fff) >= c.count {
				want = uint8(r>>8) | c.over
			}
			if uint8(got) != want {
				t.Errorf("%s: %v becomes %#02x, want %#02x", c.name, xs[i], uint8(got), want)
			}
		}
		for i, got := range launch("four", len(xs)/256) {
			if got != 7 {
				t.Fatalf("%s: in a vector %v is something else", c.name, xs[i])
			}
		}
	}
}

// TestFP6AndFP4: conversions from and to formats of 6 and 4 bits agree with a list of
// their numbers, alone, in pairs and in fours. Powers of two (E8M0) too.
func TestFP6AndFP4(t *testing.T) {
	alltests.Only(t, "floats of 6 and 4 bits, compiled")
	gpu := device(t, kit(t), `
#include <cuda_fp4.h>
#include <cuda_fp6.h>
#include <cuda_fp8.h>
// All ways to convert x agree, except that double and 16-bit numbers convert exactly.
#define KERNELS(name, fp, kind, bits)                                                        \
  extern "C" __global__ void widen_##name(const float *, float *out) {                       \
    __nv_##fp##_##name v; v.__x = (unsigned char)threadIdx.x; out[threadIdx.x] = (float)v;    \
    __half h = __nv_cvt_##fp##_to_halfraw(v.__x, kind);                                      \
    __half2 two = __nv_cvt_##fp##x2_to_halfraw2((__nv_##fp##x2_storage_t)(v.__x << bits | 1), kind); \
    if ((float)h != (float)v || (float)(__half)v != (float)v || (double)v != (float)v || (float)two.y != (float)v || (float)(__nv_bfloat16)v != (float)v) out[threadIdx.x] = 1e9f; \
  }                                                                                          \
  extern "C" __global__ void round_##name(const float *x, float *out) {                      \
    int i = blockIdx.x * 256 + threadIdx.x;                                                  \
    float f = x[i];                                                                          \
    unsigned r = __nv_cvt_float_to_##fp(f, kind, cudaRoundNearest);                          \
    unsigned two = __nv_cvt_float2_to_##fp##x2(make_float2(1, f), kind, cudaRoundNearest);   \
    bool same = r == __nv_cvt_double_to_##fp(f, kind, cudaRoundNearest) && two >> bits == r && \
      __nv_cvt_double2_to_##fp##x2(make_double2(1, f), kind, cudaRoundNearest) == two && __nv_##fp##_##name(f).__x == r; \
    __nv_##fp##x4_##name four(make_float4(f, 1, 0, f));                                      \
    float4 back = (float4)four;                                                              \
    float want = (float)__nv_##fp##_##name(f);                                               \
    same = same && back.x == want && back.y == 1 && back.z == 0 && back.w == want;           \
    __half h(f);                                                                             \
    __nv_bfloat16 b(f);                                                                      \
    __half2 hs(h, h);                                                                        \
    __nv_bfloat162 bs(b, b);                                                                 \
    unsigned of_h = __nv_cvt_float_to_##fp((float)h, kind, cudaRoundNearest), of_b = __nv_cvt_float_to_##fp((float)b, kind, cudaRoundNearest); \
    same = same && __nv_cvt_halfraw_to_##fp(h, kind, cudaRoundNearest) == of_h && __nv_cvt_bfloat16raw_to_##fp(b, kind, cudaRoundNearest) == of_b && \
      __nv_cvt_halfraw2_to_##fp##x2(hs, kind, cudaRoundNearest) == (of_h | of_h << bits) &&  \
      __nv_cvt_bfloat16raw2_to_##fp##x2(bs, kind, cudaRoundNearest) == (of_b | of_b << bits); \
    out[i] = same ? r : -1;                                                                  \
  }
KERNELS(e2m1, fp4, __NV_E2M1, 4)
KERNELS(e2m3, fp6, __NV_E2M3, 8)
KERNELS(e3m2, fp6, __NV_E3M2, 8)
extern "C" __global__ void powers(const float *, float *out) {
  int i = threadIdx.x;
  float p = __bfloat162float(__nv_cvt_e8m0_to_bf16raw((__nv_fp8_storage_t)i));
  __nv_bfloat162 two = __nv_cvt_e8m0x2_to_bf162raw((__nv_fp8x2_storage_t)(i << 8));
  unsigned down = __nv_cvt_float_to_e8m0(p * 1.5f, __NV_SATFINITE, cudaRoundZero), up = __nv_cvt_float_to_e8m0(p * 1.5f, __NV_SATFINITE, cudaRoundPosInf);
  unsigned same = __nv_cvt_bfloat16raw_to_e8m0(__nv_bfloat16(p), __NV_SATFINITE, cudaRoundPosInf);
  bool right = down == i && up == (i < 254 ? i + 1 : i) && same == i && __float2bfloat16(p).__x == two.y.__x && __nv_fp8_e8m0(p).__x == i &&
    __nv_cvt_float2_to_e8m0x2(make_float2(p, 1), __NV_SATFINITE, cudaRoundZero) == (i | 127 << 8) && (i < 255 ? (float)__nv_fp8_e8m0(p) == p : p != p);
  out[i] = right ? p : -1;
}
`, "-std=c++17")
	rng := rand.New(rand.NewPCG(9, 10))
	xs := make([]float32, 4096)
	for i := range xs {
		xs[i] = float32(spread(rng, -6, 6))
	}
	copy(xs, []float32{0, float32(math.Copysign(0, -1)), float32(math.Inf(1)), float32(math.Inf(-1)), float32(math.NaN()), 0.25, 0.75, 1.25, 2.5, 5, 6, 7, 0.0625, 0.1875, 7.5, 7.75, 28, 30, -3.5, 1e-30, 3e38})
	launch := func(kernel string, blocks int) []float32 {
		in, _ := heddle.Upload(gpu, "x", xs)
		out, err := heddle.Upload(gpu, "out", make([]float32, len(xs)))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := gpu.Launch(t.Context(), kernel, heddle.Dim(uint32(blocks)), heddle.Dim(256), in, out); err != nil {
			t.Fatal(err)
		}
		got, err := heddle.Download[float32](gpu, out, len(xs))
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	for _, c := range []struct {
		name                 string
		bits, fraction, bias int
	}{{"e2m1", 4, 1, 1}, {"e2m3", 6, 3, 1}, {"e3m2", 6, 2, 3}} {
		f := narrow{}
		count := 1 << (c.bits - 1)
		for u := range count + 1 { // and the one above, which stands for all that is too large
			m, e := float64(u&(1<<c.fraction-1)), u>>c.fraction
			if e > 0 {
				m, e = m+float64(int(1)<<c.fraction), e-1
			}
			f.values = append(f.values, math.Ldexp(m, e+1-c.bias-c.fraction))
		}
		for u, got := range launch("widen_"+c.name, 1)[:1<<c.bits] {
			if want := math.Copysign(f.values[u%count], float64(1-2*(u/count))); float64(got) != want {
				t.Errorf("%s: %#x is %v, want %v", c.name, u, got, want)
			}
		}
		for i, got := range launch("round_"+c.name, len(xs)/256) {
			want := count - 1 // NaN is the largest number
			if x := float64(xs[i]); !math.IsNaN(x) {
				r := f.round(math.Copysign(min(math.Abs(x), f.values[count]), x), 'n')
				want = min(int(r&0x7fff), count-1) | int(r>>15)*count
			}
			if int(got) != want {
				t.Errorf("%s: %v becomes %v, want %#x", c.name, xs[i], got, want)
			}
		}
	}
	for i, got := range launch("powers", 1)[:256] {
		if want := math.Ldexp(1, i-127); i == 255 && got == got || i < 255 && float64(got) != want {
			t.Errorf("E8M0 %d is %v, want %v", i, got, want)
		}
	}
}
