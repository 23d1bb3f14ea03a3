// targets: 70
#include "wmma.cuh"
WMMA(128, 128, 32, 4, 2)
WMMA(64, 64, 32, 2, 2)
TENSOR_TOTAL(wmma_f16, __half)
