// Libraries include this file without calling anything in it; the runtime's occupancy
// functions are in cuda_runtime_api.h. The calculator that takes the properties of a
// device and of a function, cudaOccMaxActiveBlocksPerMultiprocessor and so on, is not
// provided.
#include "cuda_runtime_api.h"
