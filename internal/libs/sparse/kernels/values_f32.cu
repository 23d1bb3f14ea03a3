// targets: 52
#include "values.cuh"
MATRICES(float, f32)
