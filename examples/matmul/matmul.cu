// C = A * B with square tiles in shared memory; n is a multiple of the tile.
#include "../cuda.h"

constexpr u32 TILE = 16;

extern "C" __global__ void matmul(const float *a, const float *b, float *c, u32 n) {
  __shared__ float as[TILE][TILE];
  __shared__ float bs[TILE][TILE];
  u32 tx = threadIdx.x, ty = threadIdx.y;
  u32 row = blockIdx.y * TILE + ty, col = blockIdx.x * TILE + tx;
  float sum = 0;
  for (u32 t = 0; t < n; t += TILE) {
    as[ty][tx] = a[row * n + t + tx];
    bs[ty][tx] = b[(t + ty) * n + col];
    __syncthreads();
    for (u32 k = 0; k < TILE; k++) sum += as[ty][k] * bs[k][tx];
    __syncthreads();
  }
  c[row * n + col] = sum;
}
