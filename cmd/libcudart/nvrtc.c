// NVRTC is of the release that the program was linked for; programs without one get that of the headers.
#include "_cgo_export.h"

#define RELEASE(name, number) \
  int heddle_version_##name(uintptr_t major, uintptr_t minor) { return heddleCompilerVersion(major, minor, number); } \
  int heddle_compile_##name(uintptr_t program, int n, uintptr_t options) { return heddleCompileProgram(program, n, options, number); }
#define VERSION(name, at) \
  __asm__(".symver heddle_version_" #name ", nvrtcVersion" at); \
  __asm__(".symver heddle_compile_" #name ", nvrtcCompileProgram" at)

RELEASE(9_0, 9000)
RELEASE(9_1, 9010)
RELEASE(9_2, 9020)
RELEASE(10_0, 10000)
RELEASE(10_1, 10010)
RELEASE(10_2, 10020)
RELEASE(11_0, 11000)
RELEASE(11_1, 11010)
RELEASE(11, 11080)
RELEASE(12, CUDART_VERSION)
RELEASE(13, 13000)

VERSION(9_0, "@libnvrtc.so.9.0");
VERSION(9_1, "@libnvrtc.so.9.1");
VERSION(9_2, "@libnvrtc.so.9.2");
VERSION(10_0, "@libnvrtc.so.10.0");
VERSION(10_1, "@libnvrtc.so.10.1");
VERSION(10_2, "@libnvrtc.so.10.2");
VERSION(11_0, "@libnvrtc.so.11.0");
VERSION(11_1, "@libnvrtc.so.11.1");
VERSION(11, "@@libnvrtc.so.11.2");
VERSION(12, "@libnvrtc.so.12");
VERSION(13, "@libnvrtc.so.13");
