// A variable, a constant, a device function and a kernel that other files use.
#include "table.h"

__device__ unsigned table[entries];
__constant__ unsigned first = ~0u;

__device__ unsigned step(unsigned state, unsigned char byte) { return table[(state ^ byte) & 255] ^ state >> 8; }

__global__ void fill(unsigned polynomial) {
  unsigned v = threadIdx.x;
  for (int bit = 0; bit < 8; bit++)
    v = v & 1 ? v >> 1 ^ polynomial : v >> 1;
  table[threadIdx.x] = v;
}
