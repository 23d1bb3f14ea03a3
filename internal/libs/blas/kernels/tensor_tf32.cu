// targets: 80
#include "tensor.cuh"
TENSOR(tensor_tf32, tf32, 128, 128, 2, 4, 4, 1, false)
TENSOR(tensor_tf32, tf32, 64, 64, 2, 2, 4, 1, true)
TENSOR_TOTAL(tensor_tf32, tf32)
