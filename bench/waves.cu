// Launches of many waves, of different kinds: streaming, reuse, atomics, uneven work, growing work. Arguments: the side of the
// square of numbers that they work on, and the name of a kernel; without one all run.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>
__global__ void scale(float *y, const float *x, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] = 2 * x[i]; }
__global__ void transposed(float *y, const float *x, int n) {
  __shared__ float t[16][17]; int c = blockIdx.x * 16 + threadIdx.x, r = blockIdx.y * 16 + threadIdx.y;
  t[threadIdx.y][threadIdx.x] = x[r * n + c]; __syncthreads();
  y[(blockIdx.x * 16 + threadIdx.y) * n + blockIdx.y * 16 + threadIdx.x] = t[threadIdx.x][threadIdx.y];
}
__global__ void naive(float *y, const float *x, int n) { int c = blockIdx.x * 16 + threadIdx.x, r = blockIdx.y * 16 + threadIdx.y; y[c * n + r] = x[r * n + c]; }
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
__global__ void triangle(float *y, const float *x, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; float s = 0; for (int j = 0; j < 1 + int(blockIdx.x) / 256; j++) s += x[(i + 32 * j) % n]; y[i] = s; }
__global__ void polynomial(float *y, const float *x, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; float v = x[i], s = 1; for (int j = 0; j < 100; j++) s = s * v + 0.5f; y[i] = s; }
__global__ void histogram(int *h, const float *x, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; atomicAdd(&h[(int)(x[i] * 255)], 1); }
__global__ void saxpy(float *y, const float *x, float *z, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; y[i] = y[i] + 3 * x[i] + z[i]; }
__global__ void copy4(float4 *y, const float4 *x, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (4 * i < n) y[i] = x[i]; }
__global__ void uneven(float *y, const float *x, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; unsigned h = blockIdx.x * 2654435761u; h ^= h >> 15; h *= 2246822519u; h ^= h >> 13; int k = 10 + h % 200; float v = x[i], s = 1; for (int j = 0; j < k; j++) s = s * v + 0.5f; y[i] = s; }
__global__ void fill(float *y, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] = i; }
__global__ void gemm(float *c, const float *a, const float *b, int n, int k) { // c n x n, a n x k, b k x n
  __shared__ float s[16][16], t[16][16]; int x = threadIdx.x, y = threadIdx.y, col = blockIdx.x * 16 + x, row = blockIdx.y * 16 + y; float v = 0;
  for (int i = 0; i < k; i += 16) { s[y][x] = a[row * k + i + x]; t[y][x] = b[(i + y) * n + col]; __syncthreads(); for (int j = 0; j < 16; j++) v += s[y][j] * t[j][x]; __syncthreads(); }
  c[row * n + col] = v;
}
int main(int argc, char **argv) {
  int m = argc > 1 ? atoi(argv[1]) : 1024, n = m * m, k = n / 256; const char *name = argc > 2 ? argv[2] : "";
  std::vector<float> h(n); for (int i = 0; i < n; i++) h[i] = (i % 97) / 97.f;
  float *x, *y, *z; cudaMalloc(&x, n * 4); cudaMalloc(&z, n * 4); cudaMalloc(&y, n * 4 + 4); cudaMemcpy(x, h.data(), n * 4, cudaMemcpyHostToDevice); cudaMemset(y, 0, n * 4 + 4); cudaMemset(z, 0, n * 4);
  dim3 g(m / 16, m / 16), b(16, 16);
  bool known = false;
  auto is = [&](const char *s) { bool yes = !*name || !strcmp(name, s); known |= yes; return yes; };
  if (is("scale")) scale<<<k, 256>>>(y, x, n);
  if (is("transposed")) transposed<<<g, b>>>(y, x, m);
  if (is("naive")) naive<<<g, b>>>(y, x, m);
  if (is("blur")) blur<<<g, b>>>(y, x, m);
  if (is("mandel")) mandel<<<g, b>>>((int *)y, m);
  if (is("sums")) sums<<<k, 256>>>(y + n, x, n);
  if (is("gather")) gather<<<k, 256>>>(y, x, n);
  if (is("triangle")) triangle<<<k, 256>>>(y, x, n);
  if (is("polynomial")) polynomial<<<k, 256>>>(y, x, n);
  if (is("histogram")) histogram<<<k, 256>>>((int *)z, x, n);
  if (is("saxpy")) saxpy<<<k, 256>>>(y, x, z, n);
  if (is("copy4")) copy4<<<k / 4, 256>>>((float4 *)y, (float4 *)x, n);
  if (is("uneven")) uneven<<<k, 256>>>(y, x, n);
  if (is("fill")) fill<<<k, 256>>>(y, n);
  if (is("gemm")) gemm<<<g, b>>>(y, x, z, m, 64);
  if (!known) { fprintf(stderr, "waves: there is no kernel \"%s\"; the names are in bench/waves.cu\n", name); return 2; }
  cudaMemcpy(h.data(), y, n * 4, cudaMemcpyDeviceToHost); double s = 0; for (float v : h) s += v; printf("sum %.6f\n", s);
}
