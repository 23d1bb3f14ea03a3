// Programmatic dependent launches: a launch begins while the one before it runs, prepares what does not depend on it,
// and waits for its end before it reads what it has written.
#include "../check.h"

#include <math.h>
#include <string.h>

// weightOf is how much a point's neighbours count: a matter of the point alone, which takes a while.
__host__ __device__ float weightOf(int i) {
  float weight = 0;
  for (int k = 1; k <= 200; k++)
    weight = weight * 0.5f + (i % (k + 7)) * 0.01f;
  return weight / (1 + weight);
}

// Each point becomes a weighted mean of itself and its neighbours.
__global__ void smooth(const float *from, float *to, int n) {
  cudaTriggerProgrammaticLaunchCompletion(); // the next launch may begin when all blocks have come here
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float weight = weightOf(i);
  cudaGridDependencySynchronize(); // until the launch before this one has ended
  float left = from[i > 0 ? i - 1 : i], right = from[i < n - 1 ? i + 1 : i];
  to[i] = from[i] * (1 - weight) + (left + right) * 0.5f * weight;
}

// run smooths n points a few times and returns how long that takes, in milliseconds.
static float run(float *from, float *to, int n, int steps, bool dependent, cudaStream_t stream) {
  cudaLaunchAttribute may;
  may.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  may.val.programmaticStreamSerializationAllowed = dependent;
  cudaLaunchConfig_t config = {};
  config.gridDim = n / 256;
  config.blockDim = 256;
  config.stream = stream;
  config.attrs = &may;
  config.numAttrs = 1;
  cudaEvent_t start, stop;
  CHECK(cudaEventCreate(&start));
  CHECK(cudaEventCreate(&stop));
  CHECK(cudaEventRecord(start, stream));
  for (int k = 0; k < steps; k++) {
    CHECK(cudaLaunchKernelEx(&config, smooth, (const float *)from, to, n));
    float *next = from;
    from = to, to = next;
  }
  CHECK(cudaEventRecord(stop, stream));
  CHECK(cudaEventSynchronize(stop));
  float ms = 0;
  CHECK(cudaEventElapsedTime(&ms, start, stop));
  return ms;
}

int main() {
  const int n = 256 * 64, steps = 6;
  static float first[n], host[2][n];
  float *a, *b, ms[2];
  for (int i = 0; i < n; i++)
    first[i] = i * 7 % 1000;
  CHECK(cudaMalloc(&a, sizeof first));
  CHECK(cudaMalloc(&b, sizeof first));
  cudaStream_t stream;
  CHECK(cudaStreamCreate(&stream));
  for (int dependent = 0; dependent < 2; dependent++) {
    CHECK(cudaMemcpy(a, first, sizeof first, cudaMemcpyHostToDevice));
    ms[dependent] = run(a, b, n, steps, dependent, stream);
    CHECK(cudaMemcpy(host[dependent], a, sizeof first, cudaMemcpyDeviceToHost));
  }
  printf("dependent launches take %s\n", ms[1] < 0.9f * ms[0] ? "less time than others" : "as long as others");
  static float want[2][n];
  memcpy(want[0], first, sizeof first);
  for (int k = 0; k < steps; k++)
    for (int i = 0; i < n; i++) {
      const float *from = want[k % 2], weight = weightOf(i);
      float left = from[i > 0 ? i - 1 : i], right = from[i < n - 1 ? i + 1 : i];
      want[1 - k % 2][i] = from[i] * (1 - weight) + (left + right) * 0.5f * weight;
    }
  int wrong = 0;
  for (int i = 0; i < n; i++) // the device may fuse multiplications and additions
    wrong += host[0][i] != host[1][i] || fabsf(host[0][i] - want[0][i]) > 0.01f;
  return verdict(wrong);
}
