// NVTX 1 and 2: names of the driver's objects.
#ifndef HEDDLE_NVTX_CUDA_H
#define HEDDLE_NVTX_CUDA_H

#include "cuda.h"
#include "nvToolsExt.h"

#ifdef __cplusplus
extern "C" {
#endif

void nvtxNameCuDeviceA(int device, const char *name);
void nvtxNameCuDeviceW(int device, const wchar_t *name);
void nvtxNameCuContextA(CUcontext context, const char *name);
void nvtxNameCuContextW(CUcontext context, const wchar_t *name);
void nvtxNameCuStreamA(CUstream stream, const char *name);
void nvtxNameCuStreamW(CUstream stream, const wchar_t *name);
void nvtxNameCuEventA(CUevent event, const char *name);
void nvtxNameCuEventW(CUevent event, const wchar_t *name);

#ifdef __cplusplus
}
#endif

#endif
