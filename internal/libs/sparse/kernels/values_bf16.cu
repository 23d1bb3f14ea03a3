// targets: 52
#include "values.cuh"
PRODUCTS(__nv_bfloat16, __nv_bfloat16, float, bf16_bf16)
PRODUCTS(__nv_bfloat16, float, float, bf16_f32)
VECTORS(__nv_bfloat16, float, bf16)
