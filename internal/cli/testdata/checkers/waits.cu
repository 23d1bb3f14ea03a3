// Threads that wait for what never comes, and calls of what is no function. Each kernel ends.
#include "suite.h"
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

// Launches a kernel whose blocks wait for each other.
static void together(void (*kernel)(const int *, int *), int blocks, int threads) {
  buffer<int> in(1024, numbers), out(1024);
  int *from = in, *to = out;
  void *args[] = {&from, &to};
  cudaLaunchCooperativeKernel((void *)kernel, blocks, threads, args, 0, 0);
  finish();
  look(out, 1024);
}

// A barrier of the grid that a block leaves out.
template <bool all> __global__ void grid(const int *in, int *out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (!all && blockIdx.x == 1)
    return;
  out[i] = in[i];
  cg::this_grid().sync(); // BUG grid_left: barrier-divergence
}
CASE(grid_left) { together(grid<false>, 3, 64); }
CASE(grid_all) { together(grid<true>, 3, 64); } // CLEAN grid_all

// Blocks that come to it once more than others.
template <bool all> __global__ void rounds(const int *in, int *out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  for (int k = 0; k < (all || blockIdx.x ? 2 : 1); k++) {
    out[i] += in[i];
    cg::this_grid().sync(); // BUG grid_rounds: barrier-divergence
  }
}
CASE(grid_rounds) { together(rounds<false>, 3, 32); }
CASE(grid_same) { together(rounds<true>, 3, 32); } // CLEAN grid_same

// A flag that a block sets, or that nobody does.
template <bool set> __global__ void flag(const int *in, int *out) {
  if (threadIdx.x == 0) {
    if (blockIdx.x == 0 && set)
      atomicExch(&out[0], 1);
    while (atomicAdd(&out[0], 0) == 0) // BUG flag_never: endless-wait
      ;
  }
  __syncthreads();
  out[1 + blockIdx.x * blockDim.x + threadIdx.x] = in[threadIdx.x];
}
CASE(flag_never) { run(flag<false>, 4, 64); }
CASE(flag_set) { run(flag<true>, 4, 64); } // CLEAN flag_set

// A lock that its thread does not give back.
template <bool back> __global__ void lock(const int *in, int *out) {
  while (atomicCAS(&out[0], 0, 1) != 0) // BUG lock_kept: endless-wait
    ;
  __threadfence();
  out[1] += in[1];
  __threadfence();
  if (back)
    atomicExch(&out[0], 0);
}
CASE(lock_kept) { run(lock<false>, 2, 1); }
CASE(lock_back) { run(lock<true>, 2, 1); } // CLEAN lock_back

// A wait in shared memory for another warp of the block.
template <bool set> __global__ void shared_flag(const int *in, int *out) {
  __shared__ int s;
  if (threadIdx.x == 0)
    s = 0;
  __syncthreads();
  if (threadIdx.x == 32 && set)
    atomicAdd(&s, 1);
  if (threadIdx.x == 0)
    while (atomicAdd(&s, 0) == 0) // BUG shared_never: endless-wait
      ;
  out[threadIdx.x] = in[threadIdx.x];
}
CASE(shared_never) { run(shared_flag<false>, 1, 64); }
CASE(shared_set) { run(shared_flag<true>, 1, 64); } // CLEAN shared_set

// The threads of each block look at a flag, and wait for each other before they look again.
template <bool set> __global__ void looks(const int *in, int *out) {
  int n = 0;
  if (set && blockIdx.x == 1) // late
    while (n < 20000)
      n += __syncthreads_count(in[threadIdx.x] >= 0) / 64;
  if (set && blockIdx.x == 1 && threadIdx.x == 0)
    atomicExch(&out[0], 1);
  while (!__syncthreads_or(*(volatile int *)out)) // BUG looks_never: endless-wait
    ;
  out[1 + blockIdx.x * blockDim.x + threadIdx.x] = in[threadIdx.x];
}
CASE(looks_never) { run(looks<false>, 3, 64); }
CASE(looks_set) { run(looks<true>, 3, 64); } // CLEAN looks_set

// A loop that does not end.
template <bool ends> __global__ void loop(const int *in, int *out) {
  for (int i = 0; i < 10; i += ends ? in[1] : in[0]) // BUG loop_forever: endless-wait
    asm volatile("");
  out[threadIdx.x] = 1;
}
CASE(loop_forever) { run(loop<false>, 2, 32); }
CASE(loop_ends) { run(loop<true>, 2, 32); } // CLEAN loop_ends

// A call through a pointer to nothing.
__device__ __noinline__ int twice(int n) { return 2 * n; }
__device__ int (*functions[2])(int) = {twice, nullptr};

template <int n> __global__ void pointer(const int *in, int *out) {
  out[threadIdx.x] = functions[in[n]](in[threadIdx.x]); // BUG call_null: bad-call
}
CASE(call_null) { run(pointer<1>, 1, 32); }
CASE(call_twice) { run(pointer<0>, 1, 32); } // CLEAN call_twice

// A recursion that does not end: what it has on its stack keeps it from becoming a loop.
__device__ __noinline__ int sum(int n, int last, int *above) {
  volatile int here = n + *above;
  int local = here;
  return n == last ? n : local + sum(n + 1, last, &local); // BUG recursion_endless: stack-overflow
}

template <bool ends> __global__ void recursion(const int *in, int *out) {
  int first = 0;
  out[threadIdx.x] = sum(in[threadIdx.x], ends ? 40 : -1, &first);
}
CASE(recursion_endless) { run(recursion<false>, 1, 32); }
CASE(recursion_ends) { run(recursion<true>, 1, 32); } // CLEAN recursion_ends
