// targets: 52
#include "gemm.cuh"
GEMM(gemm_f32_f32_128x128, float, float, float, 256, 128, 128, 8, 8, 8)
GEMM(gemm_f32_f32_64x64, float, float, float, 128, 64, 64, 8, 8, 4)
GEMM(gemm_f32_f32_32x32, float, float, float, 64, 32, 32, 16, 4, 4)
TOTAL(gemm_f32_f32, float, float, float)
