// Functions that differ between releases of CUDA: a program gets that of the release that it was linked for. A
// function with one version here must have all versions of versions.map.
#include "_cgo_export.h"

#include "versions.h"

// VERSION makes heddle_IMPL the function NAME for programs of a release. DEFAULT does the same for those of 11.x and
// for programs without a version.
#define VERSION(name, node, impl) __asm__(".symver heddle_" #impl ", " #name "@libcudart.so." node)
#define DEFAULT(name, impl) __asm__(".symver heddle_" #impl ", " #name "@@libcudart.so.11.0")

// The runtime has the version that the program was linked for; if a library served several, the last one.
#define RELEASE(name, number) \
  int name(uintptr_t to) { return heddleVersion(to, number); }

RELEASE(heddle_release_9_0, 9000)
RELEASE(heddle_release_9_1, 9010)
RELEASE(heddle_release_9_2, 9020)
RELEASE(heddle_release_10_0, 10000)
RELEASE(heddle_release_10_1, 10010)
RELEASE(heddle_release_10_2, 10020)
RELEASE(heddle_release_11, 11080)
RELEASE(heddle_release_12, CUDART_VERSION)
RELEASE(heddle_release_13, 13000)

VERSION(cudaRuntimeGetVersion, "9.0", release_9_0);
VERSION(cudaRuntimeGetVersion, "9.1", release_9_1);
VERSION(cudaRuntimeGetVersion, "9.2", release_9_2);
VERSION(cudaRuntimeGetVersion, "10.0", release_10_0);
VERSION(cudaRuntimeGetVersion, "10.1", release_10_1);
VERSION(cudaRuntimeGetVersion, "10.2", release_10_2);
DEFAULT(cudaRuntimeGetVersion, release_11);
VERSION(cudaRuntimeGetVersion, "12", release_12);
VERSION(cudaRuntimeGetVersion, "13", release_13);

// cudaDeviceProp has grown and shrunk. From 12.0 to 12.9 the headers use another name for the function, and the old
// name is unchanged.
#define PROPERTIES(name, release) \
  int name(uintptr_t to, int device) { return heddleDeviceProperties(to, device, release); }

PROPERTIES(heddle_properties_9, 90)
PROPERTIES(heddle_properties_9_2, 92)
PROPERTIES(heddle_properties_10, 100)
PROPERTIES(heddle_properties_11, 110)
PROPERTIES(cudaGetDeviceProperties_v2, 120)
PROPERTIES(heddle_properties_13, 130)

VERSION(cudaGetDeviceProperties, "9.0", properties_9);
VERSION(cudaGetDeviceProperties, "9.1", properties_9);
VERSION(cudaGetDeviceProperties, "9.2", properties_9_2);
VERSION(cudaGetDeviceProperties, "10.0", properties_10);
VERSION(cudaGetDeviceProperties, "10.1", properties_10);
VERSION(cudaGetDeviceProperties, "10.2", properties_10);
DEFAULT(cudaGetDeviceProperties, properties_11);
VERSION(cudaGetDeviceProperties, "12", properties_11);
VERSION(cudaGetDeviceProperties, "13", properties_13);

// UNTIL_11 and UNTIL_12 are the versions in which a function did not change before 12 and 13.
#define UNTIL_11(name, impl) \
  VERSION(name, "9.0", impl); \
  VERSION(name, "9.1", impl); \
  VERSION(name, "9.2", impl); \
  VERSION(name, "10.0", impl); \
  VERSION(name, "10.1", impl); \
  VERSION(name, "10.2", impl); \
  DEFAULT(name, impl)
#define UNTIL_12(name, impl) \
  UNTIL_11(name, impl); \
  VERSION(name, "12", impl)

// Functions have attributes of clusters from 11.8 on. Earlier releases share their version with 11.8.
int heddle_attributes(uintptr_t to, uintptr_t fn) { return heddleFunctionAttributes(to, fn, 0); }
int heddle_attributes_12(uintptr_t to, uintptr_t fn) { return heddleFunctionAttributes(to, fn, 1); }
UNTIL_11(cudaFuncGetAttributes, attributes);
VERSION(cudaFuncGetAttributes, "12", attributes_12);
VERSION(cudaFuncGetAttributes, "13", attributes_12);

// From 13.0 on a struct describes the location of managed memory, and 12.2 has such functions under other names.
int heddle_prefetch(uintptr_t addr, size_t n, int device, uintptr_t stream) {
  return heddlePrefetch(addr, n, device, stream);
}

int cudaMemPrefetchAsync_v2(uintptr_t addr, size_t n, struct location to, unsigned flags, uintptr_t stream) {
  return heddlePrefetch(addr, n, location_device(to), stream);
}

int heddle_advise(uintptr_t addr, size_t n, int advice, int device) { return heddleAdvise(addr, n, advice, device); }

int cudaMemAdvise_v2(uintptr_t addr, size_t n, int advice, struct location at) {
  return heddleAdvise(addr, n, advice, location_device(at));
}

UNTIL_12(cudaMemPrefetchAsync, prefetch);
__asm__(".symver cudaMemPrefetchAsync_v2, cudaMemPrefetchAsync@libcudart.so.13");
UNTIL_12(cudaMemAdvise, advise);
__asm__(".symver cudaMemAdvise_v2, cudaMemAdvise@libcudart.so.13");

// From 12.0 on these have different arguments.
int heddle_instantiate(uintptr_t exec, uintptr_t graph, uintptr_t node, uintptr_t log, size_t n) {
  return heddleInstantiate(exec, graph, node, log, n);
}
int heddle_instantiate_12(uintptr_t exec, uintptr_t graph, unsigned long long flags) {
  return cudaGraphInstantiateWithFlags(exec, graph, flags);
}
int heddle_update(uintptr_t exec, uintptr_t graph, uintptr_t node, uintptr_t result) { return heddleUpdate(exec, graph, node, result); }
int heddle_update_12(uintptr_t exec, uintptr_t graph, uintptr_t info) { return heddleUpdateInfo(exec, graph, info); }

UNTIL_11(cudaGraphInstantiate, instantiate);
VERSION(cudaGraphInstantiate, "12", instantiate_12);
VERSION(cudaGraphInstantiate, "13", instantiate_12);
UNTIL_11(cudaGraphExecUpdate, update);
VERSION(cudaGraphExecUpdate, "12", update_12);
VERSION(cudaGraphExecUpdate, "13", update_12);

// From 13.0 on edges of graphs have data, and 12.3 has such functions under other names.
// LATER makes a function the form of 13 of a name.
#define LATER(name, impl, later) __asm__(".symver " #later ", " #name "@libcudart.so.13"); UNTIL_12(name, impl)

int heddle_connect(uintptr_t g, uintptr_t from, uintptr_t to, size_t n) { return heddleConnect(g, from, to, n, 1); }
int cudaGraphAddDependencies_v2(uintptr_t g, uintptr_t from, uintptr_t to, const struct edge *data, size_t n) {
  return heddleConnect(g, from, to, n, 1);
}
LATER(cudaGraphAddDependencies, connect, cudaGraphAddDependencies_v2);

int heddle_part(uintptr_t g, uintptr_t from, uintptr_t to, size_t n) { return heddleConnect(g, from, to, n, 0); }
int cudaGraphRemoveDependencies_v2(uintptr_t g, uintptr_t from, uintptr_t to, const struct edge *data, size_t n) {
  return heddleConnect(g, from, to, n, 0);
}
LATER(cudaGraphRemoveDependencies, part, cudaGraphRemoveDependencies_v2);

int heddle_edges(uintptr_t g, uintptr_t from, uintptr_t to, uintptr_t n) { return heddleEdges(g, from, to, n); }
int cudaGraphGetEdges_v2(uintptr_t g, uintptr_t from, uintptr_t to, struct edge *data, size_t *n) {
  return full_edges(heddleEdges(g, from, to, (uintptr_t)n), data, n);
}
LATER(cudaGraphGetEdges, edges, cudaGraphGetEdges_v2);

int heddle_before(uintptr_t node, uintptr_t to, uintptr_t n) { return heddleNeighbours(node, to, n, 0); }
int cudaGraphNodeGetDependencies_v2(uintptr_t node, uintptr_t to, struct edge *data, size_t *n) {
  return full_edges(heddleNeighbours(node, to, (uintptr_t)n, 0), data, n);
}
LATER(cudaGraphNodeGetDependencies, before, cudaGraphNodeGetDependencies_v2);

int heddle_after(uintptr_t node, uintptr_t to, uintptr_t n) { return heddleNeighbours(node, to, n, 1); }
int cudaGraphNodeGetDependentNodes_v2(uintptr_t node, uintptr_t to, struct edge *data, size_t *n) {
  return full_edges(heddleNeighbours(node, to, (uintptr_t)n, 1), data, n);
}
LATER(cudaGraphNodeGetDependentNodes, after, cudaGraphNodeGetDependentNodes_v2);

int heddle_add_node(uintptr_t node, uintptr_t g, uintptr_t deps, size_t n, uintptr_t params) { return heddleAddNode(node, g, deps, n, params); }
int cudaGraphAddNode_v2(uintptr_t node, uintptr_t g, uintptr_t deps, const struct edge *data, size_t n, uintptr_t params) {
  return heddleAddNode(node, g, deps, n, params);
}
LATER(cudaGraphAddNode, add_node, cudaGraphAddNode_v2);

int heddle_tail(uintptr_t stream, uintptr_t nodes, size_t n, unsigned flags) { return heddleTail(stream, nodes, n, flags); }
int cudaStreamUpdateCaptureDependencies_v2(uintptr_t stream, uintptr_t nodes, const struct edge *data, size_t n, unsigned flags) {
  return heddleTail(stream, nodes, n, flags);
}
LATER(cudaStreamUpdateCaptureDependencies, tail, cudaStreamUpdateCaptureDependencies_v2);

int heddle_captured(uintptr_t stream, uintptr_t status, uintptr_t id) { return cudaStreamGetCaptureInfo_v2(stream, status, id, 0, 0, 0); }
int cudaStreamGetCaptureInfo_v3(uintptr_t stream, uintptr_t status, uintptr_t id, uintptr_t graph, uintptr_t nodes, const struct edge **data, size_t *n) {
  size_t count = 0;
  return tail_edges(cudaStreamGetCaptureInfo_v2(stream, status, id, graph, nodes, (uintptr_t)&count), count, data, n);
}
LATER(cudaStreamGetCaptureInfo, captured, cudaStreamGetCaptureInfo_v3);

int cudaStreamGetCaptureInfo_v3_ptsz(uintptr_t s, uintptr_t status, uintptr_t id, uintptr_t graph, uintptr_t nodes, const struct edge **data, size_t *n) {
  return cudaStreamGetCaptureInfo_v3(s ? s : 2, status, id, graph, nodes, data, n);
}
int heddle_captured_ptsz(uintptr_t s, uintptr_t status, uintptr_t id) { return heddle_captured(s ? s : 2, status, id); }
int cudaStreamUpdateCaptureDependencies_v2_ptsz(uintptr_t s, uintptr_t nodes, const struct edge *data, size_t n, unsigned flags) {
  return heddleTail(s ? s : 2, nodes, n, flags);
}
int heddle_tail_ptsz(uintptr_t s, uintptr_t nodes, size_t n, unsigned flags) { return heddleTail(s ? s : 2, nodes, n, flags); }
int cudaMemPrefetchAsync_v2_ptsz(uintptr_t addr, size_t n, struct location to, unsigned flags, uintptr_t s) {
  return cudaMemPrefetchAsync_v2(addr, n, to, flags, s ? s : 2);
}
int heddle_prefetch_ptsz(uintptr_t addr, size_t n, int device, uintptr_t s) { return heddlePrefetch(addr, n, device, s ? s : 2); }

LATER(cudaStreamGetCaptureInfo_ptsz, captured_ptsz, cudaStreamGetCaptureInfo_v3_ptsz);
LATER(cudaStreamUpdateCaptureDependencies_ptsz, tail_ptsz, cudaStreamUpdateCaptureDependencies_v2_ptsz);
LATER(cudaMemPrefetchAsync_ptsz, prefetch_ptsz, cudaMemPrefetchAsync_v2_ptsz);

// The driver's functions by name, in the form of a release, by default that of the program. From 12.0 on a status says
// why there is none. Flags of 0 choose the default stream that the caller was compiled for.
#define ENTRY(name, per_thread, release) \
  int heddle_entry_##name(uintptr_t symbol, uintptr_t to, unsigned long long flags, uintptr_t status) { \
    return heddleEntryPoint(symbol, to, release, flags ? flags : per_thread ? 2 : 0, release < 12000 ? 0 : status); \
  }
ENTRY(11, 0, 11080)
ENTRY(12, 0, CUDART_VERSION)
ENTRY(13, 0, 13000)
ENTRY(11_ptsz, 1, 11080)
ENTRY(12_ptsz, 1, CUDART_VERSION)
ENTRY(13_ptsz, 1, 13000)
UNTIL_11(cudaGetDriverEntryPoint, entry_11);
VERSION(cudaGetDriverEntryPoint, "12", entry_12);
VERSION(cudaGetDriverEntryPoint, "13", entry_13);
UNTIL_11(cudaGetDriverEntryPoint_ptsz, entry_11_ptsz);
VERSION(cudaGetDriverEntryPoint_ptsz, "12", entry_12_ptsz);
VERSION(cudaGetDriverEntryPoint_ptsz, "13", entry_13_ptsz);

int cudaGetDriverEntryPointByVersion(uintptr_t symbol, uintptr_t to, unsigned release, unsigned long long flags, uintptr_t status) {
  return heddleEntryPoint(symbol, to, release, flags, status);
}
int cudaGetDriverEntryPointByVersion_ptsz(uintptr_t symbol, uintptr_t to, unsigned release, unsigned long long flags, uintptr_t status) {
  return heddleEntryPoint(symbol, to, release, flags ? flags : 2, status);
}
