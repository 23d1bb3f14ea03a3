// Half precision: y = a x + y with two numbers in a word, and a dot product that
// multiplies in half and adds in float.
#include "../check.h"

#include <cuda_fp16.h>
#include <math.h>
#include <vector>

__global__ void axpy(__half2 a, const __half2 *x, __half2 *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = __hfma2(a, x[i], y[i]);
}

__global__ void dot(const __half2 *x, const __half2 *y, float *out, int n) {
  float sum = 0;
  for (int i = threadIdx.x; i < n; i += 32) {
    float2 v = __half22float2(__hmul2(x[i], y[i]));
    sum += v.x + v.y;
  }
  for (int d = 16; d > 0; d /= 2)
    sum += __shfl_xor_sync(~0u, sum, d);
  if (threadIdx.x == 0)
    *out = sum;
}

// Rounds to 11 bits, as normal numbers of half precision have.
static float rounded(double v) {
  if (v == 0)
    return 0;
  int exponent;
  double fraction = frexp(v, &exponent);
  return (float)ldexp(nearbyint(ldexp(fraction, 11)), exponent - 11);
}

int main() {
  const int pairs = 2000, n = 2 * pairs;
  const float a = 0.7f;
  std::vector<__half> x(n), y(n), got(n);
  for (int i = 0; i < n; i++) {
    x[i] = __float2half(1.0f + (i % 97) * 0.03f);
    y[i] = __float2half(2.0f - (i % 31) * 0.11f);
  }
  __half2 *dx, *dy;
  float *dsum, sum;
  CHECK(cudaMalloc(&dx, n * sizeof(__half)));
  CHECK(cudaMalloc(&dy, n * sizeof(__half)));
  CHECK(cudaMalloc(&dsum, sizeof sum));
  CHECK(cudaMemcpy(dx, x.data(), n * sizeof(__half), cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(dy, y.data(), n * sizeof(__half), cudaMemcpyHostToDevice));
  axpy<<<(pairs + 127) / 128, 128>>>(__float2half2_rn(a), dx, dy, pairs);
  dot<<<1, 32>>>(dx, dy, dsum, pairs);
  CHECK(cudaMemcpy(got.data(), dy, n * sizeof(__half), cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy(&sum, dsum, sizeof sum, cudaMemcpyDeviceToHost));

  int wrong = 0;
  double want = 0;
  for (int i = 0; i < n; i++) {
    double v = (double)__half2float(__float2half(a)) * __half2float(x[i]) + __half2float(y[i]);
    wrong += __half2float(got[i]) != rounded(v); // one rounding
    want += rounded((double)__half2float(got[i]) * __half2float(x[i]));
  }
  wrong += fabs(sum - want) > 1e-5 * fabs(want);
  return verdict(wrong);
}
