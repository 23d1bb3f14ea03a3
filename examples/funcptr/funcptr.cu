// A small machine whose instructions are function pointers in a table: lanes
// call different functions in the same step.
#include "../cuda.h"

typedef u32 (*Operation)(u32 v, u32 operand);

static __device__ __noinline__ u32 op_add(u32 v, u32 x) { return v + x; }
static __device__ __noinline__ u32 op_mul(u32 v, u32 x) { return v * (x | 1); }
static __device__ __noinline__ u32 op_xor(u32 v, u32 x) { return v ^ x; }
static __device__ __noinline__ u32 op_rotate(u32 v, u32 x) { return (v << (x & 31)) | (v >> (-x & 31)); }
static __device__ __noinline__ u32 op_gcd(u32 v, u32 x) {
  while (x != 0) {
    u32 r = v % x;
    v = x;
    x = r;
  }
  return v;
}

__device__ Operation operations[5] = {op_add, op_mul, op_xor, op_rotate, op_gcd};

extern "C" __global__ void funcptr(const u8 *code, const u32 *operand, u32 *out, u32 steps, u32 length) {
  u32 i = blockIdx.x * blockDim.x + threadIdx.x;
  u32 v = i;
#pragma unroll 1
  for (u32 s = 0; s < steps; s++) {
    u32 at = (i * 7 + s) % length;
    v = operations[code[at]](v, operand[at]);
  }
  out[i] = v;
}
