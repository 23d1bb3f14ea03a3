// Matrices in the registers of a warp, of which a part has no values.
// heddle cc -arch=sm_80
#include "suite.h"

#include <cuda_fp16.h>

#define INLINE static __device__ __attribute__((always_inline, nodebug)) inline
INLINE void load4(unsigned int *r, const void *p) {
  unsigned int a = (unsigned int)__cvta_generic_to_shared(p);
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];" : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(a) : "memory");
}
INLINE void load2_transposed(unsigned int *r, const void *p) {
  unsigned int a = (unsigned int)__cvta_generic_to_shared(p);
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0,%1}, [%2];" : "=r"(r[0]), "=r"(r[1]) : "r"(a) : "memory");
}
INLINE void multiply(float *d, const unsigned int *a, const unsigned int *b) {
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

// A product of 16 rows, of which some have no values: the rows of the result beyond them are
// stored, or left out. Likewise columns.
template <int rows, int columns> __global__ void product(const int *in, int *out) {
  __shared__ __align__(16) __half a[16][16];
  __shared__ __align__(16) __half b[16][8];
  int i = threadIdx.x;
  for (int k = i; k < 256; k += 32)
    if (k / 16 < 12)
      a[k / 16][k % 16] = __half(in[k]);
  for (int k = i; k < 128; k += 32)
    b[k / 8][k % 8] = __half(in[k]);
  __syncwarp();
  unsigned int ra[4], rb[2];
  float d[4] = {};
  load4(ra, &a[i % 16][i / 16 * 8]); // BUG rows_all: uninit-shared
  load2_transposed(rb, &b[i % 16][0]);
  multiply(d, ra, rb);
  for (int k = 0; k < 4; k++) {
    int row = i / 4 + 8 * (k / 2), column = i % 4 * 2 + k % 2;
    if (row < rows && column < columns)
      out[row * 8 + column] = int(d[k]);
  }
}
CASE(rows_all) { run(product<16, 8>, 1, 32); }
CASE(rows_some) { run(product<12, 8>, 1, 32); } // CLEAN rows_some

// A sum that begins with nothing.
template <bool zero> __global__ void sum(const int *in, int *out) {
  unsigned int ra[4] = {1, 2, 3, 4}, rb[2] = {1, 2};
  float d[4];
  if (zero || in[threadIdx.x] > 2)
    for (int k = 0; k < 4; k++)
      d[k] = in[32 + k];
  multiply(d, ra, rb); // BUG sum_begins: uninit-local
  for (int k = 0; k < 4; k++)
    out[threadIdx.x * 4 + k] = int(d[k]);
}
CASE(sum_begins) { run(sum<false>, 1, 32); }
CASE(sum_zero) { run(sum<true>, 1, 32); } // CLEAN sum_zero
