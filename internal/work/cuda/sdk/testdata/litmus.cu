// Barrier litmus tests: each kernel gives the right result only if the compiler
// keeps one access, or one operation of a warp, on its side of a barrier. A block
// has 64 threads. in[k] is 1000 + k; litmus_test.go has the expected out.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda/barrier>
#include <cuda_pipeline.h>

namespace cg = cooperative_groups;

#define LITMUS(name) extern "C" __global__ void name(const int *in, int *out)
#define ALL 0xffffffffu

// A load after the barrier of a value that a single thread stores before it:
// hoisted into the other branch it reads too early.
LITMUS(one_thread_stores) {
  __shared__ int s[65];
  s[threadIdx.x] = 1;
  __syncthreads();
  if (threadIdx.x == 0) s[64] = in[0];
  __syncthreads();
  out[threadIdx.x] = s[threadIdx.x] * s[64];
}

// The same with the storing thread in the last warp.
LITMUS(last_thread_stores) {
  __shared__ int s[65];
  s[threadIdx.x] = 1;
  __syncthreads();
  if (threadIdx.x == 63) s[64] = in[0];
  __syncthreads();
  out[threadIdx.x] = s[threadIdx.x] * s[64];
}

// Loads in a loop must not leave it.
LITMUS(load_in_loop) {
  __shared__ int s;
  int sum = 0;
  for (int k = 0; k < 5; k++) {
    if (threadIdx.x == 63) s = in[k];
    __syncthreads();
    sum += s;
    __syncthreads();
  }
  out[threadIdx.x] = sum;
}

// A load whose value is used only after the loop must not sink below the
// barriers.
LITMUS(load_before_barrier) {
  __shared__ int s;
  int v = 0;
  for (int k = 0; k < 3; k++) {
    if (threadIdx.x == 63) s = in[k];
    __syncthreads();
    v = s;
    __syncthreads();
    if (threadIdx.x == 0) s = -1;
    __syncthreads();
  }
  out[threadIdx.x] = v;
}

// A variable that every round changes once must not live in a register.
LITMUS(sum_in_turn) {
  __shared__ int s;
  if (threadIdx.x == 0) s = 0;
  __syncthreads();
  for (int k = 0; k < 64; k++) {
    if (threadIdx.x == k) s += in[k];
    __syncthreads();
  }
  out[threadIdx.x] = s;
}

// Each store is read by another thread before it is overwritten.
LITMUS(store_between) {
  __shared__ int s[64];
  s[threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  int v = s[63 - threadIdx.x];
  __syncthreads();
  s[threadIdx.x] = v + 1;
  __syncthreads();
  out[threadIdx.x] = s[63 - threadIdx.x];
}

// A store that its own thread overwrites is not dead: others read it between.
LITMUS(store_overwritten) {
  __shared__ int s[64];
  s[threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  int v = 0;
  if (threadIdx.x >= 32) v = s[threadIdx.x - 32];
  __syncthreads();
  s[threadIdx.x] = -1;
  __syncthreads();
  out[threadIdx.x] = v + s[(threadIdx.x + 1) % 64];
}

// A value stored and loaded again by the same thread, changed by another between.
LITMUS(forwarded) {
  __shared__ int s[64];
  s[threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  s[(threadIdx.x + 1) % 64] = (int)threadIdx.x;
  __syncthreads();
  out[threadIdx.x] = s[threadIdx.x];
}

static __shared__ int at_file_scope[65];
LITMUS(file_scope) {
  at_file_scope[threadIdx.x] = 1;
  __syncthreads();
  if (threadIdx.x == 0) at_file_scope[64] = in[0];
  __syncthreads();
  out[threadIdx.x] = at_file_scope[threadIdx.x] * at_file_scope[64];
}

struct pair { int a, b; };
LITMUS(members) {
  __shared__ pair p[2];
  if (threadIdx.x < 2) p[threadIdx.x].a = in[threadIdx.x];
  __syncthreads();
  if (threadIdx.x == 40) p[1].b = in[2];
  __syncthreads();
  out[threadIdx.x] = p[0].a + p[1].a + p[1].b;
}

__device__ __attribute__((noinline)) void wait_in_function() { __syncthreads(); }
LITMUS(barrier_in_function) {
  __shared__ int s[65];
  s[threadIdx.x] = 1;
  wait_in_function();
  if (threadIdx.x == 0) s[64] = in[0];
  wait_in_function();
  out[threadIdx.x] = s[threadIdx.x] * s[64];
}

LITMUS(count) {
  __shared__ int s[65];
  s[threadIdx.x] = 1;
  int n = __syncthreads_count(threadIdx.x < 10);
  if (threadIdx.x == 0) s[64] = in[0];
  n += __syncthreads_count(threadIdx.x < 20);
  out[threadIdx.x] = s[threadIdx.x] * s[64] + n;
}
LITMUS(all_of_block) {
  __shared__ int s[65];
  s[threadIdx.x] = 1;
  int n = __syncthreads_and(threadIdx.x < 64);
  if (threadIdx.x == 0) s[64] = in[0];
  n += __syncthreads_and(threadIdx.x < 63) != 0;
  out[threadIdx.x] = s[threadIdx.x] * s[64] + (n != 0);
}
LITMUS(any_of_block) {
  __shared__ int s[65];
  s[threadIdx.x] = 1;
  int n = __syncthreads_or(threadIdx.x > 63);
  if (threadIdx.x == 0) s[64] = in[0];
  n += __syncthreads_or(threadIdx.x == 63) != 0;
  out[threadIdx.x] = s[threadIdx.x] * s[64] + n;
}

LITMUS(warp_barrier) {
  __shared__ int s[66];
  unsigned w = threadIdx.x / 32;
  s[threadIdx.x] = 1;
  __syncwarp();
  if (threadIdx.x % 32 == 0) s[64 + w] = in[w];
  __syncwarp();
  out[threadIdx.x] = s[threadIdx.x] * s[64 + w];
}
LITMUS(warp_barrier_in_loop) {
  __shared__ int s[2];
  int sum = 0;
  for (int k = 0; k < 5; k++) {
    if (threadIdx.x % 32 == 31) s[threadIdx.x / 32] = in[k];
    __syncwarp();
    sum += s[threadIdx.x / 32];
    __syncwarp();
  }
  out[threadIdx.x] = sum;
}
// Half of a warp at its own barrier.
LITMUS(half_warp_barrier) {
  __shared__ int s[4];
  unsigned half = threadIdx.x / 16;
  unsigned mask = half % 2 ? 0xffff0000u : 0x0000ffffu;
  if (threadIdx.x % 16 == 0) s[half] = 0;
  __syncwarp(mask);
  if (threadIdx.x % 16 == 15) s[half] = in[half];
  __syncwarp(mask);
  out[threadIdx.x] = s[half];
}

// Two warps, distinguished by a flag. Data and flag have internal linkage.
#define FENCE_IN_BLOCK(name, fence)                      \
  LITMUS(name) {                                         \
    __shared__ int data, flag;                           \
    if (threadIdx.x == 0) data = flag = 0;               \
    __syncthreads();                                     \
    if (threadIdx.x < 32) {                              \
      if (threadIdx.x == 0) {                            \
        data = in[0];                                    \
        fence;                                           \
        atomicExch(&flag, 1);                            \
      }                                                  \
      out[threadIdx.x] = 1;                              \
    } else {                                             \
      int before = data;                                 \
      while (atomicAdd(&flag, 0) == 0) {}                \
      fence;                                             \
      out[threadIdx.x] = data + (before == 1);           \
    }                                                    \
  }
FENCE_IN_BLOCK(fence_block, __threadfence_block())
FENCE_IN_BLOCK(fence_device, __threadfence())
FENCE_IN_BLOCK(fence_system, __threadfence_system())

// Block 1 reads what block 0 wrote once a flag is set.
static __device__ int sent, sent_flag;
LITMUS(message) {
  if (blockIdx.x == 0) {
    if (threadIdx.x == 0) {
      sent = in[0];
      __threadfence();
      atomicExch(&sent_flag, 1);
    }
    out[threadIdx.x] = 1;
    return;
  }
  int before = sent;
  while (atomicAdd(&sent_flag, 0) == 0) {}
  __threadfence();
  out[64 + threadIdx.x] = sent + (before == 1);
}
static __device__ int polled, polled_flag;
LITMUS(polled_message) {
  if (blockIdx.x == 0) {
    if (threadIdx.x == 0) {
      polled = in[0];
      __threadfence();
      *(volatile int *)&polled_flag = 1;
    }
    out[threadIdx.x] = 1;
    return;
  }
  int before = polled;
  while (*(volatile int *)&polled_flag == 0) {}
  __threadfence();
  out[64 + threadIdx.x] = polled + (before == 1);
}

// The last block to arrive sums the results of all.
static __device__ int partial[4];
static __device__ unsigned int ticket;
LITMUS(last_block) {
  __shared__ bool last;
  if (threadIdx.x == 0) {
    partial[blockIdx.x] = in[blockIdx.x];
    __threadfence();
    last = atomicInc(&ticket, gridDim.x) == gridDim.x - 1;
  }
  __syncthreads();
  if (!last) return;
  __threadfence();
  int sum = 0;
  for (unsigned k = 0; k < gridDim.x; k++) sum += partial[k];
  out[threadIdx.x] = sum;
}

// A count that a lock protects.
static __device__ int lock, locked_count;
LITMUS(spin_lock) {
  if (threadIdx.x % 32 == 0) {
    for (int k = 0; k < 10; k++) {
      while (atomicCAS(&lock, 0, 1) != 0) {}
      __threadfence();
      locked_count = locked_count + in[0] - 999;
      __threadfence();
      atomicExch(&lock, 0);
    }
  }
  __syncthreads();
  __threadfence();
  if (blockIdx.x == 0) while (*(volatile int *)&locked_count != 40) {}
  out[64 * blockIdx.x + threadIdx.x] = 7;
}

LITMUS(named_barrier) {
  __shared__ int s[65];
  s[threadIdx.x] = 1;
  asm volatile("bar.sync 1, 64;" : : : "memory");
  if (threadIdx.x == 0) s[64] = in[0];
  asm volatile("bar.sync 2, 64;" : : : "memory");
  out[threadIdx.x] = s[threadIdx.x] * s[64];
}
// A warp that only arrives, and one that waits for it.
LITMUS(producer_consumer) {
  __shared__ int s[32];
  int sum = 0;
  for (int k = 0; k < 3; k++) {
    if (threadIdx.x < 32) {
      s[threadIdx.x] = in[threadIdx.x + k];
      asm volatile("bar.arrive 3, 64;" : : : "memory");
      asm volatile("bar.sync 4, 64;" : : : "memory");
    } else {
      asm volatile("bar.sync 3, 64;" : : : "memory");
      sum += s[63 - threadIdx.x];
      asm volatile("bar.arrive 4, 64;" : : : "memory");
    }
  }
  out[threadIdx.x] = sum;
}

LITMUS(group_block) {
  __shared__ int s[65];
  cg::thread_block block = cg::this_thread_block();
  s[block.thread_rank()] = 1;
  block.sync();
  if (block.thread_rank() == 0) s[64] = in[0];
  block.sync();
  out[block.thread_rank()] = s[block.thread_rank()] * s[64];
}
template <int n> __device__ void group_tile(int *s, const int *in, int *out) {
  auto tile = cg::tiled_partition<n>(cg::this_thread_block());
  unsigned of = threadIdx.x / n;
  s[threadIdx.x] = 1;
  tile.sync();
  if (tile.thread_rank() == 0) s[64 + of] = in[of];
  tile.sync();
  out[threadIdx.x] = s[threadIdx.x] * s[64 + of];
}
LITMUS(group_tile_32) {
  __shared__ int s[66];
  group_tile<32>(s, in, out);
}
LITMUS(group_tile_8) {
  __shared__ int s[72];
  group_tile<8>(s, in, out);
}
LITMUS(group_coalesced) {
  __shared__ int s[2];
  out[threadIdx.x] = 5;
  if (threadIdx.x % 2) {
    cg::coalesced_group g = cg::coalesced_threads();
    if (g.thread_rank() == 0) s[threadIdx.x / 32] = 0;
    g.sync();
    if (g.thread_rank() == 3) s[threadIdx.x / 32] = in[threadIdx.x];
    g.sync();
    out[threadIdx.x] = s[threadIdx.x / 32];
  }
}

LITMUS(object_barrier) {
  __shared__ int s[65];
  __shared__ cuda::barrier<cuda::thread_scope_block> b;
  if (threadIdx.x == 0) init(&b, 64);
  __syncthreads();
  s[threadIdx.x] = 1;
  b.arrive_and_wait();
  if (threadIdx.x == 0) s[64] = in[0];
  b.arrive_and_wait();
  out[threadIdx.x] = s[threadIdx.x] * s[64];
}
LITMUS(arrive_then_wait) {
  __shared__ int s[65];
  __shared__ cuda::barrier<cuda::thread_scope_block> b;
  if (threadIdx.x == 0) init(&b, 64);
  s[threadIdx.x] = 1;
  __syncthreads();
  if (threadIdx.x == 0) s[64] = in[0];
  auto token = b.arrive();
  int mine = s[threadIdx.x];
  b.wait(std::move(token));
  out[threadIdx.x] = mine * s[64];
}

LITMUS(copy_wait) {
  __shared__ int s[64];
  s[threadIdx.x] = -1;
  __syncthreads();
  __pipeline_memcpy_async(&s[threadIdx.x], &in[threadIdx.x], 4);
  __pipeline_commit();
  __pipeline_wait_prior(0);
  int mine = s[threadIdx.x];
  __syncthreads();
  out[threadIdx.x] = mine + s[63 - threadIdx.x];
}
LITMUS(copy_two_stages) {
  __shared__ int s[2][64];
  __pipeline_memcpy_async(&s[0][threadIdx.x], &in[threadIdx.x], 4);
  __pipeline_commit();
  int sum = 0;
  for (int k = 0; k < 4; k++) {
    if (k < 3) __pipeline_memcpy_async(&s[(k + 1) % 2][threadIdx.x], &in[64 * (k + 1) + threadIdx.x], 4);
    __pipeline_commit();
    __pipeline_wait_prior(1);
    __syncthreads();
    sum += s[k % 2][63 - threadIdx.x];
    __syncthreads();
  }
  out[threadIdx.x] = sum;
}
LITMUS(copy_group) {
  __shared__ int s[64];
  cg::thread_block block = cg::this_thread_block();
  s[threadIdx.x] = -1;
  block.sync();
  cg::memcpy_async(block, s, in, sizeof(s));
  cg::wait(block);
  out[threadIdx.x] = s[63 - threadIdx.x];
}

LITMUS(histogram) {
  __shared__ int s[4];
  if (threadIdx.x < 4) s[threadIdx.x] = 0;
  __syncthreads();
  atomicAdd(&s[in[threadIdx.x] % 4], 1);
  __syncthreads();
  out[threadIdx.x] = s[threadIdx.x % 4];
}

// Operations of all lanes of a warp stay where all lanes are.
LITMUS(shuffle_used_by_some) {
  int v = __shfl_xor_sync(ALL, in[threadIdx.x], 1);
  int u = __shfl_down_sync(ALL, in[threadIdx.x], 2);
  if (threadIdx.x % 2) out[threadIdx.x] = v;
  else if (threadIdx.x % 32 < 16) out[threadIdx.x] = u;
  else out[threadIdx.x] = 3;
}
LITMUS(vote_used_by_some) {
  unsigned b = __ballot_sync(ALL, in[threadIdx.x] & 1);
  int all = __all_sync(ALL, threadIdx.x % 32 < 31), any = __any_sync(ALL, threadIdx.x % 32 == 31);
  if (threadIdx.x < 5) out[threadIdx.x] = __popc(b);
  else if (threadIdx.x < 10) out[threadIdx.x] = (all != 0) + 2 * (any != 0);
  else out[threadIdx.x] = 3;
}
LITMUS(match_used_by_some) {
  unsigned m = __match_any_sync(ALL, in[threadIdx.x] % 4);
  int same;
  unsigned n = __match_all_sync(ALL, in[threadIdx.x] / 4096, &same);
  if (threadIdx.x % 32 < 4) out[threadIdx.x] = __popc(m);
  else if (threadIdx.x % 32 < 8) out[threadIdx.x] = __popc(n) + same;
  else out[threadIdx.x] = 3;
}
// The lanes of each branch see themselves alone: the two are not one.
LITMUS(active_in_branches) {
  unsigned m;
  if (threadIdx.x % 32 < 8) m = __activemask();
  else m = __activemask();
  out[threadIdx.x] = __popc(m);
}
LITMUS(active_by_asm) {
  unsigned m;
  if (threadIdx.x % 32 < 8) asm volatile("activemask.b32 %0;" : "=r"(m));
  else asm volatile("activemask.b32 %0;" : "=r"(m));
  out[threadIdx.x] = __popc(m);
}
LITMUS(coalesced_in_branches) {
  if (threadIdx.x % 32 < 8) out[threadIdx.x] = cg::coalesced_threads().size();
  else out[threadIdx.x] = cg::coalesced_threads().size();
}
// A loop that lanes leave at different times: each round has fewer.
LITMUS(active_in_loop) {
  int sum = 0;
  for (int k = 0; k <= (int)threadIdx.x % 4; k++) sum += __popc(__activemask());
  out[threadIdx.x] = sum;
}
// A shuffle of values stored before the barrier of the warp.
LITMUS(shuffle_of_loaded) {
  __shared__ int s[64];
  s[threadIdx.x] = 0;
  __syncwarp();
  s[threadIdx.x ^ 3] = in[threadIdx.x];
  __syncwarp();
  int v = __shfl_sync(ALL, s[threadIdx.x], 5);
  out[threadIdx.x] = v;
}
