// Barriers of a block, in 8 bytes of shared memory, as functions: the hardware's from sm_80 on, before that counters.
#ifndef HEDDLE_CUDA_AWBARRIER_PRIMITIVES_H
#define HEDDLE_CUDA_AWBARRIER_PRIMITIVES_H

#include "cuda_runtime.h"

#if defined(__CUDA__)

#define HEDDLE_D static __inline__ __attribute__((device, always_inline, nodebug))

typedef unsigned long long __mbarrier_t;
typedef unsigned long long __mbarrier_token_t;

namespace heddle_sdk {
// The functions of barriers, which are the hardware's, at an address of shared memory, or counters. A token is the state
// before an arrival.
namespace barriers {

typedef __mbarrier_token_t token;
const unsigned int most = (1u << 20) - 1; // threads (PTX ISA, mbarrier)

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
typedef unsigned int address;
HEDDLE_D void start(address b, unsigned int n) { asm volatile("mbarrier.init.shared.b64 [%0], %1;" : : "r"(b), "r"(n) : "memory"); }
HEDDLE_D void end(address b) { asm volatile("mbarrier.inval.shared.b64 [%0];" : : "r"(b) : "memory"); }
// Several arrivals are all but the last, which may complete the phase, and the last.
HEDDLE_D token arrive(address b, unsigned int n) {
  token t;
  if (n > 1) asm volatile("mbarrier.arrive.noComplete.shared.b64 %0, [%1], %2;" : "=l"(t) : "r"(b), "r"(n - 1) : "memory");
  asm volatile("mbarrier.arrive.shared.b64 %0, [%1];" : "=l"(t) : "r"(b) : "memory");
  return t;
}
HEDDLE_D token drop(address b) {
  token t;
  asm volatile("mbarrier.arrive_drop.shared.b64 %0, [%1];" : "=l"(t) : "r"(b) : "memory");
  return t;
}
HEDDLE_D bool ended(address b, token t) {
  unsigned int is;
  asm volatile("{\n\t.reg .pred p;\n\tmbarrier.test_wait.shared.b64 p, [%1], %2;\n\tselp.u32 %0, 1, 0, p;\n\t}" : "=r"(is) : "r"(b), "l"(t) : "memory");
  return is;
}
HEDDLE_D bool ended_parity(address b, bool parity) {
  unsigned int is;
  asm volatile("{\n\t.reg .pred p;\n\tmbarrier.test_wait.parity.shared.b64 p, [%1], %2;\n\tselp.u32 %0, 1, 0, p;\n\t}" : "=r"(is) : "r"(b), "r"((unsigned int)parity) : "memory");
  return is;
}
// The phase lasts until the copies that the thread has started are complete.
HEDDLE_D void copies(address b) { asm volatile("cp.async.mbarrier.arrive.shared.b64 [%0];" : : "r"(b) : "memory"); }
HEDDLE_D unsigned int pending(token t) {
  unsigned int n;
  asm volatile("mbarrier.pending_count.b64 %0, %1;" : "=r"(n) : "l"(t));
  return n;
}
#define HEDDLE_PLACE(b) (unsigned int)__cvta_generic_to_shared(b)
#else
#define HEDDLE_PLACE(b) (heddle_sdk::barriers::counters *)(b)
HEDDLE_D unsigned int pending(token t) { return (unsigned int)t & most; }
#endif

// state is the number of threads that are missing (20 bits) and that of completed phases.
struct counters { unsigned int expected, state; };
HEDDLE_D void start(counters *b, unsigned int n) {
  b->expected = b->state = n;
  __threadfence_block();
}
HEDDLE_D void end(counters *) {}
HEDDLE_D token arrive(counters *b, unsigned int n) {
  __threadfence_block();
  unsigned int was = atomicSub(&b->state, n);
  if ((was & most) == n) {
    __threadfence_block();
    *(volatile unsigned int *)&b->state = (was & ~most) + most + 1 + *(volatile unsigned int *)&b->expected;
  }
  return was;
}
HEDDLE_D token drop(counters *b) {
  atomicSub(&b->expected, 1u);
  return arrive(b, 1);
}
HEDDLE_D bool ended(counters *b, token t) {
  if (*(volatile unsigned int *)&b->state >> 20 == (unsigned int)t >> 20) return false;
  __threadfence_block();
  return true;
}
HEDDLE_D bool ended_parity(counters *b, bool parity) {
  if ((*(volatile unsigned int *)&b->state >> 20 & 1) == parity) return false;
  __threadfence_block();
  return true;
}

} // namespace barriers
} // namespace heddle_sdk

HEDDLE_D unsigned int __mbarrier_maximum_count() { return heddle_sdk::barriers::most; }
HEDDLE_D void __mbarrier_init(__mbarrier_t *b, unsigned int n) { heddle_sdk::barriers::start(HEDDLE_PLACE(b), n); }
HEDDLE_D void __mbarrier_inval(__mbarrier_t *b) { heddle_sdk::barriers::end(HEDDLE_PLACE(b)); }
HEDDLE_D __mbarrier_token_t __mbarrier_arrive(__mbarrier_t *b) { return heddle_sdk::barriers::arrive(HEDDLE_PLACE(b), 1); }
HEDDLE_D __mbarrier_token_t __mbarrier_arrive_and_drop(__mbarrier_t *b) { return heddle_sdk::barriers::drop(HEDDLE_PLACE(b)); }
HEDDLE_D bool __mbarrier_test_wait(__mbarrier_t *b, __mbarrier_token_t token) { return heddle_sdk::barriers::ended(HEDDLE_PLACE(b), token); }
HEDDLE_D bool __mbarrier_test_wait_parity(__mbarrier_t *b, bool parity) { return heddle_sdk::barriers::ended_parity(HEDDLE_PLACE(b), parity); }
HEDDLE_D unsigned int __mbarrier_token_pending_count(__mbarrier_token_t token) { return heddle_sdk::barriers::pending(token); }
// These may wait for a time; only the hardware from sm_90 on does.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
HEDDLE_D bool __mbarrier_try_wait(__mbarrier_t *b, __mbarrier_token_t token, unsigned int nanoseconds) {
  unsigned int is;
  asm volatile("{\n\t.reg .pred p;\n\tmbarrier.try_wait.shared.b64 p, [%1], %2, %3;\n\tselp.u32 %0, 1, 0, p;\n\t}" : "=r"(is) : "r"(HEDDLE_PLACE(b)), "l"(token), "r"(nanoseconds) : "memory");
  return is;
}
HEDDLE_D bool __mbarrier_try_wait_parity(__mbarrier_t *b, bool parity, unsigned int nanoseconds) {
  unsigned int is;
  asm volatile("{\n\t.reg .pred p;\n\tmbarrier.try_wait.parity.shared.b64 p, [%1], %2, %3;\n\tselp.u32 %0, 1, 0, p;\n\t}" : "=r"(is) : "r"(HEDDLE_PLACE(b)), "r"((unsigned int)parity), "r"(nanoseconds) : "memory");
  return is;
}
#else
HEDDLE_D bool __mbarrier_try_wait(__mbarrier_t *b, __mbarrier_token_t token, unsigned int) { return __mbarrier_test_wait(b, token); }
HEDDLE_D bool __mbarrier_try_wait_parity(__mbarrier_t *b, bool parity, unsigned int) { return __mbarrier_test_wait_parity(b, parity); }
#endif
// As soon as the copies that the thread has started are complete, they no longer keep the phase from ending.
HEDDLE_D void __pipeline_arrive_on(__mbarrier_t *b) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  heddle_sdk::barriers::copies(HEDDLE_PLACE(b));
#else
  (void)b; // the copies were complete at once
#endif
}

#undef HEDDLE_PLACE
#undef HEDDLE_D

#endif

#endif
