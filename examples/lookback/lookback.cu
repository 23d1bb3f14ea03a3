// Prefix sum in a single pass: a block takes the next tile by a ticket, publishes
// the tile's sum, and adds up what the tiles before it have published. Blocks wait
// for earlier tickets only, which are running or done, so they cannot lock up.
#include "../cuda.h"

constexpr u32 THREADS = 256;
enum State : u32 { NOTHING, SUM_ONLY, PREFIX };

struct Tile {
  u32 state, sum, prefix, unused;
};

extern "C" __global__ void lookback(const u32 *in, u32 *out, Tile *tiles, u32 *ticket) {
  __shared__ u32 buf[THREADS];
  __shared__ u32 mine, before;
  u32 t = threadIdx.x;
  if (t == 0) mine = atomicAdd(ticket, 1u);
  __syncthreads();
  u32 at = mine * THREADS + t, v = in[at];
  buf[t] = v;
  __syncthreads();
#pragma unroll 1
  for (u32 d = 1; d < THREADS; d *= 2) {
    u32 left = t >= d ? buf[t - d] : 0;
    __syncthreads();
    buf[t] += left;
    __syncthreads();
  }
  if (t == 0) {
    volatile Tile *own = &tiles[mine];
    u32 total = buf[THREADS - 1], sum = 0;
    own->sum = total;
    __threadfence();
    own->state = SUM_ONLY;
#pragma unroll 1
    for (u32 other = mine; other > 0;) {
      volatile Tile *p = &tiles[other - 1];
      u32 state = p->state;
      if (state == NOTHING) continue;
      __threadfence();
      if (state == PREFIX) {
        sum += p->prefix;
        break;
      }
      sum += p->sum;
      other--;
    }
    own->prefix = sum + total;
    __threadfence();
    own->state = PREFIX;
    before = sum;
  }
  __syncthreads();
  out[at] = before + buf[t];
}
