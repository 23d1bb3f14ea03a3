// Sum, smallest and largest of an array: a grid-stride loop, shuffles inside the
// warp, shared memory across the warps, and a second launch across the blocks.
#include "../cuda.h"

struct Triple {
  u32 sum, lo, hi;
};

static __device__ Triple join(Triple a, u32 sum, u32 lo, u32 hi) {
  return {a.sum + sum, min(a.lo, lo), max(a.hi, hi)};
}

static __device__ Triple warp_reduce(Triple t) {
  for (int d = 16; d > 0; d /= 2) {
    u32 sum = __shfl_down_sync(FULL_WARP, (int)t.sum, d);
    u32 lo = __shfl_down_sync(FULL_WARP, (int)t.lo, d);
    u32 hi = __shfl_down_sync(FULL_WARP, (int)t.hi, d);
    t = join(t, sum, lo, hi);
  }
  return t;
}

// The result is in thread 0. Every thread of the block must call this.
static __device__ Triple block_reduce(Triple t) {
  __shared__ Triple warps[32];
  u32 warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  t = warp_reduce(t);
  if (lane == 0) warps[warp] = t;
  __syncthreads();
  if (warp == 0) {
    t = lane < blockDim.x / 32 ? warps[lane] : Triple{0, ~0u, 0};
    t = warp_reduce(t);
  }
  return t;
}

extern "C" __global__ void reduce_blocks(const u32 *in, Triple *part, u32 n) {
  Triple t = {0, ~0u, 0};
  for (u32 i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) t = join(t, in[i], in[i], in[i]);
  t = block_reduce(t);
  if (threadIdx.x == 0) part[blockIdx.x] = t;
}

extern "C" __global__ void reduce_parts(const Triple *part, Triple *out, u32 n) {
  Triple t = {0, ~0u, 0};
  for (u32 i = threadIdx.x; i < n; i += blockDim.x) t = join(t, part[i].sum, part[i].lo, part[i].hi);
  t = block_reduce(t);
  if (threadIdx.x == 0) *out = t;
}
