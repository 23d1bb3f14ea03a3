// How many steps the Collatz sequence of each number takes to reach 1: loops
// whose length has nothing to do with the neighbour's.
#include "../cuda.h"

extern "C" __global__ void collatz(u16 *steps, u32 first, u32 n) {
  u32 i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  u64 v = first + i;
  u32 count = 0;
  while (v != 1) {
    if (v & 1)
      v = 3 * v + 1;
    else
      v >>= 1;
    count++;
  }
  steps[i] = (u16)count;
}
