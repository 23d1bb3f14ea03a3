// The driver API: an ordinary C++ program that loads PTX from a file, sets a
// variable in it, and launches its kernel by name.
#include <cuda.h>

#include <stdio.h>
#include <stdlib.h>
#include <vector>

#define CHECK(call)                                                     \
  do {                                                                  \
    CUresult status_ = (call);                                          \
    if (status_ != CUDA_SUCCESS) {                                      \
      const char *name_ = "?";                                          \
      cuGetErrorName(status_, &name_);                                  \
      fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, name_); \
      exit(1);                                                          \
    }                                                                   \
  } while (0)

int main(int argc, char **argv) {
  if (argc != 2) {
    fprintf(stderr, "usage: %s saxpy.ptx\n", argv[0]);
    return 2;
  }
  CUdevice device;
  CUcontext context;
  CUmodule module;
  CUfunction kernel;
  CHECK(cuInit(0));
  CHECK(cuDeviceGet(&device, 0));
  CHECK(cuCtxCreate(&context, 0, device));
  CHECK(cuModuleLoad(&module, argv[1]));
  CHECK(cuModuleGetFunction(&kernel, module, "saxpy"));

  int n = 3000, wrong = 0;
  const size_t bytes = n * sizeof(float);
  std::vector<float> x(n), y(n), got(n);
  for (int i = 0; i < n; i++) {
    x[i] = i % 100;
    y[i] = 0.25f * i;
  }
  CUdeviceptr dx, dy, factor;
  size_t size;
  const float three = 3;
  CHECK(cuMemAlloc(&dx, bytes));
  CHECK(cuMemAlloc(&dy, bytes));
  CHECK(cuMemcpyHtoD(dx, x.data(), bytes));
  CHECK(cuMemcpyHtoD(dy, y.data(), bytes));
  CHECK(cuModuleGetGlobal(&factor, &size, module, "factor"));
  wrong += size != sizeof three;
  CHECK(cuMemcpyHtoD(factor, &three, sizeof three));
  void *args[] = {&dx, &dy, &n};
  CHECK(cuLaunchKernel(kernel, (n + 255) / 256, 1, 1, 256, 1, 1, 0, nullptr, args, nullptr));
  CHECK(cuCtxSynchronize());
  CHECK(cuMemcpyDtoH(got.data(), dy, bytes));
  for (int i = 0; i < n; i++)
    wrong += got[i] != y[i] + three * x[i];

  // A missing name is an error without further effects.
  wrong += cuModuleGetFunction(&kernel, module, "daxpy") != CUDA_ERROR_NOT_FOUND;

  CHECK(cuMemFree(dx));
  CHECK(cuMemFree(dy));
  CHECK(cuModuleUnload(module));
  CHECK(cuCtxDestroy(context));
  printf("%d wrong\n", wrong);
  return wrong != 0;
}
