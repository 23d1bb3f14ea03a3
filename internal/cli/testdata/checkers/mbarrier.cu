// Barriers in shared memory, used in a way that their state does not allow.
// heddle cc -arch=sm_80
#include "suite.h"

#define INLINE static __device__ __attribute__((always_inline, nodebug)) inline
using barrier = unsigned long long;
INLINE unsigned int at(barrier *b) { return (unsigned int)__cvta_generic_to_shared(b); }
INLINE void make(barrier *b, int n) { asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(at(b)), "r"(n) : "memory"); }
INLINE void end(barrier *b) { asm volatile("mbarrier.inval.shared.b64 [%0];" ::"r"(at(b)) : "memory"); }
INLINE void arrive(barrier *b) { asm volatile("{.reg .b64 t; mbarrier.arrive.shared.b64 t, [%0];}" ::"r"(at(b)) : "memory"); }
INLINE void wait(barrier *b, int parity) {
  int done;
  do
    asm volatile("{.reg .pred p; mbarrier.test_wait.parity.shared.b64 p, [%1], %2; selp.b32 %0, 1, 0, p;}" : "=r"(done) : "r"(at(b)), "r"(parity) : "memory");
  while (!done);
}

// Made twice: for a second round it needs no initialisation, or the first life must end.
template <bool ended> __global__ void made(const int *in, int *out) {
  __shared__ barrier b;
  __shared__ int s[64];
  int i = threadIdx.x, sum = 0;
  for (int k = 0; k < 2; k++) {
    if (i == 0)
      make(&b, 64); // BUG made_twice: mbarrier-misuse
    __syncthreads();
    s[i] = in[i] + k;
    arrive(&b);
    wait(&b, 0);
    sum += s[63 - i];
    __syncthreads();
    if (ended && i == 0)
      end(&b);
  }
  out[i] = sum;
}
CASE(made_twice) { run(made<false>, 1, 64); }
CASE(made_anew) { run(made<true>, 1, 64); } // CLEAN made_anew

// Not made, or made by who is told to.
template <bool all> __global__ void unmade(const int *in, int *out) {
  __shared__ barrier b[2];
  int i = threadIdx.x;
  if (i < (all ? 2 : 1))
    make(&b[i], 64);
  __syncthreads();
  for (int k = 0; k < 2; k++)
    arrive(&b[k]); // BUG made_one: mbarrier-misuse
  wait(&b[0], 0);
  wait(&b[1], 0);
  out[i] = in[i];
}
CASE(made_one) { run(unmade<false>, 1, 64); }
CASE(made_both) { run(unmade<true>, 1, 64); } // CLEAN made_both

// Used after the end of its life.
template <bool early> __global__ void ended(const int *in, int *out) {
  __shared__ barrier b;
  int i = threadIdx.x;
  if (i == 0)
    make(&b, 64);
  __syncthreads();
  arrive(&b);
  if (early) {
    __syncthreads();
    if (i == 0)
      end(&b);
    __syncthreads();
  }
  wait(&b, 0); // BUG ended_early: mbarrier-misuse
  __syncthreads();
  if (!early && i == 0)
    end(&b);
  out[i] = in[i];
}
CASE(ended_early) { run(ended<true>, 1, 64); }
CASE(ended_last) { run(ended<false>, 1, 64); } // CLEAN ended_last

// More arrivals in a phase than it was made for, in one instruction of a warp.
template <int count> __global__ void arrivals(const int *in, int *out) {
  __shared__ barrier b;
  int i = threadIdx.x;
  if (i == 0)
    make(&b, 48);
  __syncthreads();
  asm volatile("{.reg .b64 t; mbarrier.arrive.shared.b64 t, [%0], %1;}" ::"r"(at(&b)), "r"(i % 2 ? count : 1) : "memory"); // BUG arrivals_many: mbarrier-misuse
  wait(&b, 0);
  out[i] = in[i];
}
CASE(arrivals_many) { run(arrivals<4>, 1, 32); }
CASE(arrivals_right) { run(arrivals<2>, 1, 32); } // CLEAN arrivals_right

// Fewer: a warp does not come.
template <int made> __global__ void missing(const int *in, int *out) {
  __shared__ barrier b;
  int i = threadIdx.x;
  if (i == 0)
    make(&b, made); // BUG arrivals_few: mbarrier-misuse
  __syncthreads();
  if (i < 32)
    arrive(&b);
  wait(&b, 0); // BUG arrivals_few: mbarrier-misuse
  out[i] = in[i];
}
CASE(arrivals_few) { run(missing<64>, 1, 64); }
CASE(arrivals_all) { run(missing<32>, 1, 64); } // CLEAN arrivals_all

// Bytes that are announced twice, and come once.
template <int bytes> __global__ void announced(const int *in, int *out) {
  __shared__ barrier b;
  int i = threadIdx.x;
  if (i == 0)
    make(&b, 1);
  __syncthreads();
  if (i == 0) {
    asm volatile("{.reg .b64 t; mbarrier.arrive.expect_tx.relaxed.cta.shared::cta.b64 t, [%0], %1;}" ::"r"(at(&b)), "r"(bytes) : "memory");
    asm volatile("mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%0], 64;" ::"r"(at(&b)) : "memory");
  }
  wait(&b, 0); // BUG bytes_twice: mbarrier-misuse
  out[i] = in[i];
}
CASE(bytes_twice) { run(announced<128>, 1, 32); }
CASE(bytes_once) { run(announced<64>, 1, 32); } // CLEAN bytes_once

// A thread that sleeps through two phases cannot tell the third from the first.
template <bool late> __global__ void behind(const int *in, int *out) {
  __shared__ barrier b;
  int i = threadIdx.x;
  if (i == 0)
    make(&b, 32);
  __syncthreads();
  if (i < 32)
    for (int k = 0; k < 2; k++) {
      arrive(&b);
      wait(&b, k & 1);
      if (!late)
        __syncthreads();
    }
  if (late)
    __syncthreads();
  if (i >= 32)
    for (int k = 0; k < 2; k++) {
      wait(&b, k & 1); // BUG parity_behind: mbarrier-misuse
      if (!late)
        __syncthreads();
    }
  out[i] = in[i];
}
CASE(parity_behind) { run(behind<true>, 1, 64); }
CASE(parity_follows) { run(behind<false>, 1, 64); } // CLEAN parity_follows
