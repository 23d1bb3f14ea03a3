// The helpers that sample programs share: checked calls, devices, timers and
// command lines.
#ifndef HEDDLE_HELPER_CUDA_H
#define HEDDLE_HELPER_CUDA_H

#include "cuda_runtime.h"
#include "helper_timer.h"
#include "helper_string.h"

#ifndef EXIT_WAIVED
#define EXIT_WAIVED 2
#endif

// Names of results: those of libraries whose headers were included before this one.
template <class Result> static inline const char *_cudaGetErrorEnum(Result) { return "unknown"; }
static inline const char *_cudaGetErrorEnum(cudaError_t e) { return cudaGetErrorName(e); }
#ifdef CUBLAS_API_H_
static inline const char *_cudaGetErrorEnum(cublasStatus_t e) { return cublasGetStatusName(e); }
#endif
#ifdef CUSPARSE_H_
static inline const char *_cudaGetErrorEnum(cusparseStatus_t e) { return cusparseGetErrorName(e); }
#endif
#define HEDDLE_NAME(code) case code: return #code;
#ifdef _CUFFT_H_
static inline const char *_cudaGetErrorEnum(cufftResult e) {
  switch (e) {
    HEDDLE_NAME(CUFFT_SUCCESS) HEDDLE_NAME(CUFFT_INVALID_PLAN) HEDDLE_NAME(CUFFT_ALLOC_FAILED) HEDDLE_NAME(CUFFT_INVALID_TYPE)
    HEDDLE_NAME(CUFFT_INVALID_VALUE) HEDDLE_NAME(CUFFT_INTERNAL_ERROR) HEDDLE_NAME(CUFFT_EXEC_FAILED) HEDDLE_NAME(CUFFT_SETUP_FAILED)
    HEDDLE_NAME(CUFFT_INVALID_SIZE) HEDDLE_NAME(CUFFT_UNALIGNED_DATA) HEDDLE_NAME(CUFFT_INCOMPLETE_PARAMETER_LIST)
    HEDDLE_NAME(CUFFT_INVALID_DEVICE) HEDDLE_NAME(CUFFT_PARSE_ERROR) HEDDLE_NAME(CUFFT_NO_WORKSPACE) HEDDLE_NAME(CUFFT_NOT_IMPLEMENTED)
    HEDDLE_NAME(CUFFT_LICENSE_ERROR) HEDDLE_NAME(CUFFT_NOT_SUPPORTED) HEDDLE_NAME(CUFFT_MISSING_DEPENDENCY)
    HEDDLE_NAME(CUFFT_NVRTC_FAILURE) HEDDLE_NAME(CUFFT_NVJITLINK_FAILURE) HEDDLE_NAME(CUFFT_NVSHMEM_FAILURE)
  }
  return "unknown";
}
#endif
#ifdef CURAND_H_
static inline const char *_cudaGetErrorEnum(curandStatus_t e) {
  switch (e) {
    HEDDLE_NAME(CURAND_STATUS_SUCCESS) HEDDLE_NAME(CURAND_STATUS_VERSION_MISMATCH) HEDDLE_NAME(CURAND_STATUS_NOT_INITIALIZED)
    HEDDLE_NAME(CURAND_STATUS_ALLOCATION_FAILED) HEDDLE_NAME(CURAND_STATUS_TYPE_ERROR) HEDDLE_NAME(CURAND_STATUS_OUT_OF_RANGE)
    HEDDLE_NAME(CURAND_STATUS_LENGTH_NOT_MULTIPLE) HEDDLE_NAME(CURAND_STATUS_DOUBLE_PRECISION_REQUIRED)
    HEDDLE_NAME(CURAND_STATUS_LAUNCH_FAILURE) HEDDLE_NAME(CURAND_STATUS_PREEXISTING_FAILURE) HEDDLE_NAME(CURAND_STATUS_INITIALIZATION_FAILED)
    HEDDLE_NAME(CURAND_STATUS_ARCH_MISMATCH) HEDDLE_NAME(CURAND_STATUS_INTERNAL_ERROR)
  }
  return "unknown";
}
#endif
#undef HEDDLE_NAME

// A call of the runtime or of a library: 0 is success.
template <class Result> static inline void heddle_check(Result e, const char *what, const char *file, int line) {
  if (!e) return;
  fprintf(stderr, "CUDA error at %s:%d code=%d(%s) \"%s\"\n", file, line, (int)e, _cudaGetErrorEnum(e), what);
  exit(EXIT_FAILURE);
}
#define checkCudaErrors(call) heddle_check((call), #call, __FILE__, __LINE__)

static inline void heddle_last(const char *message, const char *file, int line) {
  cudaError_t e = cudaGetLastError();
  if (e == cudaSuccess) return;
  fprintf(stderr, "%s(%d) : %s : (%d) %s.\n", file, line, message, (int)e, cudaGetErrorString(e));
  exit(EXIT_FAILURE);
}
#define getLastCudaError(message) heddle_last(message, __FILE__, __LINE__)

// The same, but the program continues.
static inline void heddle_last_told(const char *message, const char *file, int line) {
  cudaError_t e = cudaGetLastError();
  if (e != cudaSuccess) fprintf(stderr, "%s(%d) : %s : (%d) %s.\n", file, line, message, (int)e, cudaGetErrorString(e));
}
#define printLastCudaError(message) heddle_last_told(message, __FILE__, __LINE__)
static inline int ftoi(float v) { return (int)(v >= 0 ? v + 0.5f : v - 0.5f); }

// Cores per multiprocessor by architecture.
static inline int _ConvertSMVer2Cores(int major, int minor) {
  static const int table[][2] = {{0x30, 192}, {0x32, 192}, {0x35, 192}, {0x37, 192}, {0x50, 128}, {0x52, 128}, {0x53, 128}, {0x60, 64}, {0x61, 128},
                                 {0x62, 128}, {0x70, 64},  {0x72, 64},  {0x75, 64},  {0x80, 64},  {0x86, 128}, {0x87, 128}, {0x89, 128}, {0x90, 128}};
  for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
    if (table[i][0] == (major << 4) + minor) return table[i][1];
  return 128;
}
static inline const char *_ConvertSMVer2ArchName(int major, int minor) {
  static const char *const names[] = {"", "", "Fermi", "Kepler", "", "Maxwell", "Pascal", "Volta", "Ampere", "Hopper"};
  if (major == 7 && minor == 5) return "Turing";
  if (major == 8 && minor == 9) return "Ada";
  return major > 9 ? "Blackwell" : names[major];
}
static inline int gpuGetMaxGflopsDeviceId() { return 0; }
static inline int findCudaDevice(int argc, const char **argv) {
  int device = checkCmdLineFlag(argc, argv, "device") ? getCmdLineArgumentInt(argc, argv, "device") : 0;
  struct cudaDeviceProp prop;
  checkCudaErrors(cudaSetDevice(device));
  checkCudaErrors(cudaGetDeviceProperties(&prop, device));
  printf("GPU Device %d: \"%s\" with compute capability %d.%d\n\n", device, prop.name, prop.major, prop.minor);
  return device;
}
static inline int gpuDeviceInit(int device) {
  checkCudaErrors(cudaSetDevice(device));
  return device;
}
static inline bool checkCudaCapabilities(int major, int minor) {
  int device = 0;
  struct cudaDeviceProp prop;
  checkCudaErrors(cudaGetDevice(&device));
  checkCudaErrors(cudaGetDeviceProperties(&prop, device));
  return prop.major > major || (prop.major == major && prop.minor >= minor);
}
#ifndef MAX
#define MAX(a, b) ((a) > (b) ? (a) : (b))
#endif
#ifndef MIN
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#endif

#endif
