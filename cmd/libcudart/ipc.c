// Calls that take a handle of another process by value.
#include "_cgo_export.h"

struct handle {
  char bytes[64];
};

int cudaIpcOpenMemHandle(uintptr_t to, struct handle h, unsigned flags) { return heddleOpenMemory(to, (uintptr_t)&h, flags); }
int cudaIpcOpenEventHandle(uintptr_t to, struct handle h) { return heddleOpenEvent(to, (uintptr_t)&h); }
int cuIpcOpenMemHandle(uintptr_t to, struct handle h, unsigned flags) { return heddleOpenMemoryInDriver(to, (uintptr_t)&h, flags); }
int cuIpcOpenMemHandle_v2(uintptr_t to, struct handle h, unsigned flags) { return cuIpcOpenMemHandle(to, h, flags); }
int cuIpcOpenEventHandle(uintptr_t to, struct handle h) { return heddleOpenEventInDriver(to, (uintptr_t)&h); }
