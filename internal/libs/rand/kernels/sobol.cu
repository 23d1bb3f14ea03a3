// targets: 52
#include "rand.cuh"

// What a distribution makes of a coordinate in bits.
struct as_bits {
  template <class W> static __device__ W of(W x, const task &) { return x; }
};
struct uniform_float {
  template <class W> static __device__ float of(W x, const task &) { return heddle_sdk::sobol_uniform(x); }
};
struct uniform_double {
  template <class W> static __device__ double of(W x, const task &) { return heddle_sdk::sobol_uniform_double(x); }
};
struct normal_float {
  template <class W> static __device__ float of(W x, const task &t) { return float(t.a) + float(t.b) * heddle_sdk::sobol_normal(x); }
};
struct normal_double {
  template <class W> static __device__ double of(W x, const task &t) { return t.a + t.b * heddle_sdk::sobol_normal_double(x); }
};
struct lognormal_float {
  template <class W> static __device__ float of(W x, const task &t) { return expf(normal_float::of(x, t)); }
};
struct lognormal_double {
  template <class W> static __device__ double of(W x, const task &t) { return exp(normal_double::of(x, t)); }
};

// A thread computes one coordinate at a time. Those of one dimension follow one another,
// from the point at the position on.
template <class W, class D, class T> __device__ inline void coordinates(const task &t, uint64_t *positions, const W *vectors, int64_t points) {
  const uint64_t number = advance(positions, points);
  for (int64_t at = int64_t(blockIdx.x) * blockDim.x + threadIdx.x; at < t.count; at += int64_t(gridDim.x) * blockDim.x) {
    const uint64_t i = number + at % points;
    const W *of = vectors + at / points * (8 * sizeof(W));
    W x = 0;
    for (uint64_t gray = i ^ i >> 1; gray; gray &= gray - 1) {
      const int bit = __ffsll(gray) - 1;
      if (bit < 8 * int(sizeof(W))) x ^= of[bit];
    }
    ((T *)t.to)[at] = D::of(x, t);
  }
}

#define KERNEL(bits, W, name, D, T)                                                                                                        \
  extern "C" __global__ void __launch_bounds__(256) sobol##bits##_##name(task t, uint64_t *positions, const W *vectors, int64_t points) { \
    coordinates<W, D, T>(t, positions, vectors, points);                                                                                   \
  }
#define KERNELS(bits, W)                                       \
  KERNEL(bits, W, bits_u##bits, as_bits, W)                    \
  KERNEL(bits, W, uniform_f32, uniform_float, float)           \
  KERNEL(bits, W, uniform_f64, uniform_double, double)         \
  KERNEL(bits, W, normal_f32, normal_float, float)             \
  KERNEL(bits, W, normal_f64, normal_double, double)           \
  KERNEL(bits, W, lognormal_f32, lognormal_float, float)       \
  KERNEL(bits, W, lognormal_f64, lognormal_double, double)
KERNELS(32, uint32_t)
KERNELS(64, uint64_t)
