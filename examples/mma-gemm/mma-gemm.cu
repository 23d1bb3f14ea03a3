// C = A * B on tensor cores: halves in, floats out. A block of four warps makes
// 64 x 64 of C, each warp 32 x 32 of it with mma.m16n8k16; the operands come
// out of shared memory through ldmatrix.
#include "../cuda.h"

// Rows are counted in chunks of eight halves; one chunk of padding keeps the rows
// that ldmatrix reads together in different banks.
constexpr u32 TILE = 64, DEPTH = 16, CHUNK = 8;

// The address inside the shared window, as ldmatrix takes it.
static __device__ u32 shared_address(const void *p) { return (u32)(u64)(__attribute__((address_space(3))) const void *)p; }

extern "C" __global__ void mma_gemm(const u16 *a, const u16 *b, float *c, u32 n) {
  __shared__ uint4_t as[TILE][DEPTH / CHUNK + 1];
  __shared__ uint4_t bs[DEPTH][TILE / CHUNK + 1];
  u32 t = threadIdx.x, lane = t % 32, warp = t / 32;
  u32 row0 = blockIdx.y * TILE, col0 = blockIdx.x * TILE;
  u32 wr = warp / 2 * 32, wc = warp % 2 * 32;
  float acc[2][4][4] = {};
#pragma unroll 1
  for (u32 k0 = 0; k0 < n; k0 += DEPTH) {
    // 128 threads bring 64 x 16 halves of A and 16 x 64 halves of B, a chunk each.
    as[t / 2][t % 2] = *(const uint4_t *)&a[(row0 + t / 2) * n + k0 + t % 2 * 8];
    bs[t / 8][t % 8] = *(const uint4_t *)&b[(k0 + t / 8) * n + col0 + t % 8 * 8];
    __syncthreads();
    u32 af[2][4], bf[4][2];
#pragma unroll
    for (u32 i = 0; i < 2; i++)
      asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                   : "=r"(af[i][0]), "=r"(af[i][1]), "=r"(af[i][2]), "=r"(af[i][3])
                   : "r"(shared_address(&as[wr + i * 16 + lane % 16][lane / 16])));
#pragma unroll
    for (u32 j = 0; j < 4; j++)
      asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0,%1}, [%2];"
                   : "=r"(bf[j][0]), "=r"(bf[j][1])
                   : "r"(shared_address(&bs[lane % 16][wc / CHUNK + j])));
#pragma unroll
    for (u32 i = 0; i < 2; i++)
#pragma unroll
      for (u32 j = 0; j < 4; j++)
        asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                     : "+f"(acc[i][j][0]), "+f"(acc[i][j][1]), "+f"(acc[i][j][2]), "+f"(acc[i][j][3])
                     : "r"(af[i][0]), "r"(af[i][1]), "r"(af[i][2]), "r"(af[i][3]), "r"(bf[j][0]), "r"(bf[j][1]));
    __syncthreads();
  }
#pragma unroll
  for (u32 i = 0; i < 2; i++)
#pragma unroll
    for (u32 j = 0; j < 4; j++) {
      float *p = c + (row0 + wr + i * 16 + lane / 4) * n + col0 + wc + j * 8 + lane % 4 * 2;
      p[0] = acc[i][j][0];
      p[1] = acc[i][j][1];
      p[8 * n] = acc[i][j][2];
      p[8 * n + 1] = acc[i][j][3];
    }
}
