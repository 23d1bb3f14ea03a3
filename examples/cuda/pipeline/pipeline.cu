// Copies from global to shared memory that do not wait: while a block works on one tile,
// the next two are in flight.
#include "../check.h"

#include <cuda_pipeline.h>
#include <vector>

const int threads = 128, stages = 3, tiles = 12;

// Every thread copies four numbers of a tile and adds up others, so that the
// tile must be there for all.
__global__ void sums(const int4 *in, int *out) {
  __shared__ int4 tile[stages][threads];
  in += blockIdx.x * tiles * threads;
  int sum = 0;
  for (int t = 0; t < tiles + stages - 1; t++) {
    if (t < tiles)
      __pipeline_memcpy_async(&tile[t % stages][threadIdx.x], &in[t * threads + threadIdx.x], sizeof(int4));
    __pipeline_commit(); // an empty batch at the end keeps the count right
    int ready = t - (stages - 1);
    if (ready < 0)
      continue;
    __pipeline_wait_prior(stages - 1);
    __syncthreads();
    int4 v = tile[ready % stages][threads - 1 - threadIdx.x];
    sum += v.x + 2 * v.y + 3 * v.z + 4 * v.w;
    __syncthreads();
  }
  out[blockIdx.x * threads + threadIdx.x] = sum;
}

int main() {
  const int blocks = 4, n = blocks * tiles * threads;
  std::vector<int4> in(n);
  for (int i = 0; i < n; i++)
    in[i] = make_int4(i, i % 7, -i, i % 11);
  int4 *din;
  int *dout, got[blocks * threads], wrong = 0;
  CHECK(cudaMalloc(&din, n * sizeof(int4)));
  CHECK(cudaMalloc(&dout, sizeof got));
  CHECK(cudaMemcpy(din, in.data(), n * sizeof(int4), cudaMemcpyHostToDevice));
  sums<<<blocks, threads>>>(din, dout);
  CHECK(cudaMemcpy(got, dout, sizeof got, cudaMemcpyDeviceToHost));
  for (int b = 0; b < blocks; b++)
    for (int i = 0; i < threads; i++) {
      int want = 0;
      for (int t = 0; t < tiles; t++) {
        int4 v = in[(b * tiles + t) * threads + threads - 1 - i];
        want += v.x + 2 * v.y + 3 * v.z + 4 * v.w;
      }
      wrong += got[b * threads + i] != want;
    }
  return verdict(wrong);
}
