// targets: 52
#include "vector.cuh"
REAL(double, f64)
