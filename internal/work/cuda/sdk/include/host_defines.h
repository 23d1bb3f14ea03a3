// The keywords of CUDA C++ as attributes of clang.
#ifndef HEDDLE_HOST_DEFINES_H
#define HEDDLE_HOST_DEFINES_H
// Programs and libraries test such macros to see whether a header was included.
#define __HOST_DEFINES_H__

#if defined(__CUDA__)
#define __host__ __attribute__((host))
#define __device__ __attribute__((device))
#define __global__ __attribute__((global))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
// Clang supports managed variables only for AMD. Here the host variable is used, in a
// section from which the runtime knows which variables to share.
#define __managed__ __attribute__((device, section("heddle_managed")))
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
// Clang writes no directive for it: heddle cc reads the annotation in LLVM's IR.
#define __cluster_dims__(...) __attribute__((annotate("heddle.cluster", __VA_ARGS__)))
#else
#define __host__
#define __device__
#define __global__
#define __shared__
#define __constant__
#define __managed__
#define __launch_bounds__(...)
#define __cluster_dims__(...)
#endif

// From clang 15 on this is a keyword in CUDA files, which the C++ library needs.
#if defined(__CUDA__) && __clang_major__ < 15
#define __noinline__ __attribute__((noinline))
#endif

// Functions between these two are always inlined and have no lines of their own, so that the
// code made of them has the line of the program that calls them: findings, reports and
// debuggers name it. Lambda expressions are functions too.
#if defined(__clang__)
#define HEDDLE_NO_LINES                                                         \
  _Pragma("clang attribute push(__attribute__((always_inline)), apply_to = function)") \
  _Pragma("clang attribute push(__attribute__((nodebug)), apply_to = hasType(functionType))")
#define HEDDLE_LINES _Pragma("clang attribute pop") _Pragma("clang attribute pop")
#else
#define HEDDLE_NO_LINES
#define HEDDLE_LINES
#endif

#define __forceinline__ __inline__ __attribute__((always_inline))
#define __align__(n) __attribute__((aligned(n)))
#define __builtin_align__(n) __attribute__((aligned(n)))
#define __annotate__(a) __attribute__((a))
#define __location__(a)
#define __device_builtin__
#define __cudart_builtin__
#define __thread__ __thread
// Clang 19 and older have no such attribute: each thread has a copy then, which is read-only in correct programs.
#if defined(__CUDA__) && __has_attribute(grid_constant)
#define __grid_constant__ __attribute__((grid_constant))
#else
#define __grid_constant__
#endif
#define __assume(condition) __builtin_assume(condition)
#define __maxnreg__(n)
#define __block_size__(...)
#define __nv_pure__ __attribute__((pure))
#define CUDARTAPI
#define CUDAAPI
#define CUDART_CB
#define CUDARTAPI_CDECL
#define CUDA_CB

#include "heddle_fences.h"

#endif
