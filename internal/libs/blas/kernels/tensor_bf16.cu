// targets: 80
#include "tensor.cuh"
TENSOR(tensor_bf16, __nv_bfloat16, 128, 128, 2, 4, 4, 1, false)
TENSOR(tensor_bf16, __nv_bfloat16, 128, 96, 4, 2, 3, 2, false)
TENSOR(tensor_bf16, __nv_bfloat16, 128, 80, 4, 2, 3, 2, false)
TENSOR(tensor_bf16, __nv_bfloat16, 64, 64, 2, 2, 4, 1, true)
TENSOR_TOTAL(tensor_bf16, __nv_bfloat16)
