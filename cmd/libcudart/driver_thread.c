// Functions for programs compiled with a default stream per thread (nvcc --default-stream
// per-thread): stream 0 is the thread's own. Names of functions that wait end in _ptds,
// those of the others in _ptsz.
#include "_cgo_export.h"

#define PER_THREAD 2
#define OWN(stream) ((stream) ? (stream) : PER_THREAD)

// WAITS defines a copy or fill that waits, using the one that does not.
#define WAITS(name, params, call) \
  int name##_ptds params { \
    int error = call; \
    return error ? error : cuStreamSynchronize(PER_THREAD); \
  }

WAITS(cuMemcpy, (uintptr_t dst, uintptr_t src, size_t n), cuMemcpyAsync(dst, src, n, PER_THREAD))
WAITS(cuMemcpyHtoD_v2, (uintptr_t dst, uintptr_t src, size_t n), cuMemcpyHtoDAsync_v2(dst, src, n, PER_THREAD))
WAITS(cuMemcpyDtoH_v2, (uintptr_t dst, uintptr_t src, size_t n), cuMemcpyDtoHAsync_v2(dst, src, n, PER_THREAD))
WAITS(cuMemcpyDtoD_v2, (uintptr_t dst, uintptr_t src, size_t n), cuMemcpyDtoDAsync_v2(dst, src, n, PER_THREAD))
WAITS(cuMemsetD8_v2, (uintptr_t dst, unsigned char v, size_t n), cuMemsetD8Async(dst, v, n, PER_THREAD))
WAITS(cuMemsetD16_v2, (uintptr_t dst, unsigned short v, size_t n), cuMemsetD16Async(dst, v, n, PER_THREAD))
WAITS(cuMemsetD32_v2, (uintptr_t dst, unsigned v, size_t n), cuMemsetD32Async(dst, v, n, PER_THREAD))
WAITS(cuMemsetD2D8_v2, (uintptr_t dst, size_t pitch, unsigned char v, size_t w, size_t h), cuMemsetD2D8Async(dst, pitch, v, w, h, PER_THREAD))
WAITS(cuMemsetD2D16_v2, (uintptr_t dst, size_t pitch, unsigned short v, size_t w, size_t h), cuMemsetD2D16Async(dst, pitch, v, w, h, PER_THREAD))
WAITS(cuMemsetD2D32_v2, (uintptr_t dst, size_t pitch, unsigned v, size_t w, size_t h), cuMemsetD2D32Async(dst, pitch, v, w, h, PER_THREAD))

WAITS(cuMemcpy2D_v2, (uintptr_t copy), cuMemcpy2DAsync_v2(copy, PER_THREAD))
WAITS(cuMemcpy2DUnaligned_v2, (uintptr_t copy), cuMemcpy2DAsync_v2(copy, PER_THREAD))
WAITS(cuMemcpy3D_v2, (uintptr_t copy), cuMemcpy3DAsync_v2(copy, PER_THREAD))
WAITS(cuMemcpyHtoA_v2, (uintptr_t dst, size_t at, uintptr_t src, size_t n), cuMemcpyHtoAAsync_v2(dst, at, src, n, PER_THREAD))
WAITS(cuMemcpyAtoH_v2, (uintptr_t dst, uintptr_t src, size_t at, size_t n), cuMemcpyAtoHAsync_v2(dst, src, at, n, PER_THREAD))

WAITS(cuMemcpy3DPeer, (uintptr_t copy), cuMemcpy3DPeerAsync(copy, PER_THREAD))
WAITS(cuMemcpyPeer, (uintptr_t dst, uintptr_t to, uintptr_t src, uintptr_t from, size_t n), cuMemcpyPeerAsync(dst, to, src, from, n, PER_THREAD))

// Array copies without a form with a stream wait for all streams.
WAITS(cuMemcpyDtoA_v2, (uintptr_t dst, size_t at, uintptr_t src, size_t n), cuMemcpyDtoA_v2(dst, at, src, n))
WAITS(cuMemcpyAtoD_v2, (uintptr_t dst, uintptr_t src, size_t at, size_t n), cuMemcpyAtoD_v2(dst, src, at, n))
WAITS(cuMemcpyAtoA_v2, (uintptr_t dst, size_t to, uintptr_t src, size_t from, size_t n), cuMemcpyAtoA_v2(dst, to, src, from, n))

// FORWARD defines a function with a stream argument.
#define FORWARD(name, params, ...) \
  int name##_ptsz params { return name(__VA_ARGS__); }

FORWARD(cuMemcpyAsync, (uintptr_t dst, uintptr_t src, size_t n, uintptr_t s), dst, src, n, OWN(s))
FORWARD(cuMemcpyHtoDAsync_v2, (uintptr_t dst, uintptr_t src, size_t n, uintptr_t s), dst, src, n, OWN(s))
FORWARD(cuMemcpyDtoHAsync_v2, (uintptr_t dst, uintptr_t src, size_t n, uintptr_t s), dst, src, n, OWN(s))
FORWARD(cuMemcpyDtoDAsync_v2, (uintptr_t dst, uintptr_t src, size_t n, uintptr_t s), dst, src, n, OWN(s))
FORWARD(cuMemcpy2DAsync_v2, (uintptr_t copy, uintptr_t s), copy, OWN(s))
FORWARD(cuMemcpy3DAsync_v2, (uintptr_t copy, uintptr_t s), copy, OWN(s))
FORWARD(cuMemcpyHtoAAsync_v2, (uintptr_t dst, size_t at, uintptr_t src, size_t n, uintptr_t s), dst, at, src, n, OWN(s))
FORWARD(cuMemcpyAtoHAsync_v2, (uintptr_t dst, uintptr_t src, size_t at, size_t n, uintptr_t s), dst, src, at, n, OWN(s))
FORWARD(cuMemcpyPeerAsync, (uintptr_t dst, uintptr_t to, uintptr_t src, uintptr_t from, size_t n, uintptr_t s), dst, to, src, from, n, OWN(s))
FORWARD(cuMemcpy3DPeerAsync, (uintptr_t copy, uintptr_t s), copy, OWN(s))
FORWARD(cuMemsetD8Async, (uintptr_t dst, unsigned char v, size_t n, uintptr_t s), dst, v, n, OWN(s))
FORWARD(cuMemsetD16Async, (uintptr_t dst, unsigned short v, size_t n, uintptr_t s), dst, v, n, OWN(s))
FORWARD(cuMemsetD32Async, (uintptr_t dst, unsigned v, size_t n, uintptr_t s), dst, v, n, OWN(s))
FORWARD(cuMemsetD2D8Async, (uintptr_t dst, size_t pitch, unsigned char v, size_t w, size_t h, uintptr_t s), dst, pitch, v, w, h, OWN(s))
FORWARD(cuMemsetD2D16Async, (uintptr_t dst, size_t pitch, unsigned short v, size_t w, size_t h, uintptr_t s), dst, pitch, v, w, h, OWN(s))
FORWARD(cuMemsetD2D32Async, (uintptr_t dst, size_t pitch, unsigned v, size_t w, size_t h, uintptr_t s), dst, pitch, v, w, h, OWN(s))
FORWARD(cuMemAllocAsync, (uintptr_t to, size_t n, uintptr_t s), to, n, OWN(s))
FORWARD(cuMemFreeAsync, (uintptr_t p, uintptr_t s), p, OWN(s))
FORWARD(cuMemPrefetchAsync, (uintptr_t p, size_t n, int device, uintptr_t s), p, n, device, OWN(s))
FORWARD(cuMemAllocFromPoolAsync, (uintptr_t to, size_t n, uintptr_t pool, uintptr_t s), to, n, pool, OWN(s))
FORWARD(cuStreamBeginCapture_v2, (uintptr_t s, int mode), OWN(s), mode)
FORWARD(cuStreamEndCapture, (uintptr_t s, uintptr_t to), OWN(s), to)
FORWARD(cuStreamIsCapturing, (uintptr_t s, uintptr_t to), OWN(s), to)
FORWARD(cuStreamGetCaptureInfo_v2, (uintptr_t s, uintptr_t status, uintptr_t id, uintptr_t graph, uintptr_t nodes, uintptr_t n), OWN(s), status, id,
        graph, nodes, n)
FORWARD(cuStreamBeginCapture, (uintptr_t s), OWN(s))
FORWARD(cuStreamBeginCaptureToGraph, (uintptr_t s, uintptr_t graph, uintptr_t deps, uintptr_t data, size_t n, int mode), OWN(s), graph, deps, data, n, mode)
FORWARD(cuStreamGetCaptureInfo, (uintptr_t s, uintptr_t status, uintptr_t id), OWN(s), status, id)
FORWARD(cuStreamUpdateCaptureDependencies, (uintptr_t s, uintptr_t nodes, size_t n, unsigned flags), OWN(s), nodes, n, flags)
FORWARD(cuStreamUpdateCaptureDependencies_v2, (uintptr_t s, uintptr_t nodes, uintptr_t data, size_t n, unsigned flags), OWN(s), nodes, data, n, flags)
FORWARD(cuStreamWaitValue32, (uintptr_t s, unsigned long long p, unsigned v, unsigned flags), OWN(s), p, v, flags)
FORWARD(cuStreamWaitValue32_v2, (uintptr_t s, unsigned long long p, unsigned v, unsigned flags), OWN(s), p, v, flags)
FORWARD(cuStreamWaitValue64, (uintptr_t s, unsigned long long p, unsigned long long v, unsigned flags), OWN(s), p, v, flags)
FORWARD(cuStreamWaitValue64_v2, (uintptr_t s, unsigned long long p, unsigned long long v, unsigned flags), OWN(s), p, v, flags)
FORWARD(cuStreamWriteValue32, (uintptr_t s, unsigned long long p, unsigned v, unsigned flags), OWN(s), p, v, flags)
FORWARD(cuStreamWriteValue32_v2, (uintptr_t s, unsigned long long p, unsigned v, unsigned flags), OWN(s), p, v, flags)
FORWARD(cuStreamWriteValue64, (uintptr_t s, unsigned long long p, unsigned long long v, unsigned flags), OWN(s), p, v, flags)
FORWARD(cuStreamWriteValue64_v2, (uintptr_t s, unsigned long long p, unsigned long long v, unsigned flags), OWN(s), p, v, flags)
FORWARD(cuStreamBatchMemOp, (uintptr_t s, unsigned n, uintptr_t ops, unsigned flags), OWN(s), n, ops, flags)
FORWARD(cuStreamBatchMemOp_v2, (uintptr_t s, unsigned n, uintptr_t ops, unsigned flags), OWN(s), n, ops, flags)
FORWARD(cuStreamGetDevice, (uintptr_t s, uintptr_t to), OWN(s), to)
// The stream of an upload is the only one here, and an upload does nothing.
int cuGraphInstantiateWithParams_ptsz(uintptr_t exec, uintptr_t graph, uintptr_t params) { return cuGraphInstantiateWithParams(exec, graph, params); }
FORWARD(cuGraphUpload, (uintptr_t exec, uintptr_t s), exec, OWN(s))
FORWARD(cuGraphLaunch, (uintptr_t exec, uintptr_t s), exec, OWN(s))
FORWARD(cuStreamSynchronize, (uintptr_t s), OWN(s))
FORWARD(cuStreamQuery, (uintptr_t s), OWN(s))
FORWARD(cuStreamWaitEvent, (uintptr_t s, uintptr_t event, unsigned flags), OWN(s), event, flags)
FORWARD(cuStreamGetFlags, (uintptr_t s, uintptr_t to), OWN(s), to)
FORWARD(cuStreamGetPriority, (uintptr_t s, uintptr_t to), OWN(s), to)
FORWARD(cuStreamSetAttribute, (uintptr_t s, int which, uintptr_t value), OWN(s), which, value)
FORWARD(cuStreamGetAttribute, (uintptr_t s, int which, uintptr_t value), OWN(s), which, value)
FORWARD(cuStreamCopyAttributes, (uintptr_t to, uintptr_t from), OWN(to), OWN(from))
FORWARD(cuStreamGetId, (uintptr_t s, uintptr_t to), OWN(s), to)
FORWARD(cuStreamGetCtx, (uintptr_t s, uintptr_t to), OWN(s), to)
FORWARD(cuStreamAddCallback, (uintptr_t s, uintptr_t fn, uintptr_t data, unsigned flags), OWN(s), fn, data, flags)
FORWARD(cuStreamAttachMemAsync, (uintptr_t s, uintptr_t p, size_t n, unsigned flags), OWN(s), p, n, flags)
FORWARD(cuEventRecord, (uintptr_t event, uintptr_t s), event, OWN(s))
FORWARD(cuEventRecordWithFlags, (uintptr_t event, uintptr_t s, unsigned flags), event, OWN(s), flags)
FORWARD(cuLaunchHostFunc_v2, (uintptr_t s, uintptr_t fn, uintptr_t data, unsigned mode), OWN(s), fn, data, mode)
FORWARD(cuLaunchHostFunc, (uintptr_t s, uintptr_t fn, uintptr_t data), OWN(s), fn, data)
FORWARD(cuLaunchKernel,
        (uintptr_t fn, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared, uintptr_t s,
         uintptr_t params, uintptr_t extra),
        fn, gx, gy, gz, bx, by, bz, shared, OWN(s), params, extra)
FORWARD(cuLaunchCooperativeKernel,
        (uintptr_t fn, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared, uintptr_t s,
         uintptr_t params),
        fn, gx, gy, gz, bx, by, bz, shared, OWN(s), params)

int cuLaunchKernelEx_ptsz(uintptr_t config, uintptr_t fn, uintptr_t params, uintptr_t extra) {
  if (config == 0)
    return cuLaunchKernelEx(config, fn, params, extra);
  CUlaunchConfig own = *(CUlaunchConfig *)config;
  own.hStream = (CUstream)OWN((uintptr_t)own.hStream);
  return cuLaunchKernelEx((uintptr_t)&own, fn, params, extra);
}
