// Seven-point stencil in three dimensions: a block keeps one plane of its column
// in shared memory and the planes before and after it in registers.
#include "../cuda.h"

constexpr int BX = 32, BY = 8;

extern "C" __global__ void stencil3d(const float *in, float *out, int nx, int ny, int nz, float centre, float side) {
  __shared__ float plane[BY + 2][BX + 2];
  int tx = threadIdx.x, ty = threadIdx.y;
  int x = blockIdx.x * BX + tx, y = blockIdx.y * BY + ty, area = nx * ny, at = y * nx + x;
  bool edge = x == 0 || y == 0 || x == nx - 1 || y == ny - 1;
  float below = 0, here = in[at], above = in[area + at];
  out[at] = here;
#pragma unroll 1
  for (int z = 1; z < nz - 1; z++) {
    below = here;
    here = above;
    above = in[(z + 1) * area + at];
    int p = z * area + at;
    __syncthreads();
    plane[ty + 1][tx + 1] = here;
    if (!edge) {
      if (tx == 0) plane[ty + 1][0] = in[p - 1];
      if (tx == BX - 1) plane[ty + 1][BX + 1] = in[p + 1];
      if (ty == 0) plane[0][tx + 1] = in[p - nx];
      if (ty == BY - 1) plane[BY + 1][tx + 1] = in[p + nx];
    }
    __syncthreads();
    float v = here;
    if (!edge)
      v = centre * here + side * (plane[ty + 1][tx] + plane[ty + 1][tx + 2] + plane[ty][tx + 1] + plane[ty + 2][tx + 1] + below + above);
    out[p] = v;
  }
  out[(nz - 1) * area + at] = above;
}
