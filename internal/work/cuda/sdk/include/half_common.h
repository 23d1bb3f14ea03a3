// The common part of cuda_fp16.h and cuda_bf16.h: a 16-bit number, a pair of them, and their functions. Each includes it once, with
//
//   HEDDLE_H, HEDDLE_H2      the names of the number and of the pair
//   HEDDLE_RAW, HEDDLE_RAW2  the same as plain bits
//   HEDDLE_NAME(a, b)        a, the format's name in those of functions, b
//   HEDDLE_PTX               its name in PTX, a string
//   HEDDLE_INFINITY          the bits of infinity
//   HEDDLE_ROUND(f), HEDDLE_WIDEN(u)  from float to the nearest, and back
//   HEDDLE_FMA_ARCH, HEDDLE_ADD_ARCH  the architecture that has the instructions
//   HEDDLE_OPERATORS, HEDDLE_OPERATORS2  defined if there are operators of the number, and of the pair
//
// Host code has nearly all of it, with the same results.

#ifdef __clang__
#define HEDDLE_HD static __inline__ __host__ __device__ __attribute__((always_inline, nodebug))
#else // of the host, which knows no nodebug
#define HEDDLE_HD static __inline__ __host__ __device__ __attribute__((always_inline))
#endif
#define HEDDLE_D static __inline__ __attribute__((device, always_inline, nodebug))
#if defined(__CUDA_ARCH__)
#define HEDDLE_ARCH __CUDA_ARCH__
#else
#define HEDDLE_ARCH 0
#endif

struct HEDDLE_RAW { unsigned short x; };
struct HEDDLE_RAW2 { unsigned short x, y; };

struct __align__(2) HEDDLE_H {
  unsigned short __x;
  HEDDLE_H() = default;
  __host__ __device__ constexpr HEDDLE_H(const HEDDLE_RAW &r) : __x(r.x) {}
  __host__ __device__ HEDDLE_H(float f) : __x(HEDDLE_ROUND(f)) {}
  __host__ __device__ HEDDLE_H(double f) : __x(HEDDLE_ROUND(heddle_sdk::odd_float(f))) {}
  __host__ __device__ HEDDLE_H(int i) : __x(HEDDLE_ROUND(heddle_sdk::odd_float(i))) {}
  __host__ __device__ HEDDLE_H(unsigned int i) : __x(HEDDLE_ROUND(heddle_sdk::odd_float(i))) {}
  __host__ __device__ HEDDLE_H(short i) : __x(HEDDLE_ROUND((float)i)) {}
  __host__ __device__ HEDDLE_H(unsigned short i) : __x(HEDDLE_ROUND((float)i)) {}
  __host__ __device__ HEDDLE_H(long i) : __x(HEDDLE_ROUND(heddle_sdk::odd_float(i))) {}
  __host__ __device__ HEDDLE_H(unsigned long i) : __x(HEDDLE_ROUND(heddle_sdk::odd_float(i))) {}
  __host__ __device__ HEDDLE_H(long long i) : __x(HEDDLE_ROUND(heddle_sdk::odd_float(i))) {}
  __host__ __device__ HEDDLE_H(unsigned long long i) : __x(HEDDLE_ROUND(heddle_sdk::odd_float(i))) {}
  __host__ __device__ operator float() const { return HEDDLE_WIDEN(__x); }
  __host__ __device__ operator HEDDLE_RAW() const { HEDDLE_RAW r = {__x}; return r; }
};
struct __align__(4) HEDDLE_H2 {
  HEDDLE_H x, y;
  HEDDLE_H2() = default;
  __host__ __device__ HEDDLE_H2(const HEDDLE_H &a, const HEDDLE_H &b) : x(a), y(b) {}
  __host__ __device__ HEDDLE_H2(const HEDDLE_RAW2 &r) {
    x.__x = r.x;
    y.__x = r.y;
  }
  __host__ __device__ operator HEDDLE_RAW2() const { HEDDLE_RAW2 r = {x.__x, y.__x}; return r; }
};

// Bits.
HEDDLE_HD HEDDLE_H HEDDLE_NAME(__ushort_as_, )(unsigned short u) { HEDDLE_RAW r = {u}; return HEDDLE_H(r); }
HEDDLE_HD HEDDLE_H HEDDLE_NAME(__short_as_, )(short u) { return HEDDLE_NAME(__ushort_as_, )((unsigned short)u); }
HEDDLE_HD unsigned short HEDDLE_NAME(__, _as_ushort)(HEDDLE_H a) { return a.__x; }
HEDDLE_HD short HEDDLE_NAME(__, _as_short)(HEDDLE_H a) { return (short)a.__x; }
namespace heddle_sdk {
HEDDLE_HD HEDDLE_H2 HEDDLE_NAME(pair_, )(unsigned int u) { return __builtin_bit_cast(HEDDLE_H2, u); }
HEDDLE_HD unsigned int HEDDLE_NAME(word_, )(HEDDLE_H2 a) { return __builtin_bit_cast(unsigned int, a); }
}
#define HEDDLE_BITS(u) HEDDLE_NAME(__ushort_as_, )((unsigned short)(u))
#define HEDDLE_PAIR(u) heddle_sdk::HEDDLE_NAME(pair_, )(u)
#define HEDDLE_WORD(a) heddle_sdk::HEDDLE_NAME(word_, )(a)

// To and from float.
HEDDLE_HD bool __hisnan(HEDDLE_H a) { return (a.__x & 0x7fffu) > HEDDLE_INFINITY; }
HEDDLE_HD int __hisinf(HEDDLE_H a) { return (a.__x & 0x7fffu) == HEDDLE_INFINITY ? (a.__x & 0x8000u ? -1 : 1) : 0; }
HEDDLE_HD float HEDDLE_NAME(__, 2float)(HEDDLE_H a) { return (float)a; }
HEDDLE_HD HEDDLE_H HEDDLE_NAME(__float2, )(float f) { return HEDDLE_H(f); }
HEDDLE_HD HEDDLE_H HEDDLE_NAME(__float2, _rn)(float f) { return HEDDLE_H(f); }
HEDDLE_HD HEDDLE_H HEDDLE_NAME(__double2, )(double f) { return HEDDLE_H(f); }
namespace heddle_sdk {
// The next larger or smaller number.
HEDDLE_HD HEDDLE_H step(HEDDLE_H a, bool up) {
  unsigned int u = a.__x;
  if ((u & 0x7fffu) == 0) return HEDDLE_BITS(up ? 1u : 0x8001u);
  return HEDDLE_BITS(((u >> 15) != 0) == up ? u - 1 : u + 1);
}
}
HEDDLE_HD HEDDLE_H HEDDLE_NAME(__float2, _rd)(float f) { HEDDLE_H h(f); return (float)h > f ? heddle_sdk::step(h, false) : h; }
HEDDLE_HD HEDDLE_H HEDDLE_NAME(__float2, _ru)(float f) { HEDDLE_H h(f); return (float)h < f ? heddle_sdk::step(h, true) : h; }
HEDDLE_HD HEDDLE_H HEDDLE_NAME(__float2, _rz)(float f) { return f > 0 ? HEDDLE_NAME(__float2, _rd)(f) : HEDDLE_NAME(__float2, _ru)(f); }

// To and from integers: values out of range are clamped, and NaN becomes 0 or, in 64 bits, 2^63.
#define HEDDLE_INTEGER(type, name, low, high)                                                                                      \
  HEDDLE_HD type HEDDLE_NAME(__, 2##name##_rz)(HEDDLE_H a) {                                                                       \
    float f = truncf((float)a);                                                                                                    \
    return f >= (float)high ? high : f <= (float)low ? low : f == f ? (type)f : heddle_sdk::not_integer<type>();                                                 \
  }                                                                                                                                \
  HEDDLE_HD type HEDDLE_NAME(__, 2##name##_rn)(HEDDLE_H a) { return HEDDLE_NAME(__, 2##name##_rz)(HEDDLE_H(rintf((float)a))); }    \
  HEDDLE_HD type HEDDLE_NAME(__, 2##name##_rd)(HEDDLE_H a) { return HEDDLE_NAME(__, 2##name##_rz)(HEDDLE_H(floorf((float)a))); }   \
  HEDDLE_HD type HEDDLE_NAME(__, 2##name##_ru)(HEDDLE_H a) { return HEDDLE_NAME(__, 2##name##_rz)(HEDDLE_H(ceilf((float)a))); }    \
  HEDDLE_HD HEDDLE_H HEDDLE_NAME(__##name##2, _rn)(type i) { return HEDDLE_H(i); }                                                 \
  HEDDLE_HD HEDDLE_H HEDDLE_NAME(__##name##2, _rz)(type i) { return HEDDLE_NAME(__float2, _rz)(heddle_sdk::odd_float(i)); }        \
  HEDDLE_HD HEDDLE_H HEDDLE_NAME(__##name##2, _rd)(type i) { return HEDDLE_NAME(__float2, _rd)(heddle_sdk::odd_float(i)); }        \
  HEDDLE_HD HEDDLE_H HEDDLE_NAME(__##name##2, _ru)(type i) { return HEDDLE_NAME(__float2, _ru)(heddle_sdk::odd_float(i)); }
HEDDLE_INTEGER(short, short, SHRT_MIN, SHRT_MAX)
HEDDLE_INTEGER(unsigned short, ushort, 0, USHRT_MAX)
HEDDLE_INTEGER(int, int, INT_MIN, INT_MAX)
HEDDLE_INTEGER(unsigned int, uint, 0, UINT_MAX)
HEDDLE_INTEGER(long long, ll, LLONG_MIN, LLONG_MAX)
HEDDLE_INTEGER(unsigned long long, ull, 0, ULLONG_MAX)
#undef HEDDLE_INTEGER
HEDDLE_HD signed char HEDDLE_NAME(__, 2char_rz)(HEDDLE_H a) { int i = HEDDLE_NAME(__, 2int_rz)(a); return (signed char)(i < -128 ? -128 : i > 127 ? 127 : i); }
HEDDLE_HD unsigned char HEDDLE_NAME(__, 2uchar_rz)(HEDDLE_H a) { int i = HEDDLE_NAME(__, 2int_rz)(a); return (unsigned char)(i < 0 ? 0 : i > 255 ? 255 : i); }

// Pairs.
HEDDLE_HD HEDDLE_H2 HEDDLE_NAME(make_, 2)(HEDDLE_H a, HEDDLE_H b) { return HEDDLE_H2(a, b); }
HEDDLE_HD HEDDLE_H2 HEDDLE_HALVES(HEDDLE_H a, HEDDLE_H b) { return HEDDLE_H2(a, b); }
HEDDLE_HD HEDDLE_H2 HEDDLE_TWICE(HEDDLE_H a) { return HEDDLE_H2(a, a); }
HEDDLE_HD HEDDLE_H2 HEDDLE_NAME(__float2, 2_rn)(float f) { return HEDDLE_TWICE(HEDDLE_H(f)); }
HEDDLE_HD HEDDLE_H2 HEDDLE_NAME(__floats2, 2_rn)(float a, float b) {
#if HEDDLE_ARCH >= 800
  if (!__builtin_constant_p(a) || !__builtin_constant_p(b)) {
    unsigned int d;
    asm("cvt.rn." HEDDLE_PTX "x2.f32 %0, %1, %2;" : "=r"(d) : "f"(b), "f"(a));
    return HEDDLE_PAIR(d);
  }
#endif
  return HEDDLE_H2(HEDDLE_H(a), HEDDLE_H(b));
}
HEDDLE_HD HEDDLE_H2 HEDDLE_NAME(__float22, 2_rn)(float2 f) { return HEDDLE_NAME(__floats2, 2_rn)(f.x, f.y); }
HEDDLE_HD float2 HEDDLE_NAME(__, 22float2)(HEDDLE_H2 a) { return make_float2((float)a.x, (float)a.y); }
HEDDLE_HD HEDDLE_H HEDDLE_NAME(__low2, )(HEDDLE_H2 a) { return a.x; }
HEDDLE_HD HEDDLE_H HEDDLE_NAME(__high2, )(HEDDLE_H2 a) { return a.y; }
HEDDLE_HD float __low2float(HEDDLE_H2 a) { return (float)a.x; }
HEDDLE_HD float __high2float(HEDDLE_H2 a) { return (float)a.y; }
HEDDLE_HD HEDDLE_H2 HEDDLE_NAME(__low2, 2)(HEDDLE_H2 a) { return HEDDLE_H2(a.x, a.x); }
HEDDLE_HD HEDDLE_H2 HEDDLE_NAME(__high2, 2)(HEDDLE_H2 a) { return HEDDLE_H2(a.y, a.y); }
HEDDLE_HD HEDDLE_H2 HEDDLE_NAME(__lows2, 2)(HEDDLE_H2 a, HEDDLE_H2 b) { return HEDDLE_H2(a.x, b.x); }
HEDDLE_HD HEDDLE_H2 HEDDLE_NAME(__highs2, 2)(HEDDLE_H2 a, HEDDLE_H2 b) { return HEDDLE_H2(a.y, b.y); }
HEDDLE_HD HEDDLE_H2 __lowhigh2highlow(HEDDLE_H2 a) { return HEDDLE_H2(a.y, a.x); }

// Arithmetic, rounded once: if the architecture lacks the instruction, float is precise enough for sums, products and quotients
// that double rounding has no effect.
HEDDLE_HD HEDDLE_H __hfma(HEDDLE_H a, HEDDLE_H b, HEDDLE_H c) {
#if HEDDLE_ARCH >= HEDDLE_FMA_ARCH
  unsigned short d;
  asm("fma.rn." HEDDLE_PTX " %0, %1, %2, %3;" : "=h"(d) : "h"(a.__x), "h"(b.__x), "h"(c.__x));
  return HEDDLE_BITS(d);
#else
  return HEDDLE_H(heddle_sdk::odd_sum((double)(float)a * (float)b, (float)c));
#endif
}
HEDDLE_HD HEDDLE_H2 __hfma2(HEDDLE_H2 a, HEDDLE_H2 b, HEDDLE_H2 c) {
#if HEDDLE_ARCH >= HEDDLE_FMA_ARCH
  unsigned int d;
  asm("fma.rn." HEDDLE_PTX "x2 %0, %1, %2, %3;" : "=r"(d) : "r"(HEDDLE_WORD(a)), "r"(HEDDLE_WORD(b)), "r"(HEDDLE_WORD(c)));
  return HEDDLE_PAIR(d);
#else
  return HEDDLE_H2(__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y));
#endif
}
#if HEDDLE_ARCH >= HEDDLE_ADD_ARCH
#define HEDDLE_ARITHMETIC(op, sign)                                                                              \
  HEDDLE_HD HEDDLE_H __h##op(HEDDLE_H a, HEDDLE_H b) {                                                           \
    unsigned short d;                                                                                            \
    asm(#op "." HEDDLE_PTX " %0, %1, %2;" : "=h"(d) : "h"(a.__x), "h"(b.__x));                                   \
    return HEDDLE_BITS(d);                                                                                       \
  }                                                                                                              \
  HEDDLE_HD HEDDLE_H2 __h##op##2(HEDDLE_H2 a, HEDDLE_H2 b) {                                                     \
    unsigned int d;                                                                                              \
    asm(#op "." HEDDLE_PTX "x2 %0, %1, %2;" : "=r"(d) : "r"(HEDDLE_WORD(a)), "r"(HEDDLE_WORD(b)));               \
    return HEDDLE_PAIR(d);                                                                                       \
  }
#else
#define HEDDLE_ARITHMETIC(op, sign)                                                                              \
  HEDDLE_HD HEDDLE_H __h##op(HEDDLE_H a, HEDDLE_H b) { return HEDDLE_H((float)a sign (float)b); }                \
  HEDDLE_HD HEDDLE_H2 __h##op##2(HEDDLE_H2 a, HEDDLE_H2 b) { return HEDDLE_H2(__h##op(a.x, b.x), __h##op(a.y, b.y)); }
#endif
HEDDLE_ARITHMETIC(add, +)
HEDDLE_ARITHMETIC(sub, -)
HEDDLE_ARITHMETIC(mul, *)
#undef HEDDLE_ARITHMETIC
HEDDLE_HD HEDDLE_H __hdiv(HEDDLE_H a, HEDDLE_H b) { return HEDDLE_H((float)a / (float)b); }
HEDDLE_HD HEDDLE_H2 __h2div(HEDDLE_H2 a, HEDDLE_H2 b) { return HEDDLE_H2(__hdiv(a.x, b.x), __hdiv(a.y, b.y)); }
HEDDLE_HD HEDDLE_H __hneg(HEDDLE_H a) { return HEDDLE_BITS(a.__x ^ 0x8000u); }
HEDDLE_HD HEDDLE_H2 __hneg2(HEDDLE_H2 a) { return HEDDLE_H2(__hneg(a.x), __hneg(a.y)); }
HEDDLE_HD HEDDLE_H __habs(HEDDLE_H a) { return HEDDLE_BITS(a.__x & 0x7fffu); }
HEDDLE_HD HEDDLE_H2 __habs2(HEDDLE_H2 a) { return HEDDLE_H2(__habs(a.x), __habs(a.y)); }

namespace heddle_sdk {
// Clamped to [0, 1], and to at least 0.
HEDDLE_HD HEDDLE_H saturated(HEDDLE_H a) { return (float)a > 1 ? HEDDLE_H(1.0f) : (float)a > 0 ? a : HEDDLE_BITS(0); }
HEDDLE_HD HEDDLE_H positive(HEDDLE_H a) { return __hisnan(a) ? HEDDLE_BITS(0x7fff) : (float)a > 0 ? a : HEDDLE_BITS(0); }
}
// The same with a name for "do not fuse", and saturated.
#define HEDDLE_VARIANTS(op)                                                                                                   \
  HEDDLE_HD HEDDLE_H __h##op##_rn(HEDDLE_H a, HEDDLE_H b) { return __h##op(a, b); }                                           \
  HEDDLE_HD HEDDLE_H2 __h##op##2_rn(HEDDLE_H2 a, HEDDLE_H2 b) { return __h##op##2(a, b); }                                    \
  HEDDLE_HD HEDDLE_H __h##op##_sat(HEDDLE_H a, HEDDLE_H b) { return heddle_sdk::saturated(__h##op(a, b)); }                   \
  HEDDLE_HD HEDDLE_H2 __h##op##2_sat(HEDDLE_H2 a, HEDDLE_H2 b) { return HEDDLE_H2(__h##op##_sat(a.x, b.x), __h##op##_sat(a.y, b.y)); }
HEDDLE_VARIANTS(add)
HEDDLE_VARIANTS(sub)
HEDDLE_VARIANTS(mul)
#undef HEDDLE_VARIANTS
HEDDLE_HD HEDDLE_H __hfma_sat(HEDDLE_H a, HEDDLE_H b, HEDDLE_H c) { return heddle_sdk::saturated(__hfma(a, b, c)); }
HEDDLE_HD HEDDLE_H __hfma_relu(HEDDLE_H a, HEDDLE_H b, HEDDLE_H c) { return heddle_sdk::positive(__hfma(a, b, c)); }
HEDDLE_HD HEDDLE_H2 __hfma2_sat(HEDDLE_H2 a, HEDDLE_H2 b, HEDDLE_H2 c) { return HEDDLE_H2(__hfma_sat(a.x, b.x, c.x), __hfma_sat(a.y, b.y, c.y)); }
HEDDLE_HD HEDDLE_H2 __hfma2_relu(HEDDLE_H2 a, HEDDLE_H2 b, HEDDLE_H2 c) { return HEDDLE_H2(__hfma_relu(a.x, b.x, c.x), __hfma_relu(a.y, b.y, c.y)); }
// The complex product of a and b, plus c.
HEDDLE_HD HEDDLE_H2 __hcmadd(HEDDLE_H2 a, HEDDLE_H2 b, HEDDLE_H2 c) {
  return HEDDLE_H2(__hfma(__hneg(a.y), b.y, __hfma(a.x, b.x, c.x)), __hfma(a.y, b.x, __hfma(a.x, b.y, c.y)));
}

// Maximum and minimum: of a number and a NaN the number, or NaN (_nan).
#if HEDDLE_ARCH >= 800
#define HEDDLE_CHOOSE(name, op)                                                                                  \
  HEDDLE_HD HEDDLE_H name(HEDDLE_H a, HEDDLE_H b) {                                                              \
    unsigned short d;                                                                                            \
    asm(op "." HEDDLE_PTX " %0, %1, %2;" : "=h"(d) : "h"(a.__x), "h"(b.__x));                                    \
    return HEDDLE_BITS(d);                                                                                       \
  }
#define HEDDLE_CHOOSE2(name, op)                                                                                 \
  HEDDLE_HD HEDDLE_H2 name(HEDDLE_H2 a, HEDDLE_H2 b) {                                                           \
    unsigned int d;                                                                                              \
    asm(op "." HEDDLE_PTX "x2 %0, %1, %2;" : "=r"(d) : "r"(HEDDLE_WORD(a)), "r"(HEDDLE_WORD(b)));                \
    return HEDDLE_PAIR(d);                                                                                       \
  }
#define HEDDLE_CHOICE(name, sign, zero)   \
  HEDDLE_CHOOSE(__h##name, #name)         \
  HEDDLE_CHOOSE(__h##name##_nan, #name ".NaN") \
  HEDDLE_CHOOSE2(__h##name##2, #name)     \
  HEDDLE_CHOOSE2(__h##name##2_nan, #name ".NaN")
#else
#define HEDDLE_CHOICE(name, sign, zero)                                                                                                          \
  HEDDLE_HD HEDDLE_H __h##name(HEDDLE_H a, HEDDLE_H b) {                                                                                         \
    if (__hisnan(a)) return __hisnan(b) ? HEDDLE_BITS(0x7fff) : b;                                                                               \
    if (__hisnan(b)) return a;                                                                                                                   \
    if ((float)a == (float)b) return HEDDLE_BITS(a.__x zero b.__x);                                                                              \
    return (float)a sign (float)b ? a : b;                                                                                                       \
  }                                                                                                                                              \
  HEDDLE_HD HEDDLE_H __h##name##_nan(HEDDLE_H a, HEDDLE_H b) { return __hisnan(a) || __hisnan(b) ? HEDDLE_BITS(0x7fff) : __h##name(a, b); }      \
  HEDDLE_HD HEDDLE_H2 __h##name##2(HEDDLE_H2 a, HEDDLE_H2 b) { return HEDDLE_H2(__h##name(a.x, b.x), __h##name(a.y, b.y)); }                     \
  HEDDLE_HD HEDDLE_H2 __h##name##2_nan(HEDDLE_H2 a, HEDDLE_H2 b) { return HEDDLE_H2(__h##name##_nan(a.x, b.x), __h##name##_nan(a.y, b.y)); }
#endif
HEDDLE_CHOICE(max, >, &)
HEDDLE_CHOICE(min, <, |)
#undef HEDDLE_CHOICE
#undef HEDDLE_CHOOSE
#undef HEDDLE_CHOOSE2

// Comparisons: with a NaN false, or true (u). For pairs with results as 1 and 0, as bit masks, and combined.
#define HEDDLE_ORDER(name, sign, not_a_number)                                                                                                   \
  HEDDLE_HD bool __h##name(HEDDLE_H a, HEDDLE_H b) { return not_a_number((float)a sign (float)b, __hisnan(a) || __hisnan(b)); }                  \
  HEDDLE_HD HEDDLE_H2 __h##name##2(HEDDLE_H2 a, HEDDLE_H2 b) {                                                                                   \
    return HEDDLE_H2(HEDDLE_H(__h##name(a.x, b.x) ? 1.0f : 0.0f), HEDDLE_H(__h##name(a.y, b.y) ? 1.0f : 0.0f));                                  \
  }                                                                                                                                              \
  HEDDLE_HD unsigned int __h##name##2_mask(HEDDLE_H2 a, HEDDLE_H2 b) {                                                                           \
    return (__h##name(a.x, b.x) ? 0xffffu : 0u) | (__h##name(a.y, b.y) ? 0xffff0000u : 0u);                                                      \
  }                                                                                                                                              \
  HEDDLE_HD bool __hb##name##2(HEDDLE_H2 a, HEDDLE_H2 b) { return __h##name(a.x, b.x) && __h##name(a.y, b.y); }
#define HEDDLE_FALSE(is, none) ((is) && !(none))
#define HEDDLE_TRUE(is, none) ((is) || (none))
HEDDLE_ORDER(eq, ==, HEDDLE_FALSE)
HEDDLE_ORDER(ne, !=, HEDDLE_FALSE)
HEDDLE_ORDER(lt, <, HEDDLE_FALSE)
HEDDLE_ORDER(le, <=, HEDDLE_FALSE)
HEDDLE_ORDER(gt, >, HEDDLE_FALSE)
HEDDLE_ORDER(ge, >=, HEDDLE_FALSE)
HEDDLE_ORDER(equ, ==, HEDDLE_TRUE)
HEDDLE_ORDER(neu, !=, HEDDLE_TRUE)
HEDDLE_ORDER(ltu, <, HEDDLE_TRUE)
HEDDLE_ORDER(leu, <=, HEDDLE_TRUE)
HEDDLE_ORDER(gtu, >, HEDDLE_TRUE)
HEDDLE_ORDER(geu, >=, HEDDLE_TRUE)
#undef HEDDLE_ORDER
#undef HEDDLE_FALSE
#undef HEDDLE_TRUE
HEDDLE_HD HEDDLE_H2 __hisnan2(HEDDLE_H2 a) { return HEDDLE_H2(HEDDLE_H(__hisnan(a.x) ? 1.0f : 0.0f), HEDDLE_H(__hisnan(a.y) ? 1.0f : 0.0f)); }

// Operators, unless the program defines its own.
#define HEDDLE_OPERATOR(T, sign, name)                                            \
  HEDDLE_HD T operator sign(const T &a, const T &b) { return name(a, b); }        \
  HEDDLE_HD T &operator sign##=(T &a, const T &b) { return a = name(a, b); }
#define HEDDLE_COMPARISON(T, sign, is) \
  HEDDLE_HD bool operator sign(const T &a, const T &b) { return is; }
#ifdef HEDDLE_OPERATORS
HEDDLE_OPERATOR(HEDDLE_H, +, __hadd)
HEDDLE_OPERATOR(HEDDLE_H, -, __hsub)
HEDDLE_OPERATOR(HEDDLE_H, *, __hmul)
HEDDLE_OPERATOR(HEDDLE_H, /, __hdiv)
HEDDLE_HD HEDDLE_H operator+(const HEDDLE_H &a) { return a; }
HEDDLE_HD HEDDLE_H operator-(const HEDDLE_H &a) { return __hneg(a); }
HEDDLE_HD HEDDLE_H &operator++(HEDDLE_H &a) { return a = __hadd(a, HEDDLE_H(1.0f)); }
HEDDLE_HD HEDDLE_H &operator--(HEDDLE_H &a) { return a = __hsub(a, HEDDLE_H(1.0f)); }
HEDDLE_COMPARISON(HEDDLE_H, ==, (float)a == (float)b)
HEDDLE_COMPARISON(HEDDLE_H, !=, (float)a != (float)b)
HEDDLE_COMPARISON(HEDDLE_H, <, (float)a < (float)b)
HEDDLE_COMPARISON(HEDDLE_H, <=, (float)a <= (float)b)
HEDDLE_COMPARISON(HEDDLE_H, >, (float)a > (float)b)
HEDDLE_COMPARISON(HEDDLE_H, >=, (float)a >= (float)b)
#endif
#ifdef HEDDLE_OPERATORS2
HEDDLE_OPERATOR(HEDDLE_H2, +, __hadd2)
HEDDLE_OPERATOR(HEDDLE_H2, -, __hsub2)
HEDDLE_OPERATOR(HEDDLE_H2, *, __hmul2)
HEDDLE_OPERATOR(HEDDLE_H2, /, __h2div)
HEDDLE_HD HEDDLE_H2 operator-(const HEDDLE_H2 &a) { return __hneg2(a); }
HEDDLE_COMPARISON(HEDDLE_H2, ==, __hbeq2(a, b))
HEDDLE_COMPARISON(HEDDLE_H2, !=, __hbneu2(a, b))
HEDDLE_COMPARISON(HEDDLE_H2, <, __hblt2(a, b))
HEDDLE_COMPARISON(HEDDLE_H2, <=, __hble2(a, b))
HEDDLE_COMPARISON(HEDDLE_H2, >, __hbgt2(a, b))
HEDDLE_COMPARISON(HEDDLE_H2, >=, __hbge2(a, b))
#endif
#undef HEDDLE_COMPARISON
#undef HEDDLE_OPERATOR

#ifdef __CUDA__ // only for kernels
// Functions, using those of float.
#define HEDDLE_FUNCTION(name, value)                                                      \
  HEDDLE_D HEDDLE_H h##name(HEDDLE_H a) {                                                 \
    float x = (float)a;                                                                   \
    return HEDDLE_H(value);                                                               \
  }                                                                                       \
  HEDDLE_D HEDDLE_H2 h2##name(HEDDLE_H2 a) { return HEDDLE_H2(h##name(a.x), h##name(a.y)); }
HEDDLE_FUNCTION(sqrt, sqrtf(x))
HEDDLE_FUNCTION(rsqrt, rsqrtf(x))
HEDDLE_FUNCTION(rcp, 1.0f / x)
HEDDLE_FUNCTION(exp, expf(x))
HEDDLE_FUNCTION(exp2, exp2f(x))
HEDDLE_FUNCTION(exp10, exp10f(x))
HEDDLE_FUNCTION(log, logf(x))
HEDDLE_FUNCTION(log2, log2f(x))
HEDDLE_FUNCTION(log10, log10f(x))
HEDDLE_FUNCTION(sin, sinf(x))
HEDDLE_FUNCTION(cos, cosf(x))
HEDDLE_FUNCTION(tanh, tanhf(x))
HEDDLE_FUNCTION(floor, floorf(x))
HEDDLE_FUNCTION(ceil, ceilf(x))
HEDDLE_FUNCTION(trunc, truncf(x))
HEDDLE_FUNCTION(rint, rintf(x))
#undef HEDDLE_FUNCTION

// Warp functions and memory accesses.
#define HEDDLE_SHUFFLE(name, place)                                                                           \
  HEDDLE_D HEDDLE_H name(unsigned int mask, HEDDLE_H v, place d, int width = warpSize) {                      \
    return HEDDLE_BITS(name(mask, (int)v.__x, d, width));                                                     \
  }                                                                                                           \
  HEDDLE_D HEDDLE_H2 name(unsigned int mask, HEDDLE_H2 v, place d, int width = warpSize) {                    \
    return HEDDLE_PAIR((unsigned int)name(mask, (int)HEDDLE_WORD(v), d, width));                              \
  }
HEDDLE_SHUFFLE(__shfl_sync, int)
HEDDLE_SHUFFLE(__shfl_up_sync, unsigned int)
HEDDLE_SHUFFLE(__shfl_down_sync, unsigned int)
HEDDLE_SHUFFLE(__shfl_xor_sync, int)
#undef HEDDLE_SHUFFLE
HEDDLE_D HEDDLE_H __ldg(const HEDDLE_H *p) { return HEDDLE_BITS(__ldg((const unsigned short *)p)); }
HEDDLE_D HEDDLE_H2 __ldg(const HEDDLE_H2 *p) { return HEDDLE_PAIR(__ldg((const unsigned int *)p)); }
HEDDLE_D HEDDLE_H atomicAdd(HEDDLE_H *p, HEDDLE_H v) {
  unsigned short old;
  asm volatile("atom.add.noftz." HEDDLE_PTX " %0, [%1], %2;" : "=h"(old) : "l"(p), "h"(v.__x) : "memory");
  return HEDDLE_BITS(old);
}
HEDDLE_D HEDDLE_H2 atomicAdd(HEDDLE_H2 *p, HEDDLE_H2 v) {
  unsigned int old;
  asm volatile("atom.add.noftz." HEDDLE_PTX "x2 %0, [%1], %2;" : "=r"(old) : "l"(p), "r"(HEDDLE_WORD(v)) : "memory");
  return HEDDLE_PAIR(old);
}
#endif

#undef HEDDLE_BITS
#undef HEDDLE_PAIR
#undef HEDDLE_WORD
#undef HEDDLE_ARCH
#undef HEDDLE_HD
#undef HEDDLE_D
#undef HEDDLE_H
#undef HEDDLE_H2
#undef HEDDLE_RAW
#undef HEDDLE_RAW2
#undef HEDDLE_NAME
#undef HEDDLE_PTX
#undef HEDDLE_INFINITY
#undef HEDDLE_ROUND
#undef HEDDLE_WIDEN
#undef HEDDLE_FMA_ARCH
#undef HEDDLE_OPERATORS
#undef HEDDLE_OPERATORS2
#undef HEDDLE_ADD_ARCH
#undef HEDDLE_HALVES
#undef HEDDLE_TWICE
