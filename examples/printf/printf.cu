// Counts primes by trial division; one thread of each block prints what its
// block found.
#include "../cuda.h"

extern "C" __device__ int vprintf(const char *format, const void *args);

struct Line {
  u32 block, first, last, primes;
  double share;
};

extern "C" __global__ void primes(u32 *found, u32 each) {
  __shared__ u32 count;
  if (threadIdx.x == 0) count = 0;
  __syncthreads();
  u32 first = blockIdx.x * each;
  u32 mine = 0;
#pragma unroll 1
  for (u32 v = first + threadIdx.x; v < first + each; v += blockDim.x) {
    bool prime = v >= 2;
    for (u32 d = 2; d * d <= v; d++)
      if (v % d == 0) {
        prime = false;
        break;
      }
    mine += prime;
  }
  atomicAdd(&count, mine);
  __syncthreads();
  if (threadIdx.x == 0) {
    found[blockIdx.x] = count;
    Line line = {blockIdx.x, first, first + each - 1, count, 100.0 * count / each};
    vprintf("block %2u: %5u..%5u has %3u primes, %.2f%%\n", &line);
  }
}
