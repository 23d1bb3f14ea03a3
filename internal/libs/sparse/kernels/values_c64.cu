// targets: 52
#include "values.cuh"
MATRICES(complex64, c64)
