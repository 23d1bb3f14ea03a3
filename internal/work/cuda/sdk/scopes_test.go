package sdk_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle"
	"github.com/heddle-sim/heddle/internal/alltests"
)

// Atomic objects, barriers and pipelines of namespace cuda, for GPUs with and
// without asynchronous copies.
func TestScopes(t *testing.T) {
	alltests.Only(t, "scopes of atomics, compiled")
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
  in[threadIdx.x] = copy[threadIdx.x] = -1;
  if (threadIdx.x == 0) init(&bar, blockDim.x);
  cde::fence_proxy_async_shared_cta();
  __threadfence();
  __syncthreads();
  bar_t::arrival_token token;
  if (threadIdx.x == 0) {
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

// TestBulkCopiesNeedSM90: for an earlier GPU a kernel that uses the copy engine does not run, and
// the message says why; other kernels run.
func TestBulkCopiesNeedSM90(t *testing.T) {
	alltests.Only(t, "bulk copies for several architectures, compiled")
	const source = `
#include <cuda/barrier>
namespace cde = cuda::device::experimental;
typedef cuda::barrier<cuda::thread_scope_block> bar_t;
#define KERNEL(name, ...) \
  extern "C" __global__ void name(int *out) { \
    __shared__ __align__(16) int in[64]; \
    __shared__ bar_t bar; \
    if (threadIdx.x == 0) init(&bar, 1); \
    __VA_ARGS__; \
    out[threadIdx.x] = in[threadIdx.x]; \
  }
KERNEL(in_barrier, cuda::device::memcpy_async_tx(in, out, cuda::aligned_size_t<16>(sizeof in), bar))
KERNEL(to_shared, cde::cp_async_bulk_global_to_shared(in, out, sizeof in, bar))
KERNEL(within_shared, cde::cp_async_bulk_shared_to_shared(in, in + 32, 128, bar))
KERNEL(to_global, cde::cp_async_bulk_shared_to_global(out, in, sizeof in))
KERNEL(expected, cuda::device::barrier_expect_tx(bar, 4))
KERNEL(arrived, (void)cuda::device::barrier_arrive_tx(bar, 1, 4))
KERNEL(committed, cde::cp_async_bulk_commit_group())
KERNEL(waited, cde::cp_async_bulk_wait_group<0>())
KERNEL(waited_for_reads, cde::cp_async_bulk_wait_group_read<0>())
KERNEL(fenced, cde::fence_proxy_async_shared_cta())
KERNEL(plain, in[threadIdx.x] = 5)
`
	for _, arch := range []string{"sm_70", "sm_80"} {
		gpu := device(t, kit(t), source, "-std=c++17", "--no-cuda-gpu-arch=all", "--cuda-gpu-arch="+arch)
		for _, kernel := range strings.Fields("in_barrier to_shared within_shared to_global expected arrived committed waited waited_for_reads fenced") {
			out, err := heddle.Upload(gpu, "out", make([]int32, 64))
			if err != nil {
				t.Fatal(err)
			}
			if _, err := gpu.Launch(t.Context(), kernel, heddle.Dim(1), heddle.Dim(64), out); err == nil || !strings.Contains(err.Error(), "heddle_bulk_copies_need_sm_90") {
				t.Errorf("%s: %s: error %v", arch, kernel, err)
			}
		}
		compare(t, launch(t, gpu, "plain", 64, 64), func(int) int32 { return 5 })
	}
}

// TestCopiesOfBarriers: a phase of a barrier ends after the copies that threads have started with
// it, for which they do not wait when they arrive.
func TestCopiesOfBarriers(t *testing.T) {
	alltests.Only(t, "barriers that compilers copy")
	const source = `
#include <cooperative_groups.h>
#include <cuda/barrier>
#include <cuda/pipeline>
namespace cg = cooperative_groups;
typedef cuda::barrier<cuda::thread_scope_block> bar_t;
__device__ void copies(bar_t &bar, int *in, int *out) {
  cg::thread_block block = cg::this_thread_block();
  int i = threadIdx.x;
  out[i] = i + 1;
  in[i] = -1;
  __threadfence();
  block.sync();
  auto token = bar.arrive();
  bar.wait(token);
  cuda::memcpy_async(in + i, out + i, cuda::aligned_size_t<4>(4), bar);
  bar.arrive_and_wait();
  const int one = in[63 - i];
  block.sync();
  cuda::memcpy_async(block, in, out, cuda::aligned_size_t<16>(256), bar);
  bar.arrive_and_wait();
  const int two = in[63 - i];
  block.sync();
  in[i] = -1;
  block.sync();
  auto pipe = cuda::make_pipeline();
  cuda::memcpy_async(in + i, out + i, sizeof(int), pipe);
  cuda::pipeline_producer_commit(pipe, bar);
  bar.arrive_and_wait();
  const int three = in[63 - i];
  block.sync();
  out[i] = one + 100 * two + 10000 * three;
}
extern "C" __global__ void shared(int *out) {
  __shared__ __align__(16) int in[64];
  __shared__ bar_t bar;
  if (threadIdx.x == 0) init(&bar, blockDim.x);
  __syncthreads();
  copies(bar, in, out);
}
__device__ unsigned long long word;
extern "C" __global__ void global(int *out) {
  __shared__ __align__(16) int in[64];
  bar_t &bar = *(bar_t *)&word;
  if (threadIdx.x == 0) init(&bar, blockDim.x);
  __syncthreads();
  copies(bar, in, out);
}
// The same with functions.
extern "C" __global__ void functions(int *out) {
  __shared__ __align__(16) int in[64];
  __shared__ __mbarrier_t bar;
  int i = threadIdx.x;
  out[i] = i + 1;
  if (i == 0) __mbarrier_init(&bar, blockDim.x);
  __threadfence();
  __syncthreads();
  __pipeline_memcpy_async(in + i, out + i, 4);
  __pipeline_arrive_on(&bar);
  auto token = __mbarrier_arrive(&bar);
  while (!__mbarrier_try_wait(&bar, token, 1000)) {
  }
  while (!__mbarrier_try_wait_parity(&bar, false, 1000)) {
  }
  out[i] = 10101 * in[63 - i];
}
`
	s := kit(t)
	known, err := s.Clang.Architectures(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, arch := range []int{70, 80, 90} {
		if !slices.Contains(known, arch) {
			continue // an old compiler
		}
		file := ptxFile(t, s, source, "-std=c++17", "--no-cuda-gpu-arch=all", fmt.Sprintf("--cuda-gpu-arch=sm_%d", arch))
		gpu := load(t, file)
		for _, kernel := range []string{"shared", "global", "functions"} {
			compare(t, launch(t, gpu, kernel, 64, 64), func(i int) int32 { return int32(10101 * (64 - i)) })
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		_, functions, _ := strings.Cut(string(text), ".entry functions")
		if counted := strings.Contains(functions, "cp.async.mbarrier.arrive.shared.b64"); counted != (arch >= 80) || strings.Contains(functions, "cp.async.wait") {
			t.Errorf("sm_%d: the hardware counts the copies: %v\n%s", arch, counted, functions)
		}
	}
}

// TestArrivalsDoNotWait: in a timing run, a thread that arrives at a barrier goes on while its
// copies are under way.
func TestArrivalsDoNotWait(t *testing.T) {
	const source = `
#include <cuda/barrier>
extern "C" __global__ void overlap(const int4 *in, int *out) {
  __shared__ int4 place[1024];
  __shared__ cuda::barrier<cuda::thread_scope_block> bar;
  if (threadIdx.x == 0) init(&bar, blockDim.x);
  __syncthreads();
  for (int i = 0; i < 32; i++) cuda::memcpy_async(&place[threadIdx.x + 32 * i], &in[threadIdx.x + 32 * i], cuda::aligned_size_t<16>(16), bar);
  const long long start = clock64();
  auto token = bar.arrive();
  const long long arrived = clock64();
  bar.wait(token);
  const long long waited = clock64();
  if (threadIdx.x == 0) out[0] = (int)(arrived - start), out[1] = (int)(waited - arrived);
  out[2 + threadIdx.x] = place[threadIdx.x].x;
}
`
	prog, err := heddle.Load(ptxFile(t, kit(t), source, "-std=c++17"))
	if err != nil {
		t.Fatal(err)
	}
	gpu, err := heddle.New(prog, heddle.Machine("rtx-a6000"))
	if err != nil {
		t.Fatal(err)
	}
	in, err := heddle.Upload(gpu, "in", make([]int32, 4*1024))
	if err != nil {
		t.Fatal(err)
	}
	out, err := heddle.Upload(gpu, "out", make([]int32, 34))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := gpu.Launch(t.Context(), "overlap", heddle.Dim(1), heddle.Dim(32), in, out); err != nil {
		t.Fatal(err)
	}
	got, err := heddle.Download[int32](gpu, out, 2)
	if err != nil {
		t.Fatal(err)
	}
	if got[0] <= 0 || got[0] >= got[1] {
		t.Errorf("arriving took %d cycles, waiting %d", got[0], got[1])
	}
}

// TestUnordered: CUDA's atomic functions order no other accesses, so that no fence and no order is in their PTX.
func TestUnordered(t *testing.T) {
	alltests.Only(t, "atomic functions, compiled")
	const source = `
template <class T> __device__ void both(T *p, T v) {
  atomicAdd(p, v), atomicSub(p, v), atomicExch(p, v), atomicMin(p, v), atomicMax(p, v);
  atomicAnd(p, v), atomicOr(p, v), atomicXor(p, v), atomicCAS(p, v, (T)(v + 1));
}
extern "C" __global__ void unordered(int *i, unsigned int *u, unsigned long long *l, float *f, double *d) {
  __shared__ int s;
  both(i, 1), both(u, 2u), both(&s, 3);
  atomicInc(u, 7u), atomicDec(u, 7u);
  atomicAdd(l, 1ull), atomicExch(l, 1ull), atomicMin(l, 1ull), atomicAnd(l, 1ull), atomicCAS(l, 1ull, 2ull);
  atomicAdd(f, 1.f), atomicExch(f, 1.f), atomicAdd(d, 1.);
}
`
	file := filepath.Join(t.TempDir(), "unordered.cu")
	if err := os.WriteFile(file, []byte(source), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, s := range compilers(t) {
		t.Run(fmt.Sprintf("clang-%d", s.Clang.Major), func(t *testing.T) {
			text, err := os.ReadFile(ptxOf(t, s, file, "-O2"))
			if err != nil {
				t.Fatal(err)
			}
			if n := strings.Count(string(text), "cas.b"); n != 4 {
				t.Errorf("%d instructions compare and swap, want 4", n)
			}
			for _, word := range []string{"fence", "membar", "acquire", "release"} {
				if n := strings.Count(string(text), word); n > 0 {
					t.Errorf("%q is there %d times", word, n)
				}
			}
		})
	}
}
