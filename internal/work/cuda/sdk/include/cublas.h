// The old interface of cuBLAS: one context for the program, operations as letters, and
// numbers passed and returned by value.
#ifndef CUBLAS_H_
#define CUBLAS_H_

#ifdef CUBLAS_V2_H_
#error "cublas.h and cublas_v2.h give the same names to different functions; include one of them"
#endif

#include "cublas_api.h"

typedef cublasStatus_t cublasStatus;

#ifdef __cplusplus
extern "C" {
#endif

cublasStatus_t cublasInit(void);
cublasStatus_t cublasShutdown(void);
cublasStatus_t cublasGetError(void);
cublasStatus_t cublasGetVersion(int *version);
cublasStatus_t cublasAlloc(int n, int elemSize, void **devicePtr);
cublasStatus_t cublasFree(void *devicePtr);
cublasStatus_t cublasSetKernelStream(cudaStream_t stream);

#define HEDDLE_OLD_GEMV(name, T, _, __) \
  void name(char transa, int m, int n, T alpha, const T *A, int lda, const T *x, int incx, T beta, T *y, int incy);
#define HEDDLE_OLD_GBMV(name, T, _, __) \
  void name(char transa, int m, int n, int kl, int ku, T alpha, const T *A, int lda, const T *x, int incx, T beta, T *y, int incy);
#define HEDDLE_OLD_SYMV(name, T, _, __) \
  void name(char uplo, int n, T alpha, const T *A, int lda, const T *x, int incx, T beta, T *y, int incy);
#define HEDDLE_OLD_HEMV(name, T, _, __) \
  void name(char uplo, int n, T alpha, const T *A, int lda, const T *x, int incx, T beta, T *y, int incy);
#define HEDDLE_OLD_SBMV(name, T, _, __) \
  void name(char uplo, int n, int k, T alpha, const T *A, int lda, const T *x, int incx, T beta, T *y, int incy);
#define HEDDLE_OLD_HBMV(name, T, _, __) \
  void name(char uplo, int n, int k, T alpha, const T *A, int lda, const T *x, int incx, T beta, T *y, int incy);
#define HEDDLE_OLD_SPMV(name, T, _, __) \
  void name(char uplo, int n, T alpha, const T *AP, const T *x, int incx, T beta, T *y, int incy);
#define HEDDLE_OLD_HPMV(name, T, _, __) \
  void name(char uplo, int n, T alpha, const T *AP, const T *x, int incx, T beta, T *y, int incy);
#define HEDDLE_OLD_TRMV(name, T, _, __) \
  void name(char uplo, char transa, char diag, int n, const T *A, int lda, T *x, int incx);
#define HEDDLE_OLD_TRSV(name, T, _, __) \
  void name(char uplo, char transa, char diag, int n, const T *A, int lda, T *x, int incx);
#define HEDDLE_OLD_TBMV(name, T, _, __) \
  void name(char uplo, char transa, char diag, int n, int k, const T *A, int lda, T *x, int incx);
#define HEDDLE_OLD_TBSV(name, T, _, __) \
  void name(char uplo, char transa, char diag, int n, int k, const T *A, int lda, T *x, int incx);
#define HEDDLE_OLD_TPMV(name, T, _, __) \
  void name(char uplo, char transa, char diag, int n, const T *AP, T *x, int incx);
#define HEDDLE_OLD_TPSV(name, T, _, __) \
  void name(char uplo, char transa, char diag, int n, const T *AP, T *x, int incx);
#define HEDDLE_OLD_GER(name, T, _, __) \
  void name(int m, int n, T alpha, const T *x, int incx, const T *y, int incy, T *A, int lda);
#define HEDDLE_OLD_GERU(name, T, _, __) \
  void name(int m, int n, T alpha, const T *x, int incx, const T *y, int incy, T *A, int lda);
#define HEDDLE_OLD_GERC(name, T, _, __) \
  void name(int m, int n, T alpha, const T *x, int incx, const T *y, int incy, T *A, int lda);
#define HEDDLE_OLD_SYR(name, T, _, __) \
  void name(char uplo, int n, T alpha, const T *x, int incx, T *A, int lda);
#define HEDDLE_OLD_HER(name, T, R, _, __) \
  void name(char uplo, int n, R alpha, const T *x, int incx, T *A, int lda);
#define HEDDLE_OLD_SPR(name, T, _, __) \
  void name(char uplo, int n, T alpha, const T *x, int incx, T *AP);
#define HEDDLE_OLD_HPR(name, T, R, _, __) \
  void name(char uplo, int n, R alpha, const T *x, int incx, T *AP);
#define HEDDLE_OLD_SYR2(name, T, _, __) \
  void name(char uplo, int n, T alpha, const T *x, int incx, const T *y, int incy, T *A, int lda);
#define HEDDLE_OLD_HER2(name, T, _, __) \
  void name(char uplo, int n, T alpha, const T *x, int incx, const T *y, int incy, T *A, int lda);
#define HEDDLE_OLD_SPR2(name, T, _, __) \
  void name(char uplo, int n, T alpha, const T *x, int incx, const T *y, int incy, T *AP);
#define HEDDLE_OLD_HPR2(name, T, _, __) \
  void name(char uplo, int n, T alpha, const T *x, int incx, const T *y, int incy, T *AP);
#define HEDDLE_OLD_TRSM(name, T, _, __) \
  void name(char side, char uplo, char transa, char diag, int m, int n, T alpha, const T *A, int lda, T *B, int ldb);
#define HEDDLE_OLD_TRMM(name, T, _, __) \
  void name(char side, char uplo, char transa, char diag, int m, int n, T alpha, const T *A, int lda, T *B, int ldb);
#define HEDDLE_OLD_SYMM(name, T, _, __) \
  void name(char side, char uplo, int m, int n, T alpha, const T *A, int lda, const T *B, int ldb, T beta, T *C, int ldc);
#define HEDDLE_OLD_HEMM(name, T, _, __) \
  void name(char side, char uplo, int m, int n, T alpha, const T *A, int lda, const T *B, int ldb, T beta, T *C, int ldc);
#define HEDDLE_OLD_SYRK(name, T, _, __) \
  void name(char uplo, char transa, int n, int k, T alpha, const T *A, int lda, T beta, T *C, int ldc);
#define HEDDLE_OLD_HERK(name, T, R, _, __) \
  void name(char uplo, char transa, int n, int k, R alpha, const T *A, int lda, R beta, T *C, int ldc);
#define HEDDLE_OLD_SYR2K(name, T, _, __) \
  void name(char uplo, char transa, int n, int k, T alpha, const T *A, int lda, const T *B, int ldb, T beta, T *C, int ldc);
#define HEDDLE_OLD_HER2K(name, T, R, _, __) \
  void name(char uplo, char transa, int n, int k, T alpha, const T *A, int lda, const T *B, int ldb, R beta, T *C, int ldc);
#define HEDDLE_OLD_COPY(name, T, _, __) \
  void name(int n, const T *x, int incx, T *y, int incy);
#define HEDDLE_OLD_SWAP(name, T, _, __) \
  void name(int n, T *x, int incx, T *y, int incy);
#define HEDDLE_OLD_AXPY(name, T, _, __) \
  void name(int n, T alpha, const T *x, int incx, T *y, int incy);
#define HEDDLE_OLD_SCAL(name, A, T, _, __) \
  void name(int n, A alpha, T *x, int incx);
#define HEDDLE_OLD_DOT(name, T, _, __) \
  T name(int n, const T *x, int incx, const T *y, int incy);
#define HEDDLE_OLD_REDUCE(name, T, R, _, __) \
  R name(int n, const T *x, int incx);
#define HEDDLE_OLD_ROT(name, T, C, S, _, __) \
  void name(int n, T *x, int incx, T *y, int incy, C c, S s);
#define HEDDLE_OLD_ROTM(name, T, _, __) \
  void name(int n, T *x, int incx, T *y, int incy, const T *param);
#define HEDDLE_OLD_ROTG(name, T, _, __) \
  void name(T *a, T *b, T *c, T *s);
#define HEDDLE_OLD_ROTG_COMPLEX(name, T, R, _, __) \
  void name(T *a, T b, R *c, T *s);
#define HEDDLE_OLD_ROTMG(name, T, _, __) \
  void name(T *d1, T *d2, T *x1, const T *y1, T *param);
#define HEDDLE_OLD_GEMM(name, T, _, __) \
  void name(char transa, char transb, int m, int n, int k, T alpha, const T *A, int lda, const T *B, int ldb, T beta, T *C, int ldc);

HEDDLE_SDCZ(HEDDLE_OLD_GEMV, gemv, , )
HEDDLE_SDCZ(HEDDLE_OLD_GBMV, gbmv, , )
HEDDLE_SDCZ(HEDDLE_OLD_SYMV, symv, , )
HEDDLE_CZ(HEDDLE_OLD_HEMV, hemv, , )
HEDDLE_SD(HEDDLE_OLD_SBMV, sbmv, , )
HEDDLE_CZ(HEDDLE_OLD_HBMV, hbmv, , )
HEDDLE_SD(HEDDLE_OLD_SPMV, spmv, , )
HEDDLE_CZ(HEDDLE_OLD_HPMV, hpmv, , )
HEDDLE_SDCZ(HEDDLE_OLD_TRMV, trmv, , )
HEDDLE_SDCZ(HEDDLE_OLD_TRSV, trsv, , )
HEDDLE_SDCZ(HEDDLE_OLD_TBMV, tbmv, , )
HEDDLE_SDCZ(HEDDLE_OLD_TBSV, tbsv, , )
HEDDLE_SDCZ(HEDDLE_OLD_TPMV, tpmv, , )
HEDDLE_SDCZ(HEDDLE_OLD_TPSV, tpsv, , )
HEDDLE_SD(HEDDLE_OLD_GER, ger, , )
HEDDLE_CZ(HEDDLE_OLD_GERU, geru, , )
HEDDLE_CZ(HEDDLE_OLD_GERC, gerc, , )
HEDDLE_SDCZ(HEDDLE_OLD_SYR, syr, , )
HEDDLE_OLD_HER(cublasCher, cuComplex, float, , )
HEDDLE_OLD_HER(cublasZher, cuDoubleComplex, double, , )
HEDDLE_SD(HEDDLE_OLD_SPR, spr, , )
HEDDLE_OLD_HPR(cublasChpr, cuComplex, float, , )
HEDDLE_OLD_HPR(cublasZhpr, cuDoubleComplex, double, , )
HEDDLE_SDCZ(HEDDLE_OLD_SYR2, syr2, , )
HEDDLE_CZ(HEDDLE_OLD_HER2, her2, , )
HEDDLE_SD(HEDDLE_OLD_SPR2, spr2, , )
HEDDLE_CZ(HEDDLE_OLD_HPR2, hpr2, , )
HEDDLE_SDCZ(HEDDLE_OLD_TRSM, trsm, , )
HEDDLE_SDCZ(HEDDLE_OLD_TRMM, trmm, , )
HEDDLE_SDCZ(HEDDLE_OLD_SYMM, symm, , )
HEDDLE_CZ(HEDDLE_OLD_HEMM, hemm, , )
HEDDLE_SDCZ(HEDDLE_OLD_SYRK, syrk, , )
HEDDLE_OLD_HERK(cublasCherk, cuComplex, float, , )
HEDDLE_OLD_HERK(cublasZherk, cuDoubleComplex, double, , )
HEDDLE_SDCZ(HEDDLE_OLD_SYR2K, syr2k, , )
HEDDLE_OLD_HER2K(cublasCher2k, cuComplex, float, , )
HEDDLE_OLD_HER2K(cublasZher2k, cuDoubleComplex, double, , )
HEDDLE_SDCZ(HEDDLE_OLD_COPY, copy, , )
HEDDLE_SDCZ(HEDDLE_OLD_SWAP, swap, , )
HEDDLE_SDCZ(HEDDLE_OLD_AXPY, axpy, , )
HEDDLE_OLD_SCAL(cublasSscal, float, float, , )
HEDDLE_OLD_SCAL(cublasDscal, double, double, , )
HEDDLE_OLD_SCAL(cublasCscal, cuComplex, cuComplex, , )
HEDDLE_OLD_SCAL(cublasZscal, cuDoubleComplex, cuDoubleComplex, , )
HEDDLE_OLD_SCAL(cublasCsscal, float, cuComplex, , )
HEDDLE_OLD_SCAL(cublasZdscal, double, cuDoubleComplex, , )
HEDDLE_SD(HEDDLE_OLD_DOT, dot, , )
HEDDLE_CZ(HEDDLE_OLD_DOT, dotu, , )
HEDDLE_CZ(HEDDLE_OLD_DOT, dotc, , )
HEDDLE_OLD_REDUCE(cublasSnrm2, float, float, , )
HEDDLE_OLD_REDUCE(cublasDnrm2, double, double, , )
HEDDLE_OLD_REDUCE(cublasScnrm2, cuComplex, float, , )
HEDDLE_OLD_REDUCE(cublasDznrm2, cuDoubleComplex, double, , )
HEDDLE_OLD_REDUCE(cublasSasum, float, float, , )
HEDDLE_OLD_REDUCE(cublasDasum, double, double, , )
HEDDLE_OLD_REDUCE(cublasScasum, cuComplex, float, , )
HEDDLE_OLD_REDUCE(cublasDzasum, cuDoubleComplex, double, , )
HEDDLE_OLD_REDUCE(cublasIsamax, float, int, , )
HEDDLE_OLD_REDUCE(cublasIdamax, double, int, , )
HEDDLE_OLD_REDUCE(cublasIcamax, cuComplex, int, , )
HEDDLE_OLD_REDUCE(cublasIzamax, cuDoubleComplex, int, , )
HEDDLE_OLD_REDUCE(cublasIsamin, float, int, , )
HEDDLE_OLD_REDUCE(cublasIdamin, double, int, , )
HEDDLE_OLD_REDUCE(cublasIcamin, cuComplex, int, , )
HEDDLE_OLD_REDUCE(cublasIzamin, cuDoubleComplex, int, , )
HEDDLE_OLD_ROT(cublasSrot, float, float, float, , )
HEDDLE_OLD_ROT(cublasDrot, double, double, double, , )
HEDDLE_OLD_ROT(cublasCrot, cuComplex, float, cuComplex, , )
HEDDLE_OLD_ROT(cublasCsrot, cuComplex, float, float, , )
HEDDLE_OLD_ROT(cublasZrot, cuDoubleComplex, double, cuDoubleComplex, , )
HEDDLE_OLD_ROT(cublasZdrot, cuDoubleComplex, double, double, , )
HEDDLE_SD(HEDDLE_OLD_ROTM, rotm, , )
HEDDLE_SD(HEDDLE_OLD_ROTG, rotg, , )
HEDDLE_OLD_ROTG_COMPLEX(cublasCrotg, cuComplex, float, , )
HEDDLE_OLD_ROTG_COMPLEX(cublasZrotg, cuDoubleComplex, double, , )
HEDDLE_SD(HEDDLE_OLD_ROTMG, rotmg, , )
HEDDLE_SDCZ(HEDDLE_OLD_GEMM, gemm, , )

#ifdef __cplusplus
}
#endif
#endif
