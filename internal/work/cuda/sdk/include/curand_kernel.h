// Random numbers in kernels: the generators XORWOW and Philox 4x32-10, those of other
// headers, and distributions.
#ifndef CURAND_KERNEL_H_
#define CURAND_KERNEL_H_

#include "cuda_runtime.h"
#include "curand_mrg32k3a.h"
#include "curand_sobol.h"
#include "curand_xorwow_jump.h"

// Host code allocates states, and kernels change them.
struct curandStateXORWOW {
  unsigned int d, v[5];
  int boxmuller_flag, boxmuller_flag_double;
  float boxmuller_extra;
  double boxmuller_extra_double;
};
struct curandStatePhilox4_32_10 {
  uint4 ctr, output;
  uint2 key;
  unsigned int STATE;
  int boxmuller_flag, boxmuller_flag_double;
  float boxmuller_extra;
  double boxmuller_extra_double;
};
typedef struct curandStateXORWOW curandStateXORWOW_t;
typedef struct curandStateXORWOW curandState_t;
typedef struct curandStateXORWOW curandState;
typedef struct curandStatePhilox4_32_10 curandStatePhilox4_32_10_t;

#if defined(__CUDA__)

#define HEDDLE_D static __inline__ __device__

namespace heddle_sdk {

HEDDLE_D void xorwow_step(unsigned int *v) {
  unsigned int t = v[0] ^ (v[0] >> 2);
  v[0] = v[1];
  v[1] = v[2];
  v[2] = v[3];
  v[3] = v[4];
  v[4] = (v[4] ^ (v[4] << 4)) ^ (t ^ (t << 1));
}
// Replaces the state by the polynomial q of the step applied to it.
HEDDLE_D void xorwow_apply(unsigned int *v, const unsigned int *q) {
  unsigned int r[5] = {0, 0, 0, 0, 0};
  for (int i = 0; i < 160; i++) {
    if (q[i >> 5] >> (i & 31) & 1)
      for (int j = 0; j < 5; j++) r[j] ^= v[j];
    xorwow_step(v);
  }
  for (int j = 0; j < 5; j++) v[j] = r[j];
}
static const __device__ unsigned int xorwow_jumps[64][5] = HEDDLE_XORWOW_JUMPS;

// The product of two polynomials, modulo that of the generator.
HEDDLE_D void xorwow_multiply(unsigned int *a, const unsigned int *b) {
  const unsigned int p[5] = HEDDLE_XORWOW_POLYNOMIAL;
  unsigned int r[5] = {0, 0, 0, 0, 0};
  for (int i = 0; i < 160; i++) {
    if (b[i >> 5] >> (i & 31) & 1)
      for (int j = 0; j < 5; j++) r[j] ^= a[j];
    unsigned int over = a[4] >> 31;
    for (int j = 4; j > 0; j--) a[j] = a[j] << 1 | a[j - 1] >> 31;
    a[0] <<= 1;
    if (over)
      for (int j = 0; j < 5; j++) a[j] ^= p[j];
  }
  for (int j = 0; j < 5; j++) a[j] = r[j];
}
HEDDLE_D uint4 philox(uint4 c, uint2 k) {
  for (int i = 0; i < 10; i++) {
    if (i > 0) {
      k.x += 0x9E3779B9u;
      k.y += 0xBB67AE85u;
    }
    unsigned int h0 = __umulhi(0xD2511F53u, c.x), l0 = 0xD2511F53u * c.x, h1 = __umulhi(0xCD9E8D57u, c.z), l1 = 0xCD9E8D57u * c.z;
    c = make_uint4(h1 ^ c.y ^ k.x, l1, h0 ^ c.w ^ k.y, l0);
  }
  return c;
}
HEDDLE_D void philox_add(uint4 *c, unsigned long long n) {
  unsigned long long low = ((unsigned long long)c->y << 32 | c->x) + n;
  if (low < n && ++c->z == 0) ++c->w;
  c->x = (unsigned int)low;
  c->y = (unsigned int)(low >> 32);
}

} // namespace heddle_sdk

// Moves a generator n numbers ahead.
HEDDLE_D void skipahead(unsigned long long n, curandStateXORWOW *s) {
  s->d += (unsigned int)n * 362437u;
  unsigned int q[5] = {1, 0, 0, 0, 0}, x[5] = {2, 0, 0, 0, 0};
  if (n == 0) return;
  for (; n; n >>= 1) {
    if (n & 1) heddle_sdk::xorwow_multiply(q, x);
    unsigned int y[5] = {x[0], x[1], x[2], x[3], x[4]};
    heddle_sdk::xorwow_multiply(x, y);
  }
  heddle_sdk::xorwow_apply(s->v, q);
}
// Moves a generator n sequences of 2^67 numbers ahead.
HEDDLE_D void skipahead_sequence(unsigned long long n, curandStateXORWOW *s) {
  unsigned int q[5] = {1, 0, 0, 0, 0};
  if (n == 0) return;
  for (int k = 0; n; k++, n >>= 1)
    if (n & 1) heddle_sdk::xorwow_multiply(q, heddle_sdk::xorwow_jumps[k]);
  heddle_sdk::xorwow_apply(s->v, q);
}
HEDDLE_D void curand_init(unsigned long long seed, unsigned long long sequence, unsigned long long offset, curandStateXORWOW *s) {
  unsigned int a = 1099087573u * ((unsigned int)seed ^ 0xaad26b49u), b = 2591861531u * ((unsigned int)(seed >> 32) ^ 0xf7dcefddu);
  s->d = 6615241u + b + a;
  s->v[0] = 123456789u + a;
  s->v[1] = 362436069u ^ a;
  s->v[2] = 521288629u + b;
  s->v[3] = 88675123u ^ b;
  s->v[4] = 5783321u + a;
  skipahead_sequence(sequence, s);
  skipahead(offset, s);
  s->boxmuller_flag = s->boxmuller_flag_double = 0;
  s->boxmuller_extra = 0;
  s->boxmuller_extra_double = 0;
}
HEDDLE_D unsigned int curand(curandStateXORWOW *s) {
  heddle_sdk::xorwow_step(s->v);
  s->d += 362437u;
  return s->v[4] + s->d;
}

HEDDLE_D void skipahead(unsigned long long n, curandStatePhilox4_32_10 *s) {
  s->STATE += (unsigned int)(n & 3);
  n /= 4;
  if (s->STATE > 3) {
    n++;
    s->STATE -= 4;
  }
  heddle_sdk::philox_add(&s->ctr, n);
  s->output = heddle_sdk::philox(s->ctr, s->key);
}
HEDDLE_D void skipahead_sequence(unsigned long long n, curandStatePhilox4_32_10 *s) {
  unsigned long long high = ((unsigned long long)s->ctr.w << 32 | s->ctr.z) + n;
  s->ctr.z = (unsigned int)high;
  s->ctr.w = (unsigned int)(high >> 32);
  s->output = heddle_sdk::philox(s->ctr, s->key);
}
HEDDLE_D void curand_init(unsigned long long seed, unsigned long long sequence, unsigned long long offset, curandStatePhilox4_32_10 *s) {
  s->ctr = make_uint4(0, 0, 0, 0);
  s->key = make_uint2((unsigned int)seed, (unsigned int)(seed >> 32));
  s->STATE = 0;
  s->boxmuller_flag = s->boxmuller_flag_double = 0;
  s->boxmuller_extra = 0;
  s->boxmuller_extra_double = 0;
  skipahead_sequence(sequence, s);
  skipahead(offset, s);
}
HEDDLE_D unsigned int curand(curandStatePhilox4_32_10 *s) {
  unsigned int v = s->STATE == 0 ? s->output.x : s->STATE == 1 ? s->output.y : s->STATE == 2 ? s->output.z : s->output.w;
  if (++s->STATE == 4) {
    s->STATE = 0;
    heddle_sdk::philox_add(&s->ctr, 1);
    s->output = heddle_sdk::philox(s->ctr, s->key);
  }
  return v;
}
HEDDLE_D uint4 curand4(curandStatePhilox4_32_10 *s) {
  uint4 r;
  r.x = curand(s);
  r.y = curand(s);
  r.z = curand(s);
  r.w = curand(s);
  return r;
}

// Uniform in (0, 1].
template <class S> HEDDLE_D float curand_uniform(S *s) { return (float)curand(s) * 0x1p-32f + 0x1p-33f; }
template <class S> HEDDLE_D double curand_uniform_double(S *s) {
  unsigned long long x = curand(s), y = curand(s);
  return (double)(x ^ y << 21) * 0x1p-53 + 0x1p-54;
}
// Normal with mean 0 and deviation 1, in pairs by the method of Box and Muller.
template <class S> HEDDLE_D float2 curand_normal2(S *s) {
  float u = (float)curand(s) * 0x1p-32f + 0x1p-33f, v = (float)curand(s) * (0x1p-32f * 6.2831855f) + 0x1p-33f * 6.2831855f;
  float r = sqrtf(-2.0f * logf(u)), si, co;
  sincosf(v, &si, &co);
  return make_float2(r * si, r * co);
}
template <class S> HEDDLE_D float curand_normal(S *s) {
  if (s->boxmuller_flag) {
    s->boxmuller_flag = 0;
    return s->boxmuller_extra;
  }
  float2 n = curand_normal2(s);
  s->boxmuller_extra = n.y;
  s->boxmuller_flag = 1;
  return n.x;
}
template <class S> HEDDLE_D double2 curand_normal2_double(S *s) {
  double u = curand_uniform_double(s), v = curand_uniform_double(s) * 2, r = sqrt(-2.0 * log(u)), si, co;
  sincospi(v, &si, &co);
  return make_double2(r * si, r * co);
}
template <class S> HEDDLE_D double curand_normal_double(S *s) {
  if (s->boxmuller_flag_double) {
    s->boxmuller_flag_double = 0;
    return s->boxmuller_extra_double;
  }
  double2 n = curand_normal2_double(s);
  s->boxmuller_extra_double = n.y;
  s->boxmuller_flag_double = 1;
  return n.x;
}
template <class S> HEDDLE_D float curand_log_normal(S *s, float mean, float deviation) { return expf(mean + deviation * curand_normal(s)); }
template <class S> HEDDLE_D double curand_log_normal_double(S *s, double mean, double deviation) {
  return exp(mean + deviation * curand_normal_double(s));
}

// Four at once.
template <class S> HEDDLE_D float4 curand_uniform4(S *s) {
  float x = curand_uniform(s), y = curand_uniform(s), z = curand_uniform(s);
  return make_float4(x, y, z, curand_uniform(s));
}
template <class S> HEDDLE_D float4 curand_normal4(S *s) {
  float2 a = curand_normal2(s), b = curand_normal2(s);
  return make_float4(a.x, a.y, b.x, b.y);
}
template <class S> HEDDLE_D double2 curand_uniform2_double(S *s) {
  double x = curand_uniform_double(s);
  return make_double2(x, curand_uniform_double(s));
}
template <class S> HEDDLE_D float2 curand_log_normal2(S *s, float mean, float deviation) {
  float2 n = curand_normal2(s);
  return make_float2(expf(mean + deviation * n.x), expf(mean + deviation * n.y));
}

#undef HEDDLE_D

#include "curand_poisson.h"

#endif

#endif
