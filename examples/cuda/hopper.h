// What the programs for Hopper have in common: mbarriers, boxes of tensors, and products of warp groups.
#ifndef HOPPER_H
#define HOPPER_H

#include "check.h"
#include <cuda.h>
#include <cuda_bf16.h>

typedef __nv_bfloat16 bf16;
typedef unsigned long long barrier;

__device__ inline unsigned shared(const void *p) { return (unsigned)__cvta_generic_to_shared(p); }

// open prepares a barrier for a number of arrivals; published makes it known to all that use it.
__device__ inline void open(barrier *b, int arrivals) { asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(shared(b)), "r"(arrivals)); }
__device__ inline void published() { asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory"); }

// expect arrives, and lets the phase end only when this many bytes have come.
__device__ inline void expect(barrier *b, int bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(shared(b)), "r"(bytes) : "memory");
}

__device__ inline void wait(barrier *b, int parity) {
  asm volatile("{ .reg .pred done;\n"
               "again: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 done, [%0], %1;\n"
               "@!done bra again; }" ::"r"(shared(b)), "r"(parity) : "memory");
}

// arriveAt arrives at the barrier of a block of the cluster.
__device__ inline void arriveAt(barrier *b, int rank) {
  asm volatile("{ .reg .b32 at;\n"
               "mapa.shared::cluster.u32 at, %0, %1;\n"
               "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [at]; }" ::"r"(shared(b)), "r"(rank) : "memory");
}

// meet waits for all blocks of the cluster.
__device__ inline void meet() { asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;" ::: "memory"); }

// load asks for a box; share sends it to the blocks of the cluster that the mask names; store writes one.
__device__ inline void load(void *to, const CUtensorMap *map, int x, int y, barrier *b) {
  asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::"r"(shared(to)), "l"(map), "r"(x),
               "r"(y), "r"(shared(b))
               : "memory");
}
__device__ inline void share(void *to, const CUtensorMap *map, int x, int y, barrier *b, unsigned short mask) {
  asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1, {%2, %3}], [%4], %5;" ::"r"(shared(to)),
               "l"(map), "r"(x), "r"(y), "r"(shared(b)), "h"(mask)
               : "memory");
}
__device__ inline void store(const CUtensorMap *map, int x, int y, const void *from) {
  asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%1, %2}], [%3];\n"
               "cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;" ::"l"(map), "r"(x), "r"(y), "r"(shared(from))
               : "memory");
}

// descriptor describes a tile whose rows have 128 bytes, swizzled: eight of them are 1024 bytes.
__device__ inline unsigned long long descriptor(const void *p) { return shared(p) >> 4 | 1ull << 16 | 1024ull >> 4 << 32 | 1ull << 62; }

__device__ inline void begin() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
__device__ inline void finish() { asm volatile("wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;" ::: "memory"); }

#define D4(i) "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3])
#define D16(i) D4(i), D4(i + 4), D4(i + 8), D4(i + 12)
#define R32 "%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31"

// multiply adds a product of 64 rows and 128 or 64 columns of tiles whose rows lie along k.
__device__ inline void multiply(float (&d)[64], unsigned long long a, unsigned long long b) {
  asm volatile("wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 {" R32
               ",%32,%33,%34,%35,%36,%37,%38,%39,%40,%41,%42,%43,%44,%45,%46,%47,%48,%49,%50,%51,%52,%53,%54,%55,%56,%57,%58,%59,%60,%61,%62,%63"
               "}, %64, %65, 1, 1, 1, 0, 0;"
               : D16(0), D16(16), D16(32), D16(48)
               : "l"(a), "l"(b));
}
__device__ inline void multiply(float (&d)[32], unsigned long long a, unsigned long long b) {
  asm volatile("wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 {" R32 "}, %32, %33, 1, 1, 1, 0, 0;" : D16(0), D16(16) : "l"(a), "l"(b));
}

// multiply with A in registers, and a tile of B whose rows lie along n.
__device__ inline void multiply(float (&d)[32], const unsigned *a, unsigned long long b) {
  asm volatile("wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 {" R32 "}, {%32,%33,%34,%35}, %36, 1, 1, 1, 1;"
               : D16(0), D16(16)
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b));
}

// mapOf describes a matrix of rows × cols, copied in boxes.
static CUtensorMap mapOf(CUtensorMapDataType type, int size, void *p, int rows, int cols, int boxRows, int boxCols, CUtensorMapSwizzle swizzle) {
  static CUresult (*encode)(CUtensorMap *, CUtensorMapDataType, cuuint32_t, void *, const cuuint64_t *, const cuuint64_t *, const cuuint32_t *, const cuuint32_t *,
                            CUtensorMapInterleave, CUtensorMapSwizzle, CUtensorMapL2promotion, CUtensorMapFloatOOBfill);
  cudaDriverEntryPointQueryResult found;
  if (!encode)
    CHECK(cudaGetDriverEntryPoint("cuTensorMapEncodeTiled", (void **)&encode, cudaEnableDefault, &found));
  CUtensorMap m;
  cuuint64_t dims[] = {(cuuint64_t)cols, (cuuint64_t)rows}, strides[] = {(cuuint64_t)cols * size};
  cuuint32_t box[] = {(cuuint32_t)boxCols, (cuuint32_t)boxRows}, steps[] = {1, 1};
  CUresult r = encode(&m, type, 2, p, dims, strides, box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle, CU_TENSOR_MAP_L2_PROMOTION_NONE,
                      CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (r != CUDA_SUCCESS) {
    fprintf(stderr, "cuTensorMapEncodeTiled: %d\n", r);
    exit(1);
  }
  return m;
}

// rowsOf is mapOf for boxes of bf16 whose rows have 128 bytes, swizzled.
static inline CUtensorMap rowsOf(bf16 *p, int rows, int cols, int boxRows) {
  return mapOf(CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2, p, rows, cols, boxRows, 64, CU_TENSOR_MAP_SWIZZLE_128B);
}

#endif
