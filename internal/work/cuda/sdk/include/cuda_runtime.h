// The C++ side of the CUDA runtime, and what nvcc includes before every program.
#ifndef HEDDLE_CUDA_RUNTIME_H
#define HEDDLE_CUDA_RUNTIME_H
// Programs test this macro to see whether the header was included.
#define __CUDA_RUNTIME_H__

#include <assert.h>
#include <limits.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "host_defines.h"

#if defined(__cplusplus)
#if defined(__CUDA__)
// Versions for kernels; new and delete of clang's <new> use them.
extern "C" __device__ void *malloc(size_t) __attribute__((nothrow, malloc));
extern "C" __device__ void free(void *) __attribute__((nothrow));
#endif
#include <new>
#include <utility>
#endif

#include "vector_types.h"
#include "vector_functions.h"
#include "driver_types.h"
#include "texture_types.h"
#include "cuda_runtime_api.h"
#include "cuda_device_runtime_api.h"
#include "library_types.h"

static __inline__ __host__ struct cudaExtent make_cudaExtent(size_t w, size_t h, size_t d) {
  struct cudaExtent e;
  e.width = w; e.height = h; e.depth = d;
  return e;
}
static __inline__ __host__ struct cudaPos make_cudaPos(size_t x, size_t y, size_t z) {
  struct cudaPos p;
  p.x = x; p.y = y; p.z = z;
  return p;
}
static __inline__ __host__ struct cudaPitchedPtr make_cudaPitchedPtr(void *d, size_t pitch, size_t xsize, size_t ysize) {
  struct cudaPitchedPtr p;
  p.ptr = d; p.pitch = pitch; p.xsize = xsize; p.ysize = ysize;
  return p;
}

// The forms with a location instead of a device number, in C++ also under the names of CUDA 13.
static __inline__ __host__ cudaError_t cudaMemPrefetchAsync_v2(const void *p, size_t bytes, struct cudaMemLocation to, unsigned int flags, cudaStream_t stream) {
  (void)flags;
  return cudaMemPrefetchAsync(p, bytes, to.type == cudaMemLocationTypeDevice ? to.id : cudaCpuDeviceId, stream);
}
static __inline__ __host__ cudaError_t cudaMemAdvise_v2(const void *p, size_t bytes, enum cudaMemoryAdvise advice, struct cudaMemLocation at) {
  return cudaMemAdvise(p, bytes, advice, at.type == cudaMemLocationTypeDevice ? at.id : cudaCpuDeviceId);
}
#if defined(__cplusplus)
static __inline__ __host__ cudaError_t cudaMemPrefetchAsync(const void *p, size_t bytes, cudaMemLocation to, unsigned flags, cudaStream_t stream = 0) {
  return cudaMemPrefetchAsync_v2(p, bytes, to, flags, stream);
}
static __inline__ __host__ cudaError_t cudaMemAdvise(const void *p, size_t bytes, cudaMemoryAdvise advice, cudaMemLocation at) {
  return cudaMemAdvise_v2(p, bytes, advice, at);
}
#endif

#if defined(__cplusplus)

template <class T> static inline cudaError_t cudaMalloc(T **p, size_t n) { return ::cudaMalloc((void **)(void *)p, n); }
template <class T> static inline cudaError_t cudaMallocHost(T **p, size_t n, unsigned int flags = 0) {
  return ::cudaHostAlloc((void **)(void *)p, n, flags);
}
template <class T> static inline cudaError_t cudaHostAlloc(T **p, size_t n, unsigned int flags) {
  return ::cudaHostAlloc((void **)(void *)p, n, flags);
}
template <class T> static inline cudaError_t cudaMallocManaged(T **p, size_t n, unsigned int flags = cudaMemAttachGlobal) {
  return ::cudaMallocManaged((void **)(void *)p, n, flags);
}
template <class T> static inline cudaError_t cudaMallocPitch(T **p, size_t *pitch, size_t w, size_t h) {
  return ::cudaMallocPitch((void **)(void *)p, pitch, w, h);
}
template <class T> static inline cudaError_t cudaMallocAsync(T **p, size_t n, cudaStream_t s) {
  return ::cudaMallocAsync((void **)(void *)p, n, s);
}
template <class T> static inline cudaError_t cudaMallocAsync(T **p, size_t n, cudaMemPool_t pool, cudaStream_t s) {
  return ::cudaMallocFromPoolAsync((void **)(void *)p, n, pool, s);
}
template <class T> static inline cudaError_t cudaMallocFromPoolAsync(T **p, size_t n, cudaMemPool_t pool, cudaStream_t s) {
  return ::cudaMallocFromPoolAsync((void **)(void *)p, n, pool, s);
}
template <class T> static inline cudaError_t cudaHostGetDevicePointer(T **d, void *h, unsigned int flags) {
  return ::cudaHostGetDevicePointer((void **)(void *)d, h, flags);
}

// A device variable or, as before CUDA 5.0, the name of one. A char pointer may be
// either; the library knows the variables.
extern "C" const void *__heddleSymbol(const void *host, const char *name);
template <class T> struct __heddleSymbolKind {
  static const void *of(const T &s) { return (const void *)&s; }
};
template <size_t n> struct __heddleSymbolKind<char[n]> {
  static const void *of(const char (&s)[n]) { return __heddleSymbol(s, s); }
};
template <> struct __heddleSymbolKind<const char *> {
  static const void *of(const char *const &s) { return __heddleSymbol(&s, s); }
};
template <> struct __heddleSymbolKind<char *> {
  static const void *of(char *const &s) { return __heddleSymbol(&s, s); }
};
template <class T> static inline const void *__heddleSymbolOf(const T &symbol) { return __heddleSymbolKind<T>::of(symbol); }

template <class T>
static inline cudaError_t cudaMemcpyToSymbol(const T &symbol, const void *src, size_t n, size_t off = 0,
                                             enum cudaMemcpyKind kind = cudaMemcpyHostToDevice) {
  return ::cudaMemcpyToSymbol(__heddleSymbolOf(symbol), src, n, off, kind);
}
template <class T>
static inline cudaError_t cudaMemcpyFromSymbol(void *dst, const T &symbol, size_t n, size_t off = 0,
                                               enum cudaMemcpyKind kind = cudaMemcpyDeviceToHost) {
  return ::cudaMemcpyFromSymbol(dst, __heddleSymbolOf(symbol), n, off, kind);
}
template <class T>
static inline cudaError_t cudaMemcpyToSymbolAsync(const T &symbol, const void *src, size_t n, size_t off = 0,
                                                  enum cudaMemcpyKind kind = cudaMemcpyHostToDevice, cudaStream_t s = 0) {
  return ::cudaMemcpyToSymbolAsync(__heddleSymbolOf(symbol), src, n, off, kind, s);
}
template <class T>
static inline cudaError_t cudaMemcpyFromSymbolAsync(void *dst, const T &symbol, size_t n, size_t off = 0,
                                                    enum cudaMemcpyKind kind = cudaMemcpyDeviceToHost, cudaStream_t s = 0) {
  return ::cudaMemcpyFromSymbolAsync(dst, __heddleSymbolOf(symbol), n, off, kind, s);
}
template <class T> static inline cudaError_t cudaGetSymbolAddress(void **p, const T &symbol) {
  return ::cudaGetSymbolAddress(p, __heddleSymbolOf(symbol));
}
template <class T> static inline cudaError_t cudaGetSymbolSize(size_t *n, const T &symbol) {
  return ::cudaGetSymbolSize(n, __heddleSymbolOf(symbol));
}
static inline cudaError_t cudaEventCreate(cudaEvent_t *e, unsigned int flags) { return ::cudaEventCreateWithFlags(e, flags); }

// The graph functions of releases before 12.
static inline cudaError_t cudaGraphInstantiate(cudaGraphExec_t *exec, cudaGraph_t graph, cudaGraphNode_t *node, char *log, size_t n) {
  cudaError_t err = ::cudaGraphInstantiate(exec, graph, 0);
  if (node) *node = 0;
  if (log && n) *log = 0;
  return err;
}
static inline cudaError_t cudaStreamGetCaptureInfo(cudaStream_t stream, cudaStreamCaptureStatus *status, unsigned long long *id, cudaGraph_t *graph,
                                                   const cudaGraphNode_t **nodes, const cudaGraphEdgeData **data, size_t *n) { // as in CUDA 13
  return cudaStreamGetCaptureInfo_v3(stream, status, id, graph, nodes, data, n);
}
static inline cudaError_t cudaStreamUpdateCaptureDependencies(cudaStream_t stream, cudaGraphNode_t *nodes, const cudaGraphEdgeData *data, size_t n,
                                                              unsigned int flags) { // as in CUDA 13
  return cudaStreamUpdateCaptureDependencies_v2(stream, nodes, data, n, flags);
}
static inline cudaError_t cudaGraphAddNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *deps, const cudaGraphEdgeData *data, size_t n,
                                           cudaGraphNodeParams *params) { // as in CUDA 13
  return cudaGraphAddNode_v2(node, graph, deps, data, n, params);
}
static inline cudaError_t cudaGraphExecUpdate(cudaGraphExec_t exec, cudaGraph_t graph, cudaGraphNode_t *node, enum cudaGraphExecUpdateResult *result) {
  cudaGraphExecUpdateResultInfo info = {cudaGraphExecUpdateSuccess, 0, 0};
  cudaError_t err = ::cudaGraphExecUpdate(exec, graph, &info);
  if (node) *node = info.errorNode;
  if (result) *result = info.result;
  return err;
}
template <class T>
static inline cudaError_t cudaGraphAddMemcpyNodeToSymbol(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *deps, size_t k, const T &symbol,
                                                         const void *src, size_t n, size_t off, enum cudaMemcpyKind kind) {
  return ::cudaGraphAddMemcpyNodeToSymbol(node, graph, deps, k, (const void *)&symbol, src, n, off, kind);
}
template <class T>
static inline cudaError_t cudaGraphAddMemcpyNodeFromSymbol(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *deps, size_t k, void *dst,
                                                           const T &symbol, size_t n, size_t off, enum cudaMemcpyKind kind) {
  return ::cudaGraphAddMemcpyNodeFromSymbol(node, graph, deps, k, dst, (const void *)&symbol, n, off, kind);
}

template <class T>
static inline cudaError_t cudaLaunchKernel(T *fn, dim3 grid, dim3 block, void **args, size_t shared = 0, cudaStream_t s = 0) {
  return ::cudaLaunchKernel((const void *)fn, grid, block, args, shared, s);
}
template <class T>
static inline cudaError_t cudaLaunchCooperativeKernel(T *fn, dim3 grid, dim3 block, void **args, size_t shared = 0, cudaStream_t s = 0) {
  return ::cudaLaunchCooperativeKernel((const void *)fn, grid, block, args, shared, s);
}
#if __cplusplus >= 201103L
// The arguments are converted to the kernel's parameters.
template <class... P, class... A> static inline cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t *config, void (*kernel)(P...), A &&...args) {
  return [&](P... converted) {
    void *list[sizeof...(P) + 1] = {(void *)&converted...};
    return ::cudaLaunchKernelExC(config, (const void *)kernel, list);
  }(static_cast<A &&>(args)...);
}
#endif
template <class T> static inline cudaError_t cudaLaunch(T *fn) { return ::cudaLaunch((const void *)fn); }
template <class T> static inline cudaError_t cudaSetupArgument(T arg, size_t offset) {
  return ::cudaSetupArgument((const void *)&arg, sizeof(T), offset);
}
template <class T> static inline cudaError_t cudaFuncGetAttributes(struct cudaFuncAttributes *a, T *fn) {
  return ::cudaFuncGetAttributes(a, (const void *)fn);
}
template <class T> static inline cudaError_t cudaFuncSetAttribute(T *fn, enum cudaFuncAttribute a, int v) {
  return ::cudaFuncSetAttribute((const void *)fn, a, v);
}
template <class T> static inline cudaError_t cudaFuncSetCacheConfig(T *fn, enum cudaFuncCache c) {
  return ::cudaFuncSetCacheConfig((const void *)fn, c);
}
template <class T> static inline cudaError_t cudaFuncSetSharedMemConfig(T *fn, enum cudaSharedMemConfig c) {
  return ::cudaFuncSetSharedMemConfig((const void *)fn, c);
}
template <class T>
static inline cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *n, T fn, int threads, size_t shared) {
  return ::cudaOccupancyMaxActiveBlocksPerMultiprocessor(n, (const void *)fn, threads, shared);
}
template <class T>
static inline cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *n, T fn, int threads, size_t shared, unsigned int flags) {
  return ::cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(n, (const void *)fn, threads, shared, flags);
}
template <class T> static inline cudaError_t cudaOccupancyMaxActiveClusters(int *n, T *fn, const cudaLaunchConfig_t *config) {
  return ::cudaOccupancyMaxActiveClusters(n, (const void *)fn, config);
}
template <class T> static inline cudaError_t cudaOccupancyMaxPotentialClusterSize(int *n, T *fn, const cudaLaunchConfig_t *config) {
  return ::cudaOccupancyMaxPotentialClusterSize(n, (const void *)fn, config);
}

// The block size, a multiple of the warp size, with the most resident threads; of equal
// ones the largest.
template <class F, class T>
static inline cudaError_t cudaOccupancyMaxPotentialBlockSizeVariableSMem(int *grid, int *block, T fn, F sharedOf, int limit = 0) {
  struct cudaFuncAttributes attr;
  int device = 0, sms = 0, best = 0;
  cudaError_t err = ::cudaFuncGetAttributes(&attr, (const void *)fn);
  if (err == cudaSuccess) err = ::cudaGetDevice(&device);
  if (err == cudaSuccess) err = ::cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device);
  if (err != cudaSuccess) return err;
  int most = attr.maxThreadsPerBlock;
  if (limit > 0 && limit < most) most = limit;
  *grid = *block = 0;
  for (int t = (most + 31) / 32 * 32; t > 0; t -= 32) {
    int threads = t < most ? t : most, n = 0;
    err = ::cudaOccupancyMaxActiveBlocksPerMultiprocessor(&n, (const void *)fn, threads, sharedOf(threads));
    if (err != cudaSuccess) return err;
    if (n * threads > best) {
      best = n * threads;
      *block = threads;
      *grid = n * sms;
    }
  }
  return cudaSuccess;
}
namespace heddle_sdk {
struct same_shared {
  size_t n;
  size_t operator()(int) const { return n; }
};
}
template <class T>
static inline cudaError_t cudaOccupancyMaxPotentialBlockSize(int *grid, int *block, T fn, size_t shared = 0, int limit = 0) {
  heddle_sdk::same_shared s = {shared};
  return cudaOccupancyMaxPotentialBlockSizeVariableSMem(grid, block, fn, s, limit);
}

// Channel descriptions of element types.
template <class T> inline cudaChannelFormatDesc cudaCreateChannelDesc() {
  cudaChannelFormatDesc d = {0, 0, 0, 0, cudaChannelFormatKindNone};
  return d;
}
#define HEDDLE_CHANNEL(type, bits, n, kind)                                     \
  template <> inline cudaChannelFormatDesc cudaCreateChannelDesc<type>() {      \
    cudaChannelFormatDesc d = {bits, n > 1 ? bits : 0, n > 2 ? bits : 0, n > 3 ? bits : 0, cudaChannelFormatKind##kind}; \
    return d;                                                                   \
  }
#define HEDDLE_CHANNELS(name, bits, kind) \
  HEDDLE_CHANNEL(name##1, bits, 1, kind) HEDDLE_CHANNEL(name##2, bits, 2, kind) HEDDLE_CHANNEL(name##4, bits, 4, kind)
HEDDLE_CHANNEL(char, 8, 1, Signed)
HEDDLE_CHANNEL(signed char, 8, 1, Signed)
HEDDLE_CHANNEL(unsigned char, 8, 1, Unsigned)
HEDDLE_CHANNEL(short, 16, 1, Signed)
HEDDLE_CHANNEL(unsigned short, 16, 1, Unsigned)
HEDDLE_CHANNEL(int, 32, 1, Signed)
HEDDLE_CHANNEL(unsigned int, 32, 1, Unsigned)
HEDDLE_CHANNEL(float, 32, 1, Float)
HEDDLE_CHANNELS(char, 8, Signed)
HEDDLE_CHANNELS(uchar, 8, Unsigned)
HEDDLE_CHANNELS(short, 16, Signed)
HEDDLE_CHANNELS(ushort, 16, Unsigned)
HEDDLE_CHANNELS(int, 32, Signed)
HEDDLE_CHANNELS(uint, 32, Unsigned)
HEDDLE_CHANNELS(float, 32, Float)
#undef HEDDLE_CHANNELS
#undef HEDDLE_CHANNEL
static inline cudaChannelFormatDesc cudaCreateChannelDescHalf() { return ::cudaCreateChannelDesc(16, 0, 0, 0, cudaChannelFormatKindFloat); }
static inline cudaChannelFormatDesc cudaCreateChannelDescHalf1() { return ::cudaCreateChannelDesc(16, 0, 0, 0, cudaChannelFormatKindFloat); }
static inline cudaChannelFormatDesc cudaCreateChannelDescHalf2() { return ::cudaCreateChannelDesc(16, 16, 0, 0, cudaChannelFormatKindFloat); }
static inline cudaChannelFormatDesc cudaCreateChannelDescHalf4() { return ::cudaCreateChannelDesc(16, 16, 16, 16, cudaChannelFormatKindFloat); }

#if defined(__CUDA__)

template <class T, int kind, enum cudaTextureReadMode mode>
__host__ texture<T, kind, mode>::texture(int norm, enum cudaTextureFilterMode filter, enum cudaTextureAddressMode address) {
  memset(static_cast<textureReference *>(this), 0, sizeof(textureReference));
  normalized = norm;
  filterMode = filter;
  addressMode[0] = addressMode[1] = addressMode[2] = address;
  channelDesc = cudaCreateChannelDesc<T>();
}
template <class T, int kind, enum cudaTextureReadMode mode>
__host__ texture<T, kind, mode>::texture(int norm, enum cudaTextureFilterMode filter, enum cudaTextureAddressMode address,
                                         struct cudaChannelFormatDesc desc) {
  memset(static_cast<textureReference *>(this), 0, sizeof(textureReference));
  normalized = norm;
  filterMode = filter;
  addressMode[0] = addressMode[1] = addressMode[2] = address;
  channelDesc = desc;
}

template <class T, int k, enum cudaTextureReadMode m>
static inline cudaError_t cudaBindTexture(size_t *off, const texture<T, k, m> &tex, const void *p, const struct cudaChannelFormatDesc &desc, size_t n = UINT_MAX) {
  return ::cudaBindTexture(off, static_cast<const textureReference *>(&tex), p, &desc, n);
}
template <class T, int k, enum cudaTextureReadMode m>
static inline cudaError_t cudaBindTexture(size_t *off, const texture<T, k, m> &tex, const void *p, size_t n = UINT_MAX) {
  return cudaBindTexture(off, tex, p, tex.channelDesc, n);
}
template <class T, int k, enum cudaTextureReadMode m>
static inline cudaError_t cudaBindTexture2D(size_t *off, const texture<T, k, m> &tex, const void *p, const struct cudaChannelFormatDesc &desc,
                                            size_t w, size_t h, size_t pitch) {
  return ::cudaBindTexture2D(off, static_cast<const textureReference *>(&tex), p, &desc, w, h, pitch);
}
template <class T, int k, enum cudaTextureReadMode m>
static inline cudaError_t cudaBindTexture2D(size_t *off, const texture<T, k, m> &tex, const void *p, size_t w, size_t h, size_t pitch) {
  return ::cudaBindTexture2D(off, static_cast<const textureReference *>(&tex), p, &tex.channelDesc, w, h, pitch);
}
template <class T, int k, enum cudaTextureReadMode m>
static inline cudaError_t cudaBindTextureToArray(const texture<T, k, m> &tex, cudaArray_const_t a, const struct cudaChannelFormatDesc &desc) {
  return ::cudaBindTextureToArray(static_cast<const textureReference *>(&tex), a, &desc);
}
template <class T, int k, enum cudaTextureReadMode m>
static inline cudaError_t cudaBindTextureToArray(const texture<T, k, m> &tex, cudaArray_const_t a) {
  struct cudaChannelFormatDesc desc;
  cudaError_t err = ::cudaGetChannelDesc(&desc, a);
  return err == cudaSuccess ? cudaBindTextureToArray(tex, a, desc) : err;
}
template <class T, int k, enum cudaTextureReadMode m>
static inline cudaError_t cudaBindTextureToMipmappedArray(const texture<T, k, m> &tex, cudaMipmappedArray_const_t a, const struct cudaChannelFormatDesc &desc) {
  return ::cudaBindTextureToMipmappedArray(static_cast<const textureReference *>(&tex), a, &desc);
}
template <class T, int k, enum cudaTextureReadMode m>
static inline cudaError_t cudaBindTextureToMipmappedArray(const texture<T, k, m> &tex, cudaMipmappedArray_const_t a) {
  return cudaBindTextureToMipmappedArray(tex, a, tex.channelDesc);
}
template <class T, int k, enum cudaTextureReadMode m>
static inline cudaError_t cudaGetTextureAlignmentOffset(size_t *off, const texture<T, k, m> &tex) {
  return ::cudaGetTextureAlignmentOffset(off, static_cast<const textureReference *>(&tex));
}
template <class T, int k, enum cudaTextureReadMode m>
static inline cudaError_t cudaUnbindTexture(const texture<T, k, m> &tex) {
  return ::cudaUnbindTexture(static_cast<const textureReference *>(&tex));
}
template <class T, int k>
static inline cudaError_t cudaBindSurfaceToArray(const surface<T, k> &surf, cudaArray_const_t a, const struct cudaChannelFormatDesc &desc) {
  return ::cudaBindSurfaceToArray(static_cast<const surfaceReference *>(&surf), a, &desc);
}
template <class T, int k>
static inline cudaError_t cudaBindSurfaceToArray(const surface<T, k> &surf, cudaArray_const_t a) {
  struct cudaChannelFormatDesc desc;
  cudaError_t err = ::cudaGetChannelDesc(&desc, a);
  return err == cudaSuccess ? cudaBindSurfaceToArray(surf, a, desc) : err;
}

// Passes the location of managed variables, if any, to the runtime before they are
// registered.
extern "C" {
extern char __start_heddle_managed[] __attribute__((weak, visibility("hidden")));
extern char __stop_heddle_managed[] __attribute__((weak, visibility("hidden")));
__host__ void __heddleRegisterManaged(void *from, void *to);
}
static __host__ __attribute__((constructor(101))) void heddle_register_managed() {
  if (__start_heddle_managed != __stop_heddle_managed) __heddleRegisterManaged(__start_heddle_managed, __stop_heddle_managed);
}

HEDDLE_NO_LINES
static __inline__ __host__ size_t __cvta_generic_to_shared(const void *p) { return (size_t)p; }
static __inline__ __device__ size_t __cvta_generic_to_shared(const void *p) { return (size_t)(__attribute__((address_space(3))) const void *)p; }
static __inline__ __device__ size_t __cvta_generic_to_global(const void *p) { return (size_t)(__attribute__((address_space(1))) const void *)p; }
HEDDLE_LINES

#endif // __CUDA__
#endif // __cplusplus

#endif
