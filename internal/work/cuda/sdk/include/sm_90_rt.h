// Clusters of blocks, from sm_90 on: where a block is in its cluster, the barrier of a cluster, and the shared memory of its blocks.
#ifndef HEDDLE_SM_90_RT_H
#define HEDDLE_SM_90_RT_H

#include "cuda_runtime.h"

// Clang has them from 17 on.
#if defined(__CUDA__) && __clang_major__ < 17 && (!defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900)

#define HEDDLE_D static __inline__ __attribute__((device, always_inline, nodebug))
#if defined(__CUDA_ARCH__)
#define HEDDLE_ASM(...) asm volatile(__VA_ARGS__)
#else
#define HEDDLE_ASM(...)
#endif

// Special registers with three components, and with one.
#define HEDDLE_REGISTERS(name, reg)                        \
  HEDDLE_D dim3 name() {                                   \
    dim3 d;                                                \
    HEDDLE_ASM("mov.u32 %0, %%" reg ".x;" : "=r"(d.x));    \
    HEDDLE_ASM("mov.u32 %0, %%" reg ".y;" : "=r"(d.y));    \
    HEDDLE_ASM("mov.u32 %0, %%" reg ".z;" : "=r"(d.z));    \
    return d;                                              \
  }
#define HEDDLE_REGISTER(name, reg)                         \
  HEDDLE_D unsigned int name() {                           \
    unsigned int n = 0;                                    \
    HEDDLE_ASM("mov.u32 %0, %%" reg ";" : "=r"(n));        \
    return n;                                              \
  }
HEDDLE_REGISTERS(__clusterDim, "cluster_nctaid")
HEDDLE_REGISTERS(__clusterRelativeBlockIdx, "cluster_ctaid")
HEDDLE_REGISTERS(__clusterGridDimInClusters, "nclusterid")
HEDDLE_REGISTERS(__clusterIdx, "clusterid")
HEDDLE_REGISTER(__clusterRelativeBlockRank, "cluster_ctarank")
HEDDLE_REGISTER(__clusterSizeInBlocks, "cluster_nctarank")
#undef HEDDLE_REGISTERS
#undef HEDDLE_REGISTER
HEDDLE_D unsigned int __clusterDimIsSpecified() {
  unsigned int is = 0;
  HEDDLE_ASM("{\n\t.reg .pred p;\n\tmov.pred p, %%is_explicit_cluster;\n\tselp.u32 %0, 1, 0, p;\n\t}" : "=r"(is));
  return is;
}

HEDDLE_D void __cluster_barrier_arrive() { HEDDLE_ASM("barrier.cluster.arrive.aligned;" : : : "memory"); }
HEDDLE_D void __cluster_barrier_arrive_relaxed() { HEDDLE_ASM("barrier.cluster.arrive.relaxed.aligned;" : : : "memory"); }
HEDDLE_D void __cluster_barrier_wait() { HEDDLE_ASM("barrier.cluster.wait.aligned;" : : : "memory"); }
HEDDLE_D void __threadfence_cluster() { HEDDLE_ASM("fence.acq_rel.cluster;" : : : "memory"); }

// The same variable of another block, and the block that has one.
HEDDLE_D void *__cluster_map_shared_rank(const void *p, unsigned int rank) {
  void *q = 0;
  HEDDLE_ASM("mapa.u64 %0, %1, %2;" : "=l"(q) : "l"(p), "r"(rank));
  return q;
}
HEDDLE_D unsigned int __cluster_query_shared_rank(const void *p) {
  unsigned int rank = 0;
  HEDDLE_ASM("getctarank.u64 %0, %1;" : "=r"(rank) : "l"(p));
  return rank;
}
HEDDLE_D bool __isClusterShared(const void *p) {
  unsigned int is = 0;
  HEDDLE_ASM("{\n\t.reg .pred p;\n\tisspacep.shared::cluster p, %1;\n\tselp.u32 %0, 1, 0, p;\n\t}" : "=r"(is) : "l"(p));
  return is;
}

#undef HEDDLE_ASM
#undef HEDDLE_D

#endif

#endif
