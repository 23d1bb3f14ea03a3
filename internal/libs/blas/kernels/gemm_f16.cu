// targets: 52
#include "gemm.cuh"
GEMM(gemm_f16_f16_128x128, __half, __half, float, 256, 128, 128, 8, 8, 8)
GEMM(gemm_f16_f16_32x32, __half, __half, float, 64, 32, 32, 16, 4, 4)
GEMM(gemm_f16_f32_128x128, __half, float, float, 256, 128, 128, 8, 8, 8)
GEMM(gemm_f16_f32_32x32, __half, float, float, 64, 32, 32, 16, 4, 4)
TOTAL(gemm_f16_f16, __half, __half, float)
TOTAL(gemm_f16_f32, __half, float, float)
