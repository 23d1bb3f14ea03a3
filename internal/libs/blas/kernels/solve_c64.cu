// targets: 52
#include "solve.cuh"
SOLVE(complex64, c64)
