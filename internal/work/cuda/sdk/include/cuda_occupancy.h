// Libraries include this for nothing that they call; the occupancy functions of
// the runtime are in cuda_runtime_api.h. The calculator that takes properties of
// a device and of a function, cudaOccMaxActiveBlocksPerMultiprocessor and its
// like, is not here.
#include "cuda_runtime_api.h"
