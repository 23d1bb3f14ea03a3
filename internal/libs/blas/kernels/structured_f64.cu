// targets: 52
#include "structured.cuh"
STRUCTURED(double, f64)
