// Stream compaction with votes and shuffles: what a block keeps of its chunk
// stands at the chunk's start, in order. A second kernel asks a warp's lanes
// about each other with every vote, match and redux.
#include "../cuda.h"

// Keeps the elements below the limit; blocks of 256 threads, one element each.
extern "C" __global__ void compact(const u32 *in, u32 *out, u32 *kept, u32 limit) {
  __shared__ u32 warps[8];
  u32 i = blockIdx.x * blockDim.x + threadIdx.x, warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  u32 v = in[i];
  bool keep = v < limit;
  u32 votes = __ballot_sync(FULL_WARP, keep);
  if (lane == 0) warps[warp] = __popc(votes);
  __syncthreads();
  if (warp == 0) {
    int sum = lane < 8 ? warps[lane] : 0;
    for (u32 d = 1; d < 8; d *= 2) {
      int left = __shfl_up_sync(FULL_WARP, sum, d);
      if (lane >= d) sum += left;
    }
    if (lane < 8) warps[lane] = sum;
    if (lane == 7) kept[blockIdx.x] = sum;
  }
  __syncthreads();
  u32 before = warp == 0 ? 0 : warps[warp - 1];
  if (keep) out[blockIdx.x * blockDim.x + before + __popc(votes & ((1u << lane) - 1))] = v;
}

// Eight words for each thread. Only the lanes whose value is odd take part in the
// questions of the second half.
extern "C" __global__ void questions(const u32 *in, u32 *out) {
  u32 i = blockIdx.x * blockDim.x + threadIdx.x;
  u32 v = in[i] >> 28;
  u32 *p = out + 8 * i;
  p[0] = __all_sync(FULL_WARP, v < 15);
  p[1] = __any_sync(FULL_WARP, v == 15);
  p[2] = __nvvm_match_any_sync_i32(FULL_WARP, v);
  p[3] = __shfl_sync(FULL_WARP, v, v);
  p[4] = __shfl_xor_sync(FULL_WARP, (int)v, 5);
  u32 odd = __ballot_sync(FULL_WARP, v & 1);
  if (v & 1) {
    p[5] = __nvvm_redux_sync_add(v, odd);
    p[6] = __nvvm_redux_sync_umax(v, odd);
    p[7] = __ballot_sync(odd, v > 7);
  } else {
    p[5] = p[6] = p[7] = 0;
  }
}
