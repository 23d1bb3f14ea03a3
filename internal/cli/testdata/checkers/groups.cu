// Cooperative groups.
#include "suite.h"

#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>

namespace cg = cooperative_groups;

// Runs a kernel whose blocks may wait for each other.
static void together(void (*kernel)(const int *, int *), int blocks, int threads) {
  buffer<int> in(1024, numbers), out(1024);
  const int *a = in;
  int *b = out;
  void *args[] = {&a, &b};
  must(cudaLaunchCooperativeKernel((void *)kernel, dim3(blocks), dim3(threads), args, 0, 0));
  finish();
}

// All blocks write, then each reads what the last has written.
template <int form> __global__ void grid(const int *in, int *out) {
  auto g = cg::this_grid();
  int i = g.thread_rank(), n = g.size();
  out[i] = in[i]; // BUG grid_none: race-global-interblock BUG grid_block: race-global-interblock
  if (form == 1)
    cg::this_thread_block().sync();
  if (form == 2)
    g.sync();
  out[512 + i] = out[n - 1 - i]; // BUG grid_none: race-global-interblock BUG grid_block: race-global-interblock
}
CASE(grid_none) { together(grid<0>, 2, 32); }
CASE(grid_block) { together(grid<1>, 2, 32); }
CASE(grid_sync) { together(grid<2>, 4, 64); } // CLEAN grid_sync

// Rounds of all blocks over two arrays; in place the second half of a round overtakes.
template <bool two> __global__ void rounds(const int *in, int *out) {
  auto g = cg::this_grid();
  int i = g.thread_rank(), n = g.size(), from = 0;
  out[i] = in[i];
  g.sync();
  for (int k = 0; k < 3; k++) {
    int to = two ? n - from : 0;
    int v = out[from + n - 1 - i]; // BUG rounds_in_place: race-global-interblock
    out[to + i] = v + 1;           // BUG rounds_in_place: race-global-interblock
    g.sync();
    from = to;
  }
}
CASE(rounds_in_place) { together(rounds<false>, 2, 32); }
CASE(rounds_two) { together(rounds<true>, 2, 32); } // CLEAN rounds_two

// Arriving and waiting apart: what is between them belongs to nobody else.
template <bool between> __global__ void apart(const int *in, int *out) {
  auto g = cg::this_grid();
  int i = g.thread_rank(), n = g.size();
  if (!between)
    out[i] = in[i];
  auto token = g.barrier_arrive();
  if (between)
    out[i] = in[i]; // BUG apart_between: race-global-interblock
  g.barrier_wait(static_cast<cg::grid_group::arrival_token &&>(token));
  out[512 + i] = out[n - 1 - i]; // BUG apart_between: race-global-interblock
}
CASE(apart_between) { together(apart<true>, 2, 32); }
CASE(apart_before) { together(apart<false>, 2, 32); } // CLEAN apart_before

// The whole block.
template <bool sync> __global__ void block(const int *in, int *out) {
  __shared__ int s[64];
  auto b = cg::this_thread_block();
  int i = b.thread_rank();
  s[i] = in[i]; // BUG block_free: race-shared-interwarp
  if (sync)
    b.sync();
  out[i] = s[63 - i]; // BUG block_free: race-shared-interwarp
}
CASE(block_free) { run(block<false>, 1, 64); } // ALSO block_free: uninit-shared
CASE(block_sync) { run(block<true>, 1, 64); }  // CLEAN block_sync

// Tiles of a warp: they order nothing between each other.
template <int size, bool sync> __global__ void tiles(const int *in, int *out) {
  __shared__ int s[32];
  auto tile = cg::tiled_partition<size>(cg::this_thread_block());
  int i = threadIdx.x;
  s[i] = in[i]; // BUG tiles_small: race-shared-intrawarp BUG tiles_free: race-shared-intrawarp
  if (sync)
    tile.sync();
  out[i] = s[i ^ 4]; // BUG tiles_small: race-shared-intrawarp BUG tiles_free: race-shared-intrawarp
}
CASE(tiles_small) { run(tiles<4, true>, 1, 32); }
CASE(tiles_free) { run(tiles<8, false>, 1, 32); }
CASE(tiles_sync) { run(tiles<8, true>, 1, 32); } // CLEAN tiles_sync
CASE(tiles_warp) { run(tiles<32, true>, 1, 32); } // CLEAN tiles_warp

// Tiles of two warps have a barrier of their own.
template <bool sync> __global__ void wide(const int *in, int *out) {
  __shared__ cg::block_tile_memory<128> memory;
  __shared__ int s[128];
  auto b = cg::this_thread_block(memory);
  auto tile = cg::tiled_partition<64>(b);
  int i = threadIdx.x;
  s[i] = 0;
  b.sync();
  s[i] = in[i]; // BUG wide_free: race-shared-interwarp
  if (sync)
    tile.sync();
  out[i] = s[i ^ 32]; // BUG wide_free: race-shared-interwarp
}
CASE(wide_free) { run(wide<false>, 1, 128); }
CASE(wide_sync) { run(wide<true>, 1, 128); } // CLEAN wide_sync

// The threads that took a branch.
template <bool sync> __global__ void branch(const int *in, int *out) {
  __shared__ int s[32];
  int i = threadIdx.x;
  if (in[i] % 2 == 0) {
    auto g = cg::coalesced_threads();
    int r = g.thread_rank(), n = g.size();
    s[r] = in[i]; // BUG branch_free: race-shared-intrawarp
    if (sync)
      g.sync();
    out[i] = s[n - 1 - r]; // BUG branch_free: race-shared-intrawarp
  }
}
CASE(branch_free) { run(branch<false>, 1, 32); }
CASE(branch_sync) { run(branch<true>, 1, 32); } // CLEAN branch_sync

// Sums by shuffles need no memory; the result in memory needs order.
template <bool sync> __global__ void reduced(const int *in, int *out) {
  __shared__ int sums[2];
  auto b = cg::this_thread_block();
  auto tile = cg::tiled_partition<32>(b);
  int v = cg::reduce(tile, in[threadIdx.x], cg::plus<int>());
  if (tile.thread_rank() == 0)
    sums[tile.meta_group_rank()] = v; // BUG reduced_free: race-shared-interwarp
  if (sync)
    b.sync();
  else
    tile.sync();
  if (threadIdx.x == 0)
    *out = sums[0] + sums[1]; // BUG reduced_free: race-shared-interwarp
}
CASE(reduced_free) { run(reduced<false>, 1, 64); } // ALSO reduced_free: uninit-shared
CASE(reduced_sync) { run(reduced<true>, 1, 64); }  // CLEAN reduced_sync

// A prefix sum of a tile, and what it gives to its neighbours.
template <bool right> __global__ void scanned(const int *in, int *out) {
  auto tile = cg::tiled_partition<16>(cg::this_thread_block());
  int i = threadIdx.x, at = cg::exclusive_scan(tile, 2, cg::plus<int>());
  out[32 * (i / 16) + at] = in[i]; // BUG scanned_overlap: race-global-intrawarp
  out[32 * (i / 16) + at + (right ? 1 : 2)] = in[i]; // BUG scanned_overlap: race-global-intrawarp
}
CASE(scanned_overlap) { run(scanned<false>, 1, 32); }
CASE(scanned_apart) { run(scanned<true>, 1, 32); } // CLEAN scanned_apart

// One thread of a group does the work for all.
template <bool sync> __global__ void one(const int *in, int *out) {
  __shared__ int s;
  auto b = cg::this_thread_block();
  if (b.thread_rank() == 0)
    s = in[3]; // BUG one_free: race-shared-interwarp
  if (sync)
    cg::sync(b);
  if (b.thread_rank() >= 32)
    out[b.thread_rank()] = s; // BUG one_free: race-shared-interwarp
}
CASE(one_free) { run(one<false>, 1, 64); }
CASE(one_sync) { run(one<true>, 1, 64); } // CLEAN one_sync

// Groups by a label: each has an element of its own, or all have one.
template <bool own> __global__ void labels(const int *in, int *out) {
  __shared__ int s[4];
  auto g = cg::labeled_partition(cg::coalesced_threads(), in[threadIdx.x] % 4);
  if (g.thread_rank() == 0)
    s[own ? in[threadIdx.x] % 4 : 0] = in[threadIdx.x]; // BUG labels_one: race-shared-intrawarp
  __syncwarp();
  out[threadIdx.x] = s[own ? threadIdx.x % 4 : 0];
}
CASE(labels_one) { run(labels<false>, 1, 32); }
CASE(labels_own) { run(labels<true>, 1, 32); } // CLEAN labels_own
