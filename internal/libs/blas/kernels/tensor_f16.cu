// targets: 80
#include "tensor.cuh"
TENSOR(tensor_f16, __half, 128, 128, 2, 4, 4, 1, false)
TENSOR(tensor_f16, __half, 128, 96, 4, 2, 3, 2, false)
TENSOR(tensor_f16, __half, 128, 80, 4, 2, 3, 2, false)
TENSOR(tensor_f16, __half, 64, 64, 2, 2, 4, 1, true)
TENSOR_TOTAL(tensor_f16, __half)
