// Exclusive prefix sum of an array that is far larger than a block: each block
// scans 1024 elements, one block scans the totals, a third launch adds them.
#include "../cuda.h"

constexpr u32 THREADS = 256, EACH = 4;

// Exclusive scan of one value for each thread, in shared memory; *total gets the
// sum over the block.
static __device__ u32 scan_block(u32 v, u32 *total) {
  __shared__ u32 buf[2][THREADS];
  u32 t = threadIdx.x, from = 0;
  buf[0][t] = v;
  __syncthreads();
  for (u32 d = 1; d < THREADS; d *= 2) {
    buf[1 - from][t] = t >= d ? buf[from][t] + buf[from][t - d] : buf[from][t];
    from = 1 - from;
    __syncthreads();
  }
  *total = buf[from][THREADS - 1];
  return buf[from][t] - v;
}

extern "C" __global__ void scan_tiles(const u32 *in, u32 *out, u32 *totals) {
  u32 base = (blockIdx.x * THREADS + threadIdx.x) * EACH;
  u32 v[EACH], sum = 0, total;
  for (u32 k = 0; k < EACH; k++) {
    v[k] = sum;
    sum += in[base + k];
  }
  u32 before = scan_block(sum, &total);
  for (u32 k = 0; k < EACH; k++) out[base + k] = before + v[k];
  if (threadIdx.x == 0) totals[blockIdx.x] = total;
}

extern "C" __global__ void scan_totals(u32 *totals, u32 n) {
  u32 total, v = threadIdx.x < n ? totals[threadIdx.x] : 0;
  v = scan_block(v, &total);
  if (threadIdx.x < n) totals[threadIdx.x] = v;
}

extern "C" __global__ void add_totals(u32 *out, const u32 *totals) {
  u32 base = (blockIdx.x * THREADS + threadIdx.x) * EACH, add = totals[blockIdx.x];
  for (u32 k = 0; k < EACH; k++) out[base + k] += add;
}
