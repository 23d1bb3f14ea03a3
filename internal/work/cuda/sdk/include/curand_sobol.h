// Sobol's quasirandom numbers, from direction vectors that the program provides.
#ifndef HEDDLE_CURAND_SOBOL_H
#define HEDDLE_CURAND_SOBOL_H

#include "cuda_runtime.h"

typedef unsigned int curandDirectionVectors32_t[32];
typedef unsigned long long curandDirectionVectors64_t[64];

namespace heddle_sdk {

// The state for words of a type with a number of bits. c is the scrambling constant.
template <class W, int bits> struct sobol {
  unsigned long long i;
  W x, c;
  W direction_vectors[bits];
};

} // namespace heddle_sdk

struct curandStateSobol32 : heddle_sdk::sobol<unsigned int, 32> {};
struct curandStateScrambledSobol32 : heddle_sdk::sobol<unsigned int, 32> {};
struct curandStateSobol64 : heddle_sdk::sobol<unsigned long long, 64> {};
struct curandStateScrambledSobol64 : heddle_sdk::sobol<unsigned long long, 64> {};
typedef struct curandStateSobol32 curandStateSobol32_t;
typedef struct curandStateScrambledSobol32 curandStateScrambledSobol32_t;
typedef struct curandStateSobol64 curandStateSobol64_t;
typedef struct curandStateScrambledSobol64 curandStateScrambledSobol64_t;

#if defined(__CUDA__)

#define HEDDLE_D static __inline__ __device__

namespace heddle_sdk {

// The i-th number in Gray code order.
template <class W, int bits> HEDDLE_D void sobol_place(sobol<W, bits> *s, unsigned long long i) {
  unsigned long long gray = i ^ i >> 1;
  s->i = i;
  s->x = s->c;
  for (int k = 0; k < bits; k++)
    if (gray >> k & 1) s->x ^= s->direction_vectors[k];
}
template <class W, int bits> HEDDLE_D void sobol_init(sobol<W, bits> *s, const W *vectors, W scramble, unsigned long long offset) {
  for (int k = 0; k < bits; k++) s->direction_vectors[k] = vectors[k];
  s->c = scramble;
  sobol_place(s, offset);
}
template <class W, int bits> HEDDLE_D W sobol_next(sobol<W, bits> *s) {
  W x = s->x;
  int k = __ffsll((long long)~s->i) - 1;
  if (k < 0 || k >= bits) k = bits - 1;
  s->x ^= s->direction_vectors[k];
  s->i++;
  return x;
}

// Numbers from words of 32 or 64 bits. Uniform floats take the first 32 bits, doubles the first 53.
template <class W> HEDDLE_D float sobol_uniform(W x) { return (float)(unsigned int)(x >> (8 * sizeof(W) - 32)) * 0x1p-32f + 0x1p-33f; }
template <class W> HEDDLE_D double sobol_uniform_double(W x) {
  return sizeof(W) == 4 ? (double)x * 0x1p-32 + 0x1p-32 : (double)((unsigned long long)x >> 11) * 0x1p-53 + 0x1p-54;
}

// Normal numbers come from the inverse distribution function of the middle of a part. Those of the upper half are
// those of the lower one, negated: there floats are closer together, and none is 1.
template <class W> HEDDLE_D bool sobol_mirrored(W *x) {
  const bool upper = *x > (W)1 << (8 * sizeof(W) - 1);
  if (upper) *x = ~*x;
  return upper;
}
template <class W> HEDDLE_D float sobol_normal(W x) {
  const bool upper = sobol_mirrored(&x);
  const float v = normcdfinvf(sobol_uniform(x));
  return upper ? -v : v;
}
template <class W> HEDDLE_D double sobol_normal_double(W x) {
  const bool upper = sobol_mirrored(&x);
  const double v = normcdfinv(sizeof(W) == 4 ? (double)x * 0x1p-32 + 0x1p-33 : sobol_uniform_double(x));
  return upper ? -v : v;
}

} // namespace heddle_sdk

HEDDLE_D void curand_init(unsigned int *vectors, unsigned int offset, curandStateSobol32 *s) { heddle_sdk::sobol_init(s, vectors, 0u, offset); }
HEDDLE_D void curand_init(unsigned int *vectors, unsigned int scramble, unsigned int offset, curandStateScrambledSobol32 *s) {
  heddle_sdk::sobol_init(s, vectors, scramble, offset);
}
HEDDLE_D void curand_init(unsigned long long *vectors, unsigned long long offset, curandStateSobol64 *s) { heddle_sdk::sobol_init(s, vectors, 0ull, offset); }
HEDDLE_D void curand_init(unsigned long long *vectors, unsigned long long scramble, unsigned long long offset, curandStateScrambledSobol64 *s) {
  heddle_sdk::sobol_init(s, vectors, scramble, offset);
}

// Functions common to the four kinds. Each value uses one number.
#define HEDDLE_SOBOL(kind, word)                                                                                   \
  HEDDLE_D word curand(kind *s) { return heddle_sdk::sobol_next(s); }                                              \
  HEDDLE_D void skipahead(unsigned long long n, kind *s) { heddle_sdk::sobol_place(s, s->i + n); }                 \
  HEDDLE_D double curand_uniform_double(kind *s) { return heddle_sdk::sobol_uniform_double(curand(s)); }           \
  HEDDLE_D float curand_uniform(kind *s) { return heddle_sdk::sobol_uniform(curand(s)); }                          \
  HEDDLE_D float curand_normal(kind *s) { return heddle_sdk::sobol_normal(curand(s)); }                            \
  HEDDLE_D double curand_normal_double(kind *s) { return heddle_sdk::sobol_normal_double(curand(s)); }
HEDDLE_SOBOL(curandStateSobol32, unsigned int)
HEDDLE_SOBOL(curandStateScrambledSobol32, unsigned int)
HEDDLE_SOBOL(curandStateSobol64, unsigned long long)
HEDDLE_SOBOL(curandStateScrambledSobol64, unsigned long long)
#undef HEDDLE_SOBOL

#undef HEDDLE_D

#endif

#endif
