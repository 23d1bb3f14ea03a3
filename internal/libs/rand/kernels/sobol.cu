// targets: 52
#include "rand.cuh"

// point is a coordinate of a point, in bits. The functions are those of the states of
// curand_kernel.h, which have room for the vectors of one dimension.
template <class W> struct point {
  W x;
  __device__ double uniform() const { return sizeof(W) == 4 ? x * 0x1p-32 + 0x1p-33 : x * 0x1p-64 + 0x1p-65; }
};
struct as_bits {
  template <class W> static __device__ W of(point<W> p, const task &) { return p.x; }
};
struct uniform_float {
  template <class W> static __device__ float of(point<W> p, const task &) { return float(p.uniform()); }
};
struct uniform_double {
  template <class W> static __device__ double of(point<W> p, const task &) { return p.uniform(); }
};
struct normal_float {
  template <class W> static __device__ float of(point<W> p, const task &t) { return float(t.a) + float(t.b) * normcdfinvf(float(p.uniform())); }
};
struct normal_double {
  template <class W> static __device__ double of(point<W> p, const task &t) { return t.a + t.b * normcdfinv(p.uniform()); }
};
struct lognormal_float {
  template <class W> static __device__ float of(point<W> p, const task &t) { return expf(normal_float::of(p, t)); }
};
struct lognormal_double {
  template <class W> static __device__ double of(point<W> p, const task &t) { return exp(normal_double::of(p, t)); }
};

// Each thread computes one coordinate. Those of one dimension follow one another, from
// the point with a number on.
template <class W, class D, class T> __device__ inline void coordinates(const task &t, const W *vectors, int64_t points, uint64_t number) {
  const int64_t at = int64_t(blockIdx.x) * blockDim.x + threadIdx.x;
  if (at >= t.count) return;
  const uint64_t i = number + at % points;
  vectors += at / points * (8 * sizeof(W));
  point<W> p = {0};
  for (uint64_t gray = i ^ i >> 1; gray; gray &= gray - 1) {
    const int bit = __ffsll(gray) - 1;
    if (bit < 8 * int(sizeof(W))) p.x ^= vectors[bit];
  }
  ((T *)t.to)[at] = D::of(p, t);
}

#define KERNEL(bits, W, name, D, T)                                                                                                        \
  extern "C" __global__ void __launch_bounds__(256) sobol##bits##_##name(task t, const W *vectors, int64_t points, uint64_t number) {      \
    coordinates<W, D, T>(t, vectors, points, number);                                                                                      \
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
