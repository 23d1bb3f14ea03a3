// targets: 52
#include "vector.cuh"
COMPLEX(complex64, c64)
