// The types of NVTX's annotations of memory: heaps that an allocator of the program shares out, and
// the regions that it gives out of them.
#ifndef HEDDLE_NVTX_MEMORY_H
#define HEDDLE_NVTX_MEMORY_H

#include "nvtx_types.h"

#define NVTX_EXT_MODULEID_MEM 1
#define NVTX_EXT_COMPATID_MEM 0x0102

typedef struct nvtxMemHeap_v1 *nvtxMemHeapHandle_t;
typedef struct nvtxMemRegion_v1 *nvtxMemRegionHandle_t;
typedef struct nvtxMemPermissions_v1 *nvtxMemPermissionsHandle_t;

#define NVTX_MEM_HEAP_HANDLE_NO_TOOL ((nvtxMemHeapHandle_t)(intptr_t)-1)
#define NVTX_MEM_HEAP_HANDLE_PROCESS_WIDE ((nvtxMemHeapHandle_t)0)
#define NVTX_MEM_PERMISSIONS_HANDLE_PROCESS_WIDE ((nvtxMemPermissionsHandle_t)0)

enum { NVTX_MEM_HEAP_USAGE_TYPE_SUB_ALLOCATOR = 1, NVTX_MEM_HEAP_USAGE_TYPE_LAYOUT = 2 };
enum { NVTX_MEM_TYPE_VIRTUAL_ADDRESS = 1 };
enum { NVTX_MEM_REGION_REF_TYPE_UNKNOWN = 0, NVTX_MEM_REGION_REF_TYPE_POINTER = 1, NVTX_MEM_REGION_REF_TYPE_HANDLE = 2 };
enum {
  NVTX_MEM_PERMISSIONS_REGION_FLAGS_NONE = 0,
  NVTX_MEM_PERMISSIONS_REGION_FLAGS_READ = 1,
  NVTX_MEM_PERMISSIONS_REGION_FLAGS_WRITE = 2,
  NVTX_MEM_PERMISSIONS_REGION_FLAGS_ATOMIC = 4,
  NVTX_MEM_PERMISSIONS_REGION_FLAGS_RESET = 8
};

typedef union nvtxMemRegionRef_t {
  const void *pointer;
  nvtxMemRegionHandle_t handle;
} nvtxMemRegionRef_t;

typedef struct nvtxMemVirtualRangeDesc_v1 {
  size_t size;
  const void *ptr;
} nvtxMemVirtualRangeDesc_t;

typedef struct nvtxMemHeapDesc_v1 {
  uint16_t extCompatID, structSize;
  uint32_t reserved0, usage, type;
  size_t typeSpecificDescSize;
  const void *typeSpecificDesc;
  uint32_t category, messageType;
  nvtxMessageValue_t message;
} nvtxMemHeapDesc_t;

typedef struct nvtxMemRegionsRegisterBatch_v1 {
  uint16_t extCompatID, structSize;
  uint32_t regionType;
  nvtxMemHeapHandle_t heap;
  size_t regionCount, regionDescElementSize;
  const void *regionDescElements;
  nvtxMemRegionHandle_t *regionHandleElementsOut;
} nvtxMemRegionsRegisterBatch_t;

typedef struct nvtxMemRegionsResizeBatch_v1 {
  uint16_t extCompatID, structSize;
  uint32_t regionType;
  size_t regionDescCount, regionDescElementSize;
  const void *regionDescElements;
} nvtxMemRegionsResizeBatch_t;

typedef struct nvtxMemRegionsUnregisterBatch_v1 {
  uint16_t extCompatID, structSize;
  uint32_t refType;
  size_t refCount, refElementSize;
  const nvtxMemRegionRef_t *refElements;
} nvtxMemRegionsUnregisterBatch_t;

typedef struct nvtxMemPermissionsAssignRegionDesc_v1 {
  uint32_t flags, regionRefType;
  nvtxMemRegionRef_t region;
} nvtxMemPermissionsAssignRegionDesc_t;

typedef struct nvtxMemPermissionsAssignBatch_v1 {
  uint16_t extCompatID, structSize;
  uint32_t reserved0;
  nvtxMemPermissionsHandle_t permissions;
  size_t regionCount, regionElementSize;
  const nvtxMemPermissionsAssignRegionDesc_t *regionElements;
  size_t reserved1;
} nvtxMemPermissionsAssignBatch_t;

#endif
