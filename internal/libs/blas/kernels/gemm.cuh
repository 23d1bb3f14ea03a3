// C = alpha * op(A) * op(B) + beta * C of column-major matrices, on the ordinary units.
#pragma once
#include "types.cuh"

// product is the argument of all kernels that multiply matrices: C has m rows and n columns, the sums k terms.
template <class In, class Out, class Acc> struct product {
  int32_t m, n, k;
  int32_t opA, opB;
  int32_t first; // batch of the first z of the grid
  scalar<Acc> alpha, beta;
  matrices<const In> a, b;
  matrices<Out> c;
};

// gemm computes a tile of BM x BN elements in each block. A thread has RM x RN groups of
// 4 x 4 (or VM x VN) elements, which lie a fraction of the tile apart, so that a warp
// reads contiguous rows of shared memory. The next BK terms are loaded into registers
// while the present ones are multiplied.
template <class In, class Out, class Acc, int BM, int BN, int BK, int TM, int TN>
__device__ inline void gemm(const product<In, Out, Acc> &p) {
  constexpr int VM = TM < 4 ? TM : 4, VN = TN < 4 ? TN : 4; // elements that lie side by side
  constexpr int XM = BM / TM, XN = BN / TN, threads = XM * XN;
  constexpr int LA = BM * BK / threads, LB = BN * BK / threads;
  constexpr int pad = 16 / sizeof(Acc) < 1 ? 1 : 16 / sizeof(Acc);
  __shared__ __align__(16) Acc sa[2][BK][BM + pad], sb[2][BK][BN + pad];

  const int t = threadIdx.x, batch = p.first + blockIdx.z;
  const In *a = p.a.batch(batch), *b = p.b.batch(batch);
  Out *c = p.c.batch(batch);
  const int64_t lda = p.a.ld, ldb = p.b.ld, ldc = p.c.ld;
  const int row0 = blockIdx.x * BM, col0 = blockIdx.y * BN;

  // A warp covers 8 x 4 threads of the tile where that fits.
  constexpr int WM = XM < 8 ? XM : 8, WN = 32 / WM;
  const int lane = t % 32, warp = t / 32;
  const int tm = (warp % (XM / WM)) * WM + lane % WM, tn = (warp / (XM / WM)) * WN + lane / WM;

  // Where this thread's loads lie: along the direction in which memory is contiguous.
  Acc la[LA], lb[LB];
  auto load = [&](int k0) {
#pragma unroll
    for (int i = 0; i < LA; i++) {
      const int e = i * threads + t;
      const int r = p.opA == N ? e % BM : e / BK, q = p.opA == N ? e / BM : e % BK;
      const int row = row0 + r, k = k0 + q;
      la[i] = Acc(0);
      if (row < p.m && k < p.k) {
        la[i] = get<Acc>(a[p.opA == N ? row + k * lda : k + row * lda]);
        if (p.opA == CONJUGATED) la[i] = conj(la[i]);
      }
    }
#pragma unroll
    for (int i = 0; i < LB; i++) {
      const int e = i * threads + t;
      const int r = p.opB == N ? e / BK : e % BN, q = p.opB == N ? e % BK : e / BN;
      const int col = col0 + r, k = k0 + q;
      lb[i] = Acc(0);
      if (col < p.n && k < p.k) {
        lb[i] = get<Acc>(b[p.opB == N ? k + col * ldb : col + k * ldb]);
        if (p.opB == CONJUGATED) lb[i] = conj(lb[i]);
      }
    }
  };
  auto store = [&](int to) {
#pragma unroll
    for (int i = 0; i < LA; i++) {
      const int e = i * threads + t;
      sa[to][p.opA == N ? e / BM : e % BK][p.opA == N ? e % BM : e / BK] = la[i];
    }
#pragma unroll
    for (int i = 0; i < LB; i++) {
      const int e = i * threads + t;
      sb[to][p.opB == N ? e % BK : e / BN][p.opB == N ? e / BK : e % BN] = lb[i];
    }
  };

  Acc sum[TM][TN];
#pragma unroll
  for (int i = 0; i < TM; i++)
#pragma unroll
    for (int j = 0; j < TN; j++) sum[i][j] = Acc(0);

  const Acc alpha = p.alpha.get(), beta = p.beta.get();
  const bool needed = !(alpha == Acc(0)); // otherwise A and B are not read
  int now = 0;
  if (needed && p.k > 0) {
    load(0);
    store(0);
    __syncthreads();
    for (int k0 = 0; k0 < p.k; k0 += BK) {
      const bool more = k0 + BK < p.k;
      if (more) load(k0 + BK);
#pragma unroll
      for (int q = 0; q < BK; q++) {
        Acc fa[TM], fb[TN];
#pragma unroll
        for (int i = 0; i < TM; i += VM) copy<VM>(&fa[i], &sa[now][q][i * XM + tm * VM]);
#pragma unroll
        for (int j = 0; j < TN; j += VN) copy<VN>(&fb[j], &sb[now][q][j * XN + tn * VN]);
#pragma unroll
        for (int i = 0; i < TM; i++)
#pragma unroll
          for (int j = 0; j < TN; j++) sum[i][j] = mad(fa[i], fb[j], sum[i][j]);
      }
      if (more) store(now ^ 1);
      now ^= 1;
      __syncthreads();
    }
  }
#pragma unroll
  for (int j = 0; j < TN; j++) {
    const int col = col0 + j / VN * (XN * VN) + tn * VN + j % VN;
#pragma unroll
    for (int i = 0; i < TM; i++) {
      const int row = row0 + i / VM * (XM * VM) + tm * VM + i % VM;
      if (row < p.m && col < p.n) {
        Out *to = c + row + col * ldc;
        Acc v = alpha * sum[i][j];
        if (!(beta == Acc(0))) v = mad(beta, get<Acc>(*to), v);
        *to = put<Out>(v);
      }
    }
  }
}

// Each pair of types has a large and a small tile. LARGE and SMALL are BM, BN, BK, TM, TN.
#define GEMM(name, In, Out, Acc, threads, ...) \
  extern "C" __global__ void __launch_bounds__(threads) name(product<In, Out, Acc> p) { gemm<In, Out, Acc, __VA_ARGS__>(p); }
