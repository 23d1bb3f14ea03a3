// The old interface of cuBLAS, which the SDK's cublas.h declares: its functions call those
// with handles. What they return is what cublasGetError returns next.
#include "cublas_api.h"

extern uintptr_t heddleOldBlas(void);
extern void heddleOldBlasError(int status);

#define HANDLE ((cublasHandle_t)heddleOldBlas())
#define CALL(f, ...) heddleOldBlasError(f(HANDLE, __VA_ARGS__));
#define GIVE(R, f, ...) R result = {0}; heddleOldBlasError(f(HANDLE, __VA_ARGS__)); return result;

// Letters; others become numbers that no function accepts.
static cublasOperation_t OP(char c) { return c == 'n' || c == 'N' ? CUBLAS_OP_N : c == 't' || c == 'T' ? CUBLAS_OP_T : c == 'c' || c == 'C' ? CUBLAS_OP_C : -1; }
static cublasFillMode_t FILL(char c) { return c == 'l' || c == 'L' ? CUBLAS_FILL_MODE_LOWER : c == 'u' || c == 'U' ? CUBLAS_FILL_MODE_UPPER : -1; }
static cublasSideMode_t SIDE(char c) { return c == 'l' || c == 'L' ? CUBLAS_SIDE_LEFT : c == 'r' || c == 'R' ? CUBLAS_SIDE_RIGHT : -1; }
static cublasDiagType_t DIAG(char c) { return c == 'n' || c == 'N' ? CUBLAS_DIAG_NON_UNIT : c == 'u' || c == 'U' ? CUBLAS_DIAG_UNIT : -1; }

#define GEMV(name, T, _, __) \
  void name(char transa, int m, int n, T alpha, const T *A, int lda, const T *x, int incx, T beta, T *y, int incy) { \
    CALL(name##_v2, OP(transa), m, n, &alpha, A, lda, x, incx, &beta, y, incy) \
  }
#define GBMV(name, T, _, __) \
  void name(char transa, int m, int n, int kl, int ku, T alpha, const T *A, int lda, const T *x, int incx, T beta, T *y, int incy) { \
    CALL(name##_v2, OP(transa), m, n, kl, ku, &alpha, A, lda, x, incx, &beta, y, incy) \
  }
#define SYMV(name, T, _, __) \
  void name(char uplo, int n, T alpha, const T *A, int lda, const T *x, int incx, T beta, T *y, int incy) { \
    CALL(name##_v2, FILL(uplo), n, &alpha, A, lda, x, incx, &beta, y, incy) \
  }
#define HEMV(name, T, _, __) \
  void name(char uplo, int n, T alpha, const T *A, int lda, const T *x, int incx, T beta, T *y, int incy) { \
    CALL(name##_v2, FILL(uplo), n, &alpha, A, lda, x, incx, &beta, y, incy) \
  }
#define SBMV(name, T, _, __) \
  void name(char uplo, int n, int k, T alpha, const T *A, int lda, const T *x, int incx, T beta, T *y, int incy) { \
    CALL(name##_v2, FILL(uplo), n, k, &alpha, A, lda, x, incx, &beta, y, incy) \
  }
#define HBMV(name, T, _, __) \
  void name(char uplo, int n, int k, T alpha, const T *A, int lda, const T *x, int incx, T beta, T *y, int incy) { \
    CALL(name##_v2, FILL(uplo), n, k, &alpha, A, lda, x, incx, &beta, y, incy) \
  }
#define SPMV(name, T, _, __) \
  void name(char uplo, int n, T alpha, const T *AP, const T *x, int incx, T beta, T *y, int incy) { \
    CALL(name##_v2, FILL(uplo), n, &alpha, AP, x, incx, &beta, y, incy) \
  }
#define HPMV(name, T, _, __) \
  void name(char uplo, int n, T alpha, const T *AP, const T *x, int incx, T beta, T *y, int incy) { \
    CALL(name##_v2, FILL(uplo), n, &alpha, AP, x, incx, &beta, y, incy) \
  }
#define TRMV(name, T, _, __) \
  void name(char uplo, char transa, char diag, int n, const T *A, int lda, T *x, int incx) { \
    CALL(name##_v2, FILL(uplo), OP(transa), DIAG(diag), n, A, lda, x, incx) \
  }
#define TRSV(name, T, _, __) \
  void name(char uplo, char transa, char diag, int n, const T *A, int lda, T *x, int incx) { \
    CALL(name##_v2, FILL(uplo), OP(transa), DIAG(diag), n, A, lda, x, incx) \
  }
#define TBMV(name, T, _, __) \
  void name(char uplo, char transa, char diag, int n, int k, const T *A, int lda, T *x, int incx) { \
    CALL(name##_v2, FILL(uplo), OP(transa), DIAG(diag), n, k, A, lda, x, incx) \
  }
#define TBSV(name, T, _, __) \
  void name(char uplo, char transa, char diag, int n, int k, const T *A, int lda, T *x, int incx) { \
    CALL(name##_v2, FILL(uplo), OP(transa), DIAG(diag), n, k, A, lda, x, incx) \
  }
#define TPMV(name, T, _, __) \
  void name(char uplo, char transa, char diag, int n, const T *AP, T *x, int incx) { \
    CALL(name##_v2, FILL(uplo), OP(transa), DIAG(diag), n, AP, x, incx) \
  }
#define TPSV(name, T, _, __) \
  void name(char uplo, char transa, char diag, int n, const T *AP, T *x, int incx) { \
    CALL(name##_v2, FILL(uplo), OP(transa), DIAG(diag), n, AP, x, incx) \
  }
#define GER(name, T, _, __) \
  void name(int m, int n, T alpha, const T *x, int incx, const T *y, int incy, T *A, int lda) { \
    CALL(name##_v2, m, n, &alpha, x, incx, y, incy, A, lda) \
  }
#define SYR(name, T, _, __) \
  void name(char uplo, int n, T alpha, const T *x, int incx, T *A, int lda) { \
    CALL(name##_v2, FILL(uplo), n, &alpha, x, incx, A, lda) \
  }
#define HER(name, T, R, _, __) \
  void name(char uplo, int n, R alpha, const T *x, int incx, T *A, int lda) { \
    CALL(name##_v2, FILL(uplo), n, &alpha, x, incx, A, lda) \
  }
#define SPR(name, T, _, __) \
  void name(char uplo, int n, T alpha, const T *x, int incx, T *AP) { \
    CALL(name##_v2, FILL(uplo), n, &alpha, x, incx, AP) \
  }
#define HPR(name, T, R, _, __) \
  void name(char uplo, int n, R alpha, const T *x, int incx, T *AP) { \
    CALL(name##_v2, FILL(uplo), n, &alpha, x, incx, AP) \
  }
#define SYR2(name, T, _, __) \
  void name(char uplo, int n, T alpha, const T *x, int incx, const T *y, int incy, T *A, int lda) { \
    CALL(name##_v2, FILL(uplo), n, &alpha, x, incx, y, incy, A, lda) \
  }
#define HER2(name, T, _, __) \
  void name(char uplo, int n, T alpha, const T *x, int incx, const T *y, int incy, T *A, int lda) { \
    CALL(name##_v2, FILL(uplo), n, &alpha, x, incx, y, incy, A, lda) \
  }
#define SPR2(name, T, _, __) \
  void name(char uplo, int n, T alpha, const T *x, int incx, const T *y, int incy, T *AP) { \
    CALL(name##_v2, FILL(uplo), n, &alpha, x, incx, y, incy, AP) \
  }
#define HPR2(name, T, _, __) \
  void name(char uplo, int n, T alpha, const T *x, int incx, const T *y, int incy, T *AP) { \
    CALL(name##_v2, FILL(uplo), n, &alpha, x, incx, y, incy, AP) \
  }
#define TRSM(name, T, _, __) \
  void name(char side, char uplo, char transa, char diag, int m, int n, T alpha, const T *A, int lda, T *B, int ldb) { \
    CALL(name##_v2, SIDE(side), FILL(uplo), OP(transa), DIAG(diag), m, n, &alpha, A, lda, B, ldb) \
  }
#define TRMM(name, T, _, __) \
  void name(char side, char uplo, char transa, char diag, int m, int n, T alpha, const T *A, int lda, T *B, int ldb) { \
    CALL(name##_v2, SIDE(side), FILL(uplo), OP(transa), DIAG(diag), m, n, &alpha, A, lda, B, ldb, B, ldb) \
  }
#define SYMM(name, T, _, __) \
  void name(char side, char uplo, int m, int n, T alpha, const T *A, int lda, const T *B, int ldb, T beta, T *C, int ldc) { \
    CALL(name##_v2, SIDE(side), FILL(uplo), m, n, &alpha, A, lda, B, ldb, &beta, C, ldc) \
  }
#define HEMM(name, T, _, __) \
  void name(char side, char uplo, int m, int n, T alpha, const T *A, int lda, const T *B, int ldb, T beta, T *C, int ldc) { \
    CALL(name##_v2, SIDE(side), FILL(uplo), m, n, &alpha, A, lda, B, ldb, &beta, C, ldc) \
  }
#define SYRK(name, T, _, __) \
  void name(char uplo, char transa, int n, int k, T alpha, const T *A, int lda, T beta, T *C, int ldc) { \
    CALL(name##_v2, FILL(uplo), OP(transa), n, k, &alpha, A, lda, &beta, C, ldc) \
  }
#define HERK(name, T, R, _, __) \
  void name(char uplo, char transa, int n, int k, R alpha, const T *A, int lda, R beta, T *C, int ldc) { \
    CALL(name##_v2, FILL(uplo), OP(transa), n, k, &alpha, A, lda, &beta, C, ldc) \
  }
#define SYR2K(name, T, _, __) \
  void name(char uplo, char transa, int n, int k, T alpha, const T *A, int lda, const T *B, int ldb, T beta, T *C, int ldc) { \
    CALL(name##_v2, FILL(uplo), OP(transa), n, k, &alpha, A, lda, B, ldb, &beta, C, ldc) \
  }
#define HER2K(name, T, R, _, __) \
  void name(char uplo, char transa, int n, int k, T alpha, const T *A, int lda, const T *B, int ldb, R beta, T *C, int ldc) { \
    CALL(name##_v2, FILL(uplo), OP(transa), n, k, &alpha, A, lda, B, ldb, &beta, C, ldc) \
  }
#define COPY(name, T, _, __) \
  void name(int n, const T *x, int incx, T *y, int incy) { CALL(name##_v2, n, x, incx, y, incy) }
#define SWAP(name, T, _, __) \
  void name(int n, T *x, int incx, T *y, int incy) { CALL(name##_v2, n, x, incx, y, incy) }
#define AXPY(name, T, _, __) \
  void name(int n, T alpha, const T *x, int incx, T *y, int incy) { CALL(name##_v2, n, &alpha, x, incx, y, incy) }
#define SCAL(name, A, T, _, __) \
  void name(int n, A alpha, T *x, int incx) { CALL(name##_v2, n, &alpha, x, incx) }
#define DOT(name, T, _, __) \
  T name(int n, const T *x, int incx, const T *y, int incy) { GIVE(T, name##_v2, n, x, incx, y, incy, &result) }
#define REDUCE(name, T, R, _, __) \
  R name(int n, const T *x, int incx) { GIVE(R, name##_v2, n, x, incx, &result) }
#define ROT(name, T, C, S, _, __) \
  void name(int n, T *x, int incx, T *y, int incy, C c, S s) { CALL(name##_v2, n, x, incx, y, incy, &c, &s) }
#define ROTM(name, T, _, __) \
  void name(int n, T *x, int incx, T *y, int incy, const T *param) { CALL(name##_v2, n, x, incx, y, incy, param) }
#define ROTG(name, T, _, __) \
  void name(T *a, T *b, T *c, T *s) { CALL(name##_v2, a, b, c, s) }
#define ROTG_COMPLEX(name, T, R, _, __) \
  void name(T *a, T b, R *c, T *s) { CALL(name##_v2, a, &b, c, s) }
#define ROTMG(name, T, _, __) \
  void name(T *d1, T *d2, T *x1, const T *y1, T *param) { CALL(name##_v2, d1, d2, x1, y1, param) }
#define GEMM(name, T, _, __) \
  void name(char transa, char transb, int m, int n, int k, T alpha, const T *A, int lda, const T *B, int ldb, T beta, T *C, int ldc) { CALL(name##_v2, OP(transa), OP(transb), m, n, k, &alpha, A, lda, B, ldb, &beta, C, ldc) }

HEDDLE_SDCZ(GEMV, gemv, , )
HEDDLE_SDCZ(GBMV, gbmv, , )
HEDDLE_SDCZ(SYMV, symv, , )
HEDDLE_CZ(HEMV, hemv, , )
HEDDLE_SD(SBMV, sbmv, , )
HEDDLE_CZ(HBMV, hbmv, , )
HEDDLE_SD(SPMV, spmv, , )
HEDDLE_CZ(HPMV, hpmv, , )
HEDDLE_SDCZ(TRMV, trmv, , )
HEDDLE_SDCZ(TRSV, trsv, , )
HEDDLE_SDCZ(TBMV, tbmv, , )
HEDDLE_SDCZ(TBSV, tbsv, , )
HEDDLE_SDCZ(TPMV, tpmv, , )
HEDDLE_SDCZ(TPSV, tpsv, , )
HEDDLE_SD(GER, ger, , )
HEDDLE_CZ(GER, geru, , )
HEDDLE_CZ(GER, gerc, , )
HEDDLE_SDCZ(SYR, syr, , )
HER(cublasCher, cuComplex, float, , )
HER(cublasZher, cuDoubleComplex, double, , )
HEDDLE_SD(SPR, spr, , )
HPR(cublasChpr, cuComplex, float, , )
HPR(cublasZhpr, cuDoubleComplex, double, , )
HEDDLE_SDCZ(SYR2, syr2, , )
HEDDLE_CZ(HER2, her2, , )
HEDDLE_SD(SPR2, spr2, , )
HEDDLE_CZ(HPR2, hpr2, , )
HEDDLE_SDCZ(TRSM, trsm, , )
HEDDLE_SDCZ(TRMM, trmm, , )
HEDDLE_SDCZ(SYMM, symm, , )
HEDDLE_CZ(HEMM, hemm, , )
HEDDLE_SDCZ(SYRK, syrk, , )
HERK(cublasCherk, cuComplex, float, , )
HERK(cublasZherk, cuDoubleComplex, double, , )
HEDDLE_SDCZ(SYR2K, syr2k, , )
HER2K(cublasCher2k, cuComplex, float, , )
HER2K(cublasZher2k, cuDoubleComplex, double, , )
HEDDLE_SDCZ(COPY, copy, , )
HEDDLE_SDCZ(SWAP, swap, , )
HEDDLE_SDCZ(AXPY, axpy, , )
SCAL(cublasSscal, float, float, , )
SCAL(cublasDscal, double, double, , )
SCAL(cublasCscal, cuComplex, cuComplex, , )
SCAL(cublasZscal, cuDoubleComplex, cuDoubleComplex, , )
SCAL(cublasCsscal, float, cuComplex, , )
SCAL(cublasZdscal, double, cuDoubleComplex, , )
HEDDLE_SD(DOT, dot, , )
HEDDLE_CZ(DOT, dotu, , )
HEDDLE_CZ(DOT, dotc, , )
REDUCE(cublasSnrm2, float, float, , )
REDUCE(cublasDnrm2, double, double, , )
REDUCE(cublasScnrm2, cuComplex, float, , )
REDUCE(cublasDznrm2, cuDoubleComplex, double, , )
REDUCE(cublasSasum, float, float, , )
REDUCE(cublasDasum, double, double, , )
REDUCE(cublasScasum, cuComplex, float, , )
REDUCE(cublasDzasum, cuDoubleComplex, double, , )
REDUCE(cublasIsamax, float, int, , )
REDUCE(cublasIdamax, double, int, , )
REDUCE(cublasIcamax, cuComplex, int, , )
REDUCE(cublasIzamax, cuDoubleComplex, int, , )
REDUCE(cublasIsamin, float, int, , )
REDUCE(cublasIdamin, double, int, , )
REDUCE(cublasIcamin, cuComplex, int, , )
REDUCE(cublasIzamin, cuDoubleComplex, int, , )
ROT(cublasSrot, float, float, float, , )
ROT(cublasDrot, double, double, double, , )
ROT(cublasCrot, cuComplex, float, cuComplex, , )
ROT(cublasCsrot, cuComplex, float, float, , )
ROT(cublasZrot, cuDoubleComplex, double, cuDoubleComplex, , )
ROT(cublasZdrot, cuDoubleComplex, double, double, , )
HEDDLE_SD(ROTM, rotm, , )
HEDDLE_SD(ROTG, rotg, , )
ROTG_COMPLEX(cublasCrotg, cuComplex, float, , )
ROTG_COMPLEX(cublasZrotg, cuDoubleComplex, double, , )
HEDDLE_SD(ROTMG, rotmg, , )
HEDDLE_SDCZ(GEMM, gemm, , )
