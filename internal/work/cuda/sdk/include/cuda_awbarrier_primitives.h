// Barriers of the hardware in shared memory, from sm_80 on, as functions.
#ifndef HEDDLE_CUDA_AWBARRIER_PRIMITIVES_H
#define HEDDLE_CUDA_AWBARRIER_PRIMITIVES_H

#include "cuda_runtime.h"

#if defined(__CUDA__) && (!defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800)

#define HEDDLE_D static __inline__ __attribute__((device, always_inline))

typedef unsigned long long __mbarrier_t;
typedef unsigned long long __mbarrier_token_t;

#if defined(__CUDA_ARCH__)
#define HEDDLE_ASM(...) asm volatile(__VA_ARGS__)
#else
#define HEDDLE_ASM(...)
#endif
#define HEDDLE_AT "r"((unsigned int)__cvta_generic_to_shared(b))

HEDDLE_D unsigned int __mbarrier_maximum_count() { return (1u << 20) - 1; }
HEDDLE_D void __mbarrier_init(__mbarrier_t *b, unsigned int n) { HEDDLE_ASM("mbarrier.init.shared.b64 [%0], %1;" : : HEDDLE_AT, "r"(n) : "memory"); }
HEDDLE_D void __mbarrier_inval(__mbarrier_t *b) { HEDDLE_ASM("mbarrier.inval.shared.b64 [%0];" : : HEDDLE_AT : "memory"); }
HEDDLE_D __mbarrier_token_t __mbarrier_arrive(__mbarrier_t *b) {
  __mbarrier_token_t token = 0;
  HEDDLE_ASM("mbarrier.arrive.shared.b64 %0, [%1];" : "=l"(token) : HEDDLE_AT : "memory");
  return token;
}
HEDDLE_D __mbarrier_token_t __mbarrier_arrive_and_drop(__mbarrier_t *b) {
  __mbarrier_token_t token = 0;
  HEDDLE_ASM("mbarrier.arrive_drop.shared.b64 %0, [%1];" : "=l"(token) : HEDDLE_AT : "memory");
  return token;
}
HEDDLE_D bool __mbarrier_test_wait(__mbarrier_t *b, __mbarrier_token_t token) {
  unsigned int done = 0;
  HEDDLE_ASM("{\n\t.reg .pred p;\n\tmbarrier.test_wait.shared.b64 p, [%1], %2;\n\tselp.u32 %0, 1, 0, p;\n\t}" : "=r"(done) : HEDDLE_AT, "l"(token) : "memory");
  return done;
}
HEDDLE_D bool __mbarrier_test_wait_parity(__mbarrier_t *b, bool parity) {
  unsigned int done = 0;
  HEDDLE_ASM("{\n\t.reg .pred p;\n\tmbarrier.test_wait.parity.shared.b64 p, [%1], %2;\n\tselp.u32 %0, 1, 0, p;\n\t}" : "=r"(done) : HEDDLE_AT, "r"((unsigned int)parity) : "memory");
  return done;
}
HEDDLE_D unsigned int __mbarrier_token_pending_count(__mbarrier_token_t token) {
  unsigned int n = 0;
  HEDDLE_ASM("mbarrier.pending_count.b64 %0, %1;" : "=r"(n) : "l"(token));
  return n;
}

#undef HEDDLE_AT
#undef HEDDLE_ASM
#undef HEDDLE_D

#endif

#endif
