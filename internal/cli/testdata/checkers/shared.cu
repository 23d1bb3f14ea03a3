// Races in shared memory.
#include "suite.h"

// A block turns its numbers round; all come from the other warp.
template <bool barrier> __global__ void turn(const int *in, int *out) {
  __shared__ int s[64];
  int i = threadIdx.x;
  s[i] = in[i]; // BUG turn_plain: race-shared-interwarp
  if (barrier)
    __syncthreads();
  out[i] = s[63 - i]; // BUG turn_plain: race-shared-interwarp
}
CASE(turn_plain) { run(turn<false>, 1, 64); } // ALSO turn_plain: uninit-shared
CASE(turn_barrier) { run(turn<true>, 1, 64); } // CLEAN turn_barrier

// The first round is right; the second overwrites what is still being read.
template <bool barrier> __global__ void rounds(const int *in, int *out) {
  __shared__ int s[64];
  int i = threadIdx.x, sum = 0;
  for (int k = 0; k < 4; k++) {
    s[i] = in[64 * k + i]; // BUG rounds_one: race-shared-interwarp
    __syncthreads();
    sum += s[63 - i]; // BUG rounds_one: race-shared-interwarp
    if (barrier)
      __syncthreads();
  }
  out[i] = sum;
}
CASE(rounds_one) { run(rounds<false>, 1, 64); }
CASE(rounds_two) { run(rounds<true>, 1, 64); } // CLEAN rounds_two

// Two buffers need one barrier in each round; with both halves at one place they do not help.
template <int halves> __global__ void buffers(const int *in, int *out) {
  __shared__ int s[2][64];
  int i = threadIdx.x, sum = 0;
  s[0][i] = in[i];
  __syncthreads();
  for (int k = 0; k < 6; k++) {
    s[(k + 1) % halves][i] = in[64 * k + i]; // BUG buffers_same: race-shared-interwarp
    sum += s[k % halves][63 - i];            // BUG buffers_same: race-shared-interwarp
    __syncthreads();
  }
  out[i] = sum;
}
CASE(buffers_same) { run(buffers<1>, 1, 64); }
CASE(buffers_two) { run(buffers<2>, 1, 64); } // CLEAN buffers_two

// Three buffers, filled two rounds ahead: one barrier is enough if it is before the fill.
template <bool before> __global__ void ahead(const int *in, int *out) {
  __shared__ int s[3][64];
  int i = threadIdx.x, sum = 0;
  s[0][i] = in[i];
  s[1][i] = in[64 + i];
  for (int k = 0; k < 8; k++) {
    if (before)
      __syncthreads();
    s[(k + 2) % 3][i] = in[64 * k + i]; // BUG ahead_late: race-shared-interwarp
    if (!before)
      __syncthreads();
    sum += s[k % 3][63 - i]; // BUG ahead_late: race-shared-interwarp
  }
  out[i] = sum;
}
CASE(ahead_late) { run(ahead<false>, 1, 64); }
CASE(ahead_early) { run(ahead<true>, 1, 64); } // CLEAN ahead_early

// A tree within a warp: lockstep is no synchronisation.
template <bool meet> __global__ void tree(const int *in, int *out) {
  __shared__ int s[64];
  int i = threadIdx.x;
  s[i] = in[i];
  s[i + 32] = 0;
  __syncwarp();
  for (int d = 16; d > 0; d /= 2) {
    int v = s[i + d]; // BUG tree_lockstep: race-shared-intrawarp
    if (meet)
      __syncwarp();
    s[i] += v; // BUG tree_lockstep: race-shared-intrawarp
    if (meet)
      __syncwarp();
  }
  out[i] = s[i];
}
CASE(tree_lockstep) { run(tree<false>, 1, 32); }
CASE(tree_meet) { run(tree<true>, 1, 32); } // CLEAN tree_meet

// A tree of the block that leaves out the barrier when only one warp is left.
template <int last> __global__ void block_tree(const int *in, int *out) {
  __shared__ int s[128];
  int i = threadIdx.x;
  s[i] = in[i];
  __syncthreads();
  for (int d = 64; d > 0; d /= 2) {
    if (i < d)
      s[i] += s[i + d]; // BUG block_tree_short: race-shared-intrawarp
    if (d > last)
      __syncthreads();
  }
  if (i == 0)
    *out = s[0];
}
CASE(block_tree_short) { run(block_tree<32>, 1, 128); }
CASE(block_tree_all) { run(block_tree<0>, 1, 128); } // CLEAN block_tree_all

// One thread sets what all read.
template <bool barrier> __global__ void leader(const int *in, int *out) {
  __shared__ int s;
  int i = threadIdx.x;
  if (i == 0)
    s = in[7]; // BUG leader_hasty: race-shared-interwarp
  if (barrier)
    __syncthreads();
  else
    __syncwarp();
  out[i] = s; // BUG leader_hasty: race-shared-interwarp
}
CASE(leader_hasty) { run(leader<false>, 1, 96); }
CASE(leader_waits) { run(leader<true>, 1, 96); } // CLEAN leader_waits

// One lane of each warp writes its sum, all to one element or each to its own.
template <bool own> __global__ void sums(const int *in, int *out) {
  __shared__ int s[4];
  int i = threadIdx.x;
  if (i % 32 == 0)
    s[own ? i / 32 : 0] = in[i]; // BUG sums_one: race-shared-interwarp
  __syncthreads();
  out[i] = s[own ? i % 4 : 0];
}
CASE(sums_one) { run(sums<false>, 1, 128); }
CASE(sums_own) { run(sums<true>, 1, 128); } // CLEAN sums_own

// All write one value: a race by the letter.
template <bool atomic> __global__ void any(const int *in, int *out) {
  __shared__ int found;
  int i = threadIdx.x;
  if (i == 0)
    found = 0;
  __syncthreads();
  if (in[i] % 32 == 31) {
    if (atomic)
      atomicExch(&found, 1);
    else
      found = 1; // BUG any_plain: race-shared-interwarp
  }
  __syncthreads();
  out[i] = found;
}
CASE(any_plain) { run(any<false>, 1, 64); }
CASE(any_atomic) { run(any<true>, 1, 64); } // CLEAN any_atomic

template <bool atomic> __global__ void histogram(const int *in, int *out) {
  __shared__ int bins[32];
  int i = threadIdx.x;
  if (i < 32)
    bins[i] = 0;
  __syncthreads();
  if (atomic)
    atomicAdd(&bins[in[i] % 32], 1);
  else
    bins[in[i] % 32]++; // BUG histogram_plain: race-shared-interwarp
  __syncthreads();
  if (i < 32)
    out[i] = bins[i];
}
CASE(histogram_plain) { run(histogram<false>, 1, 64); }
CASE(histogram_atomic) { run(histogram<true>, 1, 64); } // CLEAN histogram_atomic

// Atomic additions are no barrier for who reads their sum.
template <bool barrier> __global__ void total(const int *in, int *out) {
  __shared__ int sum;
  int i = threadIdx.x;
  if (i == 0)
    sum = 0;
  __syncthreads();
  if (i >= 32)
    atomicAdd(&sum, in[i]); // BUG total_hasty: race-shared-interwarp
  if (barrier)
    __syncthreads();
  if (i == 0)
    out[0] = sum; // BUG total_hasty: race-shared-interwarp
}
CASE(total_hasty) { run(total<false>, 1, 64); }
CASE(total_waits) { run(total<true>, 1, 64); } // CLEAN total_waits

// In place: the neighbour of another warp may have its new value already.
template <bool registers> __global__ void smooth(const int *in, int *out) {
  __shared__ int s[64];
  int i = threadIdx.x;
  s[i] = in[i];
  __syncthreads();
  if (i % 32 == 0 && i > 0) {
    int v = s[i - 1]; // BUG smooth_in_place: race-shared-interwarp
    if (registers)
      out[512] = v;
    s[i] += v;
  }
  if (registers)
    __syncthreads();
  if (i == 31)
    s[i] = 0; // BUG smooth_in_place: race-shared-interwarp
  __syncthreads();
  out[i] = s[i];
}
CASE(smooth_in_place) { run(smooth<false>, 1, 64); }
CASE(smooth_registers) { run(smooth<true>, 1, 64); } // CLEAN smooth_registers

static __device__ void named_sync(int barrier = 1) { asm volatile("bar.sync %0, 64;" ::"r"(barrier) : "memory"); }
static __device__ void named_arrive(int barrier = 1) { asm volatile("bar.arrive %0, 64;" ::"r"(barrier) : "memory"); }

// A barrier of two of three warps orders nothing for the third.
template <bool all> __global__ void two_of_three(const int *in, int *out) {
  __shared__ int s[64];
  int i = threadIdx.x;
  if (i < 64) {
    s[i] = in[i]; // BUG two_of_three_read: race-shared-interwarp
    named_sync();
    out[i] = s[63 - i];
  }
  if (all)
    __syncthreads();
  if (i >= 64)
    out[i] = s[i - 64]; // BUG two_of_three_read: race-shared-interwarp
}
CASE(two_of_three_read) { run(two_of_three<false>, 1, 96); }
CASE(two_of_three_wait) { run(two_of_three<true>, 1, 96); } // CLEAN two_of_three_wait

// A producer that arrives before it has written.
template <bool early> __global__ void handover(const int *in, int *out) {
  __shared__ int s[32];
  int i = threadIdx.x, got = 0;
  if (i < 32) {
    if (early)
      named_arrive();
    s[i] = in[i]; // BUG handover_early: race-shared-interwarp
    if (!early)
      named_arrive();
  } else {
    named_sync();
    got = s[i - 32]; // BUG handover_early: race-shared-interwarp
  }
  out[i] = got;
}
CASE(handover_early) { run(handover<true>, 1, 64); }
CASE(handover_late) { run(handover<false>, 1, 64); } // CLEAN handover_late

// A consumer that does not say that the buffer is free again. Each round has its own barrier, at which a producer
// that is ahead does not arrive twice.
template <bool back> __global__ void refill(const int *in, int *out) {
  __shared__ int s[32];
  int i = threadIdx.x, sum = 0;
  for (int k = 0; k < 3; k++) {
    if (i < 32) {
      if (back && k > 0)
        named_sync(4);
      s[i] = in[32 * k + i]; // BUG refill_blind: race-shared-interwarp
      named_arrive(k + 1);
    } else {
      named_sync(k + 1);
      sum += s[i - 32]; // BUG refill_blind: race-shared-interwarp
      if (back && k < 2)
        named_arrive(4);
    }
  }
  out[i] = sum;
}
CASE(refill_blind) { run(refill<false>, 1, 64); }
CASE(refill_back) { run(refill<true>, 1, 64); } // CLEAN refill_back

// Shuffles and votes order no memory.
template <int by> __global__ void pairs(const int *in, int *out) {
  __shared__ int s[32];
  int i = threadIdx.x, v = 0;
  s[i] = in[i]; // BUG pairs_shuffle: race-shared-intrawarp BUG pairs_vote: race-shared-intrawarp
  if (by == 0)
    v = __shfl_xor_sync(0xffffffff, in[i + 64], 1);
  if (by == 1)
    v = __any_sync(0xffffffff, in[i] == 5);
  if (by == 2)
    __syncwarp();
  out[i] = s[i ^ 1] + v; // BUG pairs_shuffle: race-shared-intrawarp BUG pairs_vote: race-shared-intrawarp
}
CASE(pairs_shuffle) { run(pairs<0>, 1, 32); }
CASE(pairs_vote) { run(pairs<1>, 1, 32); }
CASE(pairs_meet) { run(pairs<2>, 1, 32); } // CLEAN pairs_meet

// Halves of a warp meet by themselves, and then read from each other.
template <int across> __global__ void halves(const int *in, int *out) {
  __shared__ int s[32];
  int i = threadIdx.x;
  s[i] = in[i]; // BUG halves_across: race-shared-intrawarp
  if (i < 16)
    __syncwarp(0x0000ffff);
  else
    __syncwarp(0xffff0000);
  out[i] = s[i ^ across]; // BUG halves_across: race-shared-intrawarp
}
CASE(halves_across) { run(halves<16>, 1, 32); }
CASE(halves_within) { run(halves<8>, 1, 32); } // CLEAN halves_within

// A scan in one array, or in two.
template <bool two> __global__ void scan(const int *in, int *out) {
  __shared__ int s[2][128];
  int i = threadIdx.x, from = 0;
  s[0][i] = in[i];
  __syncthreads();
  for (int d = 32; d < 128; d *= 2) {
    int to = two ? 1 - from : from;
    s[to][i] = s[from][i] + (i >= d ? s[from][i - d] : 0); // BUG scan_one: race-shared-interwarp
    from = to;
    __syncthreads();
  }
  out[i] = s[from][i];
}
CASE(scan_one) { run(scan<false>, 1, 128); }
CASE(scan_two) { run(scan<true>, 1, 128); } // CLEAN scan_two

// Two arrays in dynamic shared memory, of which the second begins too early.
template <int gap> __global__ void overlap(const int *in, int *out) {
  extern __shared__ int s[];
  int i = threadIdx.x, *a = s, *b = s + gap;
  a[i] = in[i];      // BUG overlap_short: race-shared-interwarp
  b[i] = in[i + 64]; // BUG overlap_short: race-shared-interwarp
  __syncthreads();
  out[i] = a[63 - i] + b[63 - i];
}
CASE(overlap_short) { run(overlap<32>, 1, 64, 512); }
CASE(overlap_exact) { run(overlap<64>, 1, 64, 512); } // CLEAN overlap_exact

// Neighbouring bytes are no race; a word of which each lane changes its byte is one.
template <bool bytes> __global__ void packed(const int *in, int *out) {
  __shared__ int s[8];
  int i = threadIdx.x;
  if (i < 8)
    s[i] = 0;
  __syncwarp();
  if (bytes)
    ((char *)s)[i] = in[i];
  else
    s[i / 4] |= in[i] << i % 4 * 8; // BUG packed_words: race-shared-intrawarp
  __syncwarp();
  if (i < 8)
    out[i] = s[i];
}
CASE(packed_words) { run(packed<false>, 1, 32); }
CASE(packed_bytes) { run(packed<true>, 1, 32); } // CLEAN packed_bytes

// A loop whose end one thread decides: the decision is read while it is made anew.
template <bool barrier> __global__ void until(const int *in, int *out) {
  __shared__ int goes_on;
  int i = threadIdx.x, sum = 0;
  for (int k = 0;; k++) {
    if (i == 0)
      goes_on = in[k] < 3; // BUG until_hasty: race-shared-interwarp
    __syncthreads();
    if (!goes_on) // BUG until_hasty: race-shared-interwarp
      break;
    sum += in[k + i];
    if (barrier)
      __syncthreads();
    else
      __syncwarp();
  }
  out[i] = sum;
}
CASE(until_hasty) { run(until<false>, 1, 64); }
CASE(until_waits) { run(until<true>, 1, 64); } // CLEAN until_waits

// A stack in shared memory.
template <bool atomic> __global__ void push(const int *in, int *out) {
  __shared__ int top, items[64];
  int i = threadIdx.x;
  if (i == 0)
    top = 0;
  __syncthreads();
  if (in[i] % 32 == 4) {
    int at = atomic ? atomicAdd(&top, 1) : top++; // BUG push_plain: race-shared-interwarp
    items[at] = in[i]; // ALSO push_plain: race-shared-interwarp
  }
  __syncthreads();
  if (i < top)
    out[i] = items[i];
}
CASE(push_plain) { run(push<false>, 1, 64); }
CASE(push_atomic) { run(push<true>, 1, 64); } // CLEAN push_atomic

// Two dimensions: a warp is a row of 32, or two rows of 16.
__global__ void rows(const int *in, int *out) {
  __shared__ int s[4][32];
  int x = threadIdx.x, y = threadIdx.y, n = blockDim.x;
  s[y][x] = in[y * n + x]; // BUG rows_narrow: race-shared-interwarp
  __syncwarp();
  out[y * n + x] = s[y ^ 1][n - 1 - x]; // BUG rows_narrow: race-shared-interwarp
}
static void plane(int x, int y) {
  buffer<int> in(1024, numbers), out(1024);
  rows<<<1, dim3(x, y)>>>(in, out);
  finish();
}
CASE(rows_narrow) { plane(32, 4); } // ALSO rows_narrow: uninit-shared
CASE(rows_wide) { plane(16, 4); } // CLEAN rows_wide
