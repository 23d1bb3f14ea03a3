// A kernel writes just past the end of its buffer. On hardware that may go
// unnoticed for years; here a warning names the thread, the line and the buffer.
// With --strict, as this program wants to be run, it is a fault: the program gets
// cudaErrorIllegalAddress until it resets the device.
#include "../check.h"

__global__ void shift(int *data, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i <= n)
    data[i] = i; // one too many
}

int main() {
  const int n = 100;
  int *data, *more;
  CHECK(cudaMalloc(&data, n * sizeof *data));
  shift<<<2, 64>>>(data, n);
  int wrong = cudaDeviceSynchronize() != cudaErrorIllegalAddress;
  wrong += cudaMalloc(&more, 4) != cudaErrorIllegalAddress; // the error stays
  wrong += cudaGetLastError() != cudaErrorIllegalAddress;

  CHECK(cudaDeviceReset()); // all memory is gone, and the error with it
  CHECK(cudaMalloc(&data, n * sizeof *data));
  shift<<<2, 64>>>(data, n - 1);
  CHECK(cudaDeviceSynchronize());
  int host[n];
  CHECK(cudaMemcpy(host, data, sizeof host, cudaMemcpyDeviceToHost));
  for (int i = 0; i < n; i++)
    wrong += host[i] != i;
  return verdict(wrong) ? 1 : 3; // 3: as it was meant to be
}
