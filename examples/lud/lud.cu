// LU factorisation in place, in blocks of 16 x 16: the diagonal block, then the
// blocks of its row and column, then everything to the right and below.
#include "../cuda.h"

constexpr u32 B = 16;

// One block of 16 threads, one for each row.
extern "C" __global__ void lud_diagonal(float *a, u32 n, u32 at) {
  __shared__ float s[B][B + 1];
  u32 t = threadIdx.x;
  for (u32 r = 0; r < B; r++) s[r][t] = a[(at + r) * n + at + t];
  __syncthreads();
#pragma unroll 1
  for (u32 k = 0; k < B - 1; k++) {
    if (t > k) {
      float f = s[t][k] / s[k][k];
      s[t][k] = f;
      for (u32 j = k + 1; j < B; j++) s[t][j] -= f * s[k][j];
    }
    __syncthreads();
  }
  for (u32 r = 0; r < B; r++) a[(at + r) * n + at + t] = s[r][t];
}

// Blocks of 32 threads: the first half solves a block of the row (one thread for
// each column), the second half a block of the column (one for each row).
extern "C" __global__ void lud_perimeter(float *a, u32 n, u32 at) {
  __shared__ float d[B][B + 1], up[B][B + 1], left[B][B + 1];
  u32 t = threadIdx.x % B, other = at + B * (blockIdx.x + 1);
  bool row = threadIdx.x < B;
  if (row) {
    for (u32 r = 0; r < B; r++) {
      d[r][t] = a[(at + r) * n + at + t];
      up[r][t] = a[(at + r) * n + other + t];
    }
  } else {
    for (u32 r = 0; r < B; r++) left[r][t] = a[(other + r) * n + at + t];
  }
  __syncthreads();
  if (row) {
    for (u32 i = 1; i < B; i++)
      for (u32 k = 0; k < i; k++) up[i][t] -= d[i][k] * up[k][t];
  } else {
    for (u32 j = 0; j < B; j++) {
      for (u32 k = 0; k < j; k++) left[t][j] -= left[t][k] * d[k][j];
      left[t][j] /= d[j][j];
    }
  }
  __syncthreads();
  if (row) {
    for (u32 r = 0; r < B; r++) a[(at + r) * n + other + t] = up[r][t];
  } else {
    for (u32 r = 0; r < B; r++) a[(other + r) * n + at + t] = left[r][t];
  }
}

extern "C" __global__ void lud_internal(float *a, u32 n, u32 at) {
  __shared__ float up[B][B], left[B][B];
  u32 tx = threadIdx.x, ty = threadIdx.y;
  u32 x = at + B * (blockIdx.x + 1), y = at + B * (blockIdx.y + 1);
  up[ty][tx] = a[(at + ty) * n + x + tx];
  left[ty][tx] = a[(y + ty) * n + at + tx];
  __syncthreads();
  float sum = 0;
  for (u32 k = 0; k < B; k++) sum += left[ty][k] * up[k][tx];
  a[(y + ty) * n + x + tx] -= sum;
}
