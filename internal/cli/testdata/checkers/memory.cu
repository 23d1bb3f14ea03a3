// Accesses outside of memory, after it was freed, and wrong frees.
#include "suite.h"

// Out of global memory: by an index that is one too large, before the start, through null.
__global__ void add(const int *in, int *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = in[i] + 1; // BUG end_read: oob-global BUG end_write: oob-global BUG null_read: oob-global BUG not_reserved: oob-global
}
static void added(int in_size, int out_size, int n) {
  buffer<int> in(in_size, numbers), out(out_size);
  add<<<2, 64>>>(in, out, n);
  finish();
}
CASE(end_read) { added(100, 128, 101); }
CASE(end_write) { added(128, 100, 101); }
CASE(end_exact) { added(100, 100, 100); } // CLEAN end_exact
CASE(null_read) {
  buffer<int> out(64);
  add<<<1, 64>>>(nullptr, out, 64);
  finish();
}
CASE(null_unused) { // CLEAN null_unused
  buffer<int> out(64);
  add<<<1, 64>>>(nullptr, out, 0);
  finish();
}
CASE(not_reserved) { // sizes in elements in place of bytes
  int *p;
  buffer<int> in(64, numbers);
  must(cudaMalloc(&p, 64));
  add<<<1, 64>>>(in, p, 64);
  finish();
}

__global__ void shift(const int *in, int *out, int by) {
  int i = threadIdx.x;
  out[i] = in[i + by]; // BUG before_start: oob-global
}
CASE(before_start) {
  buffer<int> in(64, numbers), out(64);
  shift<<<1, 64>>>(in, out, -1);
  finish();
}
CASE(inside_start) { // CLEAN inside_start
  buffer<int> in(65, numbers), out(64);
  shift<<<1, 64>>>(in + 1, out, -1);
  finish();
}

// Wide and atomic accesses that cross the end.
__global__ void fours(const int4 *in, int *out) {
  out[threadIdx.x] = in[threadIdx.x].w; // BUG vector_end: oob-global
}
CASE(vector_end) {
  buffer<int> in(31, numbers), out(32);
  fours<<<1, 8>>>((const int4 *)(int *)in, out);
  finish();
}
CASE(vector_exact) { // CLEAN vector_exact
  buffer<int> in(32, numbers), out(32);
  fours<<<1, 8>>>((const int4 *)(int *)in, out);
  finish();
}
__global__ void bins(const int *in, int *out) {
  atomicAdd(&out[in[threadIdx.x]], 1); // BUG atomic_end: oob-global
}
static void binned(int n) {
  buffer<int> in(32, numbers), out(n);
  bins<<<1, 32>>>(in, out);
  finish();
}
CASE(atomic_end) { binned(31); }
CASE(atomic_exact) { binned(32); } // CLEAN atomic_exact

// Rows with a pitch.
__global__ void rows(int *p, size_t pitch) {
  int *row = (int *)((char *)p + blockIdx.x * pitch);
  row[threadIdx.x] = 1; // BUG pitch_rows: oob-global
}
static void pitched(int rows_wrong) {
  int *p;
  size_t pitch;
  must(cudaMallocPitch(&p, &pitch, 24 * sizeof(int), 4));
  rows<<<4 + rows_wrong, 24>>>(p, pitch);
  finish();
  cudaFree(p);
}
CASE(pitch_rows) { pitched(1); }
CASE(pitch_right) { pitched(0); } // CLEAN pitch_right

// A variable of the program.
__device__ int table[16];
__global__ void look(int *out, int n) {
  for (int i = 0; i < n; i++)
    out[i] = table[i]; // BUG symbol_end: oob-global
}
__device__ int other_table[64];
static long apart(const void *a, const void *b) { return ((const int *)b - (const int *)a); }
__global__ void look_at(int *out, long at) {
  out[threadIdx.x] = table[at + threadIdx.x % 4]; // BUG symbol_neighbour: oob-global
}
static void look_far(bool far) {
  void *a, *b;
  must(cudaGetSymbolAddress(&a, table));
  must(cudaGetSymbolAddress(&b, other_table));
  buffer<int> out(32);
  look_at<<<1, 32>>>(out, far ? apart(a, b) : 12);
  finish();
}
__global__ void fill_other() { other_table[threadIdx.x] = threadIdx.x; }
CASE(symbol_neighbour) {
  fill_other<<<1, 64>>>();
  look_far(true);
}
CASE(symbol_own) { look_far(false); } // CLEAN symbol_own

// From one allocation into another, far enough to miss what lies between them.
__global__ void shift_far(const int *in, int *out, long by) {
  int i = threadIdx.x;
  out[i] = in[i + by]; // BUG allocation_neighbour: oob-global
}
CASE(allocation_neighbour) {
  buffer<int> a(64, numbers), b(64, numbers), out(64);
  shift_far<<<1, 64>>>(a, out, apart(a, b));
  finish();
}
CASE(allocation_own) { // CLEAN allocation_own
  buffer<int> a(64, numbers), b(64, numbers), out(64);
  shift_far<<<1, 32>>>(a, out, 32);
  shift_far<<<1, 64>>>(a - 5000, out, 5000); // elements are numbered from elsewhere
  shift_far<<<1, 32>>>(b + 32, out, -32);
  shift_far<<<1, 32>>>(a + 32, out, apart(a + 32, b)); // in the program's hands
  finish();
}
template <int way> __global__ void gap(const int *a, const int *b, int *out) {
  int i = threadIdx.x;
  const int *p = way == 0 ? a + (b - a) : i & 1 ? a : b;
  out[i] = p[i];
}
CASE(allocation_distance) { // CLEAN allocation_distance
  buffer<int> a(64, numbers), b(64, numbers), out(64);
  gap<0><<<1, 64>>>(a, b, out);
  gap<1><<<1, 64>>>(a, b, out);
  finish();
}

CASE(symbol_end) {
  buffer<int> out(4096);
  look<<<1, 1>>>(out, 4096);
  finish();
}
CASE(symbol_exact) { // CLEAN symbol_exact
  buffer<int> out(16);
  look<<<1, 1>>>(out, 16);
  finish();
}

// Shared memory, static and dynamic.
__global__ void shared_fixed(const int *in, int *out, int off) {
  __shared__ int s[64];
  int i = threadIdx.x;
  s[i + off] = in[i]; // BUG shared_write: oob-shared
  __syncthreads();
  out[i] = s[63 - i + off];
}
static void shared(int off) {
  buffer<int> in(64, numbers), out(64);
  shared_fixed<<<1, 64>>>(in, out, off);
  finish();
}
CASE(shared_write) { shared(1); }
CASE(shared_inside) { shared(0); } // CLEAN shared_inside
__global__ void shared_given(const int *in, int *out) {
  extern __shared__ int s[];
  int i = threadIdx.x;
  s[i] = in[i]; // BUG shared_none: oob-shared BUG shared_small: oob-shared
  __syncthreads();
  out[i] = s[63 - i];
}
CASE(shared_none) { run(shared_given, 1, 64); }
CASE(shared_small) { run(shared_given, 1, 64, 63 * 4); }
CASE(shared_enough) { run(shared_given, 1, 64, 64 * 4); } // CLEAN shared_enough

// One array of shared memory runs over into the next.
__global__ void shared_two(const int *in, int *out, int n) {
  __shared__ int a[32], b[32];
  int i = threadIdx.x;
  a[i] = in[i];
  b[i] = in[i + 32];
  __syncwarp();
  int sum = 0;
  for (int k = 0; k < n; k++)
    sum += a[(i + k) % n]; // BUG shared_neighbour: oob-shared
  out[i] = sum + b[31 - i];
}
static void two(int n) {
  buffer<int> in(64, numbers), out(64);
  shared_two<<<1, 32>>>(in, out, n);
  finish();
}
CASE(shared_neighbour) { two(33); }
CASE(shared_own) { two(32); } // CLEAN shared_own

// The end of a variable before dynamic shared memory, and what is carved out of the latter.
__global__ void carved(const int *in, int *out, int n) {
  __shared__ int fixed[32];
  extern __shared__ int given[];
  int *a = given, *b = given + 32, i = threadIdx.x;
  fixed[i] = a[i] = in[i];
  b[i] = in[i + 32];
  __syncwarp();
  out[i] = fixed[(i + 1) % n]; // BUG shared_into_dynamic: oob-shared
  out[32 + i] = a[63 - i] + b[i - 32] + b[-1];
  if (n > 33)
    out[i] += b[-33 - i]; // BUG shared_before_dynamic: oob-shared
}
static void carve(int n) {
  buffer<int> in(64, numbers), out(64);
  carved<<<1, 32, 64 * sizeof(int)>>>(in, out, n);
  finish();
}
CASE(shared_into_dynamic) { carve(33); }
CASE(shared_before_dynamic) { carve(34); } // ALSO shared_before_dynamic: oob-shared
CASE(shared_carved) { carve(32); } // CLEAN shared_carved

// Pointers that point outside for a while, are swapped, selected, subtracted and compared.
template <int n> __global__ void pointers(const int *in, int *out) {
  __shared__ int a[32], b[32];
  __shared__ union {
    int whole[16];
    struct {
      int low[8], high[8];
    };
  } parts;
  int i = threadIdx.x;
  int *from_one = a - 1, *from_end = b + 32;
  from_one[i + 1] = in[i];
  from_end[i - 32] = in[i + 32];
  if (i < 16)
    parts.whole[i] = in[i];
  __syncwarp();
  int *cur = a, *next = b, sum = 0;
  for (int k = 0; k < in[4]; k++) {
    sum += cur[(i + k) % n]; // BUG swapped_end: oob-shared
    int *t = cur;
    cur = next;
    next = t;
  }
  int *chosen = in[i] & 1 ? a : b;
  sum += chosen[31 - i] + a[(b - a) + i] + parts.low[i % 16]; // into its own union's other half
  for (int *p = a; p != a + 32; p++)
    sum += *p;
  for (int *p = b + 32; p-- != b;)
    sum += *p;
  out[i] = sum;
}
CASE(swapped_end) { run(pointers<65>, 1, 32); }
CASE(swapped_inside) { run(pointers<32>, 1, 32); } // CLEAN swapped_inside

// Atomics, vectors, and copies in flight into the neighbour.
__global__ void wide(const int *in, int *out, int n) {
  __shared__ __align__(16) int a[32], b[32];
  int i = threadIdx.x;
  b[i] = a[i] = 0;
  __syncwarp();
  atomicAdd(&a[in[i] % n], 1);                  // BUG atomic_neighbour: oob-shared
  __syncwarp();
  int4 v = ((const int4 *)a)[i % ((n + 3) / 4)]; // BUG atomic_neighbour: oob-shared
  out[i] = v.x + b[i];
}
static void widen(int n) {
  buffer<int> in(1024, numbers), out(64);
  wide<<<1, 32>>>(in + 1, out, n);
  finish();
}
CASE(atomic_neighbour) { widen(33); } // ALSO atomic_neighbour: race-shared-intrawarp
CASE(atomic_own) { widen(32); } // CLEAN atomic_own

// A pointer goes through memory: from where it is not followed, and nothing is reported.
__global__ void kept(const int *in, int *out, int n) {
  __shared__ int a[32], b[32];
  __shared__ int *both[2];
  int i = threadIdx.x;
  both[0] = a;
  both[1] = b;
  a[i] = b[i] = in[i];
  __syncwarp();
  out[i] = both[in[i] % 2][in[i] % n];
}
CASE(kept_pointer) { // CLEAN kept_pointer
  buffer<int> in(1024, numbers), out(64);
  kept<<<1, 32>>>(in, out, 32);
  finish();
}

// Local arrays with a computed index.
__global__ void local(const int *in, int *out, int n) {
  int a[8];
  for (int k = 0; k < 8; k++)
    a[k] = in[k + threadIdx.x];
  int at = in[threadIdx.x] % n;
  a[at]++; // BUG local_write: oob-local
  int sum = 0;
  for (int k = 0; k < 8; k++)
    sum += a[k] * in[k];
  out[threadIdx.x] = sum;
}
static void locals(int n) {
  buffer<int> in(1024, numbers), out(64);
  local<<<1, 32>>>(in + (n > 8 ? n : 0) - (n > 8 ? 32 : 0), out, n);
  finish();
}
CASE(local_write) { locals(1000); }
CASE(local_inside) { locals(8); } // CLEAN local_inside

// Constant memory.
__constant__ int weights[8];
__global__ void weigh(const int *in, int *out, int n) {
  int sum = 0;
  for (int k = 0; k < n; k++)
    sum += weights[k] * in[k]; // BUG constant_end: oob-constant
  *out = sum;
}
static void weighed(int n) {
  buffer<int> in(1 << 16, numbers), out(1);
  int host[8] = {1, 2, 3, 4, 5, 6, 7, 8};
  must(cudaMemcpyToSymbol(weights, host, sizeof host));
  weigh<<<1, 1>>>(in, out, n);
  finish();
}
CASE(constant_end) { weighed(20000); }
CASE(constant_inside) { weighed(8); } // CLEAN constant_inside

__constant__ int offsets[8];
__global__ void weigh_far(int *out, long at) {
  out[threadIdx.x] = weights[at + threadIdx.x]; // BUG constant_neighbour: oob-constant
  out[threadIdx.x] += offsets[threadIdx.x];
}
static void weigh_at(bool far) {
  void *a, *b;
  must(cudaGetSymbolAddress(&a, weights));
  must(cudaGetSymbolAddress(&b, offsets));
  buffer<int> out(8);
  weigh_far<<<1, 8>>>(out, far ? apart(a, b) : 0);
  finish();
}
CASE(constant_neighbour) { weigh_at(true); }
CASE(constant_own) { weigh_at(false); } // CLEAN constant_own

// Addresses that are no multiple of the size.
__global__ void unaligned(const char *in, int *out, int off) {
  out[threadIdx.x] = *(const int *)(in + 4 * threadIdx.x + off); // BUG misaligned_read: misaligned
}
static void at_offset(int off) {
  buffer<char> in(256);
  buffer<int> out(32);
  unaligned<<<1, 32>>>(in, out, off);
  finish();
}
CASE(misaligned_read) { at_offset(2); }
CASE(aligned_read) { at_offset(4); } // CLEAN aligned_read
__global__ void vectors(const float *in, float4 *out, int off) {
  *(float4 *)((float *)out + off) = make_float4(in[0], in[1], in[2], in[3]); // BUG misaligned_vector: misaligned
}
static void vector_at(int off) {
  buffer<float> in(16), out(16);
  vectors<<<1, 1>>>(in, (float4 *)(float *)out, off);
  finish();
}
CASE(misaligned_vector) { vector_at(1); }
CASE(aligned_vector) { vector_at(4); } // CLEAN aligned_vector
__global__ void doubles(const int *in, int *out, int off) {
  __shared__ char s[64];
  double *d = (double *)(s + off);
  int i = threadIdx.x;
  d[i] = in[i]; // BUG misaligned_shared: misaligned
  __syncwarp();
  out[i] = (int)d[1 - i];
}
static void double_at(int off) {
  buffer<int> in(16), out(16);
  doubles<<<1, 2>>>(in, out, off);
  finish();
}
CASE(misaligned_shared) { double_at(4); }
CASE(aligned_shared) { double_at(8); } // CLEAN aligned_shared

// After it was freed, by the host.
static void after_free(bool early) {
  int *p, *q;
  buffer<int> out(64);
  must(cudaMalloc(&p, 64 * sizeof(int))); // BUG freed_kernel: use-after-free
  must(cudaMemset(p, 0, 64 * sizeof(int)));
  must(cudaMalloc(&q, 64 * sizeof(int)));
  if (early)
    must(cudaFree(p)); // BUG freed_kernel: use-after-free
  shift<<<1, 64>>>(p, out, 0); // BUG freed_kernel: use-after-free
  finish();
  if (!early)
    must(cudaFree(p));
  cudaFree(q);
}
CASE(freed_kernel) { after_free(true); }
CASE(freed_late) { after_free(false); } // CLEAN freed_late
CASE(freed_copy) {
  int *p, host[64];
  must(cudaMalloc(&p, sizeof host));
  must(cudaMemset(p, 0, sizeof host));
  must(cudaFree(p));
  cudaMemcpy(host, p, sizeof host, cudaMemcpyDeviceToHost); // BUG freed_copy: use-after-free
}
CASE(freed_async) {
  int *p;
  buffer<int> out(64);
  must(cudaMallocAsync(&p, 256, 0));
  must(cudaMemsetAsync(p, 0, 256, 0));
  must(cudaFreeAsync(p, 0));
  shift<<<1, 64>>>(p, out, 0); // BUG freed_async: use-after-free
  finish();
}

// Memory of the device heap.
template <int how> __global__ void heap(int *out) {
  int *p = (int *)malloc(64), *q = (int *)malloc(64);
  asm volatile("" : "+l"(p), "+l"(q)); // the compiler must not see what they are
  p[1] = 3;
  if (how == 0)
    *out = p[1];
  free(p);
  if (how == 1)
    *out = p[out[1] + 1]; // BUG heap_freed: use-after-free
  if (how == 2)
    free(p); // BUG heap_twice: double-free
  if (how == 3)
    free(q + 4); // BUG heap_interior: invalid-free
  if (how == 4)
    free(out); // BUG heap_foreign: invalid-free
  free(q);
}
static void heaped(void (*f)(int *)) {
  buffer<int> out(64);
  f<<<1, 1>>>(out);
  finish();
}
CASE(heap_freed) { heaped(heap<1>); }
CASE(heap_twice) { heaped(heap<2>); }
CASE(heap_interior) { heaped(heap<3>); }
CASE(heap_foreign) { heaped(heap<4>); }
CASE(heap_right) { heaped(heap<0>); } // CLEAN heap_right
__global__ void heap_end(int *out, int n) {
  int *p = new int[8];
  for (int k = 0; k < n; k++)
    p[k] = k; // BUG heap_over: oob-global
  *out = p[out[0]];
  delete[] p;
}
static void heap_size(int n) {
  buffer<int> out(64);
  heap_end<<<1, 1>>>(out, n);
  finish();
}
CASE(heap_over) { heap_size(4096); }
CASE(heap_inside) { heap_size(8); } // CLEAN heap_inside

// Frees of the host.
CASE(free_twice) {
  int *p;
  must(cudaMalloc(&p, 256));
  must(cudaFree(p));
  cudaFree(p); // BUG free_twice: double-free
}
CASE(free_interior) {
  int *p;
  must(cudaMalloc(&p, 256));
  cudaFree(p + 4); // BUG free_interior: invalid-free
  must(cudaFree(p));
}
CASE(free_foreign) {
  int *p = (int *)malloc(256);
  cudaFree(p); // BUG free_foreign: invalid-free
  free(p);
}
CASE(free_null) { // CLEAN free_null
  must(cudaFree(nullptr));
}
CASE(free_pinned_twice) {
  int *p;
  must(cudaMallocHost(&p, 256));
  must(cudaFreeHost(p));
  cudaFreeHost(p); // BUG free_pinned_twice: double-free
}
CASE(free_async_twice) {
  int *p;
  must(cudaMallocAsync(&p, 256, 0));
  must(cudaFreeAsync(p, 0));
  cudaFreeAsync(p, 0); // BUG free_async_twice: double-free
}
CASE(free_async_once) { // CLEAN free_async_once
  int *p;
  must(cudaMallocAsync(&p, 256, 0));
  must(cudaFreeAsync(p, 0));
}

// Two queues change places in a loop: the pointer to one is a parameter at first, and comes from
// memory afterwards.
struct queue {
  int *items, *size;
};
__device__ void level(queue &in, queue &out) {
  for (int i = 0; i < *in.size; i++)
    out.items[i] = in.items[i] + 1;
  *out.size = *in.size - 1;
}
__global__ void swap_levels(queue a, queue b) {
  queue *in = &a, *out = &b;
  while (*in->size > 0) {
    level(*in, *out);
    queue *t = in;
    in = out;
    out = t;
  }
}
CASE(swap_queues) { // CLEAN swap_queues
  buffer<int> items(16), others(16), size(1), size_of_others(1);
  must(cudaMemset(items, 0, 16 * sizeof(int)));
  int n = 5;
  must(cudaMemcpy(size, &n, sizeof n, cudaMemcpyHostToDevice));
  swap_levels<<<1, 1>>>(queue{items, size}, queue{others, size_of_others});
  finish();
}

// Copies of the host.
static void copied(size_t bytes) {
  buffer<int> p(64);
  int host[128] = {0};
  cudaMemcpy(host, p, bytes, cudaMemcpyDeviceToHost); // BUG copy_back: oob-memcpy
}
CASE(copy_back) { copied(65 * sizeof(int)); }
CASE(copy_back_exact) { copied(64 * sizeof(int)); } // CLEAN copy_back_exact
CASE(copy_to) {
  buffer<int> p(64);
  int host[128] = {0};
  cudaMemcpy(p + 32, host, 64 * sizeof(int), cudaMemcpyHostToDevice); // BUG copy_to: oob-memcpy
}
CASE(copy_between) {
  buffer<int> p(64), q(32);
  cudaMemcpy(q, p, 64 * sizeof(int), cudaMemcpyDeviceToDevice); // BUG copy_between: oob-memcpy
}
CASE(copy_async) {
  buffer<int> p(64);
  int host[128] = {0};
  cudaMemcpyAsync(p, host, sizeof host, cudaMemcpyHostToDevice, 0); // BUG copy_async: oob-memcpy
}
CASE(copy_plane) {
  buffer<int> p(64);
  int host[128] = {0};
  cudaMemcpy2D(p, 32, host, 32, 32, 9, cudaMemcpyHostToDevice); // BUG copy_plane: oob-memcpy
}
CASE(copy_plane_exact) { // CLEAN copy_plane_exact
  buffer<int> p(64);
  int host[128] = {0};
  must(cudaMemcpy2D(p, 32, host, 32, 32, 8, cudaMemcpyHostToDevice));
}
CASE(set_over) {
  buffer<int> p(64);
  cudaMemset(p, 0, 65 * sizeof(int)); // BUG set_over: oob-memcpy
}
CASE(set_exact) { // CLEAN set_exact
  buffer<int> p(64);
  must(cudaMemset(p, 0, 64 * sizeof(int)));
}
CASE(copy_symbol) {
  int host[32] = {0};
  cudaMemcpyToSymbol(table, host, sizeof host); // BUG copy_symbol: oob-memcpy
}
CASE(copy_symbol_exact) { // CLEAN copy_symbol_exact
  int host[16] = {0};
  must(cudaMemcpyToSymbol(table, host, sizeof host));
}
