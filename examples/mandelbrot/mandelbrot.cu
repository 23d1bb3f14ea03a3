// Iteration counts of the Mandelbrot set in single precision: a loop that leaves
// early, with neighbours that mostly agree. Additions and products are rounded
// one by one, so that the counts do not depend on fused operations.
#include "../cuda.h"

extern "C" __global__ void mandelbrot(u8 *count, u32 width, u32 height, float x0, float y0, float step, u32 most) {
  u32 px = blockIdx.x * blockDim.x + threadIdx.x, py = blockIdx.y * blockDim.y + threadIdx.y;
  if (px >= width || py >= height) return;
  float cx = x0 + (float)px * step, cy = y0 + (float)py * step, x = 0, y = 0;
  u32 k = 0;
#pragma unroll 1
  for (; k < most; k++) {
    float xx = x * x, yy = y * y;
    if (xx + yy > 4.0f) break;
    y = 2.0f * x * y + cy;
    x = xx - yy + cx;
  }
  count[py * width + px] = (u8)k;
}
