// C = alpha * A * B + beta * C for matrices of all structures, and what is done to their
// elements one by one.
#pragma once
#include "operand.cuh"

// multiply computes a tile of BM x BN elements in each block of 256 threads, BK terms at a
// time. Terms that a triangular operand makes zero are left out, tile by tile. Of C, the
// stored triangle is computed. BOTH adds the product with A and B exchanged and transposed;
// with CONJUGATE their elements, and alpha, are conjugated in that.
template <class T, int BM, int BN, int BK> __device__ inline void multiply(const task<T> &p) {
  constexpr int TM = BM / 16, TN = BN / 16;
  __shared__ __align__(16) char bytesA[BK * (BM + 1) * sizeof(T)], bytesB[BK * (BN + 1) * sizeof(T)];
  T(*sa)[BM + 1] = (T(*)[BM + 1]) bytesA, (*sb)[BN + 1] = (T(*)[BN + 1]) bytesB;
  const int t = threadIdx.x, batch = p.first + blockIdx.z, row0 = blockIdx.x * BM, col0 = blockIdx.y * BN;
  if (p.c.kind != GENERAL && (p.c.upper ? row0 >= col0 + BN : col0 >= row0 + BM)) return;
  const T *a = p.a.base(batch), *b = p.b.base(batch);
  T *c = p.c.base(batch);
  const T alpha = p.alpha.template get<T>(), beta = p.beta.template get<T>();

  int from = 0, to = alpha == T(0) ? 0 : p.k;
  if (p.a.kind == TRIANGULAR) {
    if (p.a.upper == p.a.transposed) to = min(to, row0 + BM);
    else from = row0 / BK * BK;
  }
  if (p.b.kind == TRIANGULAR) {
    if (p.b.upper == p.b.transposed) from = col0 / BK * BK;
    else to = min(to, col0 + BN);
  }
  T sum[TM][TN];
#pragma unroll
  for (int i = 0; i < TM; i++)
#pragma unroll
    for (int j = 0; j < TN; j++) sum[i][j] = T(0);

  const int passes = p.flags & BOTH ? 2 : 1;
  for (int pass = 0; pass < passes; pass++) {
    const bool swapped = pass == 1, conjugate = swapped && p.flags & CONJUGATE;
    const T factor = conjugate ? conj(alpha) : alpha;
    const bool acrossA = swapped ? p.b.transposed : !p.a.transposed, acrossB = swapped ? !p.a.transposed : p.b.transposed;
    for (int k0 = from; k0 < to; k0 += BK) {
      for (int e = t; e < BM * BK; e += 256) {
        const int r = acrossA ? e % BM : e / BK, q = acrossA ? e / BM : e % BK, i = row0 + r, k = k0 + q;
        T v(0);
        if (i < p.m && k < p.k) v = swapped ? p.b.template get<T>(b, k, i) : p.a.template get<T>(a, i, k);
        sa[q][r] = factor * (conjugate ? conj(v) : v);
      }
      for (int e = t; e < BN * BK; e += 256) {
        const int r = acrossB ? e % BN : e / BK, q = acrossB ? e / BN : e % BK, j = col0 + r, k = k0 + q;
        T v(0);
        if (j < p.n && k < p.k) v = swapped ? p.a.template get<T>(a, j, k) : p.b.template get<T>(b, k, j);
        sb[q][r] = conjugate ? conj(v) : v;
      }
      __syncthreads();
#pragma unroll
      for (int q = 0; q < BK; q++)
#pragma unroll
        for (int i = 0; i < TM; i++)
#pragma unroll
          for (int j = 0; j < TN; j++) sum[i][j] = mad(sa[q][t % 16 + 16 * i], sb[q][t / 16 + 16 * j], sum[i][j]);
      __syncthreads();
    }
  }
#pragma unroll
  for (int j = 0; j < TN; j++)
#pragma unroll
    for (int i = 0; i < TM; i++) {
      const int row = row0 + t % 16 + 16 * i, col = col0 + t / 16 + 16 * j;
      if (row >= p.m || col >= p.n || !p.c.stored(row, col)) continue;
      T &at = c[row + col * p.c.ld];
      T v = sum[i][j];
      if (!(beta == T(0))) v = mad(beta, p.c.kind == HERMITIAN && row == col ? onlyReal(at) : at, v);
      at = p.c.kind == HERMITIAN && row == col ? onlyReal(v) : v;
    }
}

// add is C = alpha * op(A) + beta * op(B). Transposed tiles pass through shared memory.
template <class T> __device__ inline void add(const task<T> &p) {
  __shared__ __align__(16) char bytes[2 * 32 * 33 * sizeof(T)];
  T(*tiles)[32][33] = (T(*)[32][33])bytes;
  const int x = threadIdx.x % 32, y = threadIdx.x / 32, batch = p.first + blockIdx.z, row0 = blockIdx.x * 32, col0 = blockIdx.y * 32;
  const T alpha = p.alpha.template get<T>(), beta = p.beta.template get<T>();
  const bool useA = !(alpha == T(0)), useB = !(beta == T(0));
  const T *a = p.a.base(batch), *b = p.b.base(batch);
  T *c = p.c.base(batch);
  auto stage = [&](const operand<const T> &m, const T *from, T(*to)[33]) {
    for (int q = y; q < 32; q += 8)
      if (row0 + q < p.m && col0 + x < p.n) to[q][x] = from[col0 + x + (row0 + q) * m.ld];
  };
  auto value = [&](const operand<const T> &m, const T *from, T(*staged)[33], int q) {
    const T v = m.transposed ? staged[x][q] : from[row0 + x + (col0 + q) * m.ld];
    return m.conjugated ? conj(v) : v;
  };
  if (useA && p.a.transposed) stage(p.a, a, tiles[0]);
  if (useB && p.b.transposed) stage(p.b, b, tiles[1]);
  __syncthreads();
  for (int q = y; q < 32; q += 8) {
    if (row0 + x >= p.m || col0 + q >= p.n) continue;
    T v(0);
    if (useA) v = alpha * value(p.a, a, tiles[0], q);
    if (useB) v = mad(beta, value(p.b, b, tiles[1], q), v);
    c[row0 + x + (col0 + q) * p.c.ld] = v;
  }
}

// elements calls f(row, column) for those of this thread: a block has 32 x 32.
template <class T, class F> __device__ inline void elements(const task<T> &p, F f) {
  const int i = blockIdx.x * 32 + threadIdx.x % 32;
  for (int q = threadIdx.x / 32; q < 32; q += 8)
    if (i < p.m && blockIdx.y * 32 + q < p.n) f(i, blockIdx.y * 32 + q);
}

// scale multiplies the rows of A (flags: the columns) by the elements of a vector.
template <class T> __device__ inline void scale(const task<T> &p) {
  const int batch = p.first + blockIdx.z;
  const T *a = p.a.base(batch), *x = p.b.base(batch);
  T *c = p.c.base(batch);
  elements(p, [&](int i, int j) { c[i + j * p.c.ld] = a[i + j * p.a.ld] * x[(p.flags ? j : i) * p.b.ld]; });
}

// move copies the stored elements of A to C, which may store them in another way.
template <class T> __device__ inline void move(const task<T> &p) {
  const int batch = p.first + blockIdx.z;
  const T *a = p.a.base(batch);
  T *c = p.c.base(batch);
  elements(p, [&](int i, int j) {
    if (p.c.stored(i, j)) c[p.c.index(i, j)] = a[p.a.index(i, j)];
  });
}

// clear makes C zero where alpha is.
template <class T> __device__ inline void clear(const task<T> &p) {
  if (!(p.alpha.template get<T>() == T(0))) return;
  T *c = p.c.base(p.first + blockIdx.z);
  elements(p, [&](int i, int j) { c[i + j * p.c.ld] = T(0); });
}

#define STRUCTURED(T, name) \
  extern "C" __global__ void __launch_bounds__(256) product_64x64_##name(task<T> p) { multiply<T, 64, 64, 8>(p); } \
  extern "C" __global__ void __launch_bounds__(256) product_32x32_##name(task<T> p) { multiply<T, 32, 32, 8>(p); } \
  extern "C" __global__ void __launch_bounds__(256) add_##name(task<T> p) { add(p); } \
  extern "C" __global__ void __launch_bounds__(256) scale_##name(task<T> p) { scale(p); } \
  extern "C" __global__ void __launch_bounds__(256) move_##name(task<T> p) { move(p); } \
  extern "C" __global__ void __launch_bounds__(256) clear_##name(task<T> p) { clear(p); }
