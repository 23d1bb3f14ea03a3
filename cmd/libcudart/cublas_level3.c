// Functions of cuBLAS for triangular and symmetric matrices.
#include "_cgo_export.h"
#include "cublas.h"

#define TRSM(name, T, s, i)                                                                                                                \
  int name##s(uintptr_t h, int side, int fill, int ta, int diag, i m, i n, uintptr_t alpha, uintptr_t a, i lda, uintptr_t b, i ldb)           \
  CALL(BLAS_TRSM, side, fill, diag, ta, .m = m, .n = n, .alpha = alpha, .scalar = T, .a = {a, T, lda}, .c = {b, T, ldb}, .batch = 1)
#define TRSM_BATCHED(name, T, s, i)                                                                                                        \
  int name##s(uintptr_t h, int side, int fill, int ta, int diag, i m, i n, uintptr_t alpha, uintptr_t a, i lda, uintptr_t b, i ldb, i batch)  \
  CALL(BLAS_TRSM, side, fill, diag, ta, .m = m, .n = n, .alpha = alpha, .scalar = T, .a = {a, T, lda}, .c = {b, T, ldb}, .batch = batch,      \
       .listed = 1)
#define FUNCTIONS(s, i)                                                                                                                    \
  TRSM(cublasStrsm_v2, F32, s, i)                                                                                                          \
  TRSM(cublasDtrsm_v2, F64, s, i)                                                                                                          \
  TRSM(cublasCtrsm_v2, C32, s, i)                                                                                                          \
  TRSM(cublasZtrsm_v2, C64, s, i)                                                                                                          \
  TRSM_BATCHED(cublasStrsmBatched, F32, s, i)                                                                                              \
  TRSM_BATCHED(cublasDtrsmBatched, F64, s, i)                                                                                              \
  TRSM_BATCHED(cublasCtrsmBatched, C32, s, i)                                                                                              \
  TRSM_BATCHED(cublasZtrsmBatched, C64, s, i)
SIZES(FUNCTIONS)
