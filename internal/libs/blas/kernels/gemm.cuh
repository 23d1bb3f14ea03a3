// C = alpha * op(A) * op(B) + beta * C of column-major matrices, on the ordinary units.
#pragma once
#include <utility>

#include "types.cuh"

// product is the argument of all kernels that multiply matrices: C has m rows and n columns, the sums k terms.
template <class In, class Out, class Acc> struct product {
  int32_t m, n, k;
  int32_t opA, opB;
  int32_t first; // batch of the first z of the grid
  scalar<Acc> alpha, beta;
  matrices<const In> a, b;
  matrices<Out> c;
  // Tiles that would leave SMs idle at the end are divided along the sums. Their pieces go to
  // memory, one after the other, and the kernel total adds them.
  int32_t whole;  // tiles that are not divided: the first ones, by columns of tiles
  int32_t pieces; // of each other tile; 1: no tile is divided, and the grid has the extents of C
  int32_t depth;  // terms of a piece; the last has what is left
  int32_t rows;   // tiles in a column of tiles
  int32_t aligned; // vectors of 16 bytes can load A and B
  Acc *sums;
};

// work is what a block computes: a tile, and which terms of its sums.
struct work {
  int x, y, from, to;
  int piece; // its number, -1 for a tile that is not divided

  template <class P> __device__ work(const P &p) : x(blockIdx.x), y(blockIdx.y), from(0), to(p.k), piece(-1) {
    if (p.pieces > 1) {
      int tile = blockIdx.x;
      if (tile >= p.whole) {
        piece = tile - p.whole, tile = p.whole + piece / p.pieces;
        from = piece % p.pieces * p.depth, to = min(p.k, from + p.depth);
      }
      x = tile % p.rows, y = tile / p.rows;
    }
  }
};

// loader is this thread's part of loading the tiles of a matrix, one after the other along
// the sums, into shared memory: vectors of W elements that lie side by side in memory if the
// tile is whole and aligned, otherwise elements, so that neighbours load neighbours. S is the
// tile's extent across the sums, D along them, and pitch that of a row of shared memory.
template <class In, class Acc, int S, int D, int threads, int pitch> struct loader {
  static constexpr int L = S * D / threads, fit = 16 / sizeof(In), W = L < fit ? L : fit;
  static_assert(threads % (D / W) == 0 && threads % (S / W) == 0 && threads % S == 0 && threads % D == 0, "what a thread loads begins at the same element of a line");
  const In *at;       // the first element of the next tile
  int64_t next, step; // elements from one vector to the next, and from tile to tile
  int apart;          // lines from one vector to the next
  int to, toNext;     // the first one's place in the tile, and elements to the next one's
  int across, left;   // elements from the first one to the end of the matrix, in both directions
  bool along;         // memory is contiguous along the sums
  bool conjugated;
  bool vectors;
  Acc values[L];

  __device__ loader(const In *from, int64_t ld, bool along, bool conjugated, bool aligned, int s0, int s, int k0, int k) : along(along), conjugated(conjugated) {
    vectors = W > 1 && aligned && s - s0 >= S;
    const int width = vectors ? W : 1, line = (along ? D : S) / width, row = threadIdx.x / line, e = threadIdx.x % line * width;
    const int sAt = s0 + (along ? row : e), kAt = along ? e : row;
    apart = threads / line;
    at = from + (along ? sAt * ld + k0 + kAt : sAt + (k0 + kAt) * ld);
    next = apart * ld, step = along ? D : D * ld;
    to = kAt * pitch + sAt - s0, toNext = along ? apart : apart * pitch;
    across = s - sAt, left = k - k0 - kAt;
  }

  // whole says that vectors can load all of the next tile.
  __device__ bool whole() const { return vectors && left >= (along ? W : (L / W - 1) * apart + 1); }

  __device__ __forceinline__ void load(bool whole) {
    if (whole) {
#pragma unroll
      for (int i = 0; i < L; i += W) {
        In v[W];
        memcpy(v, __builtin_assume_aligned(at + i / W * next, W * sizeof(In)), sizeof v);
#pragma unroll
        for (int e = 0; e < W; e++) values[i + e] = get<Acc>(v[e]);
      }
    } else if (vectors) { // the last terms
#pragma unroll
      for (int i = 0; i < L; i++) {
        values[i] = Acc(0);
        if ((along ? i % W : i / W * apart) < left) values[i] = get<Acc>(at[i / W * next + i % W]);
      }
    } else {
#pragma unroll
      for (int i = 0; i < L; i++) {
        values[i] = Acc(0);
        if ((along ? i * apart : 0) < across && (along ? 0 : i * apart) < left) values[i] = get<Acc>(at[i * next]);
      }
    }
    at += step, left -= D;
  }

  __device__ __forceinline__ void store(Acc *tile) {
#pragma unroll
    for (int i = 0; i < L; i++)
      if (conjugated) values[i] = conj(values[i]);
    if (!vectors) {
#pragma unroll
      for (int i = 0; i < L; i++) tile[to + i * toNext] = values[i];
    } else if (along) {
#pragma unroll
      for (int i = 0; i < L; i++) tile[to + i / W * toNext + i % W * pitch] = values[i];
    } else {
#pragma unroll
      for (int i = 0; i < L; i += W) copy<W>(&tile[to + i / W * toNext], &values[i]);
    }
  }
};

// zero sets a sum to zero. Registers are numbered in the order in which they first appear.
template <class T> __device__ inline void zero(T &sum) { sum = T(0); }
__device__ inline void zero(float &sum) { asm volatile("mov.f32 %0, 0f00000000;" : "=f"(sum)); }

// accumulate adds a product to a sum, which stays in its register.
template <class T> __device__ inline void accumulate(T &sum, T a, T b) { sum = mad(a, b, sum); }
__device__ inline void accumulate(float &sum, float a, float b) { asm("fma.rn.f32 %0, %1, %2, %0;" : "+f"(sum) : "f"(a), "f"(b)); }

// unroll calls f with the numbers below n, each a constant.
template <class F, int... i> __device__ __forceinline__ void unrolled(F f, std::integer_sequence<int, i...>) { (f(std::integral_constant<int, i>()), ...); }
template <int n, class F> __device__ __forceinline__ void unroll(F f) { unrolled(f, std::make_integer_sequence<int, n>()); }

// fetch loads numbers from a place in shared memory. The compiler neither moves nor splits these loads.
template <int at> __device__ inline void fetch(float *to, uint32_t from, std::integral_constant<int, 4>) {
  asm volatile("ld.shared.v4.f32 {%0, %1, %2, %3}, [%4+%5];" : "+f"(to[0]), "+f"(to[1]), "+f"(to[2]), "+f"(to[3]) : "r"(from), "n"(at) : "memory");
}
template <int at> __device__ inline void fetch(float *to, uint32_t from, std::integral_constant<int, 2>) {
  asm volatile("ld.shared.v2.f32 {%0, %1}, [%2+%3];" : "+f"(to[0]), "+f"(to[1]) : "r"(from), "n"(at) : "memory");
}
template <int at> __device__ inline void fetch(double *to, uint32_t from, std::integral_constant<int, 2>) {
  asm volatile("ld.shared.v2.f64 {%0, %1}, [%2+%3];" : "=d"(to[0]), "=d"(to[1]) : "r"(from), "n"(at) : "memory");
}
template <int at> __device__ inline void fetch(int *to, uint32_t from, std::integral_constant<int, 4>) {
  asm volatile("ld.shared.v4.b32 {%0, %1, %2, %3}, [%4+%5];" : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3]) : "r"(from), "n"(at) : "memory");
}
template <int at> __device__ inline void fetch(int *to, uint32_t from, std::integral_constant<int, 2>) {
  asm volatile("ld.shared.v2.b32 {%0, %1}, [%2+%3];" : "=r"(to[0]), "=r"(to[1]) : "r"(from), "n"(at) : "memory");
}

// factors loads V elements from a place in shared memory.
template <int V, int at, class T> __device__ inline void factors(T *to, uint32_t from) {
  typedef typename parts<T>::type part;
  constexpr int all = V * parts<T>::count, most = 16 / sizeof(part), n = all < most ? all : most;
  unroll<all / n>([&](auto i) __attribute__((always_inline)) { fetch<at + i * n * (int)sizeof(part)>((part *)to + i * n, from, std::integral_constant<int, n>()); });
}

// gemm computes a tile of BM x BN elements in each block. A thread has TM x TN of
// them: groups of VM x VN that lie side by side, a fraction of the tile apart, so that a warp
// reads contiguous rows of shared memory. The next BK terms are loaded into registers
// while the present ones are multiplied, and the factors of the next term while those of the
// present one are.
template <class In, class Out, class Acc, int BM, int BN, int BK, int TM, int TN>
__device__ inline void gemm(const product<In, Out, Acc> &p) {
  constexpr int VM = TM < 4 ? TM : 4, VN = TN < 4 ? TN : 4; // elements that lie side by side
  constexpr int XM = BM / TM, XN = BN / TN, threads = XM * XN;
  constexpr int pad = 16 / sizeof(Acc) < 1 ? 1 : 16 / sizeof(Acc);
  __shared__ __align__(16) Acc sa[2][BK][BM + pad], sb[2][BK][BN + pad];

  // All registers of the products, in this order.
  Acc fa[2][TM], fb[2][TN], sum[TM][TN];
  unroll<2 * TM>([&](auto n) __attribute__((always_inline)) { zero(fa[n / TM][n % TM]); });
  unroll<2 * TN>([&](auto n) __attribute__((always_inline)) { zero(fb[n / TN][n % TN]); });
  unroll<TM * TN>([&](auto n) __attribute__((always_inline)) { zero(sum[n / TN][n % TN ^ 1]); });

  const int t = threadIdx.x, batch = p.first + blockIdx.z;
  const work w(p);
  const int row0 = w.x * BM, col0 = w.y * BN;

  // A warp covers 8 x 4 threads of the tile where that fits.
  constexpr int WM = XM < 8 ? XM : 8, WN = 32 / WM;
  const int lane = t % 32, warp = t / 32;
  const int tm = (warp % (XM / WM)) * WM + lane % WM, tn = (warp / (XM / WM)) * WN + lane / WM;

  const Acc alpha = p.alpha.get(), beta = p.beta.get();
  const int to = alpha == Acc(0) ? w.from : w.to; // then A and B are not read
  if (w.from < to) {
    loader<In, Acc, BM, BK, threads, BM + pad> a(p.a.batch(batch), p.a.ld, p.opA != N, p.opA == CONJUGATED, p.aligned, row0, p.m, w.from, to);
    loader<In, Acc, BN, BK, threads, BN + pad> b(p.b.batch(batch), p.b.ld, p.opB == N, p.opB == CONJUGATED, p.aligned, col0, p.n, w.from, to);
    auto load = [&]() __attribute__((always_inline)) {
      if (a.whole() && b.whole()) a.load(true), b.load(true);
      else a.load(false), b.load(false);
    };
    load();
    a.store(sa[0][0]), b.store(sb[0][0]);
    __syncthreads();
    // Where this thread's factors begin, in the part of shared memory that is computed with, and
    // how far that is from the other part.
    const uint32_t fromA = (uint32_t)__cvta_generic_to_shared(&sa[0][0][tm * VM]), fromB = (uint32_t)__cvta_generic_to_shared(&sb[0][0][tn * VN]);
    int now = 0;
    // prepare loads the i-th part of the factors of the q-th terms.
    auto prepare = [&](auto q, auto i) __attribute__((always_inline)) {
      constexpr int j = i - TM / VM;
      if constexpr (j < 0)
        factors<VM, (int)sizeof(Acc) * (q * (BM + pad) + i * VM * XM)>(fa[q % 2] + i * VM, fromA + now * (int)sizeof sa[0]);
      else
        factors<VN, (int)sizeof(Acc) * (q * (BN + pad) + j * VN * XN)>(fb[q % 2] + j * VN, fromB + now * (int)sizeof sb[0]);
    };
    constexpr int steps = TM / VM + TN / VN;
    unroll<steps>([&](auto i) __attribute__((always_inline)) { prepare(std::integral_constant<int, 0>(), i); });
    for (int k0 = w.from; k0 < to; k0 += BK) {
      const bool more = k0 + BK < to;
      if (more) load();
      unroll<BK>([&](auto q) __attribute__((always_inline)) {
        if (q + 1 == BK) {
          now ^= 1;
          if (more) a.store(sa[now][0]), b.store(sb[now][0]);
          __syncthreads();
        }
        // In pairs of rows, so that registers of both banks are needed alike, and with loads in
        // between, as these need registers too. What the last ones load is not used.
        unroll<TM * TN>([&](auto n) __attribute__((always_inline)) {
          constexpr int i = n / (2 * TN) * 2 + n % 2, j = n / 2 % TN, gap = TM * TN / 2 / steps;
          if constexpr (n % gap == 0 && n / gap < steps) prepare(std::integral_constant<int, (q + 1) % BK>(), std::integral_constant<int, n / gap>());
          accumulate(sum[i][j], fa[q % 2][i], fb[q % 2][j]);
        });
      });
    }
  }
  if (w.piece >= 0) {
    Acc *to = p.sums + w.piece * (int64_t)(BM * BN) + tm * VM + tn * VN * BM;
#pragma unroll
    for (int j = 0; j < TN; j++)
#pragma unroll
      for (int i = 0; i < TM; i++) to[i / VM * (XM * VM) + i % VM + (j / VN * (XN * VN) + j % VN) * BM] = sum[i][j];
    return;
  }
  const int64_t ld = p.c.ld;
  Out *c = p.c.batch(batch) + row0 + tm * VM + (col0 + tn * VN) * ld;
  auto result = [&](Acc sum, const Out &old) __attribute__((always_inline)) { return put<Out>(beta == Acc(0) ? alpha * sum : mad(beta, get<Acc>(old), alpha * sum)); };
  if (row0 + BM <= p.m && col0 + BN <= p.n && ((uintptr_t)c | ld * sizeof(Out)) % (VM * sizeof(Out)) == 0) {
#pragma unroll
    for (int j = 0; j < TN; j++)
#pragma unroll
      for (int i = 0; i < TM; i += VM) {
        Out *to = c + i / VM * (XM * VM) + (j / VN * (XN * VN) + j % VN) * ld, v[VM];
        if (!(beta == Acc(0))) memcpy(v, __builtin_assume_aligned(to, sizeof v), sizeof v);
#pragma unroll
        for (int e = 0; e < VM; e++) v[e] = result(sum[i + e][j], v[e]);
        memcpy(__builtin_assume_aligned(to, sizeof v), v, sizeof v);
      }
    return;
  }
#pragma unroll
  for (int j = 0; j < TN; j++) {
    const int col = j / VN * (XN * VN) + j % VN;
#pragma unroll
    for (int i = 0; i < TM; i++) {
      const int row = i / VM * (XM * VM) + i % VM;
      if (row0 + tm * VM + row < p.m && col0 + tn * VN + col < p.n) c[row + col * ld] = result(sum[i][j], c[row + col * ld]);
    }
  }
}

// total adds the pieces of tiles of BM x BN elements. x of the grid is a tile, y a part of it.
template <class P, class Out, class Acc>
__device__ inline void total(const P &p, const Acc *sums, Out *c, int BM, int BN) {
  const int tile = p.whole + blockIdx.x, size = BM * BN;
  const int row0 = tile % p.rows * BM, col0 = tile / p.rows * BN;
  const Acc *from = sums + blockIdx.x * (int64_t)p.pieces * size;
  const Acc alpha = p.alpha.get(), beta = p.beta.get();
  for (int e = blockIdx.y * blockDim.x + threadIdx.x; e < size; e += gridDim.y * blockDim.x) {
    const int row = row0 + e % BM, col = col0 + e / BM;
    if (row >= p.m || col >= p.n) continue;
    Acc sum = from[e];
#pragma unroll 4
    for (int i = 1; i < p.pieces; i++) sum = sum + from[e + i * (int64_t)size];
    Out *to = c + row + col * (int64_t)p.c.ld;
    Acc v = alpha * sum;
    if (!(beta == Acc(0))) v = mad(beta, get<Acc>(*to), v);
    *to = put<Out>(v);
  }
}

// Each pair of types has a large and a small tile: BM, BN, BK, TM, TN.
#define GEMM(name, In, Out, Acc, threads, ...) \
  extern "C" __global__ void __launch_bounds__(threads) name(product<In, Out, Acc> p) { gemm<In, Out, Acc, __VA_ARGS__>(p); }
#define TOTAL(name, In, Out, Acc) \
  extern "C" __global__ void __launch_bounds__(256) name##_total(product<In, Out, Acc> p, int rows, int columns) { \
    total(p, p.sums, p.c.batch(0), rows, columns); \
  }
