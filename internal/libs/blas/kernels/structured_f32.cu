// targets: 52
#include "structured.cuh"
STRUCTURED(float, f32)
