// Memory that an allocator of the program shares out, and of which it says so.
#include "suite.h"

#include <heddle/check.h>

// A pool that gives out parts of 256 bytes, one after the other, and takes them back.
struct pool {
  buffer<int> all;
  bool says;
  int next = 0;
  explicit pool(bool says = true) : all(4096, unset), says(says) {}
  int *give(int n, cudaStream_t stream = 0) {
    int *p = all.p + 64 * next++;
    if (says)
      heddle_give(p, n * sizeof(int), stream); // BUG lost: leak
    return p;
  }
  void take(int *p, int n, cudaStream_t stream = 0) {
    if (says)
      heddle_take(p, n * sizeof(int), stream); // BUG twice: double-free BUG not_given: invalid-free BUG take_early: race-streams
  }
};

__global__ void fill(int *out, int n) {
  if (threadIdx.x < n)
    out[threadIdx.x] = threadIdx.x; // BUG beyond: oob-global BUG taken: use-after-free BUG before_it: oob-global
}
__global__ void add(const int *in, int *out, int n) {
  if (threadIdx.x < n)
    out[threadIdx.x] = in[threadIdx.x] + 1; // BUG never_set: uninit-global BUG set_before: uninit-global
}

static void runs(int n) {
  pool p;
  int *a = p.give(40);
  fill<<<1, 64>>>(a, n);
  finish();
  p.take(a, 40);
}
CASE(beyond) { runs(41); }
CASE(within) { runs(40); } // CLEAN within

// Who says nothing has no bounds within the allocation.
CASE(silent) { // CLEAN silent
  pool p(false);
  fill<<<1, 64>>>(p.give(40), 41);
  finish();
}

CASE(before_it) {
  pool p;
  p.next = 2;
  int *a = p.give(40);
  fill<<<1, 64>>>(a - 1, 1);
  finish();
  p.take(a, 40);
}

CASE(taken) {
  pool p;
  int *a = p.give(40);
  p.take(a, 40);
  fill<<<1, 64>>>(a, 40);
  finish();
}

// The part is given out again, to another owner.
CASE(again) { // CLEAN again
  pool p;
  int *a = p.give(40);
  fill<<<1, 64>>>(a, 40);
  p.take(a, 40);
  p.next = 0;
  a = p.give(60);
  fill<<<1, 64>>>(a, 60);
  finish();
  p.take(a, 60);
}

// What is given out has no values, whatever was there before.
static void reads(bool first, bool then) {
  pool p;
  buffer<int> out(64);
  int *a = p.give(40);
  if (first)
    fill<<<1, 64>>>(a, 40);
  p.take(a, 40);
  p.next = 0;
  a = p.give(40);
  if (then)
    fill<<<1, 64>>>(a, 40);
  add<<<1, 64>>>(a, out, 40);
  finish();
  look(out, 64);
  p.take(a, 40);
}
CASE(never_set) { reads(false, false); }
CASE(set_before) { reads(true, false); }
CASE(set_again) { reads(true, true); } // CLEAN set_again

// Parts that never come back are lost, unless the pool goes with them.
CASE(lost) {
  pool &p = *new pool;
  int *a = p.give(40);
  fill<<<1, 64>>>(a, 40);
  finish();
  a = p.give(40);
  p.take(a, 40);
}
CASE(gone_with_pool) { // CLEAN gone_with_pool
  pool p;
  fill<<<1, 64>>>(p.give(40), 40);
  finish();
}

// Twice taken, and never given.
CASE(twice) {
  pool p;
  int *a = p.give(40);
  p.take(a, 40);
  p.take(a, 40);
}
CASE(not_given) {
  pool p;
  int *a = p.give(40);
  p.take(a + 1, 39);
  p.take(a, 40);
}

// Copies of the host.
static void copies(int n) {
  pool p;
  int host[64] = {};
  int *a = p.give(40);
  cudaMemcpy(a, host, n * sizeof(int), cudaMemcpyHostToDevice); // BUG copy_beyond: oob-memcpy
  finish();
  p.take(a, 40);
}
CASE(copy_beyond) { copies(64); }
CASE(copy_within) { copies(40); } // CLEAN copy_within

// A part comes back on one stream while another still works with it.
static void streams(bool wait) {
  pool p;
  cudaStream_t a, b;
  must(cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking));
  must(cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking));
  int *x = p.give(40, a);
  cudaEvent_t e;
  must(cudaEventCreate(&e));
  must(cudaEventRecord(e, a));
  must(cudaStreamWaitEvent(b, e, 0));
  fill<<<1, 64, 0, b>>>(x, 40);
  if (wait) {
    must(cudaEventRecord(e, b));
    must(cudaStreamWaitEvent(a, e, 0));
  }
  p.take(x, 40, a);
  finish();
  cudaEventDestroy(e);
  cudaStreamDestroy(a);
  cudaStreamDestroy(b);
}
CASE(take_early) { streams(false); }
CASE(take_late) { streams(true); } // CLEAN take_late
