package sdk_test

import (
	"context"
	"math"
	"testing"

	"github.com/heddle-sim/heddle"
	"github.com/heddle-sim/heddle/internal/alltests"
)

// numbers runs a kernel of one thread that writes n numbers.
func numbers[T uint32 | float64](t *testing.T, gpu *heddle.GPU, kernel string, n int) []T {
	t.Helper()
	out, err := heddle.Upload(gpu, "out", make([]T, n))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := gpu.Launch(context.Background(), kernel, heddle.Dim(1), heddle.Dim(1), out); err != nil {
		t.Fatal(err)
	}
	got, err := heddle.Download[T](gpu, out, n)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// The generators' first numbers: Philox compared with the vectors that its authors
// publish, MRG32k3a with those of RngStreams (L'Ecuyer and others, 2002), Sobol's
// first dimension with van der Corput's sequence in Gray's order.
func TestRandom(t *testing.T) {
	alltests.Only(t, "random generators, compiled")
	gpu := device(t, kit(t), `
#include <curand_kernel.h>
extern "C" __global__ void philox(unsigned int *out) {
  uint4 r = heddle_sdk::philox(make_uint4(0, 0, 0, 0), make_uint2(0, 0));
  out[0] = r.x; out[1] = r.y; out[2] = r.z; out[3] = r.w;
  r = heddle_sdk::philox(make_uint4(0x243f6a88u, 0x85a308d3u, 0x13198a2eu, 0x03707344u), make_uint2(0xa4093822u, 0x299f31d0u));
  out[4] = r.x; out[5] = r.y; out[6] = r.z; out[7] = r.w;
}
// Pairs that must be equal: a position reached by steps, and by a jump.
template <class S> __device__ void pairs(unsigned int *out) {
  S a, b;
  curand_init(1234, 0, 0, &a);
  curand_init(1234, 0, 1000, &b);
  for (int i = 0; i < 1000; i++) curand(&a);
  out[0] = curand(&a); out[1] = curand(&b);
  curand_init(99, 3, 0, &a);
  curand_init(99, 3, 123, &b);
  for (int i = 0; i < 123; i++) curand(&a);
  out[2] = curand(&a); out[3] = curand(&b);
  curand_init(5, 2, 77, &a);
  curand_init(5, 2, 0, &b);
  skipahead(77, &b);
  out[4] = curand(&a); out[5] = curand(&b);
  curand_init(5, 7, 0, &b);
  out[6] = out[4] != curand(&b); out[7] = 1;
}
extern "C" __global__ void xorwow_skips(unsigned int *out) {
  pairs<curandState>(out);
  curandState a, b;
  curand_init(5, 6, 0, &a);
  curand_init(5, 2, 0, &b);
  skipahead_sequence(4, &b);
  out[4] = curand(&a); out[5] = curand(&b);
}
extern "C" __global__ void philox_skips(unsigned int *out) { pairs<curandStatePhilox4_32_10_t>(out); }
extern "C" __global__ void mrg_skips(unsigned int *out) {
  pairs<curandStateMRG32k3a>(out);
  // 2^51 subsequences of 2^76 numbers are a sequence of 2^127.
  curandStateMRG32k3a a, b;
  curand_init(5, 1ull << 51, 0, &a);
  curand_init(5, 0, 0, &b);
  skipahead_sequence(1, &b);
  out[4] = curand(&a); out[5] = curand(&b);
  curand_init(5, 7, 0, &a);
  curand_init(5, 0, 0, &b);
  skipahead_subsequence(7, &b);
  out[6] = curand(&a); out[7] = curand(&b);
}
extern "C" __global__ void mrg(double *out) {
  curandStateMRG32k3a s;
  curand_init(0, 0, 0, &s);
  // The published numbers are divided by the modulus plus 1, ours by the modulus.
  for (int i = 0; i < 5; i++) out[i] = curand_uniform_double(&s) * 4294967087.0 / 4294967088.0;
}
extern "C" __global__ void sobol(double *out) {
  unsigned int v[32];
  for (int i = 0; i < 32; i++) v[i] = 1u << (31 - i);
  curandStateSobol32 s, far;
  curand_init(v, 0u, &s);
  for (int i = 0; i < 8; i++) out[i] = curand(&s) * 0x1p-32;
  curand_init(v, 5u, &far);
  out[8] = curand(&far) * 0x1p-32;
  curandStateScrambledSobol64 l;
  unsigned long long w[64];
  for (int i = 0; i < 64; i++) w[i] = 1ull << (63 - i);
  curand_init(w, 1ull << 63, 0u, &l);
  out[9] = curand(&l) * 0x1p-64;
  out[10] = curand(&l) * 0x1p-64;
}
extern "C" __global__ void sobol_far(double *out) {
  unsigned long long v[64];
  for (int i = 0; i < 64; i++) v[i] = 1ull << i;
  curandStateSobol64 s;
  curandStateScrambledSobol64 l;
  curand_init(v, 5ull << 32, &s);
  curand_init(v, 1ull, 5ull << 32, &l);
  out[0] = curand(&s);
  out[1] = curand(&l);
}`)
	want := []uint32{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8, 0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}
	for i, got := range numbers[uint32](t, gpu, "philox", len(want)) {
		if got != want[i] {
			t.Errorf("philox: number %d is %#x, want %#x", i, got, want[i])
		}
	}
	for _, kernel := range []string{"xorwow_skips", "philox_skips", "mrg_skips"} {
		got := numbers[uint32](t, gpu, kernel, 8)
		for i := 0; i < 8; i += 2 {
			if got[i] != got[i+1] {
				t.Errorf("%s: jumping and walking differ: %#x and %#x", kernel, got[i], got[i+1])
			}
		}
	}
	for kernel, want := range map[string][]float64{
		"mrg": {0.127011122046577, 0.318527565396787, 0.309186015544776, 0.825846862961265, 0.221629915729195},
		// With these vectors the numbers are those of Gray's code: i xor i/2.
		"sobol_far": {5<<32 ^ 5<<31, 5<<32 ^ 5<<31 + 1},
		"sobol":     {0, 0.5, 0.75, 0.25, 0.375, 0.875, 0.625, 0.125, 0.875, 0.5, 0},
	} {
		for i, got := range numbers[float64](t, gpu, kernel, len(want)) {
			if math.Abs(got-want[i]) > 1e-9 {
				t.Errorf("%s: number %d is %v, want %v", kernel, i, got, want[i])
			}
		}
	}
}

// The means and variances of the distributions are correct within five standard
// errors for the number of draws.
func TestDistributions(t *testing.T) {
	alltests.Only(t, "the distributions of cuRAND")
	const n = 20000
	gpu := device(t, kit(t), `
#include <curand_kernel.h>
#define DRAW(name, state, call)                                     \
  extern "C" __global__ void name(double *out) {                    \
    state s;                                                        \
    curand_init(42, 1, 0, &s);                                      \
    for (int i = 0; i < 20000; i++) out[i] = call;                  \
  }
DRAW(uniform, curandState, curand_uniform(&s))
DRAW(uniform_mrg, curandStateMRG32k3a, curand_uniform(&s))
DRAW(uniform_double, curandStatePhilox4_32_10_t, curand_uniform_double(&s))
DRAW(normal, curandState, curand_normal(&s))
DRAW(normal_double, curandState, curand_normal_double(&s))
DRAW(normal_mrg, curandStateMRG32k3a, curand_normal(&s))
DRAW(normal4, curandStatePhilox4_32_10_t, curand_normal4(&s).z)
DRAW(log_normal, curandState, curand_log_normal(&s, 0.5f, 0.25f))
DRAW(uniform4, curandStatePhilox4_32_10_t, curand_uniform4(&s).y)
DRAW(uniform2_double, curandStatePhilox4_32_10_t, curand_uniform2_double(&s).y)
DRAW(curand4_word, curandStatePhilox4_32_10_t, curand4(&s).w * 0x1p-32)
DRAW(normal2, curandState, curand_normal2(&s).y)
DRAW(normal2_double, curandState, curand_normal2_double(&s).y)
DRAW(log_normal2, curandState, curand_log_normal2(&s, 0.5f, 0.25f).y)
DRAW(log_normal_double, curandState, curand_log_normal_double(&s, 0.5, 0.25))
DRAW(poisson_few, curandState, curand_poisson(&s, 3.5))
DRAW(poisson_many, curandState, curand_poisson(&s, 400.0))
DRAW(poisson_between, curandStateMRG32k3a, curand_poisson(&s, 32.0))
DRAW(poisson4, curandStatePhilox4_32_10_t, curand_poisson4(&s, 12.0).w)
`)
	logMean := math.Exp(0.5 + 0.03125)
	for _, c := range []struct {
		kernel         string
		mean, variance float64
		kurtosis       float64 // fourth central moment over the variance squared
	}{
		{"uniform", 0.5, 1. / 12, 1.8},
		{"uniform_mrg", 0.5, 1. / 12, 1.8},
		{"uniform_double", 0.5, 1. / 12, 1.8},
		{"normal", 0, 1, 3},
		{"normal_double", 0, 1, 3},
		{"normal_mrg", 0, 1, 3},
		{"normal4", 0, 1, 3},
		{"log_normal", logMean, (math.Exp(0.0625) - 1) * logMean * logMean, 4.1},
		{"uniform4", 0.5, 1. / 12, 1.8},
		{"uniform2_double", 0.5, 1. / 12, 1.8},
		{"curand4_word", 0.5, 1. / 12, 1.8},
		{"normal2", 0, 1, 3},
		{"normal2_double", 0, 1, 3},
		{"log_normal2", logMean, (math.Exp(0.0625) - 1) * logMean * logMean, 4.1},
		{"log_normal_double", logMean, (math.Exp(0.0625) - 1) * logMean * logMean, 4.1},
		{"poisson_few", 3.5, 3.5, 3 + 1/3.5},
		{"poisson_many", 400, 400, 3 + 1./400},
		{"poisson_between", 32, 32, 3 + 1./32},
		{"poisson4", 12, 12, 3 + 1./12},
	} {
		draws := numbers[float64](t, gpu, c.kernel, n)
		mean, variance := 0.0, 0.0
		for _, x := range draws {
			mean += x / n
		}
		for _, x := range draws {
			variance += (x - mean) * (x - mean) / n
		}
		if off := math.Abs(mean - c.mean); off > 5*math.Sqrt(c.variance/n) {
			t.Errorf("%s: the mean is %v, want %v", c.kernel, mean, c.mean)
		}
		if off := math.Abs(variance - c.variance); off > 5*c.variance*math.Sqrt((c.kurtosis-1)/n) {
			t.Errorf("%s: the variance is %v, want %v", c.kernel, variance, c.variance)
		}
	}
}
