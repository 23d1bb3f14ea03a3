// targets: 52
#include "rand.cuh"
#define KERNEL(D) \
  extern "C" __global__ void __launch_bounds__(256) mrg32k3a_##D(task t, uint64_t *positions, curandStateMRG32k3a *states) { in_streams<curandStateMRG32k3a, D>(t, positions, states); }
DISTRIBUTIONS(KERNEL)
