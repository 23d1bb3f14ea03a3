// Recursion that differs from lane to lane, on the local stack.
#include "../cuda.h"

// Each lane computes another Fibonacci number, the slow way.
static __device__ __noinline__ u32 fib(u32 n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }

extern "C" __global__ void fibonacci(u32 *out, u32 first, u32 count) {
  u32 i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = fib(first + i % count);
}

// A peak at x = 0; the smaller c, the sharper it is and the deeper the recursion.
static __device__ __forceinline__ double peak(double x, double c) { return 1.0 / (x * x + c); }

// Adaptive Simpson rule between a and b, where fa, fm, fb are the values at both
// ends and in the middle, and whole is the rule's value on the interval.
static __device__ __noinline__ double simpson(double a, double b, double fa, double fm, double fb, double whole, double tolerance,
                                              double c, u32 *leaves) {
  double m = 0.5 * (a + b), h = b - a;
  double fl = peak(0.5 * (a + m), c), fr = peak(0.5 * (m + b), c);
  double left = h / 12 * (fa + 4 * fl + fm), right = h / 12 * (fm + 4 * fr + fb);
  double error = left + right - whole;
  if (fabs(error) <= 15 * tolerance) {
    ++*leaves;
    return left + right + error / 15;
  }
  return simpson(a, m, fa, fl, fm, left, tolerance / 2, c, leaves) + simpson(m, b, fm, fr, fb, right, tolerance / 2, c, leaves);
}

// Lane i integrates the peak with c = 2^-(i mod depth) from -1 to 2.
extern "C" __global__ void quadrature(double *out, u32 *leaves, u32 depth, double tolerance) {
  u32 i = blockIdx.x * blockDim.x + threadIdx.x;
  double c = 1.0;
  for (u32 k = 0; k < i % depth; k++) c *= 0.5;
  double a = -1, b = 2, fa = peak(a, c), fm = peak(0.5, c), fb = peak(b, c);
  u32 n = 0;
  out[i] = simpson(a, b, fa, fm, fb, (b - a) / 6 * (fa + 4 * fm + fb), tolerance, c, &n);
  leaves[i] = n;
}
