// Needleman-Wunsch alignment score of two sequences. Tiles of 32 x 32 on one
// antidiagonal do not depend on each other: one launch for each antidiagonal,
// and inside a tile one warp walks the antidiagonals of cells.
#include "../cuda.h"

constexpr int T = 32;

// Row 0 and column 0 of the (n+1) x (n+1) scores.
extern "C" __global__ void border(int *score, int n, int gap) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i > n) return;
  score[i] = -i * gap;
  score[i * (n + 1)] = -i * gap;
}

// Block b fills the tile in column first+b of antidiagonal d.
extern "C" __global__ void tiles(int *score, const u8 *a, const u8 *b, int n, int d, int first, int match, int mismatch, int gap) {
  __shared__ int s[T + 1][T + 1];
  int lane = threadIdx.x, width = n + 1;
  int x0 = (first + (int)blockIdx.x) * T, y0 = (d - first - (int)blockIdx.x) * T;
  int *origin = score + y0 * width + x0;
  s[0][lane + 1] = origin[lane + 1];
  s[lane + 1][0] = origin[(lane + 1) * width];
  if (lane == 0) s[0][0] = origin[0];
  u8 letter = b[x0 + lane];
  __syncthreads();
#pragma unroll 1
  for (int step = 0; step < 2 * T - 1; step++) {
    int y = step - lane;
    if (y >= 0 && y < T) {
      int diagonal = s[y][lane] + (a[y0 + y] == letter ? match : mismatch);
      s[y + 1][lane + 1] = max(diagonal, max(s[y][lane + 1], s[y + 1][lane]) - gap);
    }
    __syncthreads();
  }
  for (int y = 1; y <= T; y++) origin[y * width + lane + 1] = s[y][lane + 1];
}
