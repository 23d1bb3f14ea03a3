// Launches of many waves, of different kinds: streaming, reuse, atomics, uneven work, growing work.
#include <cstdio>
#include <cmath>
#include <vector>
__global__ void scale(float *y, const float *x, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] = 2 * x[i]; }
__global__ void transposed(float *y, const float *x, int n) {
  __shared__ float t[16][17]; int c = blockIdx.x * 16 + threadIdx.x, r = blockIdx.y * 16 + threadIdx.y;
  t[threadIdx.y][threadIdx.x] = x[r * n + c]; __syncthreads();
  y[(blockIdx.x * 16 + threadIdx.y) * n + blockIdx.y * 16 + threadIdx.x] = t[threadIdx.x][threadIdx.y];
}
__global__ void blur(float *y, const float *x, int n) {
  int c = blockIdx.x * 16 + threadIdx.x, r = blockIdx.y * 16 + threadIdx.y; float s = 0;
  for (int i = -2; i <= 2; i++) for (int j = -2; j <= 2; j++) s += x[((r + i + n) % n) * n + (c + j + n) % n];
  y[r * n + c] = s / 25;
}
__global__ void mandel(int *out, int n) {
  int c = blockIdx.x * 16 + threadIdx.x, r = blockIdx.y * 16 + threadIdx.y; float a = 0, b = 0, x = -2 + 3.f * c / n, y = -1.5f + 3.f * r / n; int k = 0;
  while (k < 64 && a * a + b * b < 4) { float t = a * a - b * b + x; b = 2 * a * b + y; a = t; k++; }
  out[r * n + c] = k;
}
__global__ void sums(float *out, const float *x, int n) {
  __shared__ float s[256]; int i = blockIdx.x * 256 + threadIdx.x; s[threadIdx.x] = i < n ? x[i] : 0; __syncthreads();
  for (int d = 128; d > 0; d /= 2) { if (threadIdx.x < d) s[threadIdx.x] += s[threadIdx.x + d]; __syncthreads(); }
  if (threadIdx.x == 0) atomicAdd(out, s[0]);
}
__global__ void gather(float *y, const float *x, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; y[i] = x[(i * 2654435761u) % n]; }
__global__ void triangle(float *y, const float *x, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; float s = 0; for (int j = 0; j < 1 + int(blockIdx.x) / 32; j++) s += x[(i + 32 * j) % n]; y[i] = s; }
__global__ void polynomial(float *y, const float *x, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; float v = x[i], s = 1; for (int j = 0; j < 100; j++) s = s * v + 0.5f; y[i] = s; }
int main() {
  int m = 1024, n = m * m; std::vector<float> h(n); for (int i = 0; i < n; i++) h[i] = (i % 97) / 97.f;
  float *x, *y; cudaMalloc(&x, n * 4); cudaMalloc(&y, n * 4 + 4); cudaMemcpy(x, h.data(), n * 4, cudaMemcpyHostToDevice); cudaMemset(y, 0, n * 4 + 4);
  dim3 g(m / 16, m / 16), b(16, 16);
  scale<<<n / 256, 256>>>(y, x, n); transposed<<<g, b>>>(y, x, m); blur<<<g, b>>>(y, x, m); mandel<<<g, b>>>((int *)y, m);
  sums<<<n / 256, 256>>>(y + n, x, n); gather<<<n / 256, 256>>>(y, x, n); triangle<<<n / 256, 256>>>(y, x, n); polynomial<<<n / 256, 256>>>(y, x, n);
  cudaMemcpy(h.data(), y, n * 4, cudaMemcpyDeviceToHost); double s = 0; for (float v : h) s += v; printf("sum %.6f\n", s);
}
