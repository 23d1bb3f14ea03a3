// The driver's private tables of functions (cuGetExportTable), by which NVIDIA's runtime, where a program contains it
// (nvcc -cudart static), asks for what the driver API does not have. A table begins with its size in bytes, but for the
// one of values kept with contexts.
//
// Where the facts come from: identifiers, sizes, positions and arguments are described by ZLUDA's sources
// (github.com/vosen/ZLUDA: dark_api/src/lib.rs, zluda/src/impl/driver.rs). Which of the functions the runtimes of CUDA
// 11.2, 11.8 and 12.4 call, and when, was seen by letting a program run with tables whose functions print their arguments:
//
//   RUNTIME      1 and 6 load the fat binary of a wrapper; it calls 6, when a module is first needed. 2 gives a device's
//                primary context, called for each device at first; that of 11.2 makes it current before it retains it.
//                7 is told at the program's end that a wrapper goes. 8 is 6 for a fat binary without wrapper, 12 loads
//                compilers (by ZLUDA; not called by these three).
//   HOOKS        2 and 6 give the memory in which a profiler marks the calls that it wants to hear of.
//   TLS          asked for, nothing called.
//   LOCAL        0 keeps a value with a context, once for each; 2 finds it, in nearly every call; 1 forgets it, at the
//                program's end (12.4).
//   INTEGRITY    1 answers whether the driver is known (internal/work/cuda/integrity): three calls at the first need of a
//                context by those of 11.8 and 12.4, none by that of 11.2.
//   CHECKS       2 and 3 say that nothing is wrong with a context (by ZLUDA; not called by these three).
//
// The other functions are not known. They return CUDA_ERROR_NOT_SUPPORTED and are named once.
#include "_cgo_export.h"

#include <pthread.h>
#include <string.h>

struct table {
  unsigned char id[16];
  const void *functions[13]; // as many as the longest table has
};

static const struct table runtime_table, integrity_table;

#define NOT_KNOWN(table, entry) \
  static int table##_##entry(void) { return heddleNotInDriver("function " #entry " of the driver's private table " #table); }

NOT_KNOWN(RUNTIME, 3)
NOT_KNOWN(RUNTIME, 4)
NOT_KNOWN(RUNTIME, 5)
NOT_KNOWN(RUNTIME, 9)
NOT_KNOWN(RUNTIME, 10)
NOT_KNOWN(RUNTIME, 11)
NOT_KNOWN(TLS, 1)
NOT_KNOWN(TLS, 2)
NOT_KNOWN(TLS, 3)
NOT_KNOWN(HOOKS, 1)
NOT_KNOWN(HOOKS, 3)
NOT_KNOWN(HOOKS, 4)
NOT_KNOWN(HOOKS, 5)
NOT_KNOWN(LOCAL, 3)
NOT_KNOWN(INTEGRITY, 2)
NOT_KNOWN(CHECKS, 1)

static int load_wrapper(uintptr_t module, uintptr_t wrapper) { return heddleLoadWrapped(module, wrapper); }

// The last arguments were never seen to be other than 0.
static int load_with(uintptr_t module, uintptr_t image, uintptr_t a, uintptr_t b, unsigned c) {
  if (a || b || c)
    return heddleNotInDriver("loading of a program's modules with options");
  return heddleLoadWrapped(module, image);
}

static int load_bare(uintptr_t image, uintptr_t module, uintptr_t a, uintptr_t b, unsigned c) { return load_with(module, image, a, b, c); }

static void wrapper_goes(uintptr_t wrapper) { (void)wrapper; } // modules end with their context

static int load_compilers(void) { return 0; } // there are none to load

// No profiler marks calls here. That the memory is larger than the runtime needs is ZLUDA's knowledge.
static void calls_marked(void **to, size_t *n) {
  static uint32_t marks[1024];
  if (to)
    *to = marks;
  if (n)
    *n = sizeof marks / sizeof *marks;
}

static void groups_marked(void **to, size_t *n) {
  static uint32_t marks[14];
  if (to)
    *to = marks;
  if (n)
    *n = sizeof marks / sizeof *marks;
}

// A forked child calls this as it ends, where Go cannot be called.
static int forget(uintptr_t context, uintptr_t key) { return heddle_child() ? CUDA_ERROR_DEINITIALIZED : heddleDeleteLocal(context, key); }

static int integrity(uint32_t version, uint64_t seconds, uintptr_t answer) {
  return heddleIntegrity(version, seconds, answer, (uint32_t)pthread_self(), (uintptr_t)runtime_table.functions, (uintptr_t)integrity_table.functions,
                         (uintptr_t)integrity);
}

static int check_context(uintptr_t context, uint32_t *wrong, uintptr_t what) {
  (void)context, (void)what;
  if (!wrong)
    return CUDA_ERROR_INVALID_VALUE;
  *wrong = 0;
  return 0;
}

static uint32_t check_all(void) { return 0; }

#define BYTES(entries) (const void *)((entries) * sizeof(void *))

static const struct table runtime_table = {
    {0x6b, 0xd5, 0xfb, 0x6c, 0x5b, 0xf4, 0xe7, 0x4a, 0x89, 0x87, 0xd9, 0x39, 0x12, 0xfd, 0x9d, 0xf9},
    {BYTES(13), load_wrapper, heddlePrimary, RUNTIME_3, RUNTIME_4, RUNTIME_5, load_with, wrapper_goes, load_bare, RUNTIME_9, RUNTIME_10, RUNTIME_11,
     load_compilers},
};
static const struct table hooks_table = {
    {0xa0, 0x94, 0x79, 0x8c, 0x2e, 0x74, 0x2e, 0x74, 0x93, 0xf2, 0x08, 0x00, 0x20, 0x0c, 0x0a, 0x66},
    {BYTES(7), HOOKS_1, calls_marked, HOOKS_3, HOOKS_4, HOOKS_5, groups_marked},
};
static const struct table tls_table = {
    {0x42, 0xd8, 0x5a, 0x81, 0x23, 0xf6, 0xcb, 0x47, 0x82, 0x98, 0xf6, 0xe7, 0x8a, 0x3a, 0xec, 0xdc},
    {BYTES(4), TLS_1, TLS_2, TLS_3},
};
static const struct table local_table = {
    {0xc6, 0x93, 0x33, 0x6e, 0x11, 0x21, 0xdf, 0x11, 0xa8, 0xc3, 0x68, 0xf3, 0x55, 0xd8, 0x95, 0x93},
    {heddleSetLocal, forget, heddleLocal, LOCAL_3},
};
static const struct table integrity_table = {
    {0xd4, 0x08, 0x20, 0x55, 0xbd, 0xe6, 0x70, 0x4b, 0x8d, 0x34, 0xba, 0x12, 0x3c, 0x66, 0xe1, 0xf2},
    {BYTES(3), integrity, INTEGRITY_2},
};
static const struct table checks_table = {
    {0x26, 0x3e, 0x88, 0x60, 0x7c, 0xd2, 0x61, 0x43, 0x92, 0xf6, 0xbb, 0xd5, 0x00, 0x6d, 0xfa, 0x7e},
    {BYTES(4), CHECKS_1, check_context, check_all},
};

uintptr_t heddle_export_table(uintptr_t id) {
  static const struct table *const all[] = {&runtime_table, &hooks_table, &tls_table, &local_table, &integrity_table, &checks_table};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++)
    if (memcmp(all[i]->id, (const void *)id, sizeof all[i]->id) == 0)
      return (uintptr_t)all[i]->functions;
  return 0;
}

void heddle_left(uintptr_t fn, uintptr_t context, uintptr_t key, uintptr_t value) {
  ((void (*)(uintptr_t, uintptr_t, uintptr_t))fn)(context, key, value);
}
