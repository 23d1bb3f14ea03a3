// The overloads of mathematical functions that clang's headers expect from CUDA's. Clang includes this
// file more than once.
#ifndef HEDDLE_MATH_FUNCTIONS_HPP
#define HEDDLE_MATH_FUNCTIONS_HPP

#include "host_math.h"

#define HEDDLE_D static __inline__ __attribute__((always_inline, nodebug, device))

// Those of <cmath> for float, which clang declares.

HEDDLE_D float acosh(float x) { return __nv_acoshf(x); }
HEDDLE_D float asinh(float x) { return __nv_asinhf(x); }
HEDDLE_D float atanh(float x) { return __nv_atanhf(x); }
HEDDLE_D float cbrt(float x) { return __nv_cbrtf(x); }
HEDDLE_D float copysign(float x, float y) { return __nv_copysignf(x, y); }
HEDDLE_D float erf(float x) { return __nv_erff(x); }
HEDDLE_D float erfc(float x) { return __nv_erfcf(x); }
HEDDLE_D float exp2(float x) { return __nv_exp2f(x); }
HEDDLE_D float expm1(float x) { return __nv_expm1f(x); }
HEDDLE_D float fdim(float x, float y) { return __nv_fdimf(x, y); }
HEDDLE_D float fma(float x, float y, float z) { return __nv_fmaf(x, y, z); }
HEDDLE_D float fmax(float x, float y) { return __nv_fmaxf(x, y); }
HEDDLE_D float fmin(float x, float y) { return __nv_fminf(x, y); }
HEDDLE_D float hypot(float x, float y) { return __nv_hypotf(x, y); }
HEDDLE_D int ilogb(float x) { return __nv_ilogbf(x); }
HEDDLE_D float lgamma(float x) { return __nv_lgammaf(x); }
HEDDLE_D long long llrint(float x) { return __nv_llrintf(x); }
HEDDLE_D long long llround(float x) { return __nv_llroundf(x); }
HEDDLE_D float log1p(float x) { return __nv_log1pf(x); }
HEDDLE_D float log2(float x) { return __nv_log2f(x); }
HEDDLE_D float logb(float x) { return __nv_logbf(x); }
HEDDLE_D long lrint(float x) { return (long)__nv_llrintf(x); }
HEDDLE_D long lround(float x) { return (long)__nv_llroundf(x); }
HEDDLE_D float nearbyint(float x) { return __nv_nearbyintf(x); }
HEDDLE_D float nextafter(float x, float y) { return __nv_nextafterf(x, y); }
HEDDLE_D float remainder(float x, float y) { return __nv_remainderf(x, y); }
HEDDLE_D float remquo(float x, float y, int *q) { return __nv_remquof(x, y, q); }
HEDDLE_D float rint(float x) { return __nv_rintf(x); }
HEDDLE_D float round(float x) { return __nv_roundf(x); }
// Clang's two versions return infinities for zeros and NaNs. A function with a condition, even one
// that always holds, is a different function and is preferred.
#define HEDDLE_EXPONENT(n) ((n) < -10000 ? -10000 : (n) > 10000 ? 10000 : (int)(n))
HEDDLE_D double scalbln(double x, long n) __attribute__((enable_if(true, ""))) { return __nv_scalbn(x, HEDDLE_EXPONENT(n)); }
HEDDLE_D float scalblnf(float x, long n) __attribute__((enable_if(true, ""))) { return __nv_scalbnf(x, HEDDLE_EXPONENT(n)); }
HEDDLE_D float scalbln(float x, long n) { return __nv_scalbnf(x, HEDDLE_EXPONENT(n)); }
#undef HEDDLE_EXPONENT
HEDDLE_D float scalbn(float x, int n) { return __nv_scalbnf(x, n); }
HEDDLE_D float tgamma(float x) { return __nv_tgammaf(x); }
HEDDLE_D float trunc(float x) { return __nv_truncf(x); }
// The string is ignored.
HEDDLE_D double nan(const char *) { return __builtin_nan(""); }
HEDDLE_D float nanf(const char *) { return __builtin_nanf(""); }


// Overloads of CUDA's own functions. Clang defines nine of them for the host.
#define HEDDLE_H static __inline__ __attribute__((host))
#define HEDDLE_D_AND_H(name, params, args, T) \
  HEDDLE_D T name params { return name##f args; } \
  HEDDLE_H T name params { return name##f args; }
HEDDLE_D float rsqrt(float x) { return rsqrtf(x); }
HEDDLE_D float rcbrt(float x) { return rcbrtf(x); }
HEDDLE_D float sinpi(float x) { return sinpif(x); }
HEDDLE_D float cospi(float x) { return cospif(x); }
HEDDLE_D void sincospi(float x, float *s, float *c) { sincospif(x, s, c); }
HEDDLE_D float erfcinv(float x) { return erfcinvf(x); }
HEDDLE_D float normcdf(float x) { return normcdff(x); }
HEDDLE_D float normcdfinv(float x) { return normcdfinvf(x); }
HEDDLE_D float erfcx(float x) { return erfcxf(x); }
HEDDLE_D float cyl_bessel_i0(float x) { return cyl_bessel_i0f(x); }
HEDDLE_D float cyl_bessel_i1(float x) { return cyl_bessel_i1f(x); }
HEDDLE_D_AND_H(erfinv, (float x), (x), float)
HEDDLE_D_AND_H(rhypot, (float x, float y), (x, y), float)
HEDDLE_D_AND_H(exp10, (float x), (x), float)
HEDDLE_D_AND_H(j0, (float x), (x), float)
HEDDLE_D_AND_H(j1, (float x), (x), float)
HEDDLE_D_AND_H(jn, (int n, float x), (n, x), float)
HEDDLE_D_AND_H(y0, (float x), (x), float)
HEDDLE_D_AND_H(y1, (float x), (x), float)
HEDDLE_D_AND_H(yn, (int n, float x), (n, x), float)
HEDDLE_D_AND_H(sincos, (float x, float *s, float *c), (x, s, c), void)
#undef HEDDLE_D_AND_H

// The minimum and maximum of two numbers, in the type in which C++ compares them. Clang has those for
// int in device code.
#define HEDDLE_ORDER(attributes, R, A, B)                                                     \
  attributes R min(A a, B b) { return (R)a < (R)b ? (R)a : (R)b; }                            \
  attributes R max(A a, B b) { return (R)a < (R)b ? (R)b : (R)a; }
#define HEDDLE_ORDERS(R, A, B) HEDDLE_ORDER(HEDDLE_D, R, A, B) HEDDLE_ORDER(HEDDLE_H, R, A, B)
#define HEDDLE_INTEGERS(T)                                                                    \
  HEDDLE_ORDERS(unsigned T, unsigned T, unsigned T)                                           \
  HEDDLE_ORDERS(unsigned T, unsigned T, T)                                                    \
  HEDDLE_ORDERS(unsigned T, T, unsigned T)
HEDDLE_ORDER(HEDDLE_H, int, int, int)
HEDDLE_H unsigned int umin(unsigned int a, unsigned int b) { return a < b ? a : b; }
HEDDLE_H unsigned int umax(unsigned int a, unsigned int b) { return a < b ? b : a; }
HEDDLE_H long long llmin(long long a, long long b) { return a < b ? a : b; }
HEDDLE_H long long llmax(long long a, long long b) { return a < b ? b : a; }
HEDDLE_H unsigned long long ullmin(unsigned long long a, unsigned long long b) { return a < b ? a : b; }
HEDDLE_H unsigned long long ullmax(unsigned long long a, unsigned long long b) { return a < b ? b : a; }
HEDDLE_INTEGERS(int)
HEDDLE_ORDERS(long, long, long)
HEDDLE_INTEGERS(long)
HEDDLE_ORDERS(long long, long long, long long)
HEDDLE_INTEGERS(long long)
#undef HEDDLE_INTEGERS
#undef HEDDLE_ORDERS
#undef HEDDLE_ORDER
// Of a number and a NaN they return the number.
#define HEDDLE_ORDER(attributes, T, A, B, f)                                                  \
  attributes T min(A a, B b) { return fmin##f(a, b); }                                        \
  attributes T max(A a, B b) { return fmax##f(a, b); }
#define HEDDLE_ORDERS(T, A, B, f) HEDDLE_ORDER(HEDDLE_D, T, A, B, f) HEDDLE_ORDER(HEDDLE_H, T, A, B, f)
HEDDLE_ORDERS(float, float, float, f)
HEDDLE_ORDERS(double, double, double, )
HEDDLE_ORDERS(double, float, double, )
HEDDLE_ORDERS(double, double, float, )
#undef HEDDLE_ORDERS
#undef HEDDLE_ORDER

#undef HEDDLE_H
#undef HEDDLE_D

#endif
