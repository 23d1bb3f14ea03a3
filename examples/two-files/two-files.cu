// The kernel of a program in two files: what it calls and the table it reads
// live in library.cu and are found when the two are linked.
#include "../cuda.h"

extern "C" __device__ u32 crc_byte(u32 crc, u8 byte);
extern "C" __device__ u32 calls;

extern "C" __global__ void crc32(const u8 *data, u32 *out, u32 length) {
  u32 i = blockIdx.x * blockDim.x + threadIdx.x;
  const u8 *p = data + i * length;
  u32 crc = ~0u;
#pragma unroll 1
  for (u32 k = 0; k < length; k++) crc = crc_byte(crc, p[k]);
  out[i] = ~crc;
  atomicAdd(&calls, length);
}
