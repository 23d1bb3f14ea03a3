// Solutions of op(A) * X = alpha * B for lower triangular matrices, in place. Upper ones
// are lower when rows and columns are reversed, and an unknown on the left of A is one on
// the right when all is transposed: the host arranges both.
#pragma once
#include "operand.cuh"

// solve: a warp takes CW columns of X, of which a lane holds one row, and goes down 32
// rows at a time: first the sum of what the rows above contribute, then the triangle on
// the diagonal. With KS = 8 all warps of a block share these sums.
template <class T, int CW, int KS> __device__ inline void solve(const task<T> &p) {
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, batch = p.first + blockIdx.z;
  const int col0 = KS == 1 ? (blockIdx.x * 8 + warp) * CW : blockIdx.x * CW;
  const int share = KS == 1 ? 0 : warp;
  const T *a = p.a.base(batch);
  T *c = p.c.base(batch);
  const T alpha = p.alpha.template get<T>();
  const bool zero = alpha == T(0); // then A is not read
  __shared__ T sums[KS][CW][32];

  for (int i0 = 0; i0 < p.m; i0 += 32) {
    const int i = i0 + lane;
    T v[CW];
#pragma unroll
    for (int q = 0; q < CW; q++) v[q] = T(0);
    if (i < p.m && !zero)
      for (int k = share; k < i0; k += KS) {
        const T f = p.a.template get<T>(a, i, k);
#pragma unroll
        for (int q = 0; q < CW; q++)
          if (col0 + q < p.n) v[q] = mad(f, p.c.place(c, k, col0 + q), v[q]);
      }
    if (KS > 1) {
#pragma unroll
      for (int q = 0; q < CW; q++) sums[share][q][lane] = v[q];
      __syncthreads();
#pragma unroll
      for (int q = 0; q < CW; q++) {
        v[q] = T(0);
        for (int s = 0; s < KS; s++) v[q] = v[q] + sums[s][q][lane];
      }
    }
#pragma unroll
    for (int q = 0; q < CW; q++)
      v[q] = i < p.m && col0 + q < p.n && !zero ? alpha * p.c.place(c, i, col0 + q) - v[q] : T(0);
    const int rows = zero ? 0 : min(32, p.m - i0);
    for (int k = 0; k < rows; k++) {
      const T f = i < p.m && lane >= k ? p.a.template get<T>(a, i, i0 + k) : T(0);
      const T d = shuffle(f, k);
#pragma unroll
      for (int q = 0; q < CW; q++) {
        T x = shuffle(v[q], k);
        if (!p.a.unit) x = divide(x, d);
        if (lane == k) v[q] = x;
        if (lane > k) v[q] = mad(negative(f), x, v[q]);
      }
    }
    if (KS > 1) __syncthreads(); // all have read the right side
    if (KS == 1 || warp == 0) {
#pragma unroll
      for (int q = 0; q < CW; q++)
        if (i < p.m && col0 + q < p.n) p.c.place(c, i, col0 + q) = v[q];
    }
    if (KS > 1) __syncthreads();
    else __syncwarp();
  }
}

// Kernels for matrices, and for single columns.
#define SOLVE(T, name) \
  extern "C" __global__ void __launch_bounds__(256) solve_##name(task<T> p) { solve<T, 4, 1>(p); } \
  extern "C" __global__ void __launch_bounds__(256) solve_##name##_column(task<T> p) { solve<T, 1, 8>(p); }
