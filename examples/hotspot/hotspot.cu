// Temperature of a chip: a five-point stencil with a heat source in each cell.
// Each launch advances STEPS steps; a block loads a halo of STEPS cells and
// recomputes what its neighbours compute too, instead of talking to them.
#include "../cuda.h"

constexpr int TILE = 16, STEPS = 2, INNER = TILE - 2 * STEPS;

extern "C" __global__ void hotspot(const float *temp, const float *power, float *out, int n, float k, float rx, float ry, float rz,
                                   float ambient) {
  __shared__ float cur[TILE][TILE];
  int tx = threadIdx.x, ty = threadIdx.y;
  int x = (int)blockIdx.x * INNER + tx - STEPS, y = (int)blockIdx.y * INNER + ty - STEPS;
  bool inside = x >= 0 && x < n && y >= 0 && y < n;
  float t = 0, p = 0;
  if (inside) {
    t = temp[y * n + x];
    p = power[y * n + x];
  }
  cur[ty][tx] = t;
  // At the edge of the chip the cell is its own neighbour.
  int west = x == 0 ? tx : tx - 1, east = x == n - 1 ? tx : tx + 1;
  int north = y == 0 ? ty : ty - 1, south = y == n - 1 ? ty : ty + 1;
  __syncthreads();
#pragma unroll 1
  for (int s = 1; s <= STEPS; s++) {
    bool valid = inside && tx >= s && tx < TILE - s && ty >= s && ty < TILE - s;
    if (valid)
      t += k * (p + (cur[south][tx] + cur[north][tx] - 2 * t) * ry + (cur[ty][east] + cur[ty][west] - 2 * t) * rx + (ambient - t) * rz);
    __syncthreads();
    if (valid) cur[ty][tx] = t;
    __syncthreads();
  }
  if (inside && tx >= STEPS && tx < TILE - STEPS && ty >= STEPS && ty < TILE - STEPS) out[y * n + x] = t;
}
