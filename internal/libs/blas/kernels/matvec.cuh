// y = alpha * op(A) * x + beta * y, for matrices of all structures, and A + alpha * x * y^T.
// m is the size of y, n that of x.
#pragma once
#include "operand.cuh"

template <class Out, class Acc, class In> __device__ inline void finish(const task<In, Out> &p, Out *y, int i, Acc sum) {
  const Acc beta = p.beta.template get<Acc>();
  Out *to = y + i * p.c.ld;
  Acc v = p.alpha.template get<Acc>() * sum;
  if (!(beta == Acc(0))) v = mad(beta, get<Acc>(*to), v);
  *to = put<Out>(v);
}

// element is an element of op(A), which lies at row and column of A unless that has a
// structure.
template <bool structured, class Acc, class In, class Out>
__device__ inline Acc element(const task<In, Out> &p, const In *a, int i, int j) {
  if (structured) return p.a.template get<Acc>(a, i, j);
  const Acc v = get<Acc>(p.a.transposed ? a[j + i * p.a.ld] : a[i + j * p.a.ld]);
  return p.a.conjugated ? conj(v) : v;
}

// byRows is for matrices whose columns are contiguous: a thread adds up a share of a row,
// and R rows make a block.
template <class In, class Out, class Acc, int R, bool structured> __device__ inline void byRows(const task<In, Out> &p) {
  constexpr int G = 256 / R;
  __shared__ __align__(16) char bytes[256 * sizeof(Acc)];
  Acc *sums = (Acc *)bytes;
  const int t = threadIdx.x, batch = p.first + blockIdx.z, i = blockIdx.x * R + t % R;
  const In *a = p.a.base(batch), *x = p.b.base(batch);
  Acc sum(0);
  if (i < p.m && !(p.alpha.template get<Acc>() == Acc(0)))
    for (int j = t / R; j < p.n; j += G) sum = mad(element<structured, Acc>(p, a, i, j), get<Acc>(x[j * p.b.ld]), sum);
  sums[t] = sum;
  __syncthreads();
  if (t >= R || i >= p.m) return;
  for (int g = 1; g < G; g++) sum = sum + sums[g * R + t];
  finish<Out, Acc>(p, p.c.base(batch), i, sum);
}

// byColumns is for those whose rows are contiguous: W threads add up a row.
template <class In, class Out, class Acc, int W, bool structured> __device__ inline void byColumns(const task<In, Out> &p) {
  __shared__ __align__(16) char bytes[256 * sizeof(Acc)];
  Acc *sums = (Acc *)bytes;
  const int t = threadIdx.x, batch = p.first + blockIdx.z, i = blockIdx.x * (256 / W) + t / W;
  const In *a = p.a.base(batch), *x = p.b.base(batch);
  Acc sum(0);
  if (i < p.m && !(p.alpha.template get<Acc>() == Acc(0)))
    for (int j = t % W; j < p.n; j += W) sum = mad(element<structured, Acc>(p, a, i, j), get<Acc>(x[j * p.b.ld]), sum);
  sums[t] = sum;
  for (int n = W / 2; n > 0; n /= 2) {
    __syncthreads();
    if (t % W < n) sums[t] = sums[t] + sums[t + n];
  }
  if (t % W == 0 && i < p.m) finish<Out, Acc>(p, p.c.base(batch), i, sums[t]);
}

// rank adds alpha * x * y^T to the stored elements of C, and in a symmetric form alpha * y
// * x^T too. In the Hermitian forms what is transposed is conjugated, and so is the second
// alpha.
template <class T> __device__ inline void rank(const task<T> &p) {
  const int i = blockIdx.x * 32 + threadIdx.x % 32, batch = p.first + blockIdx.z;
  const T *x = p.a.base(batch), *y = p.b.base(batch);
  T *c = p.c.base(batch);
  const T alpha = p.alpha.template get<T>();
  const bool conjugate = p.flags & CONJUGATE;
  if (i >= p.m || alpha == T(0)) return;
  for (int q = threadIdx.x / 32; q < 32; q += 8) {
    const int j = blockIdx.y * 32 + q;
    if (j >= p.n || !p.c.stored(i, j)) continue;
    T &to = c[p.c.index(i, j)];
    const T yj = y[j * p.b.ld];
    T v = mad(alpha * x[i * p.a.ld], conjugate ? conj(yj) : yj, to);
    if (p.flags & BOTH) {
      const T xj = x[j * p.a.ld];
      v = mad((conjugate ? conj(alpha) : alpha) * y[i * p.b.ld], conjugate ? conj(xj) : xj, v);
    }
    to = p.c.kind == HERMITIAN && i == j ? onlyReal(v) : v;
  }
}

// Kernels for types of elements: general matrices with few, more and many rows.
#define GEMV1(name, In, Out, Acc, shape, ...) \
  extern "C" __global__ void __launch_bounds__(256) name(task<In, Out> p) { shape<In, Out, Acc, __VA_ARGS__>(p); }
#define GEMV(In, Out, Acc, name) \
  GEMV1(gemv_n8_##name, In, Out, Acc, byRows, 8, false) \
  GEMV1(gemv_n32_##name, In, Out, Acc, byRows, 32, false) \
  GEMV1(gemv_n128_##name, In, Out, Acc, byRows, 128, false) \
  GEMV1(gemv_t32_##name, In, Out, Acc, byColumns, 32, false) \
  GEMV1(gemv_t256_##name, In, Out, Acc, byColumns, 256, false)
#define MATVEC(T, name) \
  GEMV(T, T, T, name##_##name) \
  GEMV1(structured_n_##name, T, T, T, byRows, 32, true) \
  GEMV1(structured_t_##name, T, T, T, byColumns, 32, true) \
  extern "C" __global__ void __launch_bounds__(256) rank_##name(task<T> p) { rank(p); }
