// targets: 52
#include "vector.cuh"
REAL(float, f32)
