// cuBLAS with handles, in the names of its library: those with _v2 are what cublas_v2.h gives the plain names to.
// Programs ask by NVIDIA's macro whether it is included.
#ifndef CUBLAS_API_H_
#define CUBLAS_API_H_

#include <stddef.h>
#include <stdint.h>

#include "cuComplex.h"
#include "cuda_bf16.h"
#include "cuda_fp16.h"
#include "driver_types.h"
#include "library_types.h"

#ifndef CUBLASWINAPI
#define CUBLASWINAPI
#endif
#ifndef CUBLASAPI
#define CUBLASAPI
#endif

#define CUBLAS_VER_MAJOR 12
#define CUBLAS_VER_MINOR 9
#define CUBLAS_VER_PATCH 0
#define CUBLAS_VERSION (CUBLAS_VER_MAJOR * 10000 + CUBLAS_VER_MINOR * 100 + CUBLAS_VER_PATCH)

typedef enum {
  CUBLAS_STATUS_SUCCESS = 0, CUBLAS_STATUS_NOT_INITIALIZED = 1, CUBLAS_STATUS_ALLOC_FAILED = 3, CUBLAS_STATUS_INVALID_VALUE = 7,
  CUBLAS_STATUS_ARCH_MISMATCH = 8, CUBLAS_STATUS_MAPPING_ERROR = 11, CUBLAS_STATUS_EXECUTION_FAILED = 13,
  CUBLAS_STATUS_INTERNAL_ERROR = 14, CUBLAS_STATUS_NOT_SUPPORTED = 15, CUBLAS_STATUS_LICENSE_ERROR = 16
} cublasStatus_t;
typedef enum { CUBLAS_FILL_MODE_LOWER = 0, CUBLAS_FILL_MODE_UPPER = 1, CUBLAS_FILL_MODE_FULL = 2 } cublasFillMode_t;
typedef enum { CUBLAS_DIAG_NON_UNIT = 0, CUBLAS_DIAG_UNIT = 1 } cublasDiagType_t;
typedef enum { CUBLAS_SIDE_LEFT = 0, CUBLAS_SIDE_RIGHT = 1 } cublasSideMode_t;
typedef enum {
  CUBLAS_OP_N = 0, CUBLAS_OP_T = 1, CUBLAS_OP_C = 2, CUBLAS_OP_HERMITAN = 2, CUBLAS_OP_CONJG = 3
} cublasOperation_t;
typedef enum { CUBLAS_POINTER_MODE_HOST = 0, CUBLAS_POINTER_MODE_DEVICE = 1 } cublasPointerMode_t;
typedef enum { CUBLAS_ATOMICS_NOT_ALLOWED = 0, CUBLAS_ATOMICS_ALLOWED = 1 } cublasAtomicsMode_t;
typedef enum {
  CUBLAS_GEMM_DFALT = -1, CUBLAS_GEMM_DEFAULT = -1, CUBLAS_GEMM_ALGO0 = 0, CUBLAS_GEMM_ALGO1, CUBLAS_GEMM_ALGO2, CUBLAS_GEMM_ALGO3,
  CUBLAS_GEMM_ALGO4, CUBLAS_GEMM_ALGO5, CUBLAS_GEMM_ALGO6, CUBLAS_GEMM_ALGO7, CUBLAS_GEMM_ALGO8, CUBLAS_GEMM_ALGO9, CUBLAS_GEMM_ALGO10,
  CUBLAS_GEMM_ALGO11, CUBLAS_GEMM_ALGO12, CUBLAS_GEMM_ALGO13, CUBLAS_GEMM_ALGO14, CUBLAS_GEMM_ALGO15, CUBLAS_GEMM_ALGO16,
  CUBLAS_GEMM_ALGO17, CUBLAS_GEMM_ALGO18, CUBLAS_GEMM_ALGO19, CUBLAS_GEMM_ALGO20, CUBLAS_GEMM_ALGO21, CUBLAS_GEMM_ALGO22,
  CUBLAS_GEMM_ALGO23, CUBLAS_GEMM_DEFAULT_TENSOR_OP = 99, CUBLAS_GEMM_DFALT_TENSOR_OP = 99, CUBLAS_GEMM_ALGO0_TENSOR_OP = 100,
  CUBLAS_GEMM_ALGO1_TENSOR_OP, CUBLAS_GEMM_ALGO2_TENSOR_OP, CUBLAS_GEMM_ALGO3_TENSOR_OP, CUBLAS_GEMM_ALGO4_TENSOR_OP,
  CUBLAS_GEMM_ALGO5_TENSOR_OP, CUBLAS_GEMM_ALGO6_TENSOR_OP, CUBLAS_GEMM_ALGO7_TENSOR_OP, CUBLAS_GEMM_ALGO8_TENSOR_OP,
  CUBLAS_GEMM_ALGO9_TENSOR_OP, CUBLAS_GEMM_ALGO10_TENSOR_OP, CUBLAS_GEMM_ALGO11_TENSOR_OP, CUBLAS_GEMM_ALGO12_TENSOR_OP,
  CUBLAS_GEMM_ALGO13_TENSOR_OP, CUBLAS_GEMM_ALGO14_TENSOR_OP, CUBLAS_GEMM_ALGO15_TENSOR_OP,
  CUBLAS_GEMM_AUTOTUNE = 999
} cublasGemmAlgo_t;
typedef enum {
  CUBLAS_DEFAULT_MATH = 0, CUBLAS_TENSOR_OP_MATH = 1, CUBLAS_PEDANTIC_MATH = 2, CUBLAS_TF32_TENSOR_OP_MATH = 3,
  CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION = 16
} cublasMath_t;
typedef enum {
  CUBLAS_COMPUTE_16F = 64, CUBLAS_COMPUTE_16F_PEDANTIC = 65, CUBLAS_COMPUTE_32F = 68, CUBLAS_COMPUTE_32F_PEDANTIC = 69,
  CUBLAS_COMPUTE_32F_FAST_16F = 74, CUBLAS_COMPUTE_32F_FAST_16BF = 75, CUBLAS_COMPUTE_32F_FAST_TF32 = 77, CUBLAS_COMPUTE_64F = 70,
  CUBLAS_COMPUTE_64F_PEDANTIC = 71, CUBLAS_COMPUTE_32I = 72, CUBLAS_COMPUTE_32I_PEDANTIC = 73
} cublasComputeType_t;
typedef cudaDataType cublasDataType_t;
typedef struct cublasContext *cublasHandle_t;
typedef void (*cublasLogCallback)(const char *msg);

#ifdef __cplusplus
extern "C" {
#endif

cublasStatus_t cublasCreate_v2(cublasHandle_t *handle);
cublasStatus_t cublasDestroy_v2(cublasHandle_t handle);
cublasStatus_t cublasGetVersion_v2(cublasHandle_t handle, int *version);
cublasStatus_t cublasGetProperty(libraryPropertyType type, int *value);
size_t cublasGetCudartVersion(void);
const char *cublasGetStatusName(cublasStatus_t status);
const char *cublasGetStatusString(cublasStatus_t status);
cublasStatus_t cublasSetStream_v2(cublasHandle_t handle, cudaStream_t stream);
cublasStatus_t cublasGetStream_v2(cublasHandle_t handle, cudaStream_t *stream);
cublasStatus_t cublasSetWorkspace_v2(cublasHandle_t handle, void *workspace, size_t bytes);
cublasStatus_t cublasSetPointerMode_v2(cublasHandle_t handle, cublasPointerMode_t mode);
cublasStatus_t cublasGetPointerMode_v2(cublasHandle_t handle, cublasPointerMode_t *mode);
cublasStatus_t cublasSetAtomicsMode(cublasHandle_t handle, cublasAtomicsMode_t mode);
cublasStatus_t cublasGetAtomicsMode(cublasHandle_t handle, cublasAtomicsMode_t *mode);
cublasStatus_t cublasSetMathMode(cublasHandle_t handle, cublasMath_t mode);
cublasStatus_t cublasGetMathMode(cublasHandle_t handle, cublasMath_t *mode);
cublasStatus_t cublasSetSmCountTarget(cublasHandle_t handle, int count);
cublasStatus_t cublasGetSmCountTarget(cublasHandle_t handle, int *count);
cublasStatus_t cublasLoggerConfigure(int on, int to_stdout, int to_stderr, const char *file);
cublasStatus_t cublasSetLoggerCallback(cublasLogCallback callback);
cublasStatus_t cublasGetLoggerCallback(cublasLogCallback *callback);

// Each function has two forms: int is int, or int64_t in those with the suffix _64.
#define HEDDLE_BLAS_SIZES(X) X(, int, int) X(_64, int64_t, int64_t)

#define HEDDLE_GEMM(name, T, s, i)                                                                                                        \
  cublasStatus_t name##s(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, i m, i n, i k, const T *alpha, const T *A, \
                         i lda, const T *B, i ldb, const T *beta, T *C, i ldc);
#define HEDDLE_GEMM_BATCHED(name, T, s, i)                                                                                                \
  cublasStatus_t name##Batched##s(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, i m, i n, i k, const T *alpha,    \
                                  const T *const Aarray[], i lda, const T *const Barray[], i ldb, const T *beta, T *const Carray[], i ldc,     \
                                  i batchCount);
#define HEDDLE_GEMM_STRIDED(name, T, s, i)                                                                                                \
  cublasStatus_t name##StridedBatched##s(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, i m, i n, i k,             \
                                         const T *alpha, const T *A, i lda, long long int strideA, const T *B, i ldb, long long int strideB,   \
                                         const T *beta, T *C, i ldc, long long int strideC, i batchCount);
#define HEDDLE_GEMMS(s, i, _)                                                                                                             \
  HEDDLE_GEMM(cublasSgemm_v2, float, s, i)                                                                                                     \
  HEDDLE_GEMM(cublasDgemm_v2, double, s, i)                                                                                                    \
  HEDDLE_GEMM(cublasCgemm_v2, cuComplex, s, i)                                                                                                 \
  HEDDLE_GEMM(cublasZgemm_v2, cuDoubleComplex, s, i)                                                                                           \
  HEDDLE_GEMM(cublasHgemm, __half, s, i)                                                                                                       \
  HEDDLE_GEMM(cublasCgemm3m, cuComplex, s, i)                                                                                                  \
  HEDDLE_GEMM(cublasZgemm3m, cuDoubleComplex, s, i)                                                                                            \
  HEDDLE_GEMM_BATCHED(cublasSgemm, float, s, i)                                                                                                \
  HEDDLE_GEMM_BATCHED(cublasDgemm, double, s, i)                                                                                               \
  HEDDLE_GEMM_BATCHED(cublasCgemm, cuComplex, s, i)                                                                                            \
  HEDDLE_GEMM_BATCHED(cublasZgemm, cuDoubleComplex, s, i)                                                                                      \
  HEDDLE_GEMM_BATCHED(cublasHgemm, __half, s, i)                                                                                               \
  HEDDLE_GEMM_BATCHED(cublasCgemm3m, cuComplex, s, i)                                                                                          \
  HEDDLE_GEMM_STRIDED(cublasSgemm, float, s, i)                                                                                                \
  HEDDLE_GEMM_STRIDED(cublasDgemm, double, s, i)                                                                                               \
  HEDDLE_GEMM_STRIDED(cublasCgemm, cuComplex, s, i)                                                                                            \
  HEDDLE_GEMM_STRIDED(cublasZgemm, cuDoubleComplex, s, i)                                                                                      \
  HEDDLE_GEMM_STRIDED(cublasHgemm, __half, s, i)                                                                                               \
  HEDDLE_GEMM_STRIDED(cublasCgemm3m, cuComplex, s, i)                                                                                          \
  cublasStatus_t cublasSgemmEx##s(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, i m, i n, i k, const float *alpha, \
                                  const void *A, cudaDataType Atype, i lda, const void *B, cudaDataType Btype, i ldb, const float *beta,       \
                                  void *C, cudaDataType Ctype, i ldc);                                                                         \
  cublasStatus_t cublasCgemmEx##s(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, i m, i n, i k,                    \
                                  const cuComplex *alpha, const void *A, cudaDataType Atype, i lda, const void *B, cudaDataType Btype, i ldb,  \
                                  const cuComplex *beta, void *C, cudaDataType Ctype, i ldc);                                                  \
  cublasStatus_t cublasGemmEx##s(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, i m, i n, i k, const void *alpha,  \
                                 const void *A, cudaDataType Atype, i lda, const void *B, cudaDataType Btype, i ldb, const void *beta,         \
                                 void *C, cudaDataType Ctype, i ldc, cublasComputeType_t computeType, cublasGemmAlgo_t algo);                  \
  cublasStatus_t cublasGemmBatchedEx##s(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, i m, i n, i k,              \
                                        const void *alpha, const void *const Aarray[], cudaDataType Atype, i lda, const void *const Barray[],  \
                                        cudaDataType Btype, i ldb, const void *beta, void *const Carray[], cudaDataType Ctype, i ldc,          \
                                        i batchCount, cublasComputeType_t computeType, cublasGemmAlgo_t algo);                                 \
  cublasStatus_t cublasGemmStridedBatchedEx##s(                                                                                                \
      cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, i m, i n, i k, const void *alpha, const void *A,              \
      cudaDataType Atype, i lda, long long int strideA, const void *B, cudaDataType Btype, i ldb, long long int strideB, const void *beta,     \
      void *C, cudaDataType Ctype, i ldc, long long int strideC, i batchCount, cublasComputeType_t computeType, cublasGemmAlgo_t algo);
HEDDLE_BLAS_SIZES(HEDDLE_GEMMS)

#include "heddle_cublas.h"

// Copies between the host and the device.
#define HEDDLE_COPIES(s, i, _) \
  cublasStatus_t cublasSetVector##s(i n, i elemSize, const void *x, i incx, void *devicePtr, i incy); \
  cublasStatus_t cublasGetVector##s(i n, i elemSize, const void *x, i incx, void *y, i incy); \
  cublasStatus_t cublasSetMatrix##s(i rows, i cols, i elemSize, const void *A, i lda, void *B, i ldb); \
  cublasStatus_t cublasGetMatrix##s(i rows, i cols, i elemSize, const void *A, i lda, void *B, i ldb); \
  cublasStatus_t cublasSetVectorAsync##s(i n, i elemSize, const void *x, i incx, void *y, i incy, cudaStream_t stream); \
  cublasStatus_t cublasGetVectorAsync##s(i n, i elemSize, const void *x, i incx, void *y, i incy, cudaStream_t stream); \
  cublasStatus_t cublasSetMatrixAsync##s(i rows, i cols, i elemSize, const void *A, i lda, void *B, i ldb, cudaStream_t stream); \
  cublasStatus_t cublasGetMatrixAsync##s(i rows, i cols, i elemSize, const void *A, i lda, void *B, i ldb, cudaStream_t stream);
HEDDLE_BLAS_SIZES(HEDDLE_COPIES)
void cublasXerbla(const char *name, int info);

#ifdef __cplusplus
}
// Before release 11 the type of the sums was that of data.
static inline cublasComputeType_t heddle_compute_of(cudaDataType t) {
  return t == CUDA_R_16F ? CUBLAS_COMPUTE_16F : t == CUDA_R_64F || t == CUDA_C_64F ? CUBLAS_COMPUTE_64F : t == CUDA_R_32I ? CUBLAS_COMPUTE_32I : CUBLAS_COMPUTE_32F;
}
static inline cublasStatus_t cublasGemmEx(cublasHandle_t h, cublasOperation_t ta, cublasOperation_t tb, int m, int n, int k, const void *alpha,
                                          const void *A, cudaDataType at, int lda, const void *B, cudaDataType bt, int ldb, const void *beta,
                                          void *C, cudaDataType ct, int ldc, cudaDataType compute, cublasGemmAlgo_t algo) {
  return cublasGemmEx(h, ta, tb, m, n, k, alpha, A, at, lda, B, bt, ldb, beta, C, ct, ldc, heddle_compute_of(compute), algo);
}
static inline cublasStatus_t cublasGemmBatchedEx(cublasHandle_t h, cublasOperation_t ta, cublasOperation_t tb, int m, int n, int k,
                                                 const void *alpha, const void *const A[], cudaDataType at, int lda, const void *const B[],
                                                 cudaDataType bt, int ldb, const void *beta, void *const C[], cudaDataType ct, int ldc,
                                                 int batch, cudaDataType compute, cublasGemmAlgo_t algo) {
  return cublasGemmBatchedEx(h, ta, tb, m, n, k, alpha, A, at, lda, B, bt, ldb, beta, C, ct, ldc, batch, heddle_compute_of(compute), algo);
}
static inline cublasStatus_t cublasGemmStridedBatchedEx(cublasHandle_t h, cublasOperation_t ta, cublasOperation_t tb, int m, int n, int k,
                                                        const void *alpha, const void *A, cudaDataType at, int lda, long long int sa,
                                                        const void *B, cudaDataType bt, int ldb, long long int sb, const void *beta, void *C,
                                                        cudaDataType ct, int ldc, long long int sc, int batch, cudaDataType compute,
                                                        cublasGemmAlgo_t algo) {
  return cublasGemmStridedBatchedEx(h, ta, tb, m, n, k, alpha, A, at, lda, sa, B, bt, ldb, sb, beta, C, ct, ldc, sc, batch,
                                    heddle_compute_of(compute), algo);
}
#endif
#endif
