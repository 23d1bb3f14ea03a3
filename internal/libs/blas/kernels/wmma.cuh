// C = alpha * op(A) * op(B) + beta * C of f16 with the tensor cores of compute capability
// 7.x, sums in f32.
#pragma once
#include <mma.h>

#include "tensor.cuh"

// staged is a tile in shared memory, as it lies in memory: S elements across and D along
// the sums' direction, which is the contiguous one if along says so. Rows are 16 bytes
// longer than they need be, against bank conflicts.
template <int S, int D, bool along, int threads> struct staged {
  static constexpr int ld = (along ? D : S) + 8, size = (along ? S : D) * ld, V = 8, n = S * D / V / threads;
  uint4 next[n]; // this thread's part of the next tile

  static __device__ uint32_t half(const __half *at) {
    uint32_t v;
    asm("{ .reg .b16 h; ld.b16 h, [%1]; cvt.u32.u16 %0, h; }" : "=r"(v) : "l"(at) : "memory");
    return v;
  }

  // load reads the tile whose first element across is s0 and along k0, of a matrix with s
  // and k elements.
  __device__ void load(const __half *from, int64_t columns, int s0, int s, int k0, int k, bool aligned) {
#pragma unroll
    for (int i = 0; i < n; i++) {
      const int e = (i * threads + threadIdx.x) * V, row = e / (ld - 8), at = e % (ld - 8);
      const int r = (along ? s0 : k0) + row, c = (along ? k0 : s0) + at;
      const int left = r < (along ? s : k) ? (along ? k : s) - c : 0;
      const __half *place = from + r * columns + c;
      if (aligned && left >= V) {
        next[i] = *(const uint4 *)place;
      } else {
        // As words: the compiler would take the vectors above apart, and so wait for them.
        uint32_t v[V / 2];
#pragma unroll
        for (int q = 0; q < V; q += 2) v[q / 2] = (q < left ? half(place + q) : 0) | (q + 1 < left ? half(place + q + 1) : 0) << 16;
        next[i] = make_uint4(v[0], v[1], v[2], v[3]);
      }
    }
  }
  __device__ void store(__half *to) const {
#pragma unroll
    for (int i = 0; i < n; i++) {
      const int e = (i * threads + threadIdx.x) * V;
      *(uint4 *)(to + e / (ld - 8) * ld + e % (ld - 8)) = next[i];
    }
  }
};

// wmmaTile computes a tile of BM x BN elements with WM x WN warps. The next BK terms are loaded
// while the present ones are multiplied.
template <bool aAlong, bool bAlong, int BM, int BN, int BK, int WM, int WN>
__device__ inline void wmmaTile(const product<__half, void, float> &p, int out) {
  using namespace nvcuda::wmma;
  using LayoutA = typename std::conditional<aAlong, row_major, col_major>::type;
  using LayoutB = typename std::conditional<bAlong, col_major, row_major>::type;
  constexpr int threads = 32 * WM * WN, MI = BM / WM / 16, NI = BN / WN / 16;
  using TA = staged<BM, BK, aAlong, threads>;
  using TB = staged<BN, BK, bAlong, threads>;
  __shared__ __align__(16) __half sa[2][TA::size], sb[2][TB::size];
  const work w(p);
  const int batch = p.first + blockIdx.z, row0 = w.x * BM, col0 = w.y * BN;
  const __half *a = p.a.batch(batch), *b = p.b.batch(batch);
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, wm = warp % WM * (BM / WM), wn = warp / WM * (BN / WN);

  fragment<accumulator, 16, 16, 16, float> sum[MI][NI];
#pragma unroll
  for (int i = 0; i < MI; i++)
#pragma unroll
    for (int j = 0; j < NI; j++)
#pragma unroll
      for (int v = 0; v < 8; v++) sum[i][j].x[v] = 0;

  const float alpha = p.alpha.get(), beta = p.beta.get();
  const int to = alpha == 0 ? w.from : w.to;
  TA ta;
  TB tb;
  int now = 0;
  if (w.from < to) {
    ta.load(a, p.a.ld, row0, p.m, w.from, to, p.aligned), tb.load(b, p.b.ld, col0, p.n, w.from, to, p.aligned);
    ta.store(sa[0]), tb.store(sb[0]);
    __syncthreads();
  }
  for (int k0 = w.from; k0 < to; k0 += BK) {
    const bool more = k0 + BK < to;
    if (more) ta.load(a, p.a.ld, row0, p.m, k0 + BK, to, p.aligned), tb.load(b, p.b.ld, col0, p.n, k0 + BK, to, p.aligned);
#pragma unroll
    for (int k = 0; k < BK; k += 16) {
      fragment<matrix_a, 16, 16, 16, __half, LayoutA> fa[MI];
      fragment<matrix_b, 16, 16, 16, __half, LayoutB> fb[NI];
#pragma unroll
      for (int i = 0; i < MI; i++) load_matrix_sync(fa[i], sa[now] + (aAlong ? (wm + i * 16) * TA::ld + k : k * TA::ld + wm + i * 16), TA::ld);
#pragma unroll
      for (int j = 0; j < NI; j++) load_matrix_sync(fb[j], sb[now] + (bAlong ? (wn + j * 16) * TB::ld + k : k * TB::ld + wn + j * 16), TB::ld);
#pragma unroll
      for (int i = 0; i < MI; i++)
#pragma unroll
        for (int j = 0; j < NI; j++) mma_sync(sum[i][j], fa[i], fb[j], sum[i][j]);
    }
    if (more) ta.store(sa[now ^ 1]), tb.store(sb[now ^ 1]);
    now ^= 1;
    __syncthreads();
  }

  // Each warp passes its sums through shared memory, 16 x 16 at a time; a thread has V rows
  // of a column.
  static_assert(sizeof sa >= threads / 32 * 1024, "room for the sums of all warps");
  constexpr int V = 8;
  float *sums = (float *)sa + warp * 256;
  auto write = [&](auto *c) {
    using Out = typename std::remove_pointer<decltype(c)>::type;
    constexpr int fit = 16 / sizeof(Out), most = fit < V ? fit : V; // elements that one instruction writes
    const int row = row0 + wm + lane % 2 * V, col = col0 + wn + lane / 2;
    const float *from = sums + lane * V;
    const int64_t ld = p.c.ld;
    c += row + col * ld;
    const bool fast = beta == 0 && row0 + BM <= p.m && col0 + BN <= p.n && ((uintptr_t)c | ld * sizeof(Out)) % 16 == 0;
#pragma unroll
    for (int i = 0; i < MI; i++)
#pragma unroll
      for (int j = 0; j < NI; j++) {
        store_matrix_sync(sums, sum[i][j], 16, mem_col_major);
        __syncwarp();
        Out *to = c + i * 16 + j * 16 * ld;
        if (fast) {
          float r[V];
          copy<V>(r, from);
          Out o[V];
#pragma unroll
          for (int v = 0; v < V; v++) o[v] = put<Out>(alpha * r[v]);
#pragma unroll
          for (int v = 0; v < V; v += most) store<most>(to + v, o + v);
        } else if (col + j * 16 < p.n) {
#pragma unroll 1
          for (int v = 0; v < V && row + i * 16 + v < p.m; v++) {
            const float r = alpha * from[v];
            to[v] = put<Out>(beta == 0 ? r : fmaf(beta, get<float>(to[v]), r));
          }
        }
        __syncwarp();
      }
  };
  if (w.piece >= 0) {
    float *c = p.sums + w.piece * (int64_t)(BM * BN) + wm + wn * BM;
#pragma unroll
    for (int i = 0; i < MI; i++)
#pragma unroll
      for (int j = 0; j < NI; j++) store_matrix_sync(c + i * 16 + j * 16 * BM, sum[i][j], BM, mem_col_major);
    return;
  }
  if (out == OUT_F32) write(p.c.template batch<float>(batch));
  if (out == OUT_F16) write(p.c.template batch<__half>(batch));
}

#define WMMA1(name, aAlong, bAlong, BM, BN, BK, WM, WN) \
  extern "C" __global__ void __launch_bounds__(32 * WM * WN) name##_##BM##x##BN(product<__half, void, float> p, int out) { \
    wmmaTile<aAlong, bAlong, BM, BN, BK, WM, WN>(p, out); \
  }
#define WMMA(...) \
  WMMA1(wmma_f16_nn, false, true, __VA_ARGS__) \
  WMMA1(wmma_f16_nt, false, false, __VA_ARGS__) \
  WMMA1(wmma_f16_tn, true, true, __VA_ARGS__) \
  WMMA1(wmma_f16_tt, true, false, __VA_ARGS__)
