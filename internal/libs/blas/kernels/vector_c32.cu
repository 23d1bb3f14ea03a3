// targets: 52
#include "vector.cuh"
COMPLEX(complex32, c32)
