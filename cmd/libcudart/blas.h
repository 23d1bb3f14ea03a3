// What the C functions of cuBLAS pass to Go: one form of each operation for all types and
// both widths of sizes.
#ifndef HEDDLE_BLAS_H
#define HEDDLE_BLAS_H

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

// blas_groups are products in groups: the addresses are those of the program's arrays with a number
// for each group, of 8 bytes if wide says so, and of the arrays of pointers of all products.
struct blas_groups {
  uintptr_t transa, transb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc, sizes;
  int64_t count;
  int at, bt, ct, compute, wide;
};

// SIZES makes both forms of functions: with int, and with int64_t and the suffix _64.
#define SIZES(X) X(, int) X(_64, int64_t)

// X for the four types.
#define SD(X, f, s, i) X(cublasS##f, F32, s, i) X(cublasD##f, F64, s, i)
#define CZ(X, f, s, i) X(cublasC##f, C32, s, i) X(cublasZ##f, C64, s, i)
#define SDCZ(X, f, s, i) SD(X, f, s, i) CZ(X, f, s, i)

// Numbers of types (cudaDataType).
enum { F32, F64, F16, C32 = 4, C64, BF16 = 14 };

enum { INVALID_VALUE = 7 }; // CUBLAS_STATUS_INVALID_VALUE

// blas_call is a call of any other function: of what a function has no use for is zero.
// Vectors are matrices whose leading dimension is the increment.
struct blas_call {
  int side, kind, storage, fill, diag, transa, transb;
  int64_t m, n, k, kl, ku;
  uintptr_t alpha, beta;
  int scalar; // type of alpha and beta
  struct blas_matrix a, b, c;
  int64_t batch;
  int listed, both;
};

// blas_factor is a call for the factors of a batch, whose addresses are arrays of pointers.
struct blas_factor {
  int op;
  int64_t m, n;
  struct blas_matrix a, c;
  uintptr_t pivots, info;
  int64_t batch;
};

// Operations, structures and storages, as internal/libs/blas numbers them.
enum { OP_N, OP_T, OP_C };
enum { GENERAL, SYMMETRIC, HERMITIAN, TRIANGULAR };
enum { DENSE, BANDED, PACKED };

// The functions; cublas.go has the same table.
enum {
  BLAS_COPY, BLAS_SWAP, BLAS_AXPY, BLAS_SCAL, BLAS_DOT, BLAS_DOTC, BLAS_NRM2, BLAS_ASUM, BLAS_AMAX, BLAS_AMIN, BLAS_ROT, BLAS_ROTG, BLAS_ROTM,
  BLAS_ROTMG, BLAS_GEMV, BLAS_MV, BLAS_TRMV, BLAS_TRSV, BLAS_RANK, BLAS_TRSM, BLAS_TRMM, BLAS_SYMM, BLAS_RANKK, BLAS_GEAM, BLAS_DGMM,
  BLAS_PACK, BLAS_GETRF, BLAS_GETRS, BLAS_GETRI, BLAS_MATINV, BLAS_GEQRF
};

// CALL passes a call on, with the function's name for messages; h is the handle.
#define CALL(what, ...) { struct blas_call call = {__VA_ARGS__}; return heddleBlas(h, (char *)__func__, what, &call); }
#define FACTOR(what, ...) { struct blas_factor call = {__VA_ARGS__}; return heddleBlasFactor(h, (char *)__func__, what, &call); }

#endif
