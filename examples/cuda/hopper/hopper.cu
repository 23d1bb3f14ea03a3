// C = A·Bᵀ as Hopper does it: the copy engine brings tiles of A and B (bf16, 128-byte swizzle) into
// shared memory, a warp of its own asks for them, and a warp group multiplies them (wgmma). Two blocks
// form a cluster, which needs one tile of B: each loads half of it and sends it to both.
#include "../check.h"
#include <cuda.h>
#include <cuda_bf16.h>

constexpr int tileM = 64, tileN = 128, tileK = 64; // of a block; a row of tileK has 128 bytes
constexpr int stages = 3, blocks = 2;              // of the ring of tiles; of a cluster, along M

struct __align__(1024) Tiles {
  __nv_bfloat16 a[stages][tileM * tileK];
  __nv_bfloat16 b[stages][tileN * tileK];
  unsigned long long full[stages], empty[stages]; // barriers: a tile has come, both blocks have used it
};

__device__ unsigned shared(const void *p) { return (unsigned)__cvta_generic_to_shared(p); }

__device__ void wait(unsigned long long *bar, int parity) {
  asm volatile("{ .reg .pred done;\n"
               "again: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 done, [%0], %1;\n"
               "@!done bra again; }" ::"r"(shared(bar)), "r"(parity) : "memory");
}

// arriveAt arrives at the barrier of a block of the cluster.
__device__ void arriveAt(unsigned long long *bar, int rank) {
  asm volatile("{ .reg .b32 at;\n"
               "mapa.shared::cluster.u32 at, %0, %1;\n"
               "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [at]; }" ::"r"(shared(bar)), "r"(rank) : "memory");
}

__device__ void meet() { asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;" ::: "memory"); }

// load asks for a box; mask names the blocks of the cluster that get it.
__device__ void load(void *to, const CUtensorMap *map, int x, int y, unsigned long long *bar, unsigned short mask) {
  asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1, {%2, %3}], [%4], %5;" ::"r"(shared(to)),
               "l"(map), "r"(x), "r"(y), "r"(shared(bar)), "h"(mask)
               : "memory");
}

// descriptor describes a tile whose rows of 128 bytes lie along k: eight of them are 1024 bytes.
__device__ unsigned long long descriptor(const void *p) { return shared(p) >> 4 | 1ull << 16 | 1024ull >> 4 << 32 | 1ull << 62; }

#define D4(i) "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3])
#define D16(i) D4(i), D4(i + 4), D4(i + 8), D4(i + 12)

__device__ void multiply(float (&d)[64], unsigned long long a, unsigned long long b) {
  asm volatile("wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 {"
               "%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31,"
               "%32,%33,%34,%35,%36,%37,%38,%39,%40,%41,%42,%43,%44,%45,%46,%47,%48,%49,%50,%51,%52,%53,%54,%55,%56,%57,%58,%59,%60,%61,%62,%63"
               "}, %64, %65, 1, 1, 1, 0, 0;"
               : D16(0), D16(16), D16(32), D16(48)
               : "l"(a), "l"(b));
}

__global__ void __launch_bounds__(160) gemm(const __grid_constant__ CUtensorMap mapA, const __grid_constant__ CUtensorMap mapB, float *c, int n, int k) {
  extern __shared__ __align__(1024) char memory[];
  Tiles &t = *(Tiles *)memory;
  unsigned rank;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  int row = blockIdx.y * tileM, col = blockIdx.x * tileN;
  if (threadIdx.x == 0) {
    for (int s = 0; s < stages; s++) {
      asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(shared(&t.full[s])));
      asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(shared(&t.empty[s])), "r"(blocks));
    }
    asm volatile("fence.mbarrier_init.release.cluster;");
  }
  __syncthreads();
  meet();
  if (threadIdx.x >= 128) { // the producer
    for (int i = 0; threadIdx.x == 128 && i < k / tileK; i++) {
      int s = i % stages;
      wait(&t.empty[s], i / stages % 2 ^ 1);
      asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(shared(&t.full[s])), "r"((int)(sizeof t.a[s] + sizeof t.b[s])) : "memory");
      load(t.a[s], &mapA, i * tileK, row, &t.full[s], 1 << rank);
      int half = tileN / blocks * rank;
      load(t.b[s] + half * tileK, &mapB, i * tileK, col + half, &t.full[s], (1 << blocks) - 1);
    }
  } else {
    float d[64] = {};
    for (int i = 0; i < k / tileK; i++) {
      int s = i % stages;
      wait(&t.full[s], i / stages % 2);
      asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
      for (int slice = 0; slice < tileK; slice += 16)
        multiply(d, descriptor(t.a[s] + slice), descriptor(t.b[s] + slice));
      asm volatile("wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;" ::: "memory");
      if (threadIdx.x < blocks)
        arriveAt(&t.empty[s], threadIdx.x);
    }
    int lane = threadIdx.x % 32;
    row += threadIdx.x / 32 * 16 + lane / 4;
    col += lane % 4 * 2;
    for (int i = 0; i < 64; i++)
      c[(row + i / 2 % 2 * 8) * n + col + i / 4 * 8 + i % 2] = d[i];
  }
  meet(); // a block's memory must stay until the others have sent to it
}

// mapOf describes a matrix of rows × cols, copied in boxes of height × tileK.
static CUtensorMap mapOf(void *p, int rows, int cols, int height) {
  static CUresult (*encode)(CUtensorMap *, CUtensorMapDataType, cuuint32_t, void *, const cuuint64_t *, const cuuint64_t *, const cuuint32_t *, const cuuint32_t *,
                            CUtensorMapInterleave, CUtensorMapSwizzle, CUtensorMapL2promotion, CUtensorMapFloatOOBfill);
  cudaDriverEntryPointQueryResult found;
  if (!encode)
    CHECK(cudaGetDriverEntryPoint("cuTensorMapEncodeTiled", (void **)&encode, cudaEnableDefault, &found));
  CUtensorMap m;
  cuuint64_t dims[] = {(cuuint64_t)cols, (cuuint64_t)rows}, strides[] = {cols * sizeof(__nv_bfloat16)};
  cuuint32_t box[] = {tileK, (cuuint32_t)height}, steps[] = {1, 1};
  CUresult r = encode(&m, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2, p, dims, strides, box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
                      CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (r != CUDA_SUCCESS) {
    fprintf(stderr, "cuTensorMapEncodeTiled: %d\n", r);
    exit(1);
  }
  return m;
}

int main() {
  const int m = 256, n = 256, k = 320;
  __nv_bfloat16 *a, *b;
  float *c;
  CHECK(cudaMallocManaged(&a, m * k * sizeof *a));
  CHECK(cudaMallocManaged(&b, n * k * sizeof *b));
  CHECK(cudaMallocManaged(&c, m * n * sizeof *c));
  for (int i = 0; i < m * k; i++) // small integers: every sum is exact
    a[i] = __float2bfloat16((float)((i * 7 + i / k) % 9 - 4));
  for (int i = 0; i < n * k; i++)
    b[i] = __float2bfloat16((float)((i * 5 + i / k * 3) % 7 - 3));
  CUtensorMap mapA = mapOf(a, m, k, tileM), mapB = mapOf(b, n, k, tileN / blocks);

  CHECK(cudaFuncSetAttribute((const void *)gemm, cudaFuncAttributeMaxDynamicSharedMemorySize, sizeof(Tiles)));
  cudaLaunchAttribute cluster;
  cluster.id = cudaLaunchAttributeClusterDimension;
  cluster.val.clusterDim.x = 1;
  cluster.val.clusterDim.y = blocks;
  cluster.val.clusterDim.z = 1;
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(n / tileN, m / tileM);
  config.blockDim = dim3(160);
  config.dynamicSmemBytes = sizeof(Tiles);
  config.attrs = &cluster;
  config.numAttrs = 1;
  CHECK(cudaLaunchKernelEx(&config, gemm, mapA, mapB, c, n, k));
  CHECK(cudaDeviceSynchronize());

  int wrong = 0;
  for (int i = 0; i < m; i++)
    for (int j = 0; j < n; j++) {
      float sum = 0;
      for (int x = 0; x < k; x++)
        sum += __bfloat162float(a[i * k + x]) * __bfloat162float(b[j * k + x]);
      wrong += c[i * n + j] != sum;
    }
  return verdict(wrong);
}
