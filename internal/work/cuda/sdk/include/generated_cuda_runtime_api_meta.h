// CUPTI: structs with the parameters of the calls that it reports.
#ifndef HEDDLE_CUPTI_RUNTIME_META_H
#define HEDDLE_CUPTI_RUNTIME_META_H

#include "cuda_runtime_api.h"
#include "heddle_cupti_parameters.h"

#define RUNTIME(name, version, kernel, n, parameters) typedef struct name##_##version##_params_st { HEDDLE_FIELDS_##n parameters } name##_##version##_params;
#define DRIVER(name, kernel, n, parameters)
#include "heddle_cupti_calls.h"
#undef RUNTIME
#undef DRIVER

#endif
