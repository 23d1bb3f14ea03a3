// targets: 52
#include "rand.cuh"
#define KERNEL(D) \
  extern "C" __global__ void __launch_bounds__(256) xorwow_##D(task t, uint64_t *positions, curandStateXORWOW *states) { in_streams<curandStateXORWOW, D>(t, positions, states); }
DISTRIBUTIONS(KERNEL)
