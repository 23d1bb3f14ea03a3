// Reads and copies of memory that nothing has written.
#include "suite.h"

__global__ void copy(const int *in, int *out) {
  int i = threadIdx.x;
  out[i] = in[i] + 1; // BUG global_unset: uninit-global BUG global_half: uninit-global BUG managed_unset: uninit-global BUG async_unset: uninit-global BUG again: uninit-global BUG grown: uninit-global BUG pitch_padding: uninit-global BUG reused: uninit-global
}
static void read(int *p) {
  buffer<int> out(64);
  copy<<<1, 64>>>(p, out);
  finish();
  look(out, 64);
}
CASE(global_unset) {
  buffer<int> p(64, unset);
  read(p);
}
CASE(global_set) { // CLEAN global_set
  buffer<int> p(64, zeros);
  read(p);
}
CASE(global_copied) { // CLEAN global_copied
  buffer<int> p(64, numbers);
  read(p);
}
CASE(global_half) { // the number of elements in place of bytes
  buffer<int> p(64, unset);
  must(cudaMemset(p, 0, 64));
  read(p);
}
__global__ void fill(int *p, int n) {
  int i = threadIdx.x;
  if (i < n)
    p[i] = i;
}
static void written(int n) {
  buffer<int> p(64, unset);
  fill<<<1, 64>>>(p, n);
  read(p);
}
CASE(again) { written(63); }
CASE(kernel_set) { written(64); } // CLEAN kernel_set

CASE(async_unset) {
  int *p;
  must(cudaMallocAsync(&p, 256, 0));
  read(p);
  must(cudaFreeAsync(p, 0));
}
CASE(async_set) { // CLEAN async_set
  int *p;
  must(cudaMallocAsync(&p, 256, 0));
  must(cudaMemsetAsync(p, 0, 256, 0));
  read(p);
  must(cudaFreeAsync(p, 0));
}

// A buffer that is allocated anew, larger, and of which only the old part is copied.
static void grown_to(int set) {
  buffer<int> small(32, numbers), large(64, unset);
  must(cudaMemcpy(large, small, 32 * sizeof(int), cudaMemcpyDeviceToDevice));
  if (set > 32)
    must(cudaMemset(large + 32, 0, (set - 32) * sizeof(int)));
  read(large);
}
CASE(grown) { grown_to(32); }
CASE(grown_filled) { grown_to(64); } // CLEAN grown_filled

// Memory that was written, freed and allocated again.
CASE(reused) {
  { buffer<int> p(64, zeros); }
  buffer<int> q(64, unset);
  read(q);
}

// Rows that are set without what lies between them.
static void rows(int width) {
  buffer<int> p(64, unset);
  must(cudaMemset2D(p, 64, 0, width, 4));
  read(p);
}
CASE(pitch_padding) { rows(48); }
CASE(pitch_whole) { rows(64); } // CLEAN pitch_whole

// Variables of the program begin with zeros; managed memory and pinned memory is the host's.
__device__ int table[64];
__global__ void table_read(int *out) { out[threadIdx.x] = table[threadIdx.x]; }
CASE(symbol) { // CLEAN symbol
  buffer<int> out(64);
  table_read<<<1, 64>>>(out);
  finish();
}
static void managed(bool set) {
  int *p;
  must(cudaMallocManaged(&p, 64 * sizeof(int)));
  if (set)
    for (int i = 0; i < 64; i++)
      p[i] = i;
  read(p);
  must(cudaFree(p));
}
CASE(managed_unset) { managed(false); }
CASE(managed_set) { managed(true); } // CLEAN managed_set

// Atomic operations read too.
__global__ void count(int *p) {
  atomicAdd(&p[threadIdx.x % 4], 1); // BUG atomic_unset: uninit-global
}
static void counted(filled with) {
  buffer<int> p(4, with);
  count<<<1, 64>>>(p);
  finish();
}
CASE(atomic_unset) { counted(unset); }
CASE(atomic_set) { counted(zeros); } // CLEAN atomic_set

// Padding of a structure, which is moved with its members.
struct padded {
  char a;
  int b;
  padded() = default;
  padded(size_t n) : a(n), b(n) {}
};
__global__ void move(const padded *in, padded *out) { out[threadIdx.x] = in[threadIdx.x]; }
__global__ void make(padded *p) {
  p[threadIdx.x].a = 1;
  p[threadIdx.x].b = 2;
}
CASE(padding) { // CLEAN padding
  buffer<padded> p(32, unset), q(32, unset);
  make<<<1, 32>>>(p);
  move<<<1, 32>>>(p, q);
  finish();
}

// A sum that begins with what is in memory.
template <bool zero> __global__ void accumulate(const int *in, int *out) {
  int i = threadIdx.x;
  if (zero)
    out[i] = 0;
  out[i] += in[i]; // BUG sum_unset: uninit-global
}
static void summed(void (*f)(const int *, int *)) {
  buffer<int> in(256, numbers), out(64, unset);
  f<<<1, 64>>>(in, out);
  finish();
  look(out, 64);
}
CASE(sum_unset) { summed(accumulate<false>); }
CASE(sum_zero) { summed(accumulate<true>); } // CLEAN sum_zero

// The device heap.
template <bool set> __global__ void heap(const int *in, int *out) {
  int *p = (int *)malloc(64);
  asm volatile("" : "+l"(p));
  if (set)
    p[in[2]] = 1;
  out[0] = p[in[2]]; // BUG heap_unset: uninit-global
  free(p);
}
CASE(heap_unset) { run(heap<false>, 1, 1); }
CASE(heap_set) { run(heap<true>, 1, 1); } // CLEAN heap_set

// Shared memory: nobody writes it, too few do, or the edge is forgotten.
template <int n> __global__ void shared(const int *in, int *out) {
  __shared__ int s[64];
  int i = threadIdx.x;
  if (i < n)
    s[i] = in[i];
  __syncthreads();
  out[i] = s[63 - i]; // BUG shared_some: uninit-shared
}
CASE(shared_some) { run(shared<60>, 1, 64); }
CASE(shared_all) { run(shared<64>, 1, 64); } // CLEAN shared_all

template <bool edges> __global__ void stencil(const int *in, int *out) {
  __shared__ int s[66];
  int i = threadIdx.x;
  s[i + 1] = in[i];
  if (edges && i == 0)
    s[0] = s[65] = 0;
  __syncthreads();
  int left = s[i];      // BUG stencil_no_edges: uninit-shared
  int right = s[i + 2]; // BUG stencil_no_edges: uninit-shared
  out[i] = left + right;
}
CASE(stencil_no_edges) { run(stencil<false>, 1, 64); }
CASE(stencil_edges) { run(stencil<true>, 1, 64); } // CLEAN stencil_edges

template <bool zero> __global__ void bins(const int *in, int *out) {
  extern __shared__ int s[];
  int i = threadIdx.x;
  if (zero && i < 8)
    s[i] = 0;
  __syncthreads();
  atomicAdd(&s[in[i] % 8], 1); // BUG bins_unset: uninit-shared
  __syncthreads();
  if (i < 8)
    out[i] = s[i];
}
CASE(bins_unset) { run(bins<false>, 1, 64, 32); }
CASE(bins_zero) { run(bins<true>, 1, 64, 32); } // CLEAN bins_zero

// What another block left in shared memory is not there for this one.
template <bool each> __global__ void once(const int *in, int *out) {
  __shared__ int s[32];
  int i = threadIdx.x;
  if (each || blockIdx.x == 0)
    s[i] = in[i];
  __syncwarp();
  out[blockIdx.x * 32 + i] = s[31 - i]; // BUG once_first: uninit-shared
}
CASE(once_first) { run(once<false>, 2, 32); }
CASE(once_each) { run(once<true>, 2, 32); } // CLEAN once_each

// Copies to the host of bytes that were never written.
static void back(int from_host, int from_kernel) {
  buffer<int> p(64, unset);
  int host[64] = {0};
  if (from_host)
    must(cudaMemcpy(p, host, from_host * sizeof(int), cudaMemcpyHostToDevice));
  if (from_kernel)
    fill<<<1, 64>>>(p, from_kernel);
  must(cudaMemcpy(host, p, sizeof host, cudaMemcpyDeviceToHost)); // BUG copy_unset: uninit-copy BUG copy_part: uninit-copy BUG copy_short: uninit-copy
  finish();
}
CASE(copy_unset) { back(0, 0); }
CASE(copy_part) { back(0, 63); }
CASE(copy_short) { back(32, 16); }
CASE(copy_set) { back(32, 64); } // CLEAN copy_set

// A copy on the device takes the state along, or is reported itself.
CASE(copy_on) {
  buffer<int> p(64, unset), q(64, unset), out(64);
  must(cudaMemcpy(q, p, 64 * sizeof(int), cudaMemcpyDeviceToDevice)); // BUG copy_on: uninit-copy
  finish();
}
CASE(copy_on_set) { // CLEAN copy_on_set
  buffer<int> p(64, numbers), q(64, unset), out(64);
  must(cudaMemcpy(q, p, 64 * sizeof(int), cudaMemcpyDeviceToDevice));
  copy<<<1, 64>>>(q, out);
  finish();
}

// A tile that is not full is stored whole; a second kernel leaves the rest out, or does not.
__global__ void tiles(const int *in, int *work, int n) {
  __shared__ int s[64];
  int i = threadIdx.x;
  if (i < n)
    s[i] = in[i];
  __syncthreads();
  work[i] = 2 * s[63 - i]; // BUG tile_summed: uninit-shared BUG tile_copied: uninit-shared BUG tile_index: uninit-shared BUG tile_counted: uninit-shared BUG tile_twice: uninit-shared
}
__global__ void fix(const int *work, int *out, int from) {
  int i = threadIdx.x;
  if (i >= from)
    out[i] = work[i];
}
__global__ void look_up(const int *work, const int *in, int *out) {
  out[threadIdx.x] = in[work[threadIdx.x] & 63]; // BUG tile_index: uninit-shared
}
__global__ void add_up(const int *work, int *out) {
  atomicAdd(out, work[threadIdx.x]); // BUG tile_counted: uninit-shared
}
struct tiled {
  buffer<int> in, work, out;
  tiled() : in(64, numbers), work(64, unset), out(64) { tiles<<<1, 64>>>(in, work, 60); }
};
CASE(tile_unused) { tiled t; finish(); } // CLEAN tile_unused
CASE(tile_left_out) { // CLEAN tile_left_out
  tiled t;
  fix<<<1, 64>>>(t.work, t.out, 4);
  finish();
  look(t.out, 64);
}
CASE(tile_summed) {
  tiled t;
  fix<<<1, 64>>>(t.work, t.out, 3);
  finish();
  look(t.out, 64);
}
CASE(tile_not_copied) { // CLEAN tile_not_copied
  tiled t;
  finish();
  look(t.work + 4, 60);
}
CASE(tile_copied) {
  tiled t;
  finish();
  int host[64];
  cudaMemcpy(host, t.work, sizeof host, cudaMemcpyDeviceToHost); // BUG tile_copied: uninit-shared
}
CASE(tile_index) {
  tiled t;
  look_up<<<1, 64>>>(t.work, t.in, t.out);
  finish();
}
CASE(tile_counted) {
  tiled t;
  add_up<<<1, 64>>>(t.work, t.out);
  finish();
}
CASE(tile_overwritten) { // CLEAN tile_overwritten
  tiled t;
  fill<<<1, 64>>>(t.work, 64);
  look_up<<<1, 64>>>(t.work, t.in, t.out);
  finish();
  look(t.work, 64);
}
CASE(tile_cleared) { // CLEAN tile_cleared
  tiled t;
  must(cudaMemset(t.work, 0, 64 * sizeof(int)));
  look(t.work, 64);
}
CASE(tile_twice) {
  tiled t;
  buffer<int> other(64, unset);
  fix<<<1, 64>>>(t.work, other, 0);
  fix<<<1, 64>>>(other, t.out, 0);
  finish();
  look(t.out, 64);
}

// Memory of the device heap that was set, freed, and given out again.
__global__ void heap_twice(const int *in, int *out, bool set) {
  for (int k = 0; k < 2; k++) {
    int *p = (int *)malloc(64);
    asm volatile("" : "+l"(p));
    if (set || k == 0)
      p[in[2]] = 1;
    out[k] = p[in[2]]; // BUG heap_again: uninit-global
    free(p);
  }
}
static void heap_again_or_set(bool set) {
  buffer<int> in(64, numbers), out(64);
  heap_twice<<<1, 1>>>(in, out, set);
  finish();
  look(out, 64);
}
CASE(heap_again) { heap_again_or_set(false); }
CASE(heap_set_twice) { heap_again_or_set(true); } // CLEAN heap_set_twice

// What threads decide together, or add up, with a value that one of them lacks.
template <int set> __global__ void any(const int *in, int *out) {
  __shared__ int s[32];
  int i = threadIdx.x;
  if (i < set)
    s[i] = in[i];
  __syncwarp();
  out[i] = __any_sync(0xffffffff, s[i] > 5); // BUG any_unset: uninit-shared
}
CASE(any_unset) { run(any<31>, 1, 32); }
CASE(any_set) { run(any<32>, 1, 32); } // CLEAN any_set
template <int set> __global__ void counted_all(const int *in, int *out) {
  __shared__ int s[64];
  int i = threadIdx.x;
  if (i < set)
    s[i] = in[i];
  __syncthreads();
  out[i] = __syncthreads_count(s[i] > 5); // BUG count_unset: uninit-shared
}
CASE(count_unset) { run(counted_all<63>, 1, 64); }
CASE(count_set) { run(counted_all<64>, 1, 64); } // CLEAN count_set

// A thread that has no value may take part in a ballot whose bit for it nobody looks at.
template <int n> __global__ void ballot(const int *in, int *out) {
  __shared__ int s[32];
  int i = threadIdx.x;
  if (i < n)
    s[i] = in[i];
  __syncwarp();
  unsigned int all = __ballot_sync(0xffffffff, s[i] > 5);
  out[i] = __popc(all & ((1u << n) - 1));
}
CASE(ballot_masked) { run(ballot<20>, 1, 32); } // CLEAN ballot_masked
