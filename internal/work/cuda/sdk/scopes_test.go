package sdk_test

import "testing"

// Atomic objects, barriers and pipelines of namespace cuda, for GPUs with and
// without asynchronous copies.
func TestScopes(t *testing.T) {
	const source = `
#include <cooperative_groups.h>
#include <cuda/atomic>
#include <cuda/barrier>
#include <cuda/pipeline>
#include <cuda/semaphore>
#include <cuda/std/array>
#include <cuda/std/functional>
#include <cuda/std/limits>
namespace cg = cooperative_groups;

extern "C" __global__ void atomics(int *out) {
  __shared__ cuda::atomic<int, cuda::thread_scope_block> sum, most;
  __shared__ cuda::atomic<unsigned char, cuda::thread_scope_block> small[4];
  __shared__ cuda::atomic<double> real;
  __shared__ int plain;
  __shared__ cuda::binary_semaphore<cuda::thread_scope_block> lock;
  int i = threadIdx.x;
  if (i == 0) {
    sum = 0, most = -1, plain = 0, real.store(0.5);
    lock.release(1);
    for (int k = 0; k < 4; k++) small[k] = 10 * k;
  }
  if (i == 0) lock.acquire(), lock.release();
  __syncthreads();
  sum += i;
  most.fetch_max(i * 7 % 64);
  small[i % 4]++;
  real.fetch_add(0.25);
  cuda::atomic_ref<int, cuda::thread_scope_block>(plain).fetch_or(1 << i % 31, cuda::memory_order_relaxed);
  __syncthreads();
  out[i] = i == 0 ? sum.load() : i == 1 ? (int)most : i == 2 ? plain : i == 3 ? (int)(4 * real) : i < 8 ? (int)small[i - 4] : -1;
  int want = 5;
  if (i == 8) out[i] = sum.compare_exchange_strong(want, 6) * 10000 + want;
  if (i == 9) out[i] = cuda::std::numeric_limits<short>::max() + cuda::std::identity()(cuda::std::array<int, 3>{1, 2, 3}[2]);
}

// Warps take turns at one number, phase by phase.
extern "C" __global__ void phases(int *out) {
  __shared__ cuda::barrier<cuda::thread_scope_block> bar;
  __shared__ int turn;
  if (threadIdx.x == 0) {
    init(&bar, blockDim.x);
    turn = 1;
  }
  __syncthreads();
  for (int k = 0; k < (int)blockDim.x; k++) {
    if ((int)threadIdx.x == k) turn = turn * 3 % 1009;
    bar.arrive_and_wait();
    if ((int)threadIdx.x == (k + 40) % (int)blockDim.x) out[threadIdx.x] = turn;
    auto token = bar.arrive();
    bar.wait(cuda::std::move(token));
  }
}

template <class Pipe> __device__ void sums(Pipe &pipe, const cg::thread_block &block, int *out, int (*place)[64], bool fills, bool empties) {
  int n = 0;
  for (int k = 0; k < 8; k++) {
    for (; fills && n < 8 && n < k + 3; n++) {
      pipe.producer_acquire();
      cuda::memcpy_async(place[n % 3] + block.thread_rank() % 64, out + 64 * n + block.thread_rank() % 64,
                         cuda::aligned_size_t<4>(sizeof(int)), pipe);
      pipe.producer_commit();
    }
    if (!empties) continue;
    pipe.consumer_wait();
    out[512 + 64 * k + block.thread_rank() % 64] = place[k % 3][block.thread_rank() % 64] + k;
    pipe.consumer_release();
  }
}
extern "C" __global__ void alone(int *out) {
  __shared__ __align__(16) int place[3][64];
  cg::thread_block block = cg::this_thread_block();
  for (int i = threadIdx.x; i < 512; i += 64) out[i] = i * i;
  __syncthreads();
  auto pipe = cuda::make_pipeline();
  sums(pipe, block, out, place, true, true);
}
extern "C" __global__ void together(int *out) {
  __shared__ __align__(16) int place[3][64];
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 3> state;
  cg::thread_block block = cg::this_thread_block();
  for (int i = threadIdx.x; i < 512; i += 128) out[i] = i * i;
  __syncthreads();
  bool fills = threadIdx.x < 64;
  auto pipe = cuda::make_pipeline(block, &state, fills ? cuda::pipeline_role::producer : cuda::pipeline_role::consumer);
  sums(pipe, block, out, place, fills, !fills);
}
`
	for _, arch := range []string{"sm_70", "sm_80"} {
		gpu := device(t, kit(t), source, "--no-cuda-gpu-arch=all", "--cuda-gpu-arch="+arch)
		t.Run(arch+" atomics", func(t *testing.T) {
			got := launch(t, gpu, "atomics", 64, 64)[:10]
			want := []int32{64 * 63 / 2, 63, 0x7fffffff, 2 + 64, 16, 26, 36, 46, 64 * 63 / 2, 32767 + 3}
			compare(t, got, func(i int) int32 { return want[i] })
		})
		t.Run(arch+" phases", func(t *testing.T) {
			turn, want := int32(1), [96]int32{}
			for k := range want {
				turn = turn * 3 % 1009
				want[(k+40)%96] = turn
			}
			compare(t, launch(t, gpu, "phases", 96, 96), func(i int) int32 { return want[i] })
		})
		for kernel, block := range map[string]uint32{"alone": 64, "together": 128} {
			t.Run(arch+" "+kernel, func(t *testing.T) {
				compare(t, launch(t, gpu, kernel, block, 1024)[512:], func(i int) int32 { return int32(i*i + i/64) })
			})
		}
	}
}
