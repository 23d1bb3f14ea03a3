// Functions of cuBLAS for vectors.
#include "_cgo_export.h"
#include "blas.h"

#define TWO(name, what, T, s, i) \
  int name##s(uintptr_t h, i n, uintptr_t x, i incx, uintptr_t y, i incy) CALL(what, .n = n, .a = {x, T, incx}, .c = {y, T, incy})
#define COPY(name, T, s, i) TWO(name##_v2, BLAS_COPY, T, s, i)
#define SWAP(name, T, s, i) TWO(name##_v2, BLAS_SWAP, T, s, i)
#define TWO_EX(name, what, s, i)                                                                     \
  int name##s(uintptr_t h, i n, uintptr_t x, int xt, i incx, uintptr_t y, int yt, i incy)            \
  CALL(what, .n = n, .a = {x, xt, incx}, .c = {y, yt, incy})
#define AXPY(name, T, s, i)                                                                          \
  int name##_v2##s(uintptr_t h, i n, uintptr_t alpha, uintptr_t x, i incx, uintptr_t y, i incy)      \
  CALL(BLAS_AXPY, .n = n, .alpha = alpha, .scalar = T, .a = {x, T, incx}, .c = {y, T, incy})
#define SCAL(name, A, T, s, i)                                                                       \
  int name##_v2##s(uintptr_t h, i n, uintptr_t alpha, uintptr_t x, i incx) CALL(BLAS_SCAL, .n = n, .alpha = alpha, .scalar = A, .c = {x, T, incx})
#define SUM(name, what, T, s, i)                                                                     \
  int name##_v2##s(uintptr_t h, i n, uintptr_t x, i incx, uintptr_t y, i incy, uintptr_t result)     \
  CALL(what, .n = n, .a = {x, T, incx}, .b = {y, T, incy}, .c = {result, T})
#define DOT(name, T, s, i) SUM(name, BLAS_DOT, T, s, i)
#define DOTC(name, T, s, i) SUM(name, BLAS_DOTC, T, s, i)
#define SUM_EX(name, what, s, i)                                                                     \
  int name##s(uintptr_t h, i n, uintptr_t x, int xt, i incx, uintptr_t y, int yt, i incy, uintptr_t result, int rt, int exec) \
  CALL(what, .n = n, .a = {x, xt, incx}, .b = {y, yt, incy}, .c = {result, rt})
#define NORM(name, what, T, R, s, i) \
  int name##_v2##s(uintptr_t h, i n, uintptr_t x, i incx, uintptr_t result) CALL(what, .n = n, .a = {x, T, incx}, .c = {result, R})
#define NORM_EX(name, what, s, i)                                                                    \
  int name##s(uintptr_t h, i n, uintptr_t x, int xt, i incx, uintptr_t result, int rt, int exec)     \
  CALL(what, .n = n, .a = {x, xt, incx}, .c = {result, rt})
// The size of an index is the stride.
#define INDEX(name, what, T, s, i) \
  int name##_v2##s(uintptr_t h, i n, uintptr_t x, i incx, uintptr_t result) CALL(what, .n = n, .a = {x, T, incx}, .c = {result, .stride = sizeof(i)})
#define INDEX_EX(name, what, s, i)                                                                   \
  int name##s(uintptr_t h, i n, uintptr_t x, int xt, i incx, uintptr_t result)                       \
  CALL(what, .n = n, .a = {x, xt, incx}, .c = {result, .stride = sizeof(i)})
#define ROT(name, T, S, s, i)                                                                        \
  int name##_v2##s(uintptr_t h, i n, uintptr_t x, i incx, uintptr_t y, i incy, uintptr_t c, uintptr_t sn) \
  CALL(BLAS_ROT, .n = n, .alpha = c, .beta = sn, .scalar = S, .a = {x, T, incx}, .c = {y, T, incy})
#define ROTM(name, T, s, i)                                                                          \
  int name##_v2##s(uintptr_t h, i n, uintptr_t x, i incx, uintptr_t y, i incy, uintptr_t param)      \
  CALL(BLAS_ROTM, .n = n, .alpha = param, .scalar = T, .a = {x, T, incx}, .c = {y, T, incy})
#define FUNCTIONS(s, i)                                                                              \
  SDCZ(COPY, copy, s, i)                                                                             \
  SDCZ(SWAP, swap, s, i)                                                                             \
  TWO_EX(cublasCopyEx, BLAS_COPY, s, i)                                                              \
  TWO_EX(cublasSwapEx, BLAS_SWAP, s, i)                                                              \
  SDCZ(AXPY, axpy, s, i)                                                                             \
  int cublasAxpyEx##s(uintptr_t h, i n, uintptr_t alpha, int at, uintptr_t x, int xt, i incx, uintptr_t y, int yt, i incy, int exec) \
  CALL(BLAS_AXPY, .n = n, .alpha = alpha, .scalar = at, .a = {x, xt, incx}, .c = {y, yt, incy})      \
  SCAL(cublasSscal, F32, F32, s, i)                                                                  \
  SCAL(cublasDscal, F64, F64, s, i)                                                                  \
  SCAL(cublasCscal, C32, C32, s, i)                                                                  \
  SCAL(cublasZscal, C64, C64, s, i)                                                                  \
  SCAL(cublasCsscal, F32, C32, s, i)                                                                 \
  SCAL(cublasZdscal, F64, C64, s, i)                                                                 \
  int cublasScalEx##s(uintptr_t h, i n, uintptr_t alpha, int at, uintptr_t x, int xt, i incx, int exec) \
  CALL(BLAS_SCAL, .n = n, .alpha = alpha, .scalar = at, .c = {x, xt, incx})                          \
  SD(DOT, dot, s, i)                                                                                 \
  CZ(DOT, dotu, s, i)                                                                                \
  CZ(DOTC, dotc, s, i)                                                                               \
  SUM_EX(cublasDotEx, BLAS_DOT, s, i)                                                                \
  SUM_EX(cublasDotcEx, BLAS_DOTC, s, i)                                                              \
  NORM(cublasSnrm2, BLAS_NRM2, F32, F32, s, i)                                                       \
  NORM(cublasDnrm2, BLAS_NRM2, F64, F64, s, i)                                                       \
  NORM(cublasScnrm2, BLAS_NRM2, C32, F32, s, i)                                                      \
  NORM(cublasDznrm2, BLAS_NRM2, C64, F64, s, i)                                                      \
  NORM_EX(cublasNrm2Ex, BLAS_NRM2, s, i)                                                             \
  NORM(cublasSasum, BLAS_ASUM, F32, F32, s, i)                                                       \
  NORM(cublasDasum, BLAS_ASUM, F64, F64, s, i)                                                       \
  NORM(cublasScasum, BLAS_ASUM, C32, F32, s, i)                                                      \
  NORM(cublasDzasum, BLAS_ASUM, C64, F64, s, i)                                                      \
  NORM_EX(cublasAsumEx, BLAS_ASUM, s, i)                                                             \
  INDEX(cublasIsamax, BLAS_AMAX, F32, s, i)                                                          \
  INDEX(cublasIdamax, BLAS_AMAX, F64, s, i)                                                          \
  INDEX(cublasIcamax, BLAS_AMAX, C32, s, i)                                                          \
  INDEX(cublasIzamax, BLAS_AMAX, C64, s, i)                                                          \
  INDEX_EX(cublasIamaxEx, BLAS_AMAX, s, i)                                                           \
  INDEX(cublasIsamin, BLAS_AMIN, F32, s, i)                                                          \
  INDEX(cublasIdamin, BLAS_AMIN, F64, s, i)                                                          \
  INDEX(cublasIcamin, BLAS_AMIN, C32, s, i)                                                          \
  INDEX(cublasIzamin, BLAS_AMIN, C64, s, i)                                                          \
  INDEX_EX(cublasIaminEx, BLAS_AMIN, s, i)                                                           \
  ROT(cublasSrot, F32, F32, s, i)                                                                    \
  ROT(cublasDrot, F64, F64, s, i)                                                                    \
  ROT(cublasCrot, C32, C32, s, i)                                                                    \
  ROT(cublasCsrot, C32, F32, s, i)                                                                   \
  ROT(cublasZrot, C64, C64, s, i)                                                                    \
  ROT(cublasZdrot, C64, F64, s, i)                                                                   \
  int cublasRotEx##s(uintptr_t h, i n, uintptr_t x, int xt, i incx, uintptr_t y, int yt, i incy, uintptr_t c, uintptr_t sn, int ct, int exec) \
  CALL(BLAS_ROT, .n = n, .alpha = c, .beta = sn, .scalar = ct, .a = {x, xt, incx}, .c = {y, yt, incy}) \
  SD(ROTM, rotm, s, i)                                                                               \
  int cublasRotmEx##s(uintptr_t h, i n, uintptr_t x, int xt, i incx, uintptr_t y, int yt, i incy, uintptr_t param, int pt, int exec) \
  CALL(BLAS_ROTM, .n = n, .alpha = param, .scalar = pt, .a = {x, xt, incx}, .c = {y, yt, incy})
SIZES(FUNCTIONS)

#define ROTG(name, T, _, __)                                                                         \
  int name##_v2(uintptr_t h, uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t sn)                    \
  CALL(BLAS_ROTG, .a = {a, T}, .b = {b, T}, .alpha = c, .beta = sn, .scalar = T)
#define ROTMG(name, T, _, __)                                                                        \
  int name##_v2(uintptr_t h, uintptr_t d1, uintptr_t d2, uintptr_t x1, uintptr_t y1, uintptr_t param) \
  CALL(BLAS_ROTMG, .a = {d1, T}, .b = {d2, T}, .c = {x1, T}, .beta = y1, .alpha = param, .scalar = T)
SDCZ(ROTG, rotg, , )
SD(ROTMG, rotmg, , )
int cublasRotgEx(uintptr_t h, uintptr_t a, uintptr_t b, int t, uintptr_t c, uintptr_t sn, int ct, int exec)
CALL(BLAS_ROTG, .a = {a, t}, .b = {b, t}, .alpha = c, .beta = sn, .scalar = ct)
int cublasRotmgEx(uintptr_t h, uintptr_t d1, int t1, uintptr_t d2, int t2, uintptr_t x1, int t3, uintptr_t y1, int t4, uintptr_t param, int t5, int exec)
CALL(BLAS_ROTMG, .a = {d1, t1}, .b = {d2, t2}, .c = {x1, t3}, .beta = y1, .alpha = param, .scalar = t4 == t5 ? t5 : -1)
