// The cost of CUDA runtime calls on the host: see cuda.sh.
#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

__global__ void empty() {}

static double now() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec + t.tv_nsec * 1e-9;
}

static void check(cudaError_t err) {
  if (err != cudaSuccess) {
    printf("%s\n", cudaGetErrorString(err));
    exit(1);
  }
}

// The argument is the number of launches after the first one, by default none.
int main(int argc, char **argv) {
  empty<<<1, 1>>>();
  check(cudaDeviceSynchronize());
  if (argc == 1)
    return 0;

  int launches = atoi(argv[1]);
  double start = now();
  for (int i = 0; i < launches; i++)
    empty<<<1, 1>>>();
  check(cudaDeviceSynchronize());
  printf("launches %d %.3f\n", launches, now() - start);

  const size_t n = 256 << 20;
  char *host = (char *)malloc(n), *pinned, *d[2];
  check(cudaMallocHost(&pinned, n));
  for (size_t i = 0; i < n; i += 4096)
    host[i] = pinned[i] = i >> 12;
  check(cudaMalloc(&d[0], n));
  check(cudaMalloc(&d[1], n));
  struct {
    const char *name;
    void *to, *from;
  } ways[] = {{"to fresh memory", d[0], host}, {"host to device", d[0], host}, {"pinned to device", d[0], pinned}, {"between device", d[1], d[0]}, {"device to host", host, d[1]}};
  check(cudaMemset(d[1], 1, n));
  for (auto &w : ways) {
    double best = 1e9;
    for (int i = 0; i < (w.name == ways[0].name ? 1 : 3); i++) {
      start = now();
      check(cudaMemcpy(w.to, w.from, n, cudaMemcpyDefault));
      double took = now() - start;
      best = took < best ? took : best;
    }
    printf("copy %.2f %s\n", n / best / 1e9, w.name);
  }
  return 0;
}
