// What every program here does with an error, and with its own results.
#ifndef CHECK_H
#define CHECK_H

#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>

// CHECK ends the program with a message if a call of the runtime fails.
#define CHECK(call)                                                                        \
  do {                                                                                     \
    cudaError_t status_ = (call);                                                          \
    if (status_ != cudaSuccess) {                                                          \
      fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, cudaGetErrorString(status_)); \
      exit(1);                                                                             \
    }                                                                                      \
  } while (0)

// verdict prints how many values are wrong, and returns the exit code for that.
static inline int verdict(int wrong) {
  printf("%d wrong\n", wrong);
  return wrong != 0;
}

#endif
