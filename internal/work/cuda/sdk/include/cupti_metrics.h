// CUPTI: metrics, which are computed from events. The functions return that they are not supported.
#ifndef HEDDLE_CUPTI_METRICS_H
#define HEDDLE_CUPTI_METRICS_H

#include <stddef.h>
#include <stdint.h>
#include "cuda.h"
#include "cupti_result.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef uint32_t CUpti_MetricID;
typedef enum {
  CUPTI_METRIC_VALUE_KIND_DOUBLE = 0,
  CUPTI_METRIC_VALUE_KIND_UINT64 = 1,
  CUPTI_METRIC_VALUE_KIND_PERCENT = 2,
  CUPTI_METRIC_VALUE_KIND_THROUGHPUT = 3,
  CUPTI_METRIC_VALUE_KIND_INT64 = 4,
  CUPTI_METRIC_VALUE_KIND_UTILIZATION_LEVEL = 5,
  CUPTI_METRIC_VALUE_KIND_NVTX_EXTENDED_PAYLOAD = 6,
  CUPTI_METRIC_VALUE_KIND_FORCE_INT = 0x7fffffff
} CUpti_MetricValueKind;

typedef union {
  double metricValueDouble;
  uint64_t metricValueUint64;
  int64_t metricValueInt64;
  double metricValuePercent;
  uint64_t metricValueThroughput;
} CUpti_MetricValue;

#ifndef HEDDLE_CUDA_TYPES_ONLY
CUptiResult cuptiGetNumMetrics(uint32_t *numMetrics);
CUptiResult cuptiDeviceGetNumMetrics(CUdevice device, uint32_t *numMetrics);
CUptiResult cuptiMetricGetIdFromName(CUdevice device, const char *metricName, CUpti_MetricID *metric);
#endif

#ifdef __cplusplus
}
#endif

#endif
