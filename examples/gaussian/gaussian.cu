// Solves A x = b by Gaussian elimination without pivoting: one pair of launches
// for each column, then substitution from the last row up in one block.
#include "../cuda.h"

// Makes the matrix diagonally dominant, so that no pivoting is needed.
extern "C" __global__ void dominate(float *a, u32 n) {
  u32 i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) a[i * n + i] += (float)n;
}

// The factors of column k.
extern "C" __global__ void factors(const float *a, float *m, u32 n, u32 k) {
  u32 i = blockIdx.x * blockDim.x + threadIdx.x + k + 1;
  if (i < n) m[i] = a[i * n + k] / a[k * n + k];
}

// Subtracts row k times the factor from the rows below it.
extern "C" __global__ void eliminate(float *a, float *b, const float *m, u32 n, u32 k) {
  u32 j = blockIdx.x * blockDim.x + threadIdx.x + k, i = blockIdx.y * blockDim.y + threadIdx.y + k + 1;
  if (i >= n || j >= n) return;
  a[i * n + j] -= m[i] * a[k * n + j];
  if (j == k) b[i] -= m[i] * b[k];
}

extern "C" __global__ void substitute(const float *a, const float *b, float *x, u32 n) {
  __shared__ float right[128];
  u32 t = threadIdx.x;
  if (t < n) right[t] = b[t];
  __syncthreads();
#pragma unroll 1
  for (u32 step = 0; step < n; step++) {
    u32 i = n - 1 - step;
    float xi = right[i] / a[i * n + i];
    if (t < i) right[t] -= a[t * n + i] * xi;
    if (t == i) x[i] = xi;
    __syncthreads();
  }
}
