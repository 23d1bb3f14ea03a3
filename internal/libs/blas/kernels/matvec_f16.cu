// targets: 52
#include "matvec.cuh"
GEMV(__half, __half, float, f16_f16)
GEMV(__half, float, float, f16_f32)
