// C = alpha * op(A) * op(B) + beta * C in f32 on the ordinary units, from compute capability
// 8.0 on, for aligned columns: tiles reach shared memory without passing through registers.
#pragma once
#include "gemm.cuh"

// panel is a part of a matrix in shared memory: 128 elements across the sums' direction, D
// along it, as they lie in memory: in rows of D if memory is contiguous along, otherwise in
// rows of 128. 16 bytes after each row keep loads free of bank conflicts.
template <bool along> struct panel {
  static constexpr int S = 128, D = 16, V = 4;
  static constexpr int pitch = ((along ? D : S) + V) * 4, bytes = (along ? S : D) * pitch; // in bytes

  // A thread has two copies of 16 bytes in each panel.
  static constexpr int threads = 256, chunks = (along ? D : S) / V, apart = threads / chunks;
  uint64_t at;        // the first one's source
  int64_t next, step; // bytes to the second one, and to the next panel
  int to;             // the first one's place
  int across, ahead;  // elements from the first one to the matrix's end across, and from the panel's beginning to it along
  int size[2];        // bytes to copy, the others are zero

  __device__ panel(const float *from, int64_t ld, int s0, int s, int k0) {
    const int row = threadIdx.x / chunks, e = threadIdx.x % chunks * V, sAt = along ? row : e;
    ahead = along ? e : row, across = s - s0 - sAt;
    at = __cvta_generic_to_global(from + (along ? (s0 + sAt) * ld + k0 + ahead : s0 + sAt + (k0 + ahead) * ld));
    next = apart * ld * 4, step = (along ? D : D * ld) * 4;
    to = row * pitch + e * 4;
    limit(D);
  }

  // limit says how many elements there are along.
  __device__ __forceinline__ void limit(int left) {
#pragma unroll
    for (int i = 0; i < 2; i++) {
      const int n = along ? (i * apart < across ? left - ahead : 0) : (i * apart < left - ahead ? across : 0);
      size[i] = min(max(n, 0), V) * 4;
    }
  }

  __device__ __forceinline__ void start(uint32_t place) {
#pragma unroll
    for (int i = 0; i < 2; i++)
      asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(place + to + i * apart * pitch), "l"(at + i * next), "r"(size[i]) : "memory");
    at += step;
  }
};

// fetch4 and fetch1 load factors from a place in shared memory. The compiler neither moves nor splits these loads.
template <int at> __device__ __forceinline__ void fetch4(float &a, float &b, float &c, float &d, uint32_t from) {
  asm volatile("ld.shared.v4.f32 {%0, %1, %2, %3}, [%4+%5];" : "+f"(a), "+f"(b), "+f"(c), "+f"(d) : "r"(from), "n"(at) : "memory");
}
template <int at> __device__ __forceinline__ void fetch1(float &to, uint32_t from) {
  asm volatile("ld.shared.f32 %0, [%1+%2];" : "+f"(to) : "r"(from), "n"(at) : "memory");
}

// skip takes a number of a register and the time of an instruction, and reads no register.
__device__ __forceinline__ void skip() {
  int none;
  asm volatile("mov.b32 %0, 0;" : "=r"(none));
}

// gap leaves the ports of the registers free for a moment, in which loads read their
// addresses: products in a row keep them busy.
__device__ __forceinline__ void gap() {
  skip();
  asm volatile("{ .reg .pred p; setp.eq.u32 p, 0, 1; }");
  skip();
}

// position is where the i-th of a thread's T elements in a direction lies in a tile, which X threads share: groups of
// V lie side by side, a fraction of the tile apart, then come those that are left.
template <int T, int X, int V> __device__ constexpr int position(int thread, int i) {
  constexpr int whole = T / V * V;
  return i < whole ? i / V * (X * V) + thread * V + i % V : whole * X + thread * (T - whole) + i - whole;
}

// write writes the sums of a thread to elements of C, columns below n. It has few branches, since
// each target has to be fetched. Groups of VM rows are aligned.
template <bool add, int BM, int BN, int TM, int TN, int VM, int VN>
__device__ __forceinline__ void write(float *c, int64_t ld, int n, const float (&sum)[TM][TN], float alpha, float beta, int tm, int tn) {
  typedef float vector __attribute__((ext_vector_type(VM)));
#pragma unroll
  for (int j = 0; j < TN; j++) {
    const int col = position<TN, BN / TN, VN>(tn, j);
    if (col >= n) return;
#pragma unroll
    for (int i = 0; i < TM; i += VM) {
      float *to = c + position<TM, BM / TM, VM>(tm, i) + col * ld;
      vector v = {};
      if (add) v = *(vector *)to;
#pragma unroll
      for (int e = 0; e < VM; e++) v[e] = add ? fmaf(beta, v[e], alpha * sum[i + e][j]) : alpha * sum[i + e][j];
      *(vector *)to = v;
    }
  }
}

// finish writes the sums of a thread: a piece for total to add, or elements of C.
template <int BM, int BN, int TM, int TN, int VM, int VN>
__device__ __forceinline__ void finish(const product<float, float, float> &p, const work &w, const float (&sum)[TM][TN], float alpha, float beta, int batch, int tm, int tn) {
  if (w.piece >= 0) return write<false, BM, BN, TM, TN, VM, VN>(p.sums + w.piece * (int64_t)(BM * BN), BM, BN, sum, 1, 0, tm, tn);
  const int row0 = w.x * BM, col0 = w.y * BN;
  const int64_t ld = p.c.ld;
  float *c = p.c.batch(batch) + row0 + col0 * ld;
  if (row0 + BM <= p.m && ((uintptr_t)c | ld * 4) % (VM * 4) == 0) {
    if (beta == 0) write<false, BM, BN, TM, TN, VM, VN>(c, ld, p.n - col0, sum, alpha, beta, tm, tn);
    else write<true, BM, BN, TM, TN, VM, VN>(c, ld, p.n - col0, sum, alpha, beta, tm, tn);
    return;
  }
#pragma unroll
  for (int j = 0; j < TN; j++)
#pragma unroll
    for (int i = 0; i < TM; i++) {
      const int row = position<TM, BM / TM, VM>(tm, i), col = position<TN, BN / TN, VN>(tn, j);
      float *to = c + row + col * ld;
      if (row0 + row < p.m && col0 + col < p.n) *to = beta == 0 ? alpha * sum[i][j] : fmaf(beta, *to, alpha * sum[i][j]);
    }
}

// async computes a tile of 128 x 104 in each block. Four of its eight warps multiply half of the
// terms of each panel, and the others the other half. A thread has 8 x 13 elements; four
// terms of a column of them are added at a time.
template <bool aAlong, bool bAlong> __device__ __forceinline__ void async(const product<float, float, float> &p) {
  constexpr int BM = 128, BN = 104, TM = 8, TN = 13, XM = 16, XN = 8, stages = 3, quad = 4;
  using PA = panel<aAlong>;
  using PB = panel<bAlong>;
  constexpr int VM = aAlong ? 1 : 4, VN = bAlong ? 1 : 4, size = PA::bytes + PB::bytes;
  constexpr int buffers = bAlong ? 3 : 2; // of factors of B; with three the last column has one of its own
  extern __shared__ __align__(16) char shared[];

  const int batch = p.first + blockIdx.z;
  const work w(p);
  const int row0 = w.x * BM, col0 = w.y * BN;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32 % 4, half = threadIdx.x / 128;
  const int tm = warp % 2 * 8 + lane % 8, tn = warp / 2 * 4 + lane / 8;

  const float alpha = p.alpha.get(), beta = p.beta.get();
  int left = alpha == 0 ? 0 : w.to - w.from; // terms that are not yet copied; with zero A and B are not read
  int steps = max(1, (left + PA::D - 1) / PA::D);
  PA a(p.a.batch(batch), p.a.ld, row0, p.m, w.from);
  PB b(p.b.batch(batch), p.b.ld, col0, min(p.n, col0 + BN), w.from);
  const uint32_t base = (uint32_t)__cvta_generic_to_shared(shared), last = base + (stages - 1) * size;
  uint32_t put = base; // where the next panels go
  auto copy = [&]() __attribute__((always_inline)) {
    if (left < PA::D) a.limit(left), b.limit(left);
    left -= PA::D;
    a.start(put), b.start(put + PA::bytes);
    put = put == last ? base : put + size;
  };
#pragma unroll 1
  for (int i = 0; i < stages - 1; i++) copy();
  // All registers of the products, by even and odd numbers, so that two products in a row
  // read three registers of each bank: rows of A alternate, columns of B too, and sums are
  // in the other bank than their column.
  float fa[2][quad][TM], fb[buffers][quad][VN], sum[TM][TN];
  unroll<104>([&](auto n) __attribute__((always_inline)) {
    unroll<2>([&](auto odd) __attribute__((always_inline)) {
      constexpr int sums = odd ? 56 : 48, a = n - sums, b = a - 32, bs = bAlong ? (odd ? 1 : 2) : 4;
      if constexpr (a < 0) zero(sum[n % TM][n / TM * 2 + 1 - odd]);
      else if constexpr (b < 0) zero(fa[a / 16][a / 4 % 4][a % 4 * 2 + odd]);
      else if constexpr (b < 4 * bs && bAlong) zero(fb[b / 4 * 2 + odd][b % 4][0]);
      else if constexpr (b < 4 * bs) zero(fb[b / 8][b / 2 % 4][b % 2 * 2 + odd]);
      else if constexpr (n < 92) skip();
    });
  });
  // Where this thread's factors begin in a stage, those of the next term or of 4 side by side.
  const int offsetA = aAlong ? tm * PA::pitch + half * 32 : half * 8 * PA::pitch + tm * 16;
  const int offsetB = PA::bytes + (bAlong ? tn * PB::pitch + half * 32 : half * 8 * PB::pitch + tn * 16);
  const int offsetLast = PA::bytes + half * 8 * PB::pitch + (BN - XN + tn) * 4;
  uint32_t fromA = base + offsetA, fromB = base + offsetB, fromLast = base + offsetLast;
  // loadA loads the n-th of the 8 vectors of four terms, and loadB those of a column, or of which it is.
  auto loadA = [&](auto q, auto n) __attribute__((always_inline)) {
    if constexpr (aAlong) {
      fetch4<n * XM * PA::pitch + q * 16>(fa[q][0][n], fa[q][1][n], fa[q][2][n], fa[q][3][n], fromA);
    } else {
      constexpr int k = n / 2, i = n % 2 * 4;
      fetch4<(q * 4 + k) * PA::pitch + i * XM * 4>(fa[q][k][i], fa[q][k][i + 1], fa[q][k][i + 2], fa[q][k][i + 3], fromA);
    }
  };
  auto loadB = [&](auto q, auto j, auto k) __attribute__((always_inline)) {
    if constexpr (bAlong) {
      auto &f = fb[j == TN - 1 ? 2 : j % 2];
      if constexpr (k == 0) fetch4<j * XN * PB::pitch + q * 16>(f[0][0], f[1][0], f[2][0], f[3][0], fromB);
    } else {
      auto &f = fb[j / 4 % 2][k];
      if constexpr (j == TN - 1) fetch1<(q * 4 + k) * PB::pitch>(f[0], fromLast);
      else fetch4<(q * 4 + k) * PB::pitch + j * XN * 4>(f[0], f[1], f[2], f[3], fromB);
    }
  };
  asm volatile("cp.async.wait_all;" ::: "memory");
  __syncthreads();
  using zeroth = std::integral_constant<int, 0>;
  unroll<8>([&](auto n) __attribute__((always_inline)) { loadA(zeroth(), n); });
  unroll<4>([&](auto k) __attribute__((always_inline)) { loadB(zeroth(), zeroth(), k); });
  uint32_t now = base;
  do {
    unroll<2>([&](auto q) __attribute__((always_inline)) {
      using other = std::integral_constant<int, 1 - q>;
      if (q == 1) {
        // The panels of the next step have come, and all have left those before this one's.
        asm volatile("cp.async.wait_all;" ::: "memory");
        __syncthreads();
        copy();
        now = now == last ? base : now + size;
        fromA = now + offsetA;
      }
      unroll<TN>([&](auto j) __attribute__((always_inline)) {
        if (q == 1 && j == TN - 1) fromB = now + offsetB, fromLast = now + offsetLast;
        unroll<quad * TM>([&](auto n) __attribute__((always_inline)) {
          constexpr int k = n / TM, i = n % TM;
          constexpr bool end = j == TN - 1;
          // The factors of the next column, and of four later terms.
          if constexpr (i == 0) {
            if constexpr (end) loadB(other(), zeroth(), std::integral_constant<int, k>());
            else if constexpr (bAlong) loadB(q, std::integral_constant<int, j + 1>(), std::integral_constant<int, k>());
            else if constexpr (k == 0) loadB(q, std::integral_constant<int, (j / 4 + 1) * 4>(), std::integral_constant<int, j % 4>());
            if constexpr (k == 2 && j < 8) loadA(other(), std::integral_constant<int, j & 7>());
          }
          if constexpr (i == 4 && (k == 0 || k == 2 && j < 8 || end && !bAlong)) gap();
          accumulate(sum[i][j], fa[q][k][i], fb[bAlong ? (end ? 2 : j % 2) : j / 4 % 2][k][bAlong ? 0 : j % 4]);
        });
      });
    });
  } while (--steps > 0);
  asm volatile("cp.async.wait_all;" ::: "memory");
  __syncthreads();
  // The second half of the sums passes through shared memory.
  constexpr int V = 4;
  float *to = (float *)shared + threadIdx.x % 128 * V;
  if (half == 1) {
    unroll<TM * TN / V>([&](auto n) __attribute__((always_inline)) {
      const float v[V] = {sum[n % 2 * V][n / 2], sum[n % 2 * V + 1][n / 2], sum[n % 2 * V + 2][n / 2], sum[n % 2 * V + 3][n / 2]};
      store<V>(to + n * 128 * V, v);
    });
  }
  __syncthreads();
  if (half == 1) return;
  unroll<TM * TN / V>([&](auto n) __attribute__((always_inline)) {
    float v[V];
    ::copy<V>(v, to + n * 128 * V);
    for (int e = 0; e < V; e++) sum[n % 2 * V + e][n / 2] += v[e];
  });
  finish<BM, BN, TM, TN, VM, VN>(p, w, sum, alpha, beta, batch, tm, tn);
}

#define ASYNC1(name, aAlong, bAlong) \
  extern "C" __global__ void __launch_bounds__(256) name##_128x104(product<float, float, float> p) { async<aAlong, bAlong>(p); }
#define ASYNC(name) \
  ASYNC1(name##_nn, false, true) \
  ASYNC1(name##_nt, false, false) \
  ASYNC1(name##_tn, true, true) \
  ASYNC1(name##_tt, true, false)
