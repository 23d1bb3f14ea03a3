// Prices of European options after Black and Scholes, with the fast exponential,
// logarithm and square root of the special function unit.
#include "../cuda.h"

static __device__ __forceinline__ float fast_exp(float v) { return __nvvm_ex2_approx_f(v * 1.4426950408889634f); }
static __device__ __forceinline__ float fast_log(float v) { return __nvvm_lg2_approx_f(v) * 0.6931471805599453f; }

// The normal distribution by a polynomial in 1 / (1 + 0.2316419 |d|) (Abramowitz
// and Stegun 26.2.17, error below 7.5e-8).
static __device__ __forceinline__ float normal(float d) {
  float k = 1.0f / (1.0f + 0.2316419f * fabsf(d));
  float tail = 0.3989422804f * fast_exp(-0.5f * d * d) *
               (k * (0.319381530f + k * (-0.356563782f + k * (1.781477937f + k * (-1.821255978f + k * 1.330274429f)))));
  return d > 0 ? 1.0f - tail : tail;
}

extern "C" __global__ void blackscholes(const float *price, const float *strike, const float *years, float *call, float *put, float rate,
                                        float volatility, u32 n) {
  u32 i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float s = price[i], x = strike[i], t = years[i];
  float root = sqrtf(t);
  float d1 = (fast_log(s / x) + (rate + 0.5f * volatility * volatility) * t) / (volatility * root);
  float d2 = d1 - volatility * root;
  float discounted = x * fast_exp(-rate * t);
  call[i] = s * normal(d1) - discounted * normal(d2);
  put[i] = discounted * normal(-d2) - s * normal(-d1);
}
