// Prefix sums, and prefix reductions with other operations, over the ranks of a group.
#ifndef HEDDLE_COOPERATIVE_GROUPS_SCAN_H
#define HEDDLE_COOPERATIVE_GROUPS_SCAN_H

#include "reduce.h"

#if defined(__CUDA__) && __cplusplus >= 201103L

#define HEDDLE_D __inline__ __attribute__((device, always_inline, nodebug))

namespace cooperative_groups {

// The reduction of the threads up to and including this one.
template <class Group, class T, class Op> HEDDLE_D T inclusive_scan(const Group &g, const T &v, Op op) {
  T sum = v;
#pragma unroll
  for (unsigned int d = 1; d < 32; d *= 2) {
    if (d >= g.size()) break;
    T other = g.shfl_up(sum, d);
    if (g.thread_rank() >= d) sum = op(other, sum);
  }
  return sum;
}
template <class Group, class T> HEDDLE_D T inclusive_scan(const Group &g, const T &v) { return inclusive_scan(g, v, plus<T>()); }

// The reduction of the threads before this one; the first gets T().
template <class Group, class T, class Op> HEDDLE_D T exclusive_scan(const Group &g, const T &v, Op op) {
  T before = g.shfl_up(inclusive_scan(g, v, op), 1);
  return g.thread_rank() == 0 ? T() : before;
}
template <class Group, class T> HEDDLE_D T exclusive_scan(const Group &g, const T &v) { return exclusive_scan(g, v, plus<T>()); }

// The same plus an atomic variable, to which the group's sum is added.
template <class Group, class Atomic, class T> HEDDLE_D T inclusive_scan_update(const Group &g, Atomic &total, const T &v) {
  T sum = inclusive_scan(g, v), before = T();
  if (g.thread_rank() == g.size() - 1) before = total.fetch_add(sum);
  return g.shfl(before, (unsigned int)g.size() - 1) + sum;
}
template <class Group, class Atomic, class T> HEDDLE_D T exclusive_scan_update(const Group &g, Atomic &total, const T &v) {
  return inclusive_scan_update(g, total, v) - v;
}

} // namespace cooperative_groups

#undef HEDDLE_D

#endif

#endif
