// CUDA's own mathematical functions for the host. They compute in long double, which has
// a higher precision and range than the results.
#ifndef HEDDLE_HOST_MATH_H
#define HEDDLE_HOST_MATH_H

#include <math.h>

#define HEDDLE_H static __inline__ __attribute__((host))

namespace heddle_sdk {

// 2 / sqrt(pi), sqrt(2) and pi.
#define HEDDLE_2_SQRTPI 1.12837916709551257389615890312154517L
#define HEDDLE_SQRT2 1.41421356237309504880168872420969808L
#define HEDDLE_PI 3.14159265358979323846264338327950288L

// The x > 0 whose complementary error function is 0 < p <= 1/2, by Newton's method for
// its logarithm. That is concave, and erfc(x) <= exp(-x²): from there the steps decrease
// to x and never pass it.
HEDDLE_H long double tail_inverse(long double p) {
  long double l = logl(p), x = sqrtl(-l);
  for (int i = 0; i < 12; i++) x += (logl(erfcl(x)) - l) * erfcl(x) * expl(x * x) / HEDDLE_2_SQRTPI;
  return x;
}
// The x whose error function is y, where rest is 1 - |y|.
HEDDLE_H long double erf_inverse(long double y, long double rest) {
  if (!(rest >= 0)) return nanl("");
  if (rest == 0) return copysignl(HUGE_VALL, y);
  if (rest < 0.5L) return copysignl(tail_inverse(rest), y);
  long double x = y / HEDDLE_2_SQRTPI;
  for (int i = 0; i < 10; i++) x -= (erfl(x) - y) * expl(x * x) / HEDDLE_2_SQRTPI;
  return x;
}
// The x whose complementary error function is p.
HEDDLE_H long double erfc_inverse(long double p) { return erf_inverse(1 - p, p < 1 ? p : 2 - p); }

// exp(x²) erfc(x): for larger x by its continued fraction.
HEDDLE_H long double scaled_erfc(long double x) {
  if (x < 10) return expl(x * x) * erfcl(x);
  if (isinf(x)) return 0;
  long double t = x;
  for (int i = 40; i > 0; i--) t = x + i / (2 * t);
  return HEDDLE_2_SQRTPI / 2 / t;
}

// The sine of pi (x + quarters / 2), from the difference of x to the nearest half.
HEDDLE_H double sine_of_turns(double x, int quarters) {
  double r = fmod(x, 2), n = rint(2 * r);
  long double t = HEDDLE_PI * (r - n / 2);
  switch (((int)n + quarters) & 3) {
  case 0: return t == 0 ? copysign(0.0, x) : (double)sinl(t);
  case 1: return (double)cosl(t);
  case 2: return t == 0 ? copysign(0.0, x) : -(double)sinl(t);
  }
  return -(double)cosl(t);
}

// The length of a vector: infinite if a coordinate is, even if others are NaN.
template <class T> HEDDLE_H long double length(int n, const T *v) {
  long double s = 0;
  bool infinite = false;
  for (int i = 0; i < n; i++) {
    infinite |= v[i] - v[i] != 0 && v[i] == v[i];
    s += (long double)v[i] * v[i];
  }
  return infinite ? HUGE_VALL : sqrtl(s);
}

} // namespace heddle_sdk

// The C library has some of them in later releases.
#if defined(__GLIBC_PREREQ)
#define HEDDLE_GLIBC(minor) __GLIBC_PREREQ(2, minor)
#else
#define HEDDLE_GLIBC(minor) 0
#endif
#if !HEDDLE_GLIBC(41)
HEDDLE_H double sinpi(double x) { return heddle_sdk::sine_of_turns(x, 0); }
HEDDLE_H double cospi(double x) { return x + 0.5 == x ? cos(x - x) : heddle_sdk::sine_of_turns(fabs(x), 1); }
HEDDLE_H float sinpif(float x) { return (float)sinpi((double)x); }
HEDDLE_H float cospif(float x) { return (float)cospi((double)x); }
#endif
#if !HEDDLE_GLIBC(42)
HEDDLE_H double rsqrt(double x) { return (double)(1 / sqrtl(x)); }
HEDDLE_H float rsqrtf(float x) { return (float)(1 / sqrt((double)x)); }
#endif
#undef HEDDLE_GLIBC

#define HEDDLE_FUNCTION(name, value)                    \
  HEDDLE_H double name(double x) { return (double)(value); } \
  HEDDLE_H float name##f(float x) { return (float)(value); }
HEDDLE_FUNCTION(rcbrt, 1 / cbrtl(x))
HEDDLE_FUNCTION(erfinv, heddle_sdk::erf_inverse(x, 1 - fabsl(x)))
HEDDLE_FUNCTION(erfcinv, heddle_sdk::erfc_inverse(x))
HEDDLE_FUNCTION(erfcx, heddle_sdk::scaled_erfc(x))
HEDDLE_FUNCTION(normcdf, erfcl(x / -HEDDLE_SQRT2) / 2)
HEDDLE_FUNCTION(normcdfinv, -HEDDLE_SQRT2 * heddle_sdk::erfc_inverse(2 * (long double)x))
#undef HEDDLE_FUNCTION

HEDDLE_H void sincospi(double x, double *s, double *c) {
  *s = sinpi(x);
  *c = cospi(x);
}
HEDDLE_H void sincospif(float x, float *s, float *c) {
  *s = sinpif(x);
  *c = cospif(x);
}

#define HEDDLE_LENGTHS(T, f)                                                                   \
  HEDDLE_H T norm##f(int n, const T *v) { return (T)heddle_sdk::length(n, v); }                \
  HEDDLE_H T rnorm##f(int n, const T *v) { return (T)(1 / heddle_sdk::length(n, v)); }         \
  HEDDLE_H T rhypot##f(T x, T y) { T v[] = {x, y}; return rnorm##f(2, v); }                    \
  HEDDLE_H T norm3d##f(T x, T y, T z) { T v[] = {x, y, z}; return norm##f(3, v); }             \
  HEDDLE_H T rnorm3d##f(T x, T y, T z) { T v[] = {x, y, z}; return rnorm##f(3, v); }           \
  HEDDLE_H T norm4d##f(T x, T y, T z, T w) { T v[] = {x, y, z, w}; return norm##f(4, v); }     \
  HEDDLE_H T rnorm4d##f(T x, T y, T z, T w) { T v[] = {x, y, z, w}; return rnorm##f(4, v); }
HEDDLE_LENGTHS(double, )
HEDDLE_LENGTHS(float, f)
#undef HEDDLE_LENGTHS

HEDDLE_H float fdividef(float x, float y) { return x / y; }
HEDDLE_H double fdivide(double x, double y) { return x / y; }

#undef HEDDLE_2_SQRTPI
#undef HEDDLE_SQRT2
#undef HEDDLE_PI
#undef HEDDLE_H

#endif
