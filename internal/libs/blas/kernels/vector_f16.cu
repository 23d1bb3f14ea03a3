// targets: 52
#include "vector.cuh"
REAL(__half, f16)
