// Functions of cuBLAS for matrices and vectors.
#include "_cgo_export.h"
#include "blas.h"

#define GEMV(name, T, s, i) \
  int name##_v2##s(uintptr_t h, int ta, i m, i n, uintptr_t alpha, uintptr_t a, i lda, uintptr_t x, i incx, uintptr_t beta, uintptr_t y, i incy) \
  CALL(BLAS_GEMV, .transa = ta, .m = m, .n = n, .alpha = alpha, .scalar = T, .a = {a, T, lda}, .b = {x, T, incx}, .beta = beta, \
       .c = {y, T, incy}, .batch = 1)
#define GBMV(name, T, s, i) \
  int name##_v2##s(uintptr_t h, int ta, i m, i n, i kl, i ku, uintptr_t alpha, uintptr_t a, i lda, uintptr_t x, i incx, uintptr_t beta, uintptr_t y, \
      i incy) \
  CALL(BLAS_MV, .transa = ta, .m = m, .n = n, .kl = kl, .ku = ku, .alpha = alpha, .scalar = T, .a = {a, T, lda}, .b = {x, T, incx}, \
       .beta = beta, .c = {y, T, incy})
#define SYMV(name, T, s, i) \
  int name##_v2##s(uintptr_t h, int uplo, i n, uintptr_t alpha, uintptr_t a, i lda, uintptr_t x, i incx, uintptr_t beta, uintptr_t y, i incy) \
  CALL(BLAS_MV, .fill = uplo, .n = n, .alpha = alpha, .scalar = T, .a = {a, T, lda}, .b = {x, T, incx}, .beta = beta, .c = {y, T, incy}, \
       .kind = SYMMETRIC)
#define HEMV(name, T, s, i) \
  int name##_v2##s(uintptr_t h, int uplo, i n, uintptr_t alpha, uintptr_t a, i lda, uintptr_t x, i incx, uintptr_t beta, uintptr_t y, i incy) \
  CALL(BLAS_MV, .fill = uplo, .n = n, .alpha = alpha, .scalar = T, .a = {a, T, lda}, .b = {x, T, incx}, .beta = beta, .c = {y, T, incy}, \
       .kind = HERMITIAN)
#define SBMV(name, T, s, i) \
  int name##_v2##s(uintptr_t h, int uplo, i n, i k, uintptr_t alpha, uintptr_t a, i lda, uintptr_t x, i incx, uintptr_t beta, uintptr_t y, i incy) \
  CALL(BLAS_MV, .fill = uplo, .n = n, .k = k, .alpha = alpha, .scalar = T, .a = {a, T, lda}, .b = {x, T, incx}, .beta = beta, \
       .c = {y, T, incy}, .kind = SYMMETRIC, .storage = BANDED)
#define HBMV(name, T, s, i) \
  int name##_v2##s(uintptr_t h, int uplo, i n, i k, uintptr_t alpha, uintptr_t a, i lda, uintptr_t x, i incx, uintptr_t beta, uintptr_t y, i incy) \
  CALL(BLAS_MV, .fill = uplo, .n = n, .k = k, .alpha = alpha, .scalar = T, .a = {a, T, lda}, .b = {x, T, incx}, .beta = beta, \
       .c = {y, T, incy}, .kind = HERMITIAN, .storage = BANDED)
#define SPMV(name, T, s, i) \
  int name##_v2##s(uintptr_t h, int uplo, i n, uintptr_t alpha, uintptr_t ap, uintptr_t x, i incx, uintptr_t beta, uintptr_t y, i incy) \
  CALL(BLAS_MV, .fill = uplo, .n = n, .alpha = alpha, .scalar = T, .a = {ap, T}, .b = {x, T, incx}, .beta = beta, .c = {y, T, incy}, \
       .kind = SYMMETRIC, .storage = PACKED)
#define HPMV(name, T, s, i) \
  int name##_v2##s(uintptr_t h, int uplo, i n, uintptr_t alpha, uintptr_t ap, uintptr_t x, i incx, uintptr_t beta, uintptr_t y, i incy) \
  CALL(BLAS_MV, .fill = uplo, .n = n, .alpha = alpha, .scalar = T, .a = {ap, T}, .b = {x, T, incx}, .beta = beta, .c = {y, T, incy}, \
       .kind = HERMITIAN, .storage = PACKED)
#define TRMV(name, T, s, i) \
  int name##_v2##s(uintptr_t h, int uplo, int ta, int diag, i n, uintptr_t a, i lda, uintptr_t x, i incx) \
  CALL(BLAS_TRMV, .fill = uplo, .transa = ta, .diag = diag, .n = n, .a = {a, T, lda}, .c = {x, T, incx}, .storage = DENSE)
#define TRSV(name, T, s, i) \
  int name##_v2##s(uintptr_t h, int uplo, int ta, int diag, i n, uintptr_t a, i lda, uintptr_t x, i incx) \
  CALL(BLAS_TRSV, .fill = uplo, .transa = ta, .diag = diag, .n = n, .a = {a, T, lda}, .c = {x, T, incx}, .storage = DENSE)
#define TBMV(name, T, s, i) \
  int name##_v2##s(uintptr_t h, int uplo, int ta, int diag, i n, i k, uintptr_t a, i lda, uintptr_t x, i incx) \
  CALL(BLAS_TRMV, .fill = uplo, .transa = ta, .diag = diag, .n = n, .k = k, .a = {a, T, lda}, .c = {x, T, incx}, .storage = BANDED)
#define TBSV(name, T, s, i) \
  int name##_v2##s(uintptr_t h, int uplo, int ta, int diag, i n, i k, uintptr_t a, i lda, uintptr_t x, i incx) \
  CALL(BLAS_TRSV, .fill = uplo, .transa = ta, .diag = diag, .n = n, .k = k, .a = {a, T, lda}, .c = {x, T, incx}, .storage = BANDED)
#define TPMV(name, T, s, i) \
  int name##_v2##s(uintptr_t h, int uplo, int ta, int diag, i n, uintptr_t ap, uintptr_t x, i incx) \
  CALL(BLAS_TRMV, .fill = uplo, .transa = ta, .diag = diag, .n = n, .a = {ap, T}, .c = {x, T, incx}, .storage = PACKED)
#define TPSV(name, T, s, i) \
  int name##_v2##s(uintptr_t h, int uplo, int ta, int diag, i n, uintptr_t ap, uintptr_t x, i incx) \
  CALL(BLAS_TRSV, .fill = uplo, .transa = ta, .diag = diag, .n = n, .a = {ap, T}, .c = {x, T, incx}, .storage = PACKED)
#define GER(name, T, s, i) \
  int name##_v2##s(uintptr_t h, i m, i n, uintptr_t alpha, uintptr_t x, i incx, uintptr_t y, i incy, uintptr_t a, i lda) \
  CALL(BLAS_RANK, .m = m, .n = n, .alpha = alpha, .scalar = T, .a = {x, T, incx}, .b = {y, T, incy}, .c = {a, T, lda}, .transb = OP_T)
#define GERC(name, T, s, i) \
  int name##_v2##s(uintptr_t h, i m, i n, uintptr_t alpha, uintptr_t x, i incx, uintptr_t y, i incy, uintptr_t a, i lda) \
  CALL(BLAS_RANK, .m = m, .n = n, .alpha = alpha, .scalar = T, .a = {x, T, incx}, .b = {y, T, incy}, .c = {a, T, lda}, .transb = OP_C)
#define SYR(name, T, s, i) \
  int name##_v2##s(uintptr_t h, int uplo, i n, uintptr_t alpha, uintptr_t x, i incx, uintptr_t a, i lda) \
  CALL(BLAS_RANK, .fill = uplo, .n = n, .alpha = alpha, .scalar = T, .a = {x, T, incx}, .b = {x, T, incx}, .c = {a, T, lda}, \
       .kind = SYMMETRIC)
#define HER(name, T, R, s, i) \
  int name##_v2##s(uintptr_t h, int uplo, i n, uintptr_t alpha, uintptr_t x, i incx, uintptr_t a, i lda) \
  CALL(BLAS_RANK, .fill = uplo, .n = n, .alpha = alpha, .scalar = R, .a = {x, T, incx}, .b = {x, T, incx}, .c = {a, T, lda}, \
       .kind = HERMITIAN)
#define SPR(name, T, s, i) \
  int name##_v2##s(uintptr_t h, int uplo, i n, uintptr_t alpha, uintptr_t x, i incx, uintptr_t ap) \
  CALL(BLAS_RANK, .fill = uplo, .n = n, .alpha = alpha, .scalar = T, .a = {x, T, incx}, .b = {x, T, incx}, .c = {ap, T}, .kind = SYMMETRIC, \
       .storage = PACKED)
#define HPR(name, T, R, s, i) \
  int name##_v2##s(uintptr_t h, int uplo, i n, uintptr_t alpha, uintptr_t x, i incx, uintptr_t ap) \
  CALL(BLAS_RANK, .fill = uplo, .n = n, .alpha = alpha, .scalar = R, .a = {x, T, incx}, .b = {x, T, incx}, .c = {ap, T}, .kind = HERMITIAN, \
       .storage = PACKED)
#define SYR2(name, T, s, i) \
  int name##_v2##s(uintptr_t h, int uplo, i n, uintptr_t alpha, uintptr_t x, i incx, uintptr_t y, i incy, uintptr_t a, i lda) \
  CALL(BLAS_RANK, .fill = uplo, .n = n, .alpha = alpha, .scalar = T, .a = {x, T, incx}, .b = {y, T, incy}, .c = {a, T, lda}, \
       .kind = SYMMETRIC, .both = 1)
#define HER2(name, T, s, i) \
  int name##_v2##s(uintptr_t h, int uplo, i n, uintptr_t alpha, uintptr_t x, i incx, uintptr_t y, i incy, uintptr_t a, i lda) \
  CALL(BLAS_RANK, .fill = uplo, .n = n, .alpha = alpha, .scalar = T, .a = {x, T, incx}, .b = {y, T, incy}, .c = {a, T, lda}, \
       .kind = HERMITIAN, .both = 1)
#define SPR2(name, T, s, i) \
  int name##_v2##s(uintptr_t h, int uplo, i n, uintptr_t alpha, uintptr_t x, i incx, uintptr_t y, i incy, uintptr_t ap) \
  CALL(BLAS_RANK, .fill = uplo, .n = n, .alpha = alpha, .scalar = T, .a = {x, T, incx}, .b = {y, T, incy}, .c = {ap, T}, .kind = SYMMETRIC, \
       .storage = PACKED, .both = 1)
#define HPR2(name, T, s, i) \
  int name##_v2##s(uintptr_t h, int uplo, i n, uintptr_t alpha, uintptr_t x, i incx, uintptr_t y, i incy, uintptr_t ap) \
  CALL(BLAS_RANK, .fill = uplo, .n = n, .alpha = alpha, .scalar = T, .a = {x, T, incx}, .b = {y, T, incy}, .c = {ap, T}, .kind = HERMITIAN, \
       .storage = PACKED, .both = 1)
// Batches: of addresses and in steps.
#define BATCHES(name, S, T, Y, s, i) \
  int name##Batched##s(uintptr_t h, int ta, i m, i n, uintptr_t alpha, uintptr_t a, i lda, uintptr_t x, i incx, uintptr_t beta, uintptr_t y, \
      i incy, i batch) \
  CALL(BLAS_GEMV, .transa = ta, .m = m, .n = n, .alpha = alpha, .beta = beta, .scalar = S, .a = {a, T, lda}, .b = {x, T, incx}, \
       .c = {y, Y, incy}, .batch = batch, .listed = 1) \
  int name##StridedBatched##s(uintptr_t h, int ta, i m, i n, uintptr_t alpha, uintptr_t a, i lda, int64_t sa, uintptr_t x, i incx, int64_t sx, \
      uintptr_t beta, uintptr_t y, i incy, int64_t sy, i batch) \
  CALL(BLAS_GEMV, .transa = ta, .m = m, .n = n, .alpha = alpha, .beta = beta, .scalar = S, .a = {a, T, lda, sa}, .b = {x, T, incx, sx}, \
       .c = {y, Y, incy, sy}, .batch = batch)
#define FUNCTIONS(s, i) \
  SDCZ(GEMV, gemv, s, i) \
  SDCZ(GBMV, gbmv, s, i) \
  SDCZ(SYMV, symv, s, i) \
  CZ(HEMV, hemv, s, i) \
  SD(SBMV, sbmv, s, i) \
  CZ(HBMV, hbmv, s, i) \
  SD(SPMV, spmv, s, i) \
  CZ(HPMV, hpmv, s, i) \
  SDCZ(TRMV, trmv, s, i) \
  SDCZ(TRSV, trsv, s, i) \
  SDCZ(TBMV, tbmv, s, i) \
  SDCZ(TBSV, tbsv, s, i) \
  SDCZ(TPMV, tpmv, s, i) \
  SDCZ(TPSV, tpsv, s, i) \
  SD(GER, ger, s, i) \
  CZ(GER, geru, s, i) \
  CZ(GERC, gerc, s, i) \
  SDCZ(SYR, syr, s, i) \
  HER(cublasCher, C32, F32, s, i) HER(cublasZher, C64, F64, s, i) \
  SD(SPR, spr, s, i) \
  HPR(cublasChpr, C32, F32, s, i) HPR(cublasZhpr, C64, F64, s, i) \
  SDCZ(SYR2, syr2, s, i) \
  CZ(HER2, her2, s, i) \
  SD(SPR2, spr2, s, i) \
  CZ(HPR2, hpr2, s, i) \
  BATCHES(cublasSgemv, F32, F32, F32, s, i) \
  BATCHES(cublasDgemv, F64, F64, F64, s, i) \
  BATCHES(cublasCgemv, C32, C32, C32, s, i) \
  BATCHES(cublasZgemv, C64, C64, C64, s, i) \
  BATCHES(cublasHSHgemv, F32, F16, F16, s, i) \
  BATCHES(cublasHSSgemv, F32, F16, F32, s, i) \
  BATCHES(cublasTSTgemv, F32, BF16, BF16, s, i) \
  BATCHES(cublasTSSgemv, F32, BF16, F32, s, i)
SIZES(FUNCTIONS)
