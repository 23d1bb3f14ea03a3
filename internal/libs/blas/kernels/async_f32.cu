// targets: 80
#include "async.cuh"
ASYNC(async_f32)
TOTAL(async_f32_f32, float, float, float)
