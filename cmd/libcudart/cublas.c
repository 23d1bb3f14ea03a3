// The functions of cuBLAS that differ only in the type of their elements and the width of
// their sizes.
#include "_cgo_export.h"
#include "blas.h"

// Numbers of the types of sums (cublasComputeType_t).
enum { COMPUTE_16F = 64, COMPUTE_32F = 68, COMPUTE_64F = 70 };

#define GEMM(name, T, compute, s, i)                                                                                                      \
  int name##s(uintptr_t h, int ta, int tb, i m, i n, i k, uintptr_t alpha, uintptr_t a, i lda, uintptr_t b, i ldb, uintptr_t beta, uintptr_t c, \
              i ldc) {                                                                                                                     \
    struct blas_gemm g = {ta, tb, m, n, k, alpha, {a, T, lda}, {b, T, ldb}, beta, {c, T, ldc}, 1, 0, compute};                               \
    return heddleGemm(h, (char *)__func__, &g);                                                                                            \
  }
#define BATCHED(name, T, compute, s, i)                                                                                                   \
  int name##Batched##s(uintptr_t h, int ta, int tb, i m, i n, i k, uintptr_t alpha, uintptr_t a, i lda, uintptr_t b, i ldb, uintptr_t beta,     \
                       uintptr_t c, i ldc, i batch) {                                                                                      \
    struct blas_gemm g = {ta, tb, m, n, k, alpha, {a, T, lda}, {b, T, ldb}, beta, {c, T, ldc}, batch, 1, compute};                           \
    return heddleGemm(h, (char *)__func__, &g);                                                                                            \
  }
#define STRIDED(name, T, compute, s, i)                                                                                                   \
  int name##StridedBatched##s(uintptr_t h, int ta, int tb, i m, i n, i k, uintptr_t alpha, uintptr_t a, i lda, int64_t sa, uintptr_t b, i ldb,  \
                              int64_t sb, uintptr_t beta, uintptr_t c, i ldc, int64_t sc, i batch) {                                        \
    struct blas_gemm g = {ta, tb, m, n, k, alpha, {a, T, lda, sa}, {b, T, ldb, sb}, beta, {c, T, ldc, sc}, batch, 0, compute};               \
    return heddleGemm(h, (char *)__func__, &g);                                                                                            \
  }
#define EX(name, compute, s, i)                                                                                                           \
  int name##s(uintptr_t h, int ta, int tb, i m, i n, i k, uintptr_t alpha, uintptr_t a, int at, i lda, uintptr_t b, int bt, i ldb,              \
              uintptr_t beta, uintptr_t c, int ct, i ldc) {                                                                                \
    struct blas_gemm g = {ta, tb, m, n, k, alpha, {a, at, lda}, {b, bt, ldb}, beta, {c, ct, ldc}, 1, 0, compute};                            \
    return heddleGemm(h, (char *)__func__, &g);                                                                                            \
  }
#define GROUPS(name, at, bt, ct, types_a, types_b, types_c, compute, last, i, s)                                                           \
  int name##s(uintptr_t h, uintptr_t ta, uintptr_t tb, uintptr_t m, uintptr_t n, uintptr_t k, uintptr_t alpha, uintptr_t a types_a, uintptr_t lda, \
              uintptr_t b types_b, uintptr_t ldb, uintptr_t beta, uintptr_t c types_c, uintptr_t ldc, i count, uintptr_t sizes last) {          \
    struct blas_groups g = {ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc, sizes, count, at, bt, ct, compute, sizeof(i) == 8};        \
    return heddleGemmGroups(h, (char *)__func__, &g);                                                                                      \
  }
#define COMMA ,
#define GEMMS(s, i)                                                                                                                       \
  GEMM(cublasSgemm_v2, F32, COMPUTE_32F, s, i)                                                                                             \
  GEMM(cublasDgemm_v2, F64, COMPUTE_64F, s, i)                                                                                             \
  GEMM(cublasCgemm_v2, C32, COMPUTE_32F, s, i)                                                                                             \
  GEMM(cublasZgemm_v2, C64, COMPUTE_64F, s, i)                                                                                             \
  GEMM(cublasHgemm, F16, COMPUTE_16F, s, i)                                                                                                \
  GEMM(cublasCgemm3m, C32, COMPUTE_32F, s, i)                                                                                              \
  GEMM(cublasZgemm3m, C64, COMPUTE_64F, s, i)                                                                                              \
  BATCHED(cublasSgemm, F32, COMPUTE_32F, s, i)                                                                                             \
  BATCHED(cublasDgemm, F64, COMPUTE_64F, s, i)                                                                                             \
  BATCHED(cublasCgemm, C32, COMPUTE_32F, s, i)                                                                                             \
  BATCHED(cublasZgemm, C64, COMPUTE_64F, s, i)                                                                                             \
  BATCHED(cublasHgemm, F16, COMPUTE_16F, s, i)                                                                                             \
  BATCHED(cublasCgemm3m, C32, COMPUTE_32F, s, i)                                                                                           \
  STRIDED(cublasSgemm, F32, COMPUTE_32F, s, i)                                                                                             \
  STRIDED(cublasDgemm, F64, COMPUTE_64F, s, i)                                                                                             \
  STRIDED(cublasCgemm, C32, COMPUTE_32F, s, i)                                                                                             \
  STRIDED(cublasZgemm, C64, COMPUTE_64F, s, i)                                                                                             \
  STRIDED(cublasHgemm, F16, COMPUTE_16F, s, i)                                                                                             \
  STRIDED(cublasCgemm3m, C32, COMPUTE_32F, s, i)                                                                                           \
  EX(cublasSgemmEx, COMPUTE_32F, s, i)                                                                                                     \
  EX(cublasCgemmEx, COMPUTE_32F, s, i)                                                                                                     \
  int cublasGemmEx##s(uintptr_t h, int ta, int tb, i m, i n, i k, uintptr_t alpha, uintptr_t a, int at, i lda, uintptr_t b, int bt, i ldb,      \
                      uintptr_t beta, uintptr_t c, int ct, i ldc, int compute, int algo) {                                                  \
    struct blas_gemm g = {ta, tb, m, n, k, alpha, {a, at, lda}, {b, bt, ldb}, beta, {c, ct, ldc}, 1, 0, compute};                            \
    return heddleGemm(h, (char *)__func__, &g);                                                                                            \
  }                                                                                                                                       \
  int cublasGemmBatchedEx##s(uintptr_t h, int ta, int tb, i m, i n, i k, uintptr_t alpha, uintptr_t a, int at, i lda, uintptr_t b, int bt,      \
                             i ldb, uintptr_t beta, uintptr_t c, int ct, i ldc, i batch, int compute, int algo) {                           \
    struct blas_gemm g = {ta, tb, m, n, k, alpha, {a, at, lda}, {b, bt, ldb}, beta, {c, ct, ldc}, batch, 1, compute};                        \
    return heddleGemm(h, (char *)__func__, &g);                                                                                            \
  }                                                                                                                                       \
  int cublasGemmStridedBatchedEx##s(uintptr_t h, int ta, int tb, i m, i n, i k, uintptr_t alpha, uintptr_t a, int at, i lda, int64_t sa,        \
                                    uintptr_t b, int bt, i ldb, int64_t sb, uintptr_t beta, uintptr_t c, int ct, i ldc, int64_t sc, i batch,    \
                                    int compute, int algo) {                                                                               \
    struct blas_gemm g = {ta, tb, m, n, k, alpha, {a, at, lda, sa}, {b, bt, ldb, sb}, beta, {c, ct, ldc, sc}, batch, 0, compute};            \
    return heddleGemm(h, (char *)__func__, &g);                                                                                            \
  }                                                                                                                                       \
  GROUPS(cublasSgemmGroupedBatched, F32, F32, F32, , , , COMPUTE_32F, , i, s)                                                              \
  GROUPS(cublasDgemmGroupedBatched, F64, F64, F64, , , , COMPUTE_64F, , i, s)                                                              \
  GROUPS(cublasGemmGroupedBatchedEx, at, bt, ct, COMMA int at, COMMA int bt, COMMA int ct, compute, COMMA int compute, i, s)
SIZES(GEMMS)
