// Warp-wide matrix products on tensor cores, as nvcuda::wmma has them: half,
// bfloat16, TF32, double and integers of 8, 4 and 1 bits.
#ifndef HEDDLE_MMA_H
#define HEDDLE_MMA_H

#include "cuda_bf16.h"
#include "cuda_fp16.h"

#if defined(__CUDA__) && (!defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 700)

#define HEDDLE_D static __inline__ __attribute__((device, always_inline, nodebug))

namespace nvcuda {
namespace wmma {

struct matrix_a;
struct matrix_b;
struct accumulator;
struct row_major;
struct col_major;
enum layout_t { mem_row_major = 0, mem_col_major = 1 };
namespace precision {
struct tf32;
}
namespace experimental {
namespace precision {
struct u4;
struct s4;
struct b1;
} // namespace precision
// How bits are combined before those that are set are counted.
enum bmmaBitOp { bmmaBitOpXOR = 1, bmmaBitOpAND = 2 };
enum bmmaAccumulateOp { bmmaAccumulateOpPOPC = 1 };
} // namespace experimental

template <typename T, int n> struct storage {
  T x[n];
  static const int num_elements = n, num_storage_elements = n;
  template <typename V> static __inline__ __device__ T stored(const V &v) { return v; }
};
template <typename Use, int m, int n, int k, typename T, typename Layout = void> class fragment;

template <> class fragment<matrix_a, 16, 16, 16, __half, row_major> : public storage<__half, 16> {};
HEDDLE_D void load_matrix_sync(fragment<matrix_a, 16, 16, 16, __half, row_major> &f, const __half *p, unsigned ldm) { __hmma_m16n16k16_ld_a((int *)f.x, (const int *)p, ldm, 0); }
template <> class fragment<matrix_a, 16, 16, 16, __half, col_major> : public storage<__half, 16> {};
HEDDLE_D void load_matrix_sync(fragment<matrix_a, 16, 16, 16, __half, col_major> &f, const __half *p, unsigned ldm) { __hmma_m16n16k16_ld_a((int *)f.x, (const int *)p, ldm, 1); }
template <> class fragment<matrix_b, 16, 16, 16, __half, row_major> : public storage<__half, 16> {};
HEDDLE_D void load_matrix_sync(fragment<matrix_b, 16, 16, 16, __half, row_major> &f, const __half *p, unsigned ldm) { __hmma_m16n16k16_ld_b((int *)f.x, (const int *)p, ldm, 0); }
template <> class fragment<matrix_b, 16, 16, 16, __half, col_major> : public storage<__half, 16> {};
HEDDLE_D void load_matrix_sync(fragment<matrix_b, 16, 16, 16, __half, col_major> &f, const __half *p, unsigned ldm) { __hmma_m16n16k16_ld_b((int *)f.x, (const int *)p, ldm, 1); }
template <> class fragment<accumulator, 16, 16, 16, __half> : public storage<__half, 8> {};
HEDDLE_D void load_matrix_sync(fragment<accumulator, 16, 16, 16, __half> &f, const __half *p, unsigned ldm, layout_t l) {
  if (l == mem_row_major) __hmma_m16n16k16_ld_c_f16((int *)f.x, (const int *)p, ldm, 0); else __hmma_m16n16k16_ld_c_f16((int *)f.x, (const int *)p, ldm, 1);
}
HEDDLE_D void store_matrix_sync(__half *p, const fragment<accumulator, 16, 16, 16, __half> &f, unsigned ldm, layout_t l) {
  if (l == mem_row_major) __hmma_m16n16k16_st_c_f16((int *)p, (int *)f.x, ldm, 0); else __hmma_m16n16k16_st_c_f16((int *)p, (int *)f.x, ldm, 1);
}
template <> class fragment<accumulator, 16, 16, 16, float> : public storage<float, 8> {};
HEDDLE_D void load_matrix_sync(fragment<accumulator, 16, 16, 16, float> &f, const float *p, unsigned ldm, layout_t l) {
  if (l == mem_row_major) __hmma_m16n16k16_ld_c_f32((float *)f.x, (const float *)p, ldm, 0); else __hmma_m16n16k16_ld_c_f32((float *)f.x, (const float *)p, ldm, 1);
}
HEDDLE_D void store_matrix_sync(float *p, const fragment<accumulator, 16, 16, 16, float> &f, unsigned ldm, layout_t l) {
  if (l == mem_row_major) __hmma_m16n16k16_st_c_f32((float *)p, (float *)f.x, ldm, 0); else __hmma_m16n16k16_st_c_f32((float *)p, (float *)f.x, ldm, 1);
}
HEDDLE_D void mma_sync(fragment<accumulator, 16, 16, 16, __half> &d, const fragment<matrix_a, 16, 16, 16, __half, row_major> &a, const fragment<matrix_b, 16, 16, 16, __half, row_major> &b, const fragment<accumulator, 16, 16, 16, __half> &c) { __hmma_m16n16k16_mma_f16f16((int *)d.x, (const int *)a.x, (const int *)b.x, (const int *)c.x, 0, 0); }
HEDDLE_D void mma_sync(fragment<accumulator, 16, 16, 16, __half> &d, const fragment<matrix_a, 16, 16, 16, __half, row_major> &a, const fragment<matrix_b, 16, 16, 16, __half, col_major> &b, const fragment<accumulator, 16, 16, 16, __half> &c) { __hmma_m16n16k16_mma_f16f16((int *)d.x, (const int *)a.x, (const int *)b.x, (const int *)c.x, 1, 0); }
HEDDLE_D void mma_sync(fragment<accumulator, 16, 16, 16, __half> &d, const fragment<matrix_a, 16, 16, 16, __half, col_major> &a, const fragment<matrix_b, 16, 16, 16, __half, row_major> &b, const fragment<accumulator, 16, 16, 16, __half> &c) { __hmma_m16n16k16_mma_f16f16((int *)d.x, (const int *)a.x, (const int *)b.x, (const int *)c.x, 2, 0); }
HEDDLE_D void mma_sync(fragment<accumulator, 16, 16, 16, __half> &d, const fragment<matrix_a, 16, 16, 16, __half, col_major> &a, const fragment<matrix_b, 16, 16, 16, __half, col_major> &b, const fragment<accumulator, 16, 16, 16, __half> &c) { __hmma_m16n16k16_mma_f16f16((int *)d.x, (const int *)a.x, (const int *)b.x, (const int *)c.x, 3, 0); }
HEDDLE_D void mma_sync(fragment<accumulator, 16, 16, 16, __half> &d, const fragment<matrix_a, 16, 16, 16, __half, row_major> &a, const fragment<matrix_b, 16, 16, 16, __half, row_major> &b, const fragment<accumulator, 16, 16, 16, float> &c) { __hmma_m16n16k16_mma_f16f32((int *)d.x, (const int *)a.x, (const int *)b.x, (const float *)c.x, 0, 0); }
HEDDLE_D void mma_sync(fragment<accumulator, 16, 16, 16, __half> &d, const fragment<matrix_a, 16, 16, 16, __half, row_major> &a, const fragment<matrix_b, 16, 16, 16, __half, col_major> &b, const fragment<accumulator, 16, 16, 16, float> &c) { __hmma_m16n16k16_mma_f16f32((int *)d.x, (const int *)a.x, (const int *)b.x, (const float *)c.x, 1, 0); }
HEDDLE_D void mma_sync(fragment<accumulator, 16, 16, 16, __half> &d, const fragment<matrix_a, 16, 16, 16, __half, col_major> &a, const fragment<matrix_b, 16, 16, 16, __half, row_major> &b, const fragment<accumulator, 16, 16, 16, float> &c) { __hmma_m16n16k16_mma_f16f32((int *)d.x, (const int *)a.x, (const int *)b.x, (const float *)c.x, 2, 0); }
HEDDLE_D void mma_sync(fragment<accumulator, 16, 16, 16, __half> &d, const fragment<matrix_a, 16, 16, 16, __half, col_major> &a, const fragment<matrix_b, 16, 16, 16, __half, col_major> &b, const fragment<accumulator, 16, 16, 16, float> &c) { __hmma_m16n16k16_mma_f16f32((int *)d.x, (const int *)a.x, (const int *)b.x, (const float *)c.x, 3, 0); }
HEDDLE_D void mma_sync(fragment<accumulator, 16, 16, 16, float> &d, const fragment<matrix_a, 16, 16, 16, __half, row_major> &a, const fragment<matrix_b, 16, 16, 16, __half, row_major> &b, const fragment<accumulator, 16, 16, 16, __half> &c) { __hmma_m16n16k16_mma_f32f16((float *)d.x, (const int *)a.x, (const int *)b.x, (const int *)c.x, 0, 0); }
HEDDLE_D void mma_sync(fragment<accumulator, 16, 16, 16, float> &d, const fragment<matrix_a, 16, 16, 16, __half, row_major> &a, const fragment<matrix_b, 16, 16, 16, __half, col_major> &b, const fragment<accumulator, 16, 16, 16, __half> &c) { __hmma_m16n16k16_mma_f32f16((float *)d.x, (const int *)a.x, (const int *)b.x, (const int *)c.x, 1, 0); }
HEDDLE_D void mma_sync(fragment<accumulator, 16, 16, 16, float> &d, const fragment<matrix_a, 16, 16, 16, __half, col_major> &a, const fragment<matrix_b, 16, 16, 16, __half, row_major> &b, const fragment<accumulator, 16, 16, 16, __half> &c) { __hmma_m16n16k16_mma_f32f16((float *)d.x, (const int *)a.x, (const int *)b.x, (const int *)c.x, 2, 0); }
HEDDLE_D void mma_sync(fragment<accumulator, 16, 16, 16, float> &d, const fragment<matrix_a, 16, 16, 16, __half, col_major> &a, const fragment<matrix_b, 16, 16, 16, __half, col_major> &b, const fragment<accumulator, 16, 16, 16, __half> &c) { __hmma_m16n16k16_mma_f32f16((float *)d.x, (const int *)a.x, (const int *)b.x, (const int *)c.x, 3, 0); }
HEDDLE_D void mma_sync(fragment<accumulator, 16, 16, 16, float> &d, const fragment<matrix_a, 16, 16, 16, __half, row_major> &a, const fragment<matrix_b, 16, 16, 16, __half, row_major> &b, const fragment<accumulator, 16, 16, 16, float> &c) { __hmma_m16n16k16_mma_f32f32((float *)d.x, (const int *)a.x, (const int *)b.x, (const float *)c.x, 0, 0); }
HEDDLE_D void mma_sync(fragment<accumulator, 16, 16, 16, float> &d, const fragment<matrix_a, 16, 16, 16, __half, row_major> &a, const fragment<matrix_b, 16, 16, 16, __half, col_major> &b, const fragment<accumulator, 16, 16, 16, float> &c) { __hmma_m16n16k16_mma_f32f32((float *)d.x, (const int *)a.x, (const int *)b.x, (const float *)c.x, 1, 0); }
HEDDLE_D void mma_sync(fragment<accumulator, 16, 16, 16, float> &d, const fragment<matrix_a, 16, 16, 16, __half, col_major> &a, const fragment<matrix_b, 16, 16, 16, __half, row_major> &b, const fragment<accumulator, 16, 16, 16, float> &c) { __hmma_m16n16k16_mma_f32f32((float *)d.x, (const int *)a.x, (const int *)b.x, (const float *)c.x, 2, 0); }
HEDDLE_D void mma_sync(fragment<accumulator, 16, 16, 16, float> &d, const fragment<matrix_a, 16, 16, 16, __half, col_major> &a, const fragment<matrix_b, 16, 16, 16, __half, col_major> &b, const fragment<accumulator, 16, 16, 16, float> &c) { __hmma_m16n16k16_mma_f32f32((float *)d.x, (const int *)a.x, (const int *)b.x, (const float *)c.x, 3, 0); }
template <> class fragment<matrix_a, 32, 8, 16, __half, row_major> : public storage<__half, 16> {};
HEDDLE_D void load_matrix_sync(fragment<matrix_a, 32, 8, 16, __half, row_major> &f, const __half *p, unsigned ldm) { __hmma_m32n8k16_ld_a((int *)f.x, (const int *)p, ldm, 0); }
template <> class fragment<matrix_a, 32, 8, 16, __half, col_major> : public storage<__half, 16> {};
HEDDLE_D void load_matrix_sync(fragment<matrix_a, 32, 8, 16, __half, col_major> &f, const __half *p, unsigned ldm) { __hmma_m32n8k16_ld_a((int *)f.x, (const int *)p, ldm, 1); }
template <> class fragment<matrix_b, 32, 8, 16, __half, row_major> : public storage<__half, 16> {};
HEDDLE_D void load_matrix_sync(fragment<matrix_b, 32, 8, 16, __half, row_major> &f, const __half *p, unsigned ldm) { __hmma_m32n8k16_ld_b((int *)f.x, (const int *)p, ldm, 0); }
template <> class fragment<matrix_b, 32, 8, 16, __half, col_major> : public storage<__half, 16> {};
HEDDLE_D void load_matrix_sync(fragment<matrix_b, 32, 8, 16, __half, col_major> &f, const __half *p, unsigned ldm) { __hmma_m32n8k16_ld_b((int *)f.x, (const int *)p, ldm, 1); }
template <> class fragment<accumulator, 32, 8, 16, __half> : public storage<__half, 8> {};
HEDDLE_D void load_matrix_sync(fragment<accumulator, 32, 8, 16, __half> &f, const __half *p, unsigned ldm, layout_t l) {
  if (l == mem_row_major) __hmma_m32n8k16_ld_c_f16((int *)f.x, (const int *)p, ldm, 0); else __hmma_m32n8k16_ld_c_f16((int *)f.x, (const int *)p, ldm, 1);
}
HEDDLE_D void store_matrix_sync(__half *p, const fragment<accumulator, 32, 8, 16, __half> &f, unsigned ldm, layout_t l) {
  if (l == mem_row_major) __hmma_m32n8k16_st_c_f16((int *)p, (int *)f.x, ldm, 0); else __hmma_m32n8k16_st_c_f16((int *)p, (int *)f.x, ldm, 1);
}
template <> class fragment<accumulator, 32, 8, 16, float> : public storage<float, 8> {};
HEDDLE_D void load_matrix_sync(fragment<accumulator, 32, 8, 16, float> &f, const float *p, unsigned ldm, layout_t l) {
  if (l == mem_row_major) __hmma_m32n8k16_ld_c_f32((float *)f.x, (const float *)p, ldm, 0); else __hmma_m32n8k16_ld_c_f32((float *)f.x, (const float *)p, ldm, 1);
}
HEDDLE_D void store_matrix_sync(float *p, const fragment<accumulator, 32, 8, 16, float> &f, unsigned ldm, layout_t l) {
  if (l == mem_row_major) __hmma_m32n8k16_st_c_f32((float *)p, (float *)f.x, ldm, 0); else __hmma_m32n8k16_st_c_f32((float *)p, (float *)f.x, ldm, 1);
}
HEDDLE_D void mma_sync(fragment<accumulator, 32, 8, 16, __half> &d, const fragment<matrix_a, 32, 8, 16, __half, row_major> &a, const fragment<matrix_b, 32, 8, 16, __half, row_major> &b, const fragment<accumulator, 32, 8, 16, __half> &c) { __hmma_m32n8k16_mma_f16f16((int *)d.x, (const int *)a.x, (const int *)b.x, (const int *)c.x, 0, 0); }
HEDDLE_D void mma_sync(fragment<accumulator, 32, 8, 16, __half> &d, const fragment<matrix_a, 32, 8, 16, __half, row_major> &a, const fragment<matrix_b, 32, 8, 16, __half, col_major> &b, const fragment<accumulator, 32, 8, 16, __half> &c) { __hmma_m32n8k16_mma_f16f16((int *)d.x, (const int *)a.x, (const int *)b.x, (const int *)c.x, 1, 0); }
HEDDLE_D void mma_sync(fragment<accumulator, 32, 8, 16, __half> &d, const fragment<matrix_a, 32, 8, 16, __half, col_major> &a, const fragment<matrix_b, 32, 8, 16, __half, row_major> &b, const fragment<accumulator, 32, 8, 16, __half> &c) { __hmma_m32n8k16_mma_f16f16((int *)d.x, (const int *)a.x, (const int *)b.x, (const int *)c.x, 2, 0); }
HEDDLE_D void mma_sync(fragment<accumulator, 32, 8, 16, __half> &d, const fragment<matrix_a, 32, 8, 16, __half, col_major> &a, const fragment<matrix_b, 32, 8, 16, __half, col_major> &b, const fragment<accumulator, 32, 8, 16, __half> &c) { __hmma_m32n8k16_mma_f16f16((int *)d.x, (const int *)a.x, (const int *)b.x, (const int *)c.x, 3, 0); }
HEDDLE_D void mma_sync(fragment<accumulator, 32, 8, 16, __half> &d, const fragment<matrix_a, 32, 8, 16, __half, row_major> &a, const fragment<matrix_b, 32, 8, 16, __half, row_major> &b, const fragment<accumulator, 32, 8, 16, float> &c) { __hmma_m32n8k16_mma_f16f32((int *)d.x, (const int *)a.x, (const int *)b.x, (const float *)c.x, 0, 0); }
HEDDLE_D void mma_sync(fragment<accumulator, 32, 8, 16, __half> &d, const fragment<matrix_a, 32, 8, 16, __half, row_major> &a, const fragment<matrix_b, 32, 8, 16, __half, col_major> &b, const fragment<accumulator, 32, 8, 16, float> &c) { __hmma_m32n8k16_mma_f16f32((int *)d.x, (const int *)a.x, (const int *)b.x, (const float *)c.x, 1, 0); }
HEDDLE_D void mma_sync(fragment<accumulator, 32, 8, 16, __half> &d, const fragment<matrix_a, 32, 8, 16, __half, col_major> &a, const fragment<matrix_b, 32, 8, 16, __half, row_major> &b, const fragment<accumulator, 32, 8, 16, float> &c) { __hmma_m32n8k16_mma_f16f32((int *)d.x, (const int *)a.x, (const int *)b.x, (const float *)c.x, 2, 0); }
HEDDLE_D void mma_sync(fragment<accumulator, 32, 8, 16, __half> &d, const fragment<matrix_a, 32, 8, 16, __half, col_major> &a, const fragment<matrix_b, 32, 8, 16, __half, col_major> &b, const fragment<accumulator, 32, 8, 16, float> &c) { __hmma_m32n8k16_mma_f16f32((int *)d.x, (const int *)a.x, (const int *)b.x, (const float *)c.x, 3, 0); }
HEDDLE_D void mma_sync(fragment<accumulator, 32, 8, 16, float> &d, const fragment<matrix_a, 32, 8, 16, __half, row_major> &a, const fragment<matrix_b, 32, 8, 16, __half, row_major> &b, const fragment<accumulator, 32, 8, 16, __half> &c) { __hmma_m32n8k16_mma_f32f16((float *)d.x, (const int *)a.x, (const int *)b.x, (const int *)c.x, 0, 0); }
HEDDLE_D void mma_sync(fragment<accumulator, 32, 8, 16, float> &d, const fragment<matrix_a, 32, 8, 16, __half, row_major> &a, const fragment<matrix_b, 32, 8, 16, __half, col_major> &b, const fragment<accumulator, 32, 8, 16, __half> &c) { __hmma_m32n8k16_mma_f32f16((float *)d.x, (const int *)a.x, (const int *)b.x, (const int *)c.x, 1, 0); }
HEDDLE_D void mma_sync(fragment<accumulator, 32, 8, 16, float> &d, const fragment<matrix_a, 32, 8, 16, __half, col_major> &a, const fragment<matrix_b, 32, 8, 16, __half, row_major> &b, const fragment<accumulator, 32, 8, 16, __half> &c) { __hmma_m32n8k16_mma_f32f16((float *)d.x, (const int *)a.x, (const int *)b.x, (const int *)c.x, 2, 0); }
HEDDLE_D void mma_sync(fragment<accumulator, 32, 8, 16, float> &d, const fragment<matrix_a, 32, 8, 16, __half, col_major> &a, const fragment<matrix_b, 32, 8, 16, __half, col_major> &b, const fragment<accumulator, 32, 8, 16, __half> &c) { __hmma_m32n8k16_mma_f32f16((float *)d.x, (const int *)a.x, (const int *)b.x, (const int *)c.x, 3, 0); }
HEDDLE_D void mma_sync(fragment<accumulator, 32, 8, 16, float> &d, const fragment<matrix_a, 32, 8, 16, __half, row_major> &a, const fragment<matrix_b, 32, 8, 16, __half, row_major> &b, const fragment<accumulator, 32, 8, 16, float> &c) { __hmma_m32n8k16_mma_f32f32((float *)d.x, (const int *)a.x, (const int *)b.x, (const float *)c.x, 0, 0); }
HEDDLE_D void mma_sync(fragment<accumulator, 32, 8, 16, float> &d, const fragment<matrix_a, 32, 8, 16, __half, row_major> &a, const fragment<matrix_b, 32, 8, 16, __half, col_major> &b, const fragment<accumulator, 32, 8, 16, float> &c) { __hmma_m32n8k16_mma_f32f32((float *)d.x, (const int *)a.x, (const int *)b.x, (const float *)c.x, 1, 0); }
HEDDLE_D void mma_sync(fragment<accumulator, 32, 8, 16, float> &d, const fragment<matrix_a, 32, 8, 16, __half, col_major> &a, const fragment<matrix_b, 32, 8, 16, __half, row_major> &b, const fragment<accumulator, 32, 8, 16, float> &c) { __hmma_m32n8k16_mma_f32f32((float *)d.x, (const int *)a.x, (const int *)b.x, (const float *)c.x, 2, 0); }
HEDDLE_D void mma_sync(fragment<accumulator, 32, 8, 16, float> &d, const fragment<matrix_a, 32, 8, 16, __half, col_major> &a, const fragment<matrix_b, 32, 8, 16, __half, col_major> &b, const fragment<accumulator, 32, 8, 16, float> &c) { __hmma_m32n8k16_mma_f32f32((float *)d.x, (const int *)a.x, (const int *)b.x, (const float *)c.x, 3, 0); }
template <> class fragment<matrix_a, 8, 32, 16, __half, row_major> : public storage<__half, 16> {};
HEDDLE_D void load_matrix_sync(fragment<matrix_a, 8, 32, 16, __half, row_major> &f, const __half *p, unsigned ldm) { __hmma_m8n32k16_ld_a((int *)f.x, (const int *)p, ldm, 0); }
template <> class fragment<matrix_a, 8, 32, 16, __half, col_major> : public storage<__half, 16> {};
HEDDLE_D void load_matrix_sync(fragment<matrix_a, 8, 32, 16, __half, col_major> &f, const __half *p, unsigned ldm) { __hmma_m8n32k16_ld_a((int *)f.x, (const int *)p, ldm, 1); }
template <> class fragment<matrix_b, 8, 32, 16, __half, row_major> : public storage<__half, 16> {};
HEDDLE_D void load_matrix_sync(fragment<matrix_b, 8, 32, 16, __half, row_major> &f, const __half *p, unsigned ldm) { __hmma_m8n32k16_ld_b((int *)f.x, (const int *)p, ldm, 0); }
template <> class fragment<matrix_b, 8, 32, 16, __half, col_major> : public storage<__half, 16> {};
HEDDLE_D void load_matrix_sync(fragment<matrix_b, 8, 32, 16, __half, col_major> &f, const __half *p, unsigned ldm) { __hmma_m8n32k16_ld_b((int *)f.x, (const int *)p, ldm, 1); }
template <> class fragment<accumulator, 8, 32, 16, __half> : public storage<__half, 8> {};
HEDDLE_D void load_matrix_sync(fragment<accumulator, 8, 32, 16, __half> &f, const __half *p, unsigned ldm, layout_t l) {
  if (l == mem_row_major) __hmma_m8n32k16_ld_c_f16((int *)f.x, (const int *)p, ldm, 0); else __hmma_m8n32k16_ld_c_f16((int *)f.x, (const int *)p, ldm, 1);
}
HEDDLE_D void store_matrix_sync(__half *p, const fragment<accumulator, 8, 32, 16, __half> &f, unsigned ldm, layout_t l) {
  if (l == mem_row_major) __hmma_m8n32k16_st_c_f16((int *)p, (int *)f.x, ldm, 0); else __hmma_m8n32k16_st_c_f16((int *)p, (int *)f.x, ldm, 1);
}
template <> class fragment<accumulator, 8, 32, 16, float> : public storage<float, 8> {};
HEDDLE_D void load_matrix_sync(fragment<accumulator, 8, 32, 16, float> &f, const float *p, unsigned ldm, layout_t l) {
  if (l == mem_row_major) __hmma_m8n32k16_ld_c_f32((float *)f.x, (const float *)p, ldm, 0); else __hmma_m8n32k16_ld_c_f32((float *)f.x, (const float *)p, ldm, 1);
}
HEDDLE_D void store_matrix_sync(float *p, const fragment<accumulator, 8, 32, 16, float> &f, unsigned ldm, layout_t l) {
  if (l == mem_row_major) __hmma_m8n32k16_st_c_f32((float *)p, (float *)f.x, ldm, 0); else __hmma_m8n32k16_st_c_f32((float *)p, (float *)f.x, ldm, 1);
}
HEDDLE_D void mma_sync(fragment<accumulator, 8, 32, 16, __half> &d, const fragment<matrix_a, 8, 32, 16, __half, row_major> &a, const fragment<matrix_b, 8, 32, 16, __half, row_major> &b, const fragment<accumulator, 8, 32, 16, __half> &c) { __hmma_m8n32k16_mma_f16f16((int *)d.x, (const int *)a.x, (const int *)b.x, (const int *)c.x, 0, 0); }
HEDDLE_D void mma_sync(fragment<accumulator, 8, 32, 16, __half> &d, const fragment<matrix_a, 8, 32, 16, __half, row_major> &a, const fragment<matrix_b, 8, 32, 16, __half, col_major> &b, const fragment<accumulator, 8, 32, 16, __half> &c) { __hmma_m8n32k16_mma_f16f16((int *)d.x, (const int *)a.x, (const int *)b.x, (const int *)c.x, 1, 0); }
HEDDLE_D void mma_sync(fragment<accumulator, 8, 32, 16, __half> &d, const fragment<matrix_a, 8, 32, 16, __half, col_major> &a, const fragment<matrix_b, 8, 32, 16, __half, row_major> &b, const fragment<accumulator, 8, 32, 16, __half> &c) { __hmma_m8n32k16_mma_f16f16((int *)d.x, (const int *)a.x, (const int *)b.x, (const int *)c.x, 2, 0); }
HEDDLE_D void mma_sync(fragment<accumulator, 8, 32, 16, __half> &d, const fragment<matrix_a, 8, 32, 16, __half, col_major> &a, const fragment<matrix_b, 8, 32, 16, __half, col_major> &b, const fragment<accumulator, 8, 32, 16, __half> &c) { __hmma_m8n32k16_mma_f16f16((int *)d.x, (const int *)a.x, (const int *)b.x, (const int *)c.x, 3, 0); }
HEDDLE_D void mma_sync(fragment<accumulator, 8, 32, 16, __half> &d, const fragment<matrix_a, 8, 32, 16, __half, row_major> &a, const fragment<matrix_b, 8, 32, 16, __half, row_major> &b, const fragment<accumulator, 8, 32, 16, float> &c) { __hmma_m8n32k16_mma_f16f32((int *)d.x, (const int *)a.x, (const int *)b.x, (const float *)c.x, 0, 0); }
HEDDLE_D void mma_sync(fragment<accumulator, 8, 32, 16, __half> &d, const fragment<matrix_a, 8, 32, 16, __half, row_major> &a, const fragment<matrix_b, 8, 32, 16, __half, col_major> &b, const fragment<accumulator, 8, 32, 16, float> &c) { __hmma_m8n32k16_mma_f16f32((int *)d.x, (const int *)a.x, (const int *)b.x, (const float *)c.x, 1, 0); }
HEDDLE_D void mma_sync(fragment<accumulator, 8, 32, 16, __half> &d, const fragment<matrix_a, 8, 32, 16, __half, col_major> &a, const fragment<matrix_b, 8, 32, 16, __half, row_major> &b, const fragment<accumulator, 8, 32, 16, float> &c) { __hmma_m8n32k16_mma_f16f32((int *)d.x, (const int *)a.x, (const int *)b.x, (const float *)c.x, 2, 0); }
HEDDLE_D void mma_sync(fragment<accumulator, 8, 32, 16, __half> &d, const fragment<matrix_a, 8, 32, 16, __half, col_major> &a, const fragment<matrix_b, 8, 32, 16, __half, col_major> &b, const fragment<accumulator, 8, 32, 16, float> &c) { __hmma_m8n32k16_mma_f16f32((int *)d.x, (const int *)a.x, (const int *)b.x, (const float *)c.x, 3, 0); }
HEDDLE_D void mma_sync(fragment<accumulator, 8, 32, 16, float> &d, const fragment<matrix_a, 8, 32, 16, __half, row_major> &a, const fragment<matrix_b, 8, 32, 16, __half, row_major> &b, const fragment<accumulator, 8, 32, 16, __half> &c) { __hmma_m8n32k16_mma_f32f16((float *)d.x, (const int *)a.x, (const int *)b.x, (const int *)c.x, 0, 0); }
HEDDLE_D void mma_sync(fragment<accumulator, 8, 32, 16, float> &d, const fragment<matrix_a, 8, 32, 16, __half, row_major> &a, const fragment<matrix_b, 8, 32, 16, __half, col_major> &b, const fragment<accumulator, 8, 32, 16, __half> &c) { __hmma_m8n32k16_mma_f32f16((float *)d.x, (const int *)a.x, (const int *)b.x, (const int *)c.x, 1, 0); }
HEDDLE_D void mma_sync(fragment<accumulator, 8, 32, 16, float> &d, const fragment<matrix_a, 8, 32, 16, __half, col_major> &a, const fragment<matrix_b, 8, 32, 16, __half, row_major> &b, const fragment<accumulator, 8, 32, 16, __half> &c) { __hmma_m8n32k16_mma_f32f16((float *)d.x, (const int *)a.x, (const int *)b.x, (const int *)c.x, 2, 0); }
HEDDLE_D void mma_sync(fragment<accumulator, 8, 32, 16, float> &d, const fragment<matrix_a, 8, 32, 16, __half, col_major> &a, const fragment<matrix_b, 8, 32, 16, __half, col_major> &b, const fragment<accumulator, 8, 32, 16, __half> &c) { __hmma_m8n32k16_mma_f32f16((float *)d.x, (const int *)a.x, (const int *)b.x, (const int *)c.x, 3, 0); }
HEDDLE_D void mma_sync(fragment<accumulator, 8, 32, 16, float> &d, const fragment<matrix_a, 8, 32, 16, __half, row_major> &a, const fragment<matrix_b, 8, 32, 16, __half, row_major> &b, const fragment<accumulator, 8, 32, 16, float> &c) { __hmma_m8n32k16_mma_f32f32((float *)d.x, (const int *)a.x, (const int *)b.x, (const float *)c.x, 0, 0); }
HEDDLE_D void mma_sync(fragment<accumulator, 8, 32, 16, float> &d, const fragment<matrix_a, 8, 32, 16, __half, row_major> &a, const fragment<matrix_b, 8, 32, 16, __half, col_major> &b, const fragment<accumulator, 8, 32, 16, float> &c) { __hmma_m8n32k16_mma_f32f32((float *)d.x, (const int *)a.x, (const int *)b.x, (const float *)c.x, 1, 0); }
HEDDLE_D void mma_sync(fragment<accumulator, 8, 32, 16, float> &d, const fragment<matrix_a, 8, 32, 16, __half, col_major> &a, const fragment<matrix_b, 8, 32, 16, __half, row_major> &b, const fragment<accumulator, 8, 32, 16, float> &c) { __hmma_m8n32k16_mma_f32f32((float *)d.x, (const int *)a.x, (const int *)b.x, (const float *)c.x, 2, 0); }
HEDDLE_D void mma_sync(fragment<accumulator, 8, 32, 16, float> &d, const fragment<matrix_a, 8, 32, 16, __half, col_major> &a, const fragment<matrix_b, 8, 32, 16, __half, col_major> &b, const fragment<accumulator, 8, 32, 16, float> &c) { __hmma_m8n32k16_mma_f32f32((float *)d.x, (const int *)a.x, (const int *)b.x, (const float *)c.x, 3, 0); }
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 720
template <> class fragment<matrix_a, 16, 16, 16, signed char, row_major> : public storage<signed char, 8> {};
HEDDLE_D void load_matrix_sync(fragment<matrix_a, 16, 16, 16, signed char, row_major> &f, const signed char *p, unsigned ldm) { __imma_m16n16k16_ld_a_s8((int *)f.x, (const int *)p, ldm, 0); }
template <> class fragment<matrix_a, 16, 16, 16, signed char, col_major> : public storage<signed char, 8> {};
HEDDLE_D void load_matrix_sync(fragment<matrix_a, 16, 16, 16, signed char, col_major> &f, const signed char *p, unsigned ldm) { __imma_m16n16k16_ld_a_s8((int *)f.x, (const int *)p, ldm, 1); }
template <> class fragment<matrix_b, 16, 16, 16, signed char, row_major> : public storage<signed char, 8> {};
HEDDLE_D void load_matrix_sync(fragment<matrix_b, 16, 16, 16, signed char, row_major> &f, const signed char *p, unsigned ldm) { __imma_m16n16k16_ld_b_s8((int *)f.x, (const int *)p, ldm, 0); }
template <> class fragment<matrix_b, 16, 16, 16, signed char, col_major> : public storage<signed char, 8> {};
HEDDLE_D void load_matrix_sync(fragment<matrix_b, 16, 16, 16, signed char, col_major> &f, const signed char *p, unsigned ldm) { __imma_m16n16k16_ld_b_s8((int *)f.x, (const int *)p, ldm, 1); }
template <> class fragment<matrix_a, 16, 16, 16, unsigned char, row_major> : public storage<unsigned char, 8> {};
HEDDLE_D void load_matrix_sync(fragment<matrix_a, 16, 16, 16, unsigned char, row_major> &f, const unsigned char *p, unsigned ldm) { __imma_m16n16k16_ld_a_u8((int *)f.x, (const int *)p, ldm, 0); }
template <> class fragment<matrix_a, 16, 16, 16, unsigned char, col_major> : public storage<unsigned char, 8> {};
HEDDLE_D void load_matrix_sync(fragment<matrix_a, 16, 16, 16, unsigned char, col_major> &f, const unsigned char *p, unsigned ldm) { __imma_m16n16k16_ld_a_u8((int *)f.x, (const int *)p, ldm, 1); }
template <> class fragment<matrix_b, 16, 16, 16, unsigned char, row_major> : public storage<unsigned char, 8> {};
HEDDLE_D void load_matrix_sync(fragment<matrix_b, 16, 16, 16, unsigned char, row_major> &f, const unsigned char *p, unsigned ldm) { __imma_m16n16k16_ld_b_u8((int *)f.x, (const int *)p, ldm, 0); }
template <> class fragment<matrix_b, 16, 16, 16, unsigned char, col_major> : public storage<unsigned char, 8> {};
HEDDLE_D void load_matrix_sync(fragment<matrix_b, 16, 16, 16, unsigned char, col_major> &f, const unsigned char *p, unsigned ldm) { __imma_m16n16k16_ld_b_u8((int *)f.x, (const int *)p, ldm, 1); }
template <> class fragment<accumulator, 16, 16, 16, int> : public storage<int, 8> {};
HEDDLE_D void load_matrix_sync(fragment<accumulator, 16, 16, 16, int> &f, const int *p, unsigned ldm, layout_t l) {
  if (l == mem_row_major) __imma_m16n16k16_ld_c((int *)f.x, (const int *)p, ldm, 0); else __imma_m16n16k16_ld_c((int *)f.x, (const int *)p, ldm, 1);
}
HEDDLE_D void store_matrix_sync(int *p, const fragment<accumulator, 16, 16, 16, int> &f, unsigned ldm, layout_t l) {
  if (l == mem_row_major) __imma_m16n16k16_st_c_i32((int *)p, (int *)f.x, ldm, 0); else __imma_m16n16k16_st_c_i32((int *)p, (int *)f.x, ldm, 1);
}
HEDDLE_D void mma_sync(fragment<accumulator, 16, 16, 16, int> &d, const fragment<matrix_a, 16, 16, 16, signed char, row_major> &a, const fragment<matrix_b, 16, 16, 16, signed char, row_major> &b, const fragment<accumulator, 16, 16, 16, int> &c) { __imma_m16n16k16_mma_s8((int *)d.x, (const int *)a.x, (const int *)b.x, (const int *)c.x, 0, 0); }
HEDDLE_D void mma_sync(fragment<accumulator, 16, 16, 16, int> &d, const fragment<matrix_a, 16, 16, 16, signed char, row_major> &a, const fragment<matrix_b, 16, 16, 16, signed char, col_major> &b, const fragment<accumulator, 16, 16, 16, int> &c) { __imma_m16n16k16_mma_s8((int *)d.x, (const int *)a.x, (const int *)b.x, (const int *)c.x, 1, 0); }
HEDDLE_D void mma_sync(fragment<accumulator, 16, 16, 16, int> &d, const fragment<matrix_a, 16, 16, 16, signed char, col_major> &a, const fragment<matrix_b, 16, 16, 16, signed char, row_major> &b, const fragment<accumulator, 16, 16, 16, int> &c) { __imma_m16n16k16_mma_s8((int *)d.x, (const int *)a.x, (const int *)b.x, (const int *)c.x, 2, 0); }
HEDDLE_D void mma_sync(fragment<accumulator, 16, 16, 16, int> &d, const fragment<matrix_a, 16, 16, 16, signed char, col_major> &a, const fragment<matrix_b, 16, 16, 16, signed char, col_major> &b, const fragment<accumulator, 16, 16, 16, int> &c) { __imma_m16n16k16_mma_s8((int *)d.x, (const int *)a.x, (const int *)b.x, (const int *)c.x, 3, 0); }
HEDDLE_D void mma_sync(fragment<accumulator, 16, 16, 16, int> &d, const fragment<matrix_a, 16, 16, 16, unsigned char, row_major> &a, const fragment<matrix_b, 16, 16, 16, unsigned char, row_major> &b, const fragment<accumulator, 16, 16, 16, int> &c) { __imma_m16n16k16_mma_u8((int *)d.x, (const int *)a.x, (const int *)b.x, (const int *)c.x, 0, 0); }
HEDDLE_D void mma_sync(fragment<accumulator, 16, 16, 16, int> &d, const fragment<matrix_a, 16, 16, 16, unsigned char, row_major> &a, const fragment<matrix_b, 16, 16, 16, unsigned char, col_major> &b, const fragment<accumulator, 16, 16, 16, int> &c) { __imma_m16n16k16_mma_u8((int *)d.x, (const int *)a.x, (const int *)b.x, (const int *)c.x, 1, 0); }
HEDDLE_D void mma_sync(fragment<accumulator, 16, 16, 16, int> &d, const fragment<matrix_a, 16, 16, 16, unsigned char, col_major> &a, const fragment<matrix_b, 16, 16, 16, unsigned char, row_major> &b, const fragment<accumulator, 16, 16, 16, int> &c) { __imma_m16n16k16_mma_u8((int *)d.x, (const int *)a.x, (const int *)b.x, (const int *)c.x, 2, 0); }
HEDDLE_D void mma_sync(fragment<accumulator, 16, 16, 16, int> &d, const fragment<matrix_a, 16, 16, 16, unsigned char, col_major> &a, const fragment<matrix_b, 16, 16, 16, unsigned char, col_major> &b, const fragment<accumulator, 16, 16, 16, int> &c) { __imma_m16n16k16_mma_u8((int *)d.x, (const int *)a.x, (const int *)b.x, (const int *)c.x, 3, 0); }
template <> class fragment<matrix_a, 32, 8, 16, signed char, row_major> : public storage<signed char, 16> {};
HEDDLE_D void load_matrix_sync(fragment<matrix_a, 32, 8, 16, signed char, row_major> &f, const signed char *p, unsigned ldm) { __imma_m32n8k16_ld_a_s8((int *)f.x, (const int *)p, ldm, 0); }
template <> class fragment<matrix_a, 32, 8, 16, signed char, col_major> : public storage<signed char, 16> {};
HEDDLE_D void load_matrix_sync(fragment<matrix_a, 32, 8, 16, signed char, col_major> &f, const signed char *p, unsigned ldm) { __imma_m32n8k16_ld_a_s8((int *)f.x, (const int *)p, ldm, 1); }
template <> class fragment<matrix_b, 32, 8, 16, signed char, row_major> : public storage<signed char, 4> {};
HEDDLE_D void load_matrix_sync(fragment<matrix_b, 32, 8, 16, signed char, row_major> &f, const signed char *p, unsigned ldm) { __imma_m32n8k16_ld_b_s8((int *)f.x, (const int *)p, ldm, 0); }
template <> class fragment<matrix_b, 32, 8, 16, signed char, col_major> : public storage<signed char, 4> {};
HEDDLE_D void load_matrix_sync(fragment<matrix_b, 32, 8, 16, signed char, col_major> &f, const signed char *p, unsigned ldm) { __imma_m32n8k16_ld_b_s8((int *)f.x, (const int *)p, ldm, 1); }
template <> class fragment<matrix_a, 32, 8, 16, unsigned char, row_major> : public storage<unsigned char, 16> {};
HEDDLE_D void load_matrix_sync(fragment<matrix_a, 32, 8, 16, unsigned char, row_major> &f, const unsigned char *p, unsigned ldm) { __imma_m32n8k16_ld_a_u8((int *)f.x, (const int *)p, ldm, 0); }
template <> class fragment<matrix_a, 32, 8, 16, unsigned char, col_major> : public storage<unsigned char, 16> {};
HEDDLE_D void load_matrix_sync(fragment<matrix_a, 32, 8, 16, unsigned char, col_major> &f, const unsigned char *p, unsigned ldm) { __imma_m32n8k16_ld_a_u8((int *)f.x, (const int *)p, ldm, 1); }
template <> class fragment<matrix_b, 32, 8, 16, unsigned char, row_major> : public storage<unsigned char, 4> {};
HEDDLE_D void load_matrix_sync(fragment<matrix_b, 32, 8, 16, unsigned char, row_major> &f, const unsigned char *p, unsigned ldm) { __imma_m32n8k16_ld_b_u8((int *)f.x, (const int *)p, ldm, 0); }
template <> class fragment<matrix_b, 32, 8, 16, unsigned char, col_major> : public storage<unsigned char, 4> {};
HEDDLE_D void load_matrix_sync(fragment<matrix_b, 32, 8, 16, unsigned char, col_major> &f, const unsigned char *p, unsigned ldm) { __imma_m32n8k16_ld_b_u8((int *)f.x, (const int *)p, ldm, 1); }
template <> class fragment<accumulator, 32, 8, 16, int> : public storage<int, 8> {};
HEDDLE_D void load_matrix_sync(fragment<accumulator, 32, 8, 16, int> &f, const int *p, unsigned ldm, layout_t l) {
  if (l == mem_row_major) __imma_m32n8k16_ld_c((int *)f.x, (const int *)p, ldm, 0); else __imma_m32n8k16_ld_c((int *)f.x, (const int *)p, ldm, 1);
}
HEDDLE_D void store_matrix_sync(int *p, const fragment<accumulator, 32, 8, 16, int> &f, unsigned ldm, layout_t l) {
  if (l == mem_row_major) __imma_m32n8k16_st_c_i32((int *)p, (int *)f.x, ldm, 0); else __imma_m32n8k16_st_c_i32((int *)p, (int *)f.x, ldm, 1);
}
HEDDLE_D void mma_sync(fragment<accumulator, 32, 8, 16, int> &d, const fragment<matrix_a, 32, 8, 16, signed char, row_major> &a, const fragment<matrix_b, 32, 8, 16, signed char, row_major> &b, const fragment<accumulator, 32, 8, 16, int> &c) { __imma_m32n8k16_mma_s8((int *)d.x, (const int *)a.x, (const int *)b.x, (const int *)c.x, 0, 0); }
HEDDLE_D void mma_sync(fragment<accumulator, 32, 8, 16, int> &d, const fragment<matrix_a, 32, 8, 16, signed char, row_major> &a, const fragment<matrix_b, 32, 8, 16, signed char, col_major> &b, const fragment<accumulator, 32, 8, 16, int> &c) { __imma_m32n8k16_mma_s8((int *)d.x, (const int *)a.x, (const int *)b.x, (const int *)c.x, 1, 0); }
HEDDLE_D void mma_sync(fragment<accumulator, 32, 8, 16, int> &d, const fragment<matrix_a, 32, 8, 16, signed char, col_major> &a, const fragment<matrix_b, 32, 8, 16, signed char, row_major> &b, const fragment<accumulator, 32, 8, 16, int> &c) { __imma_m32n8k16_mma_s8((int *)d.x, (const int *)a.x, (const int *)b.x, (const int *)c.x, 2, 0); }
HEDDLE_D void mma_sync(fragment<accumulator, 32, 8, 16, int> &d, const fragment<matrix_a, 32, 8, 16, signed char, col_major> &a, const fragment<matrix_b, 32, 8, 16, signed char, col_major> &b, const fragment<accumulator, 32, 8, 16, int> &c) { __imma_m32n8k16_mma_s8((int *)d.x, (const int *)a.x, (const int *)b.x, (const int *)c.x, 3, 0); }
HEDDLE_D void mma_sync(fragment<accumulator, 32, 8, 16, int> &d, const fragment<matrix_a, 32, 8, 16, unsigned char, row_major> &a, const fragment<matrix_b, 32, 8, 16, unsigned char, row_major> &b, const fragment<accumulator, 32, 8, 16, int> &c) { __imma_m32n8k16_mma_u8((int *)d.x, (const int *)a.x, (const int *)b.x, (const int *)c.x, 0, 0); }
HEDDLE_D void mma_sync(fragment<accumulator, 32, 8, 16, int> &d, const fragment<matrix_a, 32, 8, 16, unsigned char, row_major> &a, const fragment<matrix_b, 32, 8, 16, unsigned char, col_major> &b, const fragment<accumulator, 32, 8, 16, int> &c) { __imma_m32n8k16_mma_u8((int *)d.x, (const int *)a.x, (const int *)b.x, (const int *)c.x, 1, 0); }
HEDDLE_D void mma_sync(fragment<accumulator, 32, 8, 16, int> &d, const fragment<matrix_a, 32, 8, 16, unsigned char, col_major> &a, const fragment<matrix_b, 32, 8, 16, unsigned char, row_major> &b, const fragment<accumulator, 32, 8, 16, int> &c) { __imma_m32n8k16_mma_u8((int *)d.x, (const int *)a.x, (const int *)b.x, (const int *)c.x, 2, 0); }
HEDDLE_D void mma_sync(fragment<accumulator, 32, 8, 16, int> &d, const fragment<matrix_a, 32, 8, 16, unsigned char, col_major> &a, const fragment<matrix_b, 32, 8, 16, unsigned char, col_major> &b, const fragment<accumulator, 32, 8, 16, int> &c) { __imma_m32n8k16_mma_u8((int *)d.x, (const int *)a.x, (const int *)b.x, (const int *)c.x, 3, 0); }
template <> class fragment<matrix_a, 8, 32, 16, signed char, row_major> : public storage<signed char, 4> {};
HEDDLE_D void load_matrix_sync(fragment<matrix_a, 8, 32, 16, signed char, row_major> &f, const signed char *p, unsigned ldm) { __imma_m8n32k16_ld_a_s8((int *)f.x, (const int *)p, ldm, 0); }
template <> class fragment<matrix_a, 8, 32, 16, signed char, col_major> : public storage<signed char, 4> {};
HEDDLE_D void load_matrix_sync(fragment<matrix_a, 8, 32, 16, signed char, col_major> &f, const signed char *p, unsigned ldm) { __imma_m8n32k16_ld_a_s8((int *)f.x, (const int *)p, ldm, 1); }
template <> class fragment<matrix_b, 8, 32, 16, signed char, row_major> : public storage<signed char, 16> {};
HEDDLE_D void load_matrix_sync(fragment<matrix_b, 8, 32, 16, signed char, row_major> &f, const signed char *p, unsigned ldm) { __imma_m8n32k16_ld_b_s8((int *)f.x, (const int *)p, ldm, 0); }
template <> class fragment<matrix_b, 8, 32, 16, signed char, col_major> : public storage<signed char, 16> {};
HEDDLE_D void load_matrix_sync(fragment<matrix_b, 8, 32, 16, signed char, col_major> &f, const signed char *p, unsigned ldm) { __imma_m8n32k16_ld_b_s8((int *)f.x, (const int *)p, ldm, 1); }
template <> class fragment<matrix_a, 8, 32, 16, unsigned char, row_major> : public storage<unsigned char, 4> {};
HEDDLE_D void load_matrix_sync(fragment<matrix_a, 8, 32, 16, unsigned char, row_major> &f, const unsigned char *p, unsigned ldm) { __imma_m8n32k16_ld_a_u8((int *)f.x, (const int *)p, ldm, 0); }
template <> class fragment<matrix_a, 8, 32, 16, unsigned char, col_major> : public storage<unsigned char, 4> {};
HEDDLE_D void load_matrix_sync(fragment<matrix_a, 8, 32, 16, unsigned char, col_major> &f, const unsigned char *p, unsigned ldm) { __imma_m8n32k16_ld_a_u8((int *)f.x, (const int *)p, ldm, 1); }
template <> class fragment<matrix_b, 8, 32, 16, unsigned char, row_major> : public storage<unsigned char, 16> {};
HEDDLE_D void load_matrix_sync(fragment<matrix_b, 8, 32, 16, unsigned char, row_major> &f, const unsigned char *p, unsigned ldm) { __imma_m8n32k16_ld_b_u8((int *)f.x, (const int *)p, ldm, 0); }
template <> class fragment<matrix_b, 8, 32, 16, unsigned char, col_major> : public storage<unsigned char, 16> {};
HEDDLE_D void load_matrix_sync(fragment<matrix_b, 8, 32, 16, unsigned char, col_major> &f, const unsigned char *p, unsigned ldm) { __imma_m8n32k16_ld_b_u8((int *)f.x, (const int *)p, ldm, 1); }
template <> class fragment<accumulator, 8, 32, 16, int> : public storage<int, 8> {};
HEDDLE_D void load_matrix_sync(fragment<accumulator, 8, 32, 16, int> &f, const int *p, unsigned ldm, layout_t l) {
  if (l == mem_row_major) __imma_m8n32k16_ld_c((int *)f.x, (const int *)p, ldm, 0); else __imma_m8n32k16_ld_c((int *)f.x, (const int *)p, ldm, 1);
}
HEDDLE_D void store_matrix_sync(int *p, const fragment<accumulator, 8, 32, 16, int> &f, unsigned ldm, layout_t l) {
  if (l == mem_row_major) __imma_m8n32k16_st_c_i32((int *)p, (int *)f.x, ldm, 0); else __imma_m8n32k16_st_c_i32((int *)p, (int *)f.x, ldm, 1);
}
HEDDLE_D void mma_sync(fragment<accumulator, 8, 32, 16, int> &d, const fragment<matrix_a, 8, 32, 16, signed char, row_major> &a, const fragment<matrix_b, 8, 32, 16, signed char, row_major> &b, const fragment<accumulator, 8, 32, 16, int> &c) { __imma_m8n32k16_mma_s8((int *)d.x, (const int *)a.x, (const int *)b.x, (const int *)c.x, 0, 0); }
HEDDLE_D void mma_sync(fragment<accumulator, 8, 32, 16, int> &d, const fragment<matrix_a, 8, 32, 16, signed char, row_major> &a, const fragment<matrix_b, 8, 32, 16, signed char, col_major> &b, const fragment<accumulator, 8, 32, 16, int> &c) { __imma_m8n32k16_mma_s8((int *)d.x, (const int *)a.x, (const int *)b.x, (const int *)c.x, 1, 0); }
HEDDLE_D void mma_sync(fragment<accumulator, 8, 32, 16, int> &d, const fragment<matrix_a, 8, 32, 16, signed char, col_major> &a, const fragment<matrix_b, 8, 32, 16, signed char, row_major> &b, const fragment<accumulator, 8, 32, 16, int> &c) { __imma_m8n32k16_mma_s8((int *)d.x, (const int *)a.x, (const int *)b.x, (const int *)c.x, 2, 0); }
HEDDLE_D void mma_sync(fragment<accumulator, 8, 32, 16, int> &d, const fragment<matrix_a, 8, 32, 16, signed char, col_major> &a, const fragment<matrix_b, 8, 32, 16, signed char, col_major> &b, const fragment<accumulator, 8, 32, 16, int> &c) { __imma_m8n32k16_mma_s8((int *)d.x, (const int *)a.x, (const int *)b.x, (const int *)c.x, 3, 0); }
HEDDLE_D void mma_sync(fragment<accumulator, 8, 32, 16, int> &d, const fragment<matrix_a, 8, 32, 16, unsigned char, row_major> &a, const fragment<matrix_b, 8, 32, 16, unsigned char, row_major> &b, const fragment<accumulator, 8, 32, 16, int> &c) { __imma_m8n32k16_mma_u8((int *)d.x, (const int *)a.x, (const int *)b.x, (const int *)c.x, 0, 0); }
HEDDLE_D void mma_sync(fragment<accumulator, 8, 32, 16, int> &d, const fragment<matrix_a, 8, 32, 16, unsigned char, row_major> &a, const fragment<matrix_b, 8, 32, 16, unsigned char, col_major> &b, const fragment<accumulator, 8, 32, 16, int> &c) { __imma_m8n32k16_mma_u8((int *)d.x, (const int *)a.x, (const int *)b.x, (const int *)c.x, 1, 0); }
HEDDLE_D void mma_sync(fragment<accumulator, 8, 32, 16, int> &d, const fragment<matrix_a, 8, 32, 16, unsigned char, col_major> &a, const fragment<matrix_b, 8, 32, 16, unsigned char, row_major> &b, const fragment<accumulator, 8, 32, 16, int> &c) { __imma_m8n32k16_mma_u8((int *)d.x, (const int *)a.x, (const int *)b.x, (const int *)c.x, 2, 0); }
HEDDLE_D void mma_sync(fragment<accumulator, 8, 32, 16, int> &d, const fragment<matrix_a, 8, 32, 16, unsigned char, col_major> &a, const fragment<matrix_b, 8, 32, 16, unsigned char, col_major> &b, const fragment<accumulator, 8, 32, 16, int> &c) { __imma_m8n32k16_mma_u8((int *)d.x, (const int *)a.x, (const int *)b.x, (const int *)c.x, 3, 0); }
#endif
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
template <> class fragment<matrix_a, 16, 16, 16, __nv_bfloat16, row_major> : public storage<__nv_bfloat16, 8> {};
HEDDLE_D void load_matrix_sync(fragment<matrix_a, 16, 16, 16, __nv_bfloat16, row_major> &f, const __nv_bfloat16 *p, unsigned ldm) { __mma_bf16_m16n16k16_ld_a((int *)f.x, (const int *)p, ldm, 0); }
template <> class fragment<matrix_a, 16, 16, 16, __nv_bfloat16, col_major> : public storage<__nv_bfloat16, 8> {};
HEDDLE_D void load_matrix_sync(fragment<matrix_a, 16, 16, 16, __nv_bfloat16, col_major> &f, const __nv_bfloat16 *p, unsigned ldm) { __mma_bf16_m16n16k16_ld_a((int *)f.x, (const int *)p, ldm, 1); }
template <> class fragment<matrix_b, 16, 16, 16, __nv_bfloat16, row_major> : public storage<__nv_bfloat16, 8> {};
HEDDLE_D void load_matrix_sync(fragment<matrix_b, 16, 16, 16, __nv_bfloat16, row_major> &f, const __nv_bfloat16 *p, unsigned ldm) { __mma_bf16_m16n16k16_ld_b((int *)f.x, (const int *)p, ldm, 0); }
template <> class fragment<matrix_b, 16, 16, 16, __nv_bfloat16, col_major> : public storage<__nv_bfloat16, 8> {};
HEDDLE_D void load_matrix_sync(fragment<matrix_b, 16, 16, 16, __nv_bfloat16, col_major> &f, const __nv_bfloat16 *p, unsigned ldm) { __mma_bf16_m16n16k16_ld_b((int *)f.x, (const int *)p, ldm, 1); }
HEDDLE_D void mma_sync(fragment<accumulator, 16, 16, 16, float> &d, const fragment<matrix_a, 16, 16, 16, __nv_bfloat16, row_major> &a, const fragment<matrix_b, 16, 16, 16, __nv_bfloat16, row_major> &b, const fragment<accumulator, 16, 16, 16, float> &c) { __mma_bf16_m16n16k16_mma_f32((float *)d.x, (const int *)a.x, (const int *)b.x, (const float *)c.x, 0, 0); }
HEDDLE_D void mma_sync(fragment<accumulator, 16, 16, 16, float> &d, const fragment<matrix_a, 16, 16, 16, __nv_bfloat16, row_major> &a, const fragment<matrix_b, 16, 16, 16, __nv_bfloat16, col_major> &b, const fragment<accumulator, 16, 16, 16, float> &c) { __mma_bf16_m16n16k16_mma_f32((float *)d.x, (const int *)a.x, (const int *)b.x, (const float *)c.x, 1, 0); }
HEDDLE_D void mma_sync(fragment<accumulator, 16, 16, 16, float> &d, const fragment<matrix_a, 16, 16, 16, __nv_bfloat16, col_major> &a, const fragment<matrix_b, 16, 16, 16, __nv_bfloat16, row_major> &b, const fragment<accumulator, 16, 16, 16, float> &c) { __mma_bf16_m16n16k16_mma_f32((float *)d.x, (const int *)a.x, (const int *)b.x, (const float *)c.x, 2, 0); }
HEDDLE_D void mma_sync(fragment<accumulator, 16, 16, 16, float> &d, const fragment<matrix_a, 16, 16, 16, __nv_bfloat16, col_major> &a, const fragment<matrix_b, 16, 16, 16, __nv_bfloat16, col_major> &b, const fragment<accumulator, 16, 16, 16, float> &c) { __mma_bf16_m16n16k16_mma_f32((float *)d.x, (const int *)a.x, (const int *)b.x, (const float *)c.x, 3, 0); }
template <> class fragment<matrix_a, 32, 8, 16, __nv_bfloat16, row_major> : public storage<__nv_bfloat16, 16> {};
HEDDLE_D void load_matrix_sync(fragment<matrix_a, 32, 8, 16, __nv_bfloat16, row_major> &f, const __nv_bfloat16 *p, unsigned ldm) { __mma_bf16_m32n8k16_ld_a((int *)f.x, (const int *)p, ldm, 0); }
template <> class fragment<matrix_a, 32, 8, 16, __nv_bfloat16, col_major> : public storage<__nv_bfloat16, 16> {};
HEDDLE_D void load_matrix_sync(fragment<matrix_a, 32, 8, 16, __nv_bfloat16, col_major> &f, const __nv_bfloat16 *p, unsigned ldm) { __mma_bf16_m32n8k16_ld_a((int *)f.x, (const int *)p, ldm, 1); }
template <> class fragment<matrix_b, 32, 8, 16, __nv_bfloat16, row_major> : public storage<__nv_bfloat16, 4> {};
HEDDLE_D void load_matrix_sync(fragment<matrix_b, 32, 8, 16, __nv_bfloat16, row_major> &f, const __nv_bfloat16 *p, unsigned ldm) { __mma_bf16_m32n8k16_ld_b((int *)f.x, (const int *)p, ldm, 0); }
template <> class fragment<matrix_b, 32, 8, 16, __nv_bfloat16, col_major> : public storage<__nv_bfloat16, 4> {};
HEDDLE_D void load_matrix_sync(fragment<matrix_b, 32, 8, 16, __nv_bfloat16, col_major> &f, const __nv_bfloat16 *p, unsigned ldm) { __mma_bf16_m32n8k16_ld_b((int *)f.x, (const int *)p, ldm, 1); }
HEDDLE_D void mma_sync(fragment<accumulator, 32, 8, 16, float> &d, const fragment<matrix_a, 32, 8, 16, __nv_bfloat16, row_major> &a, const fragment<matrix_b, 32, 8, 16, __nv_bfloat16, row_major> &b, const fragment<accumulator, 32, 8, 16, float> &c) { __mma_bf16_m32n8k16_mma_f32((float *)d.x, (const int *)a.x, (const int *)b.x, (const float *)c.x, 0, 0); }
HEDDLE_D void mma_sync(fragment<accumulator, 32, 8, 16, float> &d, const fragment<matrix_a, 32, 8, 16, __nv_bfloat16, row_major> &a, const fragment<matrix_b, 32, 8, 16, __nv_bfloat16, col_major> &b, const fragment<accumulator, 32, 8, 16, float> &c) { __mma_bf16_m32n8k16_mma_f32((float *)d.x, (const int *)a.x, (const int *)b.x, (const float *)c.x, 1, 0); }
HEDDLE_D void mma_sync(fragment<accumulator, 32, 8, 16, float> &d, const fragment<matrix_a, 32, 8, 16, __nv_bfloat16, col_major> &a, const fragment<matrix_b, 32, 8, 16, __nv_bfloat16, row_major> &b, const fragment<accumulator, 32, 8, 16, float> &c) { __mma_bf16_m32n8k16_mma_f32((float *)d.x, (const int *)a.x, (const int *)b.x, (const float *)c.x, 2, 0); }
HEDDLE_D void mma_sync(fragment<accumulator, 32, 8, 16, float> &d, const fragment<matrix_a, 32, 8, 16, __nv_bfloat16, col_major> &a, const fragment<matrix_b, 32, 8, 16, __nv_bfloat16, col_major> &b, const fragment<accumulator, 32, 8, 16, float> &c) { __mma_bf16_m32n8k16_mma_f32((float *)d.x, (const int *)a.x, (const int *)b.x, (const float *)c.x, 3, 0); }
template <> class fragment<matrix_a, 8, 32, 16, __nv_bfloat16, row_major> : public storage<__nv_bfloat16, 4> {};
HEDDLE_D void load_matrix_sync(fragment<matrix_a, 8, 32, 16, __nv_bfloat16, row_major> &f, const __nv_bfloat16 *p, unsigned ldm) { __mma_bf16_m8n32k16_ld_a((int *)f.x, (const int *)p, ldm, 0); }
template <> class fragment<matrix_a, 8, 32, 16, __nv_bfloat16, col_major> : public storage<__nv_bfloat16, 4> {};
HEDDLE_D void load_matrix_sync(fragment<matrix_a, 8, 32, 16, __nv_bfloat16, col_major> &f, const __nv_bfloat16 *p, unsigned ldm) { __mma_bf16_m8n32k16_ld_a((int *)f.x, (const int *)p, ldm, 1); }
template <> class fragment<matrix_b, 8, 32, 16, __nv_bfloat16, row_major> : public storage<__nv_bfloat16, 16> {};
HEDDLE_D void load_matrix_sync(fragment<matrix_b, 8, 32, 16, __nv_bfloat16, row_major> &f, const __nv_bfloat16 *p, unsigned ldm) { __mma_bf16_m8n32k16_ld_b((int *)f.x, (const int *)p, ldm, 0); }
template <> class fragment<matrix_b, 8, 32, 16, __nv_bfloat16, col_major> : public storage<__nv_bfloat16, 16> {};
HEDDLE_D void load_matrix_sync(fragment<matrix_b, 8, 32, 16, __nv_bfloat16, col_major> &f, const __nv_bfloat16 *p, unsigned ldm) { __mma_bf16_m8n32k16_ld_b((int *)f.x, (const int *)p, ldm, 1); }
HEDDLE_D void mma_sync(fragment<accumulator, 8, 32, 16, float> &d, const fragment<matrix_a, 8, 32, 16, __nv_bfloat16, row_major> &a, const fragment<matrix_b, 8, 32, 16, __nv_bfloat16, row_major> &b, const fragment<accumulator, 8, 32, 16, float> &c) { __mma_bf16_m8n32k16_mma_f32((float *)d.x, (const int *)a.x, (const int *)b.x, (const float *)c.x, 0, 0); }
HEDDLE_D void mma_sync(fragment<accumulator, 8, 32, 16, float> &d, const fragment<matrix_a, 8, 32, 16, __nv_bfloat16, row_major> &a, const fragment<matrix_b, 8, 32, 16, __nv_bfloat16, col_major> &b, const fragment<accumulator, 8, 32, 16, float> &c) { __mma_bf16_m8n32k16_mma_f32((float *)d.x, (const int *)a.x, (const int *)b.x, (const float *)c.x, 1, 0); }
HEDDLE_D void mma_sync(fragment<accumulator, 8, 32, 16, float> &d, const fragment<matrix_a, 8, 32, 16, __nv_bfloat16, col_major> &a, const fragment<matrix_b, 8, 32, 16, __nv_bfloat16, row_major> &b, const fragment<accumulator, 8, 32, 16, float> &c) { __mma_bf16_m8n32k16_mma_f32((float *)d.x, (const int *)a.x, (const int *)b.x, (const float *)c.x, 2, 0); }
HEDDLE_D void mma_sync(fragment<accumulator, 8, 32, 16, float> &d, const fragment<matrix_a, 8, 32, 16, __nv_bfloat16, col_major> &a, const fragment<matrix_b, 8, 32, 16, __nv_bfloat16, col_major> &b, const fragment<accumulator, 8, 32, 16, float> &c) { __mma_bf16_m8n32k16_mma_f32((float *)d.x, (const int *)a.x, (const int *)b.x, (const float *)c.x, 3, 0); }
template <> class fragment<matrix_a, 16, 16, 8, precision::tf32, row_major> : public storage<float, 4> {};
HEDDLE_D void load_matrix_sync(fragment<matrix_a, 16, 16, 8, precision::tf32, row_major> &f, const float *p, unsigned ldm) { __mma_tf32_m16n16k8_ld_a((int *)f.x, (const int *)p, ldm, 0); }
template <> class fragment<matrix_a, 16, 16, 8, precision::tf32, col_major> : public storage<float, 4> {};
HEDDLE_D void load_matrix_sync(fragment<matrix_a, 16, 16, 8, precision::tf32, col_major> &f, const float *p, unsigned ldm) { __mma_tf32_m16n16k8_ld_a((int *)f.x, (const int *)p, ldm, 1); }
template <> class fragment<matrix_b, 16, 16, 8, precision::tf32, row_major> : public storage<float, 4> {};
HEDDLE_D void load_matrix_sync(fragment<matrix_b, 16, 16, 8, precision::tf32, row_major> &f, const float *p, unsigned ldm) { __mma_tf32_m16n16k8_ld_b((int *)f.x, (const int *)p, ldm, 0); }
template <> class fragment<matrix_b, 16, 16, 8, precision::tf32, col_major> : public storage<float, 4> {};
HEDDLE_D void load_matrix_sync(fragment<matrix_b, 16, 16, 8, precision::tf32, col_major> &f, const float *p, unsigned ldm) { __mma_tf32_m16n16k8_ld_b((int *)f.x, (const int *)p, ldm, 1); }
template <> class fragment<accumulator, 16, 16, 8, float> : public storage<float, 8> {};
HEDDLE_D void load_matrix_sync(fragment<accumulator, 16, 16, 8, float> &f, const float *p, unsigned ldm, layout_t l) {
  if (l == mem_row_major) __mma_tf32_m16n16k8_ld_c((float *)f.x, (const float *)p, ldm, 0); else __mma_tf32_m16n16k8_ld_c((float *)f.x, (const float *)p, ldm, 1);
}
HEDDLE_D void store_matrix_sync(float *p, const fragment<accumulator, 16, 16, 8, float> &f, unsigned ldm, layout_t l) {
  if (l == mem_row_major) __mma_m16n16k8_st_c_f32((float *)p, (float *)f.x, ldm, 0); else __mma_m16n16k8_st_c_f32((float *)p, (float *)f.x, ldm, 1);
}
HEDDLE_D void mma_sync(fragment<accumulator, 16, 16, 8, float> &d, const fragment<matrix_a, 16, 16, 8, precision::tf32, row_major> &a, const fragment<matrix_b, 16, 16, 8, precision::tf32, row_major> &b, const fragment<accumulator, 16, 16, 8, float> &c) { __mma_tf32_m16n16k8_mma_f32((float *)d.x, (const int *)a.x, (const int *)b.x, (const float *)c.x, 0, 0); }
HEDDLE_D void mma_sync(fragment<accumulator, 16, 16, 8, float> &d, const fragment<matrix_a, 16, 16, 8, precision::tf32, row_major> &a, const fragment<matrix_b, 16, 16, 8, precision::tf32, col_major> &b, const fragment<accumulator, 16, 16, 8, float> &c) { __mma_tf32_m16n16k8_mma_f32((float *)d.x, (const int *)a.x, (const int *)b.x, (const float *)c.x, 1, 0); }
HEDDLE_D void mma_sync(fragment<accumulator, 16, 16, 8, float> &d, const fragment<matrix_a, 16, 16, 8, precision::tf32, col_major> &a, const fragment<matrix_b, 16, 16, 8, precision::tf32, row_major> &b, const fragment<accumulator, 16, 16, 8, float> &c) { __mma_tf32_m16n16k8_mma_f32((float *)d.x, (const int *)a.x, (const int *)b.x, (const float *)c.x, 2, 0); }
HEDDLE_D void mma_sync(fragment<accumulator, 16, 16, 8, float> &d, const fragment<matrix_a, 16, 16, 8, precision::tf32, col_major> &a, const fragment<matrix_b, 16, 16, 8, precision::tf32, col_major> &b, const fragment<accumulator, 16, 16, 8, float> &c) { __mma_tf32_m16n16k8_mma_f32((float *)d.x, (const int *)a.x, (const int *)b.x, (const float *)c.x, 3, 0); }
template <> class fragment<accumulator, 8, 8, 4, double> : public storage<double, 2> {};
HEDDLE_D void load_matrix_sync(fragment<accumulator, 8, 8, 4, double> &f, const double *p, unsigned ldm, layout_t l) {
  if (l == mem_row_major) __dmma_m8n8k4_ld_c(f.x, p, ldm, 0); else __dmma_m8n8k4_ld_c(f.x, p, ldm, 1);
}
HEDDLE_D void store_matrix_sync(double *p, const fragment<accumulator, 8, 8, 4, double> &f, unsigned ldm, layout_t l) {
  if (l == mem_row_major) __dmma_m8n8k4_st_c_f64(p, f.x, ldm, 0); else __dmma_m8n8k4_st_c_f64(p, f.x, ldm, 1);
}
template <> class fragment<matrix_a, 8, 8, 4, double, row_major> : public storage<double, 1> {};
HEDDLE_D void load_matrix_sync(fragment<matrix_a, 8, 8, 4, double, row_major> &f, const double *p, unsigned ldm) { __dmma_m8n8k4_ld_a(f.x, p, ldm, 0); }
template <> class fragment<matrix_a, 8, 8, 4, double, col_major> : public storage<double, 1> {};
HEDDLE_D void load_matrix_sync(fragment<matrix_a, 8, 8, 4, double, col_major> &f, const double *p, unsigned ldm) { __dmma_m8n8k4_ld_a(f.x, p, ldm, 1); }
template <> class fragment<matrix_b, 8, 8, 4, double, row_major> : public storage<double, 1> {};
HEDDLE_D void load_matrix_sync(fragment<matrix_b, 8, 8, 4, double, row_major> &f, const double *p, unsigned ldm) { __dmma_m8n8k4_ld_b(f.x, p, ldm, 0); }
template <> class fragment<matrix_b, 8, 8, 4, double, col_major> : public storage<double, 1> {};
HEDDLE_D void load_matrix_sync(fragment<matrix_b, 8, 8, 4, double, col_major> &f, const double *p, unsigned ldm) { __dmma_m8n8k4_ld_b(f.x, p, ldm, 1); }
HEDDLE_D void mma_sync(fragment<accumulator, 8, 8, 4, double> &d, const fragment<matrix_a, 8, 8, 4, double, row_major> &a, const fragment<matrix_b, 8, 8, 4, double, row_major> &b, const fragment<accumulator, 8, 8, 4, double> &c) { __dmma_m8n8k4_mma_f64(d.x, a.x, b.x, c.x, 0, 0); }
HEDDLE_D void mma_sync(fragment<accumulator, 8, 8, 4, double> &d, const fragment<matrix_a, 8, 8, 4, double, row_major> &a, const fragment<matrix_b, 8, 8, 4, double, col_major> &b, const fragment<accumulator, 8, 8, 4, double> &c) { __dmma_m8n8k4_mma_f64(d.x, a.x, b.x, c.x, 1, 0); }
HEDDLE_D void mma_sync(fragment<accumulator, 8, 8, 4, double> &d, const fragment<matrix_a, 8, 8, 4, double, col_major> &a, const fragment<matrix_b, 8, 8, 4, double, row_major> &b, const fragment<accumulator, 8, 8, 4, double> &c) { __dmma_m8n8k4_mma_f64(d.x, a.x, b.x, c.x, 2, 0); }
HEDDLE_D void mma_sync(fragment<accumulator, 8, 8, 4, double> &d, const fragment<matrix_a, 8, 8, 4, double, col_major> &a, const fragment<matrix_b, 8, 8, 4, double, col_major> &b, const fragment<accumulator, 8, 8, 4, double> &c) { __dmma_m8n8k4_mma_f64(d.x, a.x, b.x, c.x, 3, 0); }
HEDDLE_D float __float_to_tf32(float f) {
  unsigned int u;
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(u) : "f"(f));
  return __uint_as_float(u);
}
#endif

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 750
// Elements of 4 bits and of 1 bit, packed into a word.
template <int n> struct packed {
  unsigned int x[1];
  static const int num_elements = n, num_storage_elements = 1;
  // The last bits of a number, in each place.
  template <typename V> static __inline__ __device__ unsigned int stored(const V &v) {
    return n == 8 ? ((unsigned int)v & 15) * 0x11111111u : (unsigned int)v & 1 ? ~0u : 0;
  }
};
#define HEDDLE_PACKED(T, k, prefix)                                                                                              \
  template <> class fragment<matrix_a, 8, 8, k, experimental::precision::T, row_major> : public packed<k / 4> {};                \
  template <> class fragment<matrix_b, 8, 8, k, experimental::precision::T, col_major> : public packed<k / 4> {};                \
  HEDDLE_D void load_matrix_sync(fragment<matrix_a, 8, 8, k, experimental::precision::T, row_major> &f, const void *p, unsigned ldm) { \
    prefix##_ld_a_##T((int *)f.x, (const int *)p, ldm, 0);                                                                       \
  }                                                                                                                              \
  HEDDLE_D void load_matrix_sync(fragment<matrix_b, 8, 8, k, experimental::precision::T, col_major> &f, const void *p, unsigned ldm) { \
    prefix##_ld_b_##T((int *)f.x, (const int *)p, ldm, 1);                                                                       \
  }
#define HEDDLE_SUMS(k, prefix)                                                                                                   \
  template <> class fragment<accumulator, 8, 8, k, int> : public storage<int, 2> {};                                             \
  HEDDLE_D void load_matrix_sync(fragment<accumulator, 8, 8, k, int> &f, const int *p, unsigned ldm, layout_t l) {               \
    if (l == mem_row_major) prefix##_ld_c(f.x, p, ldm, 0); else prefix##_ld_c(f.x, p, ldm, 1);                                   \
  }                                                                                                                              \
  HEDDLE_D void store_matrix_sync(int *p, const fragment<accumulator, 8, 8, k, int> &f, unsigned ldm, layout_t l) {              \
    if (l == mem_row_major) prefix##_st_c_i32(p, f.x, ldm, 0); else prefix##_st_c_i32(p, f.x, ldm, 1);                           \
  }
#define HEDDLE_FOURS(T)                                                                                                          \
  HEDDLE_PACKED(T, 32, __imma_m8n8k32)                                                                                           \
  HEDDLE_D void mma_sync(fragment<accumulator, 8, 8, 32, int> &d, const fragment<matrix_a, 8, 8, 32, experimental::precision::T, row_major> &a, \
                         const fragment<matrix_b, 8, 8, 32, experimental::precision::T, col_major> &b,                           \
                         const fragment<accumulator, 8, 8, 32, int> &c, bool satf = false) {                                     \
    if (satf) __imma_m8n8k32_mma_##T(d.x, (const int *)a.x, (const int *)b.x, c.x, 1, 1);                                        \
    else __imma_m8n8k32_mma_##T(d.x, (const int *)a.x, (const int *)b.x, c.x, 1, 0);                                             \
  }
HEDDLE_SUMS(32, __imma_m8n8k32)
HEDDLE_FOURS(u4)
HEDDLE_FOURS(s4)
HEDDLE_SUMS(128, __bmma_m8n8k128)
HEDDLE_PACKED(b1, 128, __bmma_m8n8k128)
#undef HEDDLE_FOURS
#undef HEDDLE_SUMS
#undef HEDDLE_PACKED
HEDDLE_D void bmma_sync(fragment<accumulator, 8, 8, 128, int> &d, const fragment<matrix_a, 8, 8, 128, experimental::precision::b1, row_major> &a,
                        const fragment<matrix_b, 8, 8, 128, experimental::precision::b1, col_major> &b, const fragment<accumulator, 8, 8, 128, int> &c,
                        experimental::bmmaBitOp op = experimental::bmmaBitOpXOR,
                        experimental::bmmaAccumulateOp = experimental::bmmaAccumulateOpPOPC) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
  if (op == experimental::bmmaBitOpAND) {
    __bmma_m8n8k128_mma_and_popc_b1(d.x, (const int *)a.x, (const int *)b.x, c.x, 1);
    return;
  }
#endif
  __bmma_m8n8k128_mma_xor_popc_b1(d.x, (const int *)a.x, (const int *)b.x, c.x, 1);
}
#endif

template <typename Use, int m, int n, int k, typename T, typename Layout, typename V>
HEDDLE_D void fill_fragment(fragment<Use, m, n, k, T, Layout> &f, const V &v) {
#pragma unroll
  for (int i = 0; i < f.num_storage_elements; i++) f.x[i] = f.stored(v);
}

} // namespace wmma
} // namespace nvcuda

#undef HEDDLE_D

#endif

#endif
