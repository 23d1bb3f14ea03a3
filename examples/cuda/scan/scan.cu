// Prefix sums: in a warp by shuffles, in a block by a scan of the warps' sums,
// over the grid by a second kernel that adds what the blocks before have.
#include "../check.h"

#include <vector>

const int block = 256;

__device__ int warpScan(int v) {
  for (int d = 1; d < 32; d *= 2) {
    int left = __shfl_up_sync(~0u, v, d);
    if (threadIdx.x % 32 >= d)
      v += left;
  }
  return v;
}

__global__ void scan(const int *in, int *out, int *totals, int n) {
  __shared__ int sums[block / 32];
  int i = blockIdx.x * block + threadIdx.x, warp = threadIdx.x / 32;
  int v = warpScan(i < n ? in[i] : 0);
  if (threadIdx.x % 32 == 31)
    sums[warp] = v;
  __syncthreads();
  if (warp == 0) {
    int s = warpScan(threadIdx.x < block / 32 ? sums[threadIdx.x] : 0);
    if (threadIdx.x < block / 32)
      sums[threadIdx.x] = s;
  }
  __syncthreads();
  if (warp > 0)
    v += sums[warp - 1];
  if (i < n)
    out[i] = v;
  if (threadIdx.x == block - 1)
    totals[blockIdx.x] = v;
}

__global__ void add(int *out, const int *totals, int n) {
  int i = (blockIdx.x + 1) * block + threadIdx.x;
  if (i < n)
    out[i] += totals[blockIdx.x];
}

int main() {
  const int n = 5000, blocks = (n + block - 1) / block;
  std::vector<int> in(n), got(n);
  for (int i = 0; i < n; i++)
    in[i] = (i * 37) % 19 - 9;
  int *din, *dout, *totals, *whole, *none;
  CHECK(cudaMalloc(&din, n * sizeof(int)));
  CHECK(cudaMalloc(&dout, n * sizeof(int)));
  CHECK(cudaMalloc(&totals, block * sizeof(int)));
  CHECK(cudaMalloc(&whole, block * sizeof(int)));
  CHECK(cudaMalloc(&none, sizeof(int)));
  CHECK(cudaMemcpy(din, in.data(), n * sizeof(int), cudaMemcpyHostToDevice));
  scan<<<blocks, block>>>(din, dout, totals, n);
  scan<<<1, block>>>(totals, whole, none, blocks);
  add<<<blocks - 1, block>>>(dout, whole, n);
  CHECK(cudaMemcpy(got.data(), dout, n * sizeof(int), cudaMemcpyDeviceToHost));

  int wrong = 0, sum = 0;
  for (int i = 0; i < n; i++) {
    sum += in[i];
    wrong += got[i] != sum;
  }
  return verdict(wrong);
}
