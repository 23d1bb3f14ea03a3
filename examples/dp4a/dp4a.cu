// Product of two matrices of signed bytes with 32-bit sums, four products in one
// instruction. Rows of A and columns of B are packed four bytes to a word.
#include "../cuda.h"

static __device__ __forceinline__ int dot4(u32 a, u32 b, int sum) {
  asm("dp4a.s32.s32 %0, %1, %2, %3;" : "=r"(sum) : "r"(a), "r"(b), "r"(sum));
  return sum;
}

// words is the length of a row in words.
extern "C" __global__ void byte_product(const u32 *__restrict__ a, const u32 *__restrict__ b, int *c, u32 n, u32 words) {
  u32 x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  int sum = 0;
#pragma unroll 1
  for (u32 k = 0; k < words; k++) sum = dot4(a[y * words + k], b[x * words + k], sum);
  c[y * n + x] = sum;
}
