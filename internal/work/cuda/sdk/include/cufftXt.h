// cuFFT: plans by element types, and callbacks, which are refused.
#ifndef HEDDLE_CUFFTXT_H
#define HEDDLE_CUFFTXT_H

#include "cufft.h"

typedef enum cufftXtWorkAreaPolicy_t { CUFFT_WORKAREA_MINIMAL = 0, CUFFT_WORKAREA_USER = 1, CUFFT_WORKAREA_PERFORMANCE = 2 } cufftXtWorkAreaPolicy;
typedef enum cufftXtCallbackType_t {
  CUFFT_CB_LD_COMPLEX = 0, CUFFT_CB_LD_COMPLEX_DOUBLE = 1, CUFFT_CB_LD_REAL = 2, CUFFT_CB_LD_REAL_DOUBLE = 3, CUFFT_CB_ST_COMPLEX = 4,
  CUFFT_CB_ST_COMPLEX_DOUBLE = 5, CUFFT_CB_ST_REAL = 6, CUFFT_CB_ST_REAL_DOUBLE = 7, CUFFT_CB_UNDEFINED = 8
} cufftXtCallbackType;
typedef cufftComplex (*cufftCallbackLoadC)(void *from, size_t offset, void *info, void *shared);
typedef cufftDoubleComplex (*cufftCallbackLoadZ)(void *from, size_t offset, void *info, void *shared);
typedef cufftReal (*cufftCallbackLoadR)(void *from, size_t offset, void *info, void *shared);
typedef cufftDoubleReal (*cufftCallbackLoadD)(void *from, size_t offset, void *info, void *shared);
typedef void (*cufftCallbackStoreC)(void *to, size_t offset, cufftComplex element, void *info, void *shared);
typedef void (*cufftCallbackStoreZ)(void *to, size_t offset, cufftDoubleComplex element, void *info, void *shared);
typedef void (*cufftCallbackStoreR)(void *to, size_t offset, cufftReal element, void *info, void *shared);
typedef void (*cufftCallbackStoreD)(void *to, size_t offset, cufftDoubleReal element, void *info, void *shared);

#ifdef __cplusplus
extern "C" {
#endif

cufftResult CUFFTAPI cufftXtMakePlanMany(cufftHandle plan, int rank, long long *n, long long *inembed, long long istride, long long idist,
                                         cudaDataType from, long long *onembed, long long ostride, long long odist, cudaDataType to,
                                         long long batch, size_t *size, cudaDataType execution);
cufftResult CUFFTAPI cufftXtGetSizeMany(cufftHandle plan, int rank, long long *n, long long *inembed, long long istride, long long idist,
                                        cudaDataType from, long long *onembed, long long ostride, long long odist, cudaDataType to,
                                        long long batch, size_t *size, cudaDataType execution);
cufftResult CUFFTAPI cufftXtExec(cufftHandle plan, void *from, void *to, int direction);
cufftResult CUFFTAPI cufftXtSetWorkAreaPolicy(cufftHandle plan, cufftXtWorkAreaPolicy policy, size_t *size);
cufftResult CUFFTAPI cufftXtSetCallback(cufftHandle plan, void **functions, cufftXtCallbackType type, void **info);
cufftResult CUFFTAPI cufftXtClearCallback(cufftHandle plan, cufftXtCallbackType type);
cufftResult CUFFTAPI cufftXtSetCallbackSharedSize(cufftHandle plan, cufftXtCallbackType type, size_t size);
cufftResult CUFFTAPI cufftXtSetGPUs(cufftHandle plan, int count, int *gpus);

#ifdef __cplusplus
}
#endif

#endif
