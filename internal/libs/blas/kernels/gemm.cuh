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

// loader is this thread's part of loading the tiles of a matrix, one after the other along
// the sums, into shared memory: L elements that lie a fixed number of rows or columns
// apart. S is the tile's extent across the sums, D along them, and pitch that of a row of
// shared memory.
template <class In, class Acc, int S, int D, int threads, int pitch> struct loader {
  static constexpr int L = S * D / threads;
  const In *at;         // the first element of the next tile
  int64_t next, step;   // elements from one to the next, and from tile to tile
  int to, toNext;       // the first one's place in the tile, and elements to the next one's
  int left, leftNext;   // terms of the sums from the first one on, and how many the next has less
  uint32_t inside;      // which of them lie in the matrix, as far as the direction across is concerned
  bool conjugated;
  Acc values[L];

  // along says that memory is contiguous along the sums.
  __device__ loader(const In *from, int64_t ld, bool along, bool conjugated, int s0, int s, int k) : conjugated(conjugated) {
    const int t = threadIdx.x, sAt = along ? t / D : t % S, kAt = along ? t % D : t / S;
    const int ds = along ? threads / D : 0, dk = along ? 0 : threads / S;
    at = from + (along ? (s0 + sAt) * ld + kAt : s0 + sAt + kAt * ld);
    next = (along ? ds : dk) * ld, step = along ? D : D * ld;
    to = kAt * pitch + sAt, toNext = dk * pitch + ds;
    left = k - kAt, leftNext = dk;
    inside = 0;
#pragma unroll
    for (int i = 0; i < L; i++) inside |= (s0 + sAt + i * ds < s ? 1u : 0) << i;
  }

  __device__ void load() {
#pragma unroll
    for (int i = 0; i < L; i++) {
      values[i] = Acc(0);
      if ((inside >> i & 1) && left > i * leftNext) values[i] = get<Acc>(at[i * next]);
    }
    at += step, left -= D;
  }

  __device__ void store(Acc *tile) {
#pragma unroll
    for (int i = 0; i < L; i++) tile[to + i * toNext] = conjugated ? conj(values[i]) : values[i];
  }
};

// gemm computes a tile of BM x BN elements in each block. A thread has TM x TN of
// them: groups of VM x VN that lie side by side, a fraction of the tile apart, so that a warp
// reads contiguous rows of shared memory. The next BK terms are loaded into registers
// while the present ones are multiplied.
template <class In, class Out, class Acc, int BM, int BN, int BK, int TM, int TN>
__device__ inline void gemm(const product<In, Out, Acc> &p) {
  constexpr int VM = TM < 4 ? TM : 4, VN = TN < 4 ? TN : 4; // elements that lie side by side
  constexpr int XM = BM / TM, XN = BN / TN, threads = XM * XN;
  constexpr int pad = 16 / sizeof(Acc) < 1 ? 1 : 16 / sizeof(Acc);
  __shared__ __align__(16) Acc sa[2][BK][BM + pad], sb[2][BK][BN + pad];

  const int t = threadIdx.x, batch = p.first + blockIdx.z;
  Out *c = p.c.batch(batch);
  const int row0 = blockIdx.x * BM, col0 = blockIdx.y * BN;

  // A warp covers 8 x 4 threads of the tile where that fits.
  constexpr int WM = XM < 8 ? XM : 8, WN = 32 / WM;
  const int lane = t % 32, warp = t / 32;
  const int tm = (warp % (XM / WM)) * WM + lane % WM, tn = (warp / (XM / WM)) * WN + lane / WM;

  Acc sum[TM][TN];
#pragma unroll
  for (int i = 0; i < TM; i++)
#pragma unroll
    for (int j = 0; j < TN; j++) sum[i][j] = Acc(0);

  const Acc alpha = p.alpha.get(), beta = p.beta.get();
  if (!(alpha == Acc(0)) && p.k > 0) { // otherwise A and B are not read
    loader<In, Acc, BM, BK, threads, BM + pad> a(p.a.batch(batch), p.a.ld, p.opA != N, p.opA == CONJUGATED, row0, p.m, p.k);
    loader<In, Acc, BN, BK, threads, BN + pad> b(p.b.batch(batch), p.b.ld, p.opB == N, p.opB == CONJUGATED, col0, p.n, p.k);
    a.load(), b.load();
    a.store(sa[0][0]), b.store(sb[0][0]);
    __syncthreads();
    int now = 0;
    for (int k0 = 0; k0 < p.k; k0 += BK) {
      const bool more = k0 + BK < p.k;
      if (more) a.load(), b.load();
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
      now ^= 1;
      if (more) a.store(sa[now][0]), b.store(sb[now][0]);
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
        Out *to = c + row + col * (int64_t)p.c.ld;
        Acc v = alpha * sum[i][j];
        if (!(beta == Acc(0))) v = mad(beta, get<Acc>(*to), v);
        *to = put<Out>(v);
      }
    }
  }
}

// Each pair of types has a large and a small tile: BM, BN, BK, TM, TN.
#define GEMM(name, In, Out, Acc, threads, ...) \
  extern "C" __global__ void __launch_bounds__(threads) name(product<In, Out, Acc> p) { gemm<In, Out, Acc, __VA_ARGS__>(p); }
