// Constant memory: the weights of a filter, first those that the program was
// compiled with, then others that the host copies over them.
#include "../check.h"

#include <vector>

const int radius = 3, taps = 2 * radius + 1;
__constant__ int weights[taps] = {1, 2, 3, 4, 3, 2, 1};
__device__ int applied; // how many outputs were computed

__global__ void filter(const int *in, int *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  int sum = 0;
  for (int t = 0; t < taps; t++) {
    int at = i + t - radius;
    if (at >= 0 && at < n)
      sum += weights[t] * in[at];
  }
  out[i] = sum;
  atomicAdd(&applied, 1);
}

int main() {
  const int n = 2000;
  int other[taps] = {-1, 5, 0, 7, 0, 5, 2}, built[taps], wrong = 0;
  CHECK(cudaMemcpyFromSymbol(built, weights, sizeof built));
  std::vector<int> in(n), got(n);
  for (int i = 0; i < n; i++)
    in[i] = i * i % 101;
  int *din, *dout;
  CHECK(cudaMalloc(&din, n * sizeof(int)));
  CHECK(cudaMalloc(&dout, n * sizeof(int)));
  CHECK(cudaMemcpy(din, in.data(), n * sizeof(int), cudaMemcpyHostToDevice));
  for (const int *now : {built, other}) {
    if (now == other)
      CHECK(cudaMemcpyToSymbol(weights, other, sizeof other));
    filter<<<(n + 255) / 256, 256>>>(din, dout, n);
    CHECK(cudaMemcpy(got.data(), dout, n * sizeof(int), cudaMemcpyDeviceToHost));
    for (int i = 0; i < n; i++) {
      int want = 0;
      for (int t = 0; t < taps; t++)
        if (i + t - radius >= 0 && i + t - radius < n)
          want += now[t] * in[i + t - radius];
      wrong += got[i] != want;
    }
  }
  size_t bytes;
  int count, *place;
  CHECK(cudaGetSymbolSize(&bytes, weights));
  CHECK(cudaGetSymbolAddress((void **)&place, applied));
  CHECK(cudaMemcpy(&count, place, sizeof count, cudaMemcpyDeviceToHost));
  wrong += bytes != sizeof other || count != 2 * n;
  return verdict(wrong);
}
