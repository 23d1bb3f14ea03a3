// Factors of the matrices of a batch, a block for each: small matrices are what these
// functions are for.
#pragma once
#include "operand.cuh"

template <class T> __device__ inline auto size(T a) { return fabs(realOf(a)) + fabs(imaginaryOf(a)); }

// lu factors C in place. pivots, if there are any, and info have n numbers and one for each
// matrix.
template <class T> __device__ inline void lu(const task<T> &p, int32_t *pivots, int32_t *info) {
  __shared__ double sizes[256];
  __shared__ int rows[256];
  const int t = threadIdx.x, n = p.n, batch = p.first + blockIdx.x;
  T *a = p.c.base(batch);
  const int64_t ld = p.c.ld;
  int failed = 0;
  for (int k = 0; k < n; k++) {
    if (pivots) {
      double most = -1;
      int row = k;
      for (int i = k + t; i < n; i += 256) {
        const double s = size(a[i + k * ld]);
        if (s > most) most = s, row = i;
      }
      sizes[t] = most, rows[t] = row;
      for (int h = 128; h > 0; h /= 2) {
        __syncthreads();
        if (t < h && (sizes[t + h] > sizes[t] || sizes[t + h] == sizes[t] && rows[t + h] < rows[t])) sizes[t] = sizes[t + h], rows[t] = rows[t + h];
      }
      __syncthreads();
      row = rows[0];
      if (t == 0) pivots[(int64_t)batch * n + k] = row + 1;
      if (row != k)
        for (int j = t; j < n; j += 256) {
          const T v = a[k + j * ld];
          a[k + j * ld] = a[row + j * ld];
          a[row + j * ld] = v;
        }
      __syncthreads();
    }
    const T d = a[k + k * ld];
    if (d == T(0)) {
      if (!failed) failed = k + 1;
    } else {
      for (int i = k + 1 + t; i < n; i += 256) a[i + k * ld] = divide(a[i + k * ld], d);
    }
    __syncthreads();
    const int left = n - k - 1;
    for (int64_t e = t; e < (int64_t)left * left; e += 256) {
      const int i = k + 1 + e % left, j = k + 1 + e / left;
      a[i + j * ld] = mad(negative(a[i + k * ld]), a[k + j * ld], a[i + j * ld]);
    }
    __syncthreads();
  }
  if (t == 0) info[batch] = failed;
}

// permute exchanges the rows of C in the order of the pivots of m rows, or backwards. A
// thread has a column.
template <class T> __device__ inline void permute(const task<T> &p, const int32_t *pivots) {
  const int j = blockIdx.x * 256 + threadIdx.x, batch = p.first + blockIdx.z;
  if (j >= p.n) return;
  T *c = p.c.base(batch) + j * p.c.ld;
  for (int q = 0; q < p.m; q++) {
    const int k = p.flags ? p.m - 1 - q : q, row = pivots[(int64_t)batch * p.m + k] - 1;
    if (row == k || row < 0 || row >= p.m) continue;
    const T v = c[k];
    c[k] = c[row];
    c[row] = v;
  }
}

// unit makes C the unit matrix. info is the first row whose element on A's diagonal is
// zero, from 1.
template <class T> __device__ inline void unit(const task<T> &p, int32_t *info) {
  const int batch = p.first + blockIdx.x;
  const T *a = p.a.base(batch);
  T *c = p.c.base(batch);
  for (int64_t e = threadIdx.x; e < (int64_t)p.n * p.n; e += 256) c[e % p.n + e / p.n * p.c.ld] = T(e % p.n == e / p.n ? 1 : 0);
  if (threadIdx.x != 0) return;
  int failed = 0;
  for (int k = p.n - 1; k >= 0; k--)
    if (a[k + k * p.a.ld] == T(0)) failed = k + 1;
  info[batch] = failed;
}

// qr factors C, of m rows and n columns, in place by Householder reflections, whose factors
// are A: their first element is 1 and not stored.
template <class T> __device__ inline void qr(const task<T> &p) {
  typedef typename parts<T>::type R;
  __shared__ R scales[256], squares[256];
  __shared__ __align__(16) char bytes[2 * sizeof(T)];
  T *shared = (T *)bytes;
  const int t = threadIdx.x, batch = p.first + blockIdx.x, m = p.m, n = p.n;
  T *a = p.c.base(batch), *taus = const_cast<T *>(p.a.base(batch));
  const int64_t ld = p.c.ld;
  for (int k = 0; k < min(m, n); k++) {
    // The norm below the diagonal, by the largest part.
    R scale = 0;
    for (int i = k + 1 + t; i < m; i += 256) scale = fmax(scale, fmax(fabs(realOf(a[i + k * ld])), fabs(imaginaryOf(a[i + k * ld]))));
    scales[t] = scale;
    for (int h = 128; h > 0; h /= 2) {
      __syncthreads();
      if (t < h) scales[t] = fmax(scales[t], scales[t + h]);
    }
    __syncthreads();
    scale = scales[0];
    R square = 0;
    if (scale > 0)
      for (int i = k + 1 + t; i < m; i += 256) {
        const R x = realOf(a[i + k * ld]) / scale, y = imaginaryOf(a[i + k * ld]) / scale;
        square = fma(x, x, fma(y, y, square));
      }
    squares[t] = square;
    for (int h = 128; h > 0; h /= 2) {
      __syncthreads();
      if (t < h) squares[t] += squares[t + h];
    }
    __syncthreads();
    if (t == 0) {
      const T head = a[k + k * ld];
      const R below = scale * sqrt(squares[0]);
      T tau(0), factor(0);
      if (below != 0 || imaginaryOf(head) != 0) {
        const R norm = hypot(hypot(realOf(head), imaginaryOf(head)), below), beta = realOf(head) > 0 ? -norm : norm;
        tau = divide(T(beta) - head, T(beta));
        factor = divide(T(1), head - T(beta));
        a[k + k * ld] = T(beta);
      }
      taus[k] = tau;
      shared[0] = tau, shared[1] = factor;
    }
    __syncthreads();
    const T tau = shared[0], factor = shared[1];
    if (!(tau == T(0))) {
      for (int i = k + 1 + t; i < m; i += 256) a[i + k * ld] = a[i + k * ld] * factor;
      __syncthreads();
      for (int j = k + 1 + t; j < n; j += 256) {
        T sum = a[k + j * ld];
        for (int i = k + 1; i < m; i++) sum = mad(conj(a[i + k * ld]), a[i + j * ld], sum);
        sum = negative(conj(tau) * sum);
        a[k + j * ld] = a[k + j * ld] + sum;
        for (int i = k + 1; i < m; i++) a[i + j * ld] = mad(a[i + k * ld], sum, a[i + j * ld]);
      }
    }
    __syncthreads();
  }
}

#define FACTOR(T, name) \
  extern "C" __global__ void __launch_bounds__(256) lu_##name(task<T> p, int32_t *pivots, int32_t *info) { lu(p, pivots, info); } \
  extern "C" __global__ void __launch_bounds__(256) permute_##name(task<T> p, const int32_t *pivots) { permute(p, pivots); } \
  extern "C" __global__ void __launch_bounds__(256) unit_##name(task<T> p, int32_t *info) { unit(p, info); } \
  extern "C" __global__ void __launch_bounds__(256) qr_##name(task<T> p) { qr(p); }
