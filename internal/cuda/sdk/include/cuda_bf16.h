// bfloat16: numbers, pairs of them, and their arithmetic. Host code has the
// conversions and, through float, the same results.
#ifndef HEDDLE_CUDA_BF16_H
#define HEDDLE_CUDA_BF16_H
// Programs ask by this name whether the header was included.
#define __CUDA_BF16_H__

#include "cuda_runtime.h"

#define HEDDLE_HD static __inline__ __attribute__((host, device, always_inline))
#define HEDDLE_D static __inline__ __attribute__((device, always_inline))

struct __nv_bfloat16_raw { unsigned short x; };
struct __nv_bfloat162_raw { unsigned short x, y; };

namespace heddle_sdk {
HEDDLE_HD unsigned int bf16_bits(float f) { return __builtin_bit_cast(unsigned int, f); }
HEDDLE_HD float bf16_float(unsigned int u) { return __builtin_bit_cast(float, u); }
// To the nearest bfloat16, ties to even.
HEDDLE_HD unsigned short bf16_round(float f) {
  unsigned int u = bf16_bits(f);
  if ((u & 0x7fffffffu) > 0x7f800000u) return (unsigned short)0x7fff;
  return (unsigned short)((u + 0x7fffu + (u >> 16 & 1)) >> 16);
}
HEDDLE_HD float bf16_widen(unsigned short h) { return bf16_float((unsigned int)h << 16); }
} // namespace heddle_sdk

struct __align__(2) __nv_bfloat16 {
  unsigned short __x;
  __nv_bfloat16() = default;
  __host__ __device__ constexpr __nv_bfloat16(const __nv_bfloat16_raw &r) : __x(r.x) {}
  __host__ __device__ __nv_bfloat16(float f) : __x(heddle_sdk::bf16_round(f)) {}
  __host__ __device__ __nv_bfloat16(double f) : __x(heddle_sdk::bf16_round((float)f)) {}
  __host__ __device__ __nv_bfloat16(int i) : __x(heddle_sdk::bf16_round((float)i)) {}
  __host__ __device__ __nv_bfloat16(unsigned int i) : __x(heddle_sdk::bf16_round((float)i)) {}
  __host__ __device__ __nv_bfloat16(short i) : __x(heddle_sdk::bf16_round((float)i)) {}
  __host__ __device__ __nv_bfloat16(unsigned short i) : __x(heddle_sdk::bf16_round((float)i)) {}
  __host__ __device__ __nv_bfloat16(long long i) : __x(heddle_sdk::bf16_round((float)i)) {}
  __host__ __device__ __nv_bfloat16(unsigned long long i) : __x(heddle_sdk::bf16_round((float)i)) {}
  __host__ __device__ operator float() const { return heddle_sdk::bf16_widen(__x); }
  __host__ __device__ operator __nv_bfloat16_raw() const { __nv_bfloat16_raw r = {__x}; return r; }
};
struct __align__(4) __nv_bfloat162 {
  __nv_bfloat16 x, y;
  __nv_bfloat162() = default;
  __host__ __device__ __nv_bfloat162(const __nv_bfloat16 &a, const __nv_bfloat16 &b) : x(a), y(b) {}
};
typedef __nv_bfloat16 nv_bfloat16;
typedef __nv_bfloat162 nv_bfloat162;
#define CUDART_INF_BF16 __ushort_as_bfloat16((unsigned short)0x7f80)
#define CUDART_NAN_BF16 __ushort_as_bfloat16((unsigned short)0x7fff)
#define CUDART_ZERO_BF16 __ushort_as_bfloat16((unsigned short)0)
#define CUDART_ONE_BF16 __ushort_as_bfloat16((unsigned short)0x3f80)

HEDDLE_HD __nv_bfloat16 __ushort_as_bfloat16(unsigned short u) { __nv_bfloat16_raw r = {u}; return __nv_bfloat16(r); }
HEDDLE_HD __nv_bfloat16 __short_as_bfloat16(short u) { return __ushort_as_bfloat16((unsigned short)u); }
HEDDLE_HD unsigned short __bfloat16_as_ushort(__nv_bfloat16 a) { return a.__x; }
HEDDLE_HD short __bfloat16_as_short(__nv_bfloat16 a) { return (short)a.__x; }
HEDDLE_HD __nv_bfloat16 __float2bfloat16(float f) { return __nv_bfloat16(f); }
HEDDLE_HD __nv_bfloat16 __float2bfloat16_rn(float f) { return __nv_bfloat16(f); }
HEDDLE_HD __nv_bfloat16 __double2bfloat16(double f) { return __nv_bfloat16((float)f); }
HEDDLE_HD float __bfloat162float(__nv_bfloat16 a) { return (float)a; }
HEDDLE_HD __nv_bfloat162 __bfloat16s2bfloat162(__nv_bfloat16 a, __nv_bfloat16 b) { return __nv_bfloat162(a, b); }
HEDDLE_HD __nv_bfloat162 __bfloat162bfloat162(__nv_bfloat16 a) { return __nv_bfloat162(a, a); }
HEDDLE_HD __nv_bfloat162 __float2bfloat162_rn(float f) { return __nv_bfloat162(__nv_bfloat16(f), __nv_bfloat16(f)); }
HEDDLE_HD __nv_bfloat162 __floats2bfloat162_rn(float a, float b) { return __nv_bfloat162(__nv_bfloat16(a), __nv_bfloat16(b)); }
HEDDLE_HD __nv_bfloat162 __float22bfloat162_rn(float2 f) { return __nv_bfloat162(__nv_bfloat16(f.x), __nv_bfloat16(f.y)); }
HEDDLE_HD float2 __bfloat1622float2(__nv_bfloat162 a) { return make_float2((float)a.x, (float)a.y); }
HEDDLE_HD __nv_bfloat16 __low2bfloat16(__nv_bfloat162 a) { return a.x; }
HEDDLE_HD __nv_bfloat16 __high2bfloat16(__nv_bfloat162 a) { return a.y; }
HEDDLE_HD float __low2float(__nv_bfloat162 a) { return (float)a.x; }
HEDDLE_HD float __high2float(__nv_bfloat162 a) { return (float)a.y; }
HEDDLE_HD __nv_bfloat162 __low2bfloat162(__nv_bfloat162 a) { return __nv_bfloat162(a.x, a.x); }
HEDDLE_HD __nv_bfloat162 __high2bfloat162(__nv_bfloat162 a) { return __nv_bfloat162(a.y, a.y); }
HEDDLE_HD __nv_bfloat162 __lows2bfloat162(__nv_bfloat162 a, __nv_bfloat162 b) { return __nv_bfloat162(a.x, b.x); }
HEDDLE_HD __nv_bfloat162 __highs2bfloat162(__nv_bfloat162 a, __nv_bfloat162 b) { return __nv_bfloat162(a.y, b.y); }
HEDDLE_HD __nv_bfloat162 __lowhigh2highlow(__nv_bfloat162 a) { return __nv_bfloat162(a.y, a.x); }
HEDDLE_HD __nv_bfloat162 make_bfloat162(__nv_bfloat16 a, __nv_bfloat16 b) { return __nv_bfloat162(a, b); }
HEDDLE_HD int __bfloat162int_rn(__nv_bfloat16 a) { return (int)rintf((float)a); }
HEDDLE_HD int __bfloat162int_rz(__nv_bfloat16 a) { return (int)(float)a; }
HEDDLE_HD unsigned int __bfloat162uint_rz(__nv_bfloat16 a) { return (unsigned int)(float)a; }
HEDDLE_HD __nv_bfloat16 __int2bfloat16_rn(int i) { return __nv_bfloat16(i); }
HEDDLE_HD __nv_bfloat16 __uint2bfloat16_rn(unsigned int i) { return __nv_bfloat16(i); }

namespace heddle_sdk {
HEDDLE_HD __nv_bfloat16 of_bits_bf16(unsigned short u) { return __ushort_as_bfloat16(u); }
HEDDLE_HD __nv_bfloat162 pair_bf16(unsigned int u) { return __builtin_bit_cast(__nv_bfloat162, u); }
HEDDLE_HD unsigned int word_bf16(__nv_bfloat162 a) { return __builtin_bit_cast(unsigned int, a); }
}

// One rounding each: float holds sums, products and quotients well enough that
// rounding twice changes nothing.
HEDDLE_HD __nv_bfloat16 __hfma(__nv_bfloat16 a, __nv_bfloat16 b, __nv_bfloat16 c) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  unsigned short d;
  asm("fma.rn.bf16 %0, %1, %2, %3;" : "=h"(d) : "h"(a.__x), "h"(b.__x), "h"(c.__x));
  return heddle_sdk::of_bits_bf16(d);
#else
  return __nv_bfloat16((float)((double)(float)a * (float)b + (double)(float)c));
#endif
}
HEDDLE_HD __nv_bfloat162 __hfma2(__nv_bfloat162 a, __nv_bfloat162 b, __nv_bfloat162 c) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  unsigned int d;
  asm("fma.rn.bf16x2 %0, %1, %2, %3;" : "=r"(d) : "r"(heddle_sdk::word_bf16(a)), "r"(heddle_sdk::word_bf16(b)), "r"(heddle_sdk::word_bf16(c)));
  return heddle_sdk::pair_bf16(d);
#else
  return __nv_bfloat162(__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y));
#endif
}
HEDDLE_HD __nv_bfloat16 __hadd(__nv_bfloat16 a, __nv_bfloat16 b) { return __nv_bfloat16((float)a + (float)b); }
HEDDLE_HD __nv_bfloat162 __hadd2(__nv_bfloat162 a, __nv_bfloat162 b) { return __nv_bfloat162(__hadd(a.x, b.x), __hadd(a.y, b.y)); }
HEDDLE_HD __nv_bfloat16 __hsub(__nv_bfloat16 a, __nv_bfloat16 b) { return __nv_bfloat16((float)a - (float)b); }
HEDDLE_HD __nv_bfloat162 __hsub2(__nv_bfloat162 a, __nv_bfloat162 b) { return __nv_bfloat162(__hsub(a.x, b.x), __hsub(a.y, b.y)); }
HEDDLE_HD __nv_bfloat16 __hmul(__nv_bfloat16 a, __nv_bfloat16 b) { return __nv_bfloat16((float)a * (float)b); }
HEDDLE_HD __nv_bfloat162 __hmul2(__nv_bfloat162 a, __nv_bfloat162 b) { return __nv_bfloat162(__hmul(a.x, b.x), __hmul(a.y, b.y)); }
HEDDLE_HD __nv_bfloat16 __hdiv(__nv_bfloat16 a, __nv_bfloat16 b) { return __nv_bfloat16((float)a / (float)b); }
HEDDLE_HD __nv_bfloat162 __h2div(__nv_bfloat162 a, __nv_bfloat162 b) { return __nv_bfloat162(__hdiv(a.x, b.x), __hdiv(a.y, b.y)); }
HEDDLE_HD __nv_bfloat16 __hneg(__nv_bfloat16 a) { return heddle_sdk::of_bits_bf16((unsigned short)(a.__x ^ 0x8000u)); }
HEDDLE_HD __nv_bfloat162 __hneg2(__nv_bfloat162 a) { return __nv_bfloat162(__hneg(a.x), __hneg(a.y)); }
HEDDLE_HD __nv_bfloat16 __habs(__nv_bfloat16 a) { return heddle_sdk::of_bits_bf16((unsigned short)(a.__x & 0x7fffu)); }
HEDDLE_HD __nv_bfloat162 __habs2(__nv_bfloat162 a) { return __nv_bfloat162(__habs(a.x), __habs(a.y)); }
HEDDLE_HD bool __hisnan(__nv_bfloat16 a) { return (float)a != (float)a; }
HEDDLE_HD int __hisinf(__nv_bfloat16 a) { return (a.__x & 0x7fffu) == 0x7f80u ? (a.__x & 0x8000u ? -1 : 1) : 0; }
HEDDLE_HD __nv_bfloat16 __hmax(__nv_bfloat16 a, __nv_bfloat16 b) { return __hisnan(a) ? b : __hisnan(b) || (float)a > (float)b ? a : b; }
HEDDLE_HD __nv_bfloat16 __hmin(__nv_bfloat16 a, __nv_bfloat16 b) { return __hisnan(a) ? b : __hisnan(b) || (float)a < (float)b ? a : b; }
HEDDLE_HD __nv_bfloat162 __hmax2(__nv_bfloat162 a, __nv_bfloat162 b) { return __nv_bfloat162(__hmax(a.x, b.x), __hmax(a.y, b.y)); }
HEDDLE_HD __nv_bfloat162 __hmin2(__nv_bfloat162 a, __nv_bfloat162 b) { return __nv_bfloat162(__hmin(a.x, b.x), __hmin(a.y, b.y)); }
HEDDLE_HD bool __heq(__nv_bfloat16 a, __nv_bfloat16 b) { return (float)a == (float)b; }
HEDDLE_HD __nv_bfloat162 __heq2(__nv_bfloat162 a, __nv_bfloat162 b) { return __nv_bfloat162(__nv_bfloat16(__heq(a.x, b.x) ? 1.0f : 0.0f), __nv_bfloat16(__heq(a.y, b.y) ? 1.0f : 0.0f)); }
HEDDLE_HD bool __hbeq2(__nv_bfloat162 a, __nv_bfloat162 b) { return __heq(a.x, b.x) && __heq(a.y, b.y); }
HEDDLE_HD bool operator==(const __nv_bfloat16 &a, const __nv_bfloat16 &b) { return (float)a == (float)b; }
HEDDLE_HD bool __hne(__nv_bfloat16 a, __nv_bfloat16 b) { return (float)a != (float)b; }
HEDDLE_HD __nv_bfloat162 __hne2(__nv_bfloat162 a, __nv_bfloat162 b) { return __nv_bfloat162(__nv_bfloat16(__hne(a.x, b.x) ? 1.0f : 0.0f), __nv_bfloat16(__hne(a.y, b.y) ? 1.0f : 0.0f)); }
HEDDLE_HD bool __hbne2(__nv_bfloat162 a, __nv_bfloat162 b) { return __hne(a.x, b.x) && __hne(a.y, b.y); }
HEDDLE_HD bool operator!=(const __nv_bfloat16 &a, const __nv_bfloat16 &b) { return (float)a != (float)b; }
HEDDLE_HD bool __hlt(__nv_bfloat16 a, __nv_bfloat16 b) { return (float)a < (float)b; }
HEDDLE_HD __nv_bfloat162 __hlt2(__nv_bfloat162 a, __nv_bfloat162 b) { return __nv_bfloat162(__nv_bfloat16(__hlt(a.x, b.x) ? 1.0f : 0.0f), __nv_bfloat16(__hlt(a.y, b.y) ? 1.0f : 0.0f)); }
HEDDLE_HD bool __hblt2(__nv_bfloat162 a, __nv_bfloat162 b) { return __hlt(a.x, b.x) && __hlt(a.y, b.y); }
HEDDLE_HD bool operator<(const __nv_bfloat16 &a, const __nv_bfloat16 &b) { return (float)a < (float)b; }
HEDDLE_HD bool __hle(__nv_bfloat16 a, __nv_bfloat16 b) { return (float)a <= (float)b; }
HEDDLE_HD __nv_bfloat162 __hle2(__nv_bfloat162 a, __nv_bfloat162 b) { return __nv_bfloat162(__nv_bfloat16(__hle(a.x, b.x) ? 1.0f : 0.0f), __nv_bfloat16(__hle(a.y, b.y) ? 1.0f : 0.0f)); }
HEDDLE_HD bool __hble2(__nv_bfloat162 a, __nv_bfloat162 b) { return __hle(a.x, b.x) && __hle(a.y, b.y); }
HEDDLE_HD bool operator<=(const __nv_bfloat16 &a, const __nv_bfloat16 &b) { return (float)a <= (float)b; }
HEDDLE_HD bool __hgt(__nv_bfloat16 a, __nv_bfloat16 b) { return (float)a > (float)b; }
HEDDLE_HD __nv_bfloat162 __hgt2(__nv_bfloat162 a, __nv_bfloat162 b) { return __nv_bfloat162(__nv_bfloat16(__hgt(a.x, b.x) ? 1.0f : 0.0f), __nv_bfloat16(__hgt(a.y, b.y) ? 1.0f : 0.0f)); }
HEDDLE_HD bool __hbgt2(__nv_bfloat162 a, __nv_bfloat162 b) { return __hgt(a.x, b.x) && __hgt(a.y, b.y); }
HEDDLE_HD bool operator>(const __nv_bfloat16 &a, const __nv_bfloat16 &b) { return (float)a > (float)b; }
HEDDLE_HD bool __hge(__nv_bfloat16 a, __nv_bfloat16 b) { return (float)a >= (float)b; }
HEDDLE_HD __nv_bfloat162 __hge2(__nv_bfloat162 a, __nv_bfloat162 b) { return __nv_bfloat162(__nv_bfloat16(__hge(a.x, b.x) ? 1.0f : 0.0f), __nv_bfloat16(__hge(a.y, b.y) ? 1.0f : 0.0f)); }
HEDDLE_HD bool __hbge2(__nv_bfloat162 a, __nv_bfloat162 b) { return __hge(a.x, b.x) && __hge(a.y, b.y); }
HEDDLE_HD bool operator>=(const __nv_bfloat16 &a, const __nv_bfloat16 &b) { return (float)a >= (float)b; }
HEDDLE_HD __nv_bfloat16 operator+(const __nv_bfloat16 &a, const __nv_bfloat16 &b) { return __hadd(a, b); }
HEDDLE_HD __nv_bfloat162 operator+(const __nv_bfloat162 &a, const __nv_bfloat162 &b) { return __hadd2(a, b); }
HEDDLE_HD __nv_bfloat16 &operator+=(__nv_bfloat16 &a, const __nv_bfloat16 &b) { return a = __hadd(a, b); }
HEDDLE_HD __nv_bfloat162 &operator+=(__nv_bfloat162 &a, const __nv_bfloat162 &b) { return a = __hadd2(a, b); }
HEDDLE_HD __nv_bfloat16 operator-(const __nv_bfloat16 &a, const __nv_bfloat16 &b) { return __hsub(a, b); }
HEDDLE_HD __nv_bfloat162 operator-(const __nv_bfloat162 &a, const __nv_bfloat162 &b) { return __hsub2(a, b); }
HEDDLE_HD __nv_bfloat16 &operator-=(__nv_bfloat16 &a, const __nv_bfloat16 &b) { return a = __hsub(a, b); }
HEDDLE_HD __nv_bfloat162 &operator-=(__nv_bfloat162 &a, const __nv_bfloat162 &b) { return a = __hsub2(a, b); }
HEDDLE_HD __nv_bfloat16 operator*(const __nv_bfloat16 &a, const __nv_bfloat16 &b) { return __hmul(a, b); }
HEDDLE_HD __nv_bfloat162 operator*(const __nv_bfloat162 &a, const __nv_bfloat162 &b) { return __hmul2(a, b); }
HEDDLE_HD __nv_bfloat16 &operator*=(__nv_bfloat16 &a, const __nv_bfloat16 &b) { return a = __hmul(a, b); }
HEDDLE_HD __nv_bfloat162 &operator*=(__nv_bfloat162 &a, const __nv_bfloat162 &b) { return a = __hmul2(a, b); }
HEDDLE_HD __nv_bfloat16 operator/(const __nv_bfloat16 &a, const __nv_bfloat16 &b) { return __hdiv(a, b); }
HEDDLE_HD __nv_bfloat16 &operator/=(__nv_bfloat16 &a, const __nv_bfloat16 &b) { return a = __hdiv(a, b); }
HEDDLE_HD __nv_bfloat162 operator/(const __nv_bfloat162 &a, const __nv_bfloat162 &b) { return __h2div(a, b); }
HEDDLE_HD __nv_bfloat16 operator-(const __nv_bfloat16 &a) { return __hneg(a); }
HEDDLE_HD __nv_bfloat162 operator-(const __nv_bfloat162 &a) { return __hneg2(a); }
HEDDLE_D __nv_bfloat16 hsqrt(__nv_bfloat16 a) { return __nv_bfloat16(sqrtf((float)a)); }
HEDDLE_D __nv_bfloat162 h2sqrt(__nv_bfloat162 a) { return __nv_bfloat162(hsqrt(a.x), hsqrt(a.y)); }
HEDDLE_D __nv_bfloat16 hrsqrt(__nv_bfloat16 a) { return __nv_bfloat16(rsqrtf((float)a)); }
HEDDLE_D __nv_bfloat162 h2rsqrt(__nv_bfloat162 a) { return __nv_bfloat162(hrsqrt(a.x), hrsqrt(a.y)); }
HEDDLE_D __nv_bfloat16 hexp(__nv_bfloat16 a) { return __nv_bfloat16(expf((float)a)); }
HEDDLE_D __nv_bfloat162 h2exp(__nv_bfloat162 a) { return __nv_bfloat162(hexp(a.x), hexp(a.y)); }
HEDDLE_D __nv_bfloat16 hexp2(__nv_bfloat16 a) { return __nv_bfloat16(exp2f((float)a)); }
HEDDLE_D __nv_bfloat162 h2exp2(__nv_bfloat162 a) { return __nv_bfloat162(hexp2(a.x), hexp2(a.y)); }
HEDDLE_D __nv_bfloat16 hexp10(__nv_bfloat16 a) { return __nv_bfloat16(exp10f((float)a)); }
HEDDLE_D __nv_bfloat162 h2exp10(__nv_bfloat162 a) { return __nv_bfloat162(hexp10(a.x), hexp10(a.y)); }
HEDDLE_D __nv_bfloat16 hlog(__nv_bfloat16 a) { return __nv_bfloat16(logf((float)a)); }
HEDDLE_D __nv_bfloat162 h2log(__nv_bfloat162 a) { return __nv_bfloat162(hlog(a.x), hlog(a.y)); }
HEDDLE_D __nv_bfloat16 hlog2(__nv_bfloat16 a) { return __nv_bfloat16(log2f((float)a)); }
HEDDLE_D __nv_bfloat162 h2log2(__nv_bfloat162 a) { return __nv_bfloat162(hlog2(a.x), hlog2(a.y)); }
HEDDLE_D __nv_bfloat16 hlog10(__nv_bfloat16 a) { return __nv_bfloat16(log10f((float)a)); }
HEDDLE_D __nv_bfloat162 h2log10(__nv_bfloat162 a) { return __nv_bfloat162(hlog10(a.x), hlog10(a.y)); }
HEDDLE_D __nv_bfloat16 hsin(__nv_bfloat16 a) { return __nv_bfloat16(sinf((float)a)); }
HEDDLE_D __nv_bfloat162 h2sin(__nv_bfloat162 a) { return __nv_bfloat162(hsin(a.x), hsin(a.y)); }
HEDDLE_D __nv_bfloat16 hcos(__nv_bfloat16 a) { return __nv_bfloat16(cosf((float)a)); }
HEDDLE_D __nv_bfloat162 h2cos(__nv_bfloat162 a) { return __nv_bfloat162(hcos(a.x), hcos(a.y)); }
HEDDLE_D __nv_bfloat16 hfloor(__nv_bfloat16 a) { return __nv_bfloat16(floorf((float)a)); }
HEDDLE_D __nv_bfloat162 h2floor(__nv_bfloat162 a) { return __nv_bfloat162(hfloor(a.x), hfloor(a.y)); }
HEDDLE_D __nv_bfloat16 hceil(__nv_bfloat16 a) { return __nv_bfloat16(ceilf((float)a)); }
HEDDLE_D __nv_bfloat162 h2ceil(__nv_bfloat162 a) { return __nv_bfloat162(hceil(a.x), hceil(a.y)); }
HEDDLE_D __nv_bfloat16 htrunc(__nv_bfloat16 a) { return __nv_bfloat16(truncf((float)a)); }
HEDDLE_D __nv_bfloat162 h2trunc(__nv_bfloat162 a) { return __nv_bfloat162(htrunc(a.x), htrunc(a.y)); }
HEDDLE_D __nv_bfloat16 hrint(__nv_bfloat16 a) { return __nv_bfloat16(rintf((float)a)); }
HEDDLE_D __nv_bfloat162 h2rint(__nv_bfloat162 a) { return __nv_bfloat162(hrint(a.x), hrint(a.y)); }
HEDDLE_D __nv_bfloat16 hrcp(__nv_bfloat16 a) { return __nv_bfloat16(1.0f / (float)a); }
HEDDLE_D __nv_bfloat162 h2rcp(__nv_bfloat162 a) { return __nv_bfloat162(hrcp(a.x), hrcp(a.y)); }
HEDDLE_D __nv_bfloat16 __shfl_sync(unsigned int mask, __nv_bfloat16 v, int d, int width = warpSize) {
  return heddle_sdk::of_bits_bf16((unsigned short)__shfl_sync(mask, (int)v.__x, d, width));
}
HEDDLE_D __nv_bfloat162 __shfl_sync(unsigned int mask, __nv_bfloat162 v, int d, int width = warpSize) {
  return heddle_sdk::pair_bf16((unsigned int)__shfl_sync(mask, (int)heddle_sdk::word_bf16(v), d, width));
}
HEDDLE_D __nv_bfloat16 __shfl_up_sync(unsigned int mask, __nv_bfloat16 v, unsigned int d, int width = warpSize) {
  return heddle_sdk::of_bits_bf16((unsigned short)__shfl_up_sync(mask, (int)v.__x, d, width));
}
HEDDLE_D __nv_bfloat162 __shfl_up_sync(unsigned int mask, __nv_bfloat162 v, unsigned int d, int width = warpSize) {
  return heddle_sdk::pair_bf16((unsigned int)__shfl_up_sync(mask, (int)heddle_sdk::word_bf16(v), d, width));
}
HEDDLE_D __nv_bfloat16 __shfl_down_sync(unsigned int mask, __nv_bfloat16 v, unsigned int d, int width = warpSize) {
  return heddle_sdk::of_bits_bf16((unsigned short)__shfl_down_sync(mask, (int)v.__x, d, width));
}
HEDDLE_D __nv_bfloat162 __shfl_down_sync(unsigned int mask, __nv_bfloat162 v, unsigned int d, int width = warpSize) {
  return heddle_sdk::pair_bf16((unsigned int)__shfl_down_sync(mask, (int)heddle_sdk::word_bf16(v), d, width));
}
HEDDLE_D __nv_bfloat16 __shfl_xor_sync(unsigned int mask, __nv_bfloat16 v, int d, int width = warpSize) {
  return heddle_sdk::of_bits_bf16((unsigned short)__shfl_xor_sync(mask, (int)v.__x, d, width));
}
HEDDLE_D __nv_bfloat162 __shfl_xor_sync(unsigned int mask, __nv_bfloat162 v, int d, int width = warpSize) {
  return heddle_sdk::pair_bf16((unsigned int)__shfl_xor_sync(mask, (int)heddle_sdk::word_bf16(v), d, width));
}
HEDDLE_D __nv_bfloat162 __ldg(const __nv_bfloat162 *p) { return heddle_sdk::pair_bf16(__ldg((const unsigned int *)p)); }
HEDDLE_D __nv_bfloat16 __ldg(const __nv_bfloat16 *p) { return heddle_sdk::of_bits_bf16(__ldg((const unsigned short *)p)); }
HEDDLE_D __nv_bfloat16 atomicAdd(__nv_bfloat16 *p, __nv_bfloat16 v) {
  unsigned short old;
  asm volatile("atom.add.noftz.bf16 %0, [%1], %2;" : "=h"(old) : "l"(p), "h"(v.__x) : "memory");
  return heddle_sdk::of_bits_bf16(old);
}
HEDDLE_D __nv_bfloat162 atomicAdd(__nv_bfloat162 *p, __nv_bfloat162 v) {
  unsigned int old;
  asm volatile("atom.add.noftz.bf16x2 %0, [%1], %2;" : "=r"(old) : "l"(p), "r"(heddle_sdk::word_bf16(v)) : "memory");
  return heddle_sdk::pair_bf16(old);
}

#undef HEDDLE_HD
#undef HEDDLE_D

#endif
