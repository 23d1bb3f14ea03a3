// Reductions with per-thread arrays.
#include "check.h"
#include <algorithm>

// Sums of rows, with 16 sums per thread, added by a tree.
__global__ void reduce_tree(int n, const float *in, float *out) {
  float part[16] = {0};
  const float4 *row = (const float4 *)(in + blockIdx.x * n);
  for (int i = threadIdx.x; i < n / 16; i += blockDim.x)
    for (int k = 0; k < 4; k++) {
      float4 v = row[i * 4 + k];
      part[4 * k] += v.x;
      part[4 * k + 1] += v.y;
      part[4 * k + 2] += v.z;
      part[4 * k + 3] += v.w;
    }
  for (int width = 8; width > 0; width /= 2)
    for (int k = 0; k < width; k++) part[k] += part[k + width];
  float sum = part[0];
  for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_down_sync(0xffffffffu, sum, offset);
  if (threadIdx.x == 0) out[blockIdx.x] = sum;
}

// Each thread sorts 16 numbers by a bitonic network, and warps merge: the 16
// largest of a row.
template <int N> __device__ void sort(float (&v)[N]) {
  for (int size = 2; size <= N; size *= 2)
    for (int gap = size / 2; gap > 0; gap /= 2)
      for (int i = 0; i < N; i++) {
        int other = i ^ gap;
        if (other < i) continue;
        bool down = (i & size) == 0;
        float lo = fminf(v[i], v[other]), hi = fmaxf(v[i], v[other]);
        v[i] = down ? hi : lo;
        v[other] = down ? lo : hi;
      }
}
template <int N> __device__ void merge(float (&v)[N], int lanes) {
  float theirs[N];
  for (int i = 0; i < N; i++) theirs[i] = __shfl_xor_sync(0xffffffffu, v[N - 1 - i], lanes);
  for (int i = 0; i < N; i++) v[i] = fmaxf(v[i], theirs[i]); // bitonic now
  for (int gap = N / 2; gap > 0; gap /= 2)
    for (int i = 0; i < N; i++) {
      int other = i ^ gap;
      if (other < i) continue;
      float hi = fmaxf(v[i], v[other]);
      v[other] = fminf(v[i], v[other]);
      v[i] = hi;
    }
}
__global__ void reduce_largest(int n, const float *in, float *out) {
  float v[16];
  for (int i = 0; i < 16; i++) v[i] = in[blockIdx.x * n + i * 32 + threadIdx.x];
  sort(v);
  for (int lanes = 1; lanes < 32; lanes *= 2) merge(v, lanes);
  if (threadIdx.x == 0)
    for (int i = 0; i < 16; i++) out[blockIdx.x * 16 + i] = v[i];
}

int main() {
  int bad = 0;
  {
    const int n = 4096, rows = 64;
    Array in(n * rows, 5), out(rows);
    std::vector<float> want(rows);
    for (int r = 0; r < rows; r++)
      for (int i = 0; i < n; i++) want[r] += in.host[r * n + i];
    reduce_tree<<<rows, 32>>>(n, in.device, out.device);
    bad += verdict("reduce_tree", out, want);
  }
  {
    const int n = 512, rows = 64;
    Array in(n * rows, 6), out(rows * 16);
    for (int i = 0; i < n * rows; i++) in.host[i] += i * 7919 % 1009;
    in.put();
    std::vector<float> want;
    for (int r = 0; r < rows; r++) {
      std::vector<float> row(&in.host[r * n], &in.host[(r + 1) * n]);
      std::sort(row.begin(), row.end(), [](float a, float b) { return a > b; });
      want.insert(want.end(), row.begin(), row.begin() + 16);
    }
    reduce_largest<<<rows, 32>>>(n, in.device, out.device);
    bad += verdict("reduce_largest", out, want);
  }
  return bad;
}
