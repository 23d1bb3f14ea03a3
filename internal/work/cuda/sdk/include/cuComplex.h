// Complex numbers as pairs.
#ifndef HEDDLE_CUCOMPLEX_H
#define HEDDLE_CUCOMPLEX_H

#include <math.h>

#include "vector_functions.h"

#define HEDDLE_COMPLEX(name, type, pair, suffix, root)                                                                                  \
  static __inline__ __host__ __device__ type cuCreal##suffix(name a) { return a.x; }                                                   \
  static __inline__ __host__ __device__ type cuCimag##suffix(name a) { return a.y; }                                                   \
  static __inline__ __host__ __device__ name make_##name(type a, type b) { return make_##pair(a, b); }                                 \
  static __inline__ __host__ __device__ name cuConj##suffix(name a) { return make_##pair(a.x, -a.y); }                                 \
  static __inline__ __host__ __device__ name cuCadd##suffix(name a, name b) { return make_##pair(a.x + b.x, a.y + b.y); }              \
  static __inline__ __host__ __device__ name cuCsub##suffix(name a, name b) { return make_##pair(a.x - b.x, a.y - b.y); }              \
  static __inline__ __host__ __device__ name cuCmul##suffix(name a, name b) {                                                         \
    return make_##pair(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);                                                                  \
  }                                                                                                                                    \
  static __inline__ __host__ __device__ name cuCdiv##suffix(name a, name b) {                                                         \
    type s = (b.x < 0 ? -b.x : b.x) + (b.y < 0 ? -b.y : b.y), ax = a.x / s, ay = a.y / s, bx = b.x / s, by = b.y / s;                  \
    type d = bx * bx + by * by;                                                                                                        \
    return make_##pair((ax * bx + ay * by) / d, (ay * bx - ax * by) / d);                                                              \
  }                                                                                                                                    \
  static __inline__ __host__ __device__ type cuCabs##suffix(name a) { return root(a.x, a.y); }

typedef float2 cuFloatComplex;
typedef double2 cuDoubleComplex;
typedef cuFloatComplex cuComplex;
HEDDLE_COMPLEX(cuFloatComplex, float, float2, f, hypotf)
HEDDLE_COMPLEX(cuDoubleComplex, double, double2, , hypot)
#undef HEDDLE_COMPLEX
static __inline__ __host__ __device__ cuComplex make_cuComplex(float a, float b) { return make_float2(a, b); }

#endif
