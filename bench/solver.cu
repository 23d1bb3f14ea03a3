// Conjugate gradients on the five-point Laplacian of a square grid: a program of many short launches,
// nine for each iteration. Arguments: the side of the grid, the number of iterations.
#include <cstdio>
#include <cstdlib>
__global__ void times(float *y, const float *x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, r = i / n, c = i % n;
  float s = 4 * x[i];
  if (r > 0) s -= x[i - n];
  if (r < n - 1) s -= x[i + n];
  if (c > 0) s -= x[i - 1];
  if (c < n - 1) s -= x[i + 1];
  y[i] = s;
}
__global__ void partial(float *out, const float *a, const float *b) {
  __shared__ float s[256]; int t = threadIdx.x, i = blockIdx.x * 256 + t; s[t] = a[i] * b[i]; __syncthreads();
  for (int d = 128; d > 0; d /= 2) { if (t < d) s[t] += s[t + d]; __syncthreads(); }
  if (t == 0) out[blockIdx.x] = s[0];
}
__global__ void total(float *out, const float *part, int n) {
  __shared__ float s[256]; int t = threadIdx.x; s[t] = 0; for (int i = t; i < n; i += 256) s[t] += part[i]; __syncthreads();
  for (int d = 128; d > 0; d /= 2) { if (t < d) s[t] += s[t + d]; __syncthreads(); }
  if (t == 0) *out = s[0];
}
// s holds r·r before this iteration, p·Ap, and r·r after it.
__global__ void forward(float *x, const float *p, const float *s) { int i = blockIdx.x * blockDim.x + threadIdx.x; x[i] += s[0] / s[1] * p[i]; }
__global__ void back(float *r, const float *q, const float *s) { int i = blockIdx.x * blockDim.x + threadIdx.x; r[i] -= s[0] / s[1] * q[i]; }
__global__ void turn(float *p, const float *r, const float *s) { int i = blockIdx.x * blockDim.x + threadIdx.x; p[i] = r[i] + s[2] / s[0] * p[i]; }
__global__ void next(float *s) { s[0] = s[2]; }
int main(int argc, char **argv) {
  int n = argc > 1 ? atoi(argv[1]) : 256, rounds = argc > 2 ? atoi(argv[2]) : 100, m = n * n, blocks = m / 256;
  float *h = new float[m], *x, *r, *p, *q, *part, *s, end[3];
  for (int i = 0; i < m; i++) h[i] = (i * 37 % 101) / 101.f - 0.5f;
  cudaMalloc(&x, 4 * m); cudaMalloc(&r, 4 * m); cudaMalloc(&p, 4 * m); cudaMalloc(&q, 4 * m); cudaMalloc(&part, 4 * blocks); cudaMalloc(&s, 12);
  cudaMemset(x, 0, 4 * m); cudaMemcpy(r, h, 4 * m, cudaMemcpyHostToDevice); cudaMemcpy(p, h, 4 * m, cudaMemcpyHostToDevice);
  partial<<<blocks, 256>>>(part, r, r); total<<<1, 256>>>(s, part, blocks);
  for (int i = 0; i < rounds; i++) {
    times<<<blocks, 256>>>(q, p, n);
    partial<<<blocks, 256>>>(part, p, q); total<<<1, 256>>>(s + 1, part, blocks);
    forward<<<blocks, 256>>>(x, p, s); back<<<blocks, 256>>>(r, q, s);
    partial<<<blocks, 256>>>(part, r, r); total<<<1, 256>>>(s + 2, part, blocks);
    turn<<<blocks, 256>>>(p, r, s); next<<<1, 1>>>(s);
  }
  cudaMemcpy(end, s, 12, cudaMemcpyDeviceToHost); printf("r.r %.6g\n", end[0]);
}
