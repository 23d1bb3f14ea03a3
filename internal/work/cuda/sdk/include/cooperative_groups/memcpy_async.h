// Copies to shared memory that a group makes together and waits for later.
#ifndef HEDDLE_COOPERATIVE_GROUPS_MEMCPY_ASYNC_H
#define HEDDLE_COOPERATIVE_GROUPS_MEMCPY_ASYNC_H

#include "../cooperative_groups.h"
#include "../cuda_pipeline.h"

#if defined(__CUDA__) && __cplusplus >= 201103L

#define HEDDLE_D __inline__ __attribute__((device, always_inline, nodebug))

namespace heddle_sdk {
namespace groups {

// A thread's part of a copy by a group: every size-th piece of 16, 4 or 1 bytes,
// depending on the alignment.
static HEDDLE_D void copy_part(void *to, const void *from, size_t bytes, size_t rank, size_t size) {
  size_t ends = (size_t)to | (size_t)from;
  size_t piece = ends % 16 == 0 ? 16 : ends % 4 == 0 ? 4 : 1, whole = bytes / piece * piece;
  char *t = (char *)to;
  const char *f = (const char *)from;
  if (piece > 1 && __isShared(to) && __isGlobal(from)) {
    for (size_t i = rank * piece; i < whole; i += size * piece) {
      if (piece == 16) __pipeline_memcpy_async(t + i, f + i, 16);
      else __pipeline_memcpy_async(t + i, f + i, 4);
    }
  } else {
    whole = 0;
  }
  for (size_t i = whole + rank; i < bytes; i += size) t[i] = f[i];
}

} // namespace groups
} // namespace heddle_sdk

namespace cooperative_groups {

// bytes is an integer or a cuda::aligned_size_t.
template <class Group, class T, class U, class Size>
HEDDLE_D void memcpy_async(const Group &g, T *to, const U *from, const Size &bytes) {
  heddle_sdk::groups::copy_part(to, from, (size_t)bytes, (size_t)g.thread_rank(), (size_t)g.size());
  __pipeline_commit();
}
// Both lengths are in elements; the shorter one counts.
template <class Group, class T, class LengthTo, class LengthFrom>
HEDDLE_D void memcpy_async(const Group &g, T *to, const LengthTo &most, const T *from, const LengthFrom &there) {
  size_t n = (size_t)most < (size_t)there ? (size_t)most : (size_t)there;
  heddle_sdk::groups::copy_part(to, from, n * sizeof(T), (size_t)g.thread_rank(), (size_t)g.size());
  __pipeline_commit();
}
// Waits for all copies of the group, or for all but the last n.
template <class Group> HEDDLE_D void wait(const Group &g) {
  __pipeline_wait_prior(0);
  g.sync();
}
template <unsigned int n, class Group> HEDDLE_D void wait_prior(const Group &g) {
  __pipeline_wait_prior(n);
  g.sync();
}

} // namespace cooperative_groups

#undef HEDDLE_D

#endif

#endif
