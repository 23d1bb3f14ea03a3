// targets: 52
#include "values.cuh"
PRODUCTS(__half, __half, float, f16_f16)
PRODUCTS(__half, float, float, f16_f32)
VECTORS(__half, float, f16)
