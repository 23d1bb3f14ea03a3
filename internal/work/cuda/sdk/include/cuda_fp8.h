// Numbers of 8 bits: E4M3 (four bits of exponent, no infinities, up to 448) and E5M2 (five, up to 57344), their conversions, and
// vectors of two and four.
#ifndef HEDDLE_CUDA_FP8_H
#define HEDDLE_CUDA_FP8_H
// Programs test this macro to see whether the header was included.
#define __CUDA_FP8_H__

#include "cuda_bf16.h"
#include "cuda_fp16.h"

#define HEDDLE_HD static __inline__ __attribute__((host, device, always_inline))

typedef unsigned char __nv_fp8_storage_t;
typedef unsigned short __nv_fp8x2_storage_t;
typedef unsigned int __nv_fp8x4_storage_t;
typedef enum __nv_saturation_t { __NV_NOSAT, __NV_SATFINITE } __nv_saturation_t;
typedef enum __nv_fp8_interpretation_t { __NV_E4M3, __NV_E5M2 } __nv_fp8_interpretation_t;

namespace heddle_sdk {
HEDDLE_HD float fp8_widen(unsigned char v, __nv_fp8_interpretation_t kind) {
  int fraction = kind == __NV_E4M3 ? 3 : 2, bias = kind == __NV_E4M3 ? 7 : 15;
  unsigned int sign = (v & 0x80u) << 24, size = v & 0x7fu, e = size >> fraction, m = size & ((1u << fraction) - 1);
  if (kind == __NV_E4M3 ? size == 0x7f : size > 0x7c) return half_float(0x7fffffffu);
  if (kind == __NV_E5M2 && size == 0x7c) return half_float(sign | 0x7f800000u);
  if (e == 0) return half_float(sign | half_bits((float)m * half_float((unsigned int)(128 - bias - fraction) << 23)));
  return half_float(sign | (e + 127 - bias) << 23 | m << (23 - fraction));
}
// Rounds to nearest, ties to even. Overflow gives the largest number or, without saturation, infinity, or NaN if the format has no
// infinity.
HEDDLE_HD unsigned char fp8_round(float f, __nv_saturation_t saturate, __nv_fp8_interpretation_t kind) {
  int fraction = kind == __NV_E4M3 ? 3 : 2, bias = kind == __NV_E4M3 ? 7 : 15;
  unsigned int u = half_bits(f), sign = u >> 24 & 0x80u, most = kind == __NV_E4M3 ? 0x7eu : 0x7bu, r;
  u &= 0x7fffffffu;
  if (u > 0x7f800000u) return (unsigned char)0x7f;
  int e = (int)(u >> 23) - 127, low = 1 - bias; // the exponent below which numbers are equally spaced
  int drop = 23 - fraction + (e < low ? low - e : 0);
  if (drop > 25) return (unsigned char)sign;
  unsigned int m = (u & 0x7fffffu) | 0x800000u, half = 1u << (drop - 1), rest = m & (2 * half - 1);
  r = m >> drop;
  if (rest > half || (rest == half && (r & 1))) r++;
  if (e >= low) r += (unsigned int)(e + bias - 1) << fraction;
  if (u == 0x7f800000u || r > most) r = saturate == __NV_SATFINITE ? most : kind == __NV_E4M3 ? 0x7fu : 0x7cu;
  return (unsigned char)(sign | r);
}
// Rounds towards zero; values out of range are clamped, NaN becomes 0.
template <class T> HEDDLE_HD T fp8_integer(float f) {
  const bool is_signed = (T)-1 < (T)0;
  const T high = is_signed ? (T)(((T)1 << (sizeof(T) * 8 - 2)) - 1 + ((T)1 << (sizeof(T) * 8 - 2))) : (T)-1, low = is_signed ? (T)(-high - 1) : (T)0;
  return f != f ? (T)0 : f >= (float)high ? high : f <= (float)low ? low : (T)f;
}
} // namespace heddle_sdk

HEDDLE_HD __nv_fp8_storage_t __nv_cvt_float_to_fp8(float f, __nv_saturation_t s, __nv_fp8_interpretation_t k) { return heddle_sdk::fp8_round(f, s, k); }
HEDDLE_HD __nv_fp8_storage_t __nv_cvt_double_to_fp8(double d, __nv_saturation_t s, __nv_fp8_interpretation_t k) {
  return heddle_sdk::fp8_round(heddle_sdk::odd_float(d), s, k);
}
HEDDLE_HD __nv_fp8_storage_t __nv_cvt_halfraw_to_fp8(__half_raw h, __nv_saturation_t s, __nv_fp8_interpretation_t k) {
  return heddle_sdk::fp8_round((float)__half(h), s, k);
}
HEDDLE_HD __nv_fp8_storage_t __nv_cvt_bfloat16raw_to_fp8(__nv_bfloat16_raw h, __nv_saturation_t s, __nv_fp8_interpretation_t k) {
  return heddle_sdk::fp8_round((float)__nv_bfloat16(h), s, k);
}
HEDDLE_HD __nv_fp8x2_storage_t __nv_cvt_float2_to_fp8x2(float2 f, __nv_saturation_t s, __nv_fp8_interpretation_t k) {
  return (__nv_fp8x2_storage_t)(heddle_sdk::fp8_round(f.x, s, k) | heddle_sdk::fp8_round(f.y, s, k) << 8);
}
HEDDLE_HD __nv_fp8x2_storage_t __nv_cvt_double2_to_fp8x2(double2 d, __nv_saturation_t s, __nv_fp8_interpretation_t k) {
  return __nv_cvt_float2_to_fp8x2(make_float2(heddle_sdk::odd_float(d.x), heddle_sdk::odd_float(d.y)), s, k);
}
HEDDLE_HD __nv_fp8x2_storage_t __nv_cvt_bfloat16raw2_to_fp8x2(__nv_bfloat162_raw h, __nv_saturation_t s, __nv_fp8_interpretation_t k) {
  return __nv_cvt_float2_to_fp8x2(__bfloat1622float2(__nv_bfloat162(h)), s, k);
}
HEDDLE_HD __nv_fp8x2_storage_t __nv_cvt_halfraw2_to_fp8x2(__half2_raw h, __nv_saturation_t s, __nv_fp8_interpretation_t k) {
  return __nv_cvt_float2_to_fp8x2(__half22float2(__half2(h)), s, k);
}
HEDDLE_HD __half_raw __nv_cvt_fp8_to_halfraw(__nv_fp8_storage_t v, __nv_fp8_interpretation_t k) { return __half(heddle_sdk::fp8_widen(v, k)); }
HEDDLE_HD __half2_raw __nv_cvt_fp8x2_to_halfraw2(__nv_fp8x2_storage_t v, __nv_fp8_interpretation_t k) {
  return __half2(__half(heddle_sdk::fp8_widen((unsigned char)v, k)), __half(heddle_sdk::fp8_widen((unsigned char)(v >> 8), k)));
}

// The type of numbers, and of vectors of two and four. Constructors saturate.
#define HEDDLE_FP8_INTEGER(name, kind, T)                                                                                             \
    explicit __host__ __device__ name(T i) : __x(heddle_sdk::fp8_round(heddle_sdk::odd_float(i), __NV_SATFINITE, kind)) {}            \
    explicit __host__ __device__ operator T() const { return heddle_sdk::fp8_integer<T>((float)*this); }
#define HEDDLE_FP8(name, kind)                                                                                                        \
  struct name {                                                                                                                       \
    __nv_fp8_storage_t __x;                                                                                                           \
    name() = default;                                                                                                                 \
    explicit __host__ __device__ name(float f) : __x(heddle_sdk::fp8_round(f, __NV_SATFINITE, kind)) {}                               \
    explicit __host__ __device__ name(double d) : __x(heddle_sdk::fp8_round(heddle_sdk::odd_float(d), __NV_SATFINITE, kind)) {}       \
    explicit __host__ __device__ name(__half h) : __x(heddle_sdk::fp8_round((float)h, __NV_SATFINITE, kind)) {}                       \
    explicit __host__ __device__ name(__nv_bfloat16 h) : __x(heddle_sdk::fp8_round((float)h, __NV_SATFINITE, kind)) {}                \
    explicit __host__ __device__ operator float() const { return heddle_sdk::fp8_widen(__x, kind); }                                  \
    explicit __host__ __device__ operator double() const { return heddle_sdk::fp8_widen(__x, kind); }                                 \
    explicit __host__ __device__ operator __half() const { return __half(heddle_sdk::fp8_widen(__x, kind)); }                         \
    explicit __host__ __device__ operator __nv_bfloat16() const { return __nv_bfloat16(heddle_sdk::fp8_widen(__x, kind)); }           \
    HEDDLE_FP8_INTEGER(name, kind, short)                                                                                             \
    HEDDLE_FP8_INTEGER(name, kind, unsigned short)                                                                                    \
    HEDDLE_FP8_INTEGER(name, kind, int)                                                                                               \
    HEDDLE_FP8_INTEGER(name, kind, unsigned int)                                                                                      \
    HEDDLE_FP8_INTEGER(name, kind, long)                                                                                              \
    HEDDLE_FP8_INTEGER(name, kind, unsigned long)                                                                                     \
    HEDDLE_FP8_INTEGER(name, kind, long long)                                                                                         \
    HEDDLE_FP8_INTEGER(name, kind, unsigned long long)                                                                                \
    explicit __host__ __device__ operator char() const { return heddle_sdk::fp8_integer<char>((float)*this); }                        \
    explicit __host__ __device__ operator signed char() const { return heddle_sdk::fp8_integer<signed char>((float)*this); }          \
    explicit __host__ __device__ operator unsigned char() const { return heddle_sdk::fp8_integer<unsigned char>((float)*this); }      \
    explicit __host__ __device__ operator bool() const { return (__x & 0x7f) != 0; }                                                  \
  };
#define HEDDLE_FP8_VECTORS(x2, x4, kind)                                                                                              \
  struct __align__(2) x2 {                                                                                                            \
    __nv_fp8x2_storage_t __x;                                                                                                         \
    x2() = default;                                                                                                                   \
    explicit __host__ __device__ x2(float2 f) : __x(__nv_cvt_float2_to_fp8x2(f, __NV_SATFINITE, kind)) {}                             \
    explicit __host__ __device__ x2(double2 d) : __x(__nv_cvt_double2_to_fp8x2(d, __NV_SATFINITE, kind)) {}                           \
    explicit __host__ __device__ x2(__half2 h) : __x(__nv_cvt_halfraw2_to_fp8x2(h, __NV_SATFINITE, kind)) {}                          \
    explicit __host__ __device__ x2(__nv_bfloat162 h) : __x(__nv_cvt_bfloat16raw2_to_fp8x2(h, __NV_SATFINITE, kind)) {}               \
    explicit __host__ __device__ operator float2() const {                                                                            \
      return make_float2(heddle_sdk::fp8_widen((unsigned char)__x, kind), heddle_sdk::fp8_widen((unsigned char)(__x >> 8), kind));    \
    }                                                                                                                                 \
    explicit __host__ __device__ operator __half2() const { return __half2(__nv_cvt_fp8x2_to_halfraw2(__x, kind)); }                  \
  };                                                                                                                                  \
  struct __align__(4) x4 {                                                                                                            \
    __nv_fp8x4_storage_t __x;                                                                                                         \
    x4() = default;                                                                                                                   \
    explicit __host__ __device__ x4(float4 f) : x4(x2(make_float2(f.x, f.y)), x2(make_float2(f.z, f.w))) {}                           \
    explicit __host__ __device__ x4(double4 d) : x4(x2(make_double2(d.x, d.y)), x2(make_double2(d.z, d.w))) {}                        \
    explicit __host__ __device__ x4(__half2 low, __half2 high) : x4(x2(low), x2(high)) {}                                             \
    explicit __host__ __device__ x4(__nv_bfloat162 low, __nv_bfloat162 high) : x4(x2(low), x2(high)) {}                               \
    explicit __host__ __device__ operator float4() const {                                                                            \
      return make_float4(heddle_sdk::fp8_widen((unsigned char)__x, kind), heddle_sdk::fp8_widen((unsigned char)(__x >> 8), kind),     \
                         heddle_sdk::fp8_widen((unsigned char)(__x >> 16), kind), heddle_sdk::fp8_widen((unsigned char)(__x >> 24), kind)); \
    }                                                                                                                                 \
                                                                                                                                      \
   private:                                                                                                                           \
    __host__ __device__ x4(x2 low, x2 high) : __x(low.__x | (unsigned int)high.__x << 16) {}                                          \
  };
HEDDLE_FP8(__nv_fp8_e4m3, __NV_E4M3)
HEDDLE_FP8_VECTORS(__nv_fp8x2_e4m3, __nv_fp8x4_e4m3, __NV_E4M3)
HEDDLE_FP8(__nv_fp8_e5m2, __NV_E5M2)
HEDDLE_FP8_VECTORS(__nv_fp8x2_e5m2, __nv_fp8x4_e5m2, __NV_E5M2)
#undef HEDDLE_FP8
#undef HEDDLE_FP8_INTEGER
#undef HEDDLE_FP8_VECTORS
#undef HEDDLE_HD

#endif
