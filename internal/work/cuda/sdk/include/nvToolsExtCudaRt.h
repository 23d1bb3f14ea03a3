// NVTX 1 and 2: names of the runtime's streams and other objects.
#ifndef HEDDLE_NVTX_CUDART_H
#define HEDDLE_NVTX_CUDART_H

#include "driver_types.h"
#include "nvToolsExt.h"

#ifdef __cplusplus
extern "C" {
#endif

void nvtxNameCudaDeviceA(int device, const char *name);
void nvtxNameCudaDeviceW(int device, const wchar_t *name);
void nvtxNameCudaStreamA(cudaStream_t stream, const char *name);
void nvtxNameCudaStreamW(cudaStream_t stream, const wchar_t *name);
void nvtxNameCudaEventA(cudaEvent_t event, const char *name);
void nvtxNameCudaEventW(cudaEvent_t event, const wchar_t *name);

#ifdef __cplusplus
}
#endif

#endif
