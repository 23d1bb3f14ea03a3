// Calls of the program as profilers see them: those of heddle_cupti_calls.h are recorded, and CUPTI's subscriber is
// called at their begin and end. Without a profiler this costs a test.
#define _GNU_SOURCE
#define HEDDLE_CALLS_H // the names here are those that programs call
#include "host.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cupti_callbacks.h"
#include "cupti_activity.h"
#include "cupti_driver_cbid.h"
#include "cupti_runtime_cbid.h"
#include "heddle_cupti_parameters.h"

extern uint32_t heddleCallBegin(uint32_t thread, uint64_t *now);
extern void heddleCallEnd(uint32_t domain, uint32_t cbid, uint32_t correlation, uint64_t start, uint32_t thread, uint32_t result);
extern char *heddleKernelName(uintptr_t fn);
extern uintptr_t heddleContext(uint32_t *number);
extern void heddleNotRecorded(char *name);

// Domains are those of calls: 1 is the driver's, 2 the runtime's.
enum { DOMAINS = CUPTI_CB_DOMAIN_SIZE };

static const uint32_t sizes[DOMAINS] = {
    [CUPTI_CB_DOMAIN_DRIVER_API] = CUPTI_DRIVER_TRACE_CBID_SIZE,
    [CUPTI_CB_DOMAIN_RUNTIME_API] = CUPTI_RUNTIME_TRACE_CBID_SIZE,
    [CUPTI_CB_DOMAIN_RESOURCE] = CUPTI_CBID_RESOURCE_SIZE,
    [CUPTI_CB_DOMAIN_SYNCHRONIZE] = CUPTI_CBID_SYNCHRONIZE_SIZE,
    [CUPTI_CB_DOMAIN_NVTX] = 64,
    [CUPTI_CB_DOMAIN_STATE] = CUPTI_CBID_STATE_SIZE,
};

// The subscriber: there is one at most.
static atomic_int watched; // 1: activities are recorded, 2: some callback is enabled, 4: checkers ask for callers
static _Atomic(CUpti_CallbackFunc) subscriber;
static void *userdata;
static atomic_uchar enabled[DOMAINS][CUPTI_DRIVER_TRACE_CBID_SIZE];

static __thread int busy;     // within a function of the profiler
static __thread int buffers;  // within one that gives or takes a buffer
static __thread int depth;    // within a call of the program
static atomic_uint idType; // how threads are numbered

// call is a call of the program.
struct call {
  CUpti_CallbackDomain domain;
  uint32_t id;
  const char *name;
  const void *parameters;
  uintptr_t kernel;
  uint32_t correlation, thread;
  uint64_t start, data;
  int reported; // to a profiler
};

void heddle_watch(int on) {
  if (on)
    atomic_fetch_or(&watched, 1);
  else
    atomic_fetch_and(&watched, ~1);
}

// The program's functions that led to its call in progress, for checkers.
enum { MOST_CALLERS = 24 }; // our choice
static __thread void *callers[MOST_CALLERS];
static __thread int callerCount;

// Whether there are checkers is known in the program's first call, which is too late for its
// own callers: until then every call may be asked for them.
__attribute__((constructor)) static void watch_first(void) {
  if (getenv("HEDDLE_RUN") != NULL)
    atomic_fetch_or(&watched, 4);
}

void heddle_watch_callers(int on) {
  void *first;
  if (on)
    backtrace(&first, 1); // loads what it needs
  else
    atomic_fetch_and(&watched, ~4);
}

int heddle_callers(uintptr_t *to) {
  for (int i = 0; i < callerCount; i++)
    to[i] = (uintptr_t)callers[i];
  return callerCount;
}

int heddle_busy(void) { return buffers; }

void heddle_request(uintptr_t fn, uint8_t **buffer, size_t *size, size_t *records) {
  busy++, buffers++;
  ((CUpti_BuffersCallbackRequestFunc)fn)(buffer, size, records);
  busy--, buffers--;
}

void heddle_complete(uintptr_t fn, uintptr_t buffer, size_t size, size_t valid) {
  busy++, buffers++;
  ((CUpti_BuffersCallbackCompleteFunc)fn)(NULL, 0, (uint8_t *)buffer, size, valid);
  busy--, buffers--;
}

uint64_t heddle_clock(uintptr_t fn) {
  busy++;
  uint64_t now = ((CUpti_TimestampCallbackFunc)fn)();
  busy--;
  return now;
}

const char *heddle_inject(const char *path) {
  void *lib = dlopen(path, RTLD_NOW);
  if (lib == NULL)
    return dlerror();
  int (*begin)(void) = (int (*)(void))dlsym(lib, "InitializeInjection");
  if (begin == NULL)
    return "there is no function InitializeInjection";
  depth++; // its own calls are not the program's
  int ok = begin();
  depth--;
  return ok ? NULL : "its function InitializeInjection returns 0";
}

// tell calls the subscriber.
static void tell(struct call *c, CUpti_ApiCallbackSite site, int *result) {
  CUpti_CallbackFunc f = atomic_load(&subscriber);
  if (f == NULL || !enabled[c->domain][c->id])
    return;
  CUpti_CallbackData d = {
      .callbackSite = site,
      .functionName = c->name,
      .functionParams = c->parameters,
      .functionReturnValue = result,
      .symbolName = c->kernel ? heddleKernelName(c->kernel) : NULL,
      .correlationData = &c->data,
      .correlationId = c->correlation,
  };
  d.context = (CUcontext)heddleContext(&d.contextUid);
  busy++;
  f(userdata, c->domain, c->id, &d);
  busy--;
}

static void enter(struct call *c) {
  int why = atomic_load_explicit(&watched, memory_order_relaxed);
  if (why & 4)
    callerCount = backtrace(callers, MOST_CALLERS);
  c->reported = why & 3;
  if (!c->reported)
    return;
  c->thread = idType == CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM ? (uint32_t)gettid() : (uint32_t)pthread_self();
  c->correlation = heddleCallBegin(c->thread, &c->start);
  tell(c, CUPTI_API_ENTER, NULL);
}

static void leave(struct call *c, int *result) {
  callerCount = 0;
  if (!c->reported)
    return;
  tell(c, CUPTI_API_EXIT, result);
  heddleCallEnd(c->domain, c->id, c->correlation, c->start, c->thread, (uint32_t)*result);
}

// name_of is the name of a function of the API: compilers have their own for some.
static const char *name_of(const char *function) { return function + (function[0] == '_' ? 2 : 0); }

#define REPORTED(call_domain, function, number, implementation, symbol, n, list) \
  extern int implementation(HEDDLE_PARAMETERS_##n list); \
  int function(HEDDLE_PARAMETERS_##n list) { \
    if (__builtin_expect(atomic_load_explicit(&watched, memory_order_relaxed) == 0, 1) || busy || depth) \
      return implementation(HEDDLE_NAMES_##n list); \
    const struct { \
      HEDDLE_FIELDS_##n list \
    } all = {HEDDLE_NAMES_##n list}; \
    struct call c = {.domain = call_domain, .id = number, .name = name_of(#function), .parameters = &all, .kernel = (uintptr_t)symbol}; \
    depth++; \
    enter(&c); \
    int result = implementation(HEDDLE_NAMES_##n list); \
    leave(&c, &result); \
    depth--; \
    return result; \
  }
#define RUNTIME(function, version, symbol, n, list) \
  REPORTED(CUPTI_CB_DOMAIN_RUNTIME_API, function, CUPTI_RUNTIME_TRACE_CBID_##function##_##version, heddle_##function, symbol, n, list)
#define DRIVER(function, symbol, n, list) \
  REPORTED(CUPTI_CB_DOMAIN_DRIVER_API, function, CUPTI_DRIVER_TRACE_CBID_##function, heddle_##function, symbol, n, list)
#include "heddle_cupti_calls.h"
#undef DRIVER
#undef RUNTIME

// Programs built by nvcc 12.8 and later launch with these functions; a kernel's handle is its host function.
#define LAUNCH(function, id) \
  REPORTED(CUPTI_CB_DOMAIN_RUNTIME_API, function, CUPTI_RUNTIME_TRACE_CBID_##id##_v7000, heddle___##id, func, 6, \
           (const void *, func, dim3, gridDim, dim3, blockDim, void **, args, size_t, sharedMem, cudaStream_t, stream))
LAUNCH(__cudaLaunchKernel, cudaLaunchKernel)
LAUNCH(__cudaLaunchKernel_ptsz, cudaLaunchKernel_ptsz)
#undef LAUNCH

// What an allocator of the program says of its memory (heddle/check.h, NVTX) is no call of CUDA's, but has a place.
static void place(void) {
  if (atomic_load_explicit(&watched, memory_order_relaxed) & 4 && !depth && !busy)
    callerCount = backtrace(callers, MOST_CALLERS);
}
#define PLACED(function, implementation) \
  extern int implementation(uintptr_t at, size_t bytes, uintptr_t stream); \
  int function(uintptr_t at, size_t bytes, uintptr_t stream) { \
    place(); \
    int result = implementation(at, bytes, stream); \
    callerCount = 0; \
    return result; \
  }
PLACED(HeddleGive, heddleGivePart)
PLACED(HeddleTake, heddleTakePart)
#undef PLACED

extern uintptr_t heddleNvtxHeap(uintptr_t desc);
extern void heddleNvtxHeapEnds(uintptr_t heap, int whole);

uintptr_t nvtxMemHeapRegister(uintptr_t domain, uintptr_t desc) {
  place();
  uintptr_t heap = heddleNvtxHeap(desc);
  callerCount = 0;
  return heap;
}
#define PLACED(function, implementation, ...) \
  void function(uintptr_t domain, uintptr_t about) { \
    place(); \
    implementation(about __VA_OPT__(,) __VA_ARGS__); \
    callerCount = 0; \
  }
extern void heddleNvtxRegions(uintptr_t desc), heddleNvtxResize(uintptr_t desc), heddleNvtxRegionsEnd(uintptr_t desc);
PLACED(nvtxMemHeapUnregister, heddleNvtxHeapEnds, 1)
PLACED(nvtxMemHeapReset, heddleNvtxHeapEnds, 0)
PLACED(nvtxMemRegionsRegister, heddleNvtxRegions)
PLACED(nvtxMemRegionsResize, heddleNvtxResize)
PLACED(nvtxMemRegionsUnregister, heddleNvtxRegionsEnd)
#undef PLACED
void nvtxMemPermissionsAssign(uintptr_t domain, uintptr_t desc) {}

// The names of calls by number, with their versions.
static const char *const runtimeNames[] = {"INVALID",
#define X(name) #name,
#include "heddle_cupti_runtime.h"
};
static const char *const driverNames[] = {"INVALID",
#include "heddle_cupti_driver.h"
#undef X
};

// Functions of CUPTI about callbacks. The handle of the subscriber is the address of its function's place.
#define HANDLE ((CUpti_SubscriberHandle)&subscriber)

CUptiResult cuptiSupportedDomains(size_t *count, CUpti_DomainTable *table) {
  static CUpti_CallbackDomain domains[] = {CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_CB_DOMAIN_RUNTIME_API};
  if (count == NULL || table == NULL)
    return CUPTI_ERROR_INVALID_PARAMETER;
  *count = sizeof domains / sizeof *domains;
  *table = domains;
  return CUPTI_SUCCESS;
}

CUptiResult cuptiSubscribe(CUpti_SubscriberHandle *to, CUpti_CallbackFunc callback, void *data) {
  if (to == NULL || callback == NULL)
    return CUPTI_ERROR_INVALID_PARAMETER;
  CUpti_CallbackFunc none = NULL;
  if (!atomic_compare_exchange_strong(&subscriber, &none, callback))
    return CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
  userdata = data;
  *to = HANDLE;
  return CUPTI_SUCCESS;
}

void heddle_unsubscribe(void) {
  atomic_fetch_and(&watched, ~2);
  memset(enabled, 0, sizeof enabled);
  atomic_store(&subscriber, NULL);
}

static int subscribed(CUpti_SubscriberHandle h) { return h == HANDLE && atomic_load(&subscriber) != NULL; }

CUptiResult cuptiUnsubscribe(CUpti_SubscriberHandle h) {
  if (!subscribed(h))
    return CUPTI_ERROR_INVALID_PARAMETER;
  heddle_unsubscribe();
  return CUPTI_SUCCESS;
}

static int isDomain(CUpti_CallbackDomain d) { return d > CUPTI_CB_DOMAIN_INVALID && d < CUPTI_CB_DOMAIN_SIZE; }

// isCall returns whether callbacks of a domain are called; it names those that are not, once.
static int isCall(CUpti_CallbackDomain d) {
  static char *const missing[DOMAINS] = {
      [CUPTI_CB_DOMAIN_RESOURCE] = "CUPTI_CB_DOMAIN_RESOURCE",
      [CUPTI_CB_DOMAIN_SYNCHRONIZE] = "CUPTI_CB_DOMAIN_SYNCHRONIZE",
      [CUPTI_CB_DOMAIN_NVTX] = "CUPTI_CB_DOMAIN_NVTX",
  };
  if (missing[d] != NULL)
    heddleNotRecorded(missing[d]);
  return d == CUPTI_CB_DOMAIN_DRIVER_API || d == CUPTI_CB_DOMAIN_RUNTIME_API;
}

// enable sets callbacks of a domain, from one number until another.
static void enable(CUpti_CallbackDomain d, uint32_t from, uint32_t until, uint32_t on) {
  for (uint32_t i = from; i < until; i++)
    enabled[d][i] = on != 0;
  if (!on || !isCall(d))
    return;
  atomic_fetch_or(&watched, 2);
}

CUptiResult cuptiGetCallbackState(uint32_t *to, CUpti_SubscriberHandle h, CUpti_CallbackDomain d, CUpti_CallbackId id) {
  if (to == NULL || !subscribed(h) || !isDomain(d) || id >= sizes[d])
    return CUPTI_ERROR_INVALID_PARAMETER;
  *to = enabled[d][id];
  return CUPTI_SUCCESS;
}

CUptiResult cuptiEnableCallback(uint32_t on, CUpti_SubscriberHandle h, CUpti_CallbackDomain d, CUpti_CallbackId id) {
  if (!subscribed(h) || !isDomain(d) || id == 0 || id >= sizes[d])
    return CUPTI_ERROR_INVALID_PARAMETER;
  enable(d, id, id + 1, on);
  return CUPTI_SUCCESS;
}

CUptiResult cuptiEnableDomain(uint32_t on, CUpti_SubscriberHandle h, CUpti_CallbackDomain d) {
  if (!subscribed(h) || !isDomain(d))
    return CUPTI_ERROR_INVALID_PARAMETER;
  enable(d, 1, sizes[d], on);
  return CUPTI_SUCCESS;
}

CUptiResult cuptiEnableAllDomains(uint32_t on, CUpti_SubscriberHandle h) {
  if (!subscribed(h))
    return CUPTI_ERROR_INVALID_PARAMETER;
  for (int d = CUPTI_CB_DOMAIN_INVALID + 1; d < DOMAINS; d++)
    enable(d, 1, sizes[d], on);
  return CUPTI_SUCCESS;
}

CUptiResult cuptiGetCallbackName(CUpti_CallbackDomain d, uint32_t id, const char **name) {
  if (name == NULL || d != CUPTI_CB_DOMAIN_DRIVER_API && d != CUPTI_CB_DOMAIN_RUNTIME_API || id >= sizes[d])
    return CUPTI_ERROR_INVALID_PARAMETER;
  *name = d == CUPTI_CB_DOMAIN_DRIVER_API ? driverNames[id] : runtimeNames[id];
  return CUPTI_SUCCESS;
}

CUptiResult cuptiSetThreadIdType(CUpti_ActivityThreadIdType type) {
  if (type < 0 || type >= CUPTI_ACTIVITY_THREAD_ID_TYPE_SIZE)
    return CUPTI_ERROR_INVALID_PARAMETER;
  idType = type;
  return CUPTI_SUCCESS;
}

CUptiResult cuptiGetThreadIdType(CUpti_ActivityThreadIdType *to) {
  if (to == NULL)
    return CUPTI_ERROR_INVALID_PARAMETER;
  *to = idType;
  return CUPTI_SUCCESS;
}
