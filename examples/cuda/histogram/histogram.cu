// Atomics: how often each byte occurs (counters in shared, then in global
// memory), and sum, least and greatest by atomics and by warp reductions.
#include "../check.h"

#include <limits.h>
#include <vector>

__global__ void histogram(const unsigned char *in, int n, unsigned *bins) {
  __shared__ unsigned local[256];
  local[threadIdx.x] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    atomicAdd(&local[in[i]], 1);
  __syncthreads();
  atomicAdd(&bins[threadIdx.x], local[threadIdx.x]);
}

struct summary {
  unsigned long long sum;
  int least, greatest, blocks;
};

__global__ void summarise(const unsigned char *in, int n, summary *out) {
  int sum = 0, least = INT_MAX, greatest = INT_MIN;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    sum += in[i];
    least = min(least, (int)in[i]);
    greatest = max(greatest, (int)in[i]);
  }
  for (int d = 16; d > 0; d /= 2) {
    sum += __shfl_down_sync(~0u, sum, d);
    least = min(least, __shfl_down_sync(~0u, least, d));
    greatest = max(greatest, __shfl_down_sync(~0u, greatest, d));
  }
  if (threadIdx.x % 32 == 0) {
    atomicAdd(&out->sum, (unsigned long long)sum);
    atomicMin(&out->least, least);
    atomicMax(&out->greatest, greatest);
  }
  if (threadIdx.x == 0)
    atomicInc((unsigned *)&out->blocks, 1000);
}

int main() {
  const int n = 30000, blocks = 6;
  std::vector<unsigned char> in(n);
  std::vector<unsigned> want(256), got(256);
  summary wanted = {0, INT_MAX, INT_MIN, blocks}, s = {0, INT_MAX, INT_MIN, 0};
  unsigned seed = 1;
  for (unsigned char &v : in) {
    seed = seed * 1664525 + 1013904223;
    v = 3 + (seed >> 24) % 200;
    want[v]++;
    wanted.sum += v;
    wanted.least = v < wanted.least ? v : wanted.least;
    wanted.greatest = v > wanted.greatest ? v : wanted.greatest;
  }

  unsigned char *din;
  unsigned *bins;
  summary *ds;
  CHECK(cudaMalloc(&din, n));
  CHECK(cudaMalloc(&bins, 256 * sizeof *bins));
  CHECK(cudaMalloc(&ds, sizeof s));
  CHECK(cudaMemcpy(din, in.data(), n, cudaMemcpyHostToDevice));
  CHECK(cudaMemset(bins, 0, 256 * sizeof *bins));
  CHECK(cudaMemcpy(ds, &s, sizeof s, cudaMemcpyHostToDevice));
  histogram<<<blocks, 256>>>(din, n, bins);
  summarise<<<blocks, 256>>>(din, n, ds);
  CHECK(cudaMemcpy(got.data(), bins, 256 * sizeof *bins, cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy(&s, ds, sizeof s, cudaMemcpyDeviceToHost));

  int wrong = 0;
  for (int v = 0; v < 256; v++)
    wrong += got[v] != want[v];
  wrong += s.sum != wanted.sum || s.least != wanted.least || s.greatest != wanted.greatest || s.blocks != wanted.blocks;
  return verdict(wrong);
}
