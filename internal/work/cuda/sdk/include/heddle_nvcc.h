// Included in every CUDA source after the compiler's own headers, which leave this macro
// empty: with nvcc it is a number, and programs use #if __CUDACC__.
#undef __CUDACC__
#define __CUDACC__ 1
#if defined(__cplusplus)
#include "heddle_atomics.h"
#endif
