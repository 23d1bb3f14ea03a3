// Half precision: numbers, pairs of them, and their arithmetic.
#ifndef HEDDLE_CUDA_FP16_H
#define HEDDLE_CUDA_FP16_H
// Programs test this macro to see whether the header was included.
#define __CUDA_FP16_H__

#ifndef __cplusplus
// C has the numbers, without arithmetic.
typedef struct { unsigned short x; } __half;
typedef struct { __half x, y; } __half2;
#else
#include "cuda_runtime.h"
#include "odd_float.h"

#ifdef __clang__
#define HEDDLE_HD static __inline__ __host__ __device__ __attribute__((always_inline, nodebug))
#else // of the host, which knows no nodebug
#define HEDDLE_HD static __inline__ __host__ __device__ __attribute__((always_inline))
#endif

namespace heddle_sdk {
// To the nearest half, ties to even.
HEDDLE_HD unsigned short half_round(float f) {
#if defined(__CUDA_ARCH__)
  unsigned short h;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(h) : "f"(f));
  return h;
#else
  unsigned int u = float_bits(f), sign = u >> 16 & 0x8000u;
  u &= 0x7fffffffu;
  if (u > 0x7f800000u) return (unsigned short)0x7fff;
  if (u >= 0x47800000u) return (unsigned short)(sign | 0x7c00u);
  if (u < 0x38800000u) { // subnormal: in units of 2^-24
    float scaled = bits_float(u) * 16777216.0f;
    unsigned int n = (unsigned int)scaled;
    float rest = scaled - (float)n;
    if (rest > 0.5f || (rest == 0.5f && (n & 1))) n++;
    return (unsigned short)(sign | n);
  }
  u += 0xfffu + (u >> 13 & 1);
  return (unsigned short)(sign | ((u - 0x38000000u) >> 13));
#endif
}
HEDDLE_HD float half_widen(unsigned short h) {
#if defined(__CUDA_ARCH__)
  float f;
  asm("cvt.f32.f16 %0, %1;" : "=f"(f) : "h"(h));
  return f;
#else
  unsigned int sign = (h & 0x8000u) << 16, e = h >> 10 & 31, m = h & 0x3ffu;
  if (e == 31) return bits_float(sign | 0x7f800000u | m << 13);
  if (e == 0) return bits_float(sign | float_bits((float)m * 5.9604644775390625e-8f));
  return bits_float(sign | (e + 112) << 23 | m << 13);
#endif
}
} // namespace heddle_sdk

#undef HEDDLE_HD

#define HEDDLE_H __half
#define HEDDLE_H2 __half2
#define HEDDLE_RAW __half_raw
#define HEDDLE_RAW2 __half2_raw
#define HEDDLE_NAME(a, b) a##half##b
#define HEDDLE_HALVES __halves2half2
#define HEDDLE_TWICE __half2half2
#define HEDDLE_PTX "f16"
#define HEDDLE_INFINITY 0x7c00u
#define HEDDLE_ROUND(f) heddle_sdk::half_round(f)
#define HEDDLE_WIDEN(u) heddle_sdk::half_widen(u)
#define HEDDLE_FMA_ARCH 530
#define HEDDLE_ADD_ARCH 530
#ifndef __CUDA_NO_HALF_OPERATORS__
#define HEDDLE_OPERATORS
#endif
#ifndef __CUDA_NO_HALF2_OPERATORS__
#define HEDDLE_OPERATORS2
#endif
#include "half_common.h"

typedef __half half;
typedef __half2 half2;
typedef __half nv_half;
typedef __half2 nv_half2;
#define CUDART_INF_FP16 __ushort_as_half((unsigned short)0x7c00)
#define CUDART_NAN_FP16 __ushort_as_half((unsigned short)0x7fff)
#define CUDART_MAX_NORMAL_FP16 __ushort_as_half((unsigned short)0x7bff)
#define CUDART_MIN_DENORM_FP16 __ushort_as_half((unsigned short)1)
#define CUDART_NEG_ZERO_FP16 __ushort_as_half((unsigned short)0x8000)
#define CUDART_ZERO_FP16 __ushort_as_half((unsigned short)0)
#define CUDART_ONE_FP16 __ushort_as_half((unsigned short)0x3c00)
#endif
#endif
