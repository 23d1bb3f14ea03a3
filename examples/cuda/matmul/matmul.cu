// Matrix product with tiles in dynamic shared memory, whose size is known only
// at the launch; the second launch asks for more than the 48 KiB that every
// kernel has.
#include "../check.h"

#include <vector>

// c = a b, n x n. Each block computes a tile x tile part with rows threads in y,
// which hold tile/rows numbers each.
__global__ void matmul(const float *a, const float *b, float *c, int n, int tile) {
  extern __shared__ float shared[];
  float *ta = shared, *tb = shared + tile * tile;
  int x = threadIdx.x, column = blockIdx.x * tile + x;
  float sum[8] = {};
  for (int k = 0; k < n; k += tile) {
    for (int y = threadIdx.y; y < tile; y += blockDim.y) {
      ta[y * tile + x] = a[(blockIdx.y * tile + y) * n + k + x];
      tb[y * tile + x] = b[(k + y) * n + column];
    }
    __syncthreads();
    for (int i = 0; i < tile; i++)
      for (int r = 0; r < 8; r++) {
        int y = threadIdx.y + r * blockDim.y;
        if (y < tile)
          sum[r] += ta[y * tile + i] * tb[i * tile + x];
      }
    __syncthreads();
  }
  for (int r = 0; r < 8; r++) {
    int y = threadIdx.y + r * blockDim.y;
    if (y < tile)
      c[(blockIdx.y * tile + y) * n + column] = sum[r];
  }
}

// Small whole numbers: sums are exact in float, in any order.
static float value(int i, int j, int salt) { return (i * 7 + j * 3 + salt) % 11 - 5; }

static int run(int n, int tile, int rows) {
  const size_t bytes = sizeof(float) * n * n, shared = 2 * sizeof(float) * tile * tile;
  std::vector<float> a(n * n), b(n * n), c(n * n);
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      a[i * n + j] = value(i, j, 1);
      b[i * n + j] = value(i, j, 4);
    }
  float *da, *db, *dc;
  CHECK(cudaMalloc(&da, bytes));
  CHECK(cudaMalloc(&db, bytes));
  CHECK(cudaMalloc(&dc, bytes));
  CHECK(cudaMemcpy(da, a.data(), bytes, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(db, b.data(), bytes, cudaMemcpyHostToDevice));
  matmul<<<dim3(n / tile, n / tile), dim3(tile, rows), shared>>>(da, db, dc, n, tile);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(c.data(), dc, bytes, cudaMemcpyDeviceToHost));
  CHECK(cudaFree(da));
  CHECK(cudaFree(db));
  CHECK(cudaFree(dc));
  int wrong = 0;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      float want = 0;
      for (int k = 0; k < n; k++)
        want += a[i * n + k] * b[k * n + j];
      wrong += c[i * n + j] != want;
    }
  return wrong;
}

int main() {
  int wrong = run(64, 16, 8) + run(64, 32, 8);

  // 80 x 80 floats twice are 50 KiB: refused until the kernel asks for them.
  const int tile = 80, bytes = 2 * sizeof(float) * tile * tile;
  matmul<<<1, dim3(tile, 10), bytes>>>(nullptr, nullptr, nullptr, 0, tile);
  wrong += cudaGetLastError() != cudaErrorInvalidValue;
  CHECK(cudaFuncSetAttribute(matmul, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
  wrong += run(tile, tile, 10);
  return verdict(wrong);
}
