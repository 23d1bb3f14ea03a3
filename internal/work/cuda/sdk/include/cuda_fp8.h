// Numbers of 8 bits: E4M3 (four bits of exponent, no infinities, up to 448), E5M2 (five, up to 57344), and powers of two, E8M0; their
// conversions, and vectors of two and four.
#ifndef HEDDLE_CUDA_FP8_H
#define HEDDLE_CUDA_FP8_H
// Programs test this macro to see whether the header was included.
#define __CUDA_FP8_H__

typedef unsigned char __nv_fp8_storage_t;
typedef unsigned short __nv_fp8x2_storage_t;
typedef unsigned int __nv_fp8x4_storage_t;
typedef enum __nv_saturation_t { __NV_NOSAT, __NV_SATFINITE } __nv_saturation_t;
typedef enum __nv_fp8_interpretation_t { __NV_E4M3, __NV_E5M2 } __nv_fp8_interpretation_t;

// C has the numbers, without arithmetic.
#ifndef __cplusplus
typedef struct { __nv_fp8_storage_t __x; } __nv_fp8_e4m3, __nv_fp8_e5m2, __nv_fp8_e8m0;
typedef struct { __nv_fp8x2_storage_t __x; } __nv_fp8x2_e4m3, __nv_fp8x2_e5m2, __nv_fp8x2_e8m0;
typedef struct { __nv_fp8x4_storage_t __x; } __nv_fp8x4_e4m3, __nv_fp8x4_e5m2, __nv_fp8x4_e8m0;
#else
#include "heddle_narrow.h"

#ifdef __clang__
#define HEDDLE_HD static __inline__ __host__ __device__ __attribute__((always_inline, nodebug))
#else // of the host, which knows no nodebug
#define HEDDLE_HD static __inline__ __host__ __device__ __attribute__((always_inline))
#endif

namespace heddle_sdk {
HEDDLE_HD float fp8_widen(unsigned char v, __nv_fp8_interpretation_t kind) {
  unsigned int sign = (v & 0x80u) << 24, size = v & 0x7fu;
  if (kind == __NV_E4M3 ? size == 0x7f : size > 0x7c) return bits_float(0x7fffffffu);
  if (kind == __NV_E5M2 && size == 0x7c) return bits_float(sign | 0x7f800000u);
  return bits_float(sign | float_bits(kind == __NV_E4M3 ? narrow_value(size, 3, 7) : narrow_value(size, 2, 15)));
}
// Overflow gives the largest number or, without saturation, infinity, or NaN if the format has no infinity.
HEDDLE_HD unsigned char fp8_round(float f, __nv_saturation_t saturate, __nv_fp8_interpretation_t kind) {
  if (f != f) return (unsigned char)0x7f;
  unsigned int sign = float_bits(f) >> 24 & 0x80u, most = kind == __NV_E4M3 ? 0x7eu : 0x7bu;
  unsigned int size = kind == __NV_E4M3 ? narrow_size(f, 3, 7) : narrow_size(f, 2, 15);
  if (size > most) size = saturate == __NV_SATFINITE ? most : kind == __NV_E4M3 ? 0x7fu : 0x7cu;
  return (unsigned char)(sign | size);
}
// E8M0: the power of two that is not above a value's size or, rounding up, not below. 0 is 2^-127, 255 is NaN.
HEDDLE_HD unsigned char e8m0_round(float f, __nv_saturation_t saturate, enum cudaRoundMode way) {
  unsigned int u = float_bits(f) & 0x7fffffffu, e = u >> 23;
  if (u > 0x7f800000u) return (unsigned char)0xff;
  if (way == cudaRoundPosInf && (e ? u & 0x7fffffu : u > 0x400000u)) e++;
  return (unsigned char)(e < 0xff ? e : saturate == __NV_SATFINITE ? 0xfe : 0xff);
}
HEDDLE_HD unsigned short e8m0_bfloat16(unsigned char v) { return (unsigned short)(v == 0xff ? 0x7fff : v ? v << 7 : 0x40); }
} // namespace heddle_sdk

HEDDLE_NARROW_CONVERSIONS(fp8, __nv_fp8_storage_t, __nv_fp8x2_storage_t, 8, (__nv_saturation_t s, __nv_fp8_interpretation_t k), (s, k),
                          (__nv_fp8_interpretation_t k), (k), heddle_sdk::fp8_round, heddle_sdk::fp8_widen)

HEDDLE_HD __nv_fp8_storage_t __nv_cvt_float_to_e8m0(float f, __nv_saturation_t s, enum cudaRoundMode way) { return heddle_sdk::e8m0_round(f, s, way); }
HEDDLE_HD __nv_fp8_storage_t __nv_cvt_double_to_e8m0(double d, __nv_saturation_t s, enum cudaRoundMode way) {
  return heddle_sdk::e8m0_round(heddle_sdk::odd_float(d), s, way);
}
HEDDLE_HD __nv_fp8_storage_t __nv_cvt_bfloat16raw_to_e8m0(__nv_bfloat16_raw h, __nv_saturation_t s, enum cudaRoundMode way) {
  return heddle_sdk::e8m0_round((float)__nv_bfloat16(h), s, way);
}
HEDDLE_HD __nv_fp8x2_storage_t __nv_cvt_float2_to_e8m0x2(float2 f, __nv_saturation_t s, enum cudaRoundMode way) {
  return (__nv_fp8x2_storage_t)(heddle_sdk::e8m0_round(f.x, s, way) | heddle_sdk::e8m0_round(f.y, s, way) << 8);
}
HEDDLE_HD __nv_fp8x2_storage_t __nv_cvt_double2_to_e8m0x2(double2 d, __nv_saturation_t s, enum cudaRoundMode way) {
  return __nv_cvt_float2_to_e8m0x2(make_float2(heddle_sdk::odd_float(d.x), heddle_sdk::odd_float(d.y)), s, way);
}
HEDDLE_HD __nv_fp8x2_storage_t __nv_cvt_bfloat162raw_to_e8m0x2(__nv_bfloat162_raw h, __nv_saturation_t s, enum cudaRoundMode way) {
  return __nv_cvt_float2_to_e8m0x2(__bfloat1622float2(__nv_bfloat162(h)), s, way);
}
HEDDLE_HD __nv_bfloat16_raw __nv_cvt_e8m0_to_bf16raw(__nv_fp8_storage_t v) {
  __nv_bfloat16_raw r = {heddle_sdk::e8m0_bfloat16(v)};
  return r;
}
HEDDLE_HD __nv_bfloat162_raw __nv_cvt_e8m0x2_to_bf162raw(__nv_fp8x2_storage_t v) {
  __nv_bfloat162_raw r = {heddle_sdk::e8m0_bfloat16((unsigned char)v), heddle_sdk::e8m0_bfloat16((unsigned char)(v >> 8))};
  return r;
}

#define HEDDLE_ROUND_E4M3(f) heddle_sdk::fp8_round(f, __NV_SATFINITE, __NV_E4M3)
#define HEDDLE_WIDEN_E4M3(v) heddle_sdk::fp8_widen(v, __NV_E4M3)
#define HEDDLE_ROUND_E5M2(f) heddle_sdk::fp8_round(f, __NV_SATFINITE, __NV_E5M2)
#define HEDDLE_WIDEN_E5M2(v) heddle_sdk::fp8_widen(v, __NV_E5M2)
#define HEDDLE_ROUND_E8M0(f) heddle_sdk::e8m0_round(f, __NV_SATFINITE, cudaRoundPosInf)
#define HEDDLE_WIDEN_E8M0(v) heddle_sdk::bf16_widen(heddle_sdk::e8m0_bfloat16(v))
HEDDLE_NARROW(__nv_fp8_e4m3, __nv_fp8_storage_t, (__x & 0x7f) != 0, HEDDLE_ROUND_E4M3, HEDDLE_WIDEN_E4M3)
HEDDLE_NARROW_VECTORS(__nv_fp8x2_e4m3, __nv_fp8x4_e4m3, __nv_fp8x2_storage_t, __nv_fp8x4_storage_t, 8, HEDDLE_ROUND_E4M3, HEDDLE_WIDEN_E4M3)
HEDDLE_NARROW(__nv_fp8_e5m2, __nv_fp8_storage_t, (__x & 0x7f) != 0, HEDDLE_ROUND_E5M2, HEDDLE_WIDEN_E5M2)
HEDDLE_NARROW_VECTORS(__nv_fp8x2_e5m2, __nv_fp8x4_e5m2, __nv_fp8x2_storage_t, __nv_fp8x4_storage_t, 8, HEDDLE_ROUND_E5M2, HEDDLE_WIDEN_E5M2)
HEDDLE_NARROW(__nv_fp8_e8m0, __nv_fp8_storage_t, true, HEDDLE_ROUND_E8M0, HEDDLE_WIDEN_E8M0)
HEDDLE_NARROW_VECTORS(__nv_fp8x2_e8m0, __nv_fp8x4_e8m0, __nv_fp8x2_storage_t, __nv_fp8x4_storage_t, 8, HEDDLE_ROUND_E8M0, HEDDLE_WIDEN_E8M0)
#undef HEDDLE_ROUND_E4M3
#undef HEDDLE_WIDEN_E4M3
#undef HEDDLE_ROUND_E5M2
#undef HEDDLE_WIDEN_E5M2
#undef HEDDLE_ROUND_E8M0
#undef HEDDLE_WIDEN_E8M0
#undef HEDDLE_HD
#endif

#endif
