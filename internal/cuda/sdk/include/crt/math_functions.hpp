// The functions of <cmath> for float in device code that clang's own headers
// declare and leave to CUDA's to define. Clang includes this file more than once.
#ifndef HEDDLE_MATH_FUNCTIONS_HPP
#define HEDDLE_MATH_FUNCTIONS_HPP

#define HEDDLE_D static __inline__ __attribute__((always_inline, device))

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
HEDDLE_D float scalbln(float x, long n) { return __nv_scalbnf(x, n < -10000 ? -10000 : n > 10000 ? 10000 : (int)n); }
HEDDLE_D float scalbn(float x, int n) { return __nv_scalbnf(x, n); }
HEDDLE_D float tgamma(float x) { return __nv_tgammaf(x); }
HEDDLE_D float trunc(float x) { return __nv_truncf(x); }
// What the string says is not looked at.
HEDDLE_D double nan(const char *) { return __builtin_nan(""); }
HEDDLE_D float nanf(const char *) { return __builtin_nanf(""); }

#undef HEDDLE_D

#endif
