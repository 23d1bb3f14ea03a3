#include "dot.cuh"

// Each block adds up its part in shared memory, and then to the result.
__global__ void partial(const float *a, const float *b, double *sum, int n) {
  __shared__ double part[256];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  part[threadIdx.x] = i < n ? (double)a[i] * b[i] : 0;
  for (int half = blockDim.x / 2; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half)
      part[threadIdx.x] += part[threadIdx.x + half];
  }
  if (threadIdx.x == 0)
    atomicAdd(sum, part[0]);
}

double dot(const float *a, const float *b, int n) {
  float *da = nullptr, *db = nullptr;
  double *sum = nullptr, result = -1;
  size_t bytes = n * sizeof *a;
  bool ok = !cudaMalloc(&da, bytes) && !cudaMalloc(&db, bytes) && !cudaMalloc(&sum, sizeof *sum) &&
            !cudaMemcpy(da, a, bytes, cudaMemcpyHostToDevice) && !cudaMemcpy(db, b, bytes, cudaMemcpyHostToDevice) && !cudaMemset(sum, 0, sizeof *sum);
  if (ok) {
    partial<<<(n + 255) / 256, 256>>>(da, db, sum, n);
    if (cudaMemcpy(&result, sum, sizeof result, cudaMemcpyDeviceToHost))
      result = -1;
  }
  cudaFree(da);
  cudaFree(db);
  cudaFree(sum);
  return result;
}
