// CUPTI: the numbers of calls of the CUDA runtime.
#ifndef HEDDLE_CUPTI_RUNTIME_CBID_H
#define HEDDLE_CUPTI_RUNTIME_CBID_H


typedef enum CUpti_runtime_api_trace_cbid_enum {
  CUPTI_RUNTIME_TRACE_CBID_INVALID = 0,
#define X(name) CUPTI_RUNTIME_TRACE_CBID_##name,
#include "heddle_cupti_runtime.h"
#undef X
  CUPTI_RUNTIME_TRACE_CBID_SIZE,
  CUPTI_RUNTIME_TRACE_CBID_FORCE_INT = 0x7fffffff
} CUpti_runtime_api_trace_cbid;

#endif
