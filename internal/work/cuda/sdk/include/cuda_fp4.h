// Numbers of 4 bits, E2M1 (two bits of exponent, no infinities and NaN, up to 6), their conversions, and vectors of two and four.
#ifndef HEDDLE_CUDA_FP4_H
#define HEDDLE_CUDA_FP4_H
// Programs test this macro to see whether the header was included.
#define __CUDA_FP4_H__

#include "heddle_narrow.h"

#ifdef __clang__
#define HEDDLE_HD static __inline__ __host__ __device__ __attribute__((always_inline, nodebug))
#else // of the host, which knows no nodebug
#define HEDDLE_HD static __inline__ __host__ __device__ __attribute__((always_inline))
#endif

typedef unsigned char __nv_fp4_storage_t;
typedef unsigned char __nv_fp4x2_storage_t;
typedef unsigned short __nv_fp4x4_storage_t;
typedef enum __nv_fp4_interpretation_t { __NV_E2M1 } __nv_fp4_interpretation_t;

namespace heddle_sdk {
HEDDLE_HD float fp4_widen(unsigned char v, __nv_fp4_interpretation_t kind) {
  (void)kind;
  unsigned int size = v & 0x7u;
  return bits_float((v & 0x8u) << 28 | float_bits(narrow_value(size, 1, 1)));
}
// Larger values, infinities and NaN become the largest number. Only rounding to the nearest is defined.
HEDDLE_HD unsigned char fp4_round(float f, __nv_fp4_interpretation_t kind, enum cudaRoundMode = cudaRoundNearest) {
  (void)kind;
  if (f != f) return (unsigned char)0x7;
  unsigned int size = narrow_size(f, 1, 1);
  return (unsigned char)((float_bits(f) >> 31) << 3 | (size < 0x7 ? size : 0x7));
}
} // namespace heddle_sdk

HEDDLE_NARROW_CONVERSIONS(fp4, __nv_fp4_storage_t, __nv_fp4x2_storage_t, 4, (__nv_fp4_interpretation_t k, enum cudaRoundMode way), (k, way),
                          (__nv_fp4_interpretation_t k), (k), heddle_sdk::fp4_round, heddle_sdk::fp4_widen)

#define HEDDLE_ROUND_E2M1(f) heddle_sdk::fp4_round(f, __NV_E2M1)
#define HEDDLE_WIDEN_E2M1(v) heddle_sdk::fp4_widen(v, __NV_E2M1)
HEDDLE_NARROW(__nv_fp4_e2m1, __nv_fp4_storage_t, (__x & 0x7) != 0, HEDDLE_ROUND_E2M1, HEDDLE_WIDEN_E2M1)
HEDDLE_NARROW_VECTORS(__nv_fp4x2_e2m1, __nv_fp4x4_e2m1, __nv_fp4x2_storage_t, __nv_fp4x4_storage_t, 4, HEDDLE_ROUND_E2M1, HEDDLE_WIDEN_E2M1)
#undef HEDDLE_ROUND_E2M1
#undef HEDDLE_WIDEN_E2M1
#undef HEDDLE_HD

#endif
