// The float functions. The frequent ones compute in float, with the approximate
// instructions where these are good enough; the others round what the double
// functions return.

static FN int is_nanf(float x) { return x != x; }
static FN float absf(float x) { return __builtin_fabsf(x); }
#define INFF __builtin_inff()
#define NANF __builtin_nanf("")

// x * 2^k, rounded once.
static FN float scalef(float x, int k) {
  if (k > 127) {
    x *= 0x1p127f;
    k -= 127;
    if (k > 127) {
      x *= 0x1p127f;
      k -= 127;
      if (k > 127) k = 127;
    }
  } else if (k < -126) {
    x *= 0x1p-102f;
    k += 102;
    if (k < -126) {
      x *= 0x1p-102f;
      k += 102;
      if (k < -126) k = -126;
    }
  }
  return x * bits_f((uint)(k + 127) << 23);
}

// 2^(n + f) for |f| <= 1/2, rounded once.
static FN float exp2_parts(float n, float f) {
  float h = __builtin_rintf(n * 0.5f);
  return __nvvm_ex2_approx_f(f) * bits_f((uint)((int)h + 127) << 23) * bits_f((uint)((int)(n - h) + 127) << 23);
}
float __nv_exp2f(float x) { return __nvvm_ex2_approx_f(x); }
float __nv_expf(float x) {
  float c = x > 105 ? 105 : x < -105 ? -105 : x;
  float n = __builtin_rintf(c * 0x1.715476p+0f);
  float f = __builtin_fmaf(c, 0x1.715476p+0f, -n);
  return is_nanf(x) ? x : exp2_parts(n, __builtin_fmaf(c, 0x1.4ae0cp-26f, f));
}
float __nv_exp10f(float x) {
  float c = x > 46 ? 46 : x < -46 ? -46 : x;
  float n = __builtin_rintf(c * 0x1.a934f0p+1f);
  float f = __builtin_fmaf(c, 0x1.a934f0p+1f, -n);
  return is_nanf(x) ? x : exp2_parts(n, __builtin_fmaf(c, 0x1.2f346ep-24f, f));
}

// Logarithms: the exponent, and f of the mantissa 1 + f in [sqrt(1/2), sqrt(2)).
static FN float split_log(float x, float *f) {
  float e = 0;
  if (x < 0x1p-126f) {
    x *= 0x1p24f;
    e = -24;
  }
  int k = (int)(f_bits(x) - 0x3f3504f3u) >> 23;
  *f = bits_f(f_bits(x) - ((uint)k << 23)) - 1;
  return e + k;
}
static FN int log_specialf(float x, float *r) {
  if (x > 0 && x < INFF) return 0;
  *r = x == 0 ? -INFF : x < 0 ? NANF : x;
  return 1;
}
// log(1 + f) in two parts: f - f²/2 + f³ (1/3 ...).
static FN float log_tail(float f, float *low) {
  float h = mul_f32(0.5f * f, f), hl = __builtin_fmaf(0.5f * f, f, -h);
  float s = f - h;
  *low = ((f - s) - h) + __builtin_fmaf(f * f * f, POLYF(LOGF, f), -hl);
  return s;
}
float __nv_logf(float x) {
  float r, f, low;
  if (log_specialf(x, &r)) return r;
  float e = split_log(x, &f), s = log_tail(f, &low);
  return __builtin_fmaf(e, 0x1.62e43p-1f, s + __builtin_fmaf(e, -0x1.05c61p-29f, low));
}
// log(x) times 1/log(b) = c + cl, with the exponent times log(2)/log(b) = k + kl.
static FN float log_base(float x, float c, float cl, float k, float kl) {
  float r, f, low;
  if (log_specialf(x, &r)) return r;
  float e = split_log(x, &f), s = log_tail(f, &low);
  float p = mul_f32(s, c), pl = __builtin_fmaf(s, c, -p) + __builtin_fmaf(s, cl, low * c);
  float h = __builtin_fmaf(e, k, p);
  return h + (__builtin_fmaf(e, k, -h) + p + __builtin_fmaf(e, kl, pl));
}
float __nv_log2f(float x) { return log_base(x, 0x1.715476p+0f, 0x1.4ae0cp-26f, 1, 0); }
float __nv_log10f(float x) { return log_base(x, 0x1.bcb7b2p-2f, -0x1.5b235ep-27f, 0x1.344136p-2f, -0x1.ec10cp-27f); }

float __nv_rsqrtf(float x) { return __nvvm_rsqrt_approx_f(x); }

// Sine and cosine.
static int reducef(float x, float *r) {
  if (absf(x) < 100000) {
    float k = __builtin_rintf(x * 0x1.45f306p-1f);
    float t = __builtin_fmaf(k, -0x1.921fb4p+0f, x);
    t = __builtin_fmaf(k, -0x1.4442d0p-24f, t);
    *r = __builtin_fmaf(k, -0x1.846988p-48f, t);
    return (int)k & 3;
  }
  dd d;
  int q = reduce(x, &d);
  *r = (float)d.h;
  return q;
}
static FN float sin_quadrantf(float r, int q) {
  float z = r * r, v;
  if (q & 1) v = __builtin_fmaf(z * z, POLYF(COSF, z), __builtin_fmaf(z, -0.5f, 1));
  else v = __builtin_fmaf(r * z, POLYF(SINF, z), r);
  return q & 2 ? -v : v;
}
float __nv_sinf(float x) {
  float r;
  if (!__nv_finitef(x)) return NANF;
  if (x == 0) return x;
  int q = reducef(x, &r);
  return sin_quadrantf(r, q);
}
float __nv_cosf(float x) {
  float r;
  if (!__nv_finitef(x)) return NANF;
  int q = reducef(x, &r);
  return sin_quadrantf(r, q + 1);
}
void __nv_sincosf(float x, float *s, float *c) {
  float r;
  if (!__nv_finitef(x)) {
    *s = *c = NANF;
    return;
  }
  int q = reducef(x, &r);
  *s = x == 0 ? x : sin_quadrantf(r, q);
  *c = sin_quadrantf(r, q + 1);
}
float __nv_tanf(float x) { return (float)__nv_tan(x); }
static FN int reduce_pif(float x, float *r) {
  if (absf(x) >= 0x1p24f) x = 0; // a multiple of 2
  float k = __builtin_rintf(2 * x), t = __builtin_fmaf(-0.5f, k, x);
  *r = __builtin_fmaf(t, 0x1.921fb6p+1f, t * -0x1.777a5cp-24f);
  return (int)k & 3;
}
float __nv_sinpif(float x) {
  float r;
  if (!__nv_finitef(x)) return NANF;
  if (x == __builtin_truncf(x)) return __builtin_copysignf(0, x);
  int q = reduce_pif(x, &r);
  return sin_quadrantf(r, q);
}
float __nv_cospif(float x) {
  float r;
  if (!__nv_finitef(x)) return NANF;
  int q = reduce_pif(x, &r);
  return q & 1 && r == 0 ? 0 : sin_quadrantf(r, q + 1);
}
void __nv_sincospif(float x, float *s, float *c) {
  *s = __nv_sinpif(x);
  *c = __nv_cospif(x);
}

float __nv_tanhf(float x) {
  float a = absf(x);
  if (is_nanf(x)) return x;
  if (a < 0.6f) {
    float z = x * x;
    return __builtin_fmaf(x * z, POLYF(TANHF, z), x);
  }
  if (a > 10) return __builtin_copysignf(1, x);
  float e = __nvvm_ex2_approx_f(a * 0x1.715476p+1f);
  return __builtin_copysignf(1 - 2 / (e + 1), x);
}
static FN float atan_low(float t) {
  float z = t * t;
  return __builtin_fmaf(t * z, POLYF(ATANF, z), t);
}
float __nv_atanf(float x) {
  float a = absf(x);
  if (is_nanf(x)) return x;
  float t = a > 1 ? 0x1.921fb6p+0f - (atan_low(1 / a) + 0x1.777a5cp-25f) : atan_low(a);
  return __builtin_copysignf(t, x);
}
float __nv_atan2f(float y, float x) {
  float a = absf(y), b = absf(x);
  if (is_nanf(x) || is_nanf(y)) return x + y;
  int left = (int)(f_bits(x) >> 31);
  float hi = a > b ? a : b, lo = a > b ? b : a, t;
  if (hi == 0) t = 0;
  else if (lo == INFF) t = 1;
  else t = lo / hi;
  t = atan_low(t);
  if (a > b) t = 0x1.921fb6p+0f - (t + 0x1.777a5cp-25f);
  if (left) t = 0x1.921fb6p+1f - (t + 0x1.777a5cp-24f);
  return __builtin_copysignf(t, y);
}
static FN float asin_low(float s) {
  float z = s * s;
  return __builtin_fmaf(s * z, POLYF(ASINF, z), s);
}
float __nv_asinf(float x) {
  float a = absf(x);
  if (!(a <= 1)) return NANF;
  if (a <= 0.5f) return asin_low(x);
  float t = asin_low(__nvvm_sqrt_rn_f(0.5f * (1 - a)));
  return __builtin_copysignf(__builtin_fmaf(-2, t, 0x1.921fb6p+0f) - 0x1.777a5cp-25f, x);
}
float __nv_acosf(float x) {
  float a = absf(x);
  if (!(a <= 1)) return NANF;
  if (a <= 0.5f) return 0x1.921fb6p+0f - (asin_low(x) + 0x1.777a5cp-25f);
  float t = 2 * asin_low(__nvvm_sqrt_rn_f(0.5f * (1 - a)));
  return x > 0 ? t : 0x1.921fb6p+1f - (t + 0x1.777a5cp-24f);
}

// For numbers whose squares are representable in double.
float __nv_hypotf(float a, float b) {
  if (absf(a) == INFF || absf(b) == INFF) return INFF;
  return (float)__builtin_sqrt(__builtin_fma((double)a, (double)a, (double)b * b));
}
float __nv_rhypotf(float a, float b) {
  if (absf(a) == INFF || absf(b) == INFF) return 0;
  return (float)(1 / __builtin_sqrt(__builtin_fma((double)a, (double)a, (double)b * b)));
}
static double lengthf(int n, const float *v) {
  double s = 0;
  int inf = 0;
  for (int i = 0; i < n; i++) {
    inf |= absf(v[i]) == INFF;
    s = __builtin_fma((double)v[i], (double)v[i], s);
  }
  return inf ? INF : __builtin_sqrt(s);
}
float __nv_normf(int n, const float *v) { return (float)lengthf(n, v); }
float __nv_rnormf(int n, const float *v) { return (float)(1 / lengthf(n, v)); }
float __nv_norm3df(float a, float b, float c) { float v[3] = {a, b, c}; return (float)lengthf(3, v); }
float __nv_rnorm3df(float a, float b, float c) { float v[3] = {a, b, c}; return (float)(1 / lengthf(3, v)); }
float __nv_norm4df(float a, float b, float c, float d) { float v[4] = {a, b, c, d}; return (float)lengthf(4, v); }
float __nv_rnorm4df(float a, float b, float c, float d) { float v[4] = {a, b, c, d}; return (float)(1 / lengthf(4, v)); }

float __nv_logbf(float x) { return (float)__nv_logb(x); }
int __nv_ilogbf(float x) { return __nv_ilogb(x); }
float __nv_frexpf(float x, int *e) { return (float)__nv_frexp(x, e); }
float __nv_scalbnf(float x, int k) { return scalef(x, k); }
float __nv_ldexpf(float x, int k) { return scalef(x, k); }
float __nv_fmodf(float a, float b) { return (float)__nv_fmod(a, b); }
float __nv_remainderf(float a, float b) { return (float)__nv_remainder(a, b); }
float __nv_remquof(float a, float b, int *q) { return (float)__nv_remquo(a, b, q); }
float __nv_nextafterf(float a, float b) {
  if (is_nanf(a) || is_nanf(b)) return a + b;
  if (a == b) return b;
  if (a == 0) return __builtin_copysignf(0x1p-149f, b);
  uint u = f_bits(a);
  return bits_f((a < b) == (a > 0) ? u + 1 : u - 1);
}

// Functions that round a double.
float __nv_powf(float x, float y) { return (float)__nv_pow(x, y); }
float __nv_powif(float x, int n) { return (float)__nv_pow(x, n); }
#define ROUNDED(name) float __nv_##name##f(float x) { return (float)__nv_##name(x); }
ROUNDED(expm1)
ROUNDED(log1p)
ROUNDED(cbrt)
ROUNDED(rcbrt)
ROUNDED(sinh)
ROUNDED(cosh)
ROUNDED(asinh)
ROUNDED(acosh)
ROUNDED(atanh)
ROUNDED(erf)
ROUNDED(erfc)
ROUNDED(erfcx)
ROUNDED(erfinv)
ROUNDED(erfcinv)
ROUNDED(normcdf)
ROUNDED(normcdfinv)
ROUNDED(lgamma)
ROUNDED(tgamma)
ROUNDED(j0)
ROUNDED(j1)
ROUNDED(y0)
ROUNDED(y1)
ROUNDED(cyl_bessel_i0)
ROUNDED(cyl_bessel_i1)
float __nv_jnf(int n, float x) { return (float)__nv_jn(n, x); }
float __nv_ynf(int n, float x) { return (float)__nv_yn(n, x); }
