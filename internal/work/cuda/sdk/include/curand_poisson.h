// Poisson distribution.
#ifndef HEDDLE_CURAND_POISSON_H
#define HEDDLE_CURAND_POISSON_H

#include "curand_kernel.h"

#if defined(__CUDA__)

// The number of events for an expected number lambda: for a small lambda by the distances
// between events (Knuth), for a large one by rejection with a hat function (Hörmann 1993,
// PTRS).
template <class S> static __inline__ __device__ unsigned int curand_poisson(S *s, double lambda) {
  if (!(lambda > 0)) return 0;
  if (lambda < 32) {
    double left = exp(-lambda), p = 1;
    unsigned int n = 0;
    for (;; n++) {
      p *= curand_uniform_double(s);
      if (p <= left) return n;
    }
  }
  double root = sqrt(lambda), ln = log(lambda), b = 0.931 + 2.53 * root, a = -0.059 + 0.02483 * b;
  double inverse = 1.1239 + 1.1328 / (b - 3.4), quick = 0.9277 - 3.6224 / (b - 2);
  for (;;) {
    double u = curand_uniform_double(s) - 0.5, v = curand_uniform_double(s), us = 0.5 - fabs(u);
    double k = floor((2 * a / us + b) * u + lambda + 0.43);
    if (us >= 0.07 && v <= quick) return (unsigned int)k;
    if (k < 0 || (us < 0.013 && v > us)) continue;
    if (log(v) + log(inverse) - log(a / (us * us) + b) <= -lambda + k * ln - lgamma(k + 1)) return (unsigned int)k;
  }
}
template <class S> static __inline__ __device__ uint4 curand_poisson4(S *s, double lambda) {
  unsigned int x = curand_poisson(s, lambda), y = curand_poisson(s, lambda), z = curand_poisson(s, lambda);
  return make_uint4(x, y, z, curand_poisson(s, lambda));
}

#endif

#endif
