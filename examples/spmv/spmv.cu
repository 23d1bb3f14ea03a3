// y = A x for a sparse matrix in CSR form, one warp for each row.
#include "../cuda.h"

extern "C" __global__ void spmv(const u32 *row, const u32 *col, const float *val, const float *x, float *y, u32 rows) {
  u32 r = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
  if (r >= rows) return;
  float sum = 0;
  u32 last = row[r + 1];
#pragma unroll 1
  for (u32 e = row[r] + lane_id(); e < last; e += 32) sum += val[e] * x[col[e]];
  for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(FULL_WARP, sum, d);
  if (lane_id() == 0) y[r] = sum;
}
