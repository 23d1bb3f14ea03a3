// targets: 52
#include "factor.cuh"
FACTOR(float, f32)
