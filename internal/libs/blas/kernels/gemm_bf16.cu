// targets: 52
#include "gemm.cuh"
GEMM(gemm_bf16_bf16_128x128, __nv_bfloat16, __nv_bfloat16, float, 256, 128, 128, 8, 8, 8)
GEMM(gemm_bf16_bf16_32x32, __nv_bfloat16, __nv_bfloat16, float, 64, 32, 32, 16, 4, 4)
GEMM(gemm_bf16_f32_128x128, __nv_bfloat16, float, float, 256, 128, 128, 8, 8, 8)
GEMM(gemm_bf16_f32_32x32, __nv_bfloat16, float, float, 64, 32, 32, 16, 4, 4)
TOTAL(gemm_bf16_bf16, __nv_bfloat16, __nv_bfloat16, float)
TOTAL(gemm_bf16_f32, __nv_bfloat16, float, float)
