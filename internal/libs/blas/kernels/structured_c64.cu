// targets: 52
#include "structured.cuh"
STRUCTURED(complex64, c64)
