// Functions of cuSPARSE that exist in several forms.
#include "_cgo_export.h"
#include "blas.h"

// Numbers of formats, as internal/libs/sparse has them. blas.h has those of types.
enum { CSR = 1, CSC, COO };
#define NAME ((char *)__func__)
typedef uintptr_t p;
typedef int64_t i64;

#define CREATE(name, f)                                                                                      \
  int name(p to, i64 rows, i64 columns, i64 nnz, p offsets, p indices, p values, int ot, int it, int base, int t) { \
    return heddleSparseMatrix(NAME, to, f, rows, columns, nnz, offsets, indices, values, ot, it, base, t);   \
  }
#define CREATE_COO(name)                                                                                     \
  int name(p to, i64 rows, i64 columns, i64 nnz, p offsets, p indices, p values, int it, int base, int t) {  \
    return heddleSparseMatrix(NAME, to, COO, rows, columns, nnz, offsets, indices, values, it, it, base, t); \
  }
CREATE(cusparseCreateCsr, CSR)
CREATE(cusparseCreateConstCsr, CSR)
CREATE(cusparseCreateCsc, CSC)
CREATE(cusparseCreateConstCsc, CSC)
CREATE_COO(cusparseCreateCoo)
CREATE_COO(cusparseCreateConstCoo)

#define GET(name, f)                                                                                \
  int name(p h, p rows, p columns, p nnz, p offsets, p indices, p values, p ot, p it, p base, p t) { \
    return heddleSparseGet(h, f, rows, columns, nnz, offsets, indices, values, ot, it, base, t);    \
  }
#define GET_COO(name)                                                                              \
  int name(p h, p rows, p columns, p nnz, p offsets, p indices, p values, p it, p base, p t) {      \
    return heddleSparseGet(h, COO, rows, columns, nnz, offsets, indices, values, it, it, base, t); \
  }
GET(cusparseCsrGet, CSR)
GET(cusparseConstCsrGet, CSR)
GET(cusparseCscGet, CSC)
GET(cusparseConstCscGet, CSC)
GET_COO(cusparseCooGet)
GET_COO(cusparseConstCooGet)

#define POINTERS(name, f) \
  int name(p h, p offsets, p indices, p values) { return heddleSparseSetPointers(h, f, offsets, indices, values); }
POINTERS(cusparseCsrSetPointers, CSR)
POINTERS(cusparseCscSetPointers, CSC)
POINTERS(cusparseCooSetPointers, COO)

#define VALUES(kind)                                                                           \
  int cusparse##kind##GetValues(p h, p to) { return heddleSparseValues(h, to); }               \
  int cusparseConst##kind##GetValues(p h, p to) { return heddleSparseValues(h, to); }          \
  int cusparse##kind##SetValues(p h, p values) { return heddleSparseSetValues(h, values); }
VALUES(SpMat)
VALUES(DnMat)
VALUES(DnVec)
VALUES(SpVec)

int cusparseCreateConstDnMat(p to, i64 rows, i64 columns, i64 ld, p values, int t, int order) {
  return cusparseCreateDnMat(to, rows, columns, ld, values, t, order);
}
int cusparseConstDnMatGet(p h, p rows, p columns, p ld, p values, p t, p order) { return cusparseDnMatGet(h, rows, columns, ld, values, t, order); }
int cusparseCreateConstDnVec(p to, i64 n, p values, int t) { return cusparseCreateDnVec(to, n, values, t); }
int cusparseConstDnVecGet(p h, p n, p values, p t) { return cusparseDnVecGet(h, n, values, t); }
int cusparseCreateConstSpVec(p to, i64 n, i64 nnz, p indices, p values, int it, int base, int t) {
  return cusparseCreateSpVec(to, n, nnz, indices, values, it, base, t);
}
int cusparseConstSpVecGet(p h, p n, p nnz, p indices, p values, p it, p base, p t) { return cusparseSpVecGet(h, n, nnz, indices, values, it, base, t); }

// The steps of operations, as cusparse.go numbers them.
enum { SIZE, PREPARE, EXECUTE };
enum { ESTIMATE, MULTIPLY, STORE };

#define SPMV(name, step)                                                                                       \
  int name(p h, int op, p alpha, p a, p x, p beta, p y, int compute, int algorithm, p last) {                  \
    return heddleSpMM(NAME, step, 1, h, op, 0, alpha, a, x, beta, y, compute, last);                           \
  }
SPMV(cusparseSpMV_bufferSize, SIZE)
SPMV(cusparseSpMV_preprocess, PREPARE)
SPMV(cusparseSpMV, EXECUTE)
#define SPMM(name, step)                                                                                       \
  int name(p h, int opA, int opB, p alpha, p a, p b, p beta, p c, int compute, int algorithm, p last) {        \
    return heddleSpMM(NAME, step, 0, h, opA, opB, alpha, a, b, beta, c, compute, last);                        \
  }
SPMM(cusparseSpMM_bufferSize, SIZE)
SPMM(cusparseSpMM_preprocess, PREPARE)
SPMM(cusparseSpMM, EXECUTE)
#define SDDMM(name, step)                                                                                      \
  int name(p h, int opA, int opB, p alpha, p a, p b, p beta, p c, int compute, int algorithm, p last) {        \
    return heddleSDDMM(NAME, step, h, opA, opB, alpha, a, b, beta, c, compute, last);                          \
  }
SDDMM(cusparseSDDMM_bufferSize, SIZE)
SDDMM(cusparseSDDMM_preprocess, PREPARE)
SDDMM(cusparseSDDMM, EXECUTE)
#define TO_DENSE(name, step) \
  int name(p h, p a, p b, int algorithm, p last) { return heddleToDense(NAME, step, h, a, b, last); }
TO_DENSE(cusparseSparseToDense_bufferSize, SIZE)
TO_DENSE(cusparseSparseToDense, EXECUTE)
#define FROM_DENSE(name, step) \
  int name(p h, p a, p b, int algorithm, p last) { return heddleFromDense(NAME, step, h, a, b, last); }
FROM_DENSE(cusparseDenseToSparse_bufferSize, SIZE)
FROM_DENSE(cusparseDenseToSparse_analysis, PREPARE)
FROM_DENSE(cusparseDenseToSparse_convert, EXECUTE)

#define SPSV(name, step, ...)                                                                                  \
  int name(p h, int op, p alpha, p a, p x, p y, int compute, int algorithm, p descr __VA_ARGS__)
SPSV(cusparseSpSV_bufferSize, SIZE, , p size) { return heddleSolve(NAME, SIZE, 1, h, op, 0, alpha, a, x, y, compute, descr, size); }
SPSV(cusparseSpSV_analysis, PREPARE, , p buffer) { return heddleSolve(NAME, PREPARE, 1, h, op, 0, alpha, a, x, y, compute, descr, 0); }
SPSV(cusparseSpSV_solve, EXECUTE) { return heddleSolve(NAME, EXECUTE, 1, h, op, 0, alpha, a, x, y, compute, descr, 0); }
int cusparseSpSM_bufferSize(p h, int opA, int opB, p alpha, p a, p b, p c, int compute, int algorithm, p descr, p size) {
  return heddleSolve(NAME, SIZE, 0, h, opA, opB, alpha, a, b, c, compute, descr, size);
}
int cusparseSpSM_analysis(p h, int opA, int opB, p alpha, p a, p b, p c, int compute, int algorithm, p descr, p buffer) {
  return heddleSolve(NAME, PREPARE, 0, h, opA, opB, alpha, a, b, c, compute, descr, 0);
}
int cusparseSpSM_solve(p h, int opA, int opB, p alpha, p a, p b, p c, int compute, int algorithm, p descr) {
  return heddleSolve(NAME, EXECUTE, 0, h, opA, opB, alpha, a, b, c, compute, descr, 0);
}
#define SOLVER(kind)                                                                              \
  int cusparse##kind##_createDescr(p to) { return heddleNewSolver(to); }                          \
  int cusparse##kind##_destroyDescr(p h) { return heddleFreeSolver(h); }                          \
  int cusparse##kind##_updateMatrix(p h, p descr, p values, int part) { return heddleUpdateSolver(NAME, h, descr, values, part); }
SOLVER(SpSV)
SOLVER(SpSM)

int cusparseSpGEMM_workEstimation(p h, int opA, int opB, p alpha, p a, p b, p beta, p c, int compute, int algorithm, p descr, p size, p buffer) {
  return heddleSpGEMM(NAME, ESTIMATE, h, opA, opB, alpha, a, b, beta, c, compute, descr, size, buffer);
}
int cusparseSpGEMM_compute(p h, int opA, int opB, p alpha, p a, p b, p beta, p c, int compute, int algorithm, p descr, p size, p buffer) {
  return heddleSpGEMM(NAME, MULTIPLY, h, opA, opB, alpha, a, b, beta, c, compute, descr, size, buffer);
}
// It has two sizes, of which the first is that of the buffer that it takes.
int cusparseSpGEMM_estimateMemory(p h, int opA, int opB, p alpha, p a, p b, p beta, p c, int compute, int algorithm, p descr, float part, p size3, p buffer,
                                  p size2) {
  if (buffer) return heddleSpGEMM(NAME, ESTIMATE, h, opA, opB, alpha, a, b, beta, c, compute, descr, size2, 0);
  return heddleSpGEMM(NAME, ESTIMATE, h, opA, opB, alpha, a, b, beta, c, compute, descr, size3, 0);
}
int cusparseSpGEMM_copy(p h, int opA, int opB, p alpha, p a, p b, p beta, p c, int compute, int algorithm, p descr) {
  return heddleSpGEMM(NAME, STORE, h, opA, opB, alpha, a, b, beta, c, compute, descr, 0, 0);
}

// The functions that take arrays.
#define FIELD(name, which)                                                                    \
  int cusparseSetMat##name(p h, int to) { return heddleSparseSetField(h, which, to); }        \
  int cusparseGetMat##name(p h) { return heddleSparseField(h, which); }
FIELD(Type, 0)
FIELD(FillMode, 1)
FIELD(DiagType, 2)
FIELD(IndexBase, 3)

#define SORT(name, f)                                                                                                      \
  int cusparseX##name##sort_bufferSizeExt(p h, int m, int n, int nnz, p offsets, p indices, p size) { return heddleSparseSortSize(NAME, h, size); } \
  int cusparseX##name##sort(p h, int m, int n, int nnz, p descr, p offsets, p indices, p places, p buffer) {               \
    return heddleSparseSort(NAME, h, f, m, n, nnz, descr, offsets, indices, places);                                             \
  }
SORT(csr, CSR)
SORT(csc, CSC)
int cusparseXcoosort_bufferSizeExt(p h, int m, int n, int nnz, p rows, p columns, p size) { return heddleSparseSortSize(NAME, h, size); }

int cusparseCsr2cscEx2(p h, int m, int n, int nnz, p v, p offsets, p columns, p to, p toOffsets, p rows, int t, int action, int base, int algorithm,
                       p buffer) {
  return heddleSparseTranspose(NAME, h, t, m, n, nnz, v, offsets, columns, to, rows, toOffsets, action, base);
}

#define TYPE(c, t)                                                                                                         \
  int cusparse##c##nnz(p h, int direction, int m, int n, p descr, p a, int lda, p each, p all) {                           \
    return heddleSparseCount(NAME, h, t, direction, m, n, descr, a, lda, each, all);                                             \
  }                                                                                                                        \
  int cusparse##c##csrgeam2_bufferSizeExt(p h, int m, int n, p alpha, p da, int na, p va, p oa, p ca, p beta, p db, int nb, p vb, p ob, \
                                          p cb, p dc, p vc, p oc, p cc, p size) {                                          \
    return heddleSparseSortSize(NAME, h, size);                                                                                  \
  }                                                                                                                        \
  int cusparse##c##csrgeam2(p h, int m, int n, p alpha, p da, int na, p va, p oa, p ca, p beta, p db, int nb, p vb, p ob, p cb, p dc, \
                            p vc, p oc, p cc, p buffer) {                                                                  \
    return heddleSparseSum(NAME, h, t, m, n, alpha, da, na, va, oa, ca, beta, db, nb, vb, ob, cb, dc, vc, oc, cc);               \
  }                                                                                                                        \
  int cusparse##c##csrmv(p h, int op, int m, int n, int nnz, p alpha, p descr, p v, p offsets, p columns, p x, p beta, p y) { \
    const int rows = op ? m : n, to = op ? n : m;                                                                          \
    return heddleSparseOldProduct(NAME, h, t, op, 0, m, 1, n, nnz, alpha, descr, v, offsets, columns, x, rows > 1 ? rows : 1, beta, y, to > 1 ? to : 1); \
  }                                                                                                                        \
  int cusparse##c##csrmm2(p h, int opA, int opB, int m, int n, int k, int nnz, p alpha, p descr, p v, p offsets, p columns, p b, int ldb, \
                          p beta, p to, int ldc) {                                                                         \
    return heddleSparseOldProduct(NAME, h, t, opA, opB, m, n, k, nnz, alpha, descr, v, offsets, columns, b, ldb, beta, to, ldc); \
  }                                                                                                                        \
  int cusparse##c##csrmm(p h, int opA, int m, int n, int k, int nnz, p alpha, p descr, p v, p offsets, p columns, p b, int ldb, p beta, \
                         p to, int ldc) {                                                                                  \
    return cusparse##c##csrmm2(h, opA, 0, m, n, k, nnz, alpha, descr, v, offsets, columns, b, ldb, beta, to, ldc);         \
  }                                                                                                                        \
  int cusparse##c##csr2csc(p h, int m, int n, int nnz, p v, p offsets, p columns, p to, p rows, p toOffsets, int action, int base) { \
    return heddleSparseTranspose(NAME, h, t, m, n, nnz, v, offsets, columns, to, rows, toOffsets, action, base);              \
  }
#define INCOMPLETE(c, t, kind, which)                                                                                            \
  int cusparse##c##csr##kind##02_bufferSize(p h, int m, int nnz, p descr, p v, p offsets, p columns, p info, p size) {     \
    return heddleSparseFactor(NAME, h, t, which, SIZE, m, nnz, descr, v, offsets, columns, info, size, sizeof(int));             \
  }                                                                                                                        \
  int cusparse##c##csr##kind##02_bufferSizeExt(p h, int m, int nnz, p descr, p v, p offsets, p columns, p info, p size) {  \
    return heddleSparseFactor(NAME, h, t, which, SIZE, m, nnz, descr, v, offsets, columns, info, size, sizeof(size_t));          \
  }                                                                                                                        \
  int cusparse##c##csr##kind##02_analysis(p h, int m, int nnz, p descr, p v, p offsets, p columns, p info, int policy, p buffer) { \
    return heddleSparseFactor(NAME, h, t, which, PREPARE, m, nnz, descr, v, offsets, columns, info, 0, 0);                       \
  }                                                                                                                        \
  int cusparse##c##csr##kind##02(p h, int m, int nnz, p descr, p v, p offsets, p columns, p info, int policy, p buffer) {  \
    return heddleSparseFactor(NAME, h, t, which, EXECUTE, m, nnz, descr, v, offsets, columns, info, 0, 0);                       \
  }
#define FACTORS(kind, which)                                                                \
  int cusparseCreateCsr##kind##02Info(p to) { return heddleNewFactors(to); }                \
  int cusparseDestroyCsr##kind##02Info(p h) { return heddleFreeFactors(h); }                \
  int cusparseXcsr##kind##02_zeroPivot(p h, p info, p to) { return heddleZeroPivot(NAME, h, info, to); } \
  INCOMPLETE(S, F32, kind, which)                                                               \
  INCOMPLETE(D, F64, kind, which)                                                               \
  INCOMPLETE(C, C32, kind, which)                                                               \
  INCOMPLETE(Z, C64, kind, which)
FACTORS(ilu, 0)
FACTORS(ic, 1)

TYPE(S, F32)
TYPE(D, F64)
TYPE(C, C32)
TYPE(Z, C64)

// Not supported.
#define MISSING(name) \
  int name(void) { return heddleSparseMissing(NAME); }
MISSING(cusparseCreateBlockedEll)
MISSING(cusparseCreateConstBlockedEll)
MISSING(cusparseCreateBsr)
MISSING(cusparseCreateConstBsr)
MISSING(cusparseCreateSlicedEll)
MISSING(cusparseCreateConstSlicedEll)
MISSING(cusparseBlockedEllGet)
MISSING(cusparseConstBlockedEllGet)
MISSING(cusparseBsrSetStridedBatch)
MISSING(cusparseSpGEMMreuse_workEstimation)
MISSING(cusparseSpGEMMreuse_nnz)
MISSING(cusparseSpGEMMreuse_copy)
MISSING(cusparseSpGEMMreuse_compute)
MISSING(cusparseSpMMOp_createPlan)
MISSING(cusparseSpMMOp)
MISSING(cusparseSpMMOp_destroyPlan)
#define TYPES(name) MISSING(cusparseS##name) MISSING(cusparseD##name) MISSING(cusparseC##name) MISSING(cusparseZ##name)
TYPES(gtsv2_bufferSizeExt)
TYPES(gtsv2)
TYPES(gtsv2_nopivot_bufferSizeExt)
TYPES(gtsv2_nopivot)
TYPES(gtsv2StridedBatch_bufferSizeExt)
TYPES(gtsv2StridedBatch)
TYPES(gtsvInterleavedBatch_bufferSizeExt)
TYPES(gtsvInterleavedBatch)
TYPES(gpsvInterleavedBatch_bufferSizeExt)
TYPES(gpsvInterleavedBatch)
TYPES(csrilu02_numericBoost)
