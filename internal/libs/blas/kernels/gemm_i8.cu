// targets: 52
#include "gemm.cuh"
GEMM(gemm_i8_i32_64x64, int8_t, int, int, 256, 64, 64, 8, 4, 4)
GEMM(gemm_i8_i32_32x32, int8_t, int, int, 256, 32, 32, 8, 2, 2)
GEMM(gemm_i8_f32_64x64, int8_t, float, float, 256, 64, 64, 8, 4, 4)
GEMM(gemm_i8_f32_32x32, int8_t, float, float, 256, 32, 32, 8, 2, 2)
TOTAL(gemm_i8_i32, int8_t, int, int)
TOTAL(gemm_i8_f32, int8_t, float, float)
