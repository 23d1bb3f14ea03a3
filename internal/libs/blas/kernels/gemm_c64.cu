// targets: 52
#include "gemm.cuh"
GEMM(gemm_c64_c64_64x64, complex64, complex64, complex64, 256, 64, 64, 8, 4, 4)
GEMM(gemm_c64_c64_32x32, complex64, complex64, complex64, 256, 32, 32, 8, 2, 2)
TOTAL(gemm_c64_c64, complex64, complex64, complex64)
