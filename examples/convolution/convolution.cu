// Convolution of an image with a 7 x 7 filter that the host puts into constant
// memory. Pixels and weights are whole numbers, so every sum is exact. A counter
// in global memory says how many pixels were cut off at the limit.
#include "../cuda.h"

constexpr int RADIUS = 3, TILE = 16, SPAN = TILE + 2 * RADIUS;

extern "C" {
__constant__ float filter[(2 * RADIUS + 1) * (2 * RADIUS + 1)];
__device__ u32 clipped;
__device__ float limit = 60000.0f;
}

extern "C" __global__ void convolution(const u8 *in, float *out, int width, int height) {
  __shared__ float tile[SPAN][SPAN];
  int x0 = (int)blockIdx.x * TILE - RADIUS, y0 = (int)blockIdx.y * TILE - RADIUS;
  for (int y = threadIdx.y; y < SPAN; y += TILE)
    for (int x = threadIdx.x; x < SPAN; x += TILE) {
      int gx = x0 + x, gy = y0 + y;
      tile[y][x] = gx >= 0 && gx < width && gy >= 0 && gy < height ? (float)in[gy * width + gx] : 0.0f;
    }
  __syncthreads();
  float sum = 0;
  for (int dy = 0; dy <= 2 * RADIUS; dy++)
    for (int dx = 0; dx <= 2 * RADIUS; dx++) sum += filter[dy * (2 * RADIUS + 1) + dx] * tile[threadIdx.y + dy][threadIdx.x + dx];
  if (sum > limit) {
    sum = limit;
    atomicAdd(&clipped, 1u);
  }
  out[(y0 + RADIUS + (int)threadIdx.y) * width + x0 + RADIUS + (int)threadIdx.x] = sum;
}
