package sdk_test

import (
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle"
	"github.com/heddle-sim/heddle/internal/alltests"
)

// TestHeadersAlone: each header compiles without others, for host and device, and declares
// what programs use of it.
func TestHeadersAlone(t *testing.T) {
	alltests.Only(t, "a program for each header")
	s := kit(t)
	dir := t.TempDir()
	arch := "sm_80"
	if known, err := s.Clang.Architectures(t.Context()); err != nil {
		t.Fatal(err)
	} else if slices.Contains(known, 90) {
		arch = "sm_90"
	}
	options := map[string][]string{"cuda_fp16.h": {"-D__CUDA_NO_HALF_OPERATORS__", "-D__CUDA_NO_HALF2_OPERATORS__"}}
	for header, use := range map[string]string{
		"cudaTypedefs.h": `
PFN_cuTensorMapEncodeTiled_v12000 a = &cuTensorMapEncodeTiled;
PFN_cuTensorMapEncodeIm2col b = &cuTensorMapEncodeIm2col;
static_assert(__is_same(PFN_cuMemAlloc_v3020, CUresult (*)(CUdeviceptr *, size_t)), "of the form that the name stands for");
static_assert(sizeof(CUtensorMap) == 128 && alignof(CUtensorMap) == 64, "");
static_assert(CU_TENSOR_MAP_DATA_TYPE_16U6_ALIGN16B == 15 && CU_TENSOR_MAP_SWIZZLE_128B_ATOM_64B == 6 && CU_TENSOR_MAP_L2_PROMOTION_L2_256B == 3, "");`,
		"cupti.h": `
static_assert(sizeof(CUpti_ActivityKernel9) == 216 && offsetof(CUpti_ActivityKernel4, name) == 104 && sizeof(CUpti_ActivityMemcpy6) == 96, "as in release 13");
static_assert(sizeof(CUpti_ActivityDevice5) == 184 && sizeof(CUpti_ActivityMarker2) == 56 && sizeof(CUpti_CallbackData) == 72, "");
static_assert(CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000 == 211 && CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel == 307, "");
static_assert(sizeof(cudaLaunchKernel_v7000_params) == 56 && offsetof(cuLaunchKernel_params, extra) == 56, "");`,
		"cupti_activity.h":                  "CUpti_ActivityPCSampling3 never;",
		"cupti_callbacks.h":                 "CUpti_CallbackFunc f;",
		"generated_cuda_runtime_api_meta.h": "cudaMemcpy_v3020_params p;",
		"cuda_fp4.h":                        "__nv_fp4x4_e2m1 v; static_assert(sizeof v == 2 && sizeof(__nv_fp4x2_e2m1) == 1, \"packed\");",
		"cuda_fp6.h":                        "__nv_fp6x4_e2m3 v; static_assert(sizeof v == 4 && sizeof(__nv_fp6x2_e3m2) == 2, \"in bytes\");",
		"curand_philox4x32_x.h":             "curandStatePhilox4_32_10_t state;",
		"cuda_awbarrier.h":                  "__device__ void f(nvcuda::experimental::awbarrier *b) { init(b, b->max()); b->wait(b->arrive()); }",
		"cuda_awbarrier_primitives.h":       "__device__ void f(__mbarrier_t *b) { __mbarrier_init(b, __mbarrier_maximum_count()); }",
		"cuda_pipeline_primitives.h":        "__device__ void f() { __pipeline_wait_prior(0); }",
		"device_types.h":                    "cudaRoundMode way = cudaRoundPosInf; static_assert(cudaRoundMinInf == 3, \"\");",
		"fatbinary_section.h":               "__fatBinC_Wrapper_t w = {FATBINC_MAGIC, FATBINC_VERSION, nullptr, nullptr};",
		"sm_90_rt.h":                        "__device__ unsigned f() { return __clusterDim().x + __clusterSizeInBlocks(); }",
		"crt/sm_90_rt.h":                    "__device__ unsigned f() { return __clusterSizeInBlocks(); }",
		"mutex":                             "static_assert(!std::is_swappable<std::mutex>::value && !std::is_swappable<std::mutex[2]>::value && std::is_nothrow_swappable<int[2][3]>::value, \"as without kernels\");",
		"cuda_fp16.h": `
#define HALVES(type) \
  __device__ type operator+(const type &a, const type &b) { return a; } \
  __device__ type &operator+=(type &a, const type &b) { return a; } \
  __device__ bool operator<(const type &a, const type &b) { return true; }
#ifdef __CUDA_NO_HALF_OPERATORS__
HALVES(__half)
HALVES(__half2)
#endif
__device__ __half f(__half a) { return a + a; }
__device__ __half2 f(__half2 a) { return a += a; }`,
		"vector_functions.hpp": "float3 v = make_float3(1, 2, 3);",
		"nv/target":            "int f() { NV_IF_TARGET(NV_IS_HOST, (return 1;), (return 2;)) }\nint g() { NV_IF_ELSE_TARGET(NV_HAS_FEATURE_SM_100a, (return 1;), (return 2;)) }",
		"cuda/cmath":           "static_assert(cuda::ceil_div(7, 2u) == 4 && cuda::round_up(9, 4) == 12 && cuda::round_down(9, 4) == 8 && cuda::ceil_div(8, 4) == 2, \"\");",
		"cuda/functional":      "static_assert(cuda::maximum<int>()(3, 4) == 4 && cuda::minimum<>()(3, 2.5) == 2.5, \"\");",
		"cuda/stream_ref":      "bool f(cudaStream_t s) { cuda::stream_ref r(s); r.wait(); return r.ready() && r == cuda::stream_ref(s) && r.get() == s; }",
		"cuda/std/bit":         "static_assert(cuda::std::popcount(7u) == 3, \"\");",
		"cuda/std/span": `
#include <vector>
using cuda::std::span;
int first(int *p, std::vector<int> &v, const std::vector<int> &c, span<int, 4> s) {
  span<int> none(p, 0), two(p, p + 2), all(v);
  span<const int> constant(c), also(v), of_span(s), of_none = none;
  static_assert(decltype(s.first<2>())::extent == 2 && decltype(s.last<3>())::extent == 3 && decltype(s.subspan<1>())::extent == 3 && decltype(all.subspan<1, 2>())::extent == 2, "");
  static_assert(!std::is_constructible<span<int>, const std::vector<int> &>::value && !std::is_constructible<span<int>, std::vector<long> &>::value, "");
  return none.size() + two.size() + all.size() + constant[0] + also[0] + of_span[0] + s.first<2>()[0] + s.last<2>()[0] + s.subspan<2>()[0];
}`,
		"cuda/access_property": "cuda::access_property p(cuda::access_property::persisting{}, 0.5f);",
		"cuda/annotated_ptr":   "__device__ int f(int *p) { return cuda::annotated_ptr<int, cuda::access_property::streaming>(p)[1]; }",
		"cuda/barrier":         "static_assert(sizeof(cuda::barrier<cuda::thread_scope_block>) == 8, \"\");",
		"cooperative_groups.h": "__device__ void f() { cooperative_groups::this_thread_block().sync(); }",
		"cuda_runtime.h":       "void f(void *p, cudaMemLocation l) { cudaMemPrefetchAsync_v2(p, 4, l, 0, 0); cudaMemAdvise_v2(p, 4, cudaMemAdviseSetReadMostly, l); cudaMemAdvise(p, 4, cudaMemAdviseSetReadMostly, l); }\nstatic_assert(sizeof(cudaDeviceProp) == 1032 && sizeof(cudaFuncAttributes) == 144 && sizeof(cudaLaunchAttribute) == 72, \"as in release 12\");",
		"mma.h":                "static_assert(nvcuda::wmma::experimental::bmmaBitOpAND == 2 && nvcuda::wmma::experimental::bmmaAccumulateOpPOPC == 1, \"\");",
	} {
		file := filepath.Join(dir, "t.cu")
		if err := os.WriteFile(file, []byte("#include <"+header+">\n"+use+"\n"), 0o666); err != nil {
			t.Fatal(err)
		}
		for _, side := range []string{"--cuda-host-only", "--cuda-device-only"} {
			args := slices.Concat(s.ReadingFlags("cuda"), s.CUDAFlags(), []string{"-std=c++17", "-Werror", "-Wno-unused-variable", "-fsyntax-only", side, "--cuda-gpu-arch=" + arch, file}, options[header])
			if text, err := exec.Command(s.Clang.Path, args...).CombinedOutput(); err != nil {
				t.Errorf("%s, %s: %v\n%s", header, side, err, text)
			}
		}
	}
}

// TestHeadersInOtherLanguages: C++ without kernels includes each header, with gcc too, in strict
// C++11 where the header has no C++17; C includes those that have a part in C.
func TestHeadersInOtherLanguages(t *testing.T) {
	alltests.Only(t, "a program for each header")
	s := kit(t)
	dir := t.TempDir()
	check := func(compiler, language, standard, header, use string) {
		t.Helper()
		file := filepath.Join(dir, "t."+language)
		if err := os.WriteFile(file, []byte("#include <"+header+">\n"+use+"\n"), 0o666); err != nil {
			t.Fatal(err)
		}
		if text, err := exec.Command(compiler, "-std="+standard, "-Werror", "-fsyntax-only", "-I"+s.Include(), file).CombinedOutput(); err != nil {
			t.Errorf("%s, %s, %s: %v\n%s", header, compiler, standard, err, text)
		}
	}
	gxx, err := exec.LookPath("g++")
	if err != nil {
		t.Skip(err)
	}
	for _, compiler := range []string{s.Clang.Path, gxx} {
		for _, header := range strings.Fields(`cooperative_groups.h cuComplex.h cublas_v2.h cudaTypedefs.h cuda_awbarrier.h cuda_awbarrier_primitives.h
			cuda_bf16.h cuda_fp16.h cuda_fp4.h cuda_fp6.h cuda_fp8.h cuda_pipeline.h cuda_runtime.h cufft.h curand.h curand_kernel.h cusparse.h mma.h nv/target
			sm_90_rt.h crt/sm_90_rt.h vector_functions.h cuda/atomic cuda/barrier cuda/latch cuda/pipeline cuda/semaphore heddle_atomics.h`) {
			for _, standard := range []string{"c++11", "c++20"} {
				check(compiler, "cpp", standard, header, "")
			}
		}
		for _, header := range strings.Fields("cuda/cmath cuda/functional cuda/stream_ref cuda/std/bit cuda/std/span cuda/std/atomic") {
			check(compiler, "cpp", "c++17", header, "")
		}
		check(compiler, "cpp", "c++17", "cuda/atomic", "int f() { cuda::atomic<int> a(3); a.fetch_add(2, cuda::memory_order_acquire); cuda::atomic_thread_fence(cuda::memory_order_seq_cst); return a.load(); }")
	}
	for header, use := range map[string]string{
		"cuda_runtime.h": "int f(void *p, struct cudaMemLocation l) { return cudaMemAdvise_v2(p, 4, cudaMemAdviseSetReadMostly, l); }",
		"cuda_fp16.h":    "__half2 h;",
		"cuda_bf16.h":    "__nv_bfloat16 h;",
		"cuda_fp8.h":     "__nv_fp8x4_e8m0 v; int size[sizeof v == 4 ? 1 : -1]; __nv_saturation_t s = __NV_SATFINITE; __nv_fp8_interpretation_t k = __NV_E5M2;",
	} {
		check("gcc", "c", "gnu11", header, use)
	}
}

// The numbers of kernel results of TestSmallParts, in order.
func TestSmallParts(t *testing.T) {
	alltests.Only(t, "small parts of the toolkit, compiled")
	s := kit(t)
	known, err := s.Clang.Architectures(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	source := `
#include <cooperative_groups.h>
#include <cuda/annotated_ptr>
#include <cuda/cmath>
#include <cuda/functional>
#include <cuda/std/bit>
#include <cuda/std/span>
#include <cuda_awbarrier.h>
#include <heddle_atomics.h>
#include <nv/target>

extern "C" __global__ void targets(int *out) {
  int a = 0, b = 0, c = 0, d = 0;
  NV_IF_TARGET(NV_IS_DEVICE, (a = 1, b = 2;))
  NV_IF_TARGET(NV_IS_HOST, (a = 5;))
  NV_IF_ELSE_TARGET(NV_PROVIDES_SM_80, (c = 3;), (c = 4;))
  NV_DISPATCH_TARGET(NV_IS_HOST, (d = 6;), NV_IS_EXACTLY_SM_53, (d = 7;), NV_PROVIDES_SM_60, (d = 8;), NV_ANY_TARGET, (d = 9;))
  out[0] = a, out[1] = b, out[2] = c, out[3] = d;
}
extern "C" __global__ void bits(int *out) {
  using namespace cuda::std;
  unsigned v = 0x00f00100u + threadIdx.x;
  unsigned char c = (unsigned char)(0x12 + threadIdx.x);
  int a[4] = {popcount(v), countl_zero(v), countr_zero(v), countl_one((unsigned short)0xff80)};
  int b[6] = {countr_one(0x17u), bit_width(c), has_single_bit(64ull), (int)bit_ceil(c), (int)bit_floor(c), (int)rotl(c, 4)};
  int i = 0;
  for (int x : cuda::std::span<int>(a)) out[i++] = x;
  cuda::std::span<const int> s = cuda::std::span<int>(b);
  for (size_t k = 0; k < s.size(); k++) out[i++] = s[k];
  out[i++] = rotr(c, 4);
  out[i++] = bit_cast<int>(1.0f);
  out[i++] = s.subspan(2).front() + s.first(2).back() + (int)s.last(1).size_bytes();
  out[i++] = countl_zero((unsigned char)0) + countr_zero(0ull);
  auto twice = cuda::proclaim_return_type<int>([](int x) { return 2 * x; });
  out[i++] = twice(cuda::ceil_div(i, 3));
  cuda::annotated_ptr<int, cuda::access_property::persisting> p(out, cuda::access_property::persisting{});
  cuda::apply_access_property(out, 64, cuda::access_property::persisting{});
  cuda::discard_memory(out + 40, 0);
  out[i++] = *cuda::associate_access_property(p.get(), cuda::access_property::normal{}) + *p + (p - p) + (p ? 1 : 0);
}
extern "C" __global__ void atomics(int *out) {
  __shared__ unsigned sum, most, least, ored, anded, xored, taken, subbed;
  __shared__ double real;
  __shared__ unsigned short small;
  unsigned i = threadIdx.x;
  if (i == 0) sum = most = ored = xored = taken = 0, least = anded = ~0u, real = 0.5, small = 7, subbed = 10000;
  __syncthreads();
  __nv_atomic_fetch_add(&sum, i, __NV_ATOMIC_ACQ_REL, __NV_THREAD_SCOPE_BLOCK);
  __nv_atomic_add(&real, 0.25, __NV_ATOMIC_RELAXED);
  __nv_atomic_sub(&subbed, i, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
  __nv_atomic_fetch_sub(&subbed, 1u, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_CLUSTER);
  __nv_atomic_max(&most, i * 7 % 64, __NV_ATOMIC_SEQ_CST);
  __nv_atomic_fetch_max(&most, i, __NV_ATOMIC_SEQ_CST);
  __nv_atomic_fetch_min(&least, i + 3, __NV_ATOMIC_RELEASE);
  __nv_atomic_min(&least, i + 5, __NV_ATOMIC_ACQUIRE);
  __nv_atomic_or(&ored, 1u << i % 31, __NV_ATOMIC_RELAXED);
  __nv_atomic_fetch_or(&ored, 0u, __NV_ATOMIC_CONSUME);
  __nv_atomic_and(&anded, ~(1u << i % 8), __NV_ATOMIC_RELAXED);
  __nv_atomic_fetch_and(&anded, ~0u, __NV_ATOMIC_RELAXED);
  __nv_atomic_xor(&xored, i, __NV_ATOMIC_RELAXED);
  __nv_atomic_fetch_xor(&xored, 1u << 20, __NV_ATOMIC_RELAXED);
  unsigned short want = 7, to = 9;
  bool one = __nv_atomic_compare_exchange(&small, &want, &to, false, __NV_ATOMIC_SEQ_CST, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_BLOCK);
  if (one) __nv_atomic_add(&taken, 1u, __NV_ATOMIC_RELAXED);
  else if (want != 9) __nv_atomic_add(&taken, 1000u, __NV_ATOMIC_RELAXED);
  __nv_atomic_thread_fence(__NV_ATOMIC_SEQ_CST, __NV_THREAD_SCOPE_BLOCK);
  __nv_atomic_thread_fence(__NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_THREAD);
  __syncthreads();
  if (i) return;
  unsigned v;
  __nv_atomic_load(&sum, &v, __NV_ATOMIC_ACQUIRE);
  out[0] = v;
  out[1] = most;
  out[2] = least;
  out[3] = __nv_atomic_load_n(&ored, __NV_ATOMIC_RELAXED);
  out[4] = anded;
  out[5] = xored;
  out[6] = (int)(4 * real);
  out[7] = taken;
  out[8] = subbed;
  __nv_atomic_store_n(&sum, 5u, __NV_ATOMIC_RELEASE);
  out[9] = __nv_atomic_exchange_n(&sum, 6u, __NV_ATOMIC_RELAXED);
  v = 8;
  __nv_atomic_exchange(&sum, &v, &v, __NV_ATOMIC_RELAXED);
  out[10] = v;
  v = 11;
  __nv_atomic_store(&sum, &v, __NV_ATOMIC_RELAXED);
  unsigned eleven = 11;
  out[11] = __nv_atomic_compare_exchange_n(&sum, &eleven, 12u, true, __NV_ATOMIC_RELAXED, __NV_ATOMIC_RELAXED) * 100 + sum;
}
extern "C" __global__ void waits(int *out) {
  __shared__ nvcuda::experimental::awbarrier bar;
  __shared__ __mbarrier_t plain;
  if (threadIdx.x == 0) init(&bar, 64), __mbarrier_init(&plain, 64);
  __syncthreads();
  for (int k = 0; k < 5; k++) {
    *(volatile int *)&out[(threadIdx.x + k) % 64] += 1;
    __threadfence_block();
    auto token = bar.arrive();
    if (token.pending_count() > 64) out[63] = -1000; // those missing before this arrival
    while (!bar.timed_wait(token)) {
    }
  }
  bar.arrive_and_wait();
  __mbarrier_token_t token = threadIdx.x == 63 ? __mbarrier_arrive_and_drop(&plain) : __mbarrier_arrive(&plain);
  if (threadIdx.x == 63) return;
  while (!__mbarrier_test_wait(&plain, token)) {
  }
  while (!__mbarrier_test_wait_parity(&plain, false)) {
  }
  out[threadIdx.x] += 100 * (__mbarrier_token_pending_count(token) >= 1);
  __syncwarp();
  if (threadIdx.x >= 32) return;
  if (threadIdx.x == 0) __mbarrier_inval(&plain), inval(&bar);
}
// Waits that end without success, and then with it.
extern "C" __global__ void limits(int *out) {
  __shared__ nvcuda::experimental::awbarrier bar;
  if (threadIdx.x == 0) init(&bar, 2);
  __syncthreads();
  auto token = bar.arrive();
  long long start = clock64();
  bool early = bar.timed_wait(token, 1000);
  out[0] = early + 2 * (clock64() - start >= 1000);
  start = clock64();
  early = bar.timed_wait_parity(false, 1000);
  out[1] = early + 2 * (clock64() - start >= 1000);
  out[2] = bar.try_wait(token, 10) + 2 * bar.try_wait_parity(false, 10);
  bar.arrive();
  out[3] = bar.timed_wait(token, 1000) + 2 * bar.timed_wait_parity(false, 1000) + 4 * bar.try_wait(token, 10) + 8 * bar.try_wait_parity(false, 10);
}
extern "C" __global__ void pairs(float *out) {
  float2 a = make_float2(1, 0x1p-24f), b = make_float2(0x1p-24f, 1), c = make_float2(3, -1);
  float2 r[] = {__fadd2_rn(a, b), __fadd2_ru(a, b), __fadd2_rd(a, c), __fadd2_rz(a, b), __fmul2_rn(c, c), __fmul2_rz(a, c), __fmul2_ru(a, c),
                __fmul2_rd(a, c), __ffma2_rn(a, c, b), __ffma2_rz(a, c, b), __ffma2_ru(a, c, b), __ffma2_rd(a, c, b)};
  for (int i = 0; i < 12; i++) out[2 * i] = r[i].x, out[2 * i + 1] = r[i].y;
  out[24] = __tanhf(threadIdx.x + 0.5f);
  __assume(threadIdx.x < 1024);
}
struct big { int v[8]; };
extern "C" __global__ void parameter(int *out, const __grid_constant__ big b) {
  int *local = out + (threadIdx.x & 1);
  out[0] = b.v[3];
#if __clang_major__ >= 20
  out[1] = __isGridConstant(&b) ? *(const int *)__cvta_grid_constant_to_generic(__cvta_generic_to_grid_constant(&b.v[5])) : -1;
#else
  out[1] = b.v[5];
#endif
  out[2] = __isGridConstant(local);
}
__constant__ int five = 5;
extern "C" __global__ void constants(int *out) {
  out[0] = *(const int *)__cvta_constant_to_generic(__cvta_generic_to_constant(&five));
}
#if __CUDA_ARCH__ >= 900
#include <sm_90_rt.h>
extern "C" __global__ void cluster(int *out) {
  __shared__ int mine;
  auto c = cooperative_groups::this_cluster();
  cudaGridDependencySynchronize();
  mine = 7;
  c.sync();
  __cluster_barrier_arrive_relaxed();
  __cluster_barrier_wait();
  auto token = c.barrier_arrive();
  c.barrier_wait(static_cast<cooperative_groups::cluster_group::arrival_token &&>(token));
  __threadfence_cluster();
  unsigned i = c.thread_rank();
  if (i == 0) {
    out[0] = c.block_rank() + 10 * c.num_blocks() + 100 * c.num_threads() + c.size();
    out[1] = c.dim_blocks().x + 10 * c.block_index().x + 100 * c.dim_threads().x;
    out[2] = *c.map_shared_rank(&mine, 0);
    out[3] = c.query_shared_rank(&mine);
    out[4] = __clusterGridDimInClusters().x + 10 * __clusterIdx().x + 100 * __clusterRelativeBlockRank() + 1000 * __clusterRelativeBlockIdx().y;
    out[5] = __isClusterShared(&mine) + 2 * __isClusterShared(out);
    out[6] = c.thread_index().x + __clusterDimIsSpecified();
    auto g = cooperative_groups::this_grid();
    out[7] = g.dim_clusters().x + 10 * g.cluster_index().x + 100 * g.num_clusters() + 1000 * g.cluster_rank();
  }
  cudaTriggerProgrammaticLaunchCompletion();
}
#endif
`
	arch := 80
	if slices.Contains(known, 90) {
		arch = 90
	}
	gpu := device(t, s, source, "-std=c++17", "--no-cuda-gpu-arch=all", fmt.Sprintf("--cuda-gpu-arch=sm_%d", arch))
	run := func(kernel string, threads uint32, more ...any) []int32 {
		t.Helper()
		out, err := heddle.Upload(gpu, "out", make([]int32, 64))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := gpu.Launch(t.Context(), kernel, heddle.Dim(1), heddle.Dim(threads), append([]any{out}, more...)...); err != nil {
			t.Fatalf("%s: %v", kernel, err)
		}
		got, err := heddle.Download[int32](gpu, out, 64)
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	type numbers = []int32
	want := map[string]numbers{
		"targets": {1, 2, 3, 8},
		"bits":    {5, 8, 8, 9, 3, 5, 1, 32, 16, 0x21, 0x21, 0x3f800000, 1 + 5 + 4, 8 + 64, 2 * 5, 2*5 + 1},
		// Of 64 threads: 63 is the largest i, and 7 i modulo 64 takes all values.
		"atomics":   {64 * 63 / 2, 63, 3, 0x7fffffff, -256, 0, 2 + 64, 1, 10000 - 64*63/2 - 64, 5, 6, 112},
		"constants": {5},
		"limits":    {2, 2, 0, 15},
	}
	for kernel, want := range want {
		threads := uint32(1)
		if kernel == "atomics" {
			threads = 64
		}
		if got := run(kernel, threads)[:len(want)]; !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", kernel, got, want)
		}
	}
	if got := run("waits", 64); got[0] != 105 || got[62] != 105 || got[63] != 5 {
		t.Errorf("waits: %v", got)
	}
	const tiny = 0x1p-24
	up, down := float32(1+0x1p-23), float32(1)
	pairs := []float32{1, 1, up, up, 4, tiny - 1, down, down, 9, 1, 3, -tiny, 3, -tiny, 3, -tiny, 3, 1 - tiny, 3, 1 - tiny, 3 + 0x1p-22, 1 - tiny, 3, 1 - tiny}
	got := run("pairs", 1)
	for i, want := range pairs {
		if g := math.Float32frombits(uint32(got[i])); g != want {
			t.Errorf("pairs: %d is %v, want %v", i, g, want)
		}
	}
	if g := math.Float32frombits(uint32(got[24])); math.Abs(float64(g)-math.Tanh(0.5)) > 0x1p-10 { // 2^-11 relative (PTX ISA, tanh)
		t.Errorf("__tanhf(0.5) is %v", g)
	}
	if arch == 90 {
		if got := run("cluster", 32)[:8]; !slices.Equal(got, numbers{10*1 + 100*32 + 32, 1 + 100*32, 7, 0, 1, 1, 0, 101}) {
			t.Errorf("cluster: %v", got)
		}
	}
}
