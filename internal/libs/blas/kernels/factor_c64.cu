// targets: 52
#include "factor.cuh"
FACTOR(complex64, c64)
