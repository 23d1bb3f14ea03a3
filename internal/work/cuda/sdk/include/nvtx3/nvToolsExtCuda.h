// NVTX 3: names of the driver's objects.
#ifndef HEDDLE_NVTX_CUDA_H
#define HEDDLE_NVTX_CUDA_H

#include "../cuda.h"
#include "nvToolsExt.h"

HEDDLE_NVTX_VOID(nvtxNameCuDeviceA, (int device, const char *name), (device, name))
HEDDLE_NVTX_VOID(nvtxNameCuDeviceW, (int device, const wchar_t *name), (device, name))
HEDDLE_NVTX_VOID(nvtxNameCuContextA, (CUcontext context, const char *name), (context, name))
HEDDLE_NVTX_VOID(nvtxNameCuContextW, (CUcontext context, const wchar_t *name), (context, name))
HEDDLE_NVTX_VOID(nvtxNameCuStreamA, (CUstream stream, const char *name), (stream, name))
HEDDLE_NVTX_VOID(nvtxNameCuStreamW, (CUstream stream, const wchar_t *name), (stream, name))
HEDDLE_NVTX_VOID(nvtxNameCuEventA, (CUevent event, const char *name), (event, name))
HEDDLE_NVTX_VOID(nvtxNameCuEventW, (CUevent event, const wchar_t *name), (event, name))

#endif
