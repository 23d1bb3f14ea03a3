// Kernels print: their output appears when the host waits for them.
#include "../check.h"

__global__ void hello(const char *who) {
  if (threadIdx.x % 2 == 0)
    printf("block %d, thread %2u: %s %5.2f %lld %#x %c%%\n", blockIdx.x, threadIdx.x, who, threadIdx.x / 3.0, -5000000000LL * (blockIdx.x + 1), 255u, 'A' + threadIdx.x);
}

int main() {
  char *who;
  CHECK(cudaMallocManaged(&who, 16));
  snprintf(who, 16, "hello");
  hello<<<1, 4>>>(who);
  CHECK(cudaDeviceSynchronize());
  printf("the host goes on\n");
  hello<<<2, 1>>>(who);
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaFree(who));
  return 0;
}
