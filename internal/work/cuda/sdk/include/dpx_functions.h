// CUDA's DPX functions: minima and maxima of three values, of sums, clamped at zero, and with the index of the
// result, for 32-bit words and for their two halves.
#ifndef HEDDLE_DPX_FUNCTIONS_H
#define HEDDLE_DPX_FUNCTIONS_H

#define HEDDLE_HD static __inline__ __attribute__((host, device, always_inline, nodebug))

namespace heddle_sdk {

template <class T> HEDDLE_HD T smaller(T a, T b) { return a < b ? a : b; }
template <class T> HEDDLE_HD T larger(T a, T b) { return a < b ? b : a; }
template <class T> HEDDLE_HD T positive_part(T a) { return larger(a, (T)0); }
// A sum that wraps around.
template <class T> HEDDLE_HD T sum(T a, T b) { return (T)((unsigned int)a + (unsigned int)b); }
template <class T> HEDDLE_HD unsigned int pair(T high, T low) { return (unsigned int)(unsigned short)high << 16 | (unsigned short)low; }

} // namespace heddle_sdk

// Defines a function of x and y, or of x, y and z, for words and for halves.
#define HEDDLE_WORDS(name, T, more, value) \
  HEDDLE_HD T name(T x, T y HEDDLE_Z##more(, T z)) { using namespace heddle_sdk; return value; }
#define HEDDLE_HALVES(name, T, more, value)                                                                      \
  namespace heddle_sdk { HEDDLE_HD T name(T x, T y HEDDLE_Z##more(, T z)) { return value; } }                    \
  HEDDLE_HD unsigned int name(unsigned int x, unsigned int y HEDDLE_Z##more(, unsigned int z)) {                 \
    return heddle_sdk::pair(heddle_sdk::name((T)(x >> 16), (T)(y >> 16) HEDDLE_Z##more(, (T)(z >> 16))),         \
                            heddle_sdk::name((T)x, (T)y HEDDLE_Z##more(, (T)z)));                                \
  }
#define HEDDLE_Z2(...)
#define HEDDLE_Z3(...) __VA_ARGS__
#define HEDDLE_DPX(name, value)                                              \
  HEDDLE_WORDS(name##_s32, int, 3, value)                                    \
  HEDDLE_WORDS(name##_s32_relu, int, 3, positive_part(value))                \
  HEDDLE_WORDS(name##_u32, unsigned int, 3, value)                           \
  HEDDLE_HALVES(name##_s16x2, short, 3, value)                               \
  HEDDLE_HALVES(name##_s16x2_relu, short, 3, positive_part(value))           \
  HEDDLE_HALVES(name##_u16x2, unsigned short, 3, value)
HEDDLE_DPX(__vimin3, smaller(smaller(x, y), z))
HEDDLE_DPX(__vimax3, larger(larger(x, y), z))
HEDDLE_DPX(__viaddmin, smaller(sum(x, y), z))
HEDDLE_DPX(__viaddmax, larger(sum(x, y), z))
#undef HEDDLE_DPX
HEDDLE_WORDS(__vimin_s32_relu, int, 2, positive_part(smaller(x, y)))
HEDDLE_WORDS(__vimax_s32_relu, int, 2, positive_part(larger(x, y)))
HEDDLE_HALVES(__vimin_s16x2_relu, short, 2, positive_part(smaller(x, y)))
HEDDLE_HALVES(__vimax_s16x2_relu, short, 2, positive_part(larger(x, y)))
#undef HEDDLE_Z2
#undef HEDDLE_Z3
#undef HEDDLE_HALVES
#undef HEDDLE_WORDS

// One of two values, and whether it is the first, for each half.
#define HEDDLE_WORDS(name, T, order)                       \
  HEDDLE_HD T name(T x, T y, bool *first) {                \
    *first = x order y;                                    \
    return *first ? x : y;                                 \
  }
#define HEDDLE_HALVES(name, T, order)                                                                             \
  HEDDLE_HD unsigned int name(unsigned int x, unsigned int y, bool *first_high, bool *first_low) {                \
    *first_high = (T)(x >> 16) order (T)(y >> 16);                                                                \
    *first_low = (T)x order (T)y;                                                                                 \
    return ((*first_high ? x : y) & 0xffff0000u) | ((*first_low ? x : y) & 0xffffu);                              \
  }
#define HEDDLE_DPX(name, order)                        \
  HEDDLE_WORDS(name##_s32, int, order)                 \
  HEDDLE_WORDS(name##_u32, unsigned int, order)        \
  HEDDLE_HALVES(name##_s16x2, short, order)            \
  HEDDLE_HALVES(name##_u16x2, unsigned short, order)
HEDDLE_DPX(__vibmin, <=)
HEDDLE_DPX(__vibmax, >=)
#undef HEDDLE_DPX
#undef HEDDLE_HALVES
#undef HEDDLE_WORDS
#undef HEDDLE_HD

#endif
