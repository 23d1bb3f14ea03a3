// The generator MRG32k3a of L'Ecuyer (1999): two recurrences of three numbers,
// modulo two primes below 2^32, and their difference.
#ifndef HEDDLE_CURAND_MRG32K3A_H
#define HEDDLE_CURAND_MRG32K3A_H

#include "cuda_runtime.h"
#include "curand_mrg32k3a_jump.h"

struct curandStateMRG32k3a {
  unsigned int s1[3], s2[3];
  int boxmuller_flag, boxmuller_flag_double;
  float boxmuller_extra;
  double boxmuller_extra_double;
};
typedef struct curandStateMRG32k3a curandStateMRG32k3a_t;

#if defined(__CUDA__)

#define HEDDLE_D static __inline__ __device__

namespace heddle_sdk {

// A step of each recurrence as a matrix, and many at once.
static const __device__ unsigned int mrg_one[2][9] = {{0, 1, 0, 0, 0, 1, 4294967087u - 810728u, 1403580u, 0}, {0, 1, 0, 0, 0, 1, 4294944443u - 1370589u, 0, 527612u}};
static const __device__ unsigned int mrg_subsequence[2][9] = HEDDLE_MRG_SUBSEQUENCE;
static const __device__ unsigned int mrg_sequence[2][9] = HEDDLE_MRG_SEQUENCE;

HEDDLE_D unsigned int mrg_modulus(int r) { return r == 0 ? 4294967087u : 4294944443u; }
// Applies the n-th power of a matrix to a state.
HEDDLE_D void mrg_power(unsigned int *v, const unsigned int *step, unsigned long long n, unsigned int m) {
  unsigned int a[9];
  for (int i = 0; i < 9; i++) a[i] = step[i];
  for (; n; n >>= 1) {
    if (n & 1) {
      unsigned int w[3];
      for (int i = 0; i < 3; i++) {
        unsigned long long sum = 0;
        for (int j = 0; j < 3; j++) sum = (sum + (unsigned long long)a[3 * i + j] * v[j] % m) % m;
        w[i] = (unsigned int)sum;
      }
      for (int i = 0; i < 3; i++) v[i] = w[i];
    }
    unsigned int b[9];
    for (int i = 0; i < 9; i++) {
      unsigned long long sum = 0;
      for (int k = 0; k < 3; k++) sum = (sum + (unsigned long long)a[i / 3 * 3 + k] * a[3 * k + i % 3] % m) % m;
      b[i] = (unsigned int)sum;
    }
    for (int i = 0; i < 9; i++) a[i] = b[i];
  }
}
HEDDLE_D void mrg_jump(curandStateMRG32k3a *s, const unsigned int step[2][9], unsigned long long n) {
  mrg_power(s->s1, step[0], n, mrg_modulus(0));
  mrg_power(s->s2, step[1], n, mrg_modulus(1));
}
// The next number, from 1 to the first modulus.
HEDDLE_D unsigned int mrg(curandStateMRG32k3a *s) {
  const unsigned long long m1 = 4294967087u, m2 = 4294944443u;
  unsigned long long p = (1403580ull * s->s1[1] + 810728ull * (m1 - s->s1[0])) % m1;
  s->s1[0] = s->s1[1];
  s->s1[1] = s->s1[2];
  s->s1[2] = (unsigned int)p;
  unsigned long long q = (527612ull * s->s2[2] + 1370589ull * (m2 - s->s2[0])) % m2;
  s->s2[0] = s->s2[1];
  s->s2[1] = s->s2[2];
  s->s2[2] = (unsigned int)q;
  return (unsigned int)(p > q ? p - q : p + m1 - q);
}

} // namespace heddle_sdk

// Moves a generator ahead: n numbers, n subsequences of 2^76, n sequences of 2^127.
HEDDLE_D void skipahead(unsigned long long n, curandStateMRG32k3a *s) { heddle_sdk::mrg_jump(s, heddle_sdk::mrg_one, n); }
HEDDLE_D void skipahead_subsequence(unsigned long long n, curandStateMRG32k3a *s) { heddle_sdk::mrg_jump(s, heddle_sdk::mrg_subsequence, n); }
HEDDLE_D void skipahead_sequence(unsigned long long n, curandStateMRG32k3a *s) { heddle_sdk::mrg_jump(s, heddle_sdk::mrg_sequence, n); }

HEDDLE_D void curand_init(unsigned long long seed, unsigned long long subsequence, unsigned long long offset, curandStateMRG32k3a *s) {
  unsigned int x = seed ? (unsigned int)seed ^ 0x55555555u : 1, y = seed ? (unsigned int)(seed >> 32) ^ 0xaaaaaaaau : 1;
  for (int i = 0; i < 3; i++) {
    s->s1[i] = (unsigned int)(12345ull * (i == 1 ? y : x) % heddle_sdk::mrg_modulus(0));
    s->s2[i] = (unsigned int)(12345ull * (i == 1 ? x : y) % heddle_sdk::mrg_modulus(1));
  }
  skipahead_subsequence(subsequence, s);
  skipahead(offset, s);
  s->boxmuller_flag = s->boxmuller_flag_double = 0;
  s->boxmuller_extra = 0;
  s->boxmuller_extra_double = 0;
}
// The number scaled to 32 bits.
HEDDLE_D unsigned int curand(curandStateMRG32k3a *s) { return (unsigned int)(heddle_sdk::mrg(s) * 1.000000048662); }
// Uniform in (0, 1].
HEDDLE_D float curand_uniform(curandStateMRG32k3a *s) { return (float)(heddle_sdk::mrg(s) * (1.0 / 4294967087.0)); }
HEDDLE_D double curand_uniform_double(curandStateMRG32k3a *s) { return heddle_sdk::mrg(s) * (1.0 / 4294967087.0); }

#undef HEDDLE_D

#endif

#endif
