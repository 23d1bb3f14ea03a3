// Copies by the copy engine, from compute capability 9.0 on.
// heddle cc -arch=sm_90
// heddle check --gpu h100-pcie
#include "suite.h"

#include <cuda/barrier>

using block_barrier = cuda::barrier<cuda::thread_scope_block>;

// The copy engine: one thread starts a copy whose bytes a barrier counts.
template <bool wait> __global__ void bulk(const int *in, int *out) {
  __shared__ block_barrier b;
  __shared__ __align__(128) int s[64];
  int i = threadIdx.x;
  if (i == 0) {
    init(&b, blockDim.x);
    cuda::device::experimental::fence_proxy_async_shared_cta();
  }
  __syncthreads();
  block_barrier::arrival_token token;
  if (i == 0) {
    cuda::device::experimental::cp_async_bulk_global_to_shared(s, in, sizeof s, b); // BUG bulk_hasty: race-shared-interwarp
    token = cuda::device::barrier_arrive_tx(b, 1, sizeof s);
  } else {
    token = b.arrive();
  }
  if (wait)
    b.wait(static_cast<block_barrier::arrival_token &&>(token));
  if (i >= 32)
    out[i] = s[63 - i]; // BUG bulk_hasty: race-shared-interwarp
  __syncthreads();
  if (!wait)
    b.wait(static_cast<block_barrier::arrival_token &&>(token));
}
CASE(bulk_hasty) { run(bulk<false>, 1, 64); } // ALSO bulk_hasty: uninit-shared
CASE(bulk_waits) { run(bulk<true>, 1, 64); }  // CLEAN bulk_waits

// From shared memory to global memory: what is copied must stay until it has been read.
template <bool wait> __global__ void bulk_out(const int *in, int *out) {
  __shared__ __align__(128) int s[32];
  int i = threadIdx.x;
  s[i] = in[i];
  cuda::device::experimental::fence_proxy_async_shared_cta();
  __syncwarp();
  if (i == 0) {
    cuda::device::experimental::cp_async_bulk_shared_to_global(out, s, sizeof s); // BUG bulk_out_hasty: race-shared-intrawarp
    cuda::device::experimental::cp_async_bulk_commit_group();
    if (wait)
      cuda::device::experimental::cp_async_bulk_wait_group_read<0>();
  }
  __syncwarp();
  s[i] = 0; // BUG bulk_out_hasty: race-shared-intrawarp
  __syncwarp();
  out[32 + i] = s[31 - i];
  if (i == 0)
    cuda::device::experimental::cp_async_bulk_wait_group<0>();
}
CASE(bulk_out_hasty) { run(bulk_out<false>, 1, 32); }
CASE(bulk_out_waits) { run(bulk_out<true>, 1, 32); } // CLEAN bulk_out_waits

// The copy engine sees writes of threads only after a fence between the proxies.
template <bool fence> __global__ void proxy(const int *in, int *out) {
  __shared__ __align__(128) int s[32];
  int i = threadIdx.x;
  s[i] = in[i]; // BUG proxy_no_fence: race-shared-intrawarp
  if (fence)
    cuda::device::experimental::fence_proxy_async_shared_cta();
  __syncwarp();
  if (i == 0) {
    cuda::device::experimental::cp_async_bulk_shared_to_global(out, s, sizeof s); // BUG proxy_no_fence: race-shared-intrawarp
    cuda::device::experimental::cp_async_bulk_commit_group();
    cuda::device::experimental::cp_async_bulk_wait_group<0>();
  }
}
CASE(proxy_no_fence) { run(proxy<false>, 1, 32); }
CASE(proxy_fence) { run(proxy<true>, 1, 32); } // CLEAN proxy_fence
