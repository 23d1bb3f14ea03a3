// targets: 52
#include "values.cuh"
MATRICES(double, f64)
