// The bits of floats, and rounding to odd, so that a second rounding gives the correctly rounded value.
#ifndef HEDDLE_ODD_FLOAT_H
#define HEDDLE_ODD_FLOAT_H

#include "host_defines.h"

namespace heddle_sdk {
#ifdef __clang__
#define HEDDLE_HD static __inline__ __host__ __device__ __attribute__((always_inline, nodebug))
#else // of the host, which knows no nodebug
#define HEDDLE_HD static __inline__ __host__ __device__ __attribute__((always_inline))
#endif
HEDDLE_HD unsigned int float_bits(float f) { return __builtin_bit_cast(unsigned int, f); }
HEDDLE_HD float bits_float(unsigned int u) { return __builtin_bit_cast(float, u); }
// The adjacent float whose last bit is one, unless the value is exact.
HEDDLE_HD float odd_float(double d) {
  float f = (float)d;
  unsigned int u = float_bits(f);
  if ((double)f == d || d != d || (u & 0x7fffffffu) == 0x7f800000u || (u & 1)) return f;
  double size = d < 0 ? -d : d, rounded = f < 0 ? -(double)f : (double)f;
  return bits_float(rounded > size ? u - 1 : u + 1);
}
HEDDLE_HD float odd_float(int i) { return odd_float((double)i); }
HEDDLE_HD float odd_float(unsigned int i) { return odd_float((double)i); }
HEDDLE_HD float odd_float(short i) { return (float)i; }
HEDDLE_HD float odd_float(unsigned short i) { return (float)i; }
// The lowest of 64 bits, which double would round away, are combined into one bit.
HEDDLE_HD float odd_float(unsigned long long i) {
  return odd_float((double)(i >> 53 ? (i & ~0xfffull) | (i & 0xfff ? 0x1000 : 0) : i));
}
HEDDLE_HD float odd_float(long long i) { return i < 0 ? -odd_float(0ull - (unsigned long long)i) : odd_float((unsigned long long)i); }
HEDDLE_HD float odd_float(long i) { return odd_float((long long)i); }
HEDDLE_HD float odd_float(unsigned long i) { return odd_float((unsigned long long)i); }
// The same for a sum of doubles.
HEDDLE_HD float odd_sum(double a, double b) {
  double s = a + b, of_b = s - a, rest = (a - (s - of_b)) + (b - of_b);
  unsigned long long u = __builtin_bit_cast(unsigned long long, s);
  if (rest == 0 || rest != rest || (u & 1)) return odd_float(s);
  return odd_float(__builtin_bit_cast(double, (rest < 0) == (s < 0) ? u + 1 : u - 1));
}
// What NaN becomes in an integer: 0 or, in 64 bits, 2^63 (CUDA Math API Reference Manual).
template <class T> HEDDLE_HD T not_integer() { return sizeof(T) == 8 ? (T)((T)1 << (sizeof(T) * 8 - 1)) : (T)0; }
#undef HEDDLE_HD
} // namespace heddle_sdk

#endif
