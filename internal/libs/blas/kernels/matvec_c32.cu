// targets: 52
#include "matvec.cuh"
MATVEC(complex32, c32)
