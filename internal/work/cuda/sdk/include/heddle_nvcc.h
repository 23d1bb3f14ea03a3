// Included in every CUDA source after the compiler's own headers, which leave
// this macro empty: to nvcc it is a number, and programs write #if __CUDACC__.
#undef __CUDACC__
#define __CUDACC__ 1
