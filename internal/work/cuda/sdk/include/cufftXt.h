// cuFFT: plans by element types; callbacks and several GPUs, which are refused.
#ifndef _CUFFTXT_H_
#define _CUFFTXT_H_

#include "cufft.h"

// Memory of several GPUs.
#define MAX_CUDA_DESCRIPTOR_GPUS 64
typedef enum libFormat_t { LIB_FORMAT_CUFFT = 0, LIB_FORMAT_UNDEFINED = 1 } libFormat;
typedef struct cudaXtDesc_t {
  int version, nGPUs, GPUs[MAX_CUDA_DESCRIPTOR_GPUS];
  void *data[MAX_CUDA_DESCRIPTOR_GPUS];
  size_t size[MAX_CUDA_DESCRIPTOR_GPUS];
  void *cudaXtState;
} cudaXtDesc;
typedef struct cudaLibXtDesc_t {
  int version;
  cudaXtDesc *descriptor;
  libFormat library;
  int subFormat;
  void *libDescriptor;
} cudaLibXtDesc;
typedef enum cufftXtSubFormat_t {
  CUFFT_XT_FORMAT_INPUT = 0, CUFFT_XT_FORMAT_OUTPUT = 1, CUFFT_XT_FORMAT_INPLACE = 2, CUFFT_XT_FORMAT_INPLACE_SHUFFLED = 3,
  CUFFT_XT_FORMAT_1D_INPUT_SHUFFLED = 4, CUFFT_XT_FORMAT_DISTRIBUTED_INPUT = 5, CUFFT_XT_FORMAT_DISTRIBUTED_OUTPUT = 6,
  CUFFT_FORMAT_UNDEFINED = 7
} cufftXtSubFormat;
typedef enum cufftXtCopyType_t {
  CUFFT_COPY_HOST_TO_DEVICE = 0, CUFFT_COPY_DEVICE_TO_HOST = 1, CUFFT_COPY_DEVICE_TO_DEVICE = 2, CUFFT_COPY_UNDEFINED = 3
} cufftXtCopyType;
typedef enum cufftXtQueryType_t { CUFFT_QUERY_1D_FACTORS = 0, CUFFT_QUERY_UNDEFINED = 1 } cufftXtQueryType;

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
cufftResult CUFFTAPI cufftXtMalloc(cufftHandle plan, cudaLibXtDesc **memory, cufftXtSubFormat format);
cufftResult CUFFTAPI cufftXtMemcpy(cufftHandle plan, void *to, void *from, cufftXtCopyType type);
cufftResult CUFFTAPI cufftXtFree(cudaLibXtDesc *memory);
cufftResult CUFFTAPI cufftXtExecDescriptorC2C(cufftHandle plan, cudaLibXtDesc *from, cudaLibXtDesc *to, int direction);
cufftResult CUFFTAPI cufftXtExecDescriptorZ2Z(cufftHandle plan, cudaLibXtDesc *from, cudaLibXtDesc *to, int direction);
cufftResult CUFFTAPI cufftXtExecDescriptorR2C(cufftHandle plan, cudaLibXtDesc *from, cudaLibXtDesc *to);
cufftResult CUFFTAPI cufftXtExecDescriptorC2R(cufftHandle plan, cudaLibXtDesc *from, cudaLibXtDesc *to);
cufftResult CUFFTAPI cufftXtExecDescriptorD2Z(cufftHandle plan, cudaLibXtDesc *from, cudaLibXtDesc *to);
cufftResult CUFFTAPI cufftXtExecDescriptorZ2D(cufftHandle plan, cudaLibXtDesc *from, cudaLibXtDesc *to);
cufftResult CUFFTAPI cufftXtExecDescriptor(cufftHandle plan, cudaLibXtDesc *from, cudaLibXtDesc *to, int direction);
cufftResult CUFFTAPI cufftXtQueryPlan(cufftHandle plan, void *query, cufftXtQueryType type);
cufftResult CUFFTAPI cufftXtSetWorkArea(cufftHandle plan, void **areas);
cufftResult CUFFTAPI cufftXtSetJITCallback(cufftHandle plan, const char *name, const void *code, size_t size, cufftXtCallbackType type, void
    **info);

#ifdef __cplusplus
}
#endif

#endif
