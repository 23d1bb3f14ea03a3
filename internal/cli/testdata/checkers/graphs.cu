// Nodes of graphs: only edges order them.
#include "suite.h"

__global__ void fill(int *p, int v) { p[threadIdx.x] = v; } // BUG kernels_apart: race-streams BUG memset_apart: race-streams BUG copy_apart: race-streams BUG child_apart: race-streams BUG child_inside: race-streams BUG siblings: race-streams BUG diamond_open: race-streams BUG after_other: race-streams BUG host_apart: race-streams BUG fork_late: race-streams BUG memory_apart: race-streams BUG two_execs: race-streams
__global__ void use(const int *in, int *out) { out[threadIdx.x] = in[threadIdx.x]; } // BUG kernels_apart: race-streams BUG child_apart: race-streams BUG child_inside: race-streams BUG after_other: race-streams BUG fork_late: race-streams
__global__ void add(const int *a, const int *b, int *out) { out[threadIdx.x] = a[threadIdx.x] + b[threadIdx.x]; } // BUG diamond_open: race-streams

struct stream {
  cudaStream_t s;
  stream() { must(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking)); }
  ~stream() { cudaStreamDestroy(s); }
  operator cudaStream_t() const { return s; }
};

// A graph, and what it takes to launch it.
struct graph {
  cudaGraph_t g;
  cudaGraphExec_t x = nullptr;
  graph() { must(cudaGraphCreate(&g, 0)); }
  ~graph() {
    if (x)
      cudaGraphExecDestroy(x);
    cudaGraphDestroy(g);
  }
  cudaGraphNode_t kernel(void *f, void **args, cudaGraphNode_t after = nullptr, cudaGraphNode_t also = nullptr) {
    cudaKernelNodeParams k = {};
    k.func = f;
    k.gridDim = dim3(1);
    k.blockDim = dim3(64);
    k.kernelParams = args;
    cudaGraphNode_t n, deps[2] = {after, also};
    must(cudaGraphAddKernelNode(&n, g, deps, (after != nullptr) + (also != nullptr), &k));
    return n;
  }
  cudaGraphNode_t fills(int *p, int v, cudaGraphNode_t after = nullptr) {
    void *args[] = {&p, &v};
    return kernel((void *)fill, args, after);
  }
  cudaGraphNode_t uses(const int *p, int *q, cudaGraphNode_t after = nullptr) {
    void *args[] = {&p, &q};
    return kernel((void *)use, args, after);
  }
  void launch(cudaStream_t s) {
    if (!x)
      must(cudaGraphInstantiate(&x, g, 0));
    must(cudaGraphLaunch(x, s)); // BUG memset_apart: race-streams BUG copy_apart: race-streams BUG memory_apart: race-streams
  }
};

static void kernels(bool edge) {
  buffer<int> p(64), q(64);
  must(cudaDeviceSynchronize());
  stream s;
  graph g;
  auto a = g.fills(p, 1);
  g.uses(p, q, edge ? a : nullptr);
  g.launch(s);
  finish();
}
CASE(kernels_apart) { kernels(false); }
CASE(kernels_edge) { kernels(true); } // CLEAN kernels_edge

// A path of edges orders its ends, and nodes that share nothing need none.
CASE(path) { // CLEAN path
  buffer<int> p(64), q(64), r(64);
  must(cudaDeviceSynchronize());
  stream s;
  graph g;
  auto a = g.fills(p, 1);
  auto b = g.fills(r, 2, a);
  g.uses(p, q, b);
  g.launch(s);
  g.launch(s);
  finish();
}

static void memset_node(bool edge) {
  buffer<int> p(64);
  must(cudaDeviceSynchronize());
  stream s;
  graph g;
  cudaMemsetParams m = {};
  m.dst = p;
  m.elementSize = 4;
  m.width = 64;
  m.height = 1;
  cudaGraphNode_t n;
  must(cudaGraphAddMemsetNode(&n, g.g, nullptr, 0, &m));
  g.fills(p, 1, edge ? n : nullptr);
  g.launch(s);
  finish();
}
CASE(memset_apart) { memset_node(false); }
CASE(memset_edge) { memset_node(true); } // CLEAN memset_edge

static void copy_node(bool edge) {
  buffer<int> p(64);
  int *host;
  must(cudaMallocHost(&host, 64 * sizeof(int)));
  must(cudaDeviceSynchronize());
  {
    stream s;
    graph g;
    auto a = g.fills(p, 1);
    cudaGraphNode_t n;
    must(cudaGraphAddMemcpyNode1D(&n, g.g, &a, edge, host, p, 64 * sizeof(int), cudaMemcpyDeviceToHost));
    g.launch(s);
    finish();
  }
  must(cudaFreeHost(host));
}
CASE(copy_apart) { copy_node(false); }
CASE(copy_edge) { copy_node(true); } // CLEAN copy_edge

// A graph as a node of another. Its nodes come after those before it, and in its own order.
static void child(bool outer, bool inner) {
  buffer<int> p(64), q(64), r(64);
  must(cudaDeviceSynchronize());
  stream s;
  graph c, g;
  auto b = c.fills(r, 2);
  c.uses(r, q, inner ? b : nullptr);
  auto a = g.fills(p, 1);
  cudaGraphNode_t n;
  must(cudaGraphAddChildGraphNode(&n, g.g, &a, 1, c.g));
  g.uses(q, p, outer ? n : nullptr);
  g.launch(s);
  finish();
}
CASE(child_apart) { child(false, true); }
CASE(child_inside) { child(true, false); }
CASE(child_ordered) { child(true, true); } // CLEAN child_ordered

// Two nodes after one: each of its own, or both of one result.
static void both(bool apart) {
  buffer<int> p(64), q(128);
  must(cudaDeviceSynchronize());
  stream s;
  graph g;
  auto a = g.fills(p, 1);
  g.fills(q, 2, a);
  g.fills(apart ? q + 64 : q, 3, a);
  g.launch(s);
  finish();
}
CASE(siblings) { both(false); }
CASE(siblings_apart) { both(true); } // CLEAN siblings_apart

static void diamond(bool closed) {
  buffer<int> p(64), q(64), r(64);
  must(cudaDeviceSynchronize());
  stream s;
  graph g;
  cudaGraphNode_t top = g.fills(r, 0);
  auto left = g.fills(p, 1, top), right = g.fills(q, 2, top);
  int *args[] = {p, q, r};
  void *params[] = {&args[0], &args[1], &args[2]};
  g.kernel((void *)add, params, left, closed ? right : nullptr);
  for (int k = 0; k < 3; k++)
    g.launch(s);
  finish();
}
CASE(diamond_open) { diamond(false); }
CASE(diamond_closed) { diamond(true); } // CLEAN diamond_closed

// What a stream does after the launch of a graph comes after all of its nodes.
static void after(bool same) {
  buffer<int> p(64), q(64), r(64);
  must(cudaDeviceSynchronize());
  stream s, t;
  graph g;
  g.fills(p, 1);
  g.fills(q, 2);
  g.launch(s);
  use<<<1, 64, 0, same ? s : t>>>(q, r);
  finish();
}
CASE(after_other) { after(false); }
CASE(after_same) { after(true); } // CLEAN after_same

// Launches of one executable graph are in order, whatever their streams; of two they are not.
static void twice(bool one) {
  buffer<int> p(64);
  must(cudaDeviceSynchronize());
  stream s, t;
  graph g, h;
  g.fills(p, 1);
  h.fills(p, 2);
  g.launch(s);
  (one ? g : h).launch(t);
  finish();
}
CASE(two_execs) { twice(false); }
CASE(one_exec) { twice(true); } // CLEAN one_exec

// A call of the host orders nodes only by its edges.
static void CUDART_CB nothing(void *) {}
static void host_node(bool edges) {
  buffer<int> p(64);
  must(cudaDeviceSynchronize());
  stream s;
  graph g;
  auto a = g.fills(p, 1);
  cudaHostNodeParams h = {};
  h.fn = nothing;
  cudaGraphNode_t n;
  must(cudaGraphAddHostNode(&n, g.g, &a, 1, &h));
  g.fills(p, 2, edges ? n : nullptr);
  g.launch(s);
  finish();
}
CASE(host_apart) { host_node(false); }
CASE(host_edge) { host_node(true); } // CLEAN host_edge

// Captured: the second stream joins before the kernel whose result it needs, or after it.
static void fork(bool late) {
  buffer<int> p(64), q(64);
  must(cudaDeviceSynchronize());
  stream s, t;
  cudaEvent_t e, f;
  must(cudaEventCreateWithFlags(&e, cudaEventDisableTiming));
  must(cudaEventCreateWithFlags(&f, cudaEventDisableTiming));
  graph g;
  cudaGraph_t captured;
  must(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
  must(cudaMemsetAsync(q, 0, 256, s));
  if (late)
    must(cudaEventRecord(e, s));
  fill<<<1, 64, 0, s>>>(p, 1);
  if (!late)
    must(cudaEventRecord(e, s));
  must(cudaStreamWaitEvent(t, e, 0));
  use<<<1, 64, 0, t>>>(p, q);
  must(cudaEventRecord(f, t));
  must(cudaStreamWaitEvent(s, f, 0));
  fill<<<1, 64, 0, s>>>(q, 3);
  must(cudaStreamEndCapture(s, &captured));
  must(cudaGraphInstantiate(&g.x, captured, 0));
  g.launch(s);
  finish();
  must(cudaGraphDestroy(captured));
  must(cudaEventDestroy(e));
  must(cudaEventDestroy(f));
}
CASE(fork_late) { fork(true); }
CASE(fork_right) { fork(false); } // CLEAN fork_right

// Memory of nodes: freed after its last use, or beside it.
static void memory(bool edge) {
  must(cudaDeviceSynchronize());
  stream s;
  graph g;
  cudaMemAllocNodeParams m = {};
  m.poolProps.allocType = cudaMemAllocationTypePinned;
  m.poolProps.location.type = cudaMemLocationTypeDevice;
  m.bytesize = 256;
  cudaGraphNode_t n, f;
  must(cudaGraphAddMemAllocNode(&n, g.g, nullptr, 0, &m));
  auto a = g.fills((int *)m.dptr, 1, n);
  must(cudaGraphAddMemFreeNode(&f, g.g, edge ? &a : &n, 1, m.dptr));
  g.launch(s);
  finish();
}
CASE(memory_apart) { memory(false); }
CASE(memory_edge) { memory(true); } // CLEAN memory_edge
