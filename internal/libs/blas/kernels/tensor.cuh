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
// fragments loads four 8 x 16-byte matrices, with half the first two of them.
template <bool transposed, bool half> __device__ inline void fragments(uint32_t (&to)[4], uint32_t at) {
  if (transposed && half)
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];" : "=r"(to[0]), "=r"(to[1]) : "r"(at) : "memory");
  else if (half)
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];" : "=r"(to[0]), "=r"(to[1]) : "r"(at) : "memory");
  else if (transposed)
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
  typedef __half out; // elements of C, if not of 4 bytes
  static __device__ uint32_t pack(float a, float b) {
    uint32_t r;
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(r) : "f"(b), "f"(a));
    return r;
  }
  static __device__ void mma(float (&d)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1) {
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
  }
};
template <> struct unit<__nv_bfloat16> {
  typedef __nv_bfloat16 out;
  static __device__ uint32_t pack(float a, float b) {
    uint32_t r;
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(r) : "f"(b), "f"(a));
    return r;
  }
  static __device__ void mma(float (&d)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1) {
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
  }
};
template <> struct unit<tf32> {
  typedef float out;
  static __device__ uint32_t pack(float, float) { return 0; }
  static __device__ uint32_t round(uint32_t a) {
    uint32_t r;
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(r) : "f"(__uint_as_float(a)));
    return r;
  }
  static __device__ void mma(float (&d)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1) {
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
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

    __device__ copies(const T *from, int64_t ld, int s0, int s, int k0, int k) {
      const int row = threadIdx.x / chunks, chunk = threadIdx.x % chunks;
      at = __cvta_generic_to_global(from + (along ? (s0 + row) * ld + k0 + chunk * V : (k0 + row) * ld + s0 + chunk * V));
      next = R * ld * size, step = (along ? 1 : ld) * D * size;
      to = place(row, chunk);
      across = s - s0 - (along ? row : chunk * V), left = k - k0 - (along ? chunk * V : row);
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
  // fragments (across first), otherwise in that of two of B's, of which half is the first.
  template <bool across, bool half> static __device__ void operand(uint32_t (&to)[4], uint32_t from, int s, int d) {
    const int lane = threadIdx.x % 32, q = lane / 8, r = lane % 8;
    const int qs = across ? q % 2 : q / 2, qd = across ? q / 2 : q % 2;
    if (along) {
      fragments<false, half>(to, from + place(s + qs * 8 + r, d / V + qd));
    } else if (size == 2) {
      fragments<true, half>(to, from + place(d + qd * 8 + r, s / V + qs));
    } else {
#pragma unroll
      for (int i = 0; i < (half ? 2 : 4); i++) {
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
__device__ inline void tensor(const product<T, void, float> &p, int out) {
  // In shared memory a tile has a power of two of rows or columns, of which the last are zero.
  constexpr int padded = BN > 64 ? 128 : 64;
  using TA = tile<T, BM, aAlong>;
  using TB = tile<T, padded, bAlong>;
  constexpr int threads = 32 * WM * WN, D = TA::D;
  constexpr int MI = BM / WM / 16, NJ = BN / WN / 8, NI = (NJ + 1) / 2; // products of 16 x 8, and fragments of two of B's eights
  constexpr int tileBytes = TA::bytes + TB::bytes, stageBytes = PER * tileBytes;
  extern __shared__ __align__(128) char shared[];
  const uint32_t base = (uint32_t)__cvta_generic_to_shared(shared);

  // Parameters of all lines of the constant cache are loaded at once, not one line after the other.
  asm volatile("" ::"r"(p.m), "l"(p.a.stride), "l"(p.c.stride), "r"(p.aligned));
  const int batch = p.first + blockIdx.z;
  const work w(p);
  const T *a = p.a.batch(batch), *b = p.b.batch(batch);
  const int row0 = w.x * BM, col0 = w.y * BN;
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int wm = warp % WM * (BM / WM), wn = warp / WM * (BN / WN);

  float sum[MI][NJ][4];
#pragma unroll
  for (int i = 0; i < MI; i++)
#pragma unroll
    for (int j = 0; j < NJ; j++)
#pragma unroll
      for (int v = 0; v < 4; v++) sum[i][j][v] = 0;

  const float alpha = p.alpha.get(), beta = p.beta.get();
  // There is at least one step, of zeros if there are no sums. Zeros are not read.
  const int to = alpha == 0 ? w.from : w.to, steps = max(1, (to - w.from + PER * D - 1) / (PER * D));
  typename TA::template copies<threads> ca(a, p.a.ld, row0, p.m, w.from, to);
  typename TB::template copies<threads> cb(b, p.b.ld, col0, min(p.n, col0 + BN), w.from, to);
  auto load = [&](int step) {
#pragma unroll
    for (int i = 0; i < PER; i++) {
      const int at = step % STAGES * stageBytes + i * tileBytes;
      if (step >= steps) {
      } else if (!any || p.aligned) {
        ca.start(base + at);
        cb.start(base + at + TA::bytes);
      } else {
        const int k0 = w.from + (step * PER + i) * D;
        TA::template loadSlowly<threads>(shared + at, a, p.a.ld, row0, p.m, k0, to);
        TB::template loadSlowly<threads>(shared + at + TA::bytes, b, p.b.ld, col0, p.n, k0, to);
      }
    }
    asm volatile("cp.async.commit_group;" ::: "memory");
  };
  // Fragments are loaded one half of a tile ahead of the products, also across the barrier
  // at the stage's end, and between products: loads of all warps at once would stop them.
  constexpr int halves = 2 * PER, loads = MI + NI;
  uint32_t fa[2][MI][4], fb[2][NI][4];
  auto fragment = [&](int step, int half, int i) {
    const uint32_t at = base + step % STAGES * stageBytes + half / 2 * tileBytes;
    if (i < NJ / 2)
      TB::template operand<false, false>(fb[half % 2][i], at + TA::bytes, wn + i * 16, half % 2 * (D / 2));
    else if (i < NI)
      TB::template operand<false, true>(fb[half % 2][i], at + TA::bytes, wn + i * 16, half % 2 * (D / 2));
    else
      TA::template operand<true, false>(fa[half % 2][i - NI], at, wm + (i - NI) * 16, half % 2 * (D / 2));
  };
#pragma unroll 1
  for (int i = 0; i < STAGES - 1; i++) load(i);
  asm volatile("cp.async.wait_group %0;" ::"n"(STAGES - 2) : "memory");
  __syncthreads();
#pragma unroll
  for (int i = 0; i < loads; i++) fragment(0, 0, i);
  int step = 0;
  do {
#pragma unroll
    for (int half = 0; half < halves; half++) {
      const bool last = half == halves - 1;
      if (last) {
        asm volatile("cp.async.wait_group %0;" ::"n"(STAGES - 2) : "memory");
        __syncthreads();
      }
      constexpr int products = MI * NJ;
#pragma unroll
      for (int n = 0; n < products; n++) {
        // Between products, which keep their unit busy meanwhile.
        if (half == 0 && n == products / 4) load(step + STAGES - 1);
        const int i = n / NJ, j = n % NJ;
        unit<T>::mma(sum[i][j], fa[half % 2][i], fb[half % 2][j / 2][j % 2 * 2], fb[half % 2][j / 2][j % 2 * 2 + 1]);
        // Of the last step: not used.
#pragma unroll
        for (int f = n * loads / products; f < (n + 1) * loads / products; f++) fragment(last ? step + 1 : step, last ? 0 : half + 1, f);
      }
    }
  } while (++step < steps);

  // The sums pass through shared memory, so that a warp writes contiguous rows. Rows are
  // permuted against bank conflicts.
  asm volatile("cp.async.wait_all;" ::: "memory");
  __syncthreads();
  float *sums = (float *)shared;
  constexpr int V = 4, lanes = BM / V, apart = threads / lanes; // a thread has V rows of columns that are apart
  static_assert(apart % 8 == 0 && BN % apart == 0 && BM / WM % 32 == 0, "rows are permuted alike in all of a thread's columns");
  {
    // Rows are exchanged in eights, by the column, within 32 of them: the compiler does not see that
    // these are four places, each at constant distances from others.
    float *to = &sums[wm + lane / 4 + (wn + lane % 4 * 2) * BM];
#pragma unroll
    for (int eight = 0; eight < 4; eight++) {
      float *at = to + ((eight ^ lane % 4) << 3);
#pragma unroll
      for (int i = eight / 2; i < MI; i += 2)
#pragma unroll
        for (int j = 0; j < NJ; j++)
#pragma unroll
          for (int v = 0; v < 2; v++) at[i / 2 * 32 + (j * 8 + v) * BM] = sum[i][j][eight % 2 * 2 + v];
    }
  }
  __syncthreads();
  // Elements of C have the type of those of A and B, or 4 bytes as pieces have. There is one loop for
  // all, which leaves by itself: each jump to code far away has to be fetched.
  using Out = typename unit<T>::out;
  const bool piece = w.piece >= 0, wide = piece || out == OUT_F32;
  const int size = wide ? 4 : sizeof(Out), row = threadIdx.x % lanes * V, first = threadIdx.x / lanes;
  const int cols = min(BN, p.n - col0), rows = min(V, p.m - row0 - row);
  const int64_t ld = (piece ? BM : p.c.ld) * (int64_t)size, next = apart * ld;
  const float scale = piece ? 1 : alpha, add = piece ? 0 : beta;
  char *c = wide ? (char *)p.c.template batch<float>(batch) : (char *)p.c.template batch<Out>(batch);
  c = piece ? (char *)(p.sums + w.piece * (int64_t)(BM * BN)) : c + row0 * size + col0 * ld;
  c += row * size + first * ld;
  const float *from = &sums[first * BM + (row ^ (first >> 1 & 3) << 3)];
  if (add == 0 && rows == V && ((uintptr_t)c | ld) % (V * size) == 0) {
    // Several columns at once, step by step: each conversion takes its time.
    int i = 0;
    auto some = [&](auto n) __attribute__((always_inline)) {
      float r[n][V];
#pragma unroll
      for (int e = 0; e < n; e++) copy<V>(r[e], from + (i + e) * apart * BM);
#pragma unroll
      for (int e = 0; e < n; e++)
#pragma unroll
        for (int v = 0; v < V; v++) r[e][v] *= scale;
      if (wide) {
#pragma unroll
        for (int e = 0; e < n; e++) store<V>((float *)(c + e * next), r[e]);
      } else {
        uint32_t o[n][V / 2];
#pragma unroll
        for (int e = 0; e < n; e++)
#pragma unroll
          for (int v = 0; v < V; v += 2) o[e][v / 2] = unit<T>::pack(r[e][v], r[e][v + 1]);
#pragma unroll
        for (int e = 0; e < n; e++) store<V / 2>((uint32_t *)(c + e * next), o[e]);
      }
      i += n, c += n * next;
    };
#pragma unroll 1
    while (first + (i + 3) * apart < cols) some(std::integral_constant<int, 4>());
#pragma unroll 1
    while (first + i * apart < cols) some(std::integral_constant<int, 1>());
    asm volatile("exit;");
  }
  auto element = [&](auto *to, float sum) { *to = put<std::remove_reference_t<decltype(*to)>>(add == 0 ? sum * scale : fmaf(add, get<float>(*to), sum * scale)); };
#pragma unroll 1
  for (int i = 0; first + i * apart < cols; i++, c += next)
#pragma unroll 1
    for (int v = 0; v < rows; v++) {
      const float sum = from[i * apart * BM + v];
      if (wide) element((float *)c + v, sum);
      else element((Out *)c + v, sum);
    }
}

// Kernels for the four ways in which A and B may lie in memory, with a large tile for
// aligned columns and a small one. n and t are op N and op T.
#define TENSOR1(name, T, aAlong, bAlong, BM, BN, WM, WN, ...) \
  extern "C" __global__ void __launch_bounds__(32 * WM * WN) name##_##BM##x##BN(product<T, void, float> p, int out) { \
    tensor<T, aAlong, bAlong, BM, BN, WM, WN, __VA_ARGS__>(p, out); \
  }
#define TENSOR(name, T, ...) \
  TENSOR1(name##_nn, T, false, true, __VA_ARGS__) \
  TENSOR1(name##_nt, T, false, false, __VA_ARGS__) \
  TENSOR1(name##_tn, T, true, true, __VA_ARGS__) \
  TENSOR1(name##_tt, T, true, false, __VA_ARGS__)

#define TENSOR_TOTAL(name, T) \
  extern "C" __global__ void __launch_bounds__(256) name##_total(product<T, void, float> p, int out, int rows, int columns) { \
    if (out == OUT_F32) total(p, p.sums, p.c.template batch<float>(0), rows, columns); \
    if (out == OUT_F16) total(p, p.sums, p.c.template batch<__half>(0), rows, columns); \
    if (out == OUT_BF16) total(p, p.sums, p.c.template batch<__nv_bfloat16>(0), rows, columns); \
  }
