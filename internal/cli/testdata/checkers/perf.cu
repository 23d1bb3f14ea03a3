// What makes kernels slow, as far as a run without cycles can know. All of it are notes.
// heddle check --checkers perf
#include "suite.h"

// Neighbours read words that are some words apart.
template <int apart> __global__ void stride(const int *in, int *out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = in[i * apart % 1024]; // BUG apart_8: uncoalesced-accesses BUG apart_32: uncoalesced-accesses
}
CASE(apart_1) { run(stride<1>, 4, 256); } // CLEAN apart_1
CASE(apart_2) { run(stride<2>, 4, 256); } // CLEAN apart_2
CASE(apart_8) { run(stride<8>, 4, 256); }
CASE(apart_32) { run(stride<32>, 4, 256); }

// All read the same word, which is one sector.
__global__ void broadcast(const int *in, int *out) { out[threadIdx.x] = in[7]; }
CASE(one_word) { run(broadcast, 1, 256); } // CLEAN one_word

// Structures whose members are read one after the other, and the same as arrays.
struct body {
  float x, y, z, mass, vx, vy, vz, pad;
};
__global__ void members(const body *in, float *out) {
  out[threadIdx.x] = in[threadIdx.x].mass; // BUG of_structures: uncoalesced-accesses
}
__global__ void arrays(const float *mass, float *out) { out[threadIdx.x] = mass[threadIdx.x]; }
CASE(of_structures) {
  buffer<float> in(256 * 8), out(256);
  members<<<1, 256>>>((const body *)in.p, out);
  finish();
}
CASE(of_arrays) { // CLEAN of_arrays
  buffer<float> in(256), out(256);
  arrays<<<1, 256>>>(in, out);
  finish();
}

// A tile is turned in shared memory; a word of padding spreads its columns over the banks.
template <int pad> __global__ void transpose(const int *in, int *out) {
  __shared__ int tile[32][32 + pad];
  int x = threadIdx.x, y = threadIdx.y;
  tile[y][x] = in[32 * y + x];
  __syncthreads();
  out[32 * y + x] = tile[x][y]; // BUG columns: bank-conflicts
}
static void turn(void (*kernel)(const int *, int *)) {
  buffer<int> in(1024, numbers), out(1024);
  kernel<<<1, dim3(32, 32)>>>(in, out);
  finish();
}
CASE(columns) { turn(transpose<0>); }
CASE(columns_padded) { turn(transpose<1>); } // CLEAN columns_padded

// Doubles are served in two parts; one after the other they do not collide.
template <int apart> __global__ void doubles(const int *in, int *out) {
  __shared__ double s[1024];
  s[threadIdx.x * apart] = in[threadIdx.x]; // BUG doubles_apart: bank-conflicts
  __syncthreads();
  out[threadIdx.x] = (int)s[(threadIdx.x ^ 1) * apart]; // BUG doubles_apart: bank-conflicts
}
CASE(doubles_apart) { run(doubles<16>, 1, 64); }
CASE(doubles_near) { run(doubles<1>, 1, 64); } // CLEAN doubles_near

// Every other lane takes another way, or every other warp.
template <int group> __global__ void ways(const int *in, int *out) {
  int i = threadIdx.x, x = in[i];
  if (i / group % 2) // BUG by_lane: divergence
    for (int k = 0; k < 100; k++)
      x = x * 3 + __float_as_int(x * 0.5f);
  else
    for (int k = 0; k < 100; k++)
      x = x * 5 - __float_as_int(x * 0.25f);
  out[i] = x;
}
CASE(by_lane) { run(ways<1>, 1, 256); }
CASE(by_warp) { run(ways<32>, 1, 256); } // CLEAN by_warp

// Loops of different lengths within a warp, and within a block only.
template <int group> __global__ void lengths(const int *in, int *out) {
  int i = threadIdx.x, x = in[i];
  for (int k = 0; k < i / group % 8 * 16; k++) // BUG lengths_lane: divergence
    x = x * 3 + __float_as_int(x * 0.5f);
  out[i] = x;
}
CASE(lengths_lane) { run(lengths<1>, 1, 256); }
CASE(lengths_warp) { run(lengths<32>, 1, 256); } // CLEAN lengths_warp
