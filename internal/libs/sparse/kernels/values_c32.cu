// targets: 52
#include "values.cuh"
MATRICES(complex32, c32)
