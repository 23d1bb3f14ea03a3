// Functions for programs compiled with a default stream per thread (nvcc --default-stream
// per-thread): stream 0 is the thread's own. Names end with ptsz if there is a stream
// argument, and with ptds if there is none.
#include "_cgo_export.h"

#include <string.h>

// own is the handle of the calling thread's stream.
#define own ((uintptr_t)2)

#define STREAM(name, params, args) \
  int name##_ptsz params { \
    s = s ? s : own; \
    return name args; \
  }

// WAIT is for functions that wait until the work is done, START for those that do not.
#define WAIT(name, params, call) \
  int name##_ptds params { \
    int err = call; \
    return err ? err : cudaStreamSynchronize(own); \
  }
#define START(name, params, call) \
  int name##_ptds params { return call; }

unsigned __cudaPushCallConfiguration_ptsz(dim3 g, dim3 b, size_t m, uintptr_t s) { return __cudaPushCallConfiguration(g, b, m, s ? s : own); }
STREAM(__cudaLaunchKernel, (uintptr_t fn, dim3 g, dim3 b, uintptr_t args, size_t m, uintptr_t s), (fn, g, b, args, m, s))
STREAM(cudaLaunchKernel, (uintptr_t fn, dim3 g, dim3 b, uintptr_t args, size_t m, uintptr_t s), (fn, g, b, args, m, s))
STREAM(cudaLaunchCooperativeKernel, (uintptr_t fn, dim3 g, dim3 b, uintptr_t args, size_t m, uintptr_t s), (fn, g, b, args, m, s))
int cudaLaunchKernelExC_ptsz(uintptr_t config, uintptr_t fn, uintptr_t args) {
  struct { uint32_t shape[6]; uint64_t shared, stream, attributes; uint32_t n; } c;
  if (config == 0)
    return cudaLaunchKernelExC(config, fn, args);
  memcpy(&c, (void *)config, sizeof c);
  c.stream = c.stream ? c.stream : own;
  return cudaLaunchKernelExC((uintptr_t)&c, fn, args);
}
STREAM(cudaLaunchHostFunc, (uintptr_t s, uintptr_t fn, uintptr_t data), (s, fn, data))

STREAM(cudaMemcpyAsync, (uintptr_t d, uintptr_t f, size_t n, int k, uintptr_t s), (d, f, n, k, s))
STREAM(cudaMemcpyToSymbolAsync, (uintptr_t d, uintptr_t f, size_t n, size_t o, int k, uintptr_t s), (d, f, n, o, k, s))
STREAM(cudaMemcpyFromSymbolAsync, (uintptr_t d, uintptr_t f, size_t n, size_t o, int k, uintptr_t s), (d, f, n, o, k, s))
STREAM(cudaMemcpy2DAsync, (uintptr_t d, size_t dp, uintptr_t f, size_t fp, size_t w, size_t h, int k, uintptr_t s), (d, dp, f, fp, w, h, k, s))
STREAM(cudaMemcpy2DToArrayAsync, (uintptr_t a, size_t x, size_t y, uintptr_t f, size_t p, size_t w, size_t h, int k, uintptr_t s), (a, x, y, f, p, w, h, k, s))
STREAM(cudaMemcpy2DFromArrayAsync, (uintptr_t d, size_t p, uintptr_t a, size_t x, size_t y, size_t w, size_t h, int k, uintptr_t s), (d, p, a, x, y, w, h, k, s))
STREAM(cudaMemcpyToArrayAsync, (uintptr_t a, size_t x, size_t y, uintptr_t f, size_t n, int k, uintptr_t s), (a, x, y, f, n, k, s))
STREAM(cudaMemcpyFromArrayAsync, (uintptr_t d, uintptr_t a, size_t x, size_t y, size_t n, int k, uintptr_t s), (d, a, x, y, n, k, s))
STREAM(cudaMemcpy3DAsync, (uintptr_t p, uintptr_t s), (p, s))
STREAM(cudaMemcpy3DPeerAsync, (uintptr_t p, uintptr_t s), (p, s))
STREAM(cudaMemsetAsync, (uintptr_t d, int v, size_t n, uintptr_t s), (d, v, n, s))
STREAM(cudaMemset2DAsync, (uintptr_t d, size_t p, int v, size_t w, size_t h, uintptr_t s), (d, p, v, w, h, s))

WAIT(cudaMemcpy, (uintptr_t d, uintptr_t f, size_t n, int k), cudaMemcpyAsync(d, f, n, k, own))
WAIT(cudaMemcpyToSymbol, (uintptr_t d, uintptr_t f, size_t n, size_t o, int k), cudaMemcpyToSymbolAsync(d, f, n, o, k, own))
WAIT(cudaMemcpyFromSymbol, (uintptr_t d, uintptr_t f, size_t n, size_t o, int k), cudaMemcpyFromSymbolAsync(d, f, n, o, k, own))
WAIT(cudaMemcpy2D, (uintptr_t d, size_t dp, uintptr_t f, size_t fp, size_t w, size_t h, int k), cudaMemcpy2DAsync(d, dp, f, fp, w, h, k, own))
WAIT(cudaMemcpy2DToArray, (uintptr_t a, size_t x, size_t y, uintptr_t f, size_t p, size_t w, size_t h, int k), cudaMemcpy2DToArrayAsync(a, x, y, f, p, w, h, k, own))
WAIT(cudaMemcpy2DFromArray, (uintptr_t d, size_t p, uintptr_t a, size_t x, size_t y, size_t w, size_t h, int k), cudaMemcpy2DFromArrayAsync(d, p, a, x, y, w, h, k, own))
WAIT(cudaMemcpyToArray, (uintptr_t a, size_t x, size_t y, uintptr_t f, size_t n, int k), cudaMemcpyToArrayAsync(a, x, y, f, n, k, own))
WAIT(cudaMemcpyFromArray, (uintptr_t d, uintptr_t a, size_t x, size_t y, size_t n, int k), cudaMemcpyFromArrayAsync(d, a, x, y, n, k, own))
WAIT(cudaMemcpy3D, (uintptr_t p), cudaMemcpy3DAsync(p, own))
WAIT(cudaMemcpy3DPeer, (uintptr_t p), cudaMemcpy3DPeerAsync(p, own))
START(cudaMemset, (uintptr_t d, int v, size_t n), cudaMemsetAsync(d, v, n, own))
int cudaMemset3DAsync_ptsz(struct cudaPitchedPtr p, int v, struct cudaExtent e, uintptr_t s) { return cudaMemset3DAsync(p, v, e, s ? s : own); }
int cudaMemset3D_ptds(struct cudaPitchedPtr p, int v, struct cudaExtent e) { return cudaMemset3DAsync(p, v, e, own); }
START(cudaMemset2D, (uintptr_t d, size_t p, int v, size_t w, size_t h), cudaMemset2DAsync(d, p, v, w, h, own))

STREAM(cudaStreamQuery, (uintptr_t s), (s))
STREAM(cudaStreamSynchronize, (uintptr_t s), (s))
STREAM(cudaStreamGetFlags, (uintptr_t s, uintptr_t to), (s, to))
STREAM(cudaStreamGetPriority, (uintptr_t s, uintptr_t to), (s, to))
STREAM(cudaStreamSetAttribute, (uintptr_t s, int which, uintptr_t value), (s, which, value))
STREAM(cudaStreamGetAttribute, (uintptr_t s, int which, uintptr_t value), (s, which, value))
int cudaStreamCopyAttributes_ptsz(uintptr_t to, uintptr_t from) { return cudaStreamCopyAttributes(to ? to : own, from ? from : own); }
STREAM(cudaStreamGetId, (uintptr_t s, uintptr_t to), (s, to))
STREAM(cudaStreamWaitEvent, (uintptr_t s, uintptr_t e, unsigned f), (s, e, f))
STREAM(cudaStreamAddCallback, (uintptr_t s, uintptr_t fn, uintptr_t data, unsigned f), (s, fn, data, f))
STREAM(cudaStreamAttachMemAsync, (uintptr_t s, uintptr_t p, size_t n, unsigned f), (s, p, n, f))
STREAM(cudaStreamBeginCapture, (uintptr_t s, int mode), (s, mode))
STREAM(cudaStreamEndCapture, (uintptr_t s, uintptr_t to), (s, to))
STREAM(cudaStreamIsCapturing, (uintptr_t s, uintptr_t to), (s, to))
STREAM(cudaEventRecord, (uintptr_t e, uintptr_t s), (e, s))
STREAM(cudaEventRecordWithFlags, (uintptr_t e, uintptr_t s, unsigned f), (e, s, f))
STREAM(cudaGraphLaunch, (uintptr_t g, uintptr_t s), (g, s))
STREAM(cudaStreamBeginCaptureToGraph, (uintptr_t s, uintptr_t g, uintptr_t deps, uintptr_t data, size_t n, int mode), (s, g, deps, data, n, mode))
STREAM(cudaStreamGetCaptureInfo_v2, (uintptr_t s, uintptr_t status, uintptr_t id, uintptr_t g, uintptr_t nodes, uintptr_t n), (s, status, id, g, nodes, n))
STREAM(cudaStreamGetDevice, (uintptr_t s, uintptr_t to), (s, to))
int cudaGraphInstantiateWithParams_ptsz(uintptr_t exec, uintptr_t graph, uintptr_t params) { return cudaGraphInstantiateWithParams(exec, graph, params); }
STREAM(cudaGraphUpload, (uintptr_t g, uintptr_t s), (g, s))
STREAM(cudaMallocAsync, (uintptr_t to, size_t n, uintptr_t s), (to, n, s))
STREAM(cudaMallocFromPoolAsync, (uintptr_t to, size_t n, uintptr_t pool, uintptr_t s), (to, n, pool, s))
STREAM(cudaFreeAsync, (uintptr_t p, uintptr_t s), (p, s))
