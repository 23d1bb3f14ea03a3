// CUPTI: structs with the parameters of the calls that it reports.
#ifndef HEDDLE_CUPTI_CUDA_META_H
#define HEDDLE_CUPTI_CUDA_META_H

#include "cuda.h"
#include "heddle_cupti_parameters.h"

#define DRIVER(name, kernel, n, parameters) typedef struct name##_params_st { HEDDLE_FIELDS_##n parameters } name##_params;
#define RUNTIME(name, version, kernel, n, parameters)
#include "heddle_cupti_calls.h"
#undef RUNTIME
#undef DRIVER

#endif
