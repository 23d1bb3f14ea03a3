// Numbers of 6 bits: E2M3 (two bits of exponent, up to 7.5) and E3M2 (three, up to 28), without infinities and NaN, their conversions, and
// vectors of two and four, with a byte for each number.
#ifndef HEDDLE_CUDA_FP6_H
#define HEDDLE_CUDA_FP6_H
// Programs test this macro to see whether the header was included.
#define __CUDA_FP6_H__

#include "heddle_narrow.h"

#ifdef __clang__
#define HEDDLE_HD static __inline__ __host__ __device__ __attribute__((always_inline, nodebug))
#else // of the host, which knows no nodebug
#define HEDDLE_HD static __inline__ __host__ __device__ __attribute__((always_inline))
#endif

typedef unsigned char __nv_fp6_storage_t;
typedef unsigned short __nv_fp6x2_storage_t;
typedef unsigned int __nv_fp6x4_storage_t;
typedef enum __nv_fp6_interpretation_t { __NV_E2M3, __NV_E3M2 } __nv_fp6_interpretation_t;

namespace heddle_sdk {
HEDDLE_HD float fp6_widen(unsigned char v, __nv_fp6_interpretation_t kind) {
  unsigned int size = v & 0x1fu;
  return bits_float((v & 0x20u) << 26 | float_bits(kind == __NV_E2M3 ? narrow_value(size, 3, 1) : narrow_value(size, 2, 3)));
}
// Larger values, infinities and NaN become the largest number. Only rounding to the nearest is defined.
HEDDLE_HD unsigned char fp6_round(float f, __nv_fp6_interpretation_t kind, enum cudaRoundMode = cudaRoundNearest) {
  if (f != f) return (unsigned char)0x1f;
  unsigned int size = kind == __NV_E2M3 ? narrow_size(f, 3, 1) : narrow_size(f, 2, 3);
  return (unsigned char)((float_bits(f) >> 31) << 5 | (size < 0x1f ? size : 0x1f));
}
} // namespace heddle_sdk

HEDDLE_NARROW_CONVERSIONS(fp6, __nv_fp6_storage_t, __nv_fp6x2_storage_t, 8, (__nv_fp6_interpretation_t k, enum cudaRoundMode way), (k, way),
                          (__nv_fp6_interpretation_t k), (k), heddle_sdk::fp6_round, heddle_sdk::fp6_widen)

#define HEDDLE_ROUND_E2M3(f) heddle_sdk::fp6_round(f, __NV_E2M3)
#define HEDDLE_WIDEN_E2M3(v) heddle_sdk::fp6_widen(v, __NV_E2M3)
HEDDLE_NARROW(__nv_fp6_e2m3, __nv_fp6_storage_t, (__x & 0x1f) != 0, HEDDLE_ROUND_E2M3, HEDDLE_WIDEN_E2M3)
HEDDLE_NARROW_VECTORS(__nv_fp6x2_e2m3, __nv_fp6x4_e2m3, __nv_fp6x2_storage_t, __nv_fp6x4_storage_t, 8, HEDDLE_ROUND_E2M3, HEDDLE_WIDEN_E2M3)
#define HEDDLE_ROUND_E3M2(f) heddle_sdk::fp6_round(f, __NV_E3M2)
#define HEDDLE_WIDEN_E3M2(v) heddle_sdk::fp6_widen(v, __NV_E3M2)
HEDDLE_NARROW(__nv_fp6_e3m2, __nv_fp6_storage_t, (__x & 0x1f) != 0, HEDDLE_ROUND_E3M2, HEDDLE_WIDEN_E3M2)
HEDDLE_NARROW_VECTORS(__nv_fp6x2_e3m2, __nv_fp6x4_e3m2, __nv_fp6x2_storage_t, __nv_fp6x4_storage_t, 8, HEDDLE_ROUND_E3M2, HEDDLE_WIDEN_E3M2)
#undef HEDDLE_ROUND_E2M3
#undef HEDDLE_WIDEN_E2M3
#undef HEDDLE_ROUND_E3M2
#undef HEDDLE_WIDEN_E3M2
#undef HEDDLE_HD

#endif
