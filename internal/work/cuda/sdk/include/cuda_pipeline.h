// Asynchronous copies from global to shared memory, in batches: instructions from sm_80
// on, ordinary copies before.
#ifndef HEDDLE_CUDA_PIPELINE_H
#define HEDDLE_CUDA_PIPELINE_H

#include "cuda_awbarrier_primitives.h"

#if defined(__CUDA__)

HEDDLE_NO_LINES
// Copies bytes (4, 8 or 16); the last zeros of them are not read but set to zero.
static __inline__ __device__ void __pipeline_memcpy_async(void *shared, const void *global, size_t bytes, size_t zeros = 0) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  unsigned int to = (unsigned int)__cvta_generic_to_shared(shared), n = (unsigned int)(bytes - zeros);
  size_t from = __cvta_generic_to_global(global);
  if (bytes == 16) asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" : : "r"(to), "l"(from), "r"(n) : "memory");
  else if (bytes == 8) asm volatile("cp.async.ca.shared.global [%0], [%1], 8, %2;" : : "r"(to), "l"(from), "r"(n) : "memory");
  else asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" : : "r"(to), "l"(from), "r"(n) : "memory");
#else
  for (size_t i = 0; i < bytes; i++) ((char *)shared)[i] = i < bytes - zeros ? ((const char *)global)[i] : 0;
#endif
}
static __inline__ __device__ void __pipeline_commit() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  asm volatile("cp.async.commit_group;" : : : "memory");
#endif
}
// Waits until at most prior batches, 0 to 7, are in flight.
static __inline__ __device__ void __pipeline_wait_prior(size_t prior) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  switch (prior) {
    case 1: asm volatile("cp.async.wait_group 1;" : : : "memory"); break;
    case 2: asm volatile("cp.async.wait_group 2;" : : : "memory"); break;
    case 3: asm volatile("cp.async.wait_group 3;" : : : "memory"); break;
    case 4: asm volatile("cp.async.wait_group 4;" : : : "memory"); break;
    case 5: asm volatile("cp.async.wait_group 5;" : : : "memory"); break;
    case 6: asm volatile("cp.async.wait_group 6;" : : : "memory"); break;
    case 7: asm volatile("cp.async.wait_group 7;" : : : "memory"); break;
    default: asm volatile("cp.async.wait_group 0;" : : : "memory");
  }
#else
  (void)prior;
#endif
}
HEDDLE_LINES

#endif

#endif
