// Memory that an allocator of the program shares out, and of which it says so by NVTX: by the header of
// heddle cc, or by the tables that NVIDIA's headers give to the library of a tool.
#include "suite.h"

#include <dlfcn.h>
#include <nvtx3/nvToolsExtMem.h>

// The functions of NVTX.
struct functions {
  nvtxMemHeapHandle_t (*heap)(nvtxDomainHandle_t, const nvtxMemHeapDesc_t *) = nvtxMemHeapRegister;
  void (*heap_ends)(nvtxDomainHandle_t, nvtxMemHeapHandle_t) = nvtxMemHeapUnregister;
  void (*reset)(nvtxDomainHandle_t, nvtxMemHeapHandle_t) = nvtxMemHeapReset;
  void (*regions)(nvtxDomainHandle_t, const nvtxMemRegionsRegisterBatch_t *) = nvtxMemRegionsRegister;
  void (*resize)(nvtxDomainHandle_t, const nvtxMemRegionsResizeBatch_t *) = nvtxMemRegionsResize;
  void (*regions_end)(nvtxDomainHandle_t, const nvtxMemRegionsUnregisterBatch_t *) = nvtxMemRegionsUnregister;
};

// What NVIDIA's headers have: a module with a segment of 63 slots, which the tool fills.
static functions injected() {
  struct segment {
    size_t id, count;
    void **slots;
  };
  struct module {
    uint16_t version, size, id, compatibility;
    size_t count;
    segment *segments;
    void *functions;
    const void *more;
  };
  void *slots[63] = {};
  segment s = {1, 63, slots};
  module m = {3, sizeof(module), NVTX_EXT_MODULEID_MEM, NVTX_EXT_COMPATID_MEM, 1, &s, nullptr, nullptr};
  const char *path = getenv("NVTX_INJECTION64_PATH");
  void *lib = path ? dlopen(path, RTLD_LAZY) : nullptr;
  auto begin = lib ? (int (*)(module *))dlsym(lib, "InitializeInjectionNvtxExtension") : nullptr;
  if (!begin || !begin(&m)) {
    printf("%s has nothing to inject\n", path ? path : "no variable");
    exit(3);
  }
  functions f;
  memcpy(&f, slots + 1, sizeof f);
  return f;
}

struct pool {
  buffer<char> all;
  functions f;
  nvtxMemHeapHandle_t heap;
  explicit pool(functions with = functions()) : all(1 << 16, unset), f(with) {
    nvtxMemVirtualRangeDesc_t range = {1 << 16, all.p};
    nvtxMemHeapDesc_t d = {};
    d.extCompatID = NVTX_EXT_COMPATID_MEM;
    d.structSize = sizeof d;
    d.usage = NVTX_MEM_HEAP_USAGE_TYPE_SUB_ALLOCATOR;
    d.type = NVTX_MEM_TYPE_VIRTUAL_ADDRESS;
    d.typeSpecificDescSize = sizeof range;
    d.typeSpecificDesc = &range;
    heap = f.heap(nullptr, &d);
  }
  // Two regions at once: n numbers at place, and 16 at 4,096 bytes behind it.
  int *give(int n, size_t place = 0) {
    nvtxMemVirtualRangeDesc_t ranges[2] = {{n * sizeof(int), all.p + place}, {64, all.p + place + 4096}};
    nvtxMemRegionsRegisterBatch_t b = {};
    b.extCompatID = NVTX_EXT_COMPATID_MEM;
    b.structSize = sizeof b;
    b.regionType = NVTX_MEM_TYPE_VIRTUAL_ADDRESS;
    b.heap = heap;
    b.regionCount = 2;
    b.regionDescElementSize = sizeof *ranges;
    b.regionDescElements = ranges;
    f.regions(nullptr, &b); // BUG kept: leak
    return (int *)(all.p + place);
  }
  void resize(int *p, int n) {
    nvtxMemVirtualRangeDesc_t range = {n * sizeof(int), p};
    nvtxMemRegionsResizeBatch_t b = {};
    b.extCompatID = NVTX_EXT_COMPATID_MEM;
    b.structSize = sizeof b;
    b.regionType = NVTX_MEM_TYPE_VIRTUAL_ADDRESS;
    b.regionDescCount = 1;
    b.regionDescElementSize = sizeof range;
    b.regionDescElements = &range;
    f.resize(nullptr, &b);
  }
  void take(int *p) {
    nvtxMemRegionRef_t refs[2] = {{p}, {p + 1024}};
    nvtxMemRegionsUnregisterBatch_t b = {};
    b.extCompatID = NVTX_EXT_COMPATID_MEM;
    b.structSize = sizeof b;
    b.refType = NVTX_MEM_REGION_REF_TYPE_POINTER;
    b.refCount = 2;
    b.refElementSize = sizeof *refs;
    b.refElements = refs;
    f.regions_end(nullptr, &b); // BUG twice: double-free
  }
  ~pool() {
    if (heap)
      f.heap_ends(nullptr, heap);
  }
};

__global__ void fill(int *out, int n) {
  if (threadIdx.x < n)
    out[threadIdx.x] = threadIdx.x; // BUG beyond: oob-global BUG injected_beyond: oob-global BUG taken: use-after-free BUG reset: use-after-free BUG shrunk: oob-global
}
__global__ void add(const int *in, int *out, int n) {
  if (threadIdx.x < n)
    out[threadIdx.x] = in[threadIdx.x] + 1; // BUG grown_unset: uninit-global BUG never_set: uninit-global
}

static void runs(pool &&p, int n) {
  int *a = p.give(40);
  fill<<<1, 64>>>(a, n);
  finish();
  fill<<<1, 64>>>(a + 1024, 16);
  finish();
  p.take(a);
}
CASE(beyond) { runs(pool(), 41); }
CASE(within) { runs(pool(), 40); } // CLEAN within
CASE(injected_beyond) { runs(pool(injected()), 41); }
CASE(injected_within) { runs(pool(injected()), 40); } // CLEAN injected_within

CASE(taken) {
  pool p;
  int *a = p.give(40);
  p.take(a);
  fill<<<1, 64>>>(a, 40);
  finish();
}
CASE(twice) {
  pool p;
  int *a = p.give(40);
  p.take(a);
  p.take(a);
}

// A reset takes all regions back, and the end of a heap makes its memory an allocation again.
CASE(reset) {
  pool p;
  int *a = p.give(40);
  p.f.reset(nullptr, p.heap);
  fill<<<1, 64>>>(a, 40);
  finish();
}
CASE(heap_ended) { // CLEAN heap_ended
  pool p;
  int *a = p.give(40);
  p.f.heap_ends(nullptr, p.heap);
  p.heap = nullptr;
  fill<<<1, 64>>>(a, 64);
  finish();
}
CASE(kept) {
  pool &p = *new pool;
  fill<<<1, 64>>>(p.give(40), 40);
  finish();
}

// A region that gets larger keeps what it has; what is new has no values.
static void grows(int n, int used) {
  pool p;
  buffer<int> out(64);
  int *a = p.give(40);
  fill<<<1, 64>>>(a, 40);
  finish();
  p.resize(a, n);
  add<<<1, 64>>>(a, out, used);
  fill<<<1, 64>>>(a, used);
  finish();
  look(out, 64);
  p.take(a);
}
CASE(grown) { grows(60, 40); } // CLEAN grown
CASE(grown_unset) { grows(60, 60); }
CASE(same_size) { grows(40, 40); } // CLEAN same_size
CASE(shrunk) { grows(20, 40); }

CASE(never_set) {
  pool p;
  buffer<int> out(64);
  add<<<1, 64>>>(p.give(40), out, 40);
  finish();
  look(out, 64);
}
