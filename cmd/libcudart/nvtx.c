// NVTX 3 is in its headers: they load the library that the variable NVTX_INJECTION64_PATH names, and call the function
// below with access to their tables of functions.
#include "_cgo_export.h"

typedef void (*function)(void);

// The modules of functions, and their numbers there (the headers of NVTX 3).
enum { CORE = 1, CUDA = 2, CUDART = 4, CORE2 = 5, MODULES };

// CALLBACKS is the table that gives access to the others.
enum { CALLBACKS = 1 };

struct callbacks {
  size_t size;
  int (*get)(int module, function ***table, unsigned *size);
};

static const struct {
  int module;
  unsigned number;
  function f;
} functions[] = {
#define F(module, number, name) {module, number, (function)name}
    F(CORE, 1, nvtxMarkEx),
    F(CORE, 2, nvtxMarkA),
    F(CORE, 3, nvtxMarkW),
    F(CORE, 4, nvtxRangeStartEx),
    F(CORE, 5, nvtxRangeStartA),
    F(CORE, 6, nvtxRangeStartW),
    F(CORE, 7, nvtxRangeEnd),
    F(CORE, 8, nvtxRangePushEx),
    F(CORE, 9, nvtxRangePushA),
    F(CORE, 10, nvtxRangePushW),
    F(CORE, 11, nvtxRangePop),
    F(CUDA, 5, nvtxNameCuStreamA),
    F(CUDA, 6, nvtxNameCuStreamW),
    F(CUDART, 3, nvtxNameCudaStreamA),
    F(CUDART, 4, nvtxNameCudaStreamW),
    F(CORE2, 1, nvtxDomainMarkEx),
    F(CORE2, 2, nvtxDomainRangeStartEx),
    F(CORE2, 3, nvtxDomainRangeEnd),
    F(CORE2, 4, nvtxDomainRangePushEx),
    F(CORE2, 5, nvtxDomainRangePop),
    F(CORE2, 10, nvtxDomainRegisterStringA),
    F(CORE2, 11, nvtxDomainRegisterStringW),
    F(CORE2, 12, nvtxDomainCreateA),
    F(CORE2, 13, nvtxDomainCreateW),
    F(CORE2, 14, nvtxDomainDestroy),
    F(CORE2, 15, nvtxInitialize),
#undef F
};

int InitializeInjectionNvtx2(const void *(*export)(uint32_t table)) {
  const struct callbacks *c = export ? export(CALLBACKS) : NULL;
  if (c == NULL || c->size < sizeof *c)
    return 0;
  for (int module = CORE; module < MODULES; module++) {
    function **table = NULL;
    unsigned size = 0;
    if (!c->get(module, &table, &size) || table == NULL)
      continue;
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
      if (functions[i].module == module && functions[i].number < size && table[functions[i].number] != NULL)
        *table[functions[i].number] = functions[i].f;
  }
  return 1;
}

// Extensions of NVTX 3 have tables of their own: each is a module with segments of slots, by number.
struct segment {
  size_t id, slots;
  function *functions;
};

struct module {
  uint16_t version, size, id, compatibility;
  size_t count;
  struct segment *segments;
};

// MEMORY is the extension for annotations of memory, and MEMORY_VERSION what is known of it.
enum { MEMORY = 1, MEMORY_VERSION = 0x0102 };

extern function nvtxMemHeapRegister(), nvtxMemHeapUnregister(), nvtxMemHeapReset(), nvtxMemRegionsRegister(), nvtxMemRegionsResize(), nvtxMemRegionsUnregister();

int InitializeInjectionNvtxExtension(struct module *m) {
  static const function of[] = {NULL, (function)nvtxMemHeapRegister, (function)nvtxMemHeapUnregister, (function)nvtxMemHeapReset,
                                (function)nvtxMemRegionsRegister, (function)nvtxMemRegionsResize, (function)nvtxMemRegionsUnregister};
  if (m == NULL || m->size < sizeof *m || m->id != MEMORY || m->compatibility != MEMORY_VERSION || m->count != 1 || m->segments == NULL)
    return 0;
  const struct segment *s = m->segments;
  for (size_t i = 1; i < sizeof of / sizeof *of && i < s->slots; i++)
    s->functions[i] = of[i];
  return 1;
}
