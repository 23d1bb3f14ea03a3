// Samples one image through five texture objects that differ in filter and
// addressing. Coordinates are chosen on a grid of 1/16 texel and texels are whole
// numbers, so that the weights of the linear filter and its sums are exact.
#include "../cuda.h"

static __device__ __forceinline__ float sample(u64 t, float x, float y) {
  float r, g, b, a;
  asm volatile("tex.2d.v4.f32.f32 {%0,%1,%2,%3}, [%4, {%5,%6}];" : "=f"(r), "=f"(g), "=f"(b), "=f"(a) : "l"(t), "f"(x), "f"(y));
  return r;
}

// Thread (x, y) of an n x n grid samples at x0 + x*step, y0 + y*step.
extern "C" __global__ void texture(u64 t, float *out, u32 n, float x0, float y0, float step) {
  u32 x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < n && y < n) out[y * n + x] = sample(t, x0 + (float)x * step, y0 + (float)y * step);
}
