#define _GNU_SOURCE
#include "host.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

extern void heddleExit(void);
extern void heddleUnregister(uintptr_t handle);

uint64_t heddle_thread(void) {
  static atomic_uint_fast64_t threads;
  static __thread uint64_t id;
  if (id == 0)
    id = atomic_fetch_add(&threads, 1) + 1;
  return id;
}

int heddle_map(uintptr_t addr, size_t n) {
  void *want = (void *)addr;
  void *got = mmap(want, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
  if (got == MAP_FAILED)
    return -1;
  if (got != want) { // a kernel that takes the address for a wish
    munmap(got, n);
    return -1;
  }
  return 0;
}

void heddle_unmap(uintptr_t addr, size_t n) { munmap((void *)addr, n); }

void heddle_print(const void *text, size_t n) { fwrite(text, 1, n, stdout); }

// Go cannot be called in a child after a fork: there the Go runtime has only one of its
// threads, and locks held by the others are never released.
static void at_exit(void) {
  if (heddle_own())
    heddleExit();
}

void heddle_at_exit(void) {
  atexit(at_exit);
  at_quick_exit(at_exit);
}

void __cudaUnregisterFatBinary(void **handle) {
  if (!heddle_child())
    heddleUnregister((uintptr_t)handle);
}

void heddle_call(uintptr_t fn, uintptr_t data) { ((cudaHostFn_t)fn)((void *)data); }

void heddle_callback(uintptr_t fn, uintptr_t stream, int status, uintptr_t data) {
  ((cudaStreamCallback_t)fn)((cudaStream_t)stream, (cudaError_t)status, (void *)data);
}

size_t heddle_shared_of(uintptr_t fn, int threads) { return ((CUoccupancyB2DSize)fn)(threads); }

uintptr_t heddle_symbol(const char *name) {
  static _Atomic(void *) self;
  if (self == NULL) {
    Dl_info info;
    if (dladdr((void *)&heddle_symbol, &info) == 0)
      return 0;
    self = dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
    if (self == NULL)
      return 0;
  }
  return (uintptr_t)dlsym(self, name);
}

void heddle_free(void *p) { free(p); }

size_t heddle_length(uintptr_t text) { return strlen((const char *)text); }

char *heddle_environment(const char *name) { return getenv(name); }
