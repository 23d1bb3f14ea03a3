// Reductions over the threads of a group.
#ifndef HEDDLE_COOPERATIVE_GROUPS_REDUCE_H
#define HEDDLE_COOPERATIVE_GROUPS_REDUCE_H

#include "../cooperative_groups.h"

#if defined(__CUDA__) && __cplusplus >= 201103L

#define HEDDLE_D __inline__ __attribute__((device, always_inline, nodebug))

namespace cooperative_groups {

// The operations for reductions: for one type, or for any.
#define HEDDLE_COMBINE(name, expression)                                            \
  template <class T = void> struct name {                                          \
    HEDDLE_D T operator()(const T &a, const T &b) const { return expression; }      \
  };                                                                               \
  template <> struct name<void> {                                                  \
    template <class T> HEDDLE_D T operator()(const T &a, const T &b) const { return expression; } \
  };
HEDDLE_COMBINE(plus, a + b)
HEDDLE_COMBINE(less, b < a ? b : a)
HEDDLE_COMBINE(greater, a < b ? b : a)
HEDDLE_COMBINE(bit_and, a & b)
HEDDLE_COMBINE(bit_or, a | b)
HEDDLE_COMBINE(bit_xor, a ^ b)
#undef HEDDLE_COMBINE

// All threads of a tile of one warp get the result.
template <unsigned int n, class T, class Op> HEDDLE_D T reduce(const heddle_warp_tile<n> &g, const T &v, Op op) {
  T sum = v;
#pragma unroll
  for (unsigned int d = n / 2; d > 0; d /= 2) sum = op(sum, g.shfl_xor(sum, d));
  return sum;
}
template <unsigned int n, class T, class Op> HEDDLE_D T reduce(const heddle_block_tile<n> &g, const T &v, Op op) {
  T sum = v;
#pragma unroll
  for (int d = 16; d > 0; d /= 2) sum = op(sum, heddle_sdk::groups::words<T>(sum).each(heddle_sdk::groups::from_xor{0xffffffffu, d, 32}));
  T *all = g.template heddle_values<T>();
  if (heddle_sdk::groups::lane() == 0) all[g.heddle_warp()] = sum;
  g.sync();
  sum = all[0];
  for (unsigned int i = 1; i < n / 32; i++) sum = op(sum, all[i]);
  g.sync();
  return sum;
}
// The first thread combines its value with those of ever closer threads, and broadcasts
// the result.
template <class T, class Op> HEDDLE_D T reduce(const coalesced_group &g, const T &v, Op op) {
  T sum = v;
#pragma unroll
  for (unsigned int d = 16; d > 0; d /= 2) {
    T other = g.shfl_down(sum, d);
    if (g.thread_rank() + d < g.size()) sum = op(sum, other);
  }
  return g.shfl(sum, 0);
}

} // namespace cooperative_groups

#undef HEDDLE_D

#endif

#endif
