// NVRTC's version is that of the release that the program was linked for; programs without one get that of the headers.
#include "_cgo_export.h"

#define RELEASE(name, number) \
  int heddle_compiler_##name(uintptr_t major, uintptr_t minor) { return heddleCompilerVersion(major, minor, number); }

RELEASE(10_1, 10010)
RELEASE(10_2, 10020)
RELEASE(11_0, 11000)
RELEASE(11_1, 11010)
RELEASE(11, 11080)
RELEASE(12, 12090)
RELEASE(13, 13000)

__asm__(".symver heddle_compiler_10_1, nvrtcVersion@libnvrtc.so.10.1");
__asm__(".symver heddle_compiler_10_2, nvrtcVersion@libnvrtc.so.10.2");
__asm__(".symver heddle_compiler_11_0, nvrtcVersion@libnvrtc.so.11.0");
__asm__(".symver heddle_compiler_11_1, nvrtcVersion@libnvrtc.so.11.1");
__asm__(".symver heddle_compiler_11, nvrtcVersion@@libnvrtc.so.11.2");
__asm__(".symver heddle_compiler_12, nvrtcVersion@libnvrtc.so.12");
__asm__(".symver heddle_compiler_13, nvrtcVersion@libnvrtc.so.13");
