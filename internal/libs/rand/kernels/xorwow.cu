// targets: 52
#include "rand.cuh"
#define KERNEL(D) \
  extern "C" __global__ void __launch_bounds__(256) xorwow_##D(task t, curandStateXORWOW *states, int first) { in_streams<curandStateXORWOW, D>(t, states, first); }
DISTRIBUTIONS(KERNEL)
