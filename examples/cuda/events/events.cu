// Events: how long a kernel takes, and one stream that waits for another.
#include "../check.h"

__global__ void count(int *out, int rounds) {
  int sum = 0;
  for (int i = 0; i < rounds; i++)
    sum = sum * 3 + i;
  out[threadIdx.x] = sum;
}

__global__ void add(const int *in, int *out) { out[threadIdx.x] = in[threadIdx.x] + 1; }

static int expected(int rounds) {
  unsigned sum = 0;
  for (int i = 0; i < rounds; i++)
    sum = sum * 3 + i;
  return sum + 1;
}

int main() {
  const int n = 64, rounds[2] = {200, 3200};
  int *first, *second, host[n], wrong = 0;
  CHECK(cudaMalloc(&first, n * sizeof(int)));
  CHECK(cudaMalloc(&second, n * sizeof(int)));
  cudaStream_t producer, consumer;
  CHECK(cudaStreamCreate(&producer));
  CHECK(cudaStreamCreate(&consumer));
  cudaEvent_t start, stop, ready;
  CHECK(cudaEventCreate(&start));
  CHECK(cudaEventCreate(&stop));
  CHECK(cudaEventCreateWithFlags(&ready, cudaEventDisableTiming));

  float ms[2];
  for (int i = 0; i < 2; i++) {
    CHECK(cudaEventRecord(start, producer));
    count<<<1, n, 0, producer>>>(first, rounds[i]);
    CHECK(cudaEventRecord(stop, producer));
    CHECK(cudaEventRecord(ready, producer));
    CHECK(cudaStreamWaitEvent(consumer, ready, 0));
    add<<<1, n, 0, consumer>>>(first, second);
    CHECK(cudaMemcpyAsync(host, second, sizeof host, cudaMemcpyDeviceToHost, consumer));
    CHECK(cudaStreamSynchronize(consumer));
    for (int v : host)
      wrong += v != expected(rounds[i]);
    CHECK(cudaEventSynchronize(stop));
    CHECK(cudaEventQuery(stop));
    CHECK(cudaEventElapsedTime(&ms[i], start, stop));
  }
  wrong += ms[0] <= 0 || ms[1] < 2 * ms[0]; // sixteen times the rounds

  // An event that measures no time cannot be asked for it; the error is not one that stays.
  wrong += cudaEventElapsedTime(&ms[0], start, ready) != cudaErrorInvalidResourceHandle;
  wrong += cudaGetLastError() != cudaErrorInvalidResourceHandle;
  wrong += cudaGetLastError() != cudaSuccess;

  CHECK(cudaEventDestroy(start));
  CHECK(cudaEventDestroy(stop));
  CHECK(cudaEventDestroy(ready));
  CHECK(cudaStreamDestroy(producer));
  CHECK(cudaStreamDestroy(consumer));
  return verdict(wrong);
}
