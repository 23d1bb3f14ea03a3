// Streams, events, copies by the host, graphs.
#include "suite.h"

__global__ void fill(int *p, int v) { p[threadIdx.x] = v; } // BUG two_streams: race-streams BUG no_event: race-streams BUG early_event: race-streams BUG copy_other: race-streams BUG memset_other: race-streams BUG copy_host: race-streams BUG wrong_sync: race-streams BUG own_stream: race-streams BUG graphs_two: race-streams BUG graph_fork: race-streams BUG three_streams: race-streams
__global__ void use(const int *in, int *out) { out[threadIdx.x] = in[threadIdx.x]; } // BUG no_event: race-streams BUG early_event: race-streams BUG graph_fork: race-streams BUG wrong_sync: race-streams BUG own_stream: race-streams BUG three_streams: race-streams

__global__ void increment(int *p) { p[threadIdx.x]++; } // BUG managed_hasty: race-streams
static void add_one(int *p) { increment<<<1, 64>>>(p); }
__global__ void set_one(int *p) { p[threadIdx.x] = 1; } // BUG free_other: race-streams
static void one(int *p, cudaStream_t s) { set_one<<<1, 64, 0, s>>>(p); }

struct stream {
  cudaStream_t s;
  explicit stream(unsigned int flags = cudaStreamNonBlocking) { must(cudaStreamCreateWithFlags(&s, flags)); }
  ~stream() { cudaStreamDestroy(s); }
  operator cudaStream_t() const { return s; }
};
struct event {
  cudaEvent_t e;
  event() { must(cudaEventCreateWithFlags(&e, cudaEventDisableTiming)); }
  ~event() { cudaEventDestroy(e); }
  operator cudaEvent_t() const { return e; }
};

CASE(two_streams) {
  buffer<int> p(64);
  must(cudaDeviceSynchronize());
  stream a, b;
  fill<<<1, 64, 0, a>>>(p, 1);
  fill<<<1, 64, 0, b>>>(p, 2);
  finish();
}
CASE(one_stream) { // CLEAN one_stream
  buffer<int> p(64);
  must(cudaDeviceSynchronize());
  stream a;
  fill<<<1, 64, 0, a>>>(p, 1);
  fill<<<1, 64, 0, a>>>(p, 2);
  finish();
}
CASE(halves) { // CLEAN halves
  buffer<int> p(128);
  must(cudaDeviceSynchronize());
  stream a, b;
  fill<<<1, 64, 0, a>>>(p, 1);
  fill<<<1, 64, 0, b>>>(p + 64, 2);
  finish();
}
CASE(both_read) { // CLEAN both_read
  buffer<int> in(64, numbers), x(64), y(64);
  must(cudaDeviceSynchronize());
  stream a, b;
  use<<<1, 64, 0, a>>>(in, x);
  use<<<1, 64, 0, b>>>(in, y);
  finish();
}

// How: 0 without an event, 1 recorded before the kernel, 2 after it.
static void with_event(int how) {
  buffer<int> p(64), q(64);
  must(cudaDeviceSynchronize());
  stream a, b;
  event e;
  if (how == 1)
    must(cudaEventRecord(e, a));
  fill<<<1, 64, 0, a>>>(p, 1);
  if (how == 2)
    must(cudaEventRecord(e, a));
  if (how > 0)
    must(cudaStreamWaitEvent(b, e, 0));
  use<<<1, 64, 0, b>>>(p, q);
  finish();
}
CASE(no_event) { with_event(0); }
CASE(early_event) { with_event(1); }
CASE(right_event) { with_event(2); } // CLEAN right_event

// A copy on another stream, or on the same.
static void copied(bool same) {
  buffer<int> p(64);
  int *host;
  must(cudaMallocHost(&host, 64 * sizeof(int)));
  must(cudaDeviceSynchronize());
  stream a, b;
  fill<<<1, 64, 0, a>>>(p, 1);
  must(cudaMemcpyAsync(host, p, 64 * sizeof(int), cudaMemcpyDeviceToHost, same ? a : b)); // BUG copy_other: race-streams
  finish();
  must(cudaFreeHost(host));
}
CASE(copy_other) { copied(false); }
CASE(copy_same) { copied(true); } // CLEAN copy_same

static void cleared(bool same) {
  buffer<int> p(64);
  must(cudaDeviceSynchronize());
  stream a, b;
  must(cudaMemsetAsync(p, 0, 64 * sizeof(int), same ? a : b)); // BUG memset_other: race-streams
  fill<<<1, 64, 0, a>>>(p, 1);
  finish();
}
CASE(memset_other) { cleared(false); }
CASE(memset_same) { cleared(true); } // CLEAN memset_same

// cudaMemcpy waits for the default stream, and so for streams that are not of their own.
static void plain_copy(bool blocking) {
  buffer<int> p(64);
  int host[64];
  must(cudaDeviceSynchronize());
  stream a(blocking ? cudaStreamDefault : cudaStreamNonBlocking);
  fill<<<1, 64, 0, a>>>(p, 1);
  must(cudaMemcpy(host, p, sizeof host, cudaMemcpyDeviceToHost)); // BUG copy_host: race-streams
  finish();
}
CASE(copy_host) { plain_copy(false); }
CASE(copy_blocking) { plain_copy(true); } // CLEAN copy_blocking

// The default stream and another.
static void legacy(bool blocking) {
  buffer<int> p(64), q(64);
  must(cudaDeviceSynchronize());
  stream a(blocking ? cudaStreamDefault : cudaStreamNonBlocking);
  fill<<<1, 64, 0, a>>>(p, 1);
  use<<<1, 64>>>(p, q);
  finish();
}
CASE(own_stream) { legacy(false); }
CASE(blocking_stream) { legacy(true); } // CLEAN blocking_stream

// The host waits for the wrong stream, or for the right one.
static void waited(bool right) {
  buffer<int> p(64), q(64);
  must(cudaDeviceSynchronize());
  stream a, b;
  fill<<<1, 64, 0, a>>>(p, 1);
  must(cudaStreamSynchronize(right ? a : b));
  use<<<1, 64, 0, b>>>(p, q);
  finish();
}
CASE(wrong_sync) { waited(false); }
CASE(right_sync) { waited(true); } // CLEAN right_sync

// Asking until it is done is waiting.
CASE(query_stream) { // CLEAN query_stream
  buffer<int> p(64), q(64);
  must(cudaDeviceSynchronize());
  stream a, b;
  fill<<<1, 64, 0, a>>>(p, 1);
  while (cudaStreamQuery(a) == cudaErrorNotReady)
    ;
  use<<<1, 64, 0, b>>>(p, q);
  finish();
}
CASE(query_event) { // CLEAN query_event
  buffer<int> p(64), q(64);
  must(cudaDeviceSynchronize());
  stream a, b;
  event e;
  fill<<<1, 64, 0, a>>>(p, 1);
  must(cudaEventRecord(e, a));
  while (cudaEventQuery(e) == cudaErrorNotReady)
    ;
  use<<<1, 64, 0, b>>>(p, q);
  finish();
}

// Three streams in a row, with a link that is missing.
static void row(bool linked) {
  buffer<int> p(64), q(64), r(64);
  must(cudaDeviceSynchronize());
  stream a, b, c;
  event e, f;
  fill<<<1, 64, 0, a>>>(p, 1);
  if (linked) {
    must(cudaEventRecord(e, a));
    must(cudaStreamWaitEvent(b, e, 0));
  }
  must(cudaMemsetAsync(r, 0, 64 * sizeof(int), b));
  must(cudaEventRecord(f, b));
  must(cudaStreamWaitEvent(c, f, 0));
  use<<<1, 64, 0, c>>>(p, q);
  finish();
}
CASE(three_streams) { row(false); }
CASE(three_linked) { row(true); } // CLEAN three_linked

// Graphs that are launched on two streams at a time, or on one.
static void launched(bool same) {
  buffer<int> p(64);
  must(cudaDeviceSynchronize());
  stream a, b;
  cudaGraph_t g[2];
  cudaGraphExec_t x[2];
  for (int k = 0; k < 2; k++) {
    must(cudaStreamBeginCapture(a, cudaStreamCaptureModeGlobal));
    fill<<<1, 64, 0, a>>>(p, k);
    must(cudaStreamEndCapture(a, &g[k]));
    must(cudaGraphInstantiate(&x[k], g[k], 0));
  }
  must(cudaGraphLaunch(x[0], a));
  must(cudaGraphLaunch(x[1], same ? a : b));
  finish();
  for (int k = 0; k < 2; k++) {
    must(cudaGraphExecDestroy(x[k]));
    must(cudaGraphDestroy(g[k]));
  }
}
CASE(graphs_two) { launched(false); }
CASE(graphs_one) { launched(true); } // CLEAN graphs_one

// A graph whose nodes come from two streams, with an edge between them or none.
static void forked(bool edge) {
  buffer<int> p(64), q(64);
  must(cudaDeviceSynchronize());
  stream a, b;
  event start, middle, end;
  cudaGraph_t g;
  cudaGraphExec_t x;
  must(cudaStreamBeginCapture(a, cudaStreamCaptureModeGlobal));
  must(cudaEventRecord(start, a));
  must(cudaStreamWaitEvent(b, start, 0));
  fill<<<1, 64, 0, a>>>(p, 1);
  if (edge) {
    must(cudaEventRecord(middle, a));
    must(cudaStreamWaitEvent(b, middle, 0));
  }
  use<<<1, 64, 0, b>>>(p, q);
  must(cudaEventRecord(end, b));
  must(cudaStreamWaitEvent(a, end, 0));
  must(cudaStreamEndCapture(a, &g));
  must(cudaGraphInstantiate(&x, g, 0));
  must(cudaGraphLaunch(x, a));
  finish();
  must(cudaGraphExecDestroy(x));
  must(cudaGraphDestroy(g));
}
CASE(graph_fork) { forked(false); }
CASE(graph_edge) { forked(true); } // CLEAN graph_edge

// Managed memory: the host looks before the kernel is done.
static void managed(bool wait) {
  int *p;
  must(cudaMallocManaged(&p, 64 * sizeof(int)));
  for (int i = 0; i < 64; i++)
    p[i] = i;
  add_one(p);
  if (wait)
    must(cudaDeviceSynchronize());
  printf("%d\n", p[3]); // BUG managed_hasty: race-streams
  finish();
  must(cudaFree(p));
}
CASE(managed_hasty) { managed(false); }
CASE(managed_waits) { managed(true); } // CLEAN managed_waits

// Memory of the order of a stream: freed on another one while a kernel uses it.
static void ordered(bool linked) {
  stream a, b;
  event e;
  int *p;
  must(cudaMallocAsync(&p, 64 * sizeof(int), a));
  one(p, a);
  if (linked) {
    must(cudaEventRecord(e, a));
    must(cudaStreamWaitEvent(b, e, 0));
  }
  must(cudaFreeAsync(p, b)); // BUG free_other: race-streams
  finish();
}
CASE(free_other) { ordered(false); }
CASE(free_linked) { ordered(true); } // CLEAN free_linked

// Allocated in the order of one stream, and used on another.
__global__ void set_two(int *p) { p[threadIdx.x] = 2; } // BUG alloc_other: race-streams
static void two(int *p, cudaStream_t s) { set_two<<<1, 64, 0, s>>>(p); }
static void allocated(bool linked) {
  stream a, b;
  event e;
  int *p;
  must(cudaMallocAsync(&p, 64 * sizeof(int), a)); // BUG alloc_other: race-streams
  if (linked) {
    must(cudaEventRecord(e, a));
    must(cudaStreamWaitEvent(b, e, 0));
  }
  two(p, b);
  must(cudaFreeAsync(p, b));
  finish();
}
CASE(alloc_other) { allocated(false); }
CASE(alloc_linked) { allocated(true); } // CLEAN alloc_linked

// A copy that still reads memory which another stream frees.
static void copied_away(bool waits) {
  int *host, *p;
  must(cudaMallocHost(&host, 64 * sizeof(int)));
  stream a, b;
  must(cudaMallocAsync(&p, 64 * sizeof(int), a));
  must(cudaMemsetAsync(p, 0, 64 * sizeof(int), a));
  must(cudaStreamSynchronize(a));
  must(cudaMemcpyAsync(host, p, 64 * sizeof(int), cudaMemcpyDeviceToHost, a)); // BUG free_copied: race-streams
  if (waits)
    must(cudaStreamSynchronize(a));
  must(cudaFreeAsync(p, b)); // BUG free_copied: race-streams
  finish();
  must(cudaFreeHost(host));
}
CASE(free_copied) { copied_away(false); }
CASE(free_waits) { copied_away(true); } // CLEAN free_waits

// Freed in one stream's order and allocated again in that of another: the pool keeps the order,
// if it gives out the same memory.
CASE(pool_reuse) { // CLEAN pool_reuse
  stream a, b;
  int *p, *q;
  must(cudaMallocAsync(&p, 64 * sizeof(int), a));
  two(p, a);
  must(cudaFreeAsync(p, a));
  must(cudaMallocAsync(&q, 64 * sizeof(int), b));
  two(q, b);
  must(cudaFreeAsync(q, b));
  finish();
}

// Work of the host in a stream is between what is before and after it.
static void CUDART_CB host_work(void *p) { *(int *)p = 5; }
CASE(host_function) { // CLEAN host_function
  buffer<int> p(64);
  int seen = 0;
  must(cudaDeviceSynchronize());
  stream a;
  fill<<<1, 64, 0, a>>>(p, 1);
  must(cudaLaunchHostFunc(a, host_work, &seen));
  fill<<<1, 64, 0, a>>>(p, 2);
  finish();
  printf("%d\n", seen);
}
