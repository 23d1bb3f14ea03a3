// Functions for device code that clang's headers lack: match, cache hints, dot products of bytes, address conversions.
#ifndef HEDDLE_DEVICE_INTRINSICS_H
#define HEDDLE_DEVICE_INTRINSICS_H

#if defined(__CUDA__) && defined(__cplusplus)

#include "dpx_functions.h"

#define HEDDLE_D static __inline__ __attribute__((device, always_inline, nodebug))

namespace heddle_sdk {

// The bits of a value of 1 to 16 bytes in the register type of PTX.
template <unsigned int bytes> struct bits_of;
template <> struct bits_of<4> { typedef unsigned int type; };
template <> struct bits_of<8> { typedef unsigned long long type; };

// A type that is not deduced from the call.
template <class T> struct same { typedef T type; };

} // namespace heddle_sdk

// Old names.
HEDDLE_D int mulhi(int a, int b) { return __mulhi(a, b); }
HEDDLE_D unsigned int mulhi(unsigned int a, unsigned int b) { return __umulhi(a, b); }
HEDDLE_D unsigned int umulhi(unsigned int a, unsigned int b) { return __umulhi(a, b); }
HEDDLE_D int mul24(int a, int b) { return __mul24(a, b); }
HEDDLE_D unsigned int umul24(unsigned int a, unsigned int b) { return __umul24(a, b); }
HEDDLE_D long long mul64hi(long long a, long long b) { return __mul64hi(a, b); }
HEDDLE_D unsigned long long umul64hi(unsigned long long a, unsigned long long b) { return __umul64hi(a, b); }

// In clang 14 the shuffles of this type call themselves. A function with a condition, even one that always holds, is a
// different function and is preferred.
#if __clang_major__ < 15
#define HEDDLE_SHUFFLE(name, place)                                                                                       \
  inline __attribute__((device)) long long name##_sync(unsigned int mask, long long v, place at, int width);              \
  HEDDLE_D unsigned long long name##_sync(unsigned int mask, unsigned long long v, place at, int width = warpSize)        \
      __attribute__((enable_if(true, ""))) {                                                                              \
    return (unsigned long long)name##_sync(mask, (long long)v, at, width);                                                \
  }
HEDDLE_SHUFFLE(__shfl, int)
HEDDLE_SHUFFLE(__shfl_up, unsigned int)
HEDDLE_SHUFFLE(__shfl_down, unsigned int)
HEDDLE_SHUFFLE(__shfl_xor, int)
#undef HEDDLE_SHUFFLE
#endif

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 700

HEDDLE_D void __nanosleep(unsigned int ns) { asm volatile("nanosleep.u32 %0;" : : "r"(ns)); }

// The lanes that have the same value, and whether all have it.
HEDDLE_D unsigned int heddle_match_any(unsigned int mask, unsigned int v) {
  unsigned int r;
  asm volatile("match.any.sync.b32 %0, %1, %2;" : "=r"(r) : "r"(v), "r"(mask));
  return r;
}
HEDDLE_D unsigned int heddle_match_any(unsigned int mask, unsigned long long v) {
  unsigned int r;
  asm volatile("match.any.sync.b64 %0, %1, %2;" : "=r"(r) : "l"(v), "r"(mask));
  return r;
}
HEDDLE_D unsigned int heddle_match_all(unsigned int mask, unsigned int v, int *all) {
  unsigned int r;
  asm volatile("{ .reg .pred p; match.all.sync.b32 %0|p, %2, %3; selp.s32 %1, 1, 0, p; }" : "=r"(r), "=r"(*all) : "r"(v), "r"(mask));
  return r;
}
HEDDLE_D unsigned int heddle_match_all(unsigned int mask, unsigned long long v, int *all) {
  unsigned int r;
  asm volatile("{ .reg .pred p; match.all.sync.b64 %0|p, %2, %3; selp.s32 %1, 1, 0, p; }" : "=r"(r), "=r"(*all) : "l"(v), "r"(mask));
  return r;
}
#define HEDDLE_MATCH(T)                                                                                                              \
  HEDDLE_D unsigned int __match_any_sync(unsigned int mask, T v) {                                                                   \
    return heddle_match_any(mask, __builtin_bit_cast(heddle_sdk::bits_of<sizeof(T)>::type, v));                                      \
  }                                                                                                                                  \
  HEDDLE_D unsigned int __match_all_sync(unsigned int mask, T v, int *all) {                                                         \
    return heddle_match_all(mask, __builtin_bit_cast(heddle_sdk::bits_of<sizeof(T)>::type, v), all);                                 \
  }
HEDDLE_MATCH(int)
HEDDLE_MATCH(unsigned int)
HEDDLE_MATCH(long)
HEDDLE_MATCH(unsigned long)
HEDDLE_MATCH(long long)
HEDDLE_MATCH(unsigned long long)
HEDDLE_MATCH(float)
HEDDLE_MATCH(double)
#undef HEDDLE_MATCH

#endif

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800

// Later releases of clang have functions with these names, which up to 19 confuse mask and value. A function with a
// condition, even one that always holds, is a different function and is preferred.
#define HEDDLE_REDUX(name, T, type)                                                                  \
  HEDDLE_D T __reduce_##name##_sync(unsigned int mask, T v) __attribute__((enable_if(true, ""))) {   \
    T r;                                                                                             \
    asm volatile("redux.sync." #name "." #type " %0, %1, %2;" : "=r"(r) : "r"(v), "r"(mask));        \
    return r;                                                                                        \
  }
HEDDLE_REDUX(add, unsigned int, u32)
HEDDLE_REDUX(add, int, s32)
HEDDLE_REDUX(min, unsigned int, u32)
HEDDLE_REDUX(min, int, s32)
HEDDLE_REDUX(max, unsigned int, u32)
HEDDLE_REDUX(max, int, s32)
HEDDLE_REDUX(and, unsigned int, b32)
HEDDLE_REDUX(or, unsigned int, b32)
HEDDLE_REDUX(xor, unsigned int, b32)
#undef HEDDLE_REDUX

#endif

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 610

// Dot products of four bytes, or of two of them with two halves of a word, and c.
#define HEDDLE_DOT(name, op, T, V4, V2)                                                                                   \
  HEDDLE_D T name(T a, T b, T c) {                                                                                        \
    T r;                                                                                                                  \
    asm(op " %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(c));                                                        \
    return r;                                                                                                             \
  }                                                                                                                       \
  HEDDLE_D T name(V2 a, V4 b, T c) { return name(__builtin_bit_cast(T, a), __builtin_bit_cast(T, b), c); }
HEDDLE_DOT(__dp4a, "dp4a.s32.s32", int, char4, char4)
HEDDLE_DOT(__dp4a, "dp4a.u32.u32", unsigned int, uchar4, uchar4)
HEDDLE_DOT(__dp2a_lo, "dp2a.lo.s32.s32", int, char4, short2)
HEDDLE_DOT(__dp2a_lo, "dp2a.lo.u32.u32", unsigned int, uchar4, ushort2)
HEDDLE_DOT(__dp2a_hi, "dp2a.hi.s32.s32", int, char4, short2)
HEDDLE_DOT(__dp2a_hi, "dp2a.hi.u32.u32", unsigned int, uchar4, ushort2)
#undef HEDDLE_DOT

#endif

// Loads and stores of global memory with a hint for the caches, of any type of
// 1, 2, 4, 8 or 16 bytes.
#define HEDDLE_LOAD(hint)                                                                                                 \
  template <class T> HEDDLE_D T __ld##hint(const T *p) {                                                                  \
    static_assert(sizeof(T) <= 16 && (sizeof(T) & (sizeof(T) - 1)) == 0, "of 1, 2, 4, 8 or 16 bytes");                    \
    if (sizeof(T) == 16) {                                                                                                \
      unsigned long long w[2];                                                                                            \
      asm volatile("ld.global." #hint ".v2.u64 {%0, %1}, [%2];" : "=l"(w[0]), "=l"(w[1]) : "l"(p) : "memory");            \
      return *(const T *)w;                                                                                               \
    }                                                                                                                     \
    if (sizeof(T) == 8) {                                                                                                 \
      unsigned long long w[2];                                                                                            \
      asm volatile("ld.global." #hint ".u64 %0, [%1];" : "=l"(w[0]) : "l"(p) : "memory");                                 \
      return *(const T *)w;                                                                                               \
    }                                                                                                                     \
    unsigned int w[4];                                                                                                    \
    if (sizeof(T) == 4) asm volatile("ld.global." #hint ".u32 %0, [%1];" : "=r"(w[0]) : "l"(p) : "memory");               \
    else if (sizeof(T) == 2) asm volatile("ld.global." #hint ".u16 %0, [%1];" : "=r"(w[0]) : "l"(p) : "memory");          \
    else asm volatile("ld.global." #hint ".u8 %0, [%1];" : "=r"(w[0]) : "l"(p) : "memory");                               \
    return *(const T *)w;                                                                                                 \
  }
HEDDLE_LOAD(cg)
HEDDLE_LOAD(ca)
HEDDLE_LOAD(cs)
HEDDLE_LOAD(lu)
HEDDLE_LOAD(cv)
#undef HEDDLE_LOAD
#define HEDDLE_STORE(hint)                                                                                                \
  template <class T> HEDDLE_D void __st##hint(T *p, typename heddle_sdk::same<T>::type v) {                                                                \
    static_assert(sizeof(T) <= 16 && (sizeof(T) & (sizeof(T) - 1)) == 0, "of 1, 2, 4, 8 or 16 bytes");                    \
    unsigned long long w[2] = {0, 0};                                                                                     \
    __builtin_memcpy(w, &v, sizeof(T));                                                                                   \
    if (sizeof(T) == 16) asm volatile("st.global." #hint ".v2.u64 [%0], {%1, %2};" : : "l"(p), "l"(w[0]), "l"(w[1]) : "memory"); \
    else if (sizeof(T) == 8) asm volatile("st.global." #hint ".u64 [%0], %1;" : : "l"(p), "l"(w[0]) : "memory");          \
    else if (sizeof(T) == 4) asm volatile("st.global." #hint ".u32 [%0], %1;" : : "l"(p), "r"((unsigned int)w[0]) : "memory"); \
    else if (sizeof(T) == 2) asm volatile("st.global." #hint ".u16 [%0], %1;" : : "l"(p), "h"((unsigned short)w[0]) : "memory"); \
    else asm volatile("st.global." #hint ".u8 [%0], %1;" : : "l"(p), "r"((unsigned int)w[0]) : "memory");                 \
  }
HEDDLE_STORE(wb)
HEDDLE_STORE(cg)
HEDDLE_STORE(cs)
HEDDLE_STORE(wt)
#undef HEDDLE_STORE

// Conversions between addresses of a state space and generic ones.
#define HEDDLE_CVTA(space)                                                     \
  HEDDLE_D void *__cvta_##space##_to_generic(size_t a) {                       \
    size_t r;                                                                  \
    asm("cvta." #space ".u64 %0, %1;" : "=l"(r) : "l"(a));                     \
    return (void *)r;                                                          \
  }
HEDDLE_CVTA(shared)
HEDDLE_CVTA(global)
HEDDLE_CVTA(local)
#undef HEDDLE_CVTA
HEDDLE_D size_t __cvta_generic_to_constant(const void *p) {
  size_t r;
  asm("cvta.to.const.u64 %0, %1;" : "=l"(r) : "l"(p));
  return r;
}
// Parameters of kernels that no thread changes are constant memory too.
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 700
HEDDLE_D size_t __cvta_generic_to_grid_constant(const void *p) {
  size_t r;
  asm("cvta.to.param.u64 %0, %1;" : "=l"(r) : "l"(p));
  return r;
}
HEDDLE_D void *__cvta_grid_constant_to_generic(size_t a) {
  size_t r;
  asm("cvta.param.u64 %0, %1;" : "=l"(r) : "l"(a));
  return (void *)r;
}
HEDDLE_D unsigned int __isGridConstant(const void *p) {
  unsigned int r;
  asm("{\n\t.reg .pred p;\n\tisspacep.param p, %1;\n\tselp.u32 %0, 1, 0, p;\n\t}" : "=r"(r) : "l"(p));
  return r;
}
#endif
HEDDLE_D void *__cvta_constant_to_generic(size_t a) {
  size_t r;
  asm("cvta.const.u64 %0, %1;" : "=l"(r) : "l"(a));
  return (void *)r;
}

// The approximation of the hardware.
HEDDLE_D float __tanhf(float x) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 750
  float y;
  asm("tanh.approx.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
#else
  return tanhf(x);
#endif
}

// Arithmetic of pairs, each rounded as its name says.
#define HEDDLE_PAIR_OF(way)                                                                                                           \
  HEDDLE_D float2 __fadd2_##way(float2 a, float2 b) { return make_float2(__fadd_##way(a.x, b.x), __fadd_##way(a.y, b.y)); }          \
  HEDDLE_D float2 __fmul2_##way(float2 a, float2 b) { return make_float2(__fmul_##way(a.x, b.x), __fmul_##way(a.y, b.y)); }          \
  HEDDLE_D float2 __ffma2_##way(float2 a, float2 b, float2 c) { return make_float2(__fmaf_##way(a.x, b.x, c.x), __fmaf_##way(a.y, b.y, c.y)); }
HEDDLE_PAIR_OF(rn)
HEDDLE_PAIR_OF(rz)
HEDDLE_PAIR_OF(rd)
HEDDLE_PAIR_OF(ru)
#undef HEDDLE_PAIR_OF

#undef HEDDLE_D

#endif

#endif
