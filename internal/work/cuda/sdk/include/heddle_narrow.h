// Numbers of 8, 6 and 4 bits: sign, exponent, fraction, in a byte each, and vectors of two and four. The formats differ in these
// and in what their largest codes mean; cuda_fp8.h, cuda_fp6.h and cuda_fp4.h have them.
#ifndef HEDDLE_NARROW_H
#define HEDDLE_NARROW_H

#include "cuda_bf16.h"
#include "cuda_fp16.h"

#ifdef __clang__
#define HEDDLE_HD static __inline__ __host__ __device__ __attribute__((always_inline, nodebug))
#else // of the host, which knows no nodebug
#define HEDDLE_HD static __inline__ __host__ __device__ __attribute__((always_inline))
#endif

namespace heddle_sdk {
// The size of a number from its bits without the sign, for numbers that are neither infinite nor NaN.
HEDDLE_HD float narrow_value(unsigned int size, int fraction, int bias) {
  unsigned int e = size >> fraction, m = size & ((1u << fraction) - 1);
  if (e == 0) return (float)m * bits_float((unsigned int)(128 - bias - fraction) << 23);
  return bits_float((e + 127 - bias) << 23 | m << (23 - fraction));
}
// The bits of the nearest size, ties to even, as if exponents went on upwards; f is not NaN.
HEDDLE_HD unsigned int narrow_size(float f, int fraction, int bias) {
  unsigned int u = float_bits(f) & 0x7fffffffu;
  int e = (int)(u >> 23) - 127, low = 1 - bias; // the exponent below which numbers are equally spaced
  int drop = 23 - fraction + (e < low ? low - e : 0);
  if (drop > 25) return 0;
  unsigned int m = (u & 0x7fffffu) | 0x800000u, half = 1u << (drop - 1), rest = m & (2 * half - 1), r = m >> drop;
  if (rest > half || (rest == half && (r & 1))) r++;
  return e >= low ? r + ((unsigned int)(e + bias - 1) << fraction) : r;
}
// Rounds towards zero; values out of range are clamped.
template <class T> HEDDLE_HD T narrow_integer(float f) {
  const bool is_signed = (T)-1 < (T)0;
  const T high = is_signed ? (T)(((T)1 << (sizeof(T) * 8 - 2)) - 1 + ((T)1 << (sizeof(T) * 8 - 2))) : (T)-1, low = is_signed ? (T)(-high - 1) : (T)0;
  return f != f ? not_integer<T>() : f >= (float)high ? high : f <= (float)low ? low : (T)f;
}
} // namespace heddle_sdk

// Defines the conversions of a format, given round(float) and widen(bits), with arguments after the value: params with their types, and
// args. bits is the distance of two numbers in a vector, raw the name in functions.
#define HEDDLE_NARROW_CONVERSIONS(raw, storage, storage2, bits, params, args, back_params, back_args, round, widen)                   \
  HEDDLE_HD storage __nv_cvt_float_to_##raw(float f, HEDDLE_ARGS params) { return (storage)round(f, HEDDLE_ARGS args); }              \
  HEDDLE_HD storage __nv_cvt_double_to_##raw(double d, HEDDLE_ARGS params) {                                                          \
    return (storage)round(heddle_sdk::odd_float(d), HEDDLE_ARGS args);                                                                \
  }                                                                                                                                   \
  HEDDLE_HD storage __nv_cvt_halfraw_to_##raw(__half_raw h, HEDDLE_ARGS params) { return (storage)round((float)__half(h), HEDDLE_ARGS args); } \
  HEDDLE_HD storage __nv_cvt_bfloat16raw_to_##raw(__nv_bfloat16_raw h, HEDDLE_ARGS params) {                                          \
    return (storage)round((float)__nv_bfloat16(h), HEDDLE_ARGS args);                                                                 \
  }                                                                                                                                   \
  HEDDLE_HD storage2 __nv_cvt_float2_to_##raw##x2(float2 f, HEDDLE_ARGS params) {                                                     \
    return (storage2)(round(f.x, HEDDLE_ARGS args) | round(f.y, HEDDLE_ARGS args) << bits);                                           \
  }                                                                                                                                   \
  HEDDLE_HD storage2 __nv_cvt_double2_to_##raw##x2(double2 d, HEDDLE_ARGS params) {                                                   \
    return __nv_cvt_float2_to_##raw##x2(make_float2(heddle_sdk::odd_float(d.x), heddle_sdk::odd_float(d.y)), HEDDLE_ARGS args);       \
  }                                                                                                                                   \
  HEDDLE_HD storage2 __nv_cvt_halfraw2_to_##raw##x2(__half2_raw h, HEDDLE_ARGS params) {                                              \
    return __nv_cvt_float2_to_##raw##x2(__half22float2(__half2(h)), HEDDLE_ARGS args);                                                \
  }                                                                                                                                   \
  HEDDLE_HD storage2 __nv_cvt_bfloat16raw2_to_##raw##x2(__nv_bfloat162_raw h, HEDDLE_ARGS params) {                                   \
    return __nv_cvt_float2_to_##raw##x2(__bfloat1622float2(__nv_bfloat162(h)), HEDDLE_ARGS args);                                     \
  }                                                                                                                                   \
  HEDDLE_HD __half_raw __nv_cvt_##raw##_to_halfraw(storage v, HEDDLE_ARGS back_params) { return __half(widen(v, HEDDLE_ARGS back_args)); } \
  HEDDLE_HD __half2_raw __nv_cvt_##raw##x2_to_halfraw2(storage2 v, HEDDLE_ARGS back_params) {                                         \
    return __half2(__half(widen((storage)(v & ((1 << bits) - 1)), HEDDLE_ARGS back_args)), __half(widen((storage)(v >> bits), HEDDLE_ARGS back_args))); \
  }
#define HEDDLE_ARGS(...) __VA_ARGS__

// Defines the type of numbers, and of vectors of two and four. Constructors saturate. nonzero is an expression of the bits, __x.
#define HEDDLE_NARROW_INTEGER(name, T, round)                                                                                         \
    explicit __host__ __device__ name(T i) : __x(round(heddle_sdk::odd_float(i))) {}                                                  \
    explicit __host__ __device__ operator T() const { return heddle_sdk::narrow_integer<T>((float)*this); }
#define HEDDLE_NARROW(name, storage, nonzero, round, widen)                                                                           \
  struct name {                                                                                                                       \
    storage __x;                                                                                                                      \
    name() = default;                                                                                                                 \
    explicit __host__ __device__ name(float f) : __x(round(f)) {}                                                                     \
    explicit __host__ __device__ name(double d) : __x(round(heddle_sdk::odd_float(d))) {}                                             \
    explicit __host__ __device__ name(__half h) : __x(round((float)h)) {}                                                             \
    explicit __host__ __device__ name(__nv_bfloat16 h) : __x(round((float)h)) {}                                                      \
    explicit __host__ __device__ operator float() const { return widen(__x); }                                                        \
    explicit __host__ __device__ operator double() const { return widen(__x); }                                                       \
    explicit __host__ __device__ operator __half() const { return __half(widen(__x)); }                                               \
    explicit __host__ __device__ operator __nv_bfloat16() const { return __nv_bfloat16(widen(__x)); }                                 \
    HEDDLE_NARROW_INTEGER(name, short, round)                                                                                         \
    HEDDLE_NARROW_INTEGER(name, unsigned short, round)                                                                                \
    HEDDLE_NARROW_INTEGER(name, int, round)                                                                                           \
    HEDDLE_NARROW_INTEGER(name, unsigned int, round)                                                                                  \
    HEDDLE_NARROW_INTEGER(name, long, round)                                                                                          \
    HEDDLE_NARROW_INTEGER(name, unsigned long, round)                                                                                 \
    HEDDLE_NARROW_INTEGER(name, long long, round)                                                                                     \
    HEDDLE_NARROW_INTEGER(name, unsigned long long, round)                                                                            \
    explicit __host__ __device__ operator char() const { return heddle_sdk::narrow_integer<char>((float)*this); }                     \
    explicit __host__ __device__ operator signed char() const { return heddle_sdk::narrow_integer<signed char>((float)*this); }       \
    explicit __host__ __device__ operator unsigned char() const { return heddle_sdk::narrow_integer<unsigned char>((float)*this); }   \
    explicit __host__ __device__ operator bool() const { return nonzero; }                                                            \
  };
#define HEDDLE_NARROW_VECTORS(x2, x4, storage2, storage4, bits, round, widen)                                                         \
  struct __align__(sizeof(storage2)) x2 {                                                                                             \
    storage2 __x;                                                                                                                     \
    x2() = default;                                                                                                                   \
    explicit __host__ __device__ x2(float2 f) : __x((storage2)(round(f.x) | round(f.y) << bits)) {}                                   \
    explicit __host__ __device__ x2(double2 d) : x2(make_float2(heddle_sdk::odd_float(d.x), heddle_sdk::odd_float(d.y))) {}           \
    explicit __host__ __device__ x2(__half2 h) : x2(__half22float2(h)) {}                                                             \
    explicit __host__ __device__ x2(__nv_bfloat162 h) : x2(__bfloat1622float2(h)) {}                                                  \
    explicit __host__ __device__ operator float2() const {                                                                            \
      return make_float2(widen((unsigned char)(__x & ((1 << bits) - 1))), widen((unsigned char)(__x >> bits)));                       \
    }                                                                                                                                 \
    explicit __host__ __device__ operator __half2() const { return __float22half2_rn((float2)*this); }                                \
    explicit __host__ __device__ operator __nv_bfloat162() const { return __float22bfloat162_rn((float2)*this); }                     \
  };                                                                                                                                  \
  struct __align__(sizeof(storage4)) x4 {                                                                                             \
    storage4 __x;                                                                                                                     \
    x4() = default;                                                                                                                   \
    explicit __host__ __device__ x4(float4 f) : x4(x2(make_float2(f.x, f.y)), x2(make_float2(f.z, f.w))) {}                           \
    explicit __host__ __device__ x4(double4 d) : x4(x2(make_double2(d.x, d.y)), x2(make_double2(d.z, d.w))) {}                        \
    explicit __host__ __device__ x4(__half2 low, __half2 high) : x4(x2(low), x2(high)) {}                                             \
    explicit __host__ __device__ x4(__nv_bfloat162 low, __nv_bfloat162 high) : x4(x2(low), x2(high)) {}                               \
    explicit __host__ __device__ operator float4() const {                                                                            \
      x2 low, high;                                                                                                                   \
      low.__x = (storage2)__x;                                                                                                        \
      high.__x = (storage2)(__x >> 2 * bits);                                                                                         \
      float2 a = (float2)low, b = (float2)high;                                                                                       \
      return make_float4(a.x, a.y, b.x, b.y);                                                                                         \
    }                                                                                                                                 \
                                                                                                                                      \
   private:                                                                                                                           \
    __host__ __device__ x4(x2 low, x2 high) : __x((storage4)(low.__x | (unsigned int)high.__x << 2 * bits)) {}                        \
  };

#undef HEDDLE_HD

#endif
