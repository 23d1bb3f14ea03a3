// targets: 52
#include "rand.cuh"

// A thread draws four numbers at once. Those of a distribution with a fixed number of words come
// from subsequence 0 in order, from a word on; each other one has its own subsequence.
template <class D> __device__ inline void in_order(const task &t, uint64_t *positions, uint64_t seed) {
  const uint64_t word = advance(positions, t.count * (D::words ? D::words : 1));
  typename D::type *to = (typename D::type *)t.to;
  curandStatePhilox4_32_10 s;
  for (int64_t first = 4 * (int64_t(blockIdx.x) * blockDim.x + threadIdx.x); first < t.count; first += 4 * int64_t(gridDim.x) * blockDim.x) {
    if (D::words) curand_init(seed, 0, word + first * D::words, &s);
    for (int64_t at = first; at < first + 4 && at < t.count; at += D::count) {
      if (!D::words) curand_init(seed, 1 + word + at, 0, &s);
      D::draw(&s, t, to + at);
    }
  }
}

#define KERNEL(D) \
  extern "C" __global__ void __launch_bounds__(256) philox_##D(task t, uint64_t *positions, uint64_t seed) { in_order<D>(t, positions, seed); }
DISTRIBUTIONS(KERNEL)
