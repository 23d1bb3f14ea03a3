// targets: 52
#include "matvec.cuh"
MATVEC(complex64, c64)
