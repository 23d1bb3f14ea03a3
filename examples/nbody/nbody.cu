// Bodies that attract each other, in double precision: all pairs, positions
// passing through shared memory in tiles, leapfrog steps.
#include "../cuda.h"

constexpr u32 TILE = 128;

// Bodies are x, y, z, mass; vel has three numbers for each.
extern "C" __global__ void accelerate(const double *body, double *vel, u32 n, double dt, double soft) {
  __shared__ double tile[TILE][4];
  u32 i = blockIdx.x * TILE + threadIdx.x;
  double x = body[4 * i], y = body[4 * i + 1], z = body[4 * i + 2];
  double ax = 0, ay = 0, az = 0;
#pragma unroll 1
  for (u32 from = 0; from < n; from += TILE) {
    for (u32 k = 0; k < 4; k++) tile[threadIdx.x][k] = body[4 * (from + threadIdx.x) + k];
    __syncthreads();
#pragma unroll 1
    for (u32 j = 0; j < TILE; j++) {
      double dx = tile[j][0] - x, dy = tile[j][1] - y, dz = tile[j][2] - z;
      double d2 = dx * dx + dy * dy + dz * dz + soft;
      double f = tile[j][3] / (d2 * sqrt(d2));
      ax += f * dx;
      ay += f * dy;
      az += f * dz;
    }
    __syncthreads();
  }
  vel[3 * i] += dt * ax;
  vel[3 * i + 1] += dt * ay;
  vel[3 * i + 2] += dt * az;
}

extern "C" __global__ void drift(double *body, const double *vel, u32 n, double dt) {
  u32 i = blockIdx.x * TILE + threadIdx.x;
  for (u32 k = 0; k < 3; k++) body[4 * i + k] += dt * vel[3 * i + k];
}
