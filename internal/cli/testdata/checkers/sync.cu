// Barriers and masks.
// heddle cc -arch=sm_80
#include "suite.h"

#include <cooperative_groups.h>

namespace cg = cooperative_groups;

// A mask without the threads that execute the instruction.
template <unsigned int mask> __global__ void meet(const int *in, int *out) {
  int i = threadIdx.x;
  out[i] = in[i];
  if (i < 16)
    __syncwarp(mask); // BUG mask_other: sync-mask
  out[i] += 1;
}
CASE(mask_other) { run(meet<0xffff0000>, 1, 32); }
CASE(mask_right) { run(meet<0x0000ffff>, 1, 32); } // CLEAN mask_right

// Threads of the mask that are elsewhere, for good.
template <unsigned int mask> __global__ void never(const int *in, int *out) {
  int i = threadIdx.x;
  if (i < 16)
    __syncwarp(mask); // BUG mask_never: sync-mask
  else if (mask == 0xffffffff)
    __syncthreads();
  out[i] = in[i];
}
CASE(mask_never) { run(never<0xffffffff>, 1, 32); }
CASE(mask_halves) { run(never<0x0000ffff>, 1, 32); } // CLEAN mask_halves

// Shuffles from threads that do not take part.
template <int by, unsigned int mask> __global__ void shuffle(const int *in, int *out) {
  int i = threadIdx.x, v = in[i];
  if (i < 16)
    v += __shfl_sync(mask, v, i + by); // BUG shuffle_outside: sync-mask
  out[i] = v;
}
CASE(shuffle_outside) { run(shuffle<16, 0xffff>, 1, 32); }
CASE(shuffle_inside) { run(shuffle<0, 0xffff>, 1, 32); } // CLEAN shuffle_inside

// A reduction by a warp of which half has left the loop.
template <bool vote> __global__ void ragged(const int *in, int *out) {
  int i = threadIdx.x, sum = 0;
  unsigned int mask = 0xffffffff;
  int n = vote ? 48 : 32;
  for (int k = i; k < n; k += 32) {
    if (vote)
      mask = __ballot_sync(k < 32 ? 0xffffffff : 0x0000ffff, 1);
    sum += __reduce_add_sync(mask, in[k]);
  }
  out[i] = sum;
}
CASE(ragged_vote) { run(ragged<true>, 1, 32); } // CLEAN ragged_vote
template <bool whole> __global__ void odd(const int *in, int *out) {
  int i = threadIdx.x;
  unsigned int mask = whole ? 0x55555555 : 0x55555554;
  if (i % 2 == 0)
    out[i] = __reduce_add_sync(mask, in[i]); // BUG reduce_mask: sync-mask
}
CASE(reduce_mask) { run(odd<false>, 1, 32); }
CASE(reduce_right) { run(odd<true>, 1, 32); } // CLEAN reduce_right

// Votes and matches have masks as well.
template <bool whole> __global__ void vote(const int *in, int *out) {
  int i = threadIdx.x;
  if (i < 8)
    out[i] = __ballot_sync(whole ? 0xff : 0x7f, in[i] > 2); // BUG vote_mask: sync-mask
}
CASE(vote_mask) { run(vote<false>, 1, 32); }
CASE(vote_right) { run(vote<true>, 1, 32); } // CLEAN vote_right
template <bool whole> __global__ void match(const int *in, int *out) {
  int i = threadIdx.x;
  if (i >= 24)
    out[i] = __match_any_sync(whole ? 0xff000000 : 0x0f000000, in[i] / 2); // BUG match_mask: sync-mask
}
CASE(match_mask) { run(match<false>, 1, 32); }
CASE(match_right) { run(match<true>, 1, 32); } // CLEAN match_right

// Threads that have exited may be in a mask, and may leave out a barrier that they never saw.
__global__ void leave(const int *in, int *out) {
  int i = threadIdx.x;
  if (i >= 40)
    return;
  __syncwarp();
  __syncthreads();
  out[i] = in[i];
}
CASE(exited) { run(leave, 1, 64); } // CLEAN exited

// A barrier that whole warps have left out by exiting: a note, as it opens without them.
template <bool stay> __global__ void gone(const int *in, int *out) {
  int i = threadIdx.x;
  if (!stay && i >= 32)
    return;
  __syncthreads(); // BUG warp_exited: barrier-divergence
  out[i] = in[i];
}
CASE(warp_exited) { run(gone<false>, 1, 64); }
CASE(warp_stays) { run(gone<true>, 1, 64); } // CLEAN warp_stays

// A barrier that a part of a warp does not reach.
template <bool all> __global__ void part(const int *in, int *out) {
  __shared__ int s[64];
  int i = threadIdx.x;
  s[i] = in[i];
  if (all || in[i] % 64 < 16)
    __syncthreads(); // BUG part_warp: barrier-divergence
  else
    out[i + 64] = in[i];
  __syncthreads();
  out[i] = s[63 - i];
}
CASE(part_warp) { run(part<false>, 1, 64); } // ALSO part_warp: race-shared-interwarp
CASE(part_all) { run(part<true>, 1, 64); }   // CLEAN part_all

// Two barriers in two branches of one warp, or of two.
template <int bits> __global__ void branches(const int *in, int *out) {
  __shared__ int s[64];
  int i = threadIdx.x;
  s[i] = in[i];
  if (i & bits) {
    out[i] = 1;
    __syncthreads(); // BUG branches_lanes: barrier-divergence
    out[i] += s[63 - i];
  } else {
    out[i + 64] = 2;
    __syncthreads(); // BUG branches_lanes: barrier-divergence
    out[i + 64] += s[63 - i] * 3;
  }
}
CASE(branches_lanes) { run(branches<1>, 1, 64); }
CASE(branches_warps) { run(branches<32>, 1, 64); } // CLEAN branches_warps

// A barrier whose number of threads never comes.
template <int n> __global__ void counted(const int *in, int *out) {
  __shared__ int s[64];
  int i = threadIdx.x;
  s[i] = in[i];
  asm volatile("bar.sync 1, %0;" ::"n"(n) : "memory"); // BUG count_large: barrier-divergence
  out[i] = s[63 - i];
}
CASE(count_large) { run(counted<96>, 1, 64); }
CASE(count_right) { run(counted<64>, 1, 64); } // CLEAN count_right

// A producer that arrives at another barrier than its consumer waits for.
template <bool same> __global__ void numbers_of(const int *in, int *out) {
  __shared__ int s[32];
  int i = threadIdx.x;
  if (i < 32) {
    s[i] = in[i];
    if (same)
      asm volatile("bar.arrive 1, 64;" ::: "memory");
    else
      asm volatile("bar.arrive 2, 64;" ::: "memory");
  } else {
    asm volatile("bar.sync 1, 64;" ::: "memory"); // BUG number_other: barrier-divergence
    out[i] = s[i - 32];
  }
}
CASE(number_other) { run(numbers_of<false>, 1, 64); }
CASE(number_same) { run(numbers_of<true>, 1, 64); } // CLEAN number_same

// Threads that leave a loop while others of their warp go on to its barrier.
template <bool all> __global__ void loop(const int *in, int *out) {
  __shared__ int s[64];
  int i = threadIdx.x, sum = 0;
  for (int k = 0; k < 4; k++) {
    s[i] = in[i] + k;
    __syncthreads(); // BUG loop_leaves: barrier-divergence
    sum += s[63 - i];
    __syncthreads(); // ALSO loop_leaves: barrier-divergence
    if (!all && k == 1 && i % 32 == 5)
      return;
  }
  out[i] = sum;
}
CASE(loop_leaves) { run(loop<false>, 1, 64); }
CASE(loop_all) { run(loop<true>, 1, 64); } // CLEAN loop_all

// A bound that differs between threads: warps pass a different number of barriers.
template <bool equal> __global__ void bound(const int *in, int *out) {
  int i = threadIdx.x, sum = 0, n = equal ? 3 : 2 + i % 2;
  for (int k = 0; k < n; k++) {
    sum += in[i + k];
    __syncthreads(); // BUG bound_lanes: barrier-divergence
  }
  if (!equal)
    asm volatile("bar.sync 1, 64;" ::: "memory"); // ALSO bound_lanes: barrier-divergence
  out[i] = sum;
}
CASE(bound_lanes) { run(bound<false>, 1, 64); }
CASE(bound_equal) { run(bound<true>, 1, 64); } // CLEAN bound_equal

// Barriers with a value.
template <bool all> __global__ void voted(const int *in, int *out) {
  int i = threadIdx.x, n = 0;
  if (all || i % 32 < 8)
    n = __syncthreads_count(in[i] > 3); // BUG voted_part: barrier-divergence
  else
    n = __syncthreads_or(in[i] > 7); // BUG voted_part: barrier-divergence
  out[i] = n;
}
CASE(voted_part) { run(voted<false>, 1, 64); }
CASE(voted_all) { run(voted<true>, 1, 64); } // CLEAN voted_all

// A tile of which some threads do not come to its barrier.
template <bool all> __global__ void tile(const int *in, int *out) {
  auto t = cg::tiled_partition<8>(cg::this_thread_block());
  int i = threadIdx.x;
  if (all || t.thread_rank() < 4)
    t.sync(); // BUG tile_part: sync-mask
  else
    __syncthreads(); // ALSO tile_part: barrier-divergence
  out[i] = in[i];
}
CASE(tile_part) { run(tile<false>, 1, 32); }
CASE(tile_all) { run(tile<true>, 1, 32); } // CLEAN tile_all

// A shuffle from the first of a group, which does something else.
template <bool all> __global__ void coalesced(const int *in, int *out) {
  int i = threadIdx.x;
  if (in[i] % 3 == 0) {
    auto g = cg::coalesced_threads();
    if (all || g.thread_rank() > 0)
      out[i] = g.shfl(in[i], 0); // BUG coalesced_leader: sync-mask
    else
      __syncthreads(); // ALSO coalesced_leader: barrier-divergence
  }
}
CASE(coalesced_leader) { run(coalesced<false>, 1, 32); } // ALSO coalesced_leader: uninit-register
CASE(coalesced_all) { run(coalesced<true>, 1, 32); } // CLEAN coalesced_all
