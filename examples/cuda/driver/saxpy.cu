// The kernel of driver.cpp: compiled to PTX by itself, loaded when the program runs.
extern "C" {
__constant__ float factor = 1;
}

extern "C" __global__ void saxpy(const float *x, float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] += factor * x[i];
}
