// targets: 52
#include "rand.cuh"

// Numbers come from subsequences in turn, four from each. Those of a distribution without a
// fixed number of words have one of the further subsequences each. A number that a pair does
// not use up is left out.
constexpr int subsequences = 65536;

template <class D> __device__ inline void in_order(const task &t, uint64_t *positions, uint64_t seed) {
  const int left_out = positions[blockIdx.x] % D::count;
  const uint64_t begin = advance(positions, left_out + t.count) + left_out, end = begin + t.count;
  typename D::type *to = (typename D::type *)t.to;
  curandStatePhilox4_32_10 s;
  for (uint64_t group = begin / 4 + blockIdx.x * blockDim.x + threadIdx.x; 4 * group < end; group += gridDim.x * blockDim.x) {
    uint64_t at = max(4 * group, begin);
    if (D::words) curand_init(seed, group % subsequences, (group / subsequences * 4 + at % 4) * D::words, &s);
    for (; at < min(4 * group + 4, end); at += D::count) {
      if (!D::words) curand_init(seed, subsequences + at, 0, &s);
      D::draw(&s, t, to + (at - begin));
    }
  }
}

#define KERNEL(D) \
  extern "C" __global__ void __launch_bounds__(256) philox_##D(task t, uint64_t *positions, uint64_t seed) { in_order<D>(t, positions, seed); }
DISTRIBUTIONS(KERNEL)
