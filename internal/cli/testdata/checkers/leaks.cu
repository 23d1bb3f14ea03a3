// Memory that is not freed.
#include "suite.h"

__global__ void touch(int *p) { p[threadIdx.x] = threadIdx.x; }

CASE(device) {
  int *p;
  must(cudaMalloc(&p, 256)); // BUG device: leak
  touch<<<1, 64>>>(p);
  finish();
}
CASE(device_freed) { // CLEAN device_freed
  int *p;
  must(cudaMalloc(&p, 256));
  touch<<<1, 64>>>(p);
  finish();
  must(cudaFree(p));
}
CASE(object) { // CLEAN object
  buffer<int> p(64);
  touch<<<1, 64>>>(p);
  finish();
}

// A loop that keeps only the last pointer.
static void looped(bool each) {
  int *p = nullptr;
  for (int k = 0; k < 3; k++) {
    must(cudaMalloc(&p, 256)); // BUG loop_last: leak
    touch<<<1, 64>>>(p);
    if (each)
      must(cudaFree(p));
  }
  finish();
  if (!each)
    must(cudaFree(p));
}
CASE(loop_last) { looped(false); }
CASE(loop_each) { looped(true); } // CLEAN loop_each

// A way out that forgets.
static void early(int n) {
  int *p, *q;
  must(cudaMalloc(&p, 256)); // BUG early_return: leak
  must(cudaMalloc(&q, 256));
  touch<<<1, 64>>>(q);
  finish();
  must(cudaFree(q));
  if (n > 64)
    return;
  must(cudaFree(p));
}
CASE(early_return) { early(65); }
CASE(early_none) { early(64); } // CLEAN early_none

CASE(managed) {
  int *p;
  must(cudaMallocManaged(&p, 256)); // BUG managed: leak
  touch<<<1, 64>>>(p);
  finish();
}
CASE(managed_freed) { // CLEAN managed_freed
  int *p;
  must(cudaMallocManaged(&p, 256));
  touch<<<1, 64>>>(p);
  finish();
  must(cudaFree(p));
}
CASE(pinned) {
  int *p;
  must(cudaMallocHost(&p, 256)); // BUG pinned: leak
  p[0] = 1;
}
CASE(pinned_freed) { // CLEAN pinned_freed
  int *p;
  must(cudaMallocHost(&p, 256));
  p[0] = 1;
  must(cudaFreeHost(p));
}
CASE(pitch) {
  int *p;
  size_t pitch;
  must(cudaMallocPitch(&p, &pitch, 100, 4)); // BUG pitch: leak
}
CASE(pitch_freed) { // CLEAN pitch_freed
  int *p;
  size_t pitch;
  must(cudaMallocPitch(&p, &pitch, 100, 4));
  must(cudaFree(p));
}
CASE(async) {
  int *p;
  must(cudaMallocAsync(&p, 256, 0)); // BUG async: leak
  must(cudaDeviceSynchronize());
}
CASE(async_freed) { // CLEAN async_freed
  int *p;
  must(cudaMallocAsync(&p, 256, 0));
  must(cudaFreeAsync(p, 0));
  must(cudaDeviceSynchronize());
}
static void arrays(bool freed) {
  cudaArray_t a;
  cudaChannelFormatDesc d = cudaCreateChannelDesc<float>();
  must(cudaMallocArray(&a, &d, 16, 16)); // BUG array: leak
  if (freed)
    must(cudaFreeArray(a));
}
CASE(array) { arrays(false); }
CASE(array_freed) { arrays(true); } // CLEAN array_freed

// The device heap.
template <bool freed> __global__ void heap(int *out) {
  int *p = (int *)malloc(64); // BUG heap_kept: leak-device-heap
  asm volatile("" : "+l"(p)); // the compiler must not see what it is
  p[threadIdx.x % 16] = threadIdx.x;
  out[threadIdx.x] = p[threadIdx.x % 16];
  if (freed)
    free(p);
}
static void heaped(void (*f)(int *)) {
  buffer<int> out(64);
  f<<<1, 32>>>(out);
  finish();
}
CASE(heap_kept) { heaped(heap<false>); }
CASE(heap_freed) { heaped(heap<true>); } // CLEAN heap_freed

template <bool all> __global__ void some(int *out) {
  int *p = new int[4]; // BUG heap_some: leak-device-heap
  p[out[0]] = threadIdx.x;
  out[threadIdx.x + 1] = p[0];
  if (all || threadIdx.x % 2)
    delete[] p;
}
CASE(heap_some) { heaped(some<false>); }
CASE(heap_all) { heaped(some<true>); } // CLEAN heap_all

// A list that one kernel builds and another frees, all of it or all but its end.
struct node {
  node *next;
};
__device__ node *first;
__global__ void build(int n) {
  for (int i = 0; i < n; i++) {
    node *x = (node *)malloc(sizeof(node)); // BUG list_end: leak-device-heap
    x->next = first;
    first = x;
  }
}
__global__ void drop(int n) {
  for (int i = 0; i < n && first; i++) {
    node *x = first;
    first = x->next;
    free(x);
  }
}
static void lists(int n) {
  build<<<1, 1>>>(4);
  drop<<<1, 1>>>(n);
  finish();
}
CASE(list_end) { lists(3); }
CASE(list_all) { lists(4); } // CLEAN list_all
