// NVTX 3: names of the runtime's streams and other objects.
#ifndef HEDDLE_NVTX_CUDART_H
#define HEDDLE_NVTX_CUDART_H

#include "../driver_types.h"
#include "nvToolsExt.h"

HEDDLE_NVTX_VOID(nvtxNameCudaDeviceA, (int device, const char *name), (device, name))
HEDDLE_NVTX_VOID(nvtxNameCudaDeviceW, (int device, const wchar_t *name), (device, name))
HEDDLE_NVTX_VOID(nvtxNameCudaStreamA, (cudaStream_t stream, const char *name), (stream, name))
HEDDLE_NVTX_VOID(nvtxNameCudaStreamW, (cudaStream_t stream, const wchar_t *name), (stream, name))
HEDDLE_NVTX_VOID(nvtxNameCudaEventA, (cudaEvent_t event, const char *name), (event, name))
HEDDLE_NVTX_VOID(nvtxNameCudaEventW, (cudaEvent_t event, const wchar_t *name), (event, name))

#endif
