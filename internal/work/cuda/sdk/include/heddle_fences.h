// Barriers and fences for releases of clang that treat the intrinsics as functions that only
// read memory: their analysis of global variables (GlobalsModRef) then moves loads of
// variables with internal linkage, such as all shared memory, across them. Clang 14 does so
// with the intrinsics themselves, clang 15 with functions that call them. An empty asm
// statement that may change memory prevents both. Clang's own headers, which come later, use
// these too.
#ifndef HEDDLE_FENCES_H
#define HEDDLE_FENCES_H
#if defined(__CUDA_ARCH__) && __clang_major__ < 16

#define HEDDLE_FENCED(call)             \
  __extension__({                       \
    __asm__ volatile("" : : : "memory"); \
    call;                               \
    __asm__ volatile("" : : : "memory"); \
  })
#define HEDDLE_FENCED_VALUE(call)       \
  __extension__({                       \
    __asm__ volatile("" : : : "memory"); \
    int __heddle_value = (call);        \
    __asm__ volatile("" : : : "memory"); \
    __heddle_value;                     \
  })

#define __syncthreads() HEDDLE_FENCED(__syncthreads())
#define __nvvm_bar_sync(n) HEDDLE_FENCED(__nvvm_bar_sync(n))
#define __nvvm_bar_warp_sync(mask) HEDDLE_FENCED(__nvvm_bar_warp_sync(mask))
#define __nvvm_barrier_sync(n) HEDDLE_FENCED(__nvvm_barrier_sync(n))
#define __nvvm_barrier_sync_cnt(n, threads) HEDDLE_FENCED(__nvvm_barrier_sync_cnt(n, threads))
#define __nvvm_bar0_popc(a) HEDDLE_FENCED_VALUE(__nvvm_bar0_popc(a))
#define __nvvm_bar0_and(a) HEDDLE_FENCED_VALUE(__nvvm_bar0_and(a))
#define __nvvm_bar0_or(a) HEDDLE_FENCED_VALUE(__nvvm_bar0_or(a))
#define __nvvm_membar_cta() HEDDLE_FENCED(__nvvm_membar_cta())
#define __nvvm_membar_gl() HEDDLE_FENCED(__nvvm_membar_gl())
#define __nvvm_membar_sys() HEDDLE_FENCED(__nvvm_membar_sys())

#endif
#endif
