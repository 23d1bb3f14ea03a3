// Asynchronous copies, pipelines, and barriers in memory.
// heddle cc -arch=sm_80
#include "suite.h"

#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda/barrier>
#include <cuda/pipeline>
#include <cuda_pipeline.h>

namespace cg = cooperative_groups;
using block_barrier = cuda::barrier<cuda::thread_scope_block>;

// Each thread reads what it has copied itself.
template <bool wait> __global__ void own(const int *in, int *out) {
  __shared__ int s[32];
  int i = threadIdx.x;
  __pipeline_memcpy_async(&s[i], &in[i], 4); // BUG own_hasty: race-shared-intrawarp
  __pipeline_commit();
  if (wait)
    __pipeline_wait_prior(0);
  out[i] = s[i]; // BUG own_hasty: race-shared-intrawarp
}
CASE(own_hasty) { run(own<false>, 1, 32); }
CASE(own_waits) { run(own<true>, 1, 32); } // CLEAN own_waits

// Who waits for its own copies knows nothing of those of others.
template <bool barrier> __global__ void others(const int *in, int *out) {
  __shared__ int s[64];
  int i = threadIdx.x;
  __pipeline_memcpy_async(&s[i], &in[i], 4); // BUG others_no_barrier: race-shared-interwarp
  __pipeline_commit();
  __pipeline_wait_prior(0);
  if (barrier)
    __syncthreads();
  out[i] = s[63 - i]; // BUG others_no_barrier: race-shared-interwarp
}
CASE(others_no_barrier) { run(others<false>, 1, 64); } // ALSO others_no_barrier: uninit-shared
CASE(others_barrier) { run(others<true>, 1, 64); } // CLEAN others_barrier

// A barrier does not wait for copies.
template <bool wait> __global__ void only_barrier(const int *in, int *out) {
  __shared__ int s[64];
  int i = threadIdx.x;
  __pipeline_memcpy_async(&s[i], &in[i], 4); // BUG only_barrier_no_wait: race-shared-interwarp
  __pipeline_commit();
  if (wait)
    __pipeline_wait_prior(0);
  __syncthreads();
  out[i] = s[63 - i]; // BUG only_barrier_no_wait: race-shared-interwarp
}
CASE(only_barrier_no_wait) { run(only_barrier<false>, 1, 64); }
CASE(only_barrier_wait) { run(only_barrier<true>, 1, 64); } // CLEAN only_barrier_wait

// Two batches in flight, of which the newest may be left.
template <int left> __global__ void batches(const int *in, int *out) {
  __shared__ int s[2][32];
  int i = threadIdx.x;
  for (int k = 0; k < 2; k++) {
    __pipeline_memcpy_async(&s[k][i], &in[32 * k + i], 4); // BUG batches_two_left: race-shared-intrawarp
    __pipeline_commit();
  }
  __pipeline_wait_prior(left);
  out[i] = s[0][i]; // BUG batches_two_left: race-shared-intrawarp
  __pipeline_wait_prior(0);
  out[32 + i] = s[1][i];
}
CASE(batches_two_left) { run(batches<2>, 1, 32); }
CASE(batches_one_left) { run(batches<1>, 1, 32); } // CLEAN batches_one_left

// Three stages, two ahead. Without the barrier after it is used a stage is filled too early.
template <bool barrier> __global__ void stages(const int *in, int *out) {
  __shared__ int s[3][64];
  int i = threadIdx.x, sum = 0;
  for (int k = 0; k < 8; k++) {
    if (k == 0)
      for (int j = 0; j < 2; j++) {
        __pipeline_memcpy_async(&s[j][i], &in[64 * j + i], 4);
        __pipeline_commit();
      }
    __pipeline_wait_prior(1);
    __syncthreads();
    sum += s[k % 3][63 - i]; // BUG stages_early: race-shared-interwarp
    if (barrier)
      __syncthreads();
    int to = barrier ? (k + 2) % 3 : k % 3;
    __pipeline_memcpy_async(&s[to][i], &in[64 * ((k + 2) % 8) + i], 4); // BUG stages_early: race-shared-interwarp
    __pipeline_commit();
  }
  __pipeline_wait_prior(0);
  out[i] = sum;
}
CASE(stages_early) { run(stages<false>, 1, 64); } // ALSO stages_early: uninit-shared
CASE(stages_right) { run(stages<true>, 1, 64); } // CLEAN stages_right

// The source is overwritten while the copy reads it.
template <bool wait> __global__ void source(const int *in, int *out) {
  __shared__ int s[32];
  int i = threadIdx.x;
  __pipeline_memcpy_async(&s[i], &out[i], 4); // BUG source_hasty: race-global-intrawarp
  __pipeline_commit();
  if (wait)
    __pipeline_wait_prior(0);
  out[i] = in[i]; // BUG source_hasty: race-global-intrawarp
  __pipeline_wait_prior(0);
  out[32 + i] = s[i];
}
CASE(source_hasty) { run(source<false>, 1, 32); }
CASE(source_waits) { run(source<true>, 1, 32); } // CLEAN source_waits

// cuda::pipeline of a thread.
template <bool wait> __global__ void thread_pipeline(const int *in, int *out) {
  __shared__ int s[2][32];
  int i = threadIdx.x, sum = 0;
  auto p = cuda::make_pipeline();
  for (int k = 0; k < 2; k++) {
    p.producer_acquire();
    cuda::memcpy_async(&s[k][i], &in[32 * k + i], 4, p); // BUG thread_pipeline_hasty: race-shared-intrawarp
    p.producer_commit();
  }
  for (int k = 0; k < 2; k++) {
    if (wait)
      p.consumer_wait();
    sum += s[k][i]; // BUG thread_pipeline_hasty: race-shared-intrawarp
    p.consumer_release();
  }
  p.consumer_wait();
  out[i] = sum;
}
CASE(thread_pipeline_hasty) { run(thread_pipeline<false>, 1, 32); }
CASE(thread_pipeline_waits) { run(thread_pipeline<true>, 1, 32); } // CLEAN thread_pipeline_waits

// cuda::pipeline of a block: one warp produces, the other consumes.
template <bool early> __global__ void block_pipeline(const int *in, int *out) {
  __shared__ int s[2][32];
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
  auto block = cg::this_thread_block();
  auto p = cuda::make_pipeline(block, &state, 32);
  int i = threadIdx.x, sum = 0;
  for (int k = 0; k < 6; k++) {
    if (i < 32) {
      p.producer_acquire();
      cuda::memcpy_async(&s[k % 2][i], &in[32 * k + i], 4, p); // BUG block_pipeline_early: race-shared-interwarp
      p.producer_commit();
    } else {
      p.consumer_wait();
      if (early)
        p.consumer_release();
      sum += s[k % 2][i - 32]; // BUG block_pipeline_early: race-shared-interwarp
      if (!early)
        p.consumer_release();
    }
  }
  out[i] = sum;
}
CASE(block_pipeline_early) { run(block_pipeline<true>, 1, 64); }
CASE(block_pipeline_late) { run(block_pipeline<false>, 1, 64); } // CLEAN block_pipeline_late

// A barrier in memory that threads arrive at, and wait for or not.
template <bool wait> __global__ void arrival(const int *in, int *out) {
  __shared__ block_barrier b;
  __shared__ int s[64];
  int i = threadIdx.x;
  if (i == 0)
    init(&b, blockDim.x);
  s[i] = 0;
  __syncthreads();
  s[i] = in[i]; // BUG arrival_hasty: race-shared-interwarp
  auto token = b.arrive();
  if (wait)
    b.wait(static_cast<block_barrier::arrival_token &&>(token));
  out[i] = s[63 - i]; // BUG arrival_hasty: race-shared-interwarp
}
CASE(arrival_hasty) { run(arrival<false>, 1, 64); }
CASE(arrival_waits) { run(arrival<true>, 1, 64); } // CLEAN arrival_waits

// What is written between arriving and waiting is not covered.
template <bool between> __global__ void split(const int *in, int *out) {
  __shared__ block_barrier b;
  __shared__ int s[64];
  int i = threadIdx.x;
  if (i == 0)
    init(&b, blockDim.x);
  s[i] = 0;
  __syncthreads();
  if (!between)
    s[i] = in[i];
  auto token = b.arrive();
  if (between)
    s[i] = in[i]; // BUG split_between: race-shared-interwarp
  b.wait(static_cast<block_barrier::arrival_token &&>(token));
  out[i] = s[63 - i]; // BUG split_between: race-shared-interwarp
}
CASE(split_between) { run(split<true>, 1, 64); }
CASE(split_before) { run(split<false>, 1, 64); } // CLEAN split_before

// A barrier that counts the threads of one warp, and the other does not come.
template <int expected> __global__ void few(const int *in, int *out) {
  __shared__ block_barrier b;
  __shared__ int s[64];
  int i = threadIdx.x;
  if (i == 0)
    init(&b, expected);
  s[i] = 0;
  __syncthreads();
  s[i] = in[i]; // BUG few_half: race-shared-interwarp
  if (i < expected)
    b.arrive_and_wait();
  if (i < 32)
    out[i] = s[63 - i]; // BUG few_half: race-shared-interwarp
}
CASE(few_half) { run(few<32>, 1, 64); }
CASE(few_all) { run(few<64>, 1, 64); } // CLEAN few_all

// Waiting for a phase that is over already, since its parity is that of the round before.
template <bool turns> __global__ void parity(const int *in, int *out) {
  __shared__ block_barrier b;
  __shared__ int s[2][64];
  int i = threadIdx.x, sum = 0;
  if (i == 0)
    init(&b, blockDim.x);
  __syncthreads();
  for (int k = 0; k < 2; k++) {
    s[k][i] = in[64 * k + i]; // BUG parity_same: race-shared-interwarp
    if (turns || k == 0 || i < 32)
      (void)b.arrive();
    b.wait_parity(turns ? k & 1 : 0);
    sum += s[k][63 - i]; // BUG parity_same: race-shared-interwarp
  }
  out[i] = sum;
}
CASE(parity_same) { run(parity<false>, 1, 64); } // ALSO parity_same: uninit-shared
CASE(parity_turns) { run(parity<true>, 1, 64); } // CLEAN parity_turns

// The barrier itself: others use it before it is there.
template <bool barrier> __global__ void initialised(const int *in, int *out) {
  __shared__ block_barrier b;
  int i = threadIdx.x;
  if (i == 0)
    init(&b, 2); // BUG initialised_hasty: race-shared-interwarp
  if (barrier)
    __syncthreads();
  else
    __syncwarp();
  if (i % 32 == 0)
    b.arrive_and_wait(); // BUG initialised_hasty: race-shared-interwarp
  out[i] = in[i];
}
CASE(initialised_hasty) { run(initialised<false>, 1, 64); }
CASE(initialised_barrier) { run(initialised<true>, 1, 64); } // CLEAN initialised_barrier

// Copies that a phase of a barrier waits for.
template <bool wait> __global__ void with_barrier(const int *in, int *out) {
  __shared__ block_barrier b;
  __shared__ __align__(16) int s[64];
  int i = threadIdx.x;
  if (i == 0)
    init(&b, blockDim.x);
  __syncthreads();
  cuda::memcpy_async(cg::this_thread_block(), s, in, sizeof s, b); // BUG with_barrier_hasty: race-shared-interwarp
  auto token = b.arrive();
  if (wait)
    b.wait(static_cast<block_barrier::arrival_token &&>(token));
  out[i] = s[63 - i]; // BUG with_barrier_hasty: race-shared-interwarp
}
CASE(with_barrier_hasty) { run(with_barrier<false>, 1, 64); } // ALSO with_barrier_hasty: race-shared-intrawarp ALSO with_barrier_hasty: uninit-shared
CASE(with_barrier_waits) { run(with_barrier<true>, 1, 64); } // CLEAN with_barrier_waits

// Copies of a cooperative group.
template <bool wait> __global__ void group_copy(const int *in, int *out) {
  __shared__ __align__(16) int s[64];
  auto block = cg::this_thread_block();
  int i = threadIdx.x;
  cg::memcpy_async(block, s, in, sizeof s); // BUG group_copy_hasty: race-shared-interwarp
  if (wait)
    cg::wait(block);
  else
    block.sync();
  out[i] = s[63 - i]; // BUG group_copy_hasty: race-shared-interwarp
}
CASE(group_copy_hasty) { run(group_copy<false>, 1, 64); } // ALSO group_copy_hasty: race-shared-intrawarp
CASE(group_copy_waits) { run(group_copy<true>, 1, 64); } // CLEAN group_copy_waits
