// The functions of pipelines are in cuda_pipeline.h.
#include "cuda_pipeline.h"
