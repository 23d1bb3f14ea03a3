// Matrix product on tensor cores: half precision in, float out, a warp for each
// 16 x 16 tile.
#include "../check.h"

#include <mma.h>
#include <vector>

using namespace nvcuda;

const int n = 64;

__global__ void product(const __half *a, const __half *b, float *c) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 700 // compilers look at this for older devices too
  int row = blockIdx.y * 16, column = (blockIdx.x * blockDim.y + threadIdx.y) * 16;
  wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> fa;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::col_major> fb;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
  wmma::fill_fragment(sum, 0.0f);
  for (int k = 0; k < n; k += 16) {
    wmma::load_matrix_sync(fa, a + row * n + k, n);
    wmma::load_matrix_sync(fb, b + column * n + k, n); // b is stored by columns
    wmma::mma_sync(sum, fa, fb, sum);
  }
  wmma::store_matrix_sync(c + row * n + column, sum, n, wmma::mem_row_major);
#endif
}

int main() {
  std::vector<__half> a(n * n), b(n * n);
  std::vector<float> c(n * n);
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) { // quarters: products and sums are exact
      a[i * n + j] = __float2half(((i * 5 + j) % 13 - 6) * 0.25f);
      b[j * n + i] = __float2half(((i + 3 * j) % 17 - 8) * 0.25f);
    }
  __half *da, *db;
  float *dc;
  CHECK(cudaMalloc(&da, a.size() * sizeof(__half)));
  CHECK(cudaMalloc(&db, b.size() * sizeof(__half)));
  CHECK(cudaMalloc(&dc, c.size() * sizeof(float)));
  CHECK(cudaMemcpy(da, a.data(), a.size() * sizeof(__half), cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(db, b.data(), b.size() * sizeof(__half), cudaMemcpyHostToDevice));
  product<<<dim3(n / 32, n / 16), dim3(32, 2)>>>(da, db, dc);
  CHECK(cudaMemcpy(c.data(), dc, c.size() * sizeof(float), cudaMemcpyDeviceToHost));

  int wrong = 0;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      float want = 0;
      for (int k = 0; k < n; k++)
        want += __half2float(a[i * n + k]) * __half2float(b[j * n + k]);
      wrong += c[i * n + j] != want;
    }
  return verdict(wrong);
}
