// cuSPARSE: the generic functions of release 12, and of the functions for each type those that are here.
#ifndef CUSPARSE_H_
#define CUSPARSE_H_

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "cuComplex.h"
#include "driver_types.h"
#include "library_types.h"

#ifndef CUSPARSEAPI
#define CUSPARSEAPI
#endif

#define CUSPARSE_VER_MAJOR 12
#define CUSPARSE_VER_MINOR 5
#define CUSPARSE_VER_PATCH 10
#define CUSPARSE_VER_BUILD 0
#define CUSPARSE_VERSION (CUSPARSE_VER_MAJOR * 1000 + CUSPARSE_VER_MINOR * 100 + CUSPARSE_VER_PATCH)

typedef enum {
  CUSPARSE_STATUS_SUCCESS = 0, CUSPARSE_STATUS_NOT_INITIALIZED = 1, CUSPARSE_STATUS_ALLOC_FAILED = 2, CUSPARSE_STATUS_INVALID_VALUE = 3,
  CUSPARSE_STATUS_ARCH_MISMATCH = 4, CUSPARSE_STATUS_MAPPING_ERROR = 5, CUSPARSE_STATUS_EXECUTION_FAILED = 6,
  CUSPARSE_STATUS_INTERNAL_ERROR = 7, CUSPARSE_STATUS_MATRIX_TYPE_NOT_SUPPORTED = 8, CUSPARSE_STATUS_ZERO_PIVOT = 9,
  CUSPARSE_STATUS_NOT_SUPPORTED = 10, CUSPARSE_STATUS_INSUFFICIENT_RESOURCES = 11
} cusparseStatus_t;
typedef enum { CUSPARSE_POINTER_MODE_HOST = 0, CUSPARSE_POINTER_MODE_DEVICE = 1 } cusparsePointerMode_t;
typedef enum { CUSPARSE_ACTION_SYMBOLIC = 0, CUSPARSE_ACTION_NUMERIC = 1 } cusparseAction_t;
typedef enum {
  CUSPARSE_MATRIX_TYPE_GENERAL = 0, CUSPARSE_MATRIX_TYPE_SYMMETRIC = 1, CUSPARSE_MATRIX_TYPE_HERMITIAN = 2, CUSPARSE_MATRIX_TYPE_TRIANGULAR = 3
} cusparseMatrixType_t;
typedef enum { CUSPARSE_FILL_MODE_LOWER = 0, CUSPARSE_FILL_MODE_UPPER = 1 } cusparseFillMode_t;
typedef enum { CUSPARSE_DIAG_TYPE_NON_UNIT = 0, CUSPARSE_DIAG_TYPE_UNIT = 1 } cusparseDiagType_t;
typedef enum { CUSPARSE_INDEX_BASE_ZERO = 0, CUSPARSE_INDEX_BASE_ONE = 1 } cusparseIndexBase_t;
typedef enum {
  CUSPARSE_OPERATION_NON_TRANSPOSE = 0, CUSPARSE_OPERATION_TRANSPOSE = 1, CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE = 2
} cusparseOperation_t;
typedef enum { CUSPARSE_DIRECTION_ROW = 0, CUSPARSE_DIRECTION_COLUMN = 1 } cusparseDirection_t;
typedef enum { CUSPARSE_SOLVE_POLICY_NO_LEVEL = 0, CUSPARSE_SOLVE_POLICY_USE_LEVEL = 1 } cusparseSolvePolicy_t;
typedef enum {
  CUSPARSE_FORMAT_CSR = 1, CUSPARSE_FORMAT_CSC = 2, CUSPARSE_FORMAT_COO = 3, CUSPARSE_FORMAT_COO_AOS = 4, CUSPARSE_FORMAT_BLOCKED_ELL = 5,
  CUSPARSE_FORMAT_BSR = 6, CUSPARSE_FORMAT_SLICED_ELLPACK = 7, CUSPARSE_FORMAT_SLICED_ELL = 7
} cusparseFormat_t;
typedef enum { CUSPARSE_ORDER_COL = 1, CUSPARSE_ORDER_ROW = 2 } cusparseOrder_t;
typedef enum { CUSPARSE_INDEX_16U = 1, CUSPARSE_INDEX_32I = 2, CUSPARSE_INDEX_64I = 3 } cusparseIndexType_t;
typedef enum { CUSPARSE_SPMAT_FILL_MODE = 0, CUSPARSE_SPMAT_DIAG_TYPE = 1 } cusparseSpMatAttribute_t;
typedef enum { CUSPARSE_CSR2CSC_ALG_DEFAULT = 1, CUSPARSE_CSR2CSC_ALG1 = 1, CUSPARSE_CSR2CSC_ALG2 = 2 } cusparseCsr2CscAlg_t;
typedef enum {
  CUSPARSE_MV_ALG_DEFAULT = 0, CUSPARSE_COOMV_ALG = 1, CUSPARSE_CSRMV_ALG1 = 2, CUSPARSE_CSRMV_ALG2 = 3, CUSPARSE_SPMV_ALG_DEFAULT = 0,
  CUSPARSE_SPMV_COO_ALG1 = 1, CUSPARSE_SPMV_CSR_ALG1 = 2, CUSPARSE_SPMV_CSR_ALG2 = 3, CUSPARSE_SPMV_COO_ALG2 = 4, CUSPARSE_SPMV_SELL_ALG1 = 5,
  CUSPARSE_SPMV_BSR_ALG1 = 6
} cusparseSpMVAlg_t;
typedef enum {
  CUSPARSE_MM_ALG_DEFAULT = 0, CUSPARSE_COOMM_ALG1 = 1, CUSPARSE_COOMM_ALG2 = 2, CUSPARSE_COOMM_ALG3 = 3, CUSPARSE_CSRMM_ALG1 = 4,
  CUSPARSE_SPMM_ALG_DEFAULT = 0, CUSPARSE_SPMM_COO_ALG1 = 1, CUSPARSE_SPMM_COO_ALG2 = 2, CUSPARSE_SPMM_COO_ALG3 = 3,
  CUSPARSE_SPMM_CSR_ALG1 = 4, CUSPARSE_SPMM_COO_ALG4 = 5, CUSPARSE_SPMM_CSR_ALG2 = 6, CUSPARSE_SPMM_CSR_ALG3 = 12,
  CUSPARSE_SPMM_BLOCKED_ELL_ALG1 = 13, CUSPARSE_SPMM_BSR_ALG1 = 14
} cusparseSpMMAlg_t;
typedef enum { CUSPARSE_SPMM_OP_ALG_DEFAULT = 0 } cusparseSpMMOpAlg_t;
typedef enum {
  CUSPARSE_SPGEMM_DEFAULT = 0, CUSPARSE_SPGEMM_CSR_ALG_DETERMINITIC = 1, CUSPARSE_SPGEMM_CSR_ALG_NONDETERMINITIC = 2,
  CUSPARSE_SPGEMM_ALG1 = 3, CUSPARSE_SPGEMM_ALG2 = 4, CUSPARSE_SPGEMM_ALG3 = 5
} cusparseSpGEMMAlg_t;
typedef enum { CUSPARSE_SPARSETODENSE_ALG_DEFAULT = 0 } cusparseSparseToDenseAlg_t;
typedef enum { CUSPARSE_DENSETOSPARSE_ALG_DEFAULT = 0 } cusparseDenseToSparseAlg_t;
typedef enum { CUSPARSE_SDDMM_ALG_DEFAULT = 0 } cusparseSDDMMAlg_t;
typedef enum { CUSPARSE_SPSV_ALG_DEFAULT = 0 } cusparseSpSVAlg_t;
typedef enum { CUSPARSE_SPSM_ALG_DEFAULT = 0 } cusparseSpSMAlg_t;
typedef enum { CUSPARSE_SPSV_UPDATE_GENERAL = 0, CUSPARSE_SPSV_UPDATE_DIAGONAL = 1 } cusparseSpSVUpdate_t;
typedef enum { CUSPARSE_SPSM_UPDATE_GENERAL = 0, CUSPARSE_SPSM_UPDATE_DIAGONAL = 1 } cusparseSpSMUpdate_t;

typedef struct cusparseContext *cusparseHandle_t;
typedef struct cusparseMatDescr *cusparseMatDescr_t;
typedef struct cusparseSpVecDescr *cusparseSpVecDescr_t;
typedef struct cusparseDnVecDescr *cusparseDnVecDescr_t;
typedef struct cusparseSpMatDescr *cusparseSpMatDescr_t;
typedef struct cusparseDnMatDescr *cusparseDnMatDescr_t;
typedef const struct cusparseSpVecDescr *cusparseConstSpVecDescr_t;
typedef const struct cusparseDnVecDescr *cusparseConstDnVecDescr_t;
typedef const struct cusparseSpMatDescr *cusparseConstSpMatDescr_t;
typedef const struct cusparseDnMatDescr *cusparseConstDnMatDescr_t;
typedef struct cusparseSpSVDescr *cusparseSpSVDescr_t;
typedef struct cusparseSpSMDescr *cusparseSpSMDescr_t;
typedef struct cusparseSpGEMMDescr *cusparseSpGEMMDescr_t;
typedef struct cusparseSpMMOpPlan *cusparseSpMMOpPlan_t;
typedef struct csrilu02Info *csrilu02Info_t;
typedef struct csric02Info *csric02Info_t;
typedef void (*cusparseLoggerCallback_t)(int level, const char *function, const char *message);

#ifdef __cplusplus
extern "C" {
#endif

const char *cusparseGetErrorName(cusparseStatus_t status);
const char *cusparseGetErrorString(cusparseStatus_t status);
cusparseStatus_t cusparseCreate(cusparseHandle_t *handle);
cusparseStatus_t cusparseDestroy(cusparseHandle_t handle);
cusparseStatus_t cusparseGetVersion(cusparseHandle_t handle, int *version);
cusparseStatus_t cusparseGetProperty(libraryPropertyType type, int *value);
cusparseStatus_t cusparseSetStream(cusparseHandle_t handle, cudaStream_t stream);
cusparseStatus_t cusparseGetStream(cusparseHandle_t handle, cudaStream_t *stream);
cusparseStatus_t cusparseSetPointerMode(cusparseHandle_t handle, cusparsePointerMode_t mode);
cusparseStatus_t cusparseGetPointerMode(cusparseHandle_t handle, cusparsePointerMode_t *mode);
cusparseStatus_t cusparseLoggerSetCallback(cusparseLoggerCallback_t callback);
cusparseStatus_t cusparseLoggerSetFile(FILE *file);
cusparseStatus_t cusparseLoggerOpenFile(const char *file);
cusparseStatus_t cusparseLoggerSetLevel(int level);
cusparseStatus_t cusparseLoggerSetMask(int mask);
cusparseStatus_t cusparseLoggerForceDisable(void);
cusparseStatus_t cusparseCreateCsr(cusparseSpMatDescr_t *descr, int64_t rows, int64_t columns, int64_t nnz, void *rowOffsets, void
    *columns_, void *values, cusparseIndexType_t offsetsType, cusparseIndexType_t columnsType, cusparseIndexBase_t base, cudaDataType
    type);
cusparseStatus_t cusparseCreateConstCsr(cusparseConstSpMatDescr_t *descr, int64_t rows, int64_t columns, int64_t nnz, const void
    *rowOffsets, const void *columns_, const void *values, cusparseIndexType_t offsetsType, cusparseIndexType_t columnsType,
    cusparseIndexBase_t base, cudaDataType type);
cusparseStatus_t cusparseCreateCsc(cusparseSpMatDescr_t *descr, int64_t rows, int64_t columns, int64_t nnz, void *columnOffsets, void
    *rows_, void *values, cusparseIndexType_t offsetsType, cusparseIndexType_t rowsType, cusparseIndexBase_t base, cudaDataType type);
cusparseStatus_t cusparseCreateConstCsc(cusparseConstSpMatDescr_t *descr, int64_t rows, int64_t columns, int64_t nnz, const void
    *columnOffsets, const void *rows_, const void *values, cusparseIndexType_t offsetsType, cusparseIndexType_t rowsType,
    cusparseIndexBase_t base, cudaDataType type);
cusparseStatus_t cusparseCreateCoo(cusparseSpMatDescr_t *descr, int64_t rows, int64_t columns, int64_t nnz, void *rows_, void *columns_,
    void *values, cusparseIndexType_t indexType, cusparseIndexBase_t base, cudaDataType type);
cusparseStatus_t cusparseCreateConstCoo(cusparseConstSpMatDescr_t *descr, int64_t rows, int64_t columns, int64_t nnz, const void *rows_,
    const void *columns_, const void *values, cusparseIndexType_t indexType, cusparseIndexBase_t base, cudaDataType type);
cusparseStatus_t cusparseCreateBlockedEll(cusparseSpMatDescr_t *descr, int64_t rows, int64_t columns, int64_t blockSize, int64_t
    ellColumns, void *columns_, void *values, cusparseIndexType_t indexType, cusparseIndexBase_t base, cudaDataType type);
cusparseStatus_t cusparseCreateConstBlockedEll(cusparseConstSpMatDescr_t *descr, int64_t rows, int64_t columns, int64_t blockSize, int64_t
    ellColumns, const void *columns_, const void *values, cusparseIndexType_t indexType, cusparseIndexBase_t base, cudaDataType type);
cusparseStatus_t cusparseCreateDnMat(cusparseDnMatDescr_t *descr, int64_t rows, int64_t columns, int64_t ld, void *values, cudaDataType
    type, cusparseOrder_t order);
cusparseStatus_t cusparseCreateConstDnMat(cusparseConstDnMatDescr_t *descr, int64_t rows, int64_t columns, int64_t ld, const void *values,
    cudaDataType type, cusparseOrder_t order);
cusparseStatus_t cusparseCreateDnVec(cusparseDnVecDescr_t *descr, int64_t size, void *values, cudaDataType type);
cusparseStatus_t cusparseCreateConstDnVec(cusparseConstDnVecDescr_t *descr, int64_t size, const void *values, cudaDataType type);
cusparseStatus_t cusparseCreateSpVec(cusparseSpVecDescr_t *descr, int64_t size, int64_t nnz, void *indices, void *values,
    cusparseIndexType_t indexType, cusparseIndexBase_t base, cudaDataType type);
cusparseStatus_t cusparseCreateConstSpVec(cusparseConstSpVecDescr_t *descr, int64_t size, int64_t nnz, const void *indices, const void
    *values, cusparseIndexType_t indexType, cusparseIndexBase_t base, cudaDataType type);
cusparseStatus_t cusparseDestroySpMat(cusparseConstSpMatDescr_t descr);
cusparseStatus_t cusparseDestroyDnMat(cusparseConstDnMatDescr_t descr);
cusparseStatus_t cusparseDestroyDnVec(cusparseConstDnVecDescr_t descr);
cusparseStatus_t cusparseDestroySpVec(cusparseConstSpVecDescr_t descr);
cusparseStatus_t cusparseCsrGet(cusparseSpMatDescr_t descr, int64_t *rows, int64_t *columns, int64_t *nnz, void **rowOffsets, void
    **columns_, void **values, cusparseIndexType_t *offsetsType, cusparseIndexType_t *columnsType, cusparseIndexBase_t *base, cudaDataType
    *type);
cusparseStatus_t cusparseConstCsrGet(cusparseConstSpMatDescr_t descr, int64_t *rows, int64_t *columns, int64_t *nnz, const void
    **rowOffsets, const void **columns_, const void **values, cusparseIndexType_t *offsetsType, cusparseIndexType_t *columnsType,
    cusparseIndexBase_t *base, cudaDataType *type);
cusparseStatus_t cusparseCscGet(cusparseSpMatDescr_t descr, int64_t *rows, int64_t *columns, int64_t *nnz, void **columnOffsets, void
    **rows_, void **values, cusparseIndexType_t *offsetsType, cusparseIndexType_t *rowsType, cusparseIndexBase_t *base, cudaDataType
    *type);
cusparseStatus_t cusparseConstCscGet(cusparseConstSpMatDescr_t descr, int64_t *rows, int64_t *columns, int64_t *nnz, const void
    **columnOffsets, const void **rows_, const void **values, cusparseIndexType_t *offsetsType, cusparseIndexType_t *rowsType,
    cusparseIndexBase_t *base, cudaDataType *type);
cusparseStatus_t cusparseCooGet(cusparseSpMatDescr_t descr, int64_t *rows, int64_t *columns, int64_t *nnz, void **rows_, void **columns_,
    void **values, cusparseIndexType_t *indexType, cusparseIndexBase_t *base, cudaDataType *type);
cusparseStatus_t cusparseConstCooGet(cusparseConstSpMatDescr_t descr, int64_t *rows, int64_t *columns, int64_t *nnz, const void **rows_,
    const void **columns_, const void **values, cusparseIndexType_t *indexType, cusparseIndexBase_t *base, cudaDataType *type);
cusparseStatus_t cusparseDnMatGet(cusparseDnMatDescr_t descr, int64_t *rows, int64_t *columns, int64_t *ld, void **values, cudaDataType
    *type, cusparseOrder_t *order);
cusparseStatus_t cusparseConstDnMatGet(cusparseConstDnMatDescr_t descr, int64_t *rows, int64_t *columns, int64_t *ld, const void **values,
    cudaDataType *type, cusparseOrder_t *order);
cusparseStatus_t cusparseDnVecGet(cusparseDnVecDescr_t descr, int64_t *size, void **values, cudaDataType *type);
cusparseStatus_t cusparseConstDnVecGet(cusparseConstDnVecDescr_t descr, int64_t *size, const void **values, cudaDataType *type);
cusparseStatus_t cusparseSpVecGet(cusparseSpVecDescr_t descr, int64_t *size, int64_t *nnz, void **indices, void **values,
    cusparseIndexType_t *indexType, cusparseIndexBase_t *base, cudaDataType *type);
cusparseStatus_t cusparseConstSpVecGet(cusparseConstSpVecDescr_t descr, int64_t *size, int64_t *nnz, const void **indices, const void
    **values, cusparseIndexType_t *indexType, cusparseIndexBase_t *base, cudaDataType *type);
cusparseStatus_t cusparseDnVecGetValues(cusparseDnVecDescr_t descr, void **values);
cusparseStatus_t cusparseConstDnVecGetValues(cusparseConstDnVecDescr_t descr, const void **values);
cusparseStatus_t cusparseDnVecSetValues(cusparseDnVecDescr_t descr, void *values);
cusparseStatus_t cusparseDnMatGetValues(cusparseDnMatDescr_t descr, void **values);
cusparseStatus_t cusparseConstDnMatGetValues(cusparseConstDnMatDescr_t descr, const void **values);
cusparseStatus_t cusparseDnMatSetValues(cusparseDnMatDescr_t descr, void *values);
cusparseStatus_t cusparseSpMatGetValues(cusparseSpMatDescr_t descr, void **values);
cusparseStatus_t cusparseConstSpMatGetValues(cusparseConstSpMatDescr_t descr, const void **values);
cusparseStatus_t cusparseSpMatSetValues(cusparseSpMatDescr_t descr, void *values);
cusparseStatus_t cusparseSpVecGetValues(cusparseSpVecDescr_t descr, void **values);
cusparseStatus_t cusparseConstSpVecGetValues(cusparseConstSpVecDescr_t descr, const void **values);
cusparseStatus_t cusparseSpVecSetValues(cusparseSpVecDescr_t descr, void *values);
cusparseStatus_t cusparseSpVecGetIndexBase(cusparseConstSpVecDescr_t descr, cusparseIndexBase_t *base);
cusparseStatus_t cusparseSpMatGetIndexBase(cusparseConstSpMatDescr_t descr, cusparseIndexBase_t *base);
cusparseStatus_t cusparseCsrSetPointers(cusparseSpMatDescr_t descr, void *rowOffsets, void *columns, void *values);
cusparseStatus_t cusparseCscSetPointers(cusparseSpMatDescr_t descr, void *columnOffsets, void *rows, void *values);
cusparseStatus_t cusparseCooSetPointers(cusparseSpMatDescr_t descr, void *rows, void *columns, void *values);
cusparseStatus_t cusparseSpMatGetSize(cusparseConstSpMatDescr_t descr, int64_t *rows, int64_t *columns, int64_t *nnz);
cusparseStatus_t cusparseSpMatGetFormat(cusparseConstSpMatDescr_t descr, cusparseFormat_t *format);
cusparseStatus_t cusparseSpMatGetAttribute(cusparseConstSpMatDescr_t descr, cusparseSpMatAttribute_t attribute, void *data, size_t size);
cusparseStatus_t cusparseSpMatSetAttribute(cusparseSpMatDescr_t descr, cusparseSpMatAttribute_t attribute, void *data, size_t size);
cusparseStatus_t cusparseSpMatGetStridedBatch(cusparseConstSpMatDescr_t descr, int *count);
cusparseStatus_t cusparseCsrSetStridedBatch(cusparseSpMatDescr_t descr, int count, int64_t offsetsStride, int64_t valuesStride);
cusparseStatus_t cusparseCooSetStridedBatch(cusparseSpMatDescr_t descr, int count, int64_t stride);
cusparseStatus_t cusparseDnMatSetStridedBatch(cusparseDnMatDescr_t descr, int count, int64_t stride);
cusparseStatus_t cusparseDnMatGetStridedBatch(cusparseConstDnMatDescr_t descr, int *count, int64_t *stride);
cusparseStatus_t cusparseSpMV_bufferSize(cusparseHandle_t handle, cusparseOperation_t opA, const void *alpha, cusparseConstSpMatDescr_t a,
    cusparseConstDnVecDescr_t x, const void *beta, cusparseDnVecDescr_t y, cudaDataType computeType, cusparseSpMVAlg_t algorithm, size_t
    *size);
cusparseStatus_t cusparseSpMV_preprocess(cusparseHandle_t handle, cusparseOperation_t opA, const void *alpha, cusparseConstSpMatDescr_t a,
    cusparseConstDnVecDescr_t x, const void *beta, cusparseDnVecDescr_t y, cudaDataType computeType, cusparseSpMVAlg_t algorithm, void
    *buffer);
cusparseStatus_t cusparseSpMV(cusparseHandle_t handle, cusparseOperation_t opA, const void *alpha, cusparseConstSpMatDescr_t a,
    cusparseConstDnVecDescr_t x, const void *beta, cusparseDnVecDescr_t y, cudaDataType computeType, cusparseSpMVAlg_t algorithm, void
    *buffer);
cusparseStatus_t cusparseSpMM_bufferSize(cusparseHandle_t handle, cusparseOperation_t opA, cusparseOperation_t opB, const void *alpha,
    cusparseConstSpMatDescr_t a, cusparseConstDnMatDescr_t b, const void *beta, cusparseDnMatDescr_t c, cudaDataType computeType,
    cusparseSpMMAlg_t algorithm, size_t *size);
cusparseStatus_t cusparseSpMM_preprocess(cusparseHandle_t handle, cusparseOperation_t opA, cusparseOperation_t opB, const void *alpha,
    cusparseConstSpMatDescr_t a, cusparseConstDnMatDescr_t b, const void *beta, cusparseDnMatDescr_t c, cudaDataType computeType,
    cusparseSpMMAlg_t algorithm, void *buffer);
cusparseStatus_t cusparseSpMM(cusparseHandle_t handle, cusparseOperation_t opA, cusparseOperation_t opB, const void *alpha,
    cusparseConstSpMatDescr_t a, cusparseConstDnMatDescr_t b, const void *beta, cusparseDnMatDescr_t c, cudaDataType computeType,
    cusparseSpMMAlg_t algorithm, void *buffer);
cusparseStatus_t cusparseSDDMM_bufferSize(cusparseHandle_t handle, cusparseOperation_t opA, cusparseOperation_t opB, const void *alpha,
    cusparseConstDnMatDescr_t a, cusparseConstDnMatDescr_t b, const void *beta, cusparseSpMatDescr_t c, cudaDataType computeType,
    cusparseSDDMMAlg_t algorithm, size_t *size);
cusparseStatus_t cusparseSDDMM_preprocess(cusparseHandle_t handle, cusparseOperation_t opA, cusparseOperation_t opB, const void *alpha,
    cusparseConstDnMatDescr_t a, cusparseConstDnMatDescr_t b, const void *beta, cusparseSpMatDescr_t c, cudaDataType computeType,
    cusparseSDDMMAlg_t algorithm, void *buffer);
cusparseStatus_t cusparseSDDMM(cusparseHandle_t handle, cusparseOperation_t opA, cusparseOperation_t opB, const void *alpha,
    cusparseConstDnMatDescr_t a, cusparseConstDnMatDescr_t b, const void *beta, cusparseSpMatDescr_t c, cudaDataType computeType,
    cusparseSDDMMAlg_t algorithm, void *buffer);
cusparseStatus_t cusparseSparseToDense_bufferSize(cusparseHandle_t handle, cusparseConstSpMatDescr_t a, cusparseDnMatDescr_t b,
    cusparseSparseToDenseAlg_t algorithm, size_t *size);
cusparseStatus_t cusparseSparseToDense(cusparseHandle_t handle, cusparseConstSpMatDescr_t a, cusparseDnMatDescr_t b,
    cusparseSparseToDenseAlg_t algorithm, void *buffer);
cusparseStatus_t cusparseDenseToSparse_bufferSize(cusparseHandle_t handle, cusparseConstDnMatDescr_t a, cusparseSpMatDescr_t b,
    cusparseDenseToSparseAlg_t algorithm, size_t *size);
cusparseStatus_t cusparseDenseToSparse_analysis(cusparseHandle_t handle, cusparseConstDnMatDescr_t a, cusparseSpMatDescr_t b,
    cusparseDenseToSparseAlg_t algorithm, void *buffer);
cusparseStatus_t cusparseDenseToSparse_convert(cusparseHandle_t handle, cusparseConstDnMatDescr_t a, cusparseSpMatDescr_t b,
    cusparseDenseToSparseAlg_t algorithm, void *buffer);
cusparseStatus_t cusparseSpVV_bufferSize(cusparseHandle_t handle, cusparseOperation_t opX, cusparseConstSpVecDescr_t x,
    cusparseConstDnVecDescr_t y, void *result, cudaDataType computeType, size_t *size);
cusparseStatus_t cusparseSpVV(cusparseHandle_t handle, cusparseOperation_t opX, cusparseConstSpVecDescr_t x, cusparseConstDnVecDescr_t y,
    void *result, cudaDataType computeType, void *buffer);
cusparseStatus_t cusparseAxpby(cusparseHandle_t handle, const void *alpha, cusparseConstSpVecDescr_t x, const void *beta,
    cusparseDnVecDescr_t y);
cusparseStatus_t cusparseGather(cusparseHandle_t handle, cusparseConstDnVecDescr_t y, cusparseSpVecDescr_t x);
cusparseStatus_t cusparseScatter(cusparseHandle_t handle, cusparseConstSpVecDescr_t x, cusparseDnVecDescr_t y);
cusparseStatus_t cusparseRot(cusparseHandle_t handle, const void *c, const void *s, cusparseSpVecDescr_t x, cusparseDnVecDescr_t y);
cusparseStatus_t cusparseSpGEMM_createDescr(cusparseSpGEMMDescr_t *descr);
cusparseStatus_t cusparseSpGEMM_destroyDescr(cusparseSpGEMMDescr_t descr);
cusparseStatus_t cusparseSpGEMM_workEstimation(cusparseHandle_t handle, cusparseOperation_t opA, cusparseOperation_t opB, const void
    *alpha, cusparseConstSpMatDescr_t a, cusparseConstSpMatDescr_t b, const void *beta, cusparseSpMatDescr_t c, cudaDataType computeType,
    cusparseSpGEMMAlg_t algorithm, cusparseSpGEMMDescr_t descr, size_t *size, void *buffer);
cusparseStatus_t cusparseSpGEMM_compute(cusparseHandle_t handle, cusparseOperation_t opA, cusparseOperation_t opB, const void *alpha,
    cusparseConstSpMatDescr_t a, cusparseConstSpMatDescr_t b, const void *beta, cusparseSpMatDescr_t c, cudaDataType computeType,
    cusparseSpGEMMAlg_t algorithm, cusparseSpGEMMDescr_t descr, size_t *size, void *buffer);
cusparseStatus_t cusparseSpGEMM_copy(cusparseHandle_t handle, cusparseOperation_t opA, cusparseOperation_t opB, const void *alpha,
    cusparseConstSpMatDescr_t a, cusparseConstSpMatDescr_t b, const void *beta, cusparseSpMatDescr_t c, cudaDataType computeType,
    cusparseSpGEMMAlg_t algorithm, cusparseSpGEMMDescr_t descr);
cusparseStatus_t cusparseSpGEMM_getNumProducts(cusparseSpGEMMDescr_t descr, int64_t *products);
cusparseStatus_t cusparseSpGEMM_estimateMemory(cusparseHandle_t handle, cusparseOperation_t opA, cusparseOperation_t opB, const void
    *alpha, cusparseConstSpMatDescr_t a, cusparseConstSpMatDescr_t b, const void *beta, cusparseSpMatDescr_t c, cudaDataType computeType,
    cusparseSpGEMMAlg_t algorithm, cusparseSpGEMMDescr_t descr, float chunk, size_t *size3, void *buffer3, size_t *size2);
cusparseStatus_t cusparseSpSV_createDescr(cusparseSpSVDescr_t *descr);
cusparseStatus_t cusparseSpSV_destroyDescr(cusparseSpSVDescr_t descr);
cusparseStatus_t cusparseSpSV_bufferSize(cusparseHandle_t handle, cusparseOperation_t opA, const void *alpha, cusparseConstSpMatDescr_t a,
    cusparseConstDnVecDescr_t b, cusparseDnVecDescr_t c, cudaDataType computeType, cusparseSpSVAlg_t algorithm, cusparseSpSVDescr_t descr,
    size_t *size);
cusparseStatus_t cusparseSpSV_analysis(cusparseHandle_t handle, cusparseOperation_t opA, const void *alpha, cusparseConstSpMatDescr_t a,
    cusparseConstDnVecDescr_t b, cusparseDnVecDescr_t c, cudaDataType computeType, cusparseSpSVAlg_t algorithm, cusparseSpSVDescr_t descr,
    void *buffer);
cusparseStatus_t cusparseSpSV_solve(cusparseHandle_t handle, cusparseOperation_t opA, const void *alpha, cusparseConstSpMatDescr_t a,
    cusparseConstDnVecDescr_t b, cusparseDnVecDescr_t c, cudaDataType computeType, cusparseSpSVAlg_t algorithm, cusparseSpSVDescr_t
    descr);
cusparseStatus_t cusparseSpSV_updateMatrix(cusparseHandle_t handle, cusparseSpSVDescr_t descr, void *values, cusparseSpSVUpdate_t part);
cusparseStatus_t cusparseSpSM_createDescr(cusparseSpSMDescr_t *descr);
cusparseStatus_t cusparseSpSM_destroyDescr(cusparseSpSMDescr_t descr);
cusparseStatus_t cusparseSpSM_bufferSize(cusparseHandle_t handle, cusparseOperation_t opA, cusparseOperation_t opB, const void *alpha,
    cusparseConstSpMatDescr_t a, cusparseConstDnMatDescr_t b, cusparseDnMatDescr_t c, cudaDataType computeType, cusparseSpSMAlg_t
    algorithm, cusparseSpSMDescr_t descr, size_t *size);
cusparseStatus_t cusparseSpSM_analysis(cusparseHandle_t handle, cusparseOperation_t opA, cusparseOperation_t opB, const void *alpha,
    cusparseConstSpMatDescr_t a, cusparseConstDnMatDescr_t b, cusparseDnMatDescr_t c, cudaDataType computeType, cusparseSpSMAlg_t
    algorithm, cusparseSpSMDescr_t descr, void *buffer);
cusparseStatus_t cusparseSpSM_solve(cusparseHandle_t handle, cusparseOperation_t opA, cusparseOperation_t opB, const void *alpha,
    cusparseConstSpMatDescr_t a, cusparseConstDnMatDescr_t b, cusparseDnMatDescr_t c, cudaDataType computeType, cusparseSpSMAlg_t
    algorithm, cusparseSpSMDescr_t descr);
cusparseStatus_t cusparseSpSM_updateMatrix(cusparseHandle_t handle, cusparseSpSMDescr_t descr, void *values, cusparseSpSMUpdate_t part);
cusparseStatus_t cusparseCreateMatDescr(cusparseMatDescr_t *descr);
cusparseStatus_t cusparseDestroyMatDescr(cusparseMatDescr_t descr);
cusparseStatus_t cusparseSetMatType(cusparseMatDescr_t descr, cusparseMatrixType_t value);
cusparseMatrixType_t cusparseGetMatType(const cusparseMatDescr_t descr);
cusparseStatus_t cusparseSetMatFillMode(cusparseMatDescr_t descr, cusparseFillMode_t value);
cusparseFillMode_t cusparseGetMatFillMode(const cusparseMatDescr_t descr);
cusparseStatus_t cusparseSetMatDiagType(cusparseMatDescr_t descr, cusparseDiagType_t value);
cusparseDiagType_t cusparseGetMatDiagType(const cusparseMatDescr_t descr);
cusparseStatus_t cusparseSetMatIndexBase(cusparseMatDescr_t descr, cusparseIndexBase_t value);
cusparseIndexBase_t cusparseGetMatIndexBase(const cusparseMatDescr_t descr);
cusparseStatus_t cusparseXcsr2coo(cusparseHandle_t handle, const int *rowOffsets, int nnz, int m, int *rows, cusparseIndexBase_t base);
cusparseStatus_t cusparseXcoo2csr(cusparseHandle_t handle, const int *rows, int nnz, int m, int *rowOffsets, cusparseIndexBase_t base);
cusparseStatus_t cusparseCreateIdentityPermutation(cusparseHandle_t handle, int n, int *p);
cusparseStatus_t cusparseCsr2cscEx2_bufferSize(cusparseHandle_t handle, int m, int n, int nnz, const void *values, const int *rowOffsets,
    const int *columns, void *cscValues, int *columnOffsets, int *rows, cudaDataType type, cusparseAction_t action, cusparseIndexBase_t
    base, cusparseCsr2CscAlg_t algorithm, size_t *size);
cusparseStatus_t cusparseCsr2cscEx2(cusparseHandle_t handle, int m, int n, int nnz, const void *values, const int *rowOffsets, const int
    *columns, void *cscValues, int *columnOffsets, int *rows, cudaDataType type, cusparseAction_t action, cusparseIndexBase_t base,
    cusparseCsr2CscAlg_t algorithm, void *buffer);
cusparseStatus_t cusparseXcsrsort_bufferSizeExt(cusparseHandle_t handle, int m, int n, int nnz, const int *rowOffsets, const int *columns,
    size_t *size);
cusparseStatus_t cusparseXcsrsort(cusparseHandle_t handle, int m, int n, int nnz, const cusparseMatDescr_t descr, const int *rowOffsets,
    int *columns, int *p, void *buffer);
cusparseStatus_t cusparseXcscsort_bufferSizeExt(cusparseHandle_t handle, int m, int n, int nnz, const int *columnOffsets, const int *rows,
    size_t *size);
cusparseStatus_t cusparseXcscsort(cusparseHandle_t handle, int m, int n, int nnz, const cusparseMatDescr_t descr, const int
    *columnOffsets, int *rows, int *p, void *buffer);
cusparseStatus_t cusparseXcoosort_bufferSizeExt(cusparseHandle_t handle, int m, int n, int nnz, const int *rows, const int *columns,
    size_t *size);
cusparseStatus_t cusparseXcoosortByRow(cusparseHandle_t handle, int m, int n, int nnz, int *rows, int *columns, int *p, void *buffer);
cusparseStatus_t cusparseXcoosortByColumn(cusparseHandle_t handle, int m, int n, int nnz, int *rows, int *columns, int *p, void *buffer);
cusparseStatus_t cusparseXcsrgeam2Nnz(cusparseHandle_t handle, int m, int n, const cusparseMatDescr_t descrA, int nnzA, const int
    *offsetsA, const int *columnsA, const cusparseMatDescr_t descrB, int nnzB, const int *offsetsB, const int *columnsB, const
    cusparseMatDescr_t descrC, int *offsetsC, int *nnz, void *buffer);
cusparseStatus_t cusparseSnnz(cusparseHandle_t handle, cusparseDirection_t direction, int m, int n, const cusparseMatDescr_t descr, const
    float *a, int lda, int *each, int *all);
cusparseStatus_t cusparseScsrgeam2_bufferSizeExt(cusparseHandle_t handle, int m, int n, const float *alpha, const cusparseMatDescr_t
    descrA, int nnzA, const float *valuesA, const int *offsetsA, const int *columnsA, const float *beta, const cusparseMatDescr_t descrB,
    int nnzB, const float *valuesB, const int *offsetsB, const int *columnsB, const cusparseMatDescr_t descrC, const float *valuesC, const
    int *offsetsC, const int *columnsC, size_t *size);
cusparseStatus_t cusparseScsrgeam2(cusparseHandle_t handle, int m, int n, const float *alpha, const cusparseMatDescr_t descrA, int nnzA,
    const float *valuesA, const int *offsetsA, const int *columnsA, const float *beta, const cusparseMatDescr_t descrB, int nnzB, const
    float *valuesB, const int *offsetsB, const int *columnsB, const cusparseMatDescr_t descrC, float *valuesC, int *offsetsC, int
    *columnsC, void *buffer);
cusparseStatus_t cusparseScsrmv(cusparseHandle_t handle, cusparseOperation_t opA, int m, int n, int nnz, const float *alpha, const
    cusparseMatDescr_t descr, const float *values, const int *offsets, const int *columns, const float *x, const float *beta, float *y);
cusparseStatus_t cusparseScsrmm(cusparseHandle_t handle, cusparseOperation_t opA, int m, int n, int k, int nnz, const float *alpha, const
    cusparseMatDescr_t descr, const float *values, const int *offsets, const int *columns, const float *b, int ldb, const float *beta,
    float *c, int ldc);
cusparseStatus_t cusparseScsrmm2(cusparseHandle_t handle, cusparseOperation_t opA, cusparseOperation_t opB, int m, int n, int k, int nnz,
    const float *alpha, const cusparseMatDescr_t descr, const float *values, const int *offsets, const int *columns, const float *b, int
    ldb, const float *beta, float *c, int ldc);
cusparseStatus_t cusparseScsr2csc(cusparseHandle_t handle, int m, int n, int nnz, const float *values, const int *offsets, const int
    *columns, float *cscValues, int *rows, int *columnOffsets, cusparseAction_t action, cusparseIndexBase_t base);
cusparseStatus_t cusparseDnnz(cusparseHandle_t handle, cusparseDirection_t direction, int m, int n, const cusparseMatDescr_t descr, const
    double *a, int lda, int *each, int *all);
cusparseStatus_t cusparseDcsrgeam2_bufferSizeExt(cusparseHandle_t handle, int m, int n, const double *alpha, const cusparseMatDescr_t
    descrA, int nnzA, const double *valuesA, const int *offsetsA, const int *columnsA, const double *beta, const cusparseMatDescr_t
    descrB, int nnzB, const double *valuesB, const int *offsetsB, const int *columnsB, const cusparseMatDescr_t descrC, const double
    *valuesC, const int *offsetsC, const int *columnsC, size_t *size);
cusparseStatus_t cusparseDcsrgeam2(cusparseHandle_t handle, int m, int n, const double *alpha, const cusparseMatDescr_t descrA, int nnzA,
    const double *valuesA, const int *offsetsA, const int *columnsA, const double *beta, const cusparseMatDescr_t descrB, int nnzB, const
    double *valuesB, const int *offsetsB, const int *columnsB, const cusparseMatDescr_t descrC, double *valuesC, int *offsetsC, int
    *columnsC, void *buffer);
cusparseStatus_t cusparseDcsrmv(cusparseHandle_t handle, cusparseOperation_t opA, int m, int n, int nnz, const double *alpha, const
    cusparseMatDescr_t descr, const double *values, const int *offsets, const int *columns, const double *x, const double *beta, double
    *y);
cusparseStatus_t cusparseDcsrmm(cusparseHandle_t handle, cusparseOperation_t opA, int m, int n, int k, int nnz, const double *alpha, const
    cusparseMatDescr_t descr, const double *values, const int *offsets, const int *columns, const double *b, int ldb, const double *beta,
    double *c, int ldc);
cusparseStatus_t cusparseDcsrmm2(cusparseHandle_t handle, cusparseOperation_t opA, cusparseOperation_t opB, int m, int n, int k, int nnz,
    const double *alpha, const cusparseMatDescr_t descr, const double *values, const int *offsets, const int *columns, const double *b,
    int ldb, const double *beta, double *c, int ldc);
cusparseStatus_t cusparseDcsr2csc(cusparseHandle_t handle, int m, int n, int nnz, const double *values, const int *offsets, const int
    *columns, double *cscValues, int *rows, int *columnOffsets, cusparseAction_t action, cusparseIndexBase_t base);
cusparseStatus_t cusparseCnnz(cusparseHandle_t handle, cusparseDirection_t direction, int m, int n, const cusparseMatDescr_t descr, const
    cuComplex *a, int lda, int *each, int *all);
cusparseStatus_t cusparseCcsrgeam2_bufferSizeExt(cusparseHandle_t handle, int m, int n, const cuComplex *alpha, const cusparseMatDescr_t
    descrA, int nnzA, const cuComplex *valuesA, const int *offsetsA, const int *columnsA, const cuComplex *beta, const cusparseMatDescr_t
    descrB, int nnzB, const cuComplex *valuesB, const int *offsetsB, const int *columnsB, const cusparseMatDescr_t descrC, const cuComplex
    *valuesC, const int *offsetsC, const int *columnsC, size_t *size);
cusparseStatus_t cusparseCcsrgeam2(cusparseHandle_t handle, int m, int n, const cuComplex *alpha, const cusparseMatDescr_t descrA, int
    nnzA, const cuComplex *valuesA, const int *offsetsA, const int *columnsA, const cuComplex *beta, const cusparseMatDescr_t descrB, int
    nnzB, const cuComplex *valuesB, const int *offsetsB, const int *columnsB, const cusparseMatDescr_t descrC, cuComplex *valuesC, int
    *offsetsC, int *columnsC, void *buffer);
cusparseStatus_t cusparseCcsrmv(cusparseHandle_t handle, cusparseOperation_t opA, int m, int n, int nnz, const cuComplex *alpha, const
    cusparseMatDescr_t descr, const cuComplex *values, const int *offsets, const int *columns, const cuComplex *x, const cuComplex *beta,
    cuComplex *y);
cusparseStatus_t cusparseCcsrmm(cusparseHandle_t handle, cusparseOperation_t opA, int m, int n, int k, int nnz, const cuComplex *alpha,
    const cusparseMatDescr_t descr, const cuComplex *values, const int *offsets, const int *columns, const cuComplex *b, int ldb, const
    cuComplex *beta, cuComplex *c, int ldc);
cusparseStatus_t cusparseCcsrmm2(cusparseHandle_t handle, cusparseOperation_t opA, cusparseOperation_t opB, int m, int n, int k, int nnz,
    const cuComplex *alpha, const cusparseMatDescr_t descr, const cuComplex *values, const int *offsets, const int *columns, const
    cuComplex *b, int ldb, const cuComplex *beta, cuComplex *c, int ldc);
cusparseStatus_t cusparseCcsr2csc(cusparseHandle_t handle, int m, int n, int nnz, const cuComplex *values, const int *offsets, const int
    *columns, cuComplex *cscValues, int *rows, int *columnOffsets, cusparseAction_t action, cusparseIndexBase_t base);
cusparseStatus_t cusparseZnnz(cusparseHandle_t handle, cusparseDirection_t direction, int m, int n, const cusparseMatDescr_t descr, const
    cuDoubleComplex *a, int lda, int *each, int *all);
cusparseStatus_t cusparseZcsrgeam2_bufferSizeExt(cusparseHandle_t handle, int m, int n, const cuDoubleComplex *alpha, const
    cusparseMatDescr_t descrA, int nnzA, const cuDoubleComplex *valuesA, const int *offsetsA, const int *columnsA, const cuDoubleComplex
    *beta, const cusparseMatDescr_t descrB, int nnzB, const cuDoubleComplex *valuesB, const int *offsetsB, const int *columnsB, const
    cusparseMatDescr_t descrC, const cuDoubleComplex *valuesC, const int *offsetsC, const int *columnsC, size_t *size);
cusparseStatus_t cusparseZcsrgeam2(cusparseHandle_t handle, int m, int n, const cuDoubleComplex *alpha, const cusparseMatDescr_t descrA,
    int nnzA, const cuDoubleComplex *valuesA, const int *offsetsA, const int *columnsA, const cuDoubleComplex *beta, const
    cusparseMatDescr_t descrB, int nnzB, const cuDoubleComplex *valuesB, const int *offsetsB, const int *columnsB, const
    cusparseMatDescr_t descrC, cuDoubleComplex *valuesC, int *offsetsC, int *columnsC, void *buffer);
cusparseStatus_t cusparseZcsrmv(cusparseHandle_t handle, cusparseOperation_t opA, int m, int n, int nnz, const cuDoubleComplex *alpha,
    const cusparseMatDescr_t descr, const cuDoubleComplex *values, const int *offsets, const int *columns, const cuDoubleComplex *x, const
    cuDoubleComplex *beta, cuDoubleComplex *y);
cusparseStatus_t cusparseZcsrmm(cusparseHandle_t handle, cusparseOperation_t opA, int m, int n, int k, int nnz, const cuDoubleComplex
    *alpha, const cusparseMatDescr_t descr, const cuDoubleComplex *values, const int *offsets, const int *columns, const cuDoubleComplex
    *b, int ldb, const cuDoubleComplex *beta, cuDoubleComplex *c, int ldc);
cusparseStatus_t cusparseZcsrmm2(cusparseHandle_t handle, cusparseOperation_t opA, cusparseOperation_t opB, int m, int n, int k, int nnz,
    const cuDoubleComplex *alpha, const cusparseMatDescr_t descr, const cuDoubleComplex *values, const int *offsets, const int *columns,
    const cuDoubleComplex *b, int ldb, const cuDoubleComplex *beta, cuDoubleComplex *c, int ldc);
cusparseStatus_t cusparseZcsr2csc(cusparseHandle_t handle, int m, int n, int nnz, const cuDoubleComplex *values, const int *offsets, const
    int *columns, cuDoubleComplex *cscValues, int *rows, int *columnOffsets, cusparseAction_t action, cusparseIndexBase_t base);
cusparseStatus_t cusparseCreateCsrilu02Info(csrilu02Info_t *info);
cusparseStatus_t cusparseDestroyCsrilu02Info(csrilu02Info_t info);
cusparseStatus_t cusparseXcsrilu02_zeroPivot(cusparseHandle_t handle, csrilu02Info_t info, int *position);
cusparseStatus_t cusparseScsrilu02_numericBoost(cusparseHandle_t handle, csrilu02Info_t info, int enable, double *tolerance, float
    *boost);
cusparseStatus_t cusparseScsrilu02_bufferSize(cusparseHandle_t handle, int m, int nnz, const cusparseMatDescr_t descr, float *values,
    const int *offsets, const int *columns, csrilu02Info_t info, int *size);
cusparseStatus_t cusparseScsrilu02_bufferSizeExt(cusparseHandle_t handle, int m, int nnz, const cusparseMatDescr_t descr, float *values,
    const int *offsets, const int *columns, csrilu02Info_t info, size_t *size);
cusparseStatus_t cusparseScsrilu02_analysis(cusparseHandle_t handle, int m, int nnz, const cusparseMatDescr_t descr, const float *values,
    const int *offsets, const int *columns, csrilu02Info_t info, cusparseSolvePolicy_t policy, void *buffer);
cusparseStatus_t cusparseScsrilu02(cusparseHandle_t handle, int m, int nnz, const cusparseMatDescr_t descr, float *values, const int
    *offsets, const int *columns, csrilu02Info_t info, cusparseSolvePolicy_t policy, void *buffer);
cusparseStatus_t cusparseDcsrilu02_numericBoost(cusparseHandle_t handle, csrilu02Info_t info, int enable, double *tolerance, double
    *boost);
cusparseStatus_t cusparseDcsrilu02_bufferSize(cusparseHandle_t handle, int m, int nnz, const cusparseMatDescr_t descr, double *values,
    const int *offsets, const int *columns, csrilu02Info_t info, int *size);
cusparseStatus_t cusparseDcsrilu02_bufferSizeExt(cusparseHandle_t handle, int m, int nnz, const cusparseMatDescr_t descr, double *values,
    const int *offsets, const int *columns, csrilu02Info_t info, size_t *size);
cusparseStatus_t cusparseDcsrilu02_analysis(cusparseHandle_t handle, int m, int nnz, const cusparseMatDescr_t descr, const double *values,
    const int *offsets, const int *columns, csrilu02Info_t info, cusparseSolvePolicy_t policy, void *buffer);
cusparseStatus_t cusparseDcsrilu02(cusparseHandle_t handle, int m, int nnz, const cusparseMatDescr_t descr, double *values, const int
    *offsets, const int *columns, csrilu02Info_t info, cusparseSolvePolicy_t policy, void *buffer);
cusparseStatus_t cusparseCcsrilu02_numericBoost(cusparseHandle_t handle, csrilu02Info_t info, int enable, double *tolerance, cuComplex
    *boost);
cusparseStatus_t cusparseCcsrilu02_bufferSize(cusparseHandle_t handle, int m, int nnz, const cusparseMatDescr_t descr, cuComplex *values,
    const int *offsets, const int *columns, csrilu02Info_t info, int *size);
cusparseStatus_t cusparseCcsrilu02_bufferSizeExt(cusparseHandle_t handle, int m, int nnz, const cusparseMatDescr_t descr, cuComplex
    *values, const int *offsets, const int *columns, csrilu02Info_t info, size_t *size);
cusparseStatus_t cusparseCcsrilu02_analysis(cusparseHandle_t handle, int m, int nnz, const cusparseMatDescr_t descr, const cuComplex
    *values, const int *offsets, const int *columns, csrilu02Info_t info, cusparseSolvePolicy_t policy, void *buffer);
cusparseStatus_t cusparseCcsrilu02(cusparseHandle_t handle, int m, int nnz, const cusparseMatDescr_t descr, cuComplex *values, const int
    *offsets, const int *columns, csrilu02Info_t info, cusparseSolvePolicy_t policy, void *buffer);
cusparseStatus_t cusparseZcsrilu02_numericBoost(cusparseHandle_t handle, csrilu02Info_t info, int enable, double *tolerance,
    cuDoubleComplex *boost);
cusparseStatus_t cusparseZcsrilu02_bufferSize(cusparseHandle_t handle, int m, int nnz, const cusparseMatDescr_t descr, cuDoubleComplex
    *values, const int *offsets, const int *columns, csrilu02Info_t info, int *size);
cusparseStatus_t cusparseZcsrilu02_bufferSizeExt(cusparseHandle_t handle, int m, int nnz, const cusparseMatDescr_t descr, cuDoubleComplex
    *values, const int *offsets, const int *columns, csrilu02Info_t info, size_t *size);
cusparseStatus_t cusparseZcsrilu02_analysis(cusparseHandle_t handle, int m, int nnz, const cusparseMatDescr_t descr, const cuDoubleComplex
    *values, const int *offsets, const int *columns, csrilu02Info_t info, cusparseSolvePolicy_t policy, void *buffer);
cusparseStatus_t cusparseZcsrilu02(cusparseHandle_t handle, int m, int nnz, const cusparseMatDescr_t descr, cuDoubleComplex *values, const
    int *offsets, const int *columns, csrilu02Info_t info, cusparseSolvePolicy_t policy, void *buffer);
cusparseStatus_t cusparseCreateCsric02Info(csric02Info_t *info);
cusparseStatus_t cusparseDestroyCsric02Info(csric02Info_t info);
cusparseStatus_t cusparseXcsric02_zeroPivot(cusparseHandle_t handle, csric02Info_t info, int *position);
cusparseStatus_t cusparseScsric02_bufferSize(cusparseHandle_t handle, int m, int nnz, const cusparseMatDescr_t descr, float *values, const
    int *offsets, const int *columns, csric02Info_t info, int *size);
cusparseStatus_t cusparseScsric02_bufferSizeExt(cusparseHandle_t handle, int m, int nnz, const cusparseMatDescr_t descr, float *values,
    const int *offsets, const int *columns, csric02Info_t info, size_t *size);
cusparseStatus_t cusparseScsric02_analysis(cusparseHandle_t handle, int m, int nnz, const cusparseMatDescr_t descr, const float *values,
    const int *offsets, const int *columns, csric02Info_t info, cusparseSolvePolicy_t policy, void *buffer);
cusparseStatus_t cusparseScsric02(cusparseHandle_t handle, int m, int nnz, const cusparseMatDescr_t descr, float *values, const int
    *offsets, const int *columns, csric02Info_t info, cusparseSolvePolicy_t policy, void *buffer);
cusparseStatus_t cusparseDcsric02_bufferSize(cusparseHandle_t handle, int m, int nnz, const cusparseMatDescr_t descr, double *values,
    const int *offsets, const int *columns, csric02Info_t info, int *size);
cusparseStatus_t cusparseDcsric02_bufferSizeExt(cusparseHandle_t handle, int m, int nnz, const cusparseMatDescr_t descr, double *values,
    const int *offsets, const int *columns, csric02Info_t info, size_t *size);
cusparseStatus_t cusparseDcsric02_analysis(cusparseHandle_t handle, int m, int nnz, const cusparseMatDescr_t descr, const double *values,
    const int *offsets, const int *columns, csric02Info_t info, cusparseSolvePolicy_t policy, void *buffer);
cusparseStatus_t cusparseDcsric02(cusparseHandle_t handle, int m, int nnz, const cusparseMatDescr_t descr, double *values, const int
    *offsets, const int *columns, csric02Info_t info, cusparseSolvePolicy_t policy, void *buffer);
cusparseStatus_t cusparseCcsric02_bufferSize(cusparseHandle_t handle, int m, int nnz, const cusparseMatDescr_t descr, cuComplex *values,
    const int *offsets, const int *columns, csric02Info_t info, int *size);
cusparseStatus_t cusparseCcsric02_bufferSizeExt(cusparseHandle_t handle, int m, int nnz, const cusparseMatDescr_t descr, cuComplex
    *values, const int *offsets, const int *columns, csric02Info_t info, size_t *size);
cusparseStatus_t cusparseCcsric02_analysis(cusparseHandle_t handle, int m, int nnz, const cusparseMatDescr_t descr, const cuComplex
    *values, const int *offsets, const int *columns, csric02Info_t info, cusparseSolvePolicy_t policy, void *buffer);
cusparseStatus_t cusparseCcsric02(cusparseHandle_t handle, int m, int nnz, const cusparseMatDescr_t descr, cuComplex *values, const int
    *offsets, const int *columns, csric02Info_t info, cusparseSolvePolicy_t policy, void *buffer);
cusparseStatus_t cusparseZcsric02_bufferSize(cusparseHandle_t handle, int m, int nnz, const cusparseMatDescr_t descr, cuDoubleComplex
    *values, const int *offsets, const int *columns, csric02Info_t info, int *size);
cusparseStatus_t cusparseZcsric02_bufferSizeExt(cusparseHandle_t handle, int m, int nnz, const cusparseMatDescr_t descr, cuDoubleComplex
    *values, const int *offsets, const int *columns, csric02Info_t info, size_t *size);
cusparseStatus_t cusparseZcsric02_analysis(cusparseHandle_t handle, int m, int nnz, const cusparseMatDescr_t descr, const cuDoubleComplex
    *values, const int *offsets, const int *columns, csric02Info_t info, cusparseSolvePolicy_t policy, void *buffer);
cusparseStatus_t cusparseZcsric02(cusparseHandle_t handle, int m, int nnz, const cusparseMatDescr_t descr, cuDoubleComplex *values, const
    int *offsets, const int *columns, csric02Info_t info, cusparseSolvePolicy_t policy, void *buffer);

// These are refused.
cusparseStatus_t cusparseCreateBsr(cusparseSpMatDescr_t *descr, int64_t blockRows, int64_t blockColumns, int64_t blocks, int64_t
    rowsOfBlock, int64_t columnsOfBlock, void *rowOffsets, void *columns, void *values, cusparseIndexType_t offsetsType, cusparseIndexType_t
    columnsType, cusparseIndexBase_t base, cudaDataType type, cusparseOrder_t order);
cusparseStatus_t cusparseCreateConstBsr(cusparseConstSpMatDescr_t *descr, int64_t blockRows, int64_t blockColumns, int64_t blocks, int64_t
    rowsOfBlock, int64_t columnsOfBlock, const void *rowOffsets, const void *columns, const void *values, cusparseIndexType_t offsetsType,
    cusparseIndexType_t columnsType, cusparseIndexBase_t base, cudaDataType type, cusparseOrder_t order);
cusparseStatus_t cusparseCreateSlicedEll(cusparseSpMatDescr_t *descr, int64_t rows, int64_t columns_, int64_t nnz, int64_t valuesSize,
    int64_t sliceSize, void *sliceOffsets, void *columns, void *values, cusparseIndexType_t offsetsType, cusparseIndexType_t columnsType,
    cusparseIndexBase_t base, cudaDataType type);
cusparseStatus_t cusparseCreateConstSlicedEll(cusparseConstSpMatDescr_t *descr, int64_t rows, int64_t columns_, int64_t nnz, int64_t
    valuesSize, int64_t sliceSize, const void *sliceOffsets, const void *columns, const void *values, cusparseIndexType_t offsetsType,
    cusparseIndexType_t columnsType, cusparseIndexBase_t base, cudaDataType type);
cusparseStatus_t cusparseBlockedEllGet(cusparseSpMatDescr_t descr, int64_t *rows, int64_t *columns_, int64_t *blockSize, int64_t
    *ellColumns, void **columns, void **values, cusparseIndexType_t *indexType, cusparseIndexBase_t *base, cudaDataType *type);
cusparseStatus_t cusparseConstBlockedEllGet(cusparseConstSpMatDescr_t descr, int64_t *rows, int64_t *columns_, int64_t *blockSize, int64_t
    *ellColumns, const void **columns, const void **values, cusparseIndexType_t *indexType, cusparseIndexBase_t *base, cudaDataType *type);
cusparseStatus_t cusparseBsrSetStridedBatch(cusparseSpMatDescr_t descr, int count, int64_t offsetsStride, int64_t columnsStride, int64_t
    valuesStride);
cusparseStatus_t cusparseSpGEMMreuse_workEstimation(cusparseHandle_t handle, cusparseOperation_t opA, cusparseOperation_t opB,
    cusparseConstSpMatDescr_t a, cusparseConstSpMatDescr_t b, cusparseSpMatDescr_t c, cusparseSpGEMMAlg_t algorithm, cusparseSpGEMMDescr_t
    descr, size_t *size, void *buffer);
cusparseStatus_t cusparseSpGEMMreuse_nnz(cusparseHandle_t handle, cusparseOperation_t opA, cusparseOperation_t opB,
    cusparseConstSpMatDescr_t a, cusparseConstSpMatDescr_t b, cusparseSpMatDescr_t c, cusparseSpGEMMAlg_t algorithm, cusparseSpGEMMDescr_t
    descr, size_t *size2, void *buffer2, size_t *size3, void *buffer3, size_t *size4, void *buffer4);
cusparseStatus_t cusparseSpGEMMreuse_copy(cusparseHandle_t handle, cusparseOperation_t opA, cusparseOperation_t opB,
    cusparseConstSpMatDescr_t a, cusparseConstSpMatDescr_t b, cusparseSpMatDescr_t c, cusparseSpGEMMAlg_t algorithm, cusparseSpGEMMDescr_t
    descr, size_t *size, void *buffer);
cusparseStatus_t cusparseSpGEMMreuse_compute(cusparseHandle_t handle, cusparseOperation_t opA, cusparseOperation_t opB, const void *alpha,
    cusparseConstSpMatDescr_t a, cusparseConstSpMatDescr_t b, const void *beta, cusparseSpMatDescr_t c, cudaDataType computeType,
    cusparseSpGEMMAlg_t algorithm, cusparseSpGEMMDescr_t descr);
cusparseStatus_t cusparseSpMMOp_createPlan(cusparseHandle_t handle, cusparseSpMMOpPlan_t *plan, cusparseOperation_t opA, cusparseOperation_t
    opB, cusparseConstSpMatDescr_t a, cusparseConstDnMatDescr_t b, cusparseDnMatDescr_t c, cudaDataType computeType, cusparseSpMMOpAlg_t
    algorithm, const void *sum, size_t sumSize, const void *product, size_t productSize, const void *epilogue, size_t epilogueSize, size_t
    *size);
cusparseStatus_t cusparseSpMMOp(cusparseSpMMOpPlan_t plan, void *buffer);
cusparseStatus_t cusparseSpMMOp_destroyPlan(cusparseSpMMOpPlan_t plan);
cusparseStatus_t cusparseSgtsv2_bufferSizeExt(cusparseHandle_t handle, int m, int n, const float *dl, const float *d, const float *du, const
    float *b, int ldb, size_t *size);
cusparseStatus_t cusparseSgtsv2(cusparseHandle_t handle, int m, int n, const float *dl, const float *d, const float *du, float *b, int ldb,
    void *buffer);
cusparseStatus_t cusparseSgtsv2_nopivot_bufferSizeExt(cusparseHandle_t handle, int m, int n, const float *dl, const float *d, const float
    *du, const float *b, int ldb, size_t *size);
cusparseStatus_t cusparseSgtsv2_nopivot(cusparseHandle_t handle, int m, int n, const float *dl, const float *d, const float *du, float *b,
    int ldb, void *buffer);
cusparseStatus_t cusparseSgtsv2StridedBatch_bufferSizeExt(cusparseHandle_t handle, int m, const float *dl, const float *d, const float *du,
    const float *x, int count, int stride, size_t *size);
cusparseStatus_t cusparseSgtsv2StridedBatch(cusparseHandle_t handle, int m, const float *dl, const float *d, const float *du, float *x, int
    count, int stride, void *buffer);
cusparseStatus_t cusparseSgtsvInterleavedBatch_bufferSizeExt(cusparseHandle_t handle, int algorithm, int m, const float *dl, const float *d,
    const float *du, const float *x, int count, size_t *size);
cusparseStatus_t cusparseSgtsvInterleavedBatch(cusparseHandle_t handle, int algorithm, int m, float *dl, float *d, float *du, float *x, int
    count, void *buffer);
cusparseStatus_t cusparseSgpsvInterleavedBatch_bufferSizeExt(cusparseHandle_t handle, int algorithm, int m, const float *ds, const float
    *dl, const float *d, const float *du, const float *dw, const float *x, int count, size_t *size);
cusparseStatus_t cusparseSgpsvInterleavedBatch(cusparseHandle_t handle, int algorithm, int m, float *ds, float *dl, float *d, float *du,
    float *dw, float *x, int count, void *buffer);
cusparseStatus_t cusparseDgtsv2_bufferSizeExt(cusparseHandle_t handle, int m, int n, const double *dl, const double *d, const double *du,
    const double *b, int ldb, size_t *size);
cusparseStatus_t cusparseDgtsv2(cusparseHandle_t handle, int m, int n, const double *dl, const double *d, const double *du, double *b, int
    ldb, void *buffer);
cusparseStatus_t cusparseDgtsv2_nopivot_bufferSizeExt(cusparseHandle_t handle, int m, int n, const double *dl, const double *d, const double
    *du, const double *b, int ldb, size_t *size);
cusparseStatus_t cusparseDgtsv2_nopivot(cusparseHandle_t handle, int m, int n, const double *dl, const double *d, const double *du, double
    *b, int ldb, void *buffer);
cusparseStatus_t cusparseDgtsv2StridedBatch_bufferSizeExt(cusparseHandle_t handle, int m, const double *dl, const double *d, const double
    *du, const double *x, int count, int stride, size_t *size);
cusparseStatus_t cusparseDgtsv2StridedBatch(cusparseHandle_t handle, int m, const double *dl, const double *d, const double *du, double *x,
    int count, int stride, void *buffer);
cusparseStatus_t cusparseDgtsvInterleavedBatch_bufferSizeExt(cusparseHandle_t handle, int algorithm, int m, const double *dl, const double
    *d, const double *du, const double *x, int count, size_t *size);
cusparseStatus_t cusparseDgtsvInterleavedBatch(cusparseHandle_t handle, int algorithm, int m, double *dl, double *d, double *du, double *x,
    int count, void *buffer);
cusparseStatus_t cusparseDgpsvInterleavedBatch_bufferSizeExt(cusparseHandle_t handle, int algorithm, int m, const double *ds, const double
    *dl, const double *d, const double *du, const double *dw, const double *x, int count, size_t *size);
cusparseStatus_t cusparseDgpsvInterleavedBatch(cusparseHandle_t handle, int algorithm, int m, double *ds, double *dl, double *d, double *du,
    double *dw, double *x, int count, void *buffer);
cusparseStatus_t cusparseCgtsv2_bufferSizeExt(cusparseHandle_t handle, int m, int n, const cuComplex *dl, const cuComplex *d, const
    cuComplex *du, const cuComplex *b, int ldb, size_t *size);
cusparseStatus_t cusparseCgtsv2(cusparseHandle_t handle, int m, int n, const cuComplex *dl, const cuComplex *d, const cuComplex *du,
    cuComplex *b, int ldb, void *buffer);
cusparseStatus_t cusparseCgtsv2_nopivot_bufferSizeExt(cusparseHandle_t handle, int m, int n, const cuComplex *dl, const cuComplex *d, const
    cuComplex *du, const cuComplex *b, int ldb, size_t *size);
cusparseStatus_t cusparseCgtsv2_nopivot(cusparseHandle_t handle, int m, int n, const cuComplex *dl, const cuComplex *d, const cuComplex *du,
    cuComplex *b, int ldb, void *buffer);
cusparseStatus_t cusparseCgtsv2StridedBatch_bufferSizeExt(cusparseHandle_t handle, int m, const cuComplex *dl, const cuComplex *d, const
    cuComplex *du, const cuComplex *x, int count, int stride, size_t *size);
cusparseStatus_t cusparseCgtsv2StridedBatch(cusparseHandle_t handle, int m, const cuComplex *dl, const cuComplex *d, const cuComplex *du,
    cuComplex *x, int count, int stride, void *buffer);
cusparseStatus_t cusparseCgtsvInterleavedBatch_bufferSizeExt(cusparseHandle_t handle, int algorithm, int m, const cuComplex *dl, const
    cuComplex *d, const cuComplex *du, const cuComplex *x, int count, size_t *size);
cusparseStatus_t cusparseCgtsvInterleavedBatch(cusparseHandle_t handle, int algorithm, int m, cuComplex *dl, cuComplex *d, cuComplex *du,
    cuComplex *x, int count, void *buffer);
cusparseStatus_t cusparseCgpsvInterleavedBatch_bufferSizeExt(cusparseHandle_t handle, int algorithm, int m, const cuComplex *ds, const
    cuComplex *dl, const cuComplex *d, const cuComplex *du, const cuComplex *dw, const cuComplex *x, int count, size_t *size);
cusparseStatus_t cusparseCgpsvInterleavedBatch(cusparseHandle_t handle, int algorithm, int m, cuComplex *ds, cuComplex *dl, cuComplex *d,
    cuComplex *du, cuComplex *dw, cuComplex *x, int count, void *buffer);
cusparseStatus_t cusparseZgtsv2_bufferSizeExt(cusparseHandle_t handle, int m, int n, const cuDoubleComplex *dl, const cuDoubleComplex *d,
    const cuDoubleComplex *du, const cuDoubleComplex *b, int ldb, size_t *size);
cusparseStatus_t cusparseZgtsv2(cusparseHandle_t handle, int m, int n, const cuDoubleComplex *dl, const cuDoubleComplex *d, const
    cuDoubleComplex *du, cuDoubleComplex *b, int ldb, void *buffer);
cusparseStatus_t cusparseZgtsv2_nopivot_bufferSizeExt(cusparseHandle_t handle, int m, int n, const cuDoubleComplex *dl, const
    cuDoubleComplex *d, const cuDoubleComplex *du, const cuDoubleComplex *b, int ldb, size_t *size);
cusparseStatus_t cusparseZgtsv2_nopivot(cusparseHandle_t handle, int m, int n, const cuDoubleComplex *dl, const cuDoubleComplex *d, const
    cuDoubleComplex *du, cuDoubleComplex *b, int ldb, void *buffer);
cusparseStatus_t cusparseZgtsv2StridedBatch_bufferSizeExt(cusparseHandle_t handle, int m, const cuDoubleComplex *dl, const cuDoubleComplex
    *d, const cuDoubleComplex *du, const cuDoubleComplex *x, int count, int stride, size_t *size);
cusparseStatus_t cusparseZgtsv2StridedBatch(cusparseHandle_t handle, int m, const cuDoubleComplex *dl, const cuDoubleComplex *d, const
    cuDoubleComplex *du, cuDoubleComplex *x, int count, int stride, void *buffer);
cusparseStatus_t cusparseZgtsvInterleavedBatch_bufferSizeExt(cusparseHandle_t handle, int algorithm, int m, const cuDoubleComplex *dl, const
    cuDoubleComplex *d, const cuDoubleComplex *du, const cuDoubleComplex *x, int count, size_t *size);
cusparseStatus_t cusparseZgtsvInterleavedBatch(cusparseHandle_t handle, int algorithm, int m, cuDoubleComplex *dl, cuDoubleComplex *d,
    cuDoubleComplex *du, cuDoubleComplex *x, int count, void *buffer);
cusparseStatus_t cusparseZgpsvInterleavedBatch_bufferSizeExt(cusparseHandle_t handle, int algorithm, int m, const cuDoubleComplex *ds, const
    cuDoubleComplex *dl, const cuDoubleComplex *d, const cuDoubleComplex *du, const cuDoubleComplex *dw, const cuDoubleComplex *x, int
    count, size_t *size);
cusparseStatus_t cusparseZgpsvInterleavedBatch(cusparseHandle_t handle, int algorithm, int m, cuDoubleComplex *ds, cuDoubleComplex *dl,
    cuDoubleComplex *d, cuDoubleComplex *du, cuDoubleComplex *dw, cuDoubleComplex *x, int count, void *buffer);

#ifdef __cplusplus
}
#endif
#endif
