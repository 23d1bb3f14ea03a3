// Cheapest way through a grid from the first row down, where a step goes to one
// of the three cells below. Each launch advances STEPS rows; a block carries a
// halo of STEPS columns on both sides.
#include "../cuda.h"

constexpr int THREADS = 256, STEPS = 8, INNER = THREADS - 2 * STEPS;
constexpr int FAR = 1 << 29;

extern "C" __global__ void pathfinder(const int *wall, const int *src, int *dst, int cols, int first) {
  __shared__ int prev[THREADS];
  int t = threadIdx.x, x = (int)blockIdx.x * INNER + t - STEPS;
  bool inside = x >= 0 && x < cols;
  int cost = inside ? src[x] : FAR;
  prev[t] = cost;
  __syncthreads();
#pragma unroll 1
  for (int s = 1; s <= STEPS; s++) {
    bool valid = inside && t >= s && t < THREADS - s;
    if (valid) {
      int best = min(prev[t], min(prev[t - 1], prev[t + 1]));
      cost = best + wall[(first + s - 1) * cols + x];
    }
    __syncthreads();
    if (valid) prev[t] = cost;
    __syncthreads();
  }
  if (inside && t >= STEPS && t < THREADS - STEPS) dst[x] = cost;
}
