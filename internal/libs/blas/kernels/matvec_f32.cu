// targets: 52
#include "matvec.cuh"
MATVEC(float, f32)
