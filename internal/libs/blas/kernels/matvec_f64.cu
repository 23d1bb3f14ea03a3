// targets: 52
#include "matvec.cuh"
MATVEC(double, f64)
