// Copies and kernels that overlap: the same work in pieces, first all in one
// stream, then in two, so that one piece is copied while another is computed.
#include "../check.h"

const int pieces = 4, piece = 1 << 14, rounds = 60;

__global__ void iterate(float *x) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float v = x[i];
  for (int r = 0; r < rounds; r++)
    v = 0.5f * v + 1;
  x[i] = v;
}

int main() {
  const size_t bytes = piece * sizeof(float);
  float *host, *device;
  CHECK(cudaMallocHost(&host, pieces * bytes)); // only pinned memory is copied while the host goes on
  CHECK(cudaMalloc(&device, pieces * bytes));
  cudaStream_t stream[2];
  for (cudaStream_t &s : stream)
    CHECK(cudaStreamCreate(&s));
  cudaEvent_t start, stop;
  CHECK(cudaEventCreate(&start));
  CHECK(cudaEventCreate(&stop));

  float ms[2];
  int wrong = 0;
  for (int streams = 1; streams <= 2; streams++) {
    for (int i = 0; i < pieces * piece; i++)
      host[i] = i % 1000;
    CHECK(cudaEventRecord(start));
    for (int p = 0; p < pieces; p++) {
      cudaStream_t s = stream[p % streams];
      float *h = host + p * piece, *d = device + p * piece;
      CHECK(cudaMemcpyAsync(d, h, bytes, cudaMemcpyHostToDevice, s));
      iterate<<<piece / 256, 256, 0, s>>>(d);
      CHECK(cudaMemcpyAsync(h, d, bytes, cudaMemcpyDeviceToHost, s));
    }
    CHECK(cudaEventRecord(stop)); // the default stream waits for both
    CHECK(cudaEventSynchronize(stop));
    CHECK(cudaEventElapsedTime(&ms[streams - 1], start, stop));
    for (int i = 0; i < pieces * piece; i++) {
      float v = i % 1000;
      for (int r = 0; r < rounds; r++)
        v = 0.5f * v + 1;
      wrong += host[i] != v;
    }
  }
  // Simulated time. A functional run has none, and says so.
  printf("two streams take %s\n", ms[1] < 0.8f * ms[0] ? "less time than one" : "as long as one");

  for (cudaStream_t s : stream)
    CHECK(cudaStreamDestroy(s));
  CHECK(cudaFreeHost(host));
  CHECK(cudaFree(device));
  return verdict(wrong);
}
