// Sixteen threads of the host use the device at once, each with a stream, memory
// and errors of its own.
#include "../check.h"

#include <string.h>
#include <thread>
#include <vector>

__global__ void collatz(const int *in, int *steps, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  int s = 0;
  for (int v = in[i]; v > 1; v = v % 2 ? 3 * v + 1 : v / 2)
    s++;
  steps[i] = s;
}

static void work(int id, int *wrong) {
  const int n = 100, rounds = 5;
  int *in, *out, *host;
  cudaStream_t stream;
  CHECK(cudaStreamCreate(&stream));
  CHECK(cudaMallocHost(&host, 2 * n * sizeof(int)));
  CHECK(cudaMalloc(&in, n * sizeof(int)));
  CHECK(cudaMalloc(&out, n * sizeof(int)));
  for (int r = 0; r < rounds; r++) {
    for (int i = 0; i < n; i++)
      host[i] = 1 + i + n * (r * 16 + id);
    memset(host + n, 0, n * sizeof(int));
    CHECK(cudaMemcpyAsync(in, host, n * sizeof(int), cudaMemcpyHostToDevice, stream));
    collatz<<<2, 64, 0, stream>>>(in, out, n);
    CHECK(cudaMemcpyAsync(host + n, out, n * sizeof(int), cudaMemcpyDeviceToHost, stream));
    CHECK(cudaStreamSynchronize(stream));
    for (int i = 0; i < n; i++) {
      int s = 0;
      for (int v = host[i]; v > 1; v = v % 2 ? 3 * v + 1 : v / 2)
        s++;
      *wrong += host[n + i] != s;
    }
    // Every other thread makes a mistake, which is nobody else's.
    if (id % 2) {
      *wrong += cudaFree(host) != cudaErrorInvalidValue;
      *wrong += cudaGetLastError() != cudaErrorInvalidValue;
    }
    *wrong += cudaGetLastError() != cudaSuccess;
  }
  CHECK(cudaFree(in));
  CHECK(cudaFree(out));
  CHECK(cudaFreeHost(host));
  CHECK(cudaStreamDestroy(stream));
}

int main() {
  int wrong[16] = {}, all = 0;
  std::vector<std::thread> threads;
  for (int id = 0; id < 16; id++)
    threads.emplace_back(work, id, &wrong[id]);
  for (std::thread &t : threads)
    t.join();
  for (int w : wrong)
    all += w;
  return verdict(all);
}
