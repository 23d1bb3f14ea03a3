package sdk_test

import (
	"fmt"
	"slices"
	"testing"
)

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

// TestBlockBarrier: the barrier of a block has 8 bytes, in shared and in global memory, and
// counts arrivals, and bytes where the hardware has it.
func TestBlockBarrier(t *testing.T) {
	s := kit(t)
	const source = `
#include <cuda/barrier>
typedef cuda::barrier<cuda::thread_scope_block> bar_t;
static_assert(sizeof(bar_t) == 8 && alignof(bar_t) == 8, "one word");
static_assert(bar_t::max() >= 1023, "all threads of a block");

// Threads 0 to 31 arrive for two each. All but one wait by token, and that one by parity.
__device__ void rounds(bar_t &bar, int *out) {
  int i = threadIdx.x, n = blockDim.x;
  volatile int *v = out;
  for (int k = 0; k < 20; k++) {
    v[(i + k) % n] += i;
    __threadfence_block();
    if (i == 63) {
      (void)bar.arrive();
      while (!bar.try_wait_parity(k & 1)) {
      }
      bar.wait_parity(k & 1);
    } else {
      bar_t::arrival_token token = i < 32 ? bar.arrive(2) : bar.arrive();
      while (!bar.try_wait(token)) {
      }
      bar.wait(token);
    }
  }
}
extern "C" __global__ void shared(int *out) {
  __shared__ bar_t bar;
  if (threadIdx.x == 0) init(&bar, blockDim.x + 32);
  __syncthreads();
  rounds(bar, out);
}
__device__ unsigned long long word;
extern "C" __global__ void global(int *out) {
  bar_t &bar = *(bar_t *)&word;
  if (threadIdx.x == 0) init(&bar, blockDim.x + 32);
  __syncthreads();
  rounds(bar, out);
}
// Half of the threads leave after the first phase.
extern "C" __global__ void drop(int *out) {
  __shared__ bar_t bar;
  if (threadIdx.x == 0) init(&bar, blockDim.x);
  __syncthreads();
  if (threadIdx.x & 1) {
    bar.arrive_and_drop();
    return;
  }
  for (int k = 0; k < 3; k++) bar.arrive_and_wait();
  out[threadIdx.x] = 3;
}
#if __CUDA_ARCH__ >= 900
namespace cde = cuda::device::experimental;
// 64 words by the copy engine, which a phase waits for, and back.
extern "C" __global__ void bytes(int *out) {
  __shared__ __align__(16) int in[64], copy[64];
  __shared__ bar_t bar;
  out[threadIdx.x] = 3 * threadIdx.x;
  if (threadIdx.x == 0) init(&bar, blockDim.x);
  __threadfence();
  __syncthreads();
  bar_t::arrival_token token;
  if (threadIdx.x == 0) {
    cuda::memcpy_async(in, out, cuda::aligned_size_t<16>(sizeof in), bar);
    cuda::device::memcpy_async_tx(in, out, cuda::aligned_size_t<16>(128), bar);
    cde::cp_async_bulk_global_to_shared(in + 32, out + 32, 128, bar);
    token = cuda::device::barrier_arrive_tx(bar, 1, sizeof in);
  } else {
    token = bar.arrive();
  }
  bar.wait(token);
  if (threadIdx.x == 0) {
    unsigned long long pending;
    cuda::device::barrier_expect_tx(bar, sizeof in);
    cde::cp_async_bulk_shared_to_shared(copy, in, sizeof in, bar);
    asm volatile("mbarrier.arrive.shared.b64 %0, [%1];" : "=l"(pending) : "r"((unsigned)__cvta_generic_to_shared(cuda::device::barrier_native_handle(bar))) : "memory");
  } else {
    (void)bar.arrive();
  }
  bar.wait_parity(1);
  copy[threadIdx.x]++;
  cde::fence_proxy_async_shared_cta();
  __syncthreads();
  if (threadIdx.x == 0) {
    cde::cp_async_bulk_shared_to_global(out, copy, sizeof copy);
    cde::cp_async_bulk_commit_group();
    cde::cp_async_bulk_wait_group_read<0>();
    cde::cp_async_bulk_wait_group<0>();
  }
}
// Boxes of tensors only compile: descriptions of them are the driver's.
extern "C" __global__ void boxes(const CUtensorMap *map, void *p) {
  __shared__ __align__(128) char box[128];
  __shared__ bar_t bar;
  cde::cp_async_bulk_tensor_1d_global_to_shared(box, map, 0, bar);
  cde::cp_async_bulk_tensor_2d_global_to_shared(box, map, 0, 1, bar);
  cde::cp_async_bulk_tensor_3d_global_to_shared(box, map, 0, 1, 2, bar);
  cde::cp_async_bulk_tensor_4d_global_to_shared(box, map, 0, 1, 2, 3, bar);
  cde::cp_async_bulk_tensor_5d_global_to_shared(box, map, 0, 1, 2, 3, 4, bar);
  cde::cp_async_bulk_tensor_1d_shared_to_global(map, 0, box);
  cde::cp_async_bulk_tensor_2d_shared_to_global(map, 0, 1, box);
  cde::cp_async_bulk_tensor_3d_shared_to_global(map, 0, 1, 2, box);
  cde::cp_async_bulk_tensor_4d_shared_to_global(map, 0, 1, 2, 3, box);
  cde::cp_async_bulk_tensor_5d_shared_to_global(map, 0, 1, 2, 3, 4, box);
}
#endif
`
	known, err := s.Clang.Architectures(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, arch := range []int{70, 80, 90} {
		if !slices.Contains(known, arch) {
			continue // an old compiler
		}
		gpu := device(t, s, source, "-std=c++17", "--no-cuda-gpu-arch=all", fmt.Sprintf("--cuda-gpu-arch=sm_%d", arch))
		for _, kernel := range []string{"shared", "global"} {
			compare(t, launch(t, gpu, kernel, 96, 96), func(i int) int32 { // what each of the 20 threads before it added
				want := 0
				for k := range 20 {
					want += (i - k + 96) % 96
				}
				return int32(want)
			})
		}
		compare(t, launch(t, gpu, "drop", 64, 64), func(i int) int32 { return int32(3 * (1 - i%2)) })
		if arch >= 90 {
			compare(t, launch(t, gpu, "bytes", 64, 64), func(i int) int32 { return int32(3*i + 1) })
		}
	}
}
