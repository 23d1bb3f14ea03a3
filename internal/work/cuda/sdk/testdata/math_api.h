// What the programs that are made of math_api.txt share, on device and host.
#include <cfenv>
#include <climits>
#include <cmath>
#include <cstdio>
#include <type_traits>

typedef unsigned long long u64;
#define BOTH static __host__ __device__

// The bits of a value, and back.
template <class T> BOTH u64 bits(T v) {
  u64 u = 0;
  __builtin_memcpy(&u, &v, sizeof(T));
  return u;
}
template <class T> BOTH T from(u64 u) {
  T v;
  __builtin_memcpy(&v, &u, sizeof(T));
  return v;
}
template <class T, class U> struct same { static const bool value = false; };
template <class T> struct same<T, T> { static const bool value = true; };
#define IS(T, ...) static_assert(same<decltype(__VA_ARGS__), T>::value, "not " #T ": " #__VA_ARGS__);

#if !defined(__CUDA_ARCH__)

const long double SKIP = 0x1.23456789abcdefp+9876L;

static void show(long double v) {
  if (v == SKIP) printf(" skip");
  else printf(" %La", v);
}
static void show(double v) { show((long double)v); }
static void show(float v) { show((long double)v); }
static void show(int v) { printf(" %d", v); }
static void show(unsigned v) { printf(" %u", v); }
static void show(bool v) { printf(" %d", v); }
static void show(long v) { printf(" %ld", v); }
static void show(unsigned long v) { printf(" %lu", v); }
static void show(long long v) { printf(" %lld", v); }
static void show(u64 v) { printf(" %llu", v); }

template <class T> T min_of(T a, T b) { return a < b ? a : b; }
template <class T> T max_of(T a, T b) { return a > b ? a : b; }
template <class T> T add_of(T a, T b) { return a + b; }
template <class T> T sub_of(T a, T b) { return a - b; }
template <class T> T mul_of(T a, T b) { return a * b; }
template <class T> T div_of(T a, T b) { return a / b; }

static long double length(long double a, long double b, long double c, long double d = 0) {
  return std::isinf(a) || std::isinf(b) || std::isinf(c) || std::isinf(d) ? INFINITY : sqrtl(a * a + b * b + c * c + d * d);
}

// Of pi times a: of multiples of pi / 2 exactly.
static long double cosine_of_turns(long double a) {
  if (!std::isfinite(a)) return NAN;
  if (a == rintl(a)) return fmodl(a, 2) == 0 ? 1 : -1;
  return 2 * a == rintl(2 * a) ? 0 : cosl(M_PIl * remainderl(a, 2));
}
static long double sine_of_turns(long double a) {
  if (!std::isfinite(a)) return NAN;
  if (a == rintl(a)) return copysignl(0, a);
  return 2 * a == rintl(2 * a) ? remainderl(a, 2) * 2 : sinl(M_PIl * remainderl(a, 2));
}

template <class F> auto under(int mode, F f) -> decltype(f()) {
  fesetround(mode);
  auto v = f();
  fesetround(FE_TONEAREST);
  return v;
}
#define under_rn(...) under(FE_TONEAREST, [&] { return __VA_ARGS__; })
#define under_rd(...) under(FE_DOWNWARD, [&] { return __VA_ARGS__; })
#define under_ru(...) under(FE_UPWARD, [&] { return __VA_ARGS__; })
#define under_rz(...) under(FE_TOWARDZERO, [&] { return __VA_ARGS__; })

// As the PTX manual has cvt: what does not fit becomes the nearest that does; no
// number becomes 0, or the highest bit if either side has 64 bits.
template <class T, class F> T integer_of(F x) {
  const T low = std::numeric_limits<T>::min(), high = std::numeric_limits<T>::max();
  if (x != x) return sizeof(T) == 8 || sizeof(F) == 8 ? (T)((T)1 << (sizeof(T) * 8 - 1)) : 0;
  long double r = rintl(x);
  return r <= low ? low : r >= high ? high : (T)r;
}

template <class T> T reversed(T v) {
  T r = 0;
  for (unsigned i = 0; i < sizeof(T) * 8; i++) r = r << 1 | (v >> i & 1);
  return r;
}
template <class T> int ones(T v) {
  int n = 0;
  for (; v; v &= v - 1) n++;
  return n;
}
template <class T> int leading_zeros(T v) {
  int n = sizeof(T) * 8;
  for (; v; v >>= 1) n--;
  return n;
}
static int trailing_zeros(u64 v) {
  int n = 0;
  for (; !(v & 1); v >>= 1) n++;
  return n;
}
static unsigned bytes_of(u64 v, unsigned which) {
  unsigned r = 0;
  for (int i = 0; i < 4; i++) r |= (unsigned)(v >> (which >> 4 * i & 7) * 8 & 0xff) << 8 * i;
  return r;
}
// The n-th set bit from one on, up or down; the bit itself for 0.
static unsigned nth_set(unsigned mask, unsigned from, int n) {
  int step = n < 0 ? -1 : 1, left = n < 0 ? -n : n;
  if (n == 0) return mask >> from & 1 ? from : ~0u;
  for (int i = from; i >= 0 && i < 32; i += step)
    if (mask >> i & 1 && --left == 0) return i;
  return ~0u;
}
static unsigned shift(unsigned n) { return n & 31; }
static unsigned shiftc(unsigned n) { return n < 32 ? n : 32; }

enum { lo = 0, hi = 2 };
template <int n, int first, class B, class T> T dot(T a, T b, T c) {
  typedef typename std::conditional<std::is_signed<B>::value, short, unsigned short>::type H;
  for (int i = 0; i < n; i++) c += (T)(n == 4 ? (T)(B)(a >> 8 * i) : (T)(H)(a >> 16 * i)) * (T)(B)(b >> 8 * (first + i));
  return c;
}

// Operations on lanes, whose values are between low and high.
static int add_op(int x, int y, int, int) { return x + y; }
static int sub_op(int x, int y, int, int) { return x - y; }
static int abs_op(int x, int, int, int) { return x < 0 ? -x : x; }
static int neg_op(int x, int, int, int) { return -x; }
static int diff_op(int x, int y, int, int) { return x < y ? y - x : x - y; }
static int avg_op(int x, int y, int, int) { return (x + y + (x + y >= 0)) >> 1; }
static int hadd_op(int x, int y, int, int) { return (x + y) >> 1; }
static int max_op(int x, int y, int, int) { return x > y ? x : y; }
static int min_op(int x, int y, int, int) { return x < y ? x : y; }
static int eq_op(int x, int y, int, int) { return x == y; }
static int ne_op(int x, int y, int, int) { return x != y; }
static int ge_op(int x, int y, int, int) { return x >= y; }
static int gt_op(int x, int y, int, int) { return x > y; }
static int le_op(int x, int y, int, int) { return x <= y; }
static int lt_op(int x, int y, int, int) { return x < y; }
static int clamp(int v, int low, int high) { return v < low ? low : v > high ? high : v; }
static int add_sat(int x, int y, int low, int high) { return clamp(x + y, low, high); }
static int sub_sat(int x, int y, int low, int high) { return clamp(x - y, low, high); }
static int abs_sat(int x, int, int low, int high) { return clamp(x < 0 ? -x : x, low, high); }
static int neg_sat(int x, int, int low, int high) { return clamp(-x, low, high); }

enum { s16 = 1, u16 = 0 };
template <int n, bool is_signed> unsigned lanes(unsigned a, unsigned b, int (*op)(int, int, int, int)) {
  const int width = 32 / n, half = 1 << (width - 1), all = 2 * half - 1, low = is_signed ? -half : 0, high = low + all;
  unsigned r = 0;
  for (int i = 0; i < 32; i += width) {
    int x = a >> i & all, y = b >> i & all;
    if (is_signed) x -= (x & half) * 2, y -= (y & half) * 2;
    r |= (unsigned)(op(x, y, low, high) & all) << i;
  }
  return r;
}
// All bits of a lane, for its lowest one.
template <int n> unsigned mask() { return n == 2 ? 0xffff : 0xff; }
static unsigned relu(unsigned v) { return lanes<2, true>(v, 0, max_op); }
template <int n, bool is_signed> unsigned sum(unsigned a, unsigned b) {
  const int width = 32 / n, half = 1 << (width - 1), all = 2 * half - 1;
  unsigned r = 0;
  for (int i = 0; i < 32; i += width) {
    int x = a >> i & all, y = b >> i & all;
    if (is_signed) x -= (x & half) * 2, y -= (y & half) * 2;
    r += x < y ? y - x : x - y;
  }
  return r;
}

#endif
