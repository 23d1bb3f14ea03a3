// Functions of cuBLAS for matrices with a structure, and its extensions of BLAS.
#include "_cgo_export.h"
#include "blas.h"

#define TRSM(name, T, s, i) \
  int name##_v2##s(uintptr_t h, int side, int uplo, int ta, int diag, i m, i n, uintptr_t alpha, uintptr_t a, i lda, uintptr_t b, i ldb) \
  CALL(BLAS_TRSM, .side = side, .fill = uplo, .transa = ta, .diag = diag, .m = m, .n = n, .alpha = alpha, .scalar = T, .a = {a, T, lda}, \
       .c = {b, T, ldb}, .batch = 1)
#define TRMM(name, T, s, i) \
  int name##_v2##s(uintptr_t h, int side, int uplo, int ta, int diag, i m, i n, uintptr_t alpha, uintptr_t a, i lda, uintptr_t b, i ldb, uintptr_t c, \
      i ldc) \
  CALL(BLAS_TRMM, .side = side, .fill = uplo, .transa = ta, .diag = diag, .m = m, .n = n, .alpha = alpha, .scalar = T, .a = {a, T, lda}, \
       .b = {b, T, ldb}, .c = {c, T, ldc})
#define SYMM(name, T, s, i) \
  int name##_v2##s(uintptr_t h, int side, int uplo, i m, i n, uintptr_t alpha, uintptr_t a, i lda, uintptr_t b, i ldb, uintptr_t beta, uintptr_t c, \
      i ldc) \
  CALL(BLAS_SYMM, .side = side, .fill = uplo, .m = m, .n = n, .alpha = alpha, .scalar = T, .a = {a, T, lda}, .b = {b, T, ldb}, .beta = beta, \
       .c = {c, T, ldc}, .kind = SYMMETRIC)
#define HEMM(name, T, s, i) \
  int name##_v2##s(uintptr_t h, int side, int uplo, i m, i n, uintptr_t alpha, uintptr_t a, i lda, uintptr_t b, i ldb, uintptr_t beta, uintptr_t c, \
      i ldc) \
  CALL(BLAS_SYMM, .side = side, .fill = uplo, .m = m, .n = n, .alpha = alpha, .scalar = T, .a = {a, T, lda}, .b = {b, T, ldb}, .beta = beta, \
       .c = {c, T, ldc}, .kind = HERMITIAN)
#define SYRK(name, T, s, i) \
  int name##_v2##s(uintptr_t h, int uplo, int ta, i n, i k, uintptr_t alpha, uintptr_t a, i lda, uintptr_t beta, uintptr_t c, i ldc) \
  CALL(BLAS_RANKK, .fill = uplo, .transa = ta, .n = n, .k = k, .alpha = alpha, .scalar = T, .a = {a, T, lda}, .b = {a, T, lda}, .beta = beta, \
       .c = {c, T, ldc}, .kind = SYMMETRIC)
#define HERK(name, T, R, s, i) \
  int name##_v2##s(uintptr_t h, int uplo, int ta, i n, i k, uintptr_t alpha, uintptr_t a, i lda, uintptr_t beta, uintptr_t c, i ldc) \
  CALL(BLAS_RANKK, .fill = uplo, .transa = ta, .n = n, .k = k, .alpha = alpha, .scalar = R, .a = {a, T, lda}, .b = {a, T, lda}, .beta = beta, \
       .c = {c, T, ldc}, .kind = HERMITIAN)
#define SYR2K(name, T, s, i) \
  int name##_v2##s(uintptr_t h, int uplo, int ta, i n, i k, uintptr_t alpha, uintptr_t a, i lda, uintptr_t b, i ldb, uintptr_t beta, uintptr_t c, \
      i ldc) \
  CALL(BLAS_RANKK, .fill = uplo, .transa = ta, .n = n, .k = k, .alpha = alpha, .scalar = T, .a = {a, T, lda}, .b = {b, T, ldb}, .beta = beta, \
       .c = {c, T, ldc}, .kind = SYMMETRIC, .both = 1)
#define HER2K(name, T, R, s, i) \
  int name##_v2##s(uintptr_t h, int uplo, int ta, i n, i k, uintptr_t alpha, uintptr_t a, i lda, uintptr_t b, i ldb, uintptr_t beta, uintptr_t c, \
      i ldc) \
  CALL(BLAS_RANKK, .fill = uplo, .transa = ta, .n = n, .k = k, .alpha = alpha, .scalar = T, .a = {a, T, lda}, .b = {b, T, ldb}, .beta = beta, \
       .c = {c, T, ldc}, .kind = HERMITIAN, .both = 1)
#define SYRKX(name, T, s, i) \
  int name##s(uintptr_t h, int uplo, int ta, i n, i k, uintptr_t alpha, uintptr_t a, i lda, uintptr_t b, i ldb, uintptr_t beta, uintptr_t c, \
      i ldc) \
  CALL(BLAS_RANKK, .fill = uplo, .transa = ta, .n = n, .k = k, .alpha = alpha, .scalar = T, .a = {a, T, lda}, .b = {b, T, ldb}, .beta = beta, \
       .c = {c, T, ldc}, .kind = SYMMETRIC)
#define HERKX(name, T, R, s, i) \
  int name##s(uintptr_t h, int uplo, int ta, i n, i k, uintptr_t alpha, uintptr_t a, i lda, uintptr_t b, i ldb, uintptr_t beta, uintptr_t c, \
      i ldc) \
  CALL(BLAS_RANKK, .fill = uplo, .transa = ta, .n = n, .k = k, .alpha = alpha, .scalar = T, .a = {a, T, lda}, .b = {b, T, ldb}, .beta = beta, \
       .c = {c, T, ldc}, .kind = HERMITIAN)
#define GEAM(name, T, s, i) \
  int name##s(uintptr_t h, int ta, int tb, i m, i n, uintptr_t alpha, uintptr_t a, i lda, uintptr_t beta, uintptr_t b, i ldb, uintptr_t c, i ldc) \
  CALL(BLAS_GEAM, .transa = ta, .transb = tb, .m = m, .n = n, .alpha = alpha, .scalar = T, .a = {a, T, lda}, .beta = beta, .b = {b, T, ldb}, \
       .c = {c, T, ldc})
#define DGMM(name, T, s, i) \
  int name##s(uintptr_t h, int side, i m, i n, uintptr_t a, i lda, uintptr_t x, i incx, uintptr_t c, i ldc) \
  CALL(BLAS_DGMM, .side = side, .m = m, .n = n, .a = {a, T, lda}, .b = {x, T, incx}, .c = {c, T, ldc})
#define TPTTR(name, T, s, i) \
  int name(uintptr_t h, int uplo, i n, uintptr_t ap, uintptr_t a, i lda) \
  CALL(BLAS_PACK, .fill = uplo, .n = n, .a = {ap, T}, .c = {a, T, lda}, .storage = DENSE)
#define TRTTP(name, T, s, i) \
  int name(uintptr_t h, int uplo, i n, uintptr_t a, i lda, uintptr_t ap) \
  CALL(BLAS_PACK, .fill = uplo, .n = n, .a = {a, T, lda}, .c = {ap, T}, .storage = PACKED)
#define TRSM_BATCHED(name, T, s, i) \
  int name##Batched##s(uintptr_t h, int side, int uplo, int ta, int diag, i m, i n, uintptr_t alpha, uintptr_t a, i lda, uintptr_t b, i ldb, \
      i batch) \
  CALL(BLAS_TRSM, .side = side, .fill = uplo, .transa = ta, .diag = diag, .m = m, .n = n, .alpha = alpha, .scalar = T, .a = {a, T, lda}, \
       .c = {b, T, ldb}, .batch = batch, .listed = 1)
#define RANKK_EX(name, KIND, R, s, i) \
  int name##s(uintptr_t h, int uplo, int ta, i n, i k, uintptr_t alpha, uintptr_t a, int at, i lda, uintptr_t beta, uintptr_t c, int ct, i ldc) \
  CALL(BLAS_RANKK, .fill = uplo, .transa = ta, .n = n, .k = k, .alpha = alpha, .scalar = R, .a = {a, at, lda}, .b = {a, at, lda}, .beta = beta, \
       .c = {c, ct, ldc}, .kind = KIND)
#define FUNCTIONS(s, i) \
  SDCZ(TRSM, trsm, s, i) \
  SDCZ(TRMM, trmm, s, i) \
  SDCZ(SYMM, symm, s, i) \
  CZ(HEMM, hemm, s, i) \
  SDCZ(SYRK, syrk, s, i) \
  HERK(cublasCherk, C32, F32, s, i) HERK(cublasZherk, C64, F64, s, i) \
  SDCZ(SYR2K, syr2k, s, i) \
  HER2K(cublasCher2k, C32, F32, s, i) HER2K(cublasZher2k, C64, F64, s, i) \
  SDCZ(SYRKX, syrkx, s, i) \
  HERKX(cublasCherkx, C32, F32, s, i) HERKX(cublasZherkx, C64, F64, s, i) \
  SDCZ(GEAM, geam, s, i) \
  SDCZ(DGMM, dgmm, s, i) \
  SDCZ(TRSM_BATCHED, trsm, s, i) \
  RANKK_EX(cublasCsyrkEx, SYMMETRIC, C32, s, i) \
  RANKK_EX(cublasCsyrk3mEx, SYMMETRIC, C32, s, i) \
  RANKK_EX(cublasCherkEx, HERMITIAN, F32, s, i) \
  RANKK_EX(cublasCherk3mEx, HERMITIAN, F32, s, i)
SIZES(FUNCTIONS)
SDCZ(TPTTR, tpttr, , int)
SDCZ(TRTTP, trttp, , int)

// Factors of batches. Where info is a number of the program's, it is 0, or the number of
// the argument that is wrong, negated.
#define FACTORS(name, T, _, __) \
  int name##getrfBatched(uintptr_t h, int n, uintptr_t a, int lda, uintptr_t pivots, uintptr_t info, int batch) \
  FACTOR(BLAS_GETRF, .n = n, .c = {a, T, lda}, .pivots = pivots, .info = info, .batch = batch) \
  int name##getrsBatched(uintptr_t h, int ta, int n, int nrhs, uintptr_t a, int lda, uintptr_t pivots, uintptr_t b, int ldb, int *info, int batch) { \
    if (info) *info = ta < 0 || ta > 2 ? -1 : n < 0 ? -2 : nrhs < 0 ? -3 : !a && n ? -4 : lda < (n > 1 ? n : 1) ? -5 : !b && n && nrhs ? -7 \
                    : ldb < (n > 1 ? n : 1) ? -8 : batch < 0 ? -10 : 0; \
    FACTOR(BLAS_GETRS, .op = ta, .m = n, .n = nrhs, .a = {a, T, lda}, .c = {b, T, ldb}, .pivots = pivots, .batch = batch) \
  } \
  int name##getriBatched(uintptr_t h, int n, uintptr_t a, int lda, uintptr_t pivots, uintptr_t c, int ldc, uintptr_t info, int batch) \
  FACTOR(BLAS_GETRI, .n = n, .a = {a, T, lda}, .c = {c, T, ldc}, .pivots = pivots, .info = info, .batch = batch) \
  int name##matinvBatched(uintptr_t h, int n, uintptr_t a, int lda, uintptr_t c, int ldc, uintptr_t info, int batch) \
  FACTOR(BLAS_MATINV, .n = n, .a = {a, T, lda}, .c = {c, T, ldc}, .info = info, .batch = batch) \
  int name##geqrfBatched(uintptr_t h, int m, int n, uintptr_t a, int lda, uintptr_t tau, int *info, int batch) { \
    if (info) *info = m < 0 ? -1 : n < 0 ? -2 : !a && m && n ? -3 : lda < (m > 1 ? m : 1) ? -4 : !tau && m && n ? -5 : batch < 0 ? -7 : 0; \
    FACTOR(BLAS_GEQRF, .m = m, .n = n, .a = {tau, T}, .c = {a, T, lda}, .batch = batch) \
  }
SDCZ(FACTORS, , , )
