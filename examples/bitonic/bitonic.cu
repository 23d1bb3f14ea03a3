// Sorts chunks of an array with a bitonic network in dynamic shared memory: the
// launch, not the program, says how much there is.
#include "../cuda.h"

extern __shared__ u32 chunk[];

extern "C" __global__ void bitonic(u32 *data, u32 size) {
  u32 *mine = data + blockIdx.x * size;
  for (u32 i = threadIdx.x; i < size; i += blockDim.x) chunk[i] = mine[i];
  __syncthreads();
#pragma unroll 1
  for (u32 k = 2; k <= size; k *= 2)
#pragma unroll 1
    for (u32 j = k / 2; j > 0; j /= 2) {
      for (u32 i = threadIdx.x; i < size; i += blockDim.x) {
        u32 other = i ^ j;
        if (other > i) {
          u32 a = chunk[i], b = chunk[other];
          if ((a > b) == ((i & k) == 0)) {
            chunk[i] = b;
            chunk[other] = a;
          }
        }
      }
      __syncthreads();
    }
  for (u32 i = threadIdx.x; i < size; i += blockDim.x) mine[i] = chunk[i];
}
