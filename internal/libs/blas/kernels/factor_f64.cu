// targets: 52
#include "factor.cuh"
FACTOR(double, f64)
