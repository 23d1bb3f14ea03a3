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

#define HEDDLE_TRSM(name, T, s, i)                                                                                                             \
  cublasStatus_t name##_v2##s(cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t uplo, cublasOperation_t trans,                    \
                              cublasDiagType_t diag, i m, i n, const T *alpha, const T *A, i lda, T *B, i ldb);                                \
  cublasStatus_t name##Batched##s(cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t uplo, cublasOperation_t trans,                \
                                  cublasDiagType_t diag, i m, i n, const T *alpha, const T *const A[], i lda, T *const B[], i ldb,             \
                                  i batchCount);
#define HEDDLE_LEVEL3(s, i, _)                                                                                                                 \
  HEDDLE_SDCZ(HEDDLE_TRSM, trsm, s, i)
HEDDLE_BLAS_SIZES(HEDDLE_LEVEL3)

#endif
