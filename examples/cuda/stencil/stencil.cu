// Cooperative groups: an iterative stencil in one launch, whose blocks wait for
// each other between steps with a barrier of the whole grid.
#include "../check.h"

#include <cooperative_groups.h>
#include <vector>

namespace cg = cooperative_groups;

__global__ void relax(int *a, int *b, int n, int steps) {
  cg::grid_group grid = cg::this_grid();
  for (int s = 0; s < steps; s++) {
    for (int i = grid.thread_rank(); i < n; i += grid.size())
      b[i] = (a[(i + n - 1) % n] + 2 * a[i] + a[(i + 1) % n]) >> 2;
    grid.sync();
    int *t = a;
    a = b;
    b = t;
  }
}

int main() {
  const int n = 3000, threads = 128;
  int steps = 9, size = n;
  std::vector<int> a(n), b(n), got(n);
  for (int i = 0; i < n; i++)
    a[i] = i * i % 4096;
  int *da, *db;
  CHECK(cudaMalloc(&da, n * sizeof(int)));
  CHECK(cudaMalloc(&db, n * sizeof(int)));
  CHECK(cudaMemcpy(da, a.data(), n * sizeof(int), cudaMemcpyHostToDevice));

  // All blocks must be on the chip at once: as many as it holds, or fewer.
  int device, sms, each, can;
  CHECK(cudaGetDevice(&device));
  CHECK(cudaDeviceGetAttribute(&can, cudaDevAttrCooperativeLaunch, device));
  CHECK(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device));
  CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&each, relax, threads, 0));
  if (!can || sms * each < 8) {
    printf("this device cannot\n");
    return 1;
  }
  void *args[] = {&da, &db, &size, &steps};
  int wrong = cudaLaunchCooperativeKernel(relax, sms * each + 1, threads, args) != cudaErrorCooperativeLaunchTooLarge;
  wrong += cudaGetLastError() != cudaErrorCooperativeLaunchTooLarge;
  CHECK(cudaLaunchCooperativeKernel(relax, 8, threads, args));
  CHECK(cudaMemcpy(got.data(), steps % 2 ? db : da, n * sizeof(int), cudaMemcpyDeviceToHost));

  for (int s = 0; s < steps; s++, a.swap(b))
    for (int i = 0; i < n; i++)
      b[i] = (a[(i + n - 1) % n] + 2 * a[i] + a[(i + 1) % n]) >> 2;
  for (int i = 0; i < n; i++)
    wrong += got[i] != a[i];
  return verdict(wrong);
}
