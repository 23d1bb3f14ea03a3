// Atomic functions, using clang's builtins, in the scopes of the device, the block (_block) and the
// system (_system).
#ifndef HEDDLE_DEVICE_ATOMIC_FUNCTIONS_H
#define HEDDLE_DEVICE_ATOMIC_FUNCTIONS_H

#define HEDDLE_ATOM static __inline__ __attribute__((device, always_inline, nodebug))

// Compare-and-swap orders nothing. Of clang's own function LLVM makes, since version 20, one that is sequentially
// consistent, with a fence. Its function that takes an order knows no scope but the system's on this target, which
// is wider than CUDA's. The empty asm keeps the compiler from moving accesses past it, as in a lock without fences.
#if __clang_major__ >= 20
#define HEDDLE_CAS(T) \
  HEDDLE_ATOM T atomicCAS(T *p, T c, T v) { \
    asm volatile("" ::: "memory"); \
    __scoped_atomic_compare_exchange_n(p, &c, v, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE); \
    asm volatile("" ::: "memory"); \
    return c; \
  }
HEDDLE_CAS(int)
HEDDLE_CAS(unsigned int)
HEDDLE_CAS(unsigned long long)
#undef HEDDLE_CAS
#else
HEDDLE_ATOM int atomicCAS(int *p, int c, int v) { return (int)__nvvm_atom_cas_gen_i((int *)p, (int)c, (int)v); }
HEDDLE_ATOM unsigned int atomicCAS(unsigned int *p, unsigned int c, unsigned int v) { return (unsigned int)__nvvm_atom_cas_gen_i((int *)p, (int)c, (int)v); }
HEDDLE_ATOM unsigned long long atomicCAS(unsigned long long *p, unsigned long long c, unsigned long long v) { return (unsigned long long)__nvvm_atom_cas_gen_ll((long long *)p, (long long)c, (long long)v); }
#endif

HEDDLE_ATOM int atomicAdd(int *p, int v) { return (int)__nvvm_atom_add_gen_i((int *)p, (int)v); }
HEDDLE_ATOM int atomicAdd_block(int *p, int v) { return (int)__nvvm_atom_cta_add_gen_i((int *)p, (int)v); }
HEDDLE_ATOM int atomicAdd_system(int *p, int v) { return (int)__nvvm_atom_sys_add_gen_i((int *)p, (int)v); }
HEDDLE_ATOM unsigned int atomicAdd(unsigned int *p, unsigned int v) { return (unsigned int)__nvvm_atom_add_gen_i((int *)p, (int)v); }
HEDDLE_ATOM unsigned int atomicAdd_block(unsigned int *p, unsigned int v) { return (unsigned int)__nvvm_atom_cta_add_gen_i((int *)p, (int)v); }
HEDDLE_ATOM unsigned int atomicAdd_system(unsigned int *p, unsigned int v) { return (unsigned int)__nvvm_atom_sys_add_gen_i((int *)p, (int)v); }
HEDDLE_ATOM unsigned long long atomicAdd(unsigned long long *p, unsigned long long v) { return (unsigned long long)__nvvm_atom_add_gen_ll((long long *)p, (long long)v); }
HEDDLE_ATOM unsigned long long atomicAdd_block(unsigned long long *p, unsigned long long v) { return (unsigned long long)__nvvm_atom_cta_add_gen_ll((long long *)p, (long long)v); }
HEDDLE_ATOM unsigned long long atomicAdd_system(unsigned long long *p, unsigned long long v) { return (unsigned long long)__nvvm_atom_sys_add_gen_ll((long long *)p, (long long)v); }
HEDDLE_ATOM float atomicAdd(float *p, float v) { return (float)__nvvm_atom_add_gen_f((float *)p, (float)v); }
HEDDLE_ATOM float atomicAdd_block(float *p, float v) { return (float)__nvvm_atom_cta_add_gen_f((float *)p, (float)v); }
HEDDLE_ATOM float atomicAdd_system(float *p, float v) { return (float)__nvvm_atom_sys_add_gen_f((float *)p, (float)v); }
HEDDLE_ATOM double atomicAdd(double *p, double v) { return (double)__nvvm_atom_add_gen_d((double *)p, (double)v); }
HEDDLE_ATOM double atomicAdd_block(double *p, double v) { return (double)__nvvm_atom_cta_add_gen_d((double *)p, (double)v); }
HEDDLE_ATOM double atomicAdd_system(double *p, double v) { return (double)__nvvm_atom_sys_add_gen_d((double *)p, (double)v); }
HEDDLE_ATOM int atomicSub(int *p, int v) { return atomicAdd(p, (int)-v); }
HEDDLE_ATOM unsigned int atomicSub(unsigned int *p, unsigned int v) { return atomicAdd(p, (unsigned int)-v); }
HEDDLE_ATOM int atomicSub_block(int *p, int v) { return atomicAdd_block(p, (int)-v); }
HEDDLE_ATOM unsigned int atomicSub_block(unsigned int *p, unsigned int v) { return atomicAdd_block(p, (unsigned int)-v); }
HEDDLE_ATOM int atomicSub_system(int *p, int v) { return atomicAdd_system(p, (int)-v); }
HEDDLE_ATOM unsigned int atomicSub_system(unsigned int *p, unsigned int v) { return atomicAdd_system(p, (unsigned int)-v); }
HEDDLE_ATOM int atomicExch(int *p, int v) { return (int)__nvvm_atom_xchg_gen_i((int *)p, (int)v); }
HEDDLE_ATOM int atomicExch_block(int *p, int v) { return (int)__nvvm_atom_cta_xchg_gen_i((int *)p, (int)v); }
HEDDLE_ATOM int atomicExch_system(int *p, int v) { return (int)__nvvm_atom_sys_xchg_gen_i((int *)p, (int)v); }
HEDDLE_ATOM unsigned int atomicExch(unsigned int *p, unsigned int v) { return (unsigned int)__nvvm_atom_xchg_gen_i((int *)p, (int)v); }
HEDDLE_ATOM unsigned int atomicExch_block(unsigned int *p, unsigned int v) { return (unsigned int)__nvvm_atom_cta_xchg_gen_i((int *)p, (int)v); }
HEDDLE_ATOM unsigned int atomicExch_system(unsigned int *p, unsigned int v) { return (unsigned int)__nvvm_atom_sys_xchg_gen_i((int *)p, (int)v); }
HEDDLE_ATOM unsigned long long atomicExch(unsigned long long *p, unsigned long long v) { return (unsigned long long)__nvvm_atom_xchg_gen_ll((long long *)p, (long long)v); }
HEDDLE_ATOM unsigned long long atomicExch_block(unsigned long long *p, unsigned long long v) { return (unsigned long long)__nvvm_atom_cta_xchg_gen_ll((long long *)p, (long long)v); }
HEDDLE_ATOM unsigned long long atomicExch_system(unsigned long long *p, unsigned long long v) { return (unsigned long long)__nvvm_atom_sys_xchg_gen_ll((long long *)p, (long long)v); }
HEDDLE_ATOM float atomicExch(float *p, float v) { return __builtin_bit_cast(float, atomicExch((int *)p, __builtin_bit_cast(int, v))); }
HEDDLE_ATOM float atomicExch_block(float *p, float v) { return __builtin_bit_cast(float, atomicExch_block((int *)p, __builtin_bit_cast(int, v))); }
HEDDLE_ATOM float atomicExch_system(float *p, float v) { return __builtin_bit_cast(float, atomicExch_system((int *)p, __builtin_bit_cast(int, v))); }
HEDDLE_ATOM int atomicMin(int *p, int v) { return (int)__nvvm_atom_min_gen_i((int *)p, (int)v); }
HEDDLE_ATOM int atomicMin_block(int *p, int v) { return (int)__nvvm_atom_cta_min_gen_i((int *)p, (int)v); }
HEDDLE_ATOM int atomicMin_system(int *p, int v) { return (int)__nvvm_atom_sys_min_gen_i((int *)p, (int)v); }
HEDDLE_ATOM unsigned int atomicMin(unsigned int *p, unsigned int v) { return (unsigned int)__nvvm_atom_min_gen_ui((unsigned int *)p, (unsigned int)v); }
// Clang's builtins for these use the signed versions.
#define HEDDLE_UNSIGNED(name, op, T, type, letter)                                                    \
  HEDDLE_ATOM T name(T *p, T v) {                                                                     \
    T old;                                                                                            \
    asm volatile("atom." op "." type " %0, [%1], %2;" : "=" letter(old) : "l"(p), letter(v) : "memory"); \
    return old;                                                                                       \
  }
HEDDLE_UNSIGNED(atomicMin_block, "cta.min", unsigned int, "u32", "r")
HEDDLE_UNSIGNED(atomicMin_system, "sys.min", unsigned int, "u32", "r")
HEDDLE_UNSIGNED(atomicMax_block, "cta.max", unsigned int, "u32", "r")
HEDDLE_UNSIGNED(atomicMax_system, "sys.max", unsigned int, "u32", "r")
HEDDLE_UNSIGNED(atomicMin_block, "cta.min", unsigned long long, "u64", "l")
HEDDLE_UNSIGNED(atomicMin_system, "sys.min", unsigned long long, "u64", "l")
HEDDLE_UNSIGNED(atomicMax_block, "cta.max", unsigned long long, "u64", "l")
HEDDLE_UNSIGNED(atomicMax_system, "sys.max", unsigned long long, "u64", "l")
#undef HEDDLE_UNSIGNED
HEDDLE_ATOM long long atomicMin(long long *p, long long v) { return (long long)__nvvm_atom_min_gen_ll((long long *)p, (long long)v); }
HEDDLE_ATOM long long atomicMin_block(long long *p, long long v) { return (long long)__nvvm_atom_cta_min_gen_ll((long long *)p, (long long)v); }
HEDDLE_ATOM long long atomicMin_system(long long *p, long long v) { return (long long)__nvvm_atom_sys_min_gen_ll((long long *)p, (long long)v); }
HEDDLE_ATOM unsigned long long atomicMin(unsigned long long *p, unsigned long long v) { return (unsigned long long)__nvvm_atom_min_gen_ull((unsigned long long *)p, (unsigned long long)v); }
HEDDLE_ATOM int atomicMax(int *p, int v) { return (int)__nvvm_atom_max_gen_i((int *)p, (int)v); }
HEDDLE_ATOM int atomicMax_block(int *p, int v) { return (int)__nvvm_atom_cta_max_gen_i((int *)p, (int)v); }
HEDDLE_ATOM int atomicMax_system(int *p, int v) { return (int)__nvvm_atom_sys_max_gen_i((int *)p, (int)v); }
HEDDLE_ATOM unsigned int atomicMax(unsigned int *p, unsigned int v) { return (unsigned int)__nvvm_atom_max_gen_ui((unsigned int *)p, (unsigned int)v); }
HEDDLE_ATOM long long atomicMax(long long *p, long long v) { return (long long)__nvvm_atom_max_gen_ll((long long *)p, (long long)v); }
HEDDLE_ATOM long long atomicMax_block(long long *p, long long v) { return (long long)__nvvm_atom_cta_max_gen_ll((long long *)p, (long long)v); }
HEDDLE_ATOM long long atomicMax_system(long long *p, long long v) { return (long long)__nvvm_atom_sys_max_gen_ll((long long *)p, (long long)v); }
HEDDLE_ATOM unsigned long long atomicMax(unsigned long long *p, unsigned long long v) { return (unsigned long long)__nvvm_atom_max_gen_ull((unsigned long long *)p, (unsigned long long)v); }
HEDDLE_ATOM unsigned int atomicInc(unsigned int *p, unsigned int v) { return (unsigned int)__nvvm_atom_inc_gen_ui((unsigned int *)p, (unsigned int)v); }
HEDDLE_ATOM unsigned int atomicInc_block(unsigned int *p, unsigned int v) { return (unsigned int)__nvvm_atom_cta_inc_gen_ui((unsigned int *)p, (unsigned int)v); }
HEDDLE_ATOM unsigned int atomicInc_system(unsigned int *p, unsigned int v) { return (unsigned int)__nvvm_atom_sys_inc_gen_ui((unsigned int *)p, (unsigned int)v); }
HEDDLE_ATOM unsigned int atomicDec(unsigned int *p, unsigned int v) { return (unsigned int)__nvvm_atom_dec_gen_ui((unsigned int *)p, (unsigned int)v); }
HEDDLE_ATOM unsigned int atomicDec_block(unsigned int *p, unsigned int v) { return (unsigned int)__nvvm_atom_cta_dec_gen_ui((unsigned int *)p, (unsigned int)v); }
HEDDLE_ATOM unsigned int atomicDec_system(unsigned int *p, unsigned int v) { return (unsigned int)__nvvm_atom_sys_dec_gen_ui((unsigned int *)p, (unsigned int)v); }
HEDDLE_ATOM int atomicAnd(int *p, int v) { return (int)__nvvm_atom_and_gen_i((int *)p, (int)v); }
HEDDLE_ATOM int atomicAnd_block(int *p, int v) { return (int)__nvvm_atom_cta_and_gen_i((int *)p, (int)v); }
HEDDLE_ATOM int atomicAnd_system(int *p, int v) { return (int)__nvvm_atom_sys_and_gen_i((int *)p, (int)v); }
HEDDLE_ATOM unsigned int atomicAnd(unsigned int *p, unsigned int v) { return (unsigned int)__nvvm_atom_and_gen_i((int *)p, (int)v); }
HEDDLE_ATOM unsigned int atomicAnd_block(unsigned int *p, unsigned int v) { return (unsigned int)__nvvm_atom_cta_and_gen_i((int *)p, (int)v); }
HEDDLE_ATOM unsigned int atomicAnd_system(unsigned int *p, unsigned int v) { return (unsigned int)__nvvm_atom_sys_and_gen_i((int *)p, (int)v); }
HEDDLE_ATOM unsigned long long atomicAnd(unsigned long long *p, unsigned long long v) { return (unsigned long long)__nvvm_atom_and_gen_ll((long long *)p, (long long)v); }
HEDDLE_ATOM unsigned long long atomicAnd_block(unsigned long long *p, unsigned long long v) { return (unsigned long long)__nvvm_atom_cta_and_gen_ll((long long *)p, (long long)v); }
HEDDLE_ATOM unsigned long long atomicAnd_system(unsigned long long *p, unsigned long long v) { return (unsigned long long)__nvvm_atom_sys_and_gen_ll((long long *)p, (long long)v); }
HEDDLE_ATOM int atomicOr(int *p, int v) { return (int)__nvvm_atom_or_gen_i((int *)p, (int)v); }
HEDDLE_ATOM int atomicOr_block(int *p, int v) { return (int)__nvvm_atom_cta_or_gen_i((int *)p, (int)v); }
HEDDLE_ATOM int atomicOr_system(int *p, int v) { return (int)__nvvm_atom_sys_or_gen_i((int *)p, (int)v); }
HEDDLE_ATOM unsigned int atomicOr(unsigned int *p, unsigned int v) { return (unsigned int)__nvvm_atom_or_gen_i((int *)p, (int)v); }
HEDDLE_ATOM unsigned int atomicOr_block(unsigned int *p, unsigned int v) { return (unsigned int)__nvvm_atom_cta_or_gen_i((int *)p, (int)v); }
HEDDLE_ATOM unsigned int atomicOr_system(unsigned int *p, unsigned int v) { return (unsigned int)__nvvm_atom_sys_or_gen_i((int *)p, (int)v); }
HEDDLE_ATOM unsigned long long atomicOr(unsigned long long *p, unsigned long long v) { return (unsigned long long)__nvvm_atom_or_gen_ll((long long *)p, (long long)v); }
HEDDLE_ATOM unsigned long long atomicOr_block(unsigned long long *p, unsigned long long v) { return (unsigned long long)__nvvm_atom_cta_or_gen_ll((long long *)p, (long long)v); }
HEDDLE_ATOM unsigned long long atomicOr_system(unsigned long long *p, unsigned long long v) { return (unsigned long long)__nvvm_atom_sys_or_gen_ll((long long *)p, (long long)v); }
HEDDLE_ATOM int atomicXor(int *p, int v) { return (int)__nvvm_atom_xor_gen_i((int *)p, (int)v); }
HEDDLE_ATOM int atomicXor_block(int *p, int v) { return (int)__nvvm_atom_cta_xor_gen_i((int *)p, (int)v); }
HEDDLE_ATOM int atomicXor_system(int *p, int v) { return (int)__nvvm_atom_sys_xor_gen_i((int *)p, (int)v); }
HEDDLE_ATOM unsigned int atomicXor(unsigned int *p, unsigned int v) { return (unsigned int)__nvvm_atom_xor_gen_i((int *)p, (int)v); }
HEDDLE_ATOM unsigned int atomicXor_block(unsigned int *p, unsigned int v) { return (unsigned int)__nvvm_atom_cta_xor_gen_i((int *)p, (int)v); }
HEDDLE_ATOM unsigned int atomicXor_system(unsigned int *p, unsigned int v) { return (unsigned int)__nvvm_atom_sys_xor_gen_i((int *)p, (int)v); }
HEDDLE_ATOM unsigned long long atomicXor(unsigned long long *p, unsigned long long v) { return (unsigned long long)__nvvm_atom_xor_gen_ll((long long *)p, (long long)v); }
HEDDLE_ATOM unsigned long long atomicXor_block(unsigned long long *p, unsigned long long v) { return (unsigned long long)__nvvm_atom_cta_xor_gen_ll((long long *)p, (long long)v); }
HEDDLE_ATOM unsigned long long atomicXor_system(unsigned long long *p, unsigned long long v) { return (unsigned long long)__nvvm_atom_sys_xor_gen_ll((long long *)p, (long long)v); }
HEDDLE_ATOM int atomicCAS_block(int *p, int c, int v) { return (int)__nvvm_atom_cta_cas_gen_i((int *)p, (int)c, (int)v); }
HEDDLE_ATOM int atomicCAS_system(int *p, int c, int v) { return (int)__nvvm_atom_sys_cas_gen_i((int *)p, (int)c, (int)v); }
HEDDLE_ATOM unsigned int atomicCAS_block(unsigned int *p, unsigned int c, unsigned int v) { return (unsigned int)__nvvm_atom_cta_cas_gen_i((int *)p, (int)c, (int)v); }
HEDDLE_ATOM unsigned int atomicCAS_system(unsigned int *p, unsigned int c, unsigned int v) { return (unsigned int)__nvvm_atom_sys_cas_gen_i((int *)p, (int)c, (int)v); }
HEDDLE_ATOM unsigned long long atomicCAS_block(unsigned long long *p, unsigned long long c, unsigned long long v) { return (unsigned long long)__nvvm_atom_cta_cas_gen_ll((long long *)p, (long long)c, (long long)v); }
HEDDLE_ATOM unsigned long long atomicCAS_system(unsigned long long *p, unsigned long long c, unsigned long long v) { return (unsigned long long)__nvvm_atom_sys_cas_gen_ll((long long *)p, (long long)c, (long long)v); }
HEDDLE_ATOM unsigned short atomicCAS(unsigned short *p, unsigned short c, unsigned short v) {
  unsigned short old;
  asm volatile("atom.cas.b16 %0, [%1], %2, %3;" : "=h"(old) : "l"(p), "h"(c), "h"(v) : "memory");
  return old;
}
HEDDLE_ATOM unsigned short atomicCAS_block(unsigned short *p, unsigned short c, unsigned short v) {
  unsigned short old;
  asm volatile("atom.cta.cas.b16 %0, [%1], %2, %3;" : "=h"(old) : "l"(p), "h"(c), "h"(v) : "memory");
  return old;
}
HEDDLE_ATOM unsigned short atomicCAS_system(unsigned short *p, unsigned short c, unsigned short v) {
  unsigned short old;
  asm volatile("atom.sys.cas.b16 %0, [%1], %2, %3;" : "=h"(old) : "l"(p), "h"(c), "h"(v) : "memory");
  return old;
}

#undef HEDDLE_ATOM

#endif
