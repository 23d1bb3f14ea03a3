// targets: 52
#include "matvec.cuh"
GEMV(__nv_bfloat16, __nv_bfloat16, float, bf16_bf16)
GEMV(__nv_bfloat16, float, float, bf16_f32)
