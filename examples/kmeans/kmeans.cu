// k-means of points with whole-number coordinates. Distances are computed in
// floating point but stay below 2^24, so every rounding is exact.
#include "../cuda.h"

constexpr u32 DIM = 4, K = 8;

// The first K points are the first centres.
extern "C" __global__ void choose(const int *point, int *centre) {
  if (threadIdx.x < K * DIM) centre[threadIdx.x] = point[threadIdx.x];
}

extern "C" __global__ void assign(const int *point, const int *centre, u8 *label, int *sum, u32 *members, u32 n) {
  __shared__ float c[K][DIM];
  if (threadIdx.x < K * DIM) c[threadIdx.x / DIM][threadIdx.x % DIM] = (float)centre[threadIdx.x];
  __syncthreads();
  u32 i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  u32 best = 0;
  float nearest = 3.0e38f;
#pragma unroll 1
  for (u32 k = 0; k < K; k++) {
    float d2 = 0;
    for (u32 d = 0; d < DIM; d++) {
      float diff = (float)point[i * DIM + d] - c[k][d];
      d2 += diff * diff;
    }
    if (d2 < nearest) {
      nearest = d2;
      best = k;
    }
  }
  label[i] = (u8)best;
  for (u32 d = 0; d < DIM; d++) atomicAdd(&sum[best * DIM + d], point[i * DIM + d]);
  atomicAdd(&members[best], 1u);
}

// One block: the centres move to the mean (rounded down) of their members.
extern "C" __global__ void move_centres(int *centre, int *sum, u32 *members) {
  u32 t = threadIdx.x;
  u32 count = t < K * DIM ? members[t / DIM] : 0;
  __syncthreads();
  if (t >= K * DIM) return;
  if (count > 0) centre[t] = sum[t] / (int)count;
  sum[t] = 0;
  if (t % DIM == 0) members[t / DIM] = 0;
}
