// c = a + b, one thread for each element.
#include "../cuda.h"

extern "C" __global__ void vecadd(const float *a, const float *b, float *c, u32 n) {
  u32 i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}
