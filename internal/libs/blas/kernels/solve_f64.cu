// targets: 52
#include "solve.cuh"
SOLVE(double, f64)
