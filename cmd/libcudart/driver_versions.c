// Functions of the driver whose later versions have other arguments, in the forms of CUDA 12.2 to 13.0.
#include "_cgo_export.h"

#include "versions.h"

int cuMemPrefetchAsync_v2(uintptr_t p, size_t n, struct location to, unsigned flags, uintptr_t stream) { return cuMemPrefetchAsync(p, n, location_device(to), stream); }
int cuMemPrefetchAsync_v2_ptsz(uintptr_t p, size_t n, struct location to, unsigned flags, uintptr_t stream) {
  return cuMemPrefetchAsync(p, n, location_device(to), stream ? stream : 2);
}
int cuMemAdvise_v2(uintptr_t p, size_t n, int advice, struct location at) { return cuMemAdvise(p, n, advice, location_device(at)); }

int cuGraphAddDependencies_v2(uintptr_t g, uintptr_t from, uintptr_t to, const struct edge *data, size_t n) { return cuGraphAddDependencies(g, from, to, n); }
int cuGraphRemoveDependencies_v2(uintptr_t g, uintptr_t from, uintptr_t to, const struct edge *data, size_t n) {
  return cuGraphRemoveDependencies(g, from, to, n);
}
int cuGraphGetEdges_v2(uintptr_t g, uintptr_t from, uintptr_t to, struct edge *data, size_t *n) {
  return full_edges(cuGraphGetEdges(g, from, to, (uintptr_t)n), data, n);
}
int cuGraphNodeGetDependencies_v2(uintptr_t node, uintptr_t to, struct edge *data, size_t *n) {
  return full_edges(cuGraphNodeGetDependencies(node, to, (uintptr_t)n), data, n);
}
int cuGraphNodeGetDependentNodes_v2(uintptr_t node, uintptr_t to, struct edge *data, size_t *n) {
  return full_edges(cuGraphNodeGetDependentNodes(node, to, (uintptr_t)n), data, n);
}
int cuStreamGetCaptureInfo_v3(uintptr_t stream, uintptr_t status, uintptr_t id, uintptr_t graph, uintptr_t nodes, const struct edge **data, size_t *n) {
  size_t count = 0;
  return tail_edges(cuStreamGetCaptureInfo_v2(stream, status, id, graph, nodes, (uintptr_t)&count), count, data, n);
}
int cuStreamGetCaptureInfo_v3_ptsz(uintptr_t stream, uintptr_t status, uintptr_t id, uintptr_t graph, uintptr_t nodes, const struct edge **data, size_t *n) {
  return cuStreamGetCaptureInfo_v3(stream ? stream : 2, status, id, graph, nodes, data, n);
}
