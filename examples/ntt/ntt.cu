// Number-theoretic transform: a Fourier transform modulo the prime 998244353, of
// 1024 points for each block, in shared memory. 64-bit products and remainders.
#include "../cuda.h"

constexpr u32 N = 1024, P = 998244353;

static __device__ __forceinline__ u32 mulmod(u32 a, u32 b) { return (u32)((u64)a * b % P); }

// root[k] = w^k, where w is a primitive 1024th root of unity.
extern "C" __global__ void roots(u32 *root, u32 w) {
  u32 k = blockIdx.x * blockDim.x + threadIdx.x;
  u32 r = 1, square = w;
#pragma unroll 1
  for (u32 e = k; e != 0; e /= 2) {
    if (e & 1) r = mulmod(r, square);
    square = mulmod(square, square);
  }
  root[k] = r;
}

// Blocks of N/2 threads.
extern "C" __global__ void ntt(u32 *data, const u32 *root) {
  __shared__ u32 v[N];
  u32 *mine = data + blockIdx.x * N;
  u32 t = threadIdx.x;
  v[__builtin_bitreverse32(t) >> 22] = mine[t];
  v[__builtin_bitreverse32(t + N / 2) >> 22] = mine[t + N / 2];
  __syncthreads();
#pragma unroll 1
  for (u32 half = 1; half < N; half *= 2) {
    u32 j = t & (half - 1), low = 2 * t - j;
    u32 a = v[low], b = mulmod(v[low + half], root[j * (N / 2 / half)]);
    v[low] = a + b >= P ? a + b - P : a + b;
    v[low + half] = a >= b ? a - b : a + P - b;
    __syncthreads();
  }
  mine[t] = v[t];
  mine[t + N / 2] = v[t + N / 2];
}
