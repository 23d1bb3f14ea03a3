// Copies of vectors and matrices between the host and the device: a vector is a matrix of
// one row.
#include "_cgo_export.h"
#include "blas.h"

enum { SET = 1, GET = 2 }; // cudaMemcpyKind

// The columns of a matrix must not overlap.
#define MATRIX(kind, rows, columns, size, a, lda, b, ldb, stream, async) \
  rows < 0 || lda < rows || ldb < rows ? INVALID_VALUE : heddleBlasCopy(kind, rows, columns, size, a, lda, b, ldb, stream, async)

#define COPIES(what, kind, s, i) \
  int cublas##what##Vector##s(i n, i size, uintptr_t x, i incx, uintptr_t y, i incy) { \
    return heddleBlasCopy(kind, 1, n, size, x, incx, y, incy, 0, 0); \
  } \
  int cublas##what##Matrix##s(i rows, i columns, i size, uintptr_t a, i lda, uintptr_t b, i ldb) { \
    return MATRIX(kind, rows, columns, size, a, lda, b, ldb, 0, 0); \
  } \
  int cublas##what##VectorAsync##s(i n, i size, uintptr_t x, i incx, uintptr_t y, i incy, uintptr_t stream) { \
    return heddleBlasCopy(kind, 1, n, size, x, incx, y, incy, stream, 1); \
  } \
  int cublas##what##MatrixAsync##s(i rows, i columns, i size, uintptr_t a, i lda, uintptr_t b, i ldb, uintptr_t stream) { \
    return MATRIX(kind, rows, columns, size, a, lda, b, ldb, stream, 1); \
  }
#define FUNCTIONS(s, i) \
  COPIES(Set, SET, s, i) \
  COPIES(Get, GET, s, i)
SIZES(FUNCTIONS)
