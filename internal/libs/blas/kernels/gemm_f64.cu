// targets: 52
#include "gemm.cuh"
GEMM(gemm_f64_f64_64x64, double, double, double, 256, 64, 64, 8, 4, 4)
GEMM(gemm_f64_f64_32x32, double, double, double, 256, 32, 32, 8, 2, 2)
TOTAL(gemm_f64_f64, double, double, double)
