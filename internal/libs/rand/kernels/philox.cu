// targets: 52
#include "rand.cuh"

// A thread draws four numbers. Those of a distribution with a fixed number of words come
// from subsequence 0 in order, from a word on; each other one has its own subsequence.
template <class D> __device__ inline void in_order(const task &t, uint64_t seed, uint64_t word) {
  const int64_t first = 4 * (int64_t(blockIdx.x) * blockDim.x + threadIdx.x);
  typename D::type *to = (typename D::type *)t.to;
  curandStatePhilox4_32_10 s;
  if (D::words && first < t.count) curand_init(seed, 0, word + first * D::words, &s);
  for (int64_t at = first; at < first + 4 && at < t.count; at += D::count) {
    if (!D::words) curand_init(seed, 1 + word + at, 0, &s);
    D::draw(&s, t, to + at);
  }
}

#define KERNEL(D) \
  extern "C" __global__ void __launch_bounds__(256) philox_##D(task t, uint64_t seed, uint64_t word) { in_order<D>(t, seed, word); }
DISTRIBUTIONS(KERNEL)
