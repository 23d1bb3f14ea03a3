// Smooths a ring of numbers many times in one launch: between two sweeps all
// blocks meet at a barrier made of one counter in global memory. This works only
// if all blocks run at the same time, as a cooperative launch would guarantee.
#include "../cuda.h"

static __device__ void meet(u32 *arrived, u32 target) {
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence();
    atomicAdd(arrived, 1u);
    while (*(volatile u32 *)arrived < target) {
    }
    __threadfence();
  }
  __syncthreads();
}

// n is a power of two.
extern "C" __global__ void gridsync(u32 *a, u32 *b, u32 *arrived, u32 n, u32 sweeps) {
  u32 threads = gridDim.x * blockDim.x, id = blockIdx.x * blockDim.x + threadIdx.x;
#pragma unroll 1
  for (u32 s = 0; s < sweeps; s++) {
#pragma unroll 1
    for (u32 i = id; i < n; i += threads) b[i] = (a[(i - 1) & (n - 1)] + 2 * a[i] + a[(i + 1) & (n - 1)]) / 4;
    meet(arrived, (s + 1) * gridDim.x);
    u32 *swap = a;
    a = b;
    b = swap;
  }
}
