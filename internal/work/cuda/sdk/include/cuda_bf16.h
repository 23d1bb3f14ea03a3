// The upper half of a float: numbers, pairs of them, and their arithmetic.
#ifndef HEDDLE_CUDA_BF16_H
#define HEDDLE_CUDA_BF16_H
// Programs test this macro to see whether the header was included.
#define __CUDA_BF16_H__

#ifndef __cplusplus
// C has the numbers, without arithmetic.
typedef struct { unsigned short x; } __nv_bfloat16;
typedef struct { __nv_bfloat16 x, y; } __nv_bfloat162;
#else
#include "cuda_runtime.h"
#include "odd_float.h"

#ifdef __clang__
#define HEDDLE_HD static __inline__ __host__ __device__ __attribute__((always_inline, nodebug))
#else // of the host, which knows no nodebug
#define HEDDLE_HD static __inline__ __host__ __device__ __attribute__((always_inline))
#endif

namespace heddle_sdk {
// To the nearest bfloat16, ties to even.
HEDDLE_HD unsigned short bf16_round(float f) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  if (!__builtin_constant_p(f)) {
    unsigned short h;
    asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(h) : "f"(f));
    return h;
  }
#endif
  unsigned int u = float_bits(f);
  if ((u & 0x7fffffffu) > 0x7f800000u) return (unsigned short)0x7fff;
  return (unsigned short)((u + 0x7fffu + (u >> 16 & 1)) >> 16);
}
HEDDLE_HD float bf16_widen(unsigned short h) { return bits_float((unsigned int)h << 16); }
} // namespace heddle_sdk

#undef HEDDLE_HD

#define HEDDLE_H __nv_bfloat16
#define HEDDLE_H2 __nv_bfloat162
#define HEDDLE_RAW __nv_bfloat16_raw
#define HEDDLE_RAW2 __nv_bfloat162_raw
#define HEDDLE_NAME(a, b) a##bfloat16##b
#define HEDDLE_HALVES __halves2bfloat162
#define HEDDLE_TWICE __bfloat162bfloat162
#define HEDDLE_PTX "bf16"
#define HEDDLE_INFINITY 0x7f80u
#define HEDDLE_ROUND(f) heddle_sdk::bf16_round(f)
#define HEDDLE_WIDEN(u) heddle_sdk::bf16_widen(u)
#define HEDDLE_FMA_ARCH 800
#define HEDDLE_ADD_ARCH 900
#ifndef __CUDA_NO_BFLOAT16_OPERATORS__
#define HEDDLE_OPERATORS
#endif
#ifndef __CUDA_NO_BFLOAT162_OPERATORS__
#define HEDDLE_OPERATORS2
#endif
#include "half_common.h"

typedef __nv_bfloat16 nv_bfloat16;
typedef __nv_bfloat162 nv_bfloat162;
#define CUDART_INF_BF16 __ushort_as_bfloat16((unsigned short)0x7f80)
#define CUDART_NAN_BF16 __ushort_as_bfloat16((unsigned short)0x7fff)
#define CUDART_MAX_NORMAL_BF16 __ushort_as_bfloat16((unsigned short)0x7f7f)
#define CUDART_MIN_DENORM_BF16 __ushort_as_bfloat16((unsigned short)1)
#define CUDART_NEG_ZERO_BF16 __ushort_as_bfloat16((unsigned short)0x8000)
#define CUDART_ZERO_BF16 __ushort_as_bfloat16((unsigned short)0)
#define CUDART_ONE_BF16 __ushort_as_bfloat16((unsigned short)0x3f80)
#endif
#endif
