// The functions of cuBLAS for vectors and for matrices with a structure; cublas_api.h includes them.
#ifndef HEDDLE_CUBLAS_FUNCTIONS_H
#define HEDDLE_CUBLAS_FUNCTIONS_H

// X for the four types.
#define HEDDLE_SD(X, f, s, i) X(cublasS##f, float, s, i) X(cublasD##f, double, s, i)
#define HEDDLE_CZ(X, f, s, i) X(cublasC##f, cuComplex, s, i) X(cublasZ##f, cuDoubleComplex, s, i)
#define HEDDLE_SDCZ(X, f, s, i) HEDDLE_SD(X, f, s, i) HEDDLE_CZ(X, f, s, i)

#define HEDDLE_COPY(name, T, s, i) cublasStatus_t name##_v2##s(cublasHandle_t handle, i n, const T *x, i incx, T *y, i incy);
#define HEDDLE_SWAP(name, T, s, i) cublasStatus_t name##_v2##s(cublasHandle_t handle, i n, T *x, i incx, T *y, i incy);
#define HEDDLE_AXPY(name, T, s, i) cublasStatus_t name##_v2##s(cublasHandle_t handle, i n, const T *alpha, const T *x, i incx, T *y, i incy);
#define HEDDLE_SCAL(name, A, T, s, i) cublasStatus_t name##_v2##s(cublasHandle_t handle, i n, const A *alpha, T *x, i incx);
#define HEDDLE_DOT(name, T, s, i) cublasStatus_t name##_v2##s(cublasHandle_t handle, i n, const T *x, i incx, const T *y, i incy, T *result);
#define HEDDLE_REDUCE(name, T, R, s, i) cublasStatus_t name##_v2##s(cublasHandle_t handle, i n, const T *x, i incx, R *result);
#define HEDDLE_ROT(name, T, C, S, s, i) \
  cublasStatus_t name##_v2##s(cublasHandle_t handle, i n, T *x, i incx, T *y, i incy, const C *c, const S *sn);
#define HEDDLE_ROTM(name, T, s, i) cublasStatus_t name##_v2##s(cublasHandle_t handle, i n, T *x, i incx, T *y, i incy, const T *param);
#define HEDDLE_LEVEL1(s, i, _)                                                                                                                 \
  HEDDLE_SDCZ(HEDDLE_COPY, copy, s, i)                                                                                                         \
  HEDDLE_SDCZ(HEDDLE_SWAP, swap, s, i)                                                                                                         \
  HEDDLE_SDCZ(HEDDLE_AXPY, axpy, s, i)                                                                                                         \
  HEDDLE_SCAL(cublasSscal, float, float, s, i)                                                                                                 \
  HEDDLE_SCAL(cublasDscal, double, double, s, i)                                                                                               \
  HEDDLE_SCAL(cublasCscal, cuComplex, cuComplex, s, i)                                                                                         \
  HEDDLE_SCAL(cublasZscal, cuDoubleComplex, cuDoubleComplex, s, i)                                                                             \
  HEDDLE_SCAL(cublasCsscal, float, cuComplex, s, i)                                                                                            \
  HEDDLE_SCAL(cublasZdscal, double, cuDoubleComplex, s, i)                                                                                     \
  HEDDLE_SD(HEDDLE_DOT, dot, s, i)                                                                                                             \
  HEDDLE_CZ(HEDDLE_DOT, dotu, s, i)                                                                                                            \
  HEDDLE_CZ(HEDDLE_DOT, dotc, s, i)                                                                                                            \
  HEDDLE_REDUCE(cublasSnrm2, float, float, s, i)                                                                                               \
  HEDDLE_REDUCE(cublasDnrm2, double, double, s, i)                                                                                             \
  HEDDLE_REDUCE(cublasScnrm2, cuComplex, float, s, i)                                                                                          \
  HEDDLE_REDUCE(cublasDznrm2, cuDoubleComplex, double, s, i)                                                                                   \
  HEDDLE_REDUCE(cublasSasum, float, float, s, i)                                                                                               \
  HEDDLE_REDUCE(cublasDasum, double, double, s, i)                                                                                             \
  HEDDLE_REDUCE(cublasScasum, cuComplex, float, s, i)                                                                                          \
  HEDDLE_REDUCE(cublasDzasum, cuDoubleComplex, double, s, i)                                                                                   \
  HEDDLE_REDUCE(cublasIsamax, float, i, s, i)                                                                                                  \
  HEDDLE_REDUCE(cublasIdamax, double, i, s, i)                                                                                                 \
  HEDDLE_REDUCE(cublasIcamax, cuComplex, i, s, i)                                                                                              \
  HEDDLE_REDUCE(cublasIzamax, cuDoubleComplex, i, s, i)                                                                                        \
  HEDDLE_REDUCE(cublasIsamin, float, i, s, i)                                                                                                  \
  HEDDLE_REDUCE(cublasIdamin, double, i, s, i)                                                                                                 \
  HEDDLE_REDUCE(cublasIcamin, cuComplex, i, s, i)                                                                                              \
  HEDDLE_REDUCE(cublasIzamin, cuDoubleComplex, i, s, i)                                                                                        \
  HEDDLE_ROT(cublasSrot, float, float, float, s, i)                                                                                            \
  HEDDLE_ROT(cublasDrot, double, double, double, s, i)                                                                                         \
  HEDDLE_ROT(cublasCrot, cuComplex, float, cuComplex, s, i)                                                                                    \
  HEDDLE_ROT(cublasCsrot, cuComplex, float, float, s, i)                                                                                       \
  HEDDLE_ROT(cublasZrot, cuDoubleComplex, double, cuDoubleComplex, s, i)                                                                       \
  HEDDLE_ROT(cublasZdrot, cuDoubleComplex, double, double, s, i)                                                                               \
  HEDDLE_SD(HEDDLE_ROTM, rotm, s, i)                                                                                                           \
  cublasStatus_t cublasCopyEx##s(cublasHandle_t handle, i n, const void *x, cudaDataType xType, i incx, void *y, cudaDataType yType, i incy);  \
  cublasStatus_t cublasSwapEx##s(cublasHandle_t handle, i n, void *x, cudaDataType xType, i incx, void *y, cudaDataType yType, i incy);        \
  cublasStatus_t cublasAxpyEx##s(cublasHandle_t handle, i n, const void *alpha, cudaDataType alphaType, const void *x, cudaDataType xType,     \
                                 i incx, void *y, cudaDataType yType, i incy, cudaDataType executiontype);                                     \
  cublasStatus_t cublasScalEx##s(cublasHandle_t handle, i n, const void *alpha, cudaDataType alphaType, void *x, cudaDataType xType, i incx,   \
                                 cudaDataType executionType);                                                                                  \
  cublasStatus_t cublasDotEx##s(cublasHandle_t handle, i n, const void *x, cudaDataType xType, i incx, const void *y, cudaDataType yType,      \
                                i incy, void *result, cudaDataType resultType, cudaDataType executionType);                                    \
  cublasStatus_t cublasDotcEx##s(cublasHandle_t handle, i n, const void *x, cudaDataType xType, i incx, const void *y, cudaDataType yType,     \
                                 i incy, void *result, cudaDataType resultType, cudaDataType executionType);                                   \
  cublasStatus_t cublasNrm2Ex##s(cublasHandle_t handle, i n, const void *x, cudaDataType xType, i incx, void *result,                          \
                                 cudaDataType resultType, cudaDataType executionType);                                                         \
  cublasStatus_t cublasAsumEx##s(cublasHandle_t handle, i n, const void *x, cudaDataType xType, i incx, void *result,                          \
                                 cudaDataType resultType, cudaDataType executiontype);                                                         \
  cublasStatus_t cublasIamaxEx##s(cublasHandle_t handle, i n, const void *x, cudaDataType xType, i incx, i *result);                           \
  cublasStatus_t cublasIaminEx##s(cublasHandle_t handle, i n, const void *x, cudaDataType xType, i incx, i *result);                           \
  cublasStatus_t cublasRotEx##s(cublasHandle_t handle, i n, void *x, cudaDataType xType, i incx, void *y, cudaDataType yType, i incy,          \
                                const void *c, const void *sn, cudaDataType csType, cudaDataType executiontype);                               \
  cublasStatus_t cublasRotmEx##s(cublasHandle_t handle, i n, void *x, cudaDataType xType, i incx, void *y, cudaDataType yType, i incy,         \
                                 const void *param, cudaDataType paramType, cudaDataType executiontype);
HEDDLE_BLAS_SIZES(HEDDLE_LEVEL1)

cublasStatus_t cublasSrotg_v2(cublasHandle_t handle, float *a, float *b, float *c, float *s);
cublasStatus_t cublasDrotg_v2(cublasHandle_t handle, double *a, double *b, double *c, double *s);
cublasStatus_t cublasCrotg_v2(cublasHandle_t handle, cuComplex *a, cuComplex *b, float *c, cuComplex *s);
cublasStatus_t cublasZrotg_v2(cublasHandle_t handle, cuDoubleComplex *a, cuDoubleComplex *b, double *c, cuDoubleComplex *s);
cublasStatus_t cublasRotgEx(cublasHandle_t handle, void *a, void *b, cudaDataType abType, void *c, void *s, cudaDataType csType,
                            cudaDataType executiontype);
cublasStatus_t cublasSrotmg_v2(cublasHandle_t handle, float *d1, float *d2, float *x1, const float *y1, float *param);
cublasStatus_t cublasDrotmg_v2(cublasHandle_t handle, double *d1, double *d2, double *x1, const double *y1, double *param);
cublasStatus_t cublasRotmgEx(cublasHandle_t handle, void *d1, cudaDataType d1Type, void *d2, cudaDataType d2Type, void *x1,
                             cudaDataType x1Type, const void *y1, cudaDataType y1Type, void *param, cudaDataType paramType,
                             cudaDataType executiontype);

#define HEDDLE_GEMV(name, T, s, i) \
  cublasStatus_t name##_v2##s(cublasHandle_t handle, cublasOperation_t transa, i m, i n, const T *alpha, const T *A, i lda, const T *x, i incx, const T *beta, \
      T *y, i incy);
#define HEDDLE_GBMV(name, T, s, i) \
  cublasStatus_t name##_v2##s(cublasHandle_t handle, cublasOperation_t transa, i m, i n, i kl, i ku, const T *alpha, const T *A, i lda, const T *x, i incx, \
      const T *beta, T *y, i incy);
#define HEDDLE_SYMV(name, T, s, i) \
  cublasStatus_t name##_v2##s(cublasHandle_t handle, cublasFillMode_t uplo, i n, const T *alpha, const T *A, i lda, const T *x, i incx, const T *beta, T *y, \
      i incy);
#define HEDDLE_HEMV(name, T, s, i) \
  cublasStatus_t name##_v2##s(cublasHandle_t handle, cublasFillMode_t uplo, i n, const T *alpha, const T *A, i lda, const T *x, i incx, const T *beta, T *y, \
      i incy);
#define HEDDLE_SBMV(name, T, s, i) \
  cublasStatus_t name##_v2##s(cublasHandle_t handle, cublasFillMode_t uplo, i n, i k, const T *alpha, const T *A, i lda, const T *x, i incx, const T *beta, T *y, \
      i incy);
#define HEDDLE_HBMV(name, T, s, i) \
  cublasStatus_t name##_v2##s(cublasHandle_t handle, cublasFillMode_t uplo, i n, i k, const T *alpha, const T *A, i lda, const T *x, i incx, const T *beta, T *y, \
      i incy);
#define HEDDLE_SPMV(name, T, s, i) \
  cublasStatus_t name##_v2##s(cublasHandle_t handle, cublasFillMode_t uplo, i n, const T *alpha, const T *AP, const T *x, i incx, const T *beta, T *y, i incy);
#define HEDDLE_HPMV(name, T, s, i) \
  cublasStatus_t name##_v2##s(cublasHandle_t handle, cublasFillMode_t uplo, i n, const T *alpha, const T *AP, const T *x, i incx, const T *beta, T *y, i incy);
#define HEDDLE_TRMV(name, T, s, i) \
  cublasStatus_t name##_v2##s(cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t transa, cublasDiagType_t diag, i n, const T *A, i lda, T *x, \
      i incx);
#define HEDDLE_TRSV(name, T, s, i) \
  cublasStatus_t name##_v2##s(cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t transa, cublasDiagType_t diag, i n, const T *A, i lda, T *x, \
      i incx);
#define HEDDLE_TBMV(name, T, s, i) \
  cublasStatus_t name##_v2##s(cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t transa, cublasDiagType_t diag, i n, i k, const T *A, i lda, T *x, \
      i incx);
#define HEDDLE_TBSV(name, T, s, i) \
  cublasStatus_t name##_v2##s(cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t transa, cublasDiagType_t diag, i n, i k, const T *A, i lda, T *x, \
      i incx);
#define HEDDLE_TPMV(name, T, s, i) \
  cublasStatus_t name##_v2##s(cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t transa, cublasDiagType_t diag, i n, const T *AP, T *x, i incx);
#define HEDDLE_TPSV(name, T, s, i) \
  cublasStatus_t name##_v2##s(cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t transa, cublasDiagType_t diag, i n, const T *AP, T *x, i incx);
#define HEDDLE_GER(name, T, s, i) \
  cublasStatus_t name##_v2##s(cublasHandle_t handle, i m, i n, const T *alpha, const T *x, i incx, const T *y, i incy, T *A, i lda);
#define HEDDLE_GERU(name, T, s, i) \
  cublasStatus_t name##_v2##s(cublasHandle_t handle, i m, i n, const T *alpha, const T *x, i incx, const T *y, i incy, T *A, i lda);
#define HEDDLE_GERC(name, T, s, i) \
  cublasStatus_t name##_v2##s(cublasHandle_t handle, i m, i n, const T *alpha, const T *x, i incx, const T *y, i incy, T *A, i lda);
#define HEDDLE_SYR(name, T, s, i) \
  cublasStatus_t name##_v2##s(cublasHandle_t handle, cublasFillMode_t uplo, i n, const T *alpha, const T *x, i incx, T *A, i lda);
#define HEDDLE_HER(name, T, R, s, i) \
  cublasStatus_t name##_v2##s(cublasHandle_t handle, cublasFillMode_t uplo, i n, const R *alpha, const T *x, i incx, T *A, i lda);
#define HEDDLE_SPR(name, T, s, i) \
  cublasStatus_t name##_v2##s(cublasHandle_t handle, cublasFillMode_t uplo, i n, const T *alpha, const T *x, i incx, T *AP);
#define HEDDLE_HPR(name, T, R, s, i) \
  cublasStatus_t name##_v2##s(cublasHandle_t handle, cublasFillMode_t uplo, i n, const R *alpha, const T *x, i incx, T *AP);
#define HEDDLE_SYR2(name, T, s, i) \
  cublasStatus_t name##_v2##s(cublasHandle_t handle, cublasFillMode_t uplo, i n, const T *alpha, const T *x, i incx, const T *y, i incy, T *A, i lda);
#define HEDDLE_HER2(name, T, s, i) \
  cublasStatus_t name##_v2##s(cublasHandle_t handle, cublasFillMode_t uplo, i n, const T *alpha, const T *x, i incx, const T *y, i incy, T *A, i lda);
#define HEDDLE_SPR2(name, T, s, i) \
  cublasStatus_t name##_v2##s(cublasHandle_t handle, cublasFillMode_t uplo, i n, const T *alpha, const T *x, i incx, const T *y, i incy, T *AP);
#define HEDDLE_HPR2(name, T, s, i) \
  cublasStatus_t name##_v2##s(cublasHandle_t handle, cublasFillMode_t uplo, i n, const T *alpha, const T *x, i incx, const T *y, i incy, T *AP);
#define HEDDLE_LEVEL2(s, i, _) \
  HEDDLE_SDCZ(HEDDLE_GEMV, gemv, s, i) \
  HEDDLE_SDCZ(HEDDLE_GBMV, gbmv, s, i) \
  HEDDLE_SDCZ(HEDDLE_SYMV, symv, s, i) \
  HEDDLE_CZ(HEDDLE_HEMV, hemv, s, i) \
  HEDDLE_SD(HEDDLE_SBMV, sbmv, s, i) \
  HEDDLE_CZ(HEDDLE_HBMV, hbmv, s, i) \
  HEDDLE_SD(HEDDLE_SPMV, spmv, s, i) \
  HEDDLE_CZ(HEDDLE_HPMV, hpmv, s, i) \
  HEDDLE_SDCZ(HEDDLE_TRMV, trmv, s, i) \
  HEDDLE_SDCZ(HEDDLE_TRSV, trsv, s, i) \
  HEDDLE_SDCZ(HEDDLE_TBMV, tbmv, s, i) \
  HEDDLE_SDCZ(HEDDLE_TBSV, tbsv, s, i) \
  HEDDLE_SDCZ(HEDDLE_TPMV, tpmv, s, i) \
  HEDDLE_SDCZ(HEDDLE_TPSV, tpsv, s, i) \
  HEDDLE_SD(HEDDLE_GER, ger, s, i) \
  HEDDLE_CZ(HEDDLE_GERU, geru, s, i) \
  HEDDLE_CZ(HEDDLE_GERC, gerc, s, i) \
  HEDDLE_SDCZ(HEDDLE_SYR, syr, s, i) \
  HEDDLE_HER(cublasCher, cuComplex, float, s, i) HEDDLE_HER(cublasZher, cuDoubleComplex, double, s, i) \
  HEDDLE_SD(HEDDLE_SPR, spr, s, i) \
  HEDDLE_HPR(cublasChpr, cuComplex, float, s, i) HEDDLE_HPR(cublasZhpr, cuDoubleComplex, double, s, i) \
  HEDDLE_SDCZ(HEDDLE_SYR2, syr2, s, i) \
  HEDDLE_CZ(HEDDLE_HER2, her2, s, i) \
  HEDDLE_SD(HEDDLE_SPR2, spr2, s, i) \
  HEDDLE_CZ(HEDDLE_HPR2, hpr2, s, i)
HEDDLE_BLAS_SIZES(HEDDLE_LEVEL2)

#define HEDDLE_TRSM(name, T, s, i) \
  cublasStatus_t name##_v2##s(cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t uplo, cublasOperation_t transa, cublasDiagType_t diag, i m, i n, \
      const T *alpha, const T *A, i lda, T *B, i ldb);
#define HEDDLE_TRMM(name, T, s, i) \
  cublasStatus_t name##_v2##s(cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t uplo, cublasOperation_t transa, cublasDiagType_t diag, i m, i n, \
      const T *alpha, const T *A, i lda, const T *B, i ldb, T *C, i ldc);
#define HEDDLE_SYMM(name, T, s, i) \
  cublasStatus_t name##_v2##s(cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t uplo, i m, i n, const T *alpha, const T *A, i lda, const T *B, \
      i ldb, const T *beta, T *C, i ldc);
#define HEDDLE_HEMM(name, T, s, i) \
  cublasStatus_t name##_v2##s(cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t uplo, i m, i n, const T *alpha, const T *A, i lda, const T *B, \
      i ldb, const T *beta, T *C, i ldc);
#define HEDDLE_SYRK(name, T, s, i) \
  cublasStatus_t name##_v2##s(cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t transa, i n, i k, const T *alpha, const T *A, i lda, const T *beta, \
      T *C, i ldc);
#define HEDDLE_HERK(name, T, R, s, i) \
  cublasStatus_t name##_v2##s(cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t transa, i n, i k, const R *alpha, const T *A, i lda, const R *beta, \
      T *C, i ldc);
#define HEDDLE_SYR2K(name, T, s, i) \
  cublasStatus_t name##_v2##s(cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t transa, i n, i k, const T *alpha, const T *A, i lda, const T *B, \
      i ldb, const T *beta, T *C, i ldc);
#define HEDDLE_HER2K(name, T, R, s, i) \
  cublasStatus_t name##_v2##s(cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t transa, i n, i k, const T *alpha, const T *A, i lda, const T *B, \
      i ldb, const R *beta, T *C, i ldc);
#define HEDDLE_SYRKX(name, T, s, i) \
  cublasStatus_t name##s(cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t transa, i n, i k, const T *alpha, const T *A, i lda, const T *B, \
      i ldb, const T *beta, T *C, i ldc);
#define HEDDLE_HERKX(name, T, R, s, i) \
  cublasStatus_t name##s(cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t transa, i n, i k, const T *alpha, const T *A, i lda, const T *B, \
      i ldb, const R *beta, T *C, i ldc);
#define HEDDLE_GEAM(name, T, s, i) \
  cublasStatus_t name##s(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, i m, i n, const T *alpha, const T *A, i lda, \
      const T *beta, const T *B, i ldb, T *C, i ldc);
#define HEDDLE_DGMM(name, T, s, i) \
  cublasStatus_t name##s(cublasHandle_t handle, cublasSideMode_t side, i m, i n, const T *A, i lda, const T *x, i incx, T *C, i ldc);
#define HEDDLE_TPTTR(name, T, s, i) \
  cublasStatus_t name(cublasHandle_t handle, cublasFillMode_t uplo, i n, const T *AP, T *A, i lda);
#define HEDDLE_TRTTP(name, T, s, i) \
  cublasStatus_t name(cublasHandle_t handle, cublasFillMode_t uplo, i n, const T *A, i lda, T *AP);
#define HEDDLE_LEVEL3(s, i, _) \
  HEDDLE_SDCZ(HEDDLE_TRSM, trsm, s, i) \
  HEDDLE_SDCZ(HEDDLE_TRMM, trmm, s, i) \
  HEDDLE_SDCZ(HEDDLE_SYMM, symm, s, i) \
  HEDDLE_CZ(HEDDLE_HEMM, hemm, s, i) \
  HEDDLE_SDCZ(HEDDLE_SYRK, syrk, s, i) \
  HEDDLE_HERK(cublasCherk, cuComplex, float, s, i) HEDDLE_HERK(cublasZherk, cuDoubleComplex, double, s, i) \
  HEDDLE_SDCZ(HEDDLE_SYR2K, syr2k, s, i) \
  HEDDLE_HER2K(cublasCher2k, cuComplex, float, s, i) HEDDLE_HER2K(cublasZher2k, cuDoubleComplex, double, s, i) \
  HEDDLE_SDCZ(HEDDLE_SYRKX, syrkx, s, i) \
  HEDDLE_HERKX(cublasCherkx, cuComplex, float, s, i) HEDDLE_HERKX(cublasZherkx, cuDoubleComplex, double, s, i) \
  HEDDLE_SDCZ(HEDDLE_GEAM, geam, s, i) \
  HEDDLE_SDCZ(HEDDLE_DGMM, dgmm, s, i)
HEDDLE_BLAS_SIZES(HEDDLE_LEVEL3)
HEDDLE_SDCZ(HEDDLE_TPTTR, tpttr, , int)
HEDDLE_SDCZ(HEDDLE_TRTTP, trttp, , int)

// In batches, of addresses and in steps. A, and y, may have other types than the scalars.
#define HEDDLE_GEMV_BATCHES(name, T, A, Y, s, i) \
  cublasStatus_t name##Batched##s(cublasHandle_t handle, cublasOperation_t trans, i m, i n, const T *alpha, const A *const Aarray[], i lda, \
                                  const A *const xarray[], i incx, const T *beta, Y *const yarray[], i incy, i batchCount); \
  cublasStatus_t name##StridedBatched##s(cublasHandle_t handle, cublasOperation_t trans, i m, i n, const T *alpha, const A *a, i lda, \
                                         long long int strideA, const A *x, i incx, long long int stridex, const T *beta, Y *y, i incy, \
                                         long long int stridey, i batchCount);
#define HEDDLE_TRSM_BATCHED(name, T, s, i) \
  cublasStatus_t name##Batched##s(cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t uplo, cublasOperation_t trans, \
                                  cublasDiagType_t diag, i m, i n, const T *alpha, const T *const A[], i lda, T *const B[], i ldb, \
                                  i batchCount);
#define HEDDLE_RANKK_EX(name, R, s, i) \
  cublasStatus_t name##s(cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t trans, i n, i k, const R *alpha, const void *A, \
                         cudaDataType Atype, i lda, const R *beta, void *C, cudaDataType Ctype, i ldc);
#define HEDDLE_BATCHES(s, i, _) \
  HEDDLE_GEMV_BATCHES(cublasSgemv, float, float, float, s, i) \
  HEDDLE_GEMV_BATCHES(cublasDgemv, double, double, double, s, i) \
  HEDDLE_GEMV_BATCHES(cublasCgemv, cuComplex, cuComplex, cuComplex, s, i) \
  HEDDLE_GEMV_BATCHES(cublasZgemv, cuDoubleComplex, cuDoubleComplex, cuDoubleComplex, s, i) \
  HEDDLE_GEMV_BATCHES(cublasHSHgemv, float, __half, __half, s, i) \
  HEDDLE_GEMV_BATCHES(cublasHSSgemv, float, __half, float, s, i) \
  HEDDLE_GEMV_BATCHES(cublasTSTgemv, float, __nv_bfloat16, __nv_bfloat16, s, i) \
  HEDDLE_GEMV_BATCHES(cublasTSSgemv, float, __nv_bfloat16, float, s, i) \
  HEDDLE_SDCZ(HEDDLE_TRSM_BATCHED, trsm, s, i) \
  HEDDLE_RANKK_EX(cublasCsyrkEx, cuComplex, s, i) \
  HEDDLE_RANKK_EX(cublasCsyrk3mEx, cuComplex, s, i) \
  HEDDLE_RANKK_EX(cublasCherkEx, float, s, i) \
  HEDDLE_RANKK_EX(cublasCherk3mEx, float, s, i)
HEDDLE_BLAS_SIZES(HEDDLE_BATCHES)

#define HEDDLE_FACTOR(name, T, _, __) \
  cublasStatus_t name##getrfBatched(cublasHandle_t handle, int n, T *const A[], int lda, int *P, int *info, int batchSize); \
  cublasStatus_t name##getrsBatched(cublasHandle_t handle, cublasOperation_t trans, int n, int nrhs, const T *const Aarray[], int lda, \
                                    const int *devIpiv, T *const Barray[], int ldb, int *info, int batchSize); \
  cublasStatus_t name##getriBatched(cublasHandle_t handle, int n, const T *const A[], int lda, const int *P, T *const C[], int ldc, int *info, \
                                    int batchSize); \
  cublasStatus_t name##matinvBatched(cublasHandle_t handle, int n, const T *const A[], int lda, T *const Ainv[], int lda_inv, int *info, \
                                     int batchSize); \
  cublasStatus_t name##geqrfBatched(cublasHandle_t handle, int m, int n, T *const Aarray[], int lda, T *const TauArray[], int *info, \
                                    int batchSize); \
  cublasStatus_t name##gelsBatched(cublasHandle_t handle, cublasOperation_t trans, int m, int n, int nrhs, T *const Aarray[], int lda, \
                                   T *const Carray[], int ldc, int *info, int *devInfoArray, int batchSize);
HEDDLE_SDCZ(HEDDLE_FACTOR, , , )

#define HEDDLE_GROUPED(s, i, _) \
  cublasStatus_t cublasSgemmGroupedBatched##s(cublasHandle_t handle, const cublasOperation_t transa[], const cublasOperation_t transb[], \
                                              const i m[], const i n[], const i k[], const float alpha[], const float *const Aarray[], \
                                              const i lda[], const float *const Barray[], const i ldb[], const float beta[], \
                                              float *const Carray[], const i ldc[], i group_count, const i group_size[]); \
  cublasStatus_t cublasDgemmGroupedBatched##s(cublasHandle_t handle, const cublasOperation_t transa[], const cublasOperation_t transb[], \
                                              const i m[], const i n[], const i k[], const double alpha[], const double *const Aarray[], \
                                              const i lda[], const double *const Barray[], const i ldb[], const double beta[], \
                                              double *const Carray[], const i ldc[], i group_count, const i group_size[]); \
  cublasStatus_t cublasGemmGroupedBatchedEx##s(cublasHandle_t handle, const cublasOperation_t transa[], const cublasOperation_t transb[], \
                                               const i m[], const i n[], const i k[], const void *alpha, const void *const Aarray[], \
                                               cudaDataType Atype, const i lda[], const void *const Barray[], cudaDataType Btype, \
                                               const i ldb[], const void *beta, void *const Carray[], cudaDataType Ctype, const i ldc[], \
                                               i group_count, const i group_size[], cublasComputeType_t computeType); \
  cublasStatus_t cublasCgemm3mEx##s(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, i m, i n, i k, \
                                    const cuComplex *alpha, const void *A, cudaDataType Atype, i lda, const void *B, cudaDataType Btype, \
                                    i ldb, const cuComplex *beta, void *C, cudaDataType Ctype, i ldc);
HEDDLE_BLAS_SIZES(HEDDLE_GROUPED)
cublasStatus_t cublasUint8gemmBias(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, cublasOperation_t transc, int m,
                                   int n, int k, const unsigned char *A, int A_bias, int lda, const unsigned char *B, int B_bias, int ldb,
                                   unsigned char *C, int C_bias, int ldc, int C_mult, int C_shift);

#endif
