// Kernels that do what those of PolyBench do: plain loops, a thread for each
// element of the result, sums kept in global memory. Pointers may alias, so that
// every step of a sum is stored, as it is in the programs that were measured.
// Matrices are n x n, row by row. Loads stand before the arithmetic on what they
// bring, as an assembler for the hardware would order them: PTX runs as it stands.
#include "../cuda.h"

// The thread's column and row, for two-dimensional launches.
static __device__ __forceinline__ u32 column() { return blockIdx.x * blockDim.x + threadIdx.x; }
static __device__ __forceinline__ u32 row() { return blockIdx.y * blockDim.y + threadIdx.y; }

// Nothing at all: what a launch costs.
extern "C" __global__ void empty() {}

// A chain of dependent products and sums, 128 for each turn of the loop.
extern "C" __global__ void ffma(float *out, int turns) {
  float x = 0;
  for (int t = 0; t < turns; t++) {
#pragma unroll
    for (int i = 0; i < 128; i++) x = x * 2.00048828125f + 2.0f;
  }
  if (x == 0) *out = x;
}

// A walk along a ring of pointers: every load waits for the one before it.
extern "C" __global__ void chase(u64 *ring, u64 *out, int steps) {
  u64 *p = ring;
  for (int t = 0; t < steps; t++) p = (u64 *)*p;
  *out = (u64)p;
}

// b = a filtered by 3 x 3 weights; the border stays as it is.
extern "C" __global__ void conv2d(const float *a, float *b, int n) {
  int j = column(), i = row();
  if (i > 0 && i < n - 1 && j > 0 && j < n - 1) {
    const float *p = a + i * n + j;
    float nw = p[-n - 1], no = p[-n], ne = p[-n + 1], we = p[-1], at = p[0], ea = p[1], sw = p[n - 1], so = p[n], se = p[n + 1];
    b[i * n + j] = 0.2f * nw - 0.3f * no + 0.4f * ne + 0.5f * we + 0.6f * at + 0.7f * ea - 0.8f * sw - 0.9f * so + 0.1f * se;
  }
}

// c = a * b.
extern "C" __global__ void mm(const float *a, const float *b, float *c, int n) {
  int j = column(), i = row();
  if (i < n && j < n) {
    c[i * n + j] = 0;
    for (int k = 0; k < n; k++) c[i * n + j] += a[i * n + k] * b[k * n + j];
  }
}

// c = alpha * a * b + beta * c.
extern "C" __global__ void gemm(const float *a, const float *b, float *c, float alpha, float beta, int n) {
  int j = column(), i = row();
  if (i < n && j < n) {
    c[i * n + j] *= beta;
    for (int k = 0; k < n; k++) {
      float x = a[i * n + k], y = b[k * n + j];
      c[i * n + j] += alpha * x * y;
    }
  }
}

// c = alpha * a * transposed a + beta * c.
extern "C" __global__ void syrk(const float *a, float *c, float alpha, float beta, int n) {
  int j = column(), i = row();
  if (i < n && j < n) {
    c[i * n + j] *= beta;
    for (int k = 0; k < n; k++) {
      float x = a[i * n + k], y = a[j * n + k];
      c[i * n + j] += alpha * x * y;
    }
  }
}

// y += a * x, a thread for each row.
extern "C" __global__ void times(const float *a, const float *x, float *y, int n) {
  int i = column();
  if (i < n)
    for (int j = 0; j < n; j++) y[i] += a[i * n + j] * x[j];
}

// y += transposed a * x, a thread for each column.
extern "C" __global__ void transposed_times(const float *a, const float *x, float *y, int n) {
  int j = column();
  if (j < n)
    for (int i = 0; i < n; i++) y[j] += a[i * n + j] * x[i];
}

// y = alpha * a * x + beta * b * x; t holds a * x.
extern "C" __global__ void gesummv(const float *a, const float *b, const float *x, float *t, float *y, float alpha, float beta, int n) {
  int i = column();
  if (i < n) {
    t[i] = 0;
    y[i] = 0;
    for (int j = 0; j < n; j++) {
      t[i] += a[i * n + j] * x[j];
      y[i] += b[i * n + j] * x[j];
    }
    y[i] = alpha * t[i] + beta * y[i];
  }
}
