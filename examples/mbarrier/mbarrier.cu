// One warp of a block brings tiles into a ring in shared memory, three warps use
// them. They meet at mbarriers: a tile is full when the producers have arrived,
// and its place is empty again when the consumers have.
#include "../cuda.h"

constexpr u32 STAGES = 4, TILE = 128, CONSUMERS = 96;

static __device__ __forceinline__ u32 shared_address(const void *p) { return (u32)(u64)(__attribute__((address_space(3))) const void *)p; }
static __device__ __forceinline__ void init(u64 *b, u32 count) {
  asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(shared_address(b)), "r"(count) : "memory");
}
static __device__ __forceinline__ void arrive(u64 *b) {
  u64 state;
  asm volatile("mbarrier.arrive.shared.b64 %0, [%1];" : "=l"(state) : "r"(shared_address(b)) : "memory");
}
// Waits for the end of the phase of that parity.
static __device__ __forceinline__ void wait(u64 *b, u32 parity) {
  u32 done;
  do {
    asm volatile("{ .reg .pred p; mbarrier.test_wait.parity.shared.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
                 : "=r"(done)
                 : "r"(shared_address(b)), "r"(parity)
                 : "memory");
  } while (!done);
}

// Blocks of 128 threads; each block works through its own tiles.
extern "C" __global__ void ring_of_tiles(const u32 *in, u32 *out, u32 tiles) {
  __shared__ u32 ring[STAGES][TILE];
  __shared__ u64 full[STAGES], empty[STAGES];
  u32 t = threadIdx.x;
  if (t < STAGES) {
    init(&full[t], 32);
    init(&empty[t], CONSUMERS);
  }
  __syncthreads();
  if (t < 32) {
#pragma unroll 1
    for (u32 k = 0; k < tiles; k++) {
      u32 stage = k % STAGES, round = k / STAGES;
      wait(&empty[stage], (round & 1) ^ 1);
      for (u32 j = t; j < TILE; j += 32) ring[stage][j] = in[(blockIdx.x * tiles + k) * TILE + j];
      arrive(&full[stage]);
    }
  } else {
    u32 me = t - 32, sum = me;
#pragma unroll 1
    for (u32 k = 0; k < tiles; k++) {
      u32 stage = k % STAGES, round = k / STAGES;
      wait(&full[stage], round & 1);
      for (u32 j = 0; j < 4; j++) sum = sum * 31 + ring[stage][(me + 32 * j) % TILE];
      arrive(&empty[stage]);
    }
    out[blockIdx.x * CONSUMERS + me] = sum;
  }
}
