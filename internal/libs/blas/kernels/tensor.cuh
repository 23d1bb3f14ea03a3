// C = alpha * op(A) * op(B) + beta * C with tensor cores, from compute capability 8.0 on:
// f16, bf16 and tf32 elements, sums in f32.
#pragma once
#include "gemm.cuh"

// The type of C's elements; the kernels choose it when they run.
enum output { OUT_F32, OUT_F16, OUT_BF16 };

// stage copies 16 bytes to shared memory, or as many of them as there are and zeros.
__device__ inline void stage(uint32_t to, uint64_t from, int bytes) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(bytes) : "memory");
}
template <bool transposed> __device__ inline void fragments(uint32_t (&to)[4], uint32_t at) {
  if (transposed)
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3]) : "r"(at) : "memory");
  else
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3]) : "r"(at) : "memory");
}

// tf32 is a float of which the tensor cores read the upper 19 bits.
struct tf32 {
  float v;
};
template <> __device__ inline float get(tf32 a) { return a.v; }

template <class T> struct unit;
template <> struct unit<__half> {
  static __device__ void mma(float (&d)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1) {
    asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
  }
};
template <> struct unit<__nv_bfloat16> {
  static __device__ void mma(float (&d)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1) {
    asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
  }
};
template <> struct unit<tf32> {
  static __device__ uint32_t round(uint32_t a) {
    uint32_t r;
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(r) : "f"(__uint_as_float(a)));
    return r;
  }
  static __device__ void mma(float (&d)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1) {
    asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(round(a[0])), "r"(round(a[1])), "r"(round(a[2])), "r"(round(a[3])), "r"(round(b0)), "r"(round(b1)));
  }
};

// tile is a part of a matrix in shared memory: D elements along the sums' direction and S
// across, as they lie in memory. Along says that memory is contiguous in the sums'
// direction: then rows have D elements, otherwise S. D elements are 64 bytes. The 16 bytes
// of a row are permuted so that neither copies nor fragments have bank conflicts.
template <class T, int S, bool along> struct tile {
  static constexpr int size = sizeof(T), D = 64 / size, V = 16 / size;
  static constexpr int rows = along ? S : D, chunks = along ? 4 : S / V, bytes = 64 * S;

  // place returns the byte of a chunk in a row.
  static __device__ int place(int row, int chunk) {
    const int x = along ? row >> 1 & 3 : size == 2 ? row & 7 : (row & 3) << 1;
    return (row * chunks + (chunk ^ x)) * 16;
  }

  // copies are this thread's part of the copies of one tile after the other along the
  // sums: in each step, chunks in rows that are R apart.
  template <int threads> struct copies {
    static constexpr int R = threads / chunks, n = rows / R;
    uint64_t at;        // the first chunk, global
    int64_t next, step; // bytes from one chunk to the next, and from one tile to the next
    int to;             // the first chunk's place in the tile
    int across, left;   // elements from the first chunk to the matrix's end, in both directions

    __device__ copies(const T *from, int64_t ld, int s0, int s, int k) {
      const int row = threadIdx.x / chunks, chunk = threadIdx.x % chunks;
      at = __cvta_generic_to_global(from + (along ? (s0 + row) * ld + chunk * V : row * ld + s0 + chunk * V));
      next = R * ld * size, step = (along ? 1 : ld) * D * size;
      to = place(row, chunk);
      across = s - s0 - (along ? row : chunk * V), left = k - (along ? chunk * V : row);
    }

    // start copies a tile.
    __device__ void start(uint32_t tile) {
#pragma unroll
      for (int i = 0; i < n; i++) {
        const int elements = along ? (i * R < across ? left : 0) : (i * R < left ? across : 0);
        stage(tile + to + i * (R * chunks * 16), at + i * next, min(max(elements, 0), V) * size);
      }
      at += step, left -= D;
    }
  };

  // loadSlowly is load for matrices whose columns are not aligned to 16 bytes.
  template <int threads> static __device__ void loadSlowly(char *to, const T *from, int64_t ld, int s0, int s, int k0, int k) {
    for (int e = threadIdx.x; e < rows * chunks * V; e += threads) {
      const int row = e / (chunks * V), c = e % (chunks * V);
      const int64_t r = (along ? s0 : k0) + row, at = (along ? k0 : s0) + c;
      T v;
      memset(&v, 0, size);
      if (r < (along ? s : k) && at < (along ? k : s)) v = from[r * ld + at];
      *(T *)(to + place(row, c / V) + c % V * size) = v;
    }
  }

  // operand returns the registers of 16 elements across and 32 bytes along, from the s-th
  // and the d-th: four 8 x 16-byte matrices. With across they are in the order of A's
  // fragments (across first), otherwise in that of two of B's.
  template <bool across> static __device__ void operand(uint32_t (&to)[4], uint32_t from, int s, int d) {
    const int lane = threadIdx.x % 32, q = lane / 8, r = lane % 8;
    const int qs = across ? q % 2 : q / 2, qd = across ? q / 2 : q % 2;
    if (along) {
      fragments<false>(to, from + place(s + qs * 8 + r, d / V + qd));
    } else if (size == 2) {
      fragments<true>(to, from + place(d + qd * 8 + r, s / V + qs));
    } else {
#pragma unroll
      for (int i = 0; i < 4; i++) {
        const int is = across ? i % 2 : i / 2, id = across ? i / 2 : i % 2;
        const int row = d + id * 4 + lane % 4, c = s + is * 8 + lane / 4;
        asm volatile("ld.shared.b32 %0, [%1];" : "=r"(to[i]) : "r"(from + place(row, c / V) + c % V * 4) : "memory");
      }
    }
  }
};

// tensor computes a tile of BM x BN elements with WM x WN warps, and STAGES parts of the
// sums in flight, of PER tiles each. With any, columns may begin at any address.
template <class T, bool aAlong, bool bAlong, int BM, int BN, int WM, int WN, int STAGES, int PER, bool any>
__device__ inline void tensor(const product<T, void, float> &p, int out, bool aligned) {
  using TA = tile<T, BM, aAlong>;
  using TB = tile<T, BN, bAlong>;
  constexpr int threads = 32 * WM * WN, MI = BM / WM / 16, NI = BN / WN / 16, D = TA::D;
  constexpr int tileBytes = TA::bytes + TB::bytes, stageBytes = PER * tileBytes;
  extern __shared__ __align__(128) char shared[];
  const uint32_t base = (uint32_t)__cvta_generic_to_shared(shared);

  const int batch = p.first + blockIdx.z;
  const T *a = p.a.batch(batch), *b = p.b.batch(batch);
  const int row0 = blockIdx.x * BM, col0 = blockIdx.y * BN;
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int wm = warp % WM * (BM / WM), wn = warp / WM * (BN / WN);

  float sum[MI][NI * 2][4];
#pragma unroll
  for (int i = 0; i < MI; i++)
#pragma unroll
    for (int j = 0; j < NI * 2; j++)
#pragma unroll
      for (int v = 0; v < 4; v++) sum[i][j][v] = 0;

  const float alpha = p.alpha.get(), beta = p.beta.get();
  const int steps = alpha == 0 ? 0 : (p.k + PER * D - 1) / (PER * D);
  typename TA::template copies<threads> ca(a, p.a.ld, row0, p.m, p.k);
  typename TB::template copies<threads> cb(b, p.b.ld, col0, p.n, p.k);
  auto load = [&](int step) {
#pragma unroll
    for (int i = 0; i < PER; i++) {
      const int at = step % STAGES * stageBytes + i * tileBytes;
      if (step >= steps) {
      } else if (!any || aligned) {
        ca.start(base + at);
        cb.start(base + at + TA::bytes);
      } else {
        TA::template loadSlowly<threads>(shared + at, a, p.a.ld, row0, p.m, (step * PER + i) * D, p.k);
        TB::template loadSlowly<threads>(shared + at + TA::bytes, b, p.b.ld, col0, p.n, (step * PER + i) * D, p.k);
      }
    }
    asm volatile("cp.async.commit_group;" ::: "memory");
  };
  // Fragments are loaded one half of a tile ahead of the products, also across the barrier
  // at the stage's end.
  constexpr int halves = 2 * PER;
  uint32_t fa[2][MI][4], fb[2][NI][4];
  auto fragmentsOf = [&](int step, int half) {
    const uint32_t at = base + step % STAGES * stageBytes + half / 2 * tileBytes;
#pragma unroll
    for (int i = 0; i < MI; i++) TA::template operand<true>(fa[half % 2][i], at, wm + i * 16, half % 2 * (D / 2));
#pragma unroll
    for (int j = 0; j < NI; j++) TB::template operand<false>(fb[half % 2][j], at + TA::bytes, wn + j * 16, half % 2 * (D / 2));
  };
#pragma unroll 1
  for (int i = 0; i < STAGES - 1; i++) load(i);
  asm volatile("cp.async.wait_group %0;" ::"n"(STAGES - 2) : "memory");
  __syncthreads();
  fragmentsOf(0, 0);
  for (int step = 0; step < steps; step++) {
#pragma unroll
    for (int half = 0; half < halves; half++) {
      if (half == halves - 1) {
        asm volatile("cp.async.wait_group %0;" ::"n"(STAGES - 2) : "memory");
        __syncthreads();
        fragmentsOf(step + 1, 0); // of the last step: not used
      } else {
        fragmentsOf(step, half + 1);
      }
      if (half == 0) load(step + STAGES - 1);
#pragma unroll
      for (int i = 0; i < MI; i++)
#pragma unroll
        for (int j = 0; j < NI * 2; j++)
          unit<T>::mma(sum[i][j], fa[half % 2][i], fb[half % 2][j / 2][j % 2 * 2], fb[half % 2][j / 2][j % 2 * 2 + 1]);
    }
  }

  // The sums pass through shared memory, so that a warp writes contiguous rows. Rows are
  // permuted against bank conflicts.
  asm volatile("cp.async.wait_all;" ::: "memory");
  __syncthreads();
  float *sums = (float *)shared;
  auto place = [](int row, int col) { return col * BM + (row ^ (col >> 1 & 3) << 3); };
#pragma unroll
  for (int i = 0; i < MI; i++)
#pragma unroll
    for (int j = 0; j < NI * 2; j++)
#pragma unroll
      for (int v = 0; v < 4; v++) sums[place(wm + i * 16 + v / 2 * 8 + lane / 4, wn + j * 8 + lane % 4 * 2 + v % 2)] = sum[i][j][v];
  __syncthreads();
  constexpr int V = 4, lanes = BM / V; // a thread has V rows
  const int row = threadIdx.x % lanes * V, cols = min(BN, p.n - col0), rows = min(V, p.m - row0 - row);
  auto write = [&](auto *c) {
    using Out = typename std::remove_pointer<decltype(c)>::type;
    const bool whole = rows == V && ((uintptr_t)c | (uint64_t)p.c.ld * sizeof(Out)) % (V * sizeof(Out)) == 0;
#pragma unroll 1
    for (int col = threadIdx.x / lanes; col < cols; col += threads / lanes) {
      Out *to = c + row0 + row + (col0 + col) * (int64_t)p.c.ld;
      float r[V];
      copy<V>(r, &sums[place(row, col)]);
      Out o[V];
#pragma unroll
      for (int v = 0; v < V; v++) {
        r[v] *= alpha;
        if (beta != 0 && v < rows) r[v] = fmaf(beta, get<float>(to[v]), r[v]);
        o[v] = put<Out>(r[v]);
      }
      if (whole) {
        store<V>(to, o);
      } else {
#pragma unroll
        for (int v = 0; v < V; v++)
          if (v < rows) to[v] = o[v];
      }
    }
  };
  if (out == OUT_F32) write(p.c.template batch<float>(batch));
  if (out == OUT_F16) write(p.c.template batch<__half>(batch));
  if (out == OUT_BF16) write(p.c.template batch<__nv_bfloat16>(batch));
}

// Kernels for the four ways in which A and B may lie in memory, with a large tile for
// aligned columns and a small one. n and t are op N and op T.
#define TENSOR1(name, T, aAlong, bAlong, BM, BN, WM, WN, ...) \
  extern "C" __global__ void __launch_bounds__(32 * WM * WN) name##_##BM##x##BN(product<T, void, float> p, int out, int aligned) { \
    tensor<T, aAlong, bAlong, BM, BN, WM, WN, __VA_ARGS__>(p, out, aligned); \
  }
#define TENSOR(name, T, ...) \
  TENSOR1(name##_nn, T, false, true, __VA_ARGS__) \
  TENSOR1(name##_nt, T, false, false, __VA_ARGS__) \
  TENSOR1(name##_tn, T, true, true, __VA_ARGS__) \
  TENSOR1(name##_tt, T, true, false, __VA_ARGS__)
