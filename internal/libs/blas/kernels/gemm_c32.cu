// targets: 52
#include "gemm.cuh"
GEMM(gemm_c32_c32_64x64, complex32, complex32, complex32, 256, 64, 64, 8, 4, 4)
GEMM(gemm_c32_c32_32x32, complex32, complex32, complex32, 256, 32, 32, 8, 2, 2)
TOTAL(gemm_c32_c32, complex32, complex32, complex32)
