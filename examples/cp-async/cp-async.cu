// Integer matrix product with a double-buffered pipeline: while a block works on
// one pair of tiles, cp.async brings the next pair from global to shared memory.
#include "../cuda.h"

constexpr u32 TILE = 32;

static __device__ __forceinline__ void copy16(void *to, const void *from) {
  u32 s = (u32)(u64)(__attribute__((address_space(3))) void *)to;
  u64 g = (u64)(__attribute__((address_space(1))) const void *)from;
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(s), "l"(g) : "memory");
}
static __device__ __forceinline__ void commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int N> static __device__ __forceinline__ void wait_for_all_but() { asm volatile("cp.async.wait_group %0;" ::"n"(N) : "memory"); }

// Blocks of 256 threads; each makes 32 x 32 of C, each thread four of them.
extern "C" __global__ void gemm_pipelined(const u32 *a, const u32 *b, u32 *c, u32 n) {
  __shared__ __attribute__((aligned(16))) u32 as[2][TILE][TILE];
  __shared__ __attribute__((aligned(16))) u32 bs[2][TILE][TILE];
  u32 t = threadIdx.x, x = t % 32, y = t / 32, lr = t / 8, lc = t % 8 * 4;
  const u32 *pa = a + (blockIdx.y * TILE + lr) * n + lc;
  const u32 *pb = b + lr * n + blockIdx.x * TILE + lc;
  copy16(&as[0][lr][lc], pa);
  copy16(&bs[0][lr][lc], pb);
  commit();
  u32 sum[4] = {};
#pragma unroll 1
  for (u32 k = 0, stage = 0; k < n; k += TILE, stage ^= 1) {
    if (k + TILE < n) {
      copy16(&as[stage ^ 1][lr][lc], pa + k + TILE);
      copy16(&bs[stage ^ 1][lr][lc], pb + (k + TILE) * n);
      commit();
      wait_for_all_but<1>();
    } else {
      wait_for_all_but<0>();
    }
    __syncthreads();
    for (u32 i = 0; i < TILE; i++) {
      u32 bv = bs[stage][i][x];
      for (u32 r = 0; r < 4; r++) sum[r] += as[stage][y + 8 * r][i] * bv;
    }
    __syncthreads();
  }
  for (u32 r = 0; r < 4; r++) c[(blockIdx.y * TILE + y + 8 * r) * n + blockIdx.x * TILE + x] = sum[r];
}
