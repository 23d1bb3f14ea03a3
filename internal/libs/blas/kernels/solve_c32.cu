// targets: 52
#include "solve.cuh"
SOLVE(complex32, c32)
