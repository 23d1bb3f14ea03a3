// Runs kernels of GPUVerify's test suite with concrete arguments. The kernels have none: a verifier
// takes any. run.sh includes this file ahead of them and lists them after them.
//
//   ./app KERNEL [NUMBER DATA ALIAS]   each integer argument is NUMBER; buffers hold zeros (DATA 0)
//                                      or the number of each word (1), and are one buffer if ALIAS
//                                      is 1. Without these, all that there are, one after the other
#pragma once

#include <cooperative_groups.h>
#include <cuda.h>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <curand_kernel.h>
#include <type_traits>

// What the annotations of the suite mean in a run. A precondition that does not hold says that the
// arguments are outside of the contract; an assertion that fails is an error of the verifier's own.
__device__ __managed__ int outside_contract, asserted;
static __device__ void leave() {
  atomicExch(&outside_contract, 1);
  asm volatile("exit;");
}
#define __requires(...) ((__VA_ARGS__) ? (void)0 : leave())
#define __assume __requires
#define __assert(...) ((__VA_ARGS__) ? (void)0 : (void)atomicExch(&asserted, 1))
#define __implies(a, b) (!(a) || (b))
#define __enabled() true
#define __ensures(...) ((void)0)
#define __invariant(...) ((void)0)
#define __global_invariant(...) ((void)0)
#define __requires_fresh_array(...) ((void)0)
#define __axiom(...) static_assert(true, "")
#define __uniform_int(x) true
#define __uniform_bool(x) true
#define __distinct_int(x) true
#define __other_int(x) (-1)
#define __no_read(...) true
#define __no_write(...) true
#define __read(...) false
#define __write(...) false
#define __read_implies(...) true
#define __write_implies(...) true
#define __ptr_offset_bytes(...) 0
#define __read_offset_bytes(...) 0
#define __write_offset_bytes(...) 0

// The suite's other name of sync.
namespace cooperative_groups {
template <class G> __device__ void synchronize(const G &g) { g.sync(); }
} // namespace cooperative_groups

struct arguments {
  long number;
  int data;
  bool alias;
};

static const size_t buffer_size = 4 << 20;
static arguments with;
static void *buffers[64];
static int used;
static const void *function; // a variable of the device with a pointer to a function

// A new buffer of words that the kernel may read and write.
static void *buffer() {
  if (used && (with.alias || used == 64))
    return buffers[0];
  void *p;
  if (cudaMalloc(&p, buffer_size) != cudaSuccess)
    abort();
  cudaMemset(p, 0, buffer_size);
  if (with.data == 1) {
    unsigned *words = (unsigned *)malloc(buffer_size);
    for (size_t i = 0; i < buffer_size / 4; i++)
      words[i] = i;
    cudaMemcpy(p, words, buffer_size, cudaMemcpyHostToDevice);
    free(words);
  }
  return buffers[used++] = p;
}

// An argument of any type. A structure's words are all pointers to buffers.
template <class T> T argument() {
  if constexpr (std::is_function<std::remove_pointer_t<T>>::value) {
    T f;
    cudaMemcpyFromSymbol(&f, function, sizeof f);
    return f;
  } else if constexpr (std::is_pointer<T>::value) {
    return (T)buffer();
  } else if constexpr (std::is_arithmetic<T>::value) {
    return (T)with.number;
  } else {
    T t;
    memset((void *)&t, 0, sizeof t);
    for (size_t i = 0; i + sizeof(void *) <= sizeof t; i += sizeof(void *)) {
      void *p = buffer();
      memcpy((char *)&t + i, &p, sizeof p);
    }
    return t;
  }
}

// Runs a kernel once.
template <class... P> void once(void (*kernel)(P...), dim3 grid, dim3 block) {
  outside_contract = asserted = used = 0;
  auto launch = [&](P... p) {
    void *list[] = {&p..., nullptr};
    if (cudaLaunchCooperativeKernel((const void *)kernel, grid, block, list, 0, 0) != cudaErrorCooperativeLaunchTooLarge)
      return cudaGetLastError();
    cudaGetLastError();
    return cudaLaunchKernel((const void *)kernel, grid, block, list, 0, 0);
  };
  cudaError_t e = launch(argument<P>()...);
  if (e == cudaSuccess)
    e = cudaDeviceSynchronize();
  printf("%s%s%s\n", cudaGetErrorName(e), e == cudaSuccess && outside_contract ? " outside-contract" : "",
         e == cudaSuccess && asserted ? " assertion" : "");
  if (e != cudaSuccess)
    exit(0); // nothing can follow
  for (int i = 0; i < used; i++)
    cudaFree(buffers[i]);
}

// Runs a kernel with the arguments of the command line, or with all that there are for it.
template <class... P> void run(void (*kernel)(P...), dim3 grid, dim3 block, bool alias, int argc, char **argv) {
  if (argc == 5) {
    with = {atol(argv[2]), atoi(argv[3]), atoi(argv[4]) != 0};
    once(kernel, grid, block);
    return;
  }
  const bool numbers = (std::is_arithmetic<P>::value || ...);
  long threads = (long)grid.x * grid.y * grid.z * block.x * block.y * block.z;
  for (int a = 0; a <= alias; a++)
    for (int data = 0; data < 2; data++)
      for (long number : {0L, 1L, 2L, 8L, threads}) {
        with = {number, data, a != 0};
        once(kernel, grid, block);
        if (!numbers)
          break;
      }
}

struct entry {
  const char *name;
  void (*run)(int argc, char **argv);
};
