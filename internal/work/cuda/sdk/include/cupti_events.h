// CUPTI: events, which are hardware counters. The functions return that they are not supported.
#ifndef HEDDLE_CUPTI_EVENTS_H
#define HEDDLE_CUPTI_EVENTS_H

#include <stddef.h>
#include <stdint.h>
#include "cuda.h"
#include "cupti_result.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef uint32_t CUpti_EventID;
typedef uint32_t CUpti_EventDomainID;
typedef void *CUpti_EventGroup;

typedef enum {
  CUPTI_DEVICE_ATTR_MAX_EVENT_ID = 1,
  CUPTI_DEVICE_ATTR_MAX_EVENT_DOMAIN_ID = 2,
  CUPTI_DEVICE_ATTR_GLOBAL_MEMORY_BANDWIDTH = 3,
  CUPTI_DEVICE_ATTR_INSTRUCTION_PER_CYCLE = 4,
  CUPTI_DEVICE_ATTR_INSTRUCTION_THROUGHPUT_SINGLE_PRECISION = 5,
  CUPTI_DEVICE_ATTR_MAX_FRAME_BUFFERS = 6,
  CUPTI_DEVICE_ATTR_PCIE_LINK_RATE = 7,
  CUPTI_DEVICE_ATTR_PCIE_LINK_WIDTH = 8,
  CUPTI_DEVICE_ATTR_PCIE_GEN = 9,
  CUPTI_DEVICE_ATTR_DEVICE_CLASS = 10,
  CUPTI_DEVICE_ATTR_FLOP_SP_PER_CYCLE = 11,
  CUPTI_DEVICE_ATTR_FLOP_DP_PER_CYCLE = 12,
  CUPTI_DEVICE_ATTR_MAX_L2_UNITS = 13,
  CUPTI_DEVICE_ATTR_MAX_SHARED_MEMORY_CACHE_CONFIG_PREFER_SHARED = 14,
  CUPTI_DEVICE_ATTR_MAX_SHARED_MEMORY_CACHE_CONFIG_PREFER_L1 = 15,
  CUPTI_DEVICE_ATTR_MAX_SHARED_MEMORY_CACHE_CONFIG_PREFER_EQUAL = 16,
  CUPTI_DEVICE_ATTR_FLOP_HP_PER_CYCLE = 17,
  CUPTI_DEVICE_ATTR_NVLINK_PRESENT = 18,
  CUPTI_DEVICE_ATTR_GPU_CPU_NVLINK_BW = 19,
  CUPTI_DEVICE_ATTR_NVSWITCH_PRESENT = 20,
  CUPTI_DEVICE_ATTR_FORCE_INT = 0x7fffffff
} CUpti_DeviceAttribute;

#ifndef HEDDLE_CUDA_TYPES_ONLY
CUptiResult cuptiDeviceGetAttribute(CUdevice device, CUpti_DeviceAttribute attrib, size_t *valueSize, void *value);
CUptiResult cuptiDeviceGetNumEventDomains(CUdevice device, uint32_t *numDomains);
CUptiResult cuptiGetNumEventDomains(uint32_t *numDomains);
CUptiResult cuptiEventGetIdFromName(CUdevice device, const char *eventName, CUpti_EventID *event);
CUptiResult cuptiEventGroupCreate(CUcontext context, CUpti_EventGroup *eventGroup, uint32_t flags);
CUptiResult cuptiEventGroupDestroy(CUpti_EventGroup eventGroup);
CUptiResult cuptiEventGroupAddEvent(CUpti_EventGroup eventGroup, CUpti_EventID event);
CUptiResult cuptiEventGroupEnable(CUpti_EventGroup eventGroup);
CUptiResult cuptiEventGroupDisable(CUpti_EventGroup eventGroup);
#endif

#ifdef __cplusplus
}
#endif

#endif
