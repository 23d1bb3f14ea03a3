// What the C functions of cuBLAS pass to Go: one form of each operation for all types and
// both widths of sizes.
#ifndef HEDDLE_CUBLAS_H
#define HEDDLE_CUBLAS_H

#include <stdint.h>

// blas_matrix is a matrix: address, type (cudaDataType), leading dimension, and from one
// of a batch to the next.
struct blas_matrix {
  uintptr_t at;
  int type;
  int64_t ld, stride;
};

// blas_gemm is a product; listed says that the addresses are those of arrays of pointers.
struct blas_gemm {
  int transa, transb;
  int64_t m, n, k;
  uintptr_t alpha;
  struct blas_matrix a, b;
  uintptr_t beta;
  struct blas_matrix c;
  int64_t batch;
  int listed, compute;
};

#endif
