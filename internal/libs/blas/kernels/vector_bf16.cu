// targets: 52
#include "vector.cuh"
REAL(__nv_bfloat16, bf16)
