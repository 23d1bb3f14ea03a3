// C = A·Bᵀ by blocks of 128 threads, as Triton makes it for an H200 with two stages (FlashGPU-Sim gives the tile, 65,552
// bytes of shared memory, 154 registers and clusters of two; the code is not published): a block copies its next tile
// while it multiplies one of 128 x 128 x 64, and writes its part of C as boxes in the end. Two launches: the second finds
// in the L2 what the first has left there. Few elements are compared with the host's sums.
#include "../../../examples/cuda/hopper.h"
#include <stdlib.h>

constexpr int tile = 128, depth = 64, half = tile / 2, cluster = 2; // the blocks of a cluster lie along M

struct __align__(1024) Tiles {
  bf16 a[2][tile * depth], b[2][tile * depth]; // later C's two halves of 64 columns, in a
  barrier full[2];
};

__global__ void __launch_bounds__(128) product(const __grid_constant__ CUtensorMap mapA, const __grid_constant__ CUtensorMap mapB,
                                               const __grid_constant__ CUtensorMap mapC, int k, int rows) {
  extern __shared__ __align__(1024) char memory[];
  Tiles &t = *(Tiles *)memory;
  int row = blockIdx.x % rows * tile, col = blockIdx.x / rows * tile;
  if (threadIdx.x == 0) {
    open(&t.full[0], 1), open(&t.full[1], 1);
    published();
  }
  __syncthreads();
  auto next = [&](int i) {
    if (threadIdx.x == 0 && i < k / depth) {
      int s = i % 2;
      expect(&t.full[s], sizeof t.a[s] + sizeof t.b[s]);
      load(t.a[s], &mapA, i * depth, row, &t.full[s]);
      load(t.b[s], &mapB, i * depth, col, &t.full[s]);
    }
  };
  float low[64] = {}, high[64] = {};
  next(0);
  for (int i = 0; i < k / depth; i++) {
    int s = i % 2;
    wait(&t.full[s], i / 2 % 2);
    next(i + 1);
    begin();
    for (int x = 0; x < depth; x += 16) {
      multiply(low, descriptor(t.a[s] + x), descriptor(t.b[s] + x));
      multiply(high, descriptor(t.a[s] + half * depth + x), descriptor(t.b[s] + x));
    }
    finish();
    __syncthreads();
  }
  // Rows of 64 columns have 128 bytes, whose eight parts of 16 bytes are swizzled by the row.
  int lane = threadIdx.x % 32;
  for (int i = 0; i < 64; i += 2) {
    int r = threadIdx.x / 32 * 16 + lane / 4 + i / 2 % 2 * 8, c = lane % 4 * 2 + i / 4 * 8;
    bf16 *to = t.a[c / 64] + r * 64 + ((c % 64 / 8 ^ r % 8) * 8 + c % 8);
    *(__nv_bfloat162 *)to = __floats2bfloat162_rn(low[i], low[i + 1]);
    *(__nv_bfloat162 *)(to + half * 64) = __floats2bfloat162_rn(high[i], high[i + 1]);
  }
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  if (threadIdx.x == 0)
    store(&mapC, col, row, t.a[0]), store(&mapC, col + 64, row, t.a[1]);
}

int main(int argc, char **argv) {
  if (argc < 4) {
    fprintf(stderr, "usage: product M N K\n");
    return 2;
  }
  int m = atoi(argv[1]), n = atoi(argv[2]), k = atoi(argv[3]);
  bf16 *host[2], *dev[3];
  int rows[] = {m, n};
  for (int x = 0; x < 2; x++) {
    host[x] = (bf16 *)malloc((size_t)rows[x] * k * 2);
    for (int i = 0; i < rows[x] * k; i++) { // -1, 0 and 1, another sequence in each row: every sum is exact
      unsigned h = (unsigned)(i / k * 2 + x) * 2654435761u ^ (unsigned)(i % k) * 2246822519u;
      h = (h ^ h >> 15) * 3266489917u;
      host[x][i] = __float2bfloat16((float)(int)((h ^ h >> 16) % 3) - 1);
    }
    CHECK(cudaMalloc(&dev[x], (size_t)rows[x] * k * 2));
    CHECK(cudaMemcpy(dev[x], host[x], (size_t)rows[x] * k * 2, cudaMemcpyHostToDevice));
  }
  CHECK(cudaMalloc(&dev[2], (size_t)m * n * 2));
  CUtensorMap mapA = rowsOf(dev[0], m, k, tile), mapB = rowsOf(dev[1], n, k, tile), mapC = rowsOf(dev[2], m, n, tile);
  CHECK(cudaFuncSetAttribute((const void *)product, cudaFuncAttributeMaxDynamicSharedMemorySize, sizeof(Tiles)));
  cudaLaunchAttribute clusters;
  clusters.id = cudaLaunchAttributeClusterDimension;
  clusters.val.clusterDim.x = cluster, clusters.val.clusterDim.y = clusters.val.clusterDim.z = 1;
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(m / tile * (n / tile)), config.blockDim = dim3(128);
  config.dynamicSmemBytes = sizeof(Tiles);
  config.attrs = &clusters, config.numAttrs = 1;
  for (int i = 0; i < 2; i++)
    CHECK(cudaLaunchKernelEx(&config, product, mapA, mapB, mapC, k, m / tile));
  bf16 *c = (bf16 *)malloc((size_t)m * n * 2);
  CHECK(cudaMemcpy(c, dev[2], (size_t)m * n * 2, cudaMemcpyDeviceToHost));
  int wrong = 0;
  for (int x = 0; x < 1000; x++) {
    int i = (int)(x * 7919ll % m), j = (int)(x * 104729ll % n);
    float sum = 0;
    for (int y = 0; y < k; y++)
      sum += __bfloat162float(host[0][(size_t)i * k + y]) * __bfloat162float(host[1][(size_t)j * k + y]);
    wrong += __bfloat162float(c[(size_t)i * n + j]) != __bfloat162float(__float2bfloat16(sum));
  }
  return verdict(wrong);
}
