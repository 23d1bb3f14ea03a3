// CUPTI: the numbers of calls of the CUDA driver.
#ifndef HEDDLE_CUPTI_DRIVER_CBID_H
#define HEDDLE_CUPTI_DRIVER_CBID_H


typedef enum CUpti_driver_api_trace_cbid_enum {
  CUPTI_DRIVER_TRACE_CBID_INVALID = 0,
#define X(name) CUPTI_DRIVER_TRACE_CBID_##name,
#include "heddle_cupti_driver.h"
#undef X
  CUPTI_DRIVER_TRACE_CBID_SIZE,
  CUPTI_DRIVER_TRACE_CBID_FORCE_INT = 0x7fffffff
} CUpti_driver_api_trace_cbid;

#endif
