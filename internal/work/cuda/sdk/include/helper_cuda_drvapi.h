// The helpers that sample programs of the driver API share.
#ifndef HEDDLE_HELPER_CUDA_DRVAPI_H
#define HEDDLE_HELPER_CUDA_DRVAPI_H

#include "cuda.h"
#include "helper_string.h"
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>

#ifndef EXIT_WAIVED
#define EXIT_WAIVED 2
#endif
#ifndef MAX
#define MAX(a, b) ((a) > (b) ? (a) : (b))
#endif

static inline void heddle_check(CUresult e, const char *what, const char *file, int line) {
  if (e == CUDA_SUCCESS) return;
  const char *name = 0;
  cuGetErrorName(e, &name);
  fprintf(stderr, "CUDA driver error at %s:%d code=%d(%s) \"%s\"\n", file, line, (int)e, name ? name : "unknown", what);
  exit(EXIT_FAILURE);
}
#ifndef checkCudaErrors
#define checkCudaErrors(call) heddle_check((call), #call, __FILE__, __LINE__)
#endif
#define getLastCudaDrvErrorMsg(message) ((void)(message))

template <class T> inline void getCudaAttribute(T *value, CUdevice_attribute which, int device) {
  int v = 0;
  heddle_check(cuDeviceGetAttribute(&v, which, device), "cuDeviceGetAttribute", __FILE__, __LINE__);
  *value = (T)v;
}
static inline int _ConvertSMVer2CoresDRV(int major, int minor) {
  static const int table[][2] = {{0x30, 192}, {0x32, 192}, {0x35, 192}, {0x37, 192}, {0x50, 128}, {0x52, 128}, {0x53, 128}, {0x60, 64}, {0x61, 128},
                                 {0x62, 128}, {0x70, 64},  {0x72, 64},  {0x75, 64},  {0x80, 64},  {0x86, 128}, {0x87, 128}, {0x89, 128}, {0x90, 128}};
  for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
    if (table[i][0] == (major << 4) + minor) return table[i][1];
  return 128;
}
static inline int gpuGetMaxGflopsDeviceIdDRV() { return 0; }
static inline int gpuDeviceInitDRV(int argc, const char **argv) {
  heddle_check(cuInit(0), "cuInit", __FILE__, __LINE__);
  return checkCmdLineFlag(argc, argv, "device") ? getCmdLineArgumentInt(argc, argv, "device") : 0;
}
static inline CUdevice findCudaDeviceDRV(int argc, const char **argv) {
  CUdevice device;
  char name[100] = "";
  heddle_check(cuDeviceGet(&device, gpuDeviceInitDRV(argc, argv)), "cuDeviceGet", __FILE__, __LINE__);
  heddle_check(cuDeviceGetName(name, sizeof(name), device), "cuDeviceGetName", __FILE__, __LINE__);
  printf("> Using CUDA Device [%d]: %s\n", (int)device, name);
  return device;
}
static inline bool checkCudaCapabilitiesDRV(int major, int minor, int device) {
  int has[2];
  getCudaAttribute(&has[0], CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device);
  getCudaAttribute(&has[1], CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device);
  return has[0] > major || (has[0] == major && has[1] >= minor);
}

// Finds a module among the program's files and reads it.
static inline bool findFatbinPath(const char *file, std::string &path, char **argv, std::ostringstream &content) {
  char *found = sdkFindFilePath(file, argv ? argv[0] : 0);
  if (!found) {
    printf("%s: it is not beside the program\n", file);
    return false;
  }
  path = found;
  free(found);
  std::ifstream in(path.c_str(), std::ios::binary);
  content << in.rdbuf();
  return (bool)in;
}

#endif
