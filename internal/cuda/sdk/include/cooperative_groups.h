// Groups of threads: blocks, tiles of warps, coalesced threads, grids.
#ifndef HEDDLE_COOPERATIVE_GROUPS_H
#define HEDDLE_COOPERATIVE_GROUPS_H

#include "cuda_runtime.h"

#if defined(__CUDA__) && __cplusplus >= 201103L

#define HEDDLE_D __inline__ __attribute__((device, always_inline))

namespace heddle_sdk {
// The barrier of grids: blocks that wait, and how often all have come. Two
// cooperative kernels at once would share it.
static __device__ unsigned int grid_waiting, grid_passed;
} // namespace heddle_sdk

namespace cooperative_groups {

class thread_block {
 public:
  HEDDLE_D static void sync() { __syncthreads(); }
  HEDDLE_D static unsigned int thread_rank() { return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x; }
  HEDDLE_D static unsigned int size() { return blockDim.x * blockDim.y * blockDim.z; }
  HEDDLE_D static unsigned int num_threads() { return size(); }
  HEDDLE_D static dim3 group_index() { return dim3(blockIdx.x, blockIdx.y, blockIdx.z); }
  HEDDLE_D static dim3 thread_index() { return dim3(threadIdx.x, threadIdx.y, threadIdx.z); }
  HEDDLE_D static dim3 group_dim() { return dim3(blockDim.x, blockDim.y, blockDim.z); }
  HEDDLE_D static dim3 dim_threads() { return group_dim(); }
};
static HEDDLE_D thread_block this_thread_block() { return thread_block(); }

class grid_group {
 public:
  HEDDLE_D static bool is_valid() { return true; }
  HEDDLE_D static unsigned long long block_rank() { return ((unsigned long long)blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x; }
  HEDDLE_D static unsigned long long num_blocks() { return (unsigned long long)gridDim.x * gridDim.y * gridDim.z; }
  HEDDLE_D static unsigned long long size() { return num_blocks() * thread_block::size(); }
  HEDDLE_D static unsigned long long num_threads() { return size(); }
  HEDDLE_D static unsigned long long thread_rank() { return block_rank() * thread_block::size() + thread_block::thread_rank(); }
  HEDDLE_D static dim3 group_dim() { return dim3(gridDim.x, gridDim.y, gridDim.z); }
  HEDDLE_D static dim3 dim_blocks() { return group_dim(); }
  HEDDLE_D static dim3 block_index() { return dim3(blockIdx.x, blockIdx.y, blockIdx.z); }
  HEDDLE_D static void sync() {
    __syncthreads();
    if (thread_block::thread_rank() == 0) {
      volatile unsigned int *passed = &heddle_sdk::grid_passed;
      unsigned int before = *passed;
      __threadfence();
      if (atomicAdd(&heddle_sdk::grid_waiting, 1u) + 1 == num_blocks()) {
        heddle_sdk::grid_waiting = 0;
        __threadfence();
        *passed = before + 1;
      } else {
        while (*passed == before) {
        }
      }
      __threadfence();
    }
    __syncthreads();
  }
};
static HEDDLE_D grid_group this_grid() { return grid_group(); }

// Threads of a warp that stand together.
class coalesced_group {
 protected:
  unsigned int mask, width, rank;
  HEDDLE_D unsigned int lane_of(unsigned int r) const { return __fns(mask, 0, (int)r + 1); }
  HEDDLE_D static unsigned int __fns(unsigned int m, unsigned int from, int nth) {
    for (int i = (int)from; i < 32; i++)
      if (m >> i & 1 && --nth == 0) return i;
    return 0xffffffffu;
  }

 public:
  HEDDLE_D coalesced_group(unsigned int m) : mask(m), width(__popc(m)) {
    unsigned int below;
    asm volatile("mov.u32 %0, %%lanemask_lt;" : "=r"(below));
    rank = __popc(m & below);
  }
  HEDDLE_D void sync() const { __syncwarp(mask); }
  HEDDLE_D unsigned int size() const { return width; }
  HEDDLE_D unsigned int num_threads() const { return width; }
  HEDDLE_D unsigned int thread_rank() const { return rank; }
  HEDDLE_D int any(int p) const { return __any_sync(mask, p); }
  HEDDLE_D int all(int p) const { return __all_sync(mask, p); }
  HEDDLE_D unsigned int ballot(int p) const {
    unsigned int all = __ballot_sync(mask, p), packed = 0;
    for (unsigned int r = 0; r < width; r++) packed |= (all >> lane_of(r) & 1) << r;
    return packed;
  }
  template <class T> HEDDLE_D T shfl(T v, unsigned int r) const { return __shfl_sync(mask, v, (int)lane_of(r)); }
  template <class T> HEDDLE_D T shfl_down(T v, unsigned int d) const {
    return __shfl_sync(mask, v, (int)lane_of(rank + d < width ? rank + d : rank));
  }
  template <class T> HEDDLE_D T shfl_up(T v, unsigned int d) const {
    return __shfl_sync(mask, v, (int)lane_of(rank >= d ? rank - d : rank));
  }
};
static HEDDLE_D coalesced_group coalesced_threads() { return coalesced_group(__activemask()); }

// A tile: n neighbouring threads of a warp, n a power of two.
template <unsigned int n, class Parent = void> class thread_block_tile {
  HEDDLE_D static unsigned int lane() {
    unsigned int l;
    asm volatile("mov.u32 %0, %%laneid;" : "=r"(l));
    return l;
  }
  HEDDLE_D static unsigned int mask() { return n == 32 ? 0xffffffffu : ((1u << (n & 31)) - 1) << (lane() & ~(n - 1)); }

 public:
  HEDDLE_D thread_block_tile() {}
  template <class Other> HEDDLE_D thread_block_tile(const thread_block_tile<n, Other> &) {}
  static_assert(n >= 1 && n <= 32 && (n & (n - 1)) == 0, "tiles have 1, 2, 4, 8, 16 or 32 threads");
  HEDDLE_D void sync() const { __syncwarp(mask()); }
  HEDDLE_D static constexpr unsigned int size() { return n; }
  HEDDLE_D static constexpr unsigned int num_threads() { return n; }
  HEDDLE_D unsigned int thread_rank() const { return thread_block::thread_rank() & (n - 1); }
  HEDDLE_D unsigned int meta_group_rank() const { return thread_block::thread_rank() / n; }
  HEDDLE_D unsigned int meta_group_size() const { return (thread_block::size() + n - 1) / n; }
  template <class T> HEDDLE_D T shfl(T v, int r) const { return __shfl_sync(mask(), v, r, n); }
  template <class T> HEDDLE_D T shfl_up(T v, unsigned int d) const { return __shfl_up_sync(mask(), v, d, n); }
  template <class T> HEDDLE_D T shfl_down(T v, unsigned int d) const { return __shfl_down_sync(mask(), v, d, n); }
  template <class T> HEDDLE_D T shfl_xor(T v, unsigned int m) const { return __shfl_xor_sync(mask(), v, (int)m, n); }
  HEDDLE_D int any(int p) const { return __any_sync(mask(), p); }
  HEDDLE_D int all(int p) const { return __all_sync(mask(), p); }
  HEDDLE_D unsigned int ballot(int p) const {
    unsigned int b = __ballot_sync(mask(), p) >> (lane() & ~(n - 1));
    return n == 32 ? b : b & ((1u << (n & 31)) - 1);
  }
};
template <unsigned int n, class Parent> static HEDDLE_D thread_block_tile<n, Parent> tiled_partition(const Parent &) {
  return thread_block_tile<n, Parent>();
}
template <class Group> static HEDDLE_D void sync(const Group &g) { g.sync(); }

// What groups of threads reduce with.
template <class T> struct plus { HEDDLE_D T operator()(T a, T b) const { return a + b; } };
template <class T> struct less { HEDDLE_D T operator()(T a, T b) const { return b < a ? b : a; } };
template <class T> struct greater { HEDDLE_D T operator()(T a, T b) const { return a < b ? b : a; } };
template <class T> struct bit_and { HEDDLE_D T operator()(T a, T b) const { return a & b; } };
template <class T> struct bit_or { HEDDLE_D T operator()(T a, T b) const { return a | b; } };
template <class T> struct bit_xor { HEDDLE_D T operator()(T a, T b) const { return a ^ b; } };
template <unsigned int n, class Parent, class T, class Op>
static HEDDLE_D T reduce(const thread_block_tile<n, Parent> &g, T v, Op op) {
#pragma unroll
  for (unsigned int d = n / 2; d > 0; d /= 2) v = op(v, g.shfl_xor(v, d));
  return v;
}

} // namespace cooperative_groups

#undef HEDDLE_D

#endif

#endif
