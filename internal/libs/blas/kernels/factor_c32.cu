// targets: 52
#include "factor.cuh"
FACTOR(complex32, c32)
