// NVTX 3: ranges with names, without a library to link. The functions are those of the
// library that the program runs with, if it has them; otherwise they have no effect.
#ifndef HEDDLE_NVTX_H
#define HEDDLE_NVTX_H

#include <dlfcn.h>

#include "../nvtx_types.h"

#define HEDDLE_NVTX_LOOK(result, name, params)                                                                                              \
  static result(*function) params;                                                                                                      \
  static int looked;                                                                                                                    \
  if (!looked) {                                                                                                                        \
    function = (result(*) params)dlsym((void *)0 /* the whole program */, #name);                                                       \
    looked = 1;                                                                                                                         \
  }
#define HEDDLE_NVTX(result, name, params, args, none)                                                                                       \
  static inline result name params {                                                                                                    \
    HEDDLE_NVTX_LOOK(result, name, params)                                                                                              \
    return function ? function args : none;                                                                                             \
  }
#define HEDDLE_NVTX_VOID(name, params, args)                                                                                                \
  static inline void name params {                                                                                                      \
    HEDDLE_NVTX_LOOK(void, name, params)                                                                                                \
    if (function)                                                                                                                       \
      function args;                                                                                                                    \
  }

HEDDLE_NVTX_VOID(nvtxInitialize, (const void *reserved), (reserved))
HEDDLE_NVTX_VOID(nvtxMarkEx, (const nvtxEventAttributes_t *eventAttrib), (eventAttrib))
HEDDLE_NVTX_VOID(nvtxMarkA, (const char *message), (message))
HEDDLE_NVTX_VOID(nvtxMarkW, (const wchar_t *message), (message))
HEDDLE_NVTX(nvtxRangeId_t, nvtxRangeStartEx, (const nvtxEventAttributes_t *eventAttrib), (eventAttrib), 0)
HEDDLE_NVTX(nvtxRangeId_t, nvtxRangeStartA, (const char *message), (message), 0)
HEDDLE_NVTX(nvtxRangeId_t, nvtxRangeStartW, (const wchar_t *message), (message), 0)
HEDDLE_NVTX_VOID(nvtxRangeEnd, (nvtxRangeId_t id), (id))
HEDDLE_NVTX(int, nvtxRangePushEx, (const nvtxEventAttributes_t *eventAttrib), (eventAttrib), NVTX_NO_PUSH_POP_TRACKING)
HEDDLE_NVTX(int, nvtxRangePushA, (const char *message), (message), NVTX_NO_PUSH_POP_TRACKING)
HEDDLE_NVTX(int, nvtxRangePushW, (const wchar_t *message), (message), NVTX_NO_PUSH_POP_TRACKING)
HEDDLE_NVTX(int, nvtxRangePop, (void), (), NVTX_NO_PUSH_POP_TRACKING)
HEDDLE_NVTX_VOID(nvtxNameCategoryA, (uint32_t category, const char *name), (category, name))
HEDDLE_NVTX_VOID(nvtxNameCategoryW, (uint32_t category, const wchar_t *name), (category, name))
HEDDLE_NVTX_VOID(nvtxNameOsThreadA, (uint32_t threadId, const char *name), (threadId, name))
HEDDLE_NVTX_VOID(nvtxNameOsThreadW, (uint32_t threadId, const wchar_t *name), (threadId, name))
HEDDLE_NVTX(nvtxDomainHandle_t, nvtxDomainCreateA, (const char *name), (name), NULL)
HEDDLE_NVTX(nvtxDomainHandle_t, nvtxDomainCreateW, (const wchar_t *name), (name), NULL)
HEDDLE_NVTX_VOID(nvtxDomainDestroy, (nvtxDomainHandle_t domain), (domain))
HEDDLE_NVTX_VOID(nvtxDomainMarkEx, (nvtxDomainHandle_t domain, const nvtxEventAttributes_t *eventAttrib), (domain, eventAttrib))
HEDDLE_NVTX(nvtxRangeId_t, nvtxDomainRangeStartEx, (nvtxDomainHandle_t domain, const nvtxEventAttributes_t *eventAttrib), (domain, eventAttrib), 0)
HEDDLE_NVTX_VOID(nvtxDomainRangeEnd, (nvtxDomainHandle_t domain, nvtxRangeId_t id), (domain, id))
HEDDLE_NVTX(int, nvtxDomainRangePushEx, (nvtxDomainHandle_t domain, const nvtxEventAttributes_t *eventAttrib), (domain, eventAttrib), NVTX_NO_PUSH_POP_TRACKING)
HEDDLE_NVTX(int, nvtxDomainRangePop, (nvtxDomainHandle_t domain), (domain), NVTX_NO_PUSH_POP_TRACKING)
HEDDLE_NVTX_VOID(nvtxDomainNameCategoryA, (nvtxDomainHandle_t domain, uint32_t category, const char *name), (domain, category, name))
HEDDLE_NVTX_VOID(nvtxDomainNameCategoryW, (nvtxDomainHandle_t domain, uint32_t category, const wchar_t *name), (domain, category, name))
HEDDLE_NVTX(nvtxStringHandle_t, nvtxDomainRegisterStringA, (nvtxDomainHandle_t domain, const char *string), (domain, string), NULL)
HEDDLE_NVTX(nvtxStringHandle_t, nvtxDomainRegisterStringW, (nvtxDomainHandle_t domain, const wchar_t *string), (domain, string), NULL)

#endif
