// Launches a kernel as often as its argument says. Tests look at it while it runs.
#include <cstdlib>
__global__ void add(float *x, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; for (int k = 0; k < 20; k++) if (i < n) x[i] += k * 1.5f; }
int main(int argc, char **argv) {
  float *x;
  cudaMalloc(&x, 4 << 18);
  for (int r = 0; r < atoi(argv[1]); r++) add<<<1024, 256>>>(x, 1 << 18);
  return cudaDeviceSynchronize();
}
