// The double functions, and their common parts in twice the precision.

// Exponentials. e^x = 2^k (1 + q): q of twice the precision, k returned.
static dd exp_parts(dd x, int *k) {
  double n = __builtin_rint(x.h * INV_LN2.h);
  dd p = two_prod(-n, LN2.h);
  dd r = two_sum(x.h, p.h);
  r = two_sum(r.h, r.l + (p.l + __builtin_fma(-n, LN2.l, x.l)));
  *k = (int)n;
  // r + r²/2 + r³ (1/6 + ...)
  dd half = two_prod(0.5 * r.h, r.h);
  double tail = __builtin_fma(r.h * r.h * r.h, POLY(EXP, r.h), half.l + r.h * r.l);
  dd q = two_sum(r.h, half.h);
  return fast_sum(q.h, q.l + (r.l + tail));
}
// e^x, rounded.
static double exp_dd(dd x) {
  if (is_nan(x.h)) return x.h;
  if (x.h > 709.79) return INF;
  if (x.h < -745.2) return 0;
  int k;
  dd q = exp_parts(x, &k);
  dd e = fast_sum(1, q.h);
  return scale(e.h + (e.l + q.l), k);
}
// e^x for |x| < 700, of twice the precision.
static dd exp_pair(dd x) {
  int k;
  dd q = exp_parts(x, &k);
  dd e = fast_sum(1, q.h);
  return dd_scale(fast_sum(e.h, e.l + q.l), bits_d((ull)(k + 1023) << 52));
}
// e^x - 1 for -60 < x < 700.
static dd expm1_pair(dd x) {
  int k;
  dd q = exp_parts(x, &k);
  double s = bits_d((ull)(k + 1023) << 52);
  return dd_add(dd_scale(q, s), two_sum(s, -1));
}

double __nv_exp(double x) { return exp_dd((dd){x, 0}); }
double __nv_expm1(double x) {
  if (is_nan(x)) return x;
  if (x > 709.79) return INF;
  if (x < -40) return -1;
  if (absd(x) < 0x1p-60) return x;
  if (x > 50) return __nv_exp(x);
  return expm1_pair((dd){x, 0}).h;
}
double __nv_exp2(double x) {
  if (is_nan(x)) return x;
  if (x >= 1024) return INF;
  if (x < -1076) return 0;
  double n = __builtin_rint(x);
  int k;
  dd q = exp_parts(dd_muld(LN2, x - n), &k);
  dd e = fast_sum(1, q.h);
  return scale(e.h + (e.l + q.l), k + (int)n);
}
double __nv_exp10(double x) {
  if (is_nan(x)) return x;
  if (x > 309) return INF;
  if (x < -324) return 0;
  return exp_dd(dd_muld(LN10, x));
}

// Logarithms. The logarithm of x without its exponent, which is returned.
static dd log_parts(double x, int *e) {
  double m;
  *e = split(x, &m);
  if (m > 0x1.6a09e667f3bcdp+0) {
    m *= 0.5;
    ++*e;
  }
  double f = m - 1;
  dd s = dd_div((dd){f, 0}, two_sum(m, 1));
  dd z = dd_mul(s, s);
  // 2s + s³ (2/3 + z (2/5 + ...))
  dd c = two_sum(TWO_THIRDS.h, z.h * POLY(LOG, z.h));
  c.l += TWO_THIRDS.l;
  return dd_add(dd_scale(s, 2), dd_mul(dd_mul(s, z), c));
}
static dd log_pair(double x) {
  int e;
  dd l = log_parts(x, &e);
  return dd_add(dd_muld(LN2, e), l);
}
// The logarithm of a sum.
static dd log_sum(dd x) { return dd_addd(log_pair(x.h), x.l / x.h); }
// The common part of logarithms: true if the result is in *r.
static FN int log_special(double x, double *r) {
  if (x > 0 && x < INF) return 0;
  *r = x == 0 ? -INF : x < 0 ? NAN : x;
  return 1;
}
double __nv_log(double x) {
  double r;
  return log_special(x, &r) ? r : log_pair(x).h;
}
double __nv_log2(double x) {
  double r;
  int e;
  if (log_special(x, &r)) return r;
  dd l = dd_mul(log_parts(x, &e), INV_LN2);
  return dd_addd(l, e).h;
}
double __nv_log10(double x) {
  double r;
  return log_special(x, &r) ? r : dd_mul(log_pair(x), INV_LN10).h;
}
double __nv_log1p(double x) {
  if (!(x > -1)) return x == -1 ? -INF : NAN;
  if (x == INF || absd(x) < 0x1p-54) return x;
  return log_sum(two_sum(x, 1)).h;
}
double __nv_logb(double x) {
  double m;
  if (x == 0) return -INF;
  if (!__nv_isfinited(x)) return x * x;
  return split(absd(x), &m);
}
int __nv_ilogb(double x) {
  double m;
  if (x == 0) return -2147483647 - 1;
  if (!__nv_isfinited(x)) return is_nan(x) ? -2147483647 - 1 : 2147483647;
  return split(absd(x), &m);
}
double __nv_frexp(double x, int *e) {
  double m;
  *e = 0;
  if (x == 0 || !__nv_isfinited(x)) return x;
  *e = split(absd(x), &m) + 1;
  return __builtin_copysign(m * 0.5, x);
}
double __nv_scalbn(double x, int k) { return scale(x, k); }
double __nv_ldexp(double x, int k) { return scale(x, k); }

// Powers.
double __nv_pow(double x, double y) {
  if (y == 0 || x == 1) return 1;
  if (is_nan(x) || is_nan(y)) return x + y;
  double a = absd(x);
  int whole = __builtin_trunc(y) == y, odd = whole && absd(y) < 0x1p53 && __builtin_trunc(y * 0.5) != y * 0.5;
  double sign = odd && d_bits(x) >> 63 ? -1 : 1;
  if (a == 1 && (whole || absd(y) == INF)) return sign;
  if (absd(y) == INF) return (a > 1) == (y > 0) ? INF : 0;
  if (a == 0 || a == INF) return sign * ((a == 0) == (y > 0) ? 0 : INF);
  if (x < 0 && !whole) return NAN;
  dd l = log_pair(a);
  double big = l.h * y;
  if (big > 710) return sign * INF;
  if (big < -746) return sign * 0.0;
  return sign * exp_dd(dd_muld(l, y));
}
double __nv_powi(double x, int n) { return __nv_pow(x, n); }

double __nv_cbrt(double x) {
  if (x == 0 || !__nv_isfinited(x)) return x;
  double m, a = absd(x);
  int e = split(a, &m), third = (e + 1200) / 3 - 400;
  m *= bits_d((ull)(e - 3 * third + 1023) << 52); // in [1, 8)
  double y = __nvvm_ex2_approx_f(__nvvm_lg2_approx_f((float)m) * 0x1.555556p-2f);
  y -= (y * y * y - m) / (3 * y * y);
  dd cube = dd_muld(two_prod(y, y), y);
  y -= ((cube.h - m) + cube.l) / (3 * y * y);
  return __builtin_copysign(scale(y, third), x);
}
double __nv_rcbrt(double x) {
  if (x == 0 || !__nv_isfinited(x)) return 1 / x;
  return 1 / __nv_cbrt(x);
}
double __nv_rsqrt(double x) { return 1 / __builtin_sqrt(x); }

// Sine and cosine: the quadrant, and what is left of x in [-π/4, π/4].
static int reduce(double x, dd *r) {
  double a = absd(x);
  int q;
  if (a < 0x1p30) {
    double k = __builtin_rint(a * TWO_PI.h);
    dd p = two_prod(k, PI_2.h), p2 = two_prod(k, PI_2.l);
    dd t = two_sum(a - p.h, -p.l);
    t = dd_add(t, dd_neg(p2));
    *r = fast_sum(t.h, __builtin_fma(-k, PI_2_3, t.l));
    q = (int)k;
  } else {
    // 192 bits of 2/π, from the first that matters, times 53 of x, modulo 4.
    ull u = d_bits(a), m = (u & ((1ull << 52) - 1)) | 1ull << 52;
    int from = (int)(u >> 52) - 1075 - 2 + 64, w = from >> 6, s = from & 63;
    ull t0 = TWO_PI_BITS[w], t1 = TWO_PI_BITS[w + 1], t2 = TWO_PI_BITS[w + 2], t3 = TWO_PI_BITS[w + 3];
    if (s) {
      t0 = t0 << s | t1 >> (64 - s);
      t1 = t1 << s | t2 >> (64 - s);
      t2 = t2 << s | t3 >> (64 - s);
    }
    ull p2 = m * t2, c2 = __nvvm_mulhi_ull(m, t2), p1 = m * t1 + c2;
    ull c1 = __nvvm_mulhi_ull(m, t1) + (p1 < c2), p0 = m * t0 + c1;
    q = (int)(p0 >> 62);
    p0 = p0 << 2 | p1 >> 62;
    p1 = p1 << 2 | p2 >> 62;
    p2 <<= 2;
    double sign = 1;
    if (p0 >> 63) { // more than half a quadrant: count from the next
      q++;
      sign = -1;
      p2 = ~p2;
      p1 = ~p1;
      p0 = ~p0;
    }
    int z = 0;
    if (p0 == 0) {
      z = 64;
      p0 = p1;
      p1 = p2;
      p2 = 0;
    }
    int n = __nv_clzll((ll)p0);
    if (n) {
      p0 = p0 << n | p1 >> (64 - n);
      p1 = p1 << n | p2 >> (64 - n);
    }
    z += n;
    double f = sign * bits_d((ull)(1023 - 53 - z) << 52);
    dd v = {(double)(p0 >> 11) * f, (double)((p0 << 53 | p1 >> 11) >> 11) * f * 0x1p-53};
    *r = dd_mul(v, PI_2);
  }
  if (x < 0) {
    *r = dd_neg(*r);
    q = -q;
  }
  return q & 3;
}
static double sin_kernel(dd r) {
  double z = r.h * r.h;
  return r.h + __builtin_fma(r.h * z, POLY(SIN, z), r.l * (1 - 0.5 * z));
}
static double cos_kernel(dd r) {
  double z = r.h * r.h, h = 0.5 * z, w = 1 - h;
  return w + (((1 - w) - h) + __builtin_fma(z * z, POLY(COS, z), -r.h * r.l));
}
// sin(r + q π/2).
static double sin_quadrant(dd r, int q) {
  double v = q & 1 ? cos_kernel(r) : sin_kernel(r);
  return q & 2 ? -v : v;
}
double __nv_sin(double x) {
  if (!__nv_isfinited(x)) return NAN;
  if (absd(x) < 0x1p-27) return x;
  dd r;
  int q = reduce(x, &r);
  return sin_quadrant(r, q);
}
double __nv_cos(double x) {
  if (!__nv_isfinited(x)) return NAN;
  dd r;
  int q = reduce(x, &r);
  return sin_quadrant(r, q + 1);
}
void __nv_sincos(double x, double *s, double *c) {
  *s = __nv_sin(x);
  *c = __nv_cos(x);
}
double __nv_tan(double x) {
  if (!__nv_isfinited(x)) return NAN;
  if (absd(x) < 0x1p-27) return x;
  dd r;
  int q = reduce(x, &r);
  double s = sin_kernel(r), c = cos_kernel(r);
  return q & 1 ? -c / s : s / c;
}
static int reduce_pi(double x, dd *r) {
  double a = absd(x);
  if (a >= 0x1p53) x = 0; // a multiple of 2
  double k = __builtin_rint(2 * x);
  *r = dd_muld(PI, __builtin_fma(-0.5, k, x));
  return (int)((ll)k & 3);
}
double __nv_sinpi(double x) {
  if (!__nv_isfinited(x)) return NAN;
  if (x == __builtin_trunc(x)) return __builtin_copysign(0, x);
  dd r;
  int q = reduce_pi(x, &r);
  return sin_quadrant(r, q);
}
double __nv_cospi(double x) {
  if (!__nv_isfinited(x)) return NAN;
  dd r;
  int q = reduce_pi(x, &r);
  if (q & 1 && r.h == 0) return 0;
  return sin_quadrant(r, q + 1);
}
void __nv_sincospi(double x, double *s, double *c) {
  *s = __nv_sinpi(x);
  *c = __nv_cospi(x);
}

// Hyperbolic functions.
double __nv_sinh(double x) {
  double a = absd(x), v;
  if (!(a < 711)) return x + x;
  if (a < 0x1p-28) return x;
  if (a > 40) {
    v = exp_dd(dd_add((dd){a, 0}, dd_neg(LN2)));
  } else {
    dd m = expm1_pair((dd){a, 0}); // (m + m / (m + 1)) / 2
    v = 0.5 * dd_add(m, dd_div(m, dd_addd(m, 1))).h;
  }
  return __builtin_copysign(v, x);
}
double __nv_cosh(double x) {
  double a = absd(x);
  if (!(a < 711)) return a + a;
  if (a > 40) return exp_dd(dd_add((dd){a, 0}, dd_neg(LN2)));
  dd e = exp_pair((dd){a, 0});
  return 0.5 * dd_add(e, dd_div((dd){1, 0}, e)).h;
}
double __nv_tanh(double x) {
  double a = absd(x);
  if (is_nan(x) || a < 0x1p-28) return x;
  if (a > 22) return __builtin_copysign(1, x);
  dd m = expm1_pair((dd){2 * a, 0});
  return __builtin_copysign(dd_div(m, dd_addd(m, 2)).h, x);
}
// log(1 + u).
static dd log1p_pair(dd u) {
  dd s = two_sum(1, u.h);
  return log_sum(fast_sum(s.h, s.l + u.l));
}
double __nv_asinh(double x) {
  double a = absd(x), v;
  if (!__nv_isfinited(x)) return x;
  if (a < 0x1p-28) return x;
  if (a > 0x1p28) {
    v = dd_add(log_pair(a), LN2).h;
  } else {
    dd z = two_prod(a, a), root = dd_sqrt(dd_addd(z, 1));
    v = log1p_pair(dd_addd(dd_div(z, dd_addd(root, 1)), a)).h;
  }
  return __builtin_copysign(v, x);
}
double __nv_acosh(double x) {
  if (!(x >= 1)) return NAN;
  if (x == INF) return x;
  if (x > 0x1p28) return dd_add(log_pair(x), LN2).h;
  double t = x - 1;
  if (t == 0) return 0;
  dd root = dd_sqrt(dd_addd(two_prod(t, t), 2 * t));
  return log1p_pair(dd_addd(root, t)).h;
}
double __nv_atanh(double x) {
  double a = absd(x);
  if (!(a <= 1)) return NAN;
  if (a == 1) return __builtin_copysign(INF, x);
  if (a < 0x1p-28) return x;
  dd u = dd_div((dd){2 * a, 0}, two_sum(1, -a));
  return __builtin_copysign(0.5 * log1p_pair(u).h, x);
}

// Inverse sine and its like.
static dd asin_pair(dd s) { // |s| <= 1/2
  double z = s.h * s.h;
  return fast_sum(s.h, __builtin_fma(s.h * z, POLY(ASIN, z), s.l));
}
double __nv_asin(double x) {
  double a = absd(x);
  if (!(a <= 1)) return NAN;
  if (a < 0x1p-28) return x;
  if (a <= 0.5) return asin_pair((dd){x, 0}).h;
  dd t = asin_pair(dd_sqrt((dd){0.5 * (1 - a), 0}));
  return __builtin_copysign(dd_add(PI_2, dd_scale(t, -2)).h, x);
}
double __nv_acos(double x) {
  double a = absd(x);
  if (!(a <= 1)) return NAN;
  if (a <= 0.5) return dd_add(PI_2, dd_neg(asin_pair((dd){x, 0}))).h;
  dd t = dd_scale(asin_pair(dd_sqrt((dd){0.5 * (1 - a), 0})), 2);
  return x > 0 ? t.h : dd_add(PI, dd_neg(t)).h;
}
// The angle of 0 <= y <= x.
static dd angle(double y, double x) {
  dd t, base = {0, 0};
  if (y > 0x1.a827999fcef32p-2 * x) { // tan(π/8)
    t = dd_div(two_sum(y, -x), two_sum(y, x));
    base = PI_4;
  } else {
    t = dd_div((dd){y, 0}, (dd){x, 0});
  }
  double z = t.h * t.h;
  return dd_add(base, fast_sum(t.h, __builtin_fma(t.h * z, POLY(ATAN, z), t.l)));
}
double __nv_atan2(double y, double x) {
  if (is_nan(x) || is_nan(y)) return x + y;
  double a = absd(y), b = absd(x);
  int left = (int)(d_bits(x) >> 63);
  dd t;
  if (a == 0) {
    t = (dd){0, 0};
  } else if (a == INF && b == INF) {
    t = PI_4;
  } else if (b == INF) {
    t = (dd){0, 0};
  } else if (a == INF) {
    t = PI_2;
  } else {
    double hi = a > b ? a : b, lo = a > b ? b : a;
    if (lo < hi * 0x1p-60) {
      // The quotient alone; divided once, it may be subnormal.
      t = a > b ? PI_2 : left ? (dd){0, 0} : (dd){a / b, 0};
    } else {
      double f = hi > 0x1p900 ? 0x1p-100 : lo < 0x1p-900 ? 0x1p100 : 1;
      if (hi < 0x1p-900) f = 0x1p150;
      t = angle(lo * f, hi * f);
      if (a > b) t = dd_add(PI_2, dd_neg(t));
    }
  }
  if (left) t = dd_add(PI, dd_neg(t));
  return __builtin_copysign(t.h, y);
}
double __nv_atan(double x) {
  if (is_nan(x)) return x;
  double a = absd(x);
  if (a < 0x1p-28) return x;
  dd t = a > 0x1p60 ? PI_2 : a > 1 ? dd_add(PI_2, dd_neg(angle(1, a))) : angle(a, 1);
  return __builtin_copysign(t.h, x);
}

// Lengths of vectors: the sum of squares of numbers scaled by 2^-k.
static dd squares(const double *v, int n, double most, int *k) {
  double m;
  *k = split(most, &m);
  dd s = {0, 0};
  for (int i = 0; i < n; i++) {
    double x = scale(v[i], -*k);
    s = dd_add(s, two_prod(x, x));
  }
  return s;
}
static double length(int n, const double *v, int inverse) {
  double most = 0;
  int nan = 0;
  for (int i = 0; i < n; i++) {
    nan |= is_nan(v[i]);
    if (absd(v[i]) > most) most = absd(v[i]);
  }
  if (most == INF) return inverse ? 0 : INF;
  if (nan) return NAN;
  if (most == 0) return inverse ? INF : 0;
  int k;
  dd s = dd_sqrt(squares(v, n, most, &k));
  return inverse ? scale(dd_div((dd){1, 0}, s).h, -k) : scale(s.h, k);
}
double __nv_norm(int n, const double *v) { return length(n, v, 0); }
double __nv_rnorm(int n, const double *v) { return length(n, v, 1); }
double __nv_hypot(double a, double b) { double v[2] = {a, b}; return length(2, v, 0); }
double __nv_rhypot(double a, double b) { double v[2] = {a, b}; return length(2, v, 1); }
double __nv_norm3d(double a, double b, double c) { double v[3] = {a, b, c}; return length(3, v, 0); }
double __nv_rnorm3d(double a, double b, double c) { double v[3] = {a, b, c}; return length(3, v, 1); }
double __nv_norm4d(double a, double b, double c, double d) { double v[4] = {a, b, c, d}; return length(4, v, 0); }
double __nv_rnorm4d(double a, double b, double c, double d) { double v[4] = {a, b, c, d}; return length(4, v, 1); }

// Remainders.
static double remainder_low(double a, double b, ull *quotient) { // of 0 <= a, 0 < b, finite
  *quotient = 0;
  if (a < b) return a;
  ull ua = d_bits(a), ub = d_bits(b);
  int ea = (int)(ua >> 52), eb = (int)(ub >> 52);
  ull ma = ua & ((1ull << 52) - 1), mb = ub & ((1ull << 52) - 1);
  if (ea) ma |= 1ull << 52; else ea = 1;
  if (eb) mb |= 1ull << 52; else eb = 1;
  int up = __nv_clzll((ll)mb) - 11; // of a subnormal divisor
  mb <<= up;
  eb -= up;
  up = __nv_clzll((ll)ma) - 11;
  ma <<= up;
  ea -= up;
  ull q = 0;
  for (int i = ea - eb;; i--) {
    q <<= 1;
    if (ma >= mb) {
      ma -= mb;
      q |= 1;
    }
    if (i == 0) break;
    ma <<= 1;
  }
  *quotient = q;
  return scale((double)ma, eb - 1075);
}
double __nv_fmod(double a, double b) {
  ull q;
  if (!__nv_isfinited(a) || is_nan(b) || b == 0) return NAN;
  if (absd(b) == INF) return a;
  return __builtin_copysign(remainder_low(absd(a), absd(b), &q), a);
}
double __nv_remquo(double a, double b, int *quotient) {
  ull q = 0;
  *quotient = 0;
  if (!__nv_isfinited(a) || is_nan(b) || b == 0) return NAN;
  double x = absd(a), y = absd(b);
  if (y == INF) return a;
  double r = remainder_low(x, y, &q), rest = y - r;
  if (r > rest || (r == rest && q & 1)) {
    r = -rest;
    q++;
  }
  int n = (int)(q & 0x7fffffff);
  *quotient = (d_bits(a) ^ d_bits(b)) >> 63 ? -n : n;
  return d_bits(a) >> 63 ? -r : r;
}
double __nv_remainder(double a, double b) {
  int q;
  return __nv_remquo(a, b, &q);
}
double __nv_nextafter(double a, double b) {
  if (is_nan(a) || is_nan(b)) return a + b;
  if (a == b) return b;
  if (a == 0) return __builtin_copysign(0x1p-1074, b);
  ull u = d_bits(a);
  return bits_d((a < b) == (a > 0) ? u + 1 : u - 1);
}

// The error function.
static dd erf_small(double x) { // |x| <= 1
  double z = x * x;
  dd v = dd_muld(TWO_SQRTPI, x);
  return fast_sum(v.h, __builtin_fma(x * z, POLY(ERF, z), v.l));
}
// e^(x²) erfc(x) for x >= 0.4.
static dd erfcx_pair(double x) {
  if (x > 0x1p26) return dd_div(dd_scale(TWO_SQRTPI, 0.5), (dd){x, 0});
  dd q = dd_div(two_sum(x, -4), two_sum(x, 4));
  // The last step of Horner's rule in twice the precision.
  double p = poly(ERFCX + 1, sizeof(ERFCX) / sizeof(ERFCX[0]) - 1, q.h);
  dd v = two_prod(p, q.h);
  v = dd_addd((dd){v.h, __builtin_fma(p, q.l, v.l)}, ERFCX[0]);
  return dd_div(v, two_sum(1, 2 * x));
}
// 2^k erfc(x.h + x.l), x.h >= 0.5, rounded once.
static double erfc_large(dd x, int k) {
  if (x.h > 28) return 0;
  dd v = erfcx_pair(x.h);
  // erfcx'(x) = 2x erfcx(x) - 2/sqrt(π)
  v = fast_sum(v.h, __builtin_fma(2 * x.h * v.h - TWO_SQRTPI.h, x.l, v.l));
  int e;
  dd q = exp_parts(dd_neg(dd_mul(x, x)), &e), one = fast_sum(1, q.h);
  return scale(dd_mul(fast_sum(one.h, one.l + q.l), v).h, e + k);
}
static double erfc_any(dd x) {
  if (x.h >= 0.5) return erfc_large(x, 0);
  if (x.h <= -0.5) return x.h < -6 ? 2 : 2 - erfc_large(dd_neg(x), 0);
  dd v = erf_small(x.h);
  v.l += x.l * TWO_SQRTPI.h * (1 - x.h * x.h);
  return dd_addd(dd_neg(v), 1).h;
}
double __nv_erfc(double x) { return is_nan(x) ? x : erfc_any((dd){x, 0}); }
double __nv_erf(double x) {
  double a = absd(x);
  if (is_nan(x)) return x;
  if (a < 0x1p-1000) return 0x1p-300 * (0x1p300 * x * TWO_SQRTPI.h);
  if (a <= 1) return erf_small(x).h;
  return __builtin_copysign(a > 6 ? 1 : 1 - erfc_large((dd){a, 0}, 0), x);
}
double __nv_erfcx(double x) {
  if (is_nan(x)) return x;
  if (x == INF) return 0;
  if (x >= 0.5) return erfcx_pair(x).h;
  if (x < -26.7) return INF;
  dd e = exp_pair(two_prod(x, x));
  if (x > -0.5) return dd_mul(e, dd_addd(dd_neg(erf_small(x)), 1)).h;
  return dd_add(dd_scale(e, 2), dd_neg(erfcx_pair(-x))).h;
}
double __nv_normcdf(double x) {
  if (is_nan(x)) return x;
  if (x > 10) return 1;
  if (x < -38.6) return 0;
  dd t = dd_muld(SQRT1_2, -x);
  return t.h < 0.5 ? 0.5 * erfc_any(t) : erfc_large(t, -1);
}

// The inverse of erfc on (0, 1], by Newton's method on the logarithm, in which
// the tail is nearly a parabola.
static double erfcinv_low(double y) {
  double x;
  if (y > 0.5) {
    double e = 1 - y; // exact; erf(x) = e
    x = e * 0.886226925452758 * (1 + e * e * 0.2617993877991494);
    for (int i = 0; i < 4; i++) {
      dd f = dd_addd(erf_small(x), -e);
      double step = (f.h + f.l) * (0.5 * 1.772453850905516) * __nv_exp(x * x);
      x -= step / (1 + x * step);
    }
    return x;
  }
  double l = log_pair(y).h;
  x = __builtin_sqrt(-l);
  x = __builtin_sqrt(-l - log_pair(x * 1.772453850905516 < 1 ? 1.0 : x * 1.772453850905516).h);
  if (x < 0.5) x = 0.5;
  for (int i = 0; i < 5; i++) {
    // f = log erfc(x) - log y; f' = -2/(sqrt(π) erfcx(x))
    dd v = erfcx_pair(x), f = dd_add(dd_add(log_pair(v.h), dd_neg(two_prod(x, x))), dd_neg(log_pair(y)));
    x += (f.h + f.l) * v.h / TWO_SQRTPI.h;
  }
  return x;
}
double __nv_erfcinv(double y) {
  if (!(y >= 0 && y <= 2)) return NAN;
  if (y == 0) return INF;
  if (y == 2) return -INF;
  return y > 1 ? -erfcinv_low(2 - y) : y == 1 ? 0 : erfcinv_low(y);
}
double __nv_erfinv(double y) {
  double a = absd(y);
  if (!(a <= 1)) return NAN;
  if (a == 1) return __builtin_copysign(INF, y);
  if (a < 0x1p-28) return y == 0 ? y : dd_div((dd){y, 0}, TWO_SQRTPI).h;
  double x;
  if (a < 0.5) {
    x = a * 0.886226925452758 * (1 + a * a * 0.2617993877991494);
    for (int i = 0; i < 4; i++) {
      dd f = dd_addd(erf_small(x), -a);
      double step = (f.h + f.l) * (0.5 * 1.772453850905516) * __nv_exp(x * x);
      x -= step / (1 + x * step);
    }
  } else {
    x = erfcinv_low(1 - a);
  }
  return __builtin_copysign(x, y);
}
double __nv_normcdfinv(double p) {
  if (!(p >= 0 && p <= 1)) return NAN;
  if (p == 0) return -INF;
  if (p == 1) return INF;
  return -dd_muld(SQRT2, __nv_erfcinv(2 * p)).h;
}

// The gamma function. log Γ(2 + z) for |z| <= 1/2.
static dd lgamma_two(double z) {
  double p = POLY(GAMMA2, z);
  return dd_muld(two_sum(GAMMA2_0.h, __builtin_fma(z, p, GAMMA2_0.l)), z);
}
// log Γ(x) for x > 0.
static dd lgamma_positive(double x) {
  if (x > 1.5 && x < 2.5) return lgamma_two(x - 2);
  if (x > 0.5 && x <= 1.5) return dd_add(lgamma_two(x - 1), dd_neg(log_pair(x)));
  dd shift = {1, 0}, t = {x, 0};
  double n = 0;
  while (t.h < 18) {
    shift = dd_mul(shift, t);
    n++;
    t = two_sum(x, n);
  }
  // (t - 1/2) log t - t + log(2π)/2 + 1/(12t) - ...
  double inv = 1 / t.h;
  dd l = log_sum(t);
  dd v = dd_add(dd_mul(dd_addd(t, -0.5), l), dd_neg(t));
  v = dd_add(v, HALF_LN_2PI);
  dd first = dd_div((dd){1, 0}, dd_muld(t, 12));
  double z = inv * inv, p = 0;
  for (int i = 12; i >= 1; i--) p = __builtin_fma(p, z, STIRLING[i]);
  v = dd_add(v, dd_addd(first, p * z * inv));
  if (n > 0) v = dd_add(v, dd_neg(log_sum(shift)));
  return v;
}
double __nv_lgamma(double x) {
  if (is_nan(x)) return x;
  if (x == INF || x == -INF) return INF;
  if (x > 0) {
    if (x < 0x1p-60) return -log_pair(x).h;
    if (x > 0x1p300) return x > 2.5563481638716906e305 ? INF : dd_muld(dd_addd(log_pair(x), -1), x).h;
    return lgamma_positive(x).h;
  }
  if (x == __builtin_trunc(x)) return INF;
  double a = -x;
  if (a < 0x1p-60) return -log_pair(a).h;
  double s = absd(__nv_sinpi(a));
  dd v = dd_add(LN_PI, dd_neg(log_pair(s)));
  v = dd_add(v, dd_neg(log_pair(a)));
  return dd_add(v, dd_neg(lgamma_positive(a))).h;
}
double __nv_tgamma(double x) {
  if (is_nan(x) || x == INF) return x;
  if (x == 0) return 1 / x;
  if (x > 0) {
    if (x > 171.7) return INF;
    if (x < 0x1p-60) return 1 / x;
    return exp_dd(lgamma_positive(x));
  }
  if (x == __builtin_trunc(x)) return NAN;
  if (x > -0x1p-60) return 1 / x;
  double s = __nv_sinpi(x);
  if (x < -190) return __builtin_copysign(0, s);
  // Γ(x) = -π / (sin(πx) (-x) Γ(-x))... with Γ(1 - x) = -x Γ(-x)
  dd g = dd_add(lgamma_positive(-x), log_pair(-x));
  int k;
  dd q = exp_parts(dd_neg(g), &k), e = fast_sum(1, q.h);
  dd v = dd_div(dd_mul(PI, fast_sum(e.h, e.l + q.l)), (dd){s, 0});
  return scale(v.h, k);
}

// Bessel functions: power series in twice the precision up to 25, and the
// expansion for large arguments beyond it.
static dd bessel_series(int n, double x, double sign) { // sum (sign x²/4)^k / k! (k+n)!, times (x/2)^n
  dd z = dd_scale(two_prod(x, x), 0.25 * sign), term = {1, 0}, sum;
  for (int i = 1; i <= n; i++) term = dd_div(dd_muld(term, 0.5 * x), (dd){i, 0});
  sum = term;
  for (int k = 1; k < 200; k++) {
    term = dd_div(dd_mul(term, z), (dd){(double)k * (k + n), 0});
    sum = dd_add(sum, term);
    if (absd(term.h) <= absd(sum.h) * 0x1p-100) break;
  }
  return sum;
}
// The amplitude's two parts for order n, x > 25.
static void bessel_far(int n, double x, dd *p, dd *q) {
  dd term = {1, 0};
  *p = term;
  *q = (dd){0, 0};
  double mu = 4.0 * n * n, last = 1;
  for (int k = 1; k < 60; k++) {
    double odd = 2 * k - 1;
    term = dd_div(dd_muld(term, mu - odd * odd), two_prod(8 * x, k));
    if (absd(term.h) > last || absd(term.h) < 0x1p-110) break;
    last = absd(term.h);
    dd t = k & 2 ? dd_neg(term) : term;
    if (k & 1) *q = dd_add(*q, t); else *p = dd_add(*p, t);
  }
}
// J (kind 0) or Y (kind 1) of order 0 or 1 for x > 25: with c = x - (2n+1)π/4,
// J = sqrt(2/πx) (P cos c - Q sin c), Y = sqrt(2/πx) (P sin c + Q cos c).
static double bessel_wave(int n, double x, int kind) {
  dd p, q;
  bessel_far(n, x, &p, &q);
  double s = __nv_sin(x), c = __nv_cos(x), sc, cc;
  if (n == 0) {
    sc = s - c;
    cc = s + c;
  } else {
    sc = -s - c;
    cc = s - c;
  }
  double a = __builtin_sqrt(1 / x) * 0.5641895835477563; // sqrt(2/πx) / sqrt(2)
  return kind ? a * (p.h * sc + q.h * cc) : a * (p.h * cc - q.h * sc);
}
static double bessel_y(int n, double x) { // n is 0 or 1, 0 < x <= 25
  dd l = dd_add(log_pair(x), dd_neg(LN2));
  dd z = dd_scale(two_prod(x, x), -0.25), term = {1, 0}, sum, h = {0, 0};
  if (n == 0) {
    // 2/π ((log(x/2) + γ) J0 + sum H_k -(-z)^k / k!²)
    sum = (dd){0, 0};
    for (int k = 1; k < 200; k++) {
      term = dd_div(dd_mul(term, z), (dd){(double)k * k, 0});
      h = dd_add(h, dd_div((dd){1, 0}, (dd){k, 0}));
      dd t = dd_mul(term, h);
      sum = dd_add(sum, dd_neg(t));
      if (absd(t.h) <= 0x1p-110) break;
    }
    return dd_mul(dd_add(dd_mul(dd_add(l, EULER), bessel_series(0, x, -1)), sum), TWO_PI).h;
  }
  // 2/π log(x/2) J1 - 2/(πx) - x/(2π) sum (ψ(k+1) + ψ(k+2)) z^k / k! (k+1)!
  sum = dd_add((dd){1, 0}, dd_scale(EULER, -2));
  for (int k = 1; k < 200; k++) {
    term = dd_div(dd_mul(term, z), (dd){(double)k * (k + 1), 0});
    h = dd_add(h, dd_div((dd){1, 0}, (dd){k, 0}));
    dd psi = dd_add(dd_scale(dd_add(h, dd_neg(EULER)), 2), dd_div((dd){1, 0}, (dd){k + 1, 0}));
    dd t = dd_mul(term, psi);
    sum = dd_add(sum, t);
    if (absd(t.h) <= 0x1p-110) break;
  }
  dd v = dd_mul(l, bessel_series(1, x, -1));
  v = dd_add(v, dd_neg(dd_div((dd){1, 0}, (dd){x, 0})));
  v = dd_add(v, dd_muld(sum, -0.25 * x));
  return dd_mul(v, TWO_PI).h;
}
double __nv_j0(double x) {
  double a = absd(x);
  if (is_nan(x)) return x;
  if (a == INF) return 0;
  return a <= 25 ? bessel_series(0, a, -1).h : bessel_wave(0, a, 0);
}
double __nv_j1(double x) {
  double a = absd(x);
  if (is_nan(x)) return x;
  if (a == INF) return __builtin_copysign(0, x);
  if (a < 0x1p-500) return 0.5 * x;
  double v = a <= 25 ? bessel_series(1, a, -1).h : bessel_wave(1, a, 0);
  return x < 0 ? -v : v;
}
double __nv_y0(double x) {
  double r;
  if (log_special(x, &r)) return x == INF ? 0 : r;
  return x <= 25 ? bessel_y(0, x) : bessel_wave(0, x, 1);
}
double __nv_y1(double x) {
  double r;
  if (log_special(x, &r)) return x == INF ? 0 : r;
  if (x < 0x1p-500) return -TWO_PI.h / x;
  return x <= 25 ? bessel_y(1, x) : bessel_wave(1, x, 1);
}
double __nv_jn(int n, double x) {
  if (n < 0) return NAN;
  if (n == 0) return __nv_j0(x);
  if (n == 1) return __nv_j1(x);
  double a = absd(x), v;
  if (is_nan(x)) return x;
  if (a == 0 || a == INF) return 0;
  if (a <= 25) {
    v = bessel_series(n, a, -1).h;
  } else if (n < a) { // upwards
    double lo = __nv_j0(a), hi = __nv_j1(a);
    for (int k = 1; k < n; k++) {
      double next = 2 * k / a * hi - lo;
      lo = hi;
      hi = next;
    }
    v = hi;
  } else { // downwards, from where the function is negligible, to be scaled by J0 + 2 J2 + 2 J4 ... = 1
    int from = 2 * ((n + (int)__builtin_sqrt(60.0 * n)) / 2) + 20;
    double lo = 0, hi = 0x1p-900, sum = 0, mine = 0;
    for (int k = from; k > 0; k--) {
      double next = 2 * k / a * hi - lo;
      lo = hi;
      hi = next;
      if (absd(hi) > 0x1p500) {
        hi *= 0x1p-900;
        lo *= 0x1p-900;
        sum *= 0x1p-900;
        mine *= 0x1p-900;
      }
      if (((k - 1) & 1) == 0) sum += k == 1 ? hi : 2 * hi;
      if (k - 1 == n) mine = hi;
    }
    v = mine / sum;
  }
  return x < 0 && n & 1 ? -v : v;
}
double __nv_yn(int n, double x) {
  if (n < 0) return NAN;
  if (n == 0) return __nv_y0(x);
  double lo = __nv_y0(x), hi = __nv_y1(x);
  if (!(x > 0) || x == INF) return hi;
  for (int k = 1; k < n && hi > -INF; k++) {
    double next = 2 * k / x * hi - lo;
    lo = hi;
    hi = next;
  }
  return hi;
}
// Modified ones: the series has no cancellation.
static double bessel_i(int n, double a) {
  if (a <= 40) return bessel_series(n, a, 1).h;
  if (a > 720) return INF;
  dd term = {1, 0}, sum = term;
  double mu = 4.0 * n * n;
  for (int k = 1; k < 40; k++) {
    double odd = 2 * k - 1;
    term = dd_neg(dd_div(dd_muld(term, mu - odd * odd), two_prod(8 * a, k)));
    sum = dd_add(sum, term);
    if (absd(term.h) < 0x1p-70) break;
  }
  int k;
  dd q = exp_parts((dd){a, 0}, &k), e = fast_sum(1, q.h);
  dd root = dd_sqrt(dd_muld(dd_scale(PI, 2), a));
  return scale(dd_div(dd_mul(fast_sum(e.h, e.l + q.l), sum), root).h, k);
}
double __nv_cyl_bessel_i0(double x) { return is_nan(x) ? x : bessel_i(0, absd(x)); }
double __nv_cyl_bessel_i1(double x) {
  if (is_nan(x) || absd(x) < 0x1p-500) return 0.5 * x;
  return __builtin_copysign(bessel_i(1, absd(x)), x);
}
