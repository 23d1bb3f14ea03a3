// NVTX 3: what an allocator of the program says of the memory that it shares out.
#ifndef HEDDLE_NVTX_MEM_H
#define HEDDLE_NVTX_MEM_H

#include "../nvtx_memory.h"
#include "nvToolsExt.h"

HEDDLE_NVTX(nvtxMemHeapHandle_t, nvtxMemHeapRegister, (nvtxDomainHandle_t domain, const nvtxMemHeapDesc_t *desc), (domain, desc), NULL)
HEDDLE_NVTX_VOID(nvtxMemHeapUnregister, (nvtxDomainHandle_t domain, nvtxMemHeapHandle_t heap), (domain, heap))
HEDDLE_NVTX_VOID(nvtxMemHeapReset, (nvtxDomainHandle_t domain, nvtxMemHeapHandle_t heap), (domain, heap))
HEDDLE_NVTX_VOID(nvtxMemRegionsRegister, (nvtxDomainHandle_t domain, const nvtxMemRegionsRegisterBatch_t *desc), (domain, desc))
HEDDLE_NVTX_VOID(nvtxMemRegionsResize, (nvtxDomainHandle_t domain, const nvtxMemRegionsResizeBatch_t *desc), (domain, desc))
HEDDLE_NVTX_VOID(nvtxMemRegionsUnregister, (nvtxDomainHandle_t domain, const nvtxMemRegionsUnregisterBatch_t *desc), (domain, desc))
// Permissions have no effect.
HEDDLE_NVTX_VOID(nvtxMemPermissionsAssign, (nvtxDomainHandle_t domain, const nvtxMemPermissionsAssignBatch_t *desc), (domain, desc))

#endif
