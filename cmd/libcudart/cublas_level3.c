// Functions of cuBLAS for triangular and symmetric matrices.
#include "_cgo_export.h"
#include "cublas.h"

#define TRSM(name, T, s, i)                                                                                                                \
  int name##_v2##s(uintptr_t h, int side, int fill, int ta, int diag, i m, i n, uintptr_t alpha, uintptr_t a, i lda, uintptr_t b, i ldb)           \
  CALL(BLAS_TRSM, side, fill, diag, ta, .m = m, .n = n, .alpha = alpha, .scalar = T, .a = {a, T, lda}, .c = {b, T, ldb}, .batch = 1)
#define TRSM_BATCHED(name, T, s, i)                                                                                                        \
  int name##s(uintptr_t h, int side, int fill, int ta, int diag, i m, i n, uintptr_t alpha, uintptr_t a, i lda, uintptr_t b, i ldb, i batch)  \
  CALL(BLAS_TRSM, side, fill, diag, ta, .m = m, .n = n, .alpha = alpha, .scalar = T, .a = {a, T, lda}, .c = {b, T, ldb}, .batch = batch,      \
       .listed = 1)
#define FUNCTIONS(s, i)                                                                                                                    \
  SDCZ(TRSM, trsm, s, i)                                                                                                                   \
  SDCZ(TRSM_BATCHED, trsmBatched, s, i)
SIZES(FUNCTIONS)
