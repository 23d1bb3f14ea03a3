// How often each of 256 byte values occurs: atomics on counters in shared
// memory, then one atomic for each counter and block in global memory.
#include "../cuda.h"

extern "C" __global__ void histogram(const u8 *in, u32 *bins, u32 n) {
  __shared__ u32 local[256];
  for (u32 b = threadIdx.x; b < 256; b += blockDim.x) local[b] = 0;
  __syncthreads();
  for (u32 i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(&local[in[i]], 1u);
  __syncthreads();
  for (u32 b = threadIdx.x; b < 256; b += blockDim.x) atomicAdd(&bins[b], local[b]);
}
