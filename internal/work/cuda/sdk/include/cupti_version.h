// CUPTI: its version. 28 is that of CUDA 12.9 Update 1.
#ifndef HEDDLE_CUPTI_VERSION_H
#define HEDDLE_CUPTI_VERSION_H

#include <stdint.h>
#include "cupti_result.h"

#define CUPTI_API_VERSION 28

#ifdef __cplusplus
extern "C" {
#endif

#ifndef HEDDLE_CUDA_TYPES_ONLY
CUptiResult cuptiGetVersion(uint32_t *version);
#endif

#ifdef __cplusplus
}
#endif

#endif
