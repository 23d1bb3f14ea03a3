// Half precision: numbers, pairs of them, and their arithmetic. Host code has the
// conversions and, through float, the same results.
#ifndef HEDDLE_CUDA_FP16_H
#define HEDDLE_CUDA_FP16_H
// Programs ask by this name whether the header was included.
#define __CUDA_FP16_H__

#include "cuda_runtime.h"

#define HEDDLE_HD static __inline__ __attribute__((host, device, always_inline))
#define HEDDLE_D static __inline__ __attribute__((device, always_inline))

struct __half_raw { unsigned short x; };
struct __half2_raw { unsigned short x, y; };

namespace heddle_sdk {
HEDDLE_HD unsigned int half_bits(float f) { return __builtin_bit_cast(unsigned int, f); }
HEDDLE_HD float half_float(unsigned int u) { return __builtin_bit_cast(float, u); }
// To the nearest half, ties to even.
HEDDLE_HD unsigned short half_round(float f) {
#if defined(__CUDA_ARCH__)
  unsigned short h;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(h) : "f"(f));
  return h;
#else
  unsigned int u = half_bits(f), sign = u >> 16 & 0x8000u;
  u &= 0x7fffffffu;
  if (u > 0x7f800000u) return (unsigned short)0x7fff;
  if (u >= 0x47800000u) return (unsigned short)(sign | 0x7c00u);
  if (u < 0x38800000u) { // subnormal: in units of 2^-24
    float scaled = half_float(u) * 0x1p24f;
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
  if (e == 31) return half_float(sign | 0x7f800000u | m << 13);
  if (e == 0) return half_float(sign | half_bits((float)m * 0x1p-24f));
  return half_float(sign | (e + 112) << 23 | m << 13);
#endif
}
} // namespace heddle_sdk

struct __align__(2) __half {
  unsigned short __x;
  __half() = default;
  __host__ __device__ constexpr __half(const __half_raw &r) : __x(r.x) {}
  __host__ __device__ __half(float f) : __x(heddle_sdk::half_round(f)) {}
  __host__ __device__ __half(double f) : __x(heddle_sdk::half_round((float)f)) {}
  __host__ __device__ __half(int i) : __x(heddle_sdk::half_round((float)i)) {}
  __host__ __device__ __half(unsigned int i) : __x(heddle_sdk::half_round((float)i)) {}
  __host__ __device__ __half(short i) : __x(heddle_sdk::half_round((float)i)) {}
  __host__ __device__ __half(unsigned short i) : __x(heddle_sdk::half_round((float)i)) {}
  __host__ __device__ __half(long long i) : __x(heddle_sdk::half_round((float)i)) {}
  __host__ __device__ __half(unsigned long long i) : __x(heddle_sdk::half_round((float)i)) {}
  __host__ __device__ operator float() const { return heddle_sdk::half_widen(__x); }
  __host__ __device__ operator __half_raw() const { __half_raw r = {__x}; return r; }
};
struct __align__(4) __half2 {
  __half x, y;
  __half2() = default;
  __host__ __device__ __half2(const __half &a, const __half &b) : x(a), y(b) {}
};
typedef __half half;
typedef __half2 half2;
typedef __half nv_half;
typedef __half2 nv_half2;
#define CUDART_INF_FP16 __ushort_as_half((unsigned short)0x7c00)
#define CUDART_NAN_FP16 __ushort_as_half((unsigned short)0x7fff)
#define CUDART_ZERO_FP16 __ushort_as_half((unsigned short)0)
#define CUDART_ONE_FP16 __ushort_as_half((unsigned short)0x3c00)

HEDDLE_HD __half __ushort_as_half(unsigned short u) { __half_raw r = {u}; return __half(r); }
HEDDLE_HD __half __short_as_half(short u) { return __ushort_as_half((unsigned short)u); }
HEDDLE_HD unsigned short __half_as_ushort(__half a) { return a.__x; }
HEDDLE_HD short __half_as_short(__half a) { return (short)a.__x; }
HEDDLE_HD __half __float2half(float f) { return __half(f); }
HEDDLE_HD __half __float2half_rn(float f) { return __half(f); }
HEDDLE_HD __half __double2half(double f) { return __half((float)f); }
HEDDLE_HD float __half2float(__half a) { return (float)a; }
HEDDLE_HD __half2 __halfs2half2(__half a, __half b) { return __half2(a, b); }
HEDDLE_HD __half2 __half2half2(__half a) { return __half2(a, a); }
HEDDLE_HD __half2 __float2half2_rn(float f) { return __half2(__half(f), __half(f)); }
HEDDLE_HD __half2 __floats2half2_rn(float a, float b) { return __half2(__half(a), __half(b)); }
HEDDLE_HD __half2 __float22half2_rn(float2 f) { return __half2(__half(f.x), __half(f.y)); }
HEDDLE_HD float2 __half22float2(__half2 a) { return make_float2((float)a.x, (float)a.y); }
HEDDLE_HD __half __low2half(__half2 a) { return a.x; }
HEDDLE_HD __half __high2half(__half2 a) { return a.y; }
HEDDLE_HD float __low2float(__half2 a) { return (float)a.x; }
HEDDLE_HD float __high2float(__half2 a) { return (float)a.y; }
HEDDLE_HD __half2 __low2half2(__half2 a) { return __half2(a.x, a.x); }
HEDDLE_HD __half2 __high2half2(__half2 a) { return __half2(a.y, a.y); }
HEDDLE_HD __half2 __lows2half2(__half2 a, __half2 b) { return __half2(a.x, b.x); }
HEDDLE_HD __half2 __highs2half2(__half2 a, __half2 b) { return __half2(a.y, b.y); }
HEDDLE_HD __half2 __lowhigh2highlow(__half2 a) { return __half2(a.y, a.x); }
HEDDLE_HD __half2 make_half2(__half a, __half b) { return __half2(a, b); }
HEDDLE_HD int __half2int_rn(__half a) { return (int)rintf((float)a); }
HEDDLE_HD int __half2int_rz(__half a) { return (int)(float)a; }
HEDDLE_HD unsigned int __half2uint_rz(__half a) { return (unsigned int)(float)a; }
HEDDLE_HD __half __int2half_rn(int i) { return __half(i); }
HEDDLE_HD __half __uint2half_rn(unsigned int i) { return __half(i); }

namespace heddle_sdk {
HEDDLE_HD __half of_bits_half(unsigned short u) { return __ushort_as_half(u); }
HEDDLE_HD __half2 pair_half(unsigned int u) { return __builtin_bit_cast(__half2, u); }
HEDDLE_HD unsigned int word_half(__half2 a) { return __builtin_bit_cast(unsigned int, a); }
}

// One rounding each: float holds sums, products and quotients well enough that
// rounding twice changes nothing.
HEDDLE_HD __half __hfma(__half a, __half b, __half c) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 530
  unsigned short d;
  asm("fma.rn.f16 %0, %1, %2, %3;" : "=h"(d) : "h"(a.__x), "h"(b.__x), "h"(c.__x));
  return heddle_sdk::of_bits_half(d);
#else
  return __half((float)((double)(float)a * (float)b + (double)(float)c));
#endif
}
HEDDLE_HD __half2 __hfma2(__half2 a, __half2 b, __half2 c) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 530
  unsigned int d;
  asm("fma.rn.f16x2 %0, %1, %2, %3;" : "=r"(d) : "r"(heddle_sdk::word_half(a)), "r"(heddle_sdk::word_half(b)), "r"(heddle_sdk::word_half(c)));
  return heddle_sdk::pair_half(d);
#else
  return __half2(__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y));
#endif
}
HEDDLE_HD __half __hadd(__half a, __half b) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 530
  unsigned short d;
  asm("add.f16 %0, %1, %2;" : "=h"(d) : "h"(a.__x), "h"(b.__x));
  return heddle_sdk::of_bits_half(d);
#else
  return __half((float)a + (float)b);
#endif
}
HEDDLE_HD __half2 __hadd2(__half2 a, __half2 b) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 530
  unsigned int d;
  asm("add.f16x2 %0, %1, %2;" : "=r"(d) : "r"(heddle_sdk::word_half(a)), "r"(heddle_sdk::word_half(b)));
  return heddle_sdk::pair_half(d);
#else
  return __half2(__hadd(a.x, b.x), __hadd(a.y, b.y));
#endif
}
HEDDLE_HD __half __hsub(__half a, __half b) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 530
  unsigned short d;
  asm("sub.f16 %0, %1, %2;" : "=h"(d) : "h"(a.__x), "h"(b.__x));
  return heddle_sdk::of_bits_half(d);
#else
  return __half((float)a - (float)b);
#endif
}
HEDDLE_HD __half2 __hsub2(__half2 a, __half2 b) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 530
  unsigned int d;
  asm("sub.f16x2 %0, %1, %2;" : "=r"(d) : "r"(heddle_sdk::word_half(a)), "r"(heddle_sdk::word_half(b)));
  return heddle_sdk::pair_half(d);
#else
  return __half2(__hsub(a.x, b.x), __hsub(a.y, b.y));
#endif
}
HEDDLE_HD __half __hmul(__half a, __half b) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 530
  unsigned short d;
  asm("mul.f16 %0, %1, %2;" : "=h"(d) : "h"(a.__x), "h"(b.__x));
  return heddle_sdk::of_bits_half(d);
#else
  return __half((float)a * (float)b);
#endif
}
HEDDLE_HD __half2 __hmul2(__half2 a, __half2 b) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 530
  unsigned int d;
  asm("mul.f16x2 %0, %1, %2;" : "=r"(d) : "r"(heddle_sdk::word_half(a)), "r"(heddle_sdk::word_half(b)));
  return heddle_sdk::pair_half(d);
#else
  return __half2(__hmul(a.x, b.x), __hmul(a.y, b.y));
#endif
}
HEDDLE_HD __half __hdiv(__half a, __half b) { return __half((float)a / (float)b); }
HEDDLE_HD __half2 __h2div(__half2 a, __half2 b) { return __half2(__hdiv(a.x, b.x), __hdiv(a.y, b.y)); }
HEDDLE_HD __half __hneg(__half a) { return heddle_sdk::of_bits_half((unsigned short)(a.__x ^ 0x8000u)); }
HEDDLE_HD __half2 __hneg2(__half2 a) { return __half2(__hneg(a.x), __hneg(a.y)); }
HEDDLE_HD __half __habs(__half a) { return heddle_sdk::of_bits_half((unsigned short)(a.__x & 0x7fffu)); }
HEDDLE_HD __half2 __habs2(__half2 a) { return __half2(__habs(a.x), __habs(a.y)); }
HEDDLE_HD bool __hisnan(__half a) { return (float)a != (float)a; }
HEDDLE_HD int __hisinf(__half a) { return (a.__x & 0x7fffu) == 0x7c00u ? (a.__x & 0x8000u ? -1 : 1) : 0; }
HEDDLE_HD __half __hmax(__half a, __half b) { return __hisnan(a) ? b : __hisnan(b) || (float)a > (float)b ? a : b; }
HEDDLE_HD __half __hmin(__half a, __half b) { return __hisnan(a) ? b : __hisnan(b) || (float)a < (float)b ? a : b; }
HEDDLE_HD __half2 __hmax2(__half2 a, __half2 b) { return __half2(__hmax(a.x, b.x), __hmax(a.y, b.y)); }
HEDDLE_HD __half2 __hmin2(__half2 a, __half2 b) { return __half2(__hmin(a.x, b.x), __hmin(a.y, b.y)); }
HEDDLE_HD bool __heq(__half a, __half b) { return (float)a == (float)b; }
HEDDLE_HD __half2 __heq2(__half2 a, __half2 b) { return __half2(__half(__heq(a.x, b.x) ? 1.0f : 0.0f), __half(__heq(a.y, b.y) ? 1.0f : 0.0f)); }
HEDDLE_HD bool __hbeq2(__half2 a, __half2 b) { return __heq(a.x, b.x) && __heq(a.y, b.y); }
HEDDLE_HD bool operator==(const __half &a, const __half &b) { return (float)a == (float)b; }
HEDDLE_HD bool __hne(__half a, __half b) { return (float)a != (float)b; }
HEDDLE_HD __half2 __hne2(__half2 a, __half2 b) { return __half2(__half(__hne(a.x, b.x) ? 1.0f : 0.0f), __half(__hne(a.y, b.y) ? 1.0f : 0.0f)); }
HEDDLE_HD bool __hbne2(__half2 a, __half2 b) { return __hne(a.x, b.x) && __hne(a.y, b.y); }
HEDDLE_HD bool operator!=(const __half &a, const __half &b) { return (float)a != (float)b; }
HEDDLE_HD bool __hlt(__half a, __half b) { return (float)a < (float)b; }
HEDDLE_HD __half2 __hlt2(__half2 a, __half2 b) { return __half2(__half(__hlt(a.x, b.x) ? 1.0f : 0.0f), __half(__hlt(a.y, b.y) ? 1.0f : 0.0f)); }
HEDDLE_HD bool __hblt2(__half2 a, __half2 b) { return __hlt(a.x, b.x) && __hlt(a.y, b.y); }
HEDDLE_HD bool operator<(const __half &a, const __half &b) { return (float)a < (float)b; }
HEDDLE_HD bool __hle(__half a, __half b) { return (float)a <= (float)b; }
HEDDLE_HD __half2 __hle2(__half2 a, __half2 b) { return __half2(__half(__hle(a.x, b.x) ? 1.0f : 0.0f), __half(__hle(a.y, b.y) ? 1.0f : 0.0f)); }
HEDDLE_HD bool __hble2(__half2 a, __half2 b) { return __hle(a.x, b.x) && __hle(a.y, b.y); }
HEDDLE_HD bool operator<=(const __half &a, const __half &b) { return (float)a <= (float)b; }
HEDDLE_HD bool __hgt(__half a, __half b) { return (float)a > (float)b; }
HEDDLE_HD __half2 __hgt2(__half2 a, __half2 b) { return __half2(__half(__hgt(a.x, b.x) ? 1.0f : 0.0f), __half(__hgt(a.y, b.y) ? 1.0f : 0.0f)); }
HEDDLE_HD bool __hbgt2(__half2 a, __half2 b) { return __hgt(a.x, b.x) && __hgt(a.y, b.y); }
HEDDLE_HD bool operator>(const __half &a, const __half &b) { return (float)a > (float)b; }
HEDDLE_HD bool __hge(__half a, __half b) { return (float)a >= (float)b; }
HEDDLE_HD __half2 __hge2(__half2 a, __half2 b) { return __half2(__half(__hge(a.x, b.x) ? 1.0f : 0.0f), __half(__hge(a.y, b.y) ? 1.0f : 0.0f)); }
HEDDLE_HD bool __hbge2(__half2 a, __half2 b) { return __hge(a.x, b.x) && __hge(a.y, b.y); }
HEDDLE_HD bool operator>=(const __half &a, const __half &b) { return (float)a >= (float)b; }
HEDDLE_HD __half operator+(const __half &a, const __half &b) { return __hadd(a, b); }
HEDDLE_HD __half2 operator+(const __half2 &a, const __half2 &b) { return __hadd2(a, b); }
HEDDLE_HD __half &operator+=(__half &a, const __half &b) { return a = __hadd(a, b); }
HEDDLE_HD __half2 &operator+=(__half2 &a, const __half2 &b) { return a = __hadd2(a, b); }
HEDDLE_HD __half operator-(const __half &a, const __half &b) { return __hsub(a, b); }
HEDDLE_HD __half2 operator-(const __half2 &a, const __half2 &b) { return __hsub2(a, b); }
HEDDLE_HD __half &operator-=(__half &a, const __half &b) { return a = __hsub(a, b); }
HEDDLE_HD __half2 &operator-=(__half2 &a, const __half2 &b) { return a = __hsub2(a, b); }
HEDDLE_HD __half operator*(const __half &a, const __half &b) { return __hmul(a, b); }
HEDDLE_HD __half2 operator*(const __half2 &a, const __half2 &b) { return __hmul2(a, b); }
HEDDLE_HD __half &operator*=(__half &a, const __half &b) { return a = __hmul(a, b); }
HEDDLE_HD __half2 &operator*=(__half2 &a, const __half2 &b) { return a = __hmul2(a, b); }
HEDDLE_HD __half operator/(const __half &a, const __half &b) { return __hdiv(a, b); }
HEDDLE_HD __half &operator/=(__half &a, const __half &b) { return a = __hdiv(a, b); }
HEDDLE_HD __half2 operator/(const __half2 &a, const __half2 &b) { return __h2div(a, b); }
HEDDLE_HD __half operator-(const __half &a) { return __hneg(a); }
HEDDLE_HD __half2 operator-(const __half2 &a) { return __hneg2(a); }
HEDDLE_D __half hsqrt(__half a) { return __half(sqrtf((float)a)); }
HEDDLE_D __half2 h2sqrt(__half2 a) { return __half2(hsqrt(a.x), hsqrt(a.y)); }
HEDDLE_D __half hrsqrt(__half a) { return __half(rsqrtf((float)a)); }
HEDDLE_D __half2 h2rsqrt(__half2 a) { return __half2(hrsqrt(a.x), hrsqrt(a.y)); }
HEDDLE_D __half hexp(__half a) { return __half(expf((float)a)); }
HEDDLE_D __half2 h2exp(__half2 a) { return __half2(hexp(a.x), hexp(a.y)); }
HEDDLE_D __half hexp2(__half a) { return __half(exp2f((float)a)); }
HEDDLE_D __half2 h2exp2(__half2 a) { return __half2(hexp2(a.x), hexp2(a.y)); }
HEDDLE_D __half hexp10(__half a) { return __half(exp10f((float)a)); }
HEDDLE_D __half2 h2exp10(__half2 a) { return __half2(hexp10(a.x), hexp10(a.y)); }
HEDDLE_D __half hlog(__half a) { return __half(logf((float)a)); }
HEDDLE_D __half2 h2log(__half2 a) { return __half2(hlog(a.x), hlog(a.y)); }
HEDDLE_D __half hlog2(__half a) { return __half(log2f((float)a)); }
HEDDLE_D __half2 h2log2(__half2 a) { return __half2(hlog2(a.x), hlog2(a.y)); }
HEDDLE_D __half hlog10(__half a) { return __half(log10f((float)a)); }
HEDDLE_D __half2 h2log10(__half2 a) { return __half2(hlog10(a.x), hlog10(a.y)); }
HEDDLE_D __half hsin(__half a) { return __half(sinf((float)a)); }
HEDDLE_D __half2 h2sin(__half2 a) { return __half2(hsin(a.x), hsin(a.y)); }
HEDDLE_D __half hcos(__half a) { return __half(cosf((float)a)); }
HEDDLE_D __half2 h2cos(__half2 a) { return __half2(hcos(a.x), hcos(a.y)); }
HEDDLE_D __half hfloor(__half a) { return __half(floorf((float)a)); }
HEDDLE_D __half2 h2floor(__half2 a) { return __half2(hfloor(a.x), hfloor(a.y)); }
HEDDLE_D __half hceil(__half a) { return __half(ceilf((float)a)); }
HEDDLE_D __half2 h2ceil(__half2 a) { return __half2(hceil(a.x), hceil(a.y)); }
HEDDLE_D __half htrunc(__half a) { return __half(truncf((float)a)); }
HEDDLE_D __half2 h2trunc(__half2 a) { return __half2(htrunc(a.x), htrunc(a.y)); }
HEDDLE_D __half hrint(__half a) { return __half(rintf((float)a)); }
HEDDLE_D __half2 h2rint(__half2 a) { return __half2(hrint(a.x), hrint(a.y)); }
HEDDLE_D __half hrcp(__half a) { return __half(1.0f / (float)a); }
HEDDLE_D __half2 h2rcp(__half2 a) { return __half2(hrcp(a.x), hrcp(a.y)); }
HEDDLE_D __half __shfl_sync(unsigned int mask, __half v, int d, int width = warpSize) {
  return heddle_sdk::of_bits_half((unsigned short)__shfl_sync(mask, (int)v.__x, d, width));
}
HEDDLE_D __half2 __shfl_sync(unsigned int mask, __half2 v, int d, int width = warpSize) {
  return heddle_sdk::pair_half((unsigned int)__shfl_sync(mask, (int)heddle_sdk::word_half(v), d, width));
}
HEDDLE_D __half __shfl_up_sync(unsigned int mask, __half v, unsigned int d, int width = warpSize) {
  return heddle_sdk::of_bits_half((unsigned short)__shfl_up_sync(mask, (int)v.__x, d, width));
}
HEDDLE_D __half2 __shfl_up_sync(unsigned int mask, __half2 v, unsigned int d, int width = warpSize) {
  return heddle_sdk::pair_half((unsigned int)__shfl_up_sync(mask, (int)heddle_sdk::word_half(v), d, width));
}
HEDDLE_D __half __shfl_down_sync(unsigned int mask, __half v, unsigned int d, int width = warpSize) {
  return heddle_sdk::of_bits_half((unsigned short)__shfl_down_sync(mask, (int)v.__x, d, width));
}
HEDDLE_D __half2 __shfl_down_sync(unsigned int mask, __half2 v, unsigned int d, int width = warpSize) {
  return heddle_sdk::pair_half((unsigned int)__shfl_down_sync(mask, (int)heddle_sdk::word_half(v), d, width));
}
HEDDLE_D __half __shfl_xor_sync(unsigned int mask, __half v, int d, int width = warpSize) {
  return heddle_sdk::of_bits_half((unsigned short)__shfl_xor_sync(mask, (int)v.__x, d, width));
}
HEDDLE_D __half2 __shfl_xor_sync(unsigned int mask, __half2 v, int d, int width = warpSize) {
  return heddle_sdk::pair_half((unsigned int)__shfl_xor_sync(mask, (int)heddle_sdk::word_half(v), d, width));
}
HEDDLE_D __half2 __ldg(const __half2 *p) { return heddle_sdk::pair_half(__ldg((const unsigned int *)p)); }
HEDDLE_D __half __ldg(const __half *p) { return heddle_sdk::of_bits_half(__ldg((const unsigned short *)p)); }
HEDDLE_D __half atomicAdd(__half *p, __half v) {
  unsigned short old;
  asm volatile("atom.add.noftz.f16 %0, [%1], %2;" : "=h"(old) : "l"(p), "h"(v.__x) : "memory");
  return heddle_sdk::of_bits_half(old);
}
HEDDLE_D __half2 atomicAdd(__half2 *p, __half2 v) {
  unsigned int old;
  asm volatile("atom.add.noftz.f16x2 %0, [%1], %2;" : "=r"(old) : "l"(p), "r"(heddle_sdk::word_half(v)) : "memory");
  return heddle_sdk::pair_half(old);
}

#undef HEDDLE_HD
#undef HEDDLE_D

#endif
