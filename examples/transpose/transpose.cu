// Transposes a matrix of words through a tile in shared memory. The tile's rows
// are 33 words long, so that reading a column touches 32 different banks.
#include "../cuda.h"

constexpr u32 TILE = 32, ROWS = 8;

extern "C" __global__ void transpose(const u32 *in, u32 *out, u32 width, u32 height) {
  __shared__ u32 tile[TILE][TILE + 1];
  u32 x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
  for (u32 r = 0; r < TILE; r += ROWS)
    if (x < width && y + r < height) tile[threadIdx.y + r][threadIdx.x] = in[(y + r) * width + x];
  __syncthreads();
  x = blockIdx.y * TILE + threadIdx.x;
  y = blockIdx.x * TILE + threadIdx.y;
  for (u32 r = 0; r < TILE; r += ROWS)
    if (x < height && y + r < width) out[(y + r) * height + x] = tile[threadIdx.x][threadIdx.y + r];
}
