// Random numbers in arrays, by the functions of curand_kernel.h.
#pragma once
#include <curand_kernel.h>
#include <stdint.h>

// task is what a call generates: count numbers, of a distribution with parameters a and b.
struct task {
  uint64_t to;
  int64_t count;
  double a, b; // mean and deviation, or the expected number
};

// A distribution draws count numbers at once, each from words words of a generator.
struct bits_u32 {
  typedef unsigned type;
  enum { count = 1, words = 1 };
  template <class S> static __device__ void draw(S *s, const task &, type *v) { v[0] = curand(s); }
};
struct uniform_f32 {
  typedef float type;
  enum { count = 1, words = 1 };
  template <class S> static __device__ void draw(S *s, const task &, type *v) { v[0] = curand_uniform(s); }
};
struct uniform_f64 {
  typedef double type;
  enum { count = 1, words = 2 };
  template <class S> static __device__ void draw(S *s, const task &, type *v) { v[0] = curand_uniform_double(s); }
};
struct normal_f32 {
  typedef float type;
  enum { count = 2, words = 1 };
  template <class S> static __device__ void draw(S *s, const task &t, type *v) {
    const float2 n = curand_normal2(s);
    v[0] = float(t.a) + float(t.b) * n.x;
    v[1] = float(t.a) + float(t.b) * n.y;
  }
};
struct normal_f64 {
  typedef double type;
  enum { count = 2, words = 2 };
  template <class S> static __device__ void draw(S *s, const task &t, type *v) {
    const double2 n = curand_normal2_double(s);
    v[0] = t.a + t.b * n.x;
    v[1] = t.a + t.b * n.y;
  }
};
struct lognormal_f32 {
  typedef float type;
  enum { count = 2, words = 1 };
  template <class S> static __device__ void draw(S *s, const task &t, type *v) {
    normal_f32::draw(s, t, v);
    v[0] = expf(v[0]);
    v[1] = expf(v[1]);
  }
};
struct lognormal_f64 {
  typedef double type;
  enum { count = 2, words = 2 };
  template <class S> static __device__ void draw(S *s, const task &t, type *v) {
    normal_f64::draw(s, t, v);
    v[0] = exp(v[0]);
    v[1] = exp(v[1]);
  }
};
struct poisson_u32 {
  typedef unsigned type;
  enum { count = 1, words = 0 }; // as many as it takes
  template <class S> static __device__ void draw(S *s, const task &t, type *v) { v[0] = curand_poisson(s, t.a); }
};

// Each generator has a kernel for each distribution; FIXED are those of a fixed number of
// words.
#define FIXED(X) X(bits_u32) X(uniform_f32) X(uniform_f64) X(normal_f32) X(normal_f64) X(lognormal_f32) X(lognormal_f64)
#define DISTRIBUTIONS(X) FIXED(X) X(poisson_u32)

// advance returns where in the sequence a call begins, and stores where the next one does.
// That is on the device, since a graph may repeat calls. Each block has its own copy: none
// knows when the others have read it. So all calls of a generator have as many blocks.
static __device__ inline uint64_t advance(uint64_t *positions, uint64_t by) {
  const uint64_t position = positions[blockIdx.x];
  __syncthreads();
  if (threadIdx.x == 0) positions[blockIdx.x] = position + by;
  return position;
}

// A generator in streams has one for each thread: numbers, or pairs of them, come from
// each in turn.
constexpr int streams = 4096;

template <class S, class D> __device__ inline void in_streams(const task &t, uint64_t *positions, S *states) {
  const int stream = blockIdx.x * blockDim.x + threadIdx.x, first = advance(positions, t.count / D::count) % streams;
  int64_t at = (stream - first) & (streams - 1);
  if (at * D::count >= t.count) return;
  S s = states[stream];
  for (; at * D::count < t.count; at += streams) D::draw(&s, t, (typename D::type *)t.to + at * D::count);
  states[stream] = s;
}
