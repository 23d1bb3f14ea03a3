// targets: 52
#include "solve.cuh"
SOLVE(float, f32)
