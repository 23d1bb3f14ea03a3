// Numbers of twice the precision: the unevaluated sum of two doubles, of which
// the second is at most half a unit in the last place of the first.

typedef struct { double h, l; } dd;

static FN dd two_sum(double a, double b) {
  double s = a + b, t = s - a;
  return (dd){s, (a - (s - t)) + (b - t)};
}
// two_sum of |a| >= |b|.
static FN dd fast_sum(double a, double b) {
  double s = a + b;
  return (dd){s, b - (s - a)};
}
static FN dd two_prod(double a, double b) {
  double p = mul_f64(a, b);
  return (dd){p, __builtin_fma(a, b, -p)};
}
static FN dd dd_add(dd a, dd b) {
  dd s = two_sum(a.h, b.h), t = two_sum(a.l, b.l);
  s = fast_sum(s.h, s.l + t.h);
  return fast_sum(s.h, s.l + t.l);
}
static FN dd dd_addd(dd a, double b) {
  dd s = two_sum(a.h, b);
  return fast_sum(s.h, s.l + a.l);
}
static FN dd dd_neg(dd a) { return (dd){-a.h, -a.l}; }
static FN dd dd_mul(dd a, dd b) {
  dd p = two_prod(a.h, b.h);
  return fast_sum(p.h, p.l + __builtin_fma(a.h, b.l, a.l * b.h));
}
static FN dd dd_muld(dd a, double b) {
  dd p = two_prod(a.h, b);
  return fast_sum(p.h, __builtin_fma(a.l, b, p.l));
}
// Exact scaling by a power of two.
static FN dd dd_scale(dd a, double b) { return (dd){a.h * b, a.l * b}; }
static FN dd dd_div(dd a, dd b) {
  double q = a.h / b.h;
  double r = __builtin_fma(-q, b.h, a.h) + __builtin_fma(-q, b.l, a.l);
  return fast_sum(q, r / b.h);
}
static FN dd dd_sqrt(dd a) {
  double s = __builtin_sqrt(a.h);
  if (s == 0) return (dd){s, 0};
  double r = __builtin_fma(-s, s, a.h) + a.l;
  return fast_sum(s, r / (2 * s));
}

// A polynomial by Horner's rule.
#define POLY(c, x) poly(c, sizeof(c) / sizeof(c[0]), x)
static FN double poly(const double *c, int n, double x) {
  double p = c[n - 1];
#pragma unroll
  for (int i = n - 2; i >= 0; i--) p = __builtin_fma(p, x, c[i]);
  return p;
}
#define POLYF(c, x) polyf(c, sizeof(c) / sizeof(c[0]), x)
static FN float polyf(const float *c, int n, float x) {
  float p = c[n - 1];
#pragma unroll
  for (int i = n - 2; i >= 0; i--) p = __builtin_fmaf(p, x, c[i]);
  return p;
}

#define INF __builtin_inf()
#define NAN __builtin_nan("")
static FN int is_nan(double x) { return x != x; }
static FN double absd(double x) { return __builtin_fabs(x); }

// x * 2^k, rounded once.
static FN double scale(double x, int k) {
  if (k > 1023) {
    x *= 0x1p1023;
    k -= 1023;
    if (k > 1023) {
      x *= 0x1p1023;
      k -= 1023;
      if (k > 1023) k = 1023;
    }
  } else if (k < -1022) {
    x *= 0x1p-969; // keeps 53 bits of a number that was normal, so everything before the last product is exact
    k += 969;
    if (k < -1022) {
      x *= 0x1p-969;
      k += 969;
      if (k < -1022) k = -1022;
    }
  }
  return x * bits_d((ull)(k + 1023) << 52);
}
// The exponent and the mantissa in [1, 2) of a positive finite number.
static FN int split(double x, double *m) {
  int e = 0;
  if (x < 0x1p-1022) {
    x *= 0x1p54;
    e = -54;
  }
  ull u = d_bits(x);
  *m = bits_d((u & ~(0x7ffull << 52)) | 1023ull << 52);
  return e + (int)(u >> 52 & 0x7ff) - 1023;
}
