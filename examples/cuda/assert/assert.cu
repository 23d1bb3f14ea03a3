// A failing assert in a kernel: the device says where, the program gets
// cudaErrorAssert from all calls until it resets the device.
#include "../check.h"

#include <assert.h>

__global__ void roots(const int *in, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    assert(in[i] >= 0);
    out[i] = sqrtf(in[i]);
  }
}

int main() {
  const int n = 100;
  int host[n], *in;
  float *out, *more;
  for (int i = 0; i < n; i++)
    host[i] = i * i;
  CHECK(cudaMalloc(&in, sizeof host));
  CHECK(cudaMalloc(&out, n * sizeof *out));
  CHECK(cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice));
  roots<<<2, 64>>>(in, out, n);
  CHECK(cudaDeviceSynchronize());

  host[70] = -1;
  CHECK(cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice));
  roots<<<2, 64>>>(in, out, n);
  int wrong = cudaDeviceSynchronize() != cudaErrorAssert;
  wrong += cudaMalloc(&more, 4) != cudaErrorAssert;
  wrong += cudaGetLastError() != cudaErrorAssert;
  printf("the program gets: %s\n", cudaGetErrorString(cudaGetLastError()));
  return wrong ? 1 : 3; // 3: as it was meant to be
}
