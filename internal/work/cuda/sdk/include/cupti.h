// CUPTI: what profilers see of a CUDA program.
#ifndef HEDDLE_CUPTI_H
#define HEDDLE_CUPTI_H

#include "cuda.h"
#include "cuda_runtime_api.h"
#include "cupti_result.h"
#include "cupti_version.h"
#include "cupti_activity.h"
#include "cupti_callbacks.h"
#include "cupti_events.h"
#include "cupti_metrics.h"
#include "cupti_driver_cbid.h"
#include "cupti_runtime_cbid.h"
#include "generated_cuda_runtime_api_meta.h"
#include "generated_cuda_meta.h"

#endif
