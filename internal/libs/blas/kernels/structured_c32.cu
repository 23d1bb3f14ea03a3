// targets: 52
#include "structured.cuh"
STRUCTURED(complex32, c32)
