// Atomic accesses to values of any type of 1, 2, 4 or 8 bytes, and the built-in functions of nvcc that have the order
// and the scope of an access as arguments.
#ifndef HEDDLE_ATOMICS_H
#define HEDDLE_ATOMICS_H

#include "cuda_runtime.h"

#if __cplusplus >= 201103L

// The numbers of orders are those of clang's own functions. Scopes count upwards.
#define __NV_ATOMIC_RELAXED __ATOMIC_RELAXED
#define __NV_ATOMIC_CONSUME __ATOMIC_CONSUME
#define __NV_ATOMIC_ACQUIRE __ATOMIC_ACQUIRE
#define __NV_ATOMIC_RELEASE __ATOMIC_RELEASE
#define __NV_ATOMIC_ACQ_REL __ATOMIC_ACQ_REL
#define __NV_ATOMIC_SEQ_CST __ATOMIC_SEQ_CST
#define __NV_THREAD_SCOPE_THREAD 0
#define __NV_THREAD_SCOPE_BLOCK 1
#define __NV_THREAD_SCOPE_CLUSTER 2
#define __NV_THREAD_SCOPE_DEVICE 3
#define __NV_THREAD_SCOPE_SYSTEM 4

#pragma push_macro("HEDDLE_HD")
#undef HEDDLE_HD
#define HEDDLE_HD __inline__ __host__ __device__

HEDDLE_NO_LINES
namespace heddle_sdk {
namespace atomics {

// The word that holds a value: an integer of its size, but at least 32 bits.
template <unsigned int bytes> struct word { typedef unsigned int type; };
template <> struct word<8> { typedef unsigned long long type; };

template <class T> HEDDLE_HD typename word<sizeof(T)>::type pack(const T &v) {
  typename word<sizeof(T)>::type w = 0;
  __builtin_memcpy(&w, &v, sizeof(T));
  return w;
}
template <class T> HEDDLE_HD T unpack(typename word<sizeof(T)>::type w) {
  T v;
  __builtin_memcpy(&v, &w, sizeof(T));
  return v;
}

static HEDDLE_HD unsigned int cas_word(unsigned int *p, unsigned int want, unsigned int to) {
#if defined(__CUDA_ARCH__)
  return atomicCAS(p, want, to);
#else
  __atomic_compare_exchange_n(p, &want, to, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
  return want;
#endif
}
static HEDDLE_HD unsigned long long cas_word(unsigned long long *p, unsigned long long want, unsigned long long to) {
#if defined(__CUDA_ARCH__)
  return atomicCAS(p, want, to);
#else
  __atomic_compare_exchange_n(p, &want, to, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
  return want;
#endif
}

// Compare-and-swap: returns the value at p, and replaces it by to if it is want. Values
// of 1 and 2 bytes are exchanged as parts of the surrounding word.
template <class T> HEDDLE_HD T cas(T *p, const T &want, const T &to) {
  static_assert(__is_trivially_copyable(T) && sizeof(T) <= 8 && (sizeof(T) & (sizeof(T) - 1)) == 0,
                "atomic objects have 1, 2, 4 or 8 bytes");
  typedef typename word<sizeof(T)>::type W;
  if (sizeof(T) >= 4) return unpack<T>(cas_word((W *)(void *)p, pack(want), pack(to)));
  unsigned int shift = (unsigned int)((size_t)p & 3) * 8, mask = ((1u << (sizeof(T) * 8 & 31)) - 1) << shift;
  unsigned int *around = (unsigned int *)((size_t)p & ~(size_t)3), now = *(volatile unsigned int *)around;
  for (;;) {
    if ((now & mask) >> shift != (unsigned int)pack(want)) return unpack<T>((W)((now & mask) >> shift));
    unsigned int was = cas_word(around, now, (now & ~mask) | (unsigned int)pack(to) << shift);
    if (was == now) return want;
    now = was;
  }
}

template <class T> HEDDLE_HD T load(const T *p) {
  typedef typename word<sizeof(T)>::type W;
  if (sizeof(T) == 1) return unpack<T>((W) * (const volatile unsigned char *)(const void *)p);
  if (sizeof(T) == 2) return unpack<T>((W) * (const volatile unsigned short *)(const void *)p);
  return unpack<T>(*(const volatile W *)(const void *)p);
}
template <class T> HEDDLE_HD void store(T *p, const T &v) {
  typedef typename word<sizeof(T)>::type W;
  if (sizeof(T) == 1) *(volatile unsigned char *)(void *)p = (unsigned char)pack(v);
  else if (sizeof(T) == 2) *(volatile unsigned short *)(void *)p = (unsigned short)pack(v);
  else *(volatile W *)(void *)p = pack(v);
}

// Any change of a value, repeated until no other change interferes.
template <class T, class F> HEDDLE_HD T change(T *p, F f) {
  T now = load(p);
  for (;;) {
    T was = cas(p, now, f(now));
    if (pack(was) == pack(now)) return was;
    now = was;
  }
}

#define HEDDLE_CHANGE(name, expression)                                     \
  template <class T, class V = T> struct name {                              \
    V v;                                                                     \
    HEDDLE_HD T operator()(T old) const { return (T)(expression); }                                                                       \
  };
HEDDLE_CHANGE(set, v)
HEDDLE_CHANGE(plus, old + v)
HEDDLE_CHANGE(minus, old - v)
HEDDLE_CHANGE(both, old &v)
HEDDLE_CHANGE(either, old | v)
HEDDLE_CHANGE(differ, old ^ v)
HEDDLE_CHANGE(least, v < old ? v : old)
HEDDLE_CHANGE(most, old < v ? v : old)
#undef HEDDLE_CHANGE

// Changes for which the device has an instruction.
#if defined(__CUDA_ARCH__)
#define HEDDLE_DIRECT_OF(name, op, T, as, value) \
  static HEDDLE_HD T change(T *p, name<T> f) { return (T)op((as *)p, value); }
#define HEDDLE_DIRECT(name, op, T, as) HEDDLE_DIRECT_OF(name, op, T, as, (as)f.v)
#define HEDDLE_DIRECT_REAL(T)          \
  HEDDLE_DIRECT(plus, atomicAdd, T, T) \
  HEDDLE_DIRECT_OF(minus, atomicAdd, T, T, -f.v)
#define HEDDLE_DIRECT_INTEGER(T, as)     \
  HEDDLE_DIRECT(set, atomicExch, T, as)  \
  HEDDLE_DIRECT(plus, atomicAdd, T, as)  \
  HEDDLE_DIRECT_OF(minus, atomicAdd, T, as, (as)-(unsigned long long)f.v) \
  HEDDLE_DIRECT(both, atomicAnd, T, as)  \
  HEDDLE_DIRECT(either, atomicOr, T, as) \
  HEDDLE_DIRECT(differ, atomicXor, T, as)
HEDDLE_DIRECT_INTEGER(int, int)
HEDDLE_DIRECT_INTEGER(unsigned int, unsigned int)
HEDDLE_DIRECT_INTEGER(long, unsigned long long)
HEDDLE_DIRECT_INTEGER(unsigned long, unsigned long long)
HEDDLE_DIRECT_INTEGER(long long, unsigned long long)
HEDDLE_DIRECT_INTEGER(unsigned long long, unsigned long long)
#define HEDDLE_DIRECT_ORDER(T, as)       \
  HEDDLE_DIRECT(least, atomicMin, T, as) \
  HEDDLE_DIRECT(most, atomicMax, T, as)
HEDDLE_DIRECT_ORDER(int, int)
HEDDLE_DIRECT_ORDER(unsigned int, unsigned int)
HEDDLE_DIRECT_ORDER(long, long long)
HEDDLE_DIRECT_ORDER(unsigned long, unsigned long long)
HEDDLE_DIRECT_ORDER(long long, long long)
HEDDLE_DIRECT_ORDER(unsigned long long, unsigned long long)
HEDDLE_DIRECT(set, atomicExch, float, float)
HEDDLE_DIRECT_REAL(float)
#if __CUDA_ARCH__ >= 600
HEDDLE_DIRECT_REAL(double)
#endif
#undef HEDDLE_DIRECT_ORDER
#undef HEDDLE_DIRECT_REAL
#undef HEDDLE_DIRECT_OF
#undef HEDDLE_DIRECT_INTEGER
#undef HEDDLE_DIRECT
#endif

static HEDDLE_HD void fence(int order, int scope) {
  if (order == __NV_ATOMIC_RELAXED || scope == __NV_THREAD_SCOPE_THREAD) return;
#if defined(__CUDA_ARCH__)
  if (scope == __NV_THREAD_SCOPE_BLOCK) __threadfence_block();
  else if (scope == __NV_THREAD_SCOPE_SYSTEM) __threadfence_system();
  else __threadfence();
#else
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
#endif
}
// An access of an order, between the fences that make it one.
template <class F> HEDDLE_HD auto ordered(int order, int scope, F f) -> decltype(f()) {
  if (order != __NV_ATOMIC_ACQUIRE && order != __NV_ATOMIC_CONSUME) fence(order, scope);
  auto was = f();
  if (order != __NV_ATOMIC_RELEASE) fence(order, scope);
  return was;
}
// An argument that does not decide about T.
template <class T> struct same { typedef T type; };

} // namespace atomics
} // namespace heddle_sdk
HEDDLE_LINES

#pragma pop_macro("HEDDLE_HD")

#if defined(__CUDA__)

HEDDLE_NO_LINES
#define HEDDLE_D static __inline__ __attribute__((device))
#define HEDDLE_SCOPED int scope = __NV_THREAD_SCOPE_SYSTEM
#define HEDDLE_SAME typename heddle_sdk::atomics::same<T>::type

HEDDLE_D void __nv_atomic_thread_fence(int order, HEDDLE_SCOPED) { heddle_sdk::atomics::fence(order, scope); }
template <class T> HEDDLE_D T __nv_atomic_load_n(const volatile T *p, int order, HEDDLE_SCOPED) {
  return heddle_sdk::atomics::ordered(order, scope, [=] { return heddle_sdk::atomics::load((const T *)p); });
}
template <class T> HEDDLE_D void __nv_atomic_load(const volatile T *p, HEDDLE_SAME *to, int order, HEDDLE_SCOPED) { *to = __nv_atomic_load_n(p, order, scope); }
template <class T> HEDDLE_D void __nv_atomic_store_n(volatile T *p, HEDDLE_SAME v, int order, HEDDLE_SCOPED) {
  heddle_sdk::atomics::ordered(order, scope, [=] { return heddle_sdk::atomics::store((T *)p, v), 0; });
}
template <class T> HEDDLE_D void __nv_atomic_store(volatile T *p, HEDDLE_SAME *v, int order, HEDDLE_SCOPED) { __nv_atomic_store_n(p, *v, order, scope); }
template <class T> HEDDLE_D bool __nv_atomic_compare_exchange_n(volatile T *p, HEDDLE_SAME *want, HEDDLE_SAME to, bool, int success, int, HEDDLE_SCOPED) {
  T was = heddle_sdk::atomics::ordered(success, scope, [=] { return heddle_sdk::atomics::cas((T *)p, *want, to); });
  bool same = heddle_sdk::atomics::pack(was) == heddle_sdk::atomics::pack(*want);
  *want = was;
  return same;
}
template <class T> HEDDLE_D bool __nv_atomic_compare_exchange(volatile T *p, HEDDLE_SAME *want, HEDDLE_SAME *to, bool weak, int success, int failure, HEDDLE_SCOPED) {
  return __nv_atomic_compare_exchange_n(p, want, *to, weak, success, failure, scope);
}
#define HEDDLE_FETCH(name, by)                                                                                            \
  template <class T> HEDDLE_D T name(volatile T *p, HEDDLE_SAME v, int order, HEDDLE_SCOPED) {                                               \
    return heddle_sdk::atomics::ordered(order, scope, [=] { return heddle_sdk::atomics::change((T *)p, heddle_sdk::atomics::by<T>{v}); }); \
  }
#define HEDDLE_FETCHES(name, by)                                                                                          \
  HEDDLE_FETCH(__nv_atomic_fetch_##name, by)                                                                              \
  template <class T> HEDDLE_D void __nv_atomic_##name(volatile T *p, HEDDLE_SAME v, int order, HEDDLE_SCOPED) { __nv_atomic_fetch_##name(p, v, order, scope); }
HEDDLE_FETCH(__nv_atomic_exchange_n, set)
template <class T> HEDDLE_D void __nv_atomic_exchange(volatile T *p, HEDDLE_SAME *v, HEDDLE_SAME *was, int order, HEDDLE_SCOPED) { *was = __nv_atomic_exchange_n(p, *v, order, scope); }
HEDDLE_FETCHES(add, plus)
HEDDLE_FETCHES(sub, minus)
HEDDLE_FETCHES(and, both)
HEDDLE_FETCHES(or, either)
HEDDLE_FETCHES(xor, differ)
HEDDLE_FETCHES(min, least)
HEDDLE_FETCHES(max, most)
#undef HEDDLE_FETCHES
#undef HEDDLE_FETCH
#undef HEDDLE_SAME
#undef HEDDLE_SCOPED
#undef HEDDLE_D
HEDDLE_LINES

#endif

#endif

#endif
