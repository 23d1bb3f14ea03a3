// A small CUDA device header of our own, so that the examples compile with
// nothing but clang: no CUDA toolkit, no libdevice.
//
// It is not a replacement for NVIDIA's headers. It holds what the examples use.
#pragma once

#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
// Helpers are inlined and carry no lines of their own: .loc names the caller.
#define __forceinline__ inline __attribute__((always_inline, nodebug))
#define __noinline__ __attribute__((noinline))
#define __restrict__ __restrict
#define __launch_bounds__(n) __attribute__((launch_bounds(n)))

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;

// 16 bytes that move as one.
typedef u32 uint4_t __attribute__((vector_size(16)));

struct Index3 {
  u32 x, y, z;
};

// The index of the thread, of its block, and the sizes of block and grid. The
// components that a kernel does not use cost nothing once it is optimised.
static __device__ __forceinline__ Index3 thread_index() {
  return {(u32)__nvvm_read_ptx_sreg_tid_x(), (u32)__nvvm_read_ptx_sreg_tid_y(), (u32)__nvvm_read_ptx_sreg_tid_z()};
}
static __device__ __forceinline__ Index3 block_index() {
  return {(u32)__nvvm_read_ptx_sreg_ctaid_x(), (u32)__nvvm_read_ptx_sreg_ctaid_y(), (u32)__nvvm_read_ptx_sreg_ctaid_z()};
}
static __device__ __forceinline__ Index3 block_size() {
  return {(u32)__nvvm_read_ptx_sreg_ntid_x(), (u32)__nvvm_read_ptx_sreg_ntid_y(), (u32)__nvvm_read_ptx_sreg_ntid_z()};
}
static __device__ __forceinline__ Index3 grid_size() {
  return {(u32)__nvvm_read_ptx_sreg_nctaid_x(), (u32)__nvvm_read_ptx_sreg_nctaid_y(), (u32)__nvvm_read_ptx_sreg_nctaid_z()};
}
#define threadIdx thread_index()
#define blockIdx block_index()
#define blockDim block_size()
#define gridDim grid_size()
#define warpSize 32

static __device__ __forceinline__ u32 lane_id() { return __nvvm_read_ptx_sreg_laneid(); }

// Barriers and fences.
#define __syncthreads() __nvvm_bar_sync(0)
#define __syncwarp(mask) __nvvm_bar_warp_sync(mask)
#define __threadfence() __nvvm_membar_gl()
#define __threadfence_block() __nvvm_membar_cta()

// Atomics, relaxed, at device scope.
static __device__ __forceinline__ int atomicAdd(int *p, int v) { return __nvvm_atom_add_gen_i(p, v); }
static __device__ __forceinline__ u32 atomicAdd(u32 *p, u32 v) { return (u32)__nvvm_atom_add_gen_i((int *)p, (int)v); }
static __device__ __forceinline__ float atomicAdd(float *p, float v) { return __nvvm_atom_add_gen_f(p, v); }
static __device__ __forceinline__ u32 atomicMin(u32 *p, u32 v) { return __nvvm_atom_min_gen_ui(p, v); }
static __device__ __forceinline__ u32 atomicMax(u32 *p, u32 v) { return __nvvm_atom_max_gen_ui(p, v); }
static __device__ __forceinline__ u32 atomicOr(u32 *p, u32 v) { return (u32)__nvvm_atom_or_gen_i((int *)p, (int)v); }
static __device__ __forceinline__ u32 atomicExch(u32 *p, u32 v) { return (u32)__nvvm_atom_xchg_gen_i((int *)p, (int)v); }
static __device__ __forceinline__ u32 atomicCAS(u32 *p, u32 expected, u32 v) {
  return (u32)__nvvm_atom_cas_gen_i((int *)p, (int)expected, (int)v);
}

// Exchanges between the lanes of a warp. The last operand of the builtins packs
// the clamp (31, or 0 for "up").
#define FULL_WARP 0xffffffffu
static __device__ __forceinline__ int __shfl_sync(u32 m, int v, int lane) { return __nvvm_shfl_sync_idx_i32(m, v, lane, 31); }
static __device__ __forceinline__ int __shfl_up_sync(u32 m, int v, int d) { return __nvvm_shfl_sync_up_i32(m, v, d, 0); }
static __device__ __forceinline__ int __shfl_down_sync(u32 m, int v, int d) { return __nvvm_shfl_sync_down_i32(m, v, d, 31); }
static __device__ __forceinline__ int __shfl_xor_sync(u32 m, int v, int x) { return __nvvm_shfl_sync_bfly_i32(m, v, x, 31); }
static __device__ __forceinline__ float __shfl_down_sync(u32 m, float v, int d) { return __nvvm_shfl_sync_down_f32(m, v, d, 31); }
static __device__ __forceinline__ float __shfl_xor_sync(u32 m, float v, int x) { return __nvvm_shfl_sync_bfly_f32(m, v, x, 31); }
static __device__ __forceinline__ u32 __ballot_sync(u32 m, int p) { return __nvvm_vote_ballot_sync(m, p); }
static __device__ __forceinline__ int __all_sync(u32 m, int p) { return __nvvm_vote_all_sync(m, p); }
static __device__ __forceinline__ int __any_sync(u32 m, int p) { return __nvvm_vote_any_sync(m, p); }

// Bits and numbers.
static __device__ __forceinline__ int __popc(u32 v) { return __builtin_popcount(v); }
static __device__ __forceinline__ int __clz(u32 v) { return v ? __builtin_clz(v) : 32; }
static __device__ __forceinline__ int min(int a, int b) { return a < b ? a : b; }
static __device__ __forceinline__ int max(int a, int b) { return a > b ? a : b; }
static __device__ __forceinline__ u32 min(u32 a, u32 b) { return a < b ? a : b; }
static __device__ __forceinline__ u32 max(u32 a, u32 b) { return a > b ? a : b; }
static __device__ __forceinline__ float sqrtf(float v) { return __nvvm_sqrt_rn_f(v); }
static __device__ __forceinline__ double sqrt(double v) { return __nvvm_sqrt_rn_d(v); }
static __device__ __forceinline__ float fabsf(float v) { return __builtin_fabsf(v); }
static __device__ __forceinline__ double fabs(double v) { return __builtin_fabs(v); }
