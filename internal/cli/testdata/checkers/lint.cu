// Sums whose value depends on the order in which threads add to them.
// heddle check --checkers lint
#include "suite.h"

#include <cuda_bf16.h>
#include <cuda_fp16.h>

// Sums numbers, whose first addition is to a number that is there.
template <class T> void sum(void (*kernel)(const T *, T *), int blocks, int threads, const T *numbers, int n, T old) {
  buffer<char> in(n * sizeof(T), unset), out(sizeof(T), unset);
  must(cudaMemcpy(in, numbers, n * sizeof(T), cudaMemcpyHostToDevice));
  must(cudaMemcpy(out, &old, sizeof(T), cudaMemcpyHostToDevice));
  kernel<<<blocks, threads>>>((const T *)in.p, (T *)out.p);
  finish();
}

// Thirds of whole numbers have no end in binary.
static void thirds(void (*kernel)(const float *, float *), int blocks, int threads, float old = 0) {
  float list[1024];
  for (int i = 0; i < 1024; i++)
    list[i] = (i + 1) / 3.f;
  sum(kernel, blocks, threads, list, 1024, old);
}

// Whole numbers are exact up to 16,777,216.
static void wholes(void (*kernel)(const float *, float *), int blocks, int threads, float scale = 1) {
  float list[1024];
  for (int i = 0; i < 1024; i++)
    list[i] = scale * i;
  sum(kernel, blocks, threads, list, 1024, 0.f);
}

__global__ void each(const float *in, float *out) {
  atomicAdd(out, in[blockIdx.x * blockDim.x + threadIdx.x]); // BUG warp_thirds: order-float-atomic BUG block_thirds: order-float-atomic BUG grid_thirds: order-float-atomic BUG large_wholes: order-float-atomic
}
CASE(warp_thirds) { thirds(each, 1, 32); }
CASE(block_thirds) { thirds(each, 1, 256); }
CASE(grid_thirds) { thirds(each, 4, 256); }
CASE(grid_wholes) { wholes(each, 4, 256); } // CLEAN grid_wholes
CASE(grid_halves) { wholes(each, 4, 256, 0.5f); } // CLEAN grid_halves
CASE(large_wholes) { wholes(each, 4, 256, 1001); } // 524,288 times 1,001 has more than 24 digits
CASE(one_thread) { thirds(each, 1, 1); } // CLEAN one_thread

// Two numbers that are added to zero have one sum.
CASE(pair_zero) { thirds(each, 1, 2); } // CLEAN pair_zero
__global__ void both(const float *in, float *out) {
  atomicAdd(out, in[threadIdx.x]); // BUG pair_old: order-float-atomic
}
CASE(pair_old) { thirds(both, 1, 2, 0.3f); }
CASE(pair_lucky) { thirds(both, 1, 2, 0.1f); } // CLEAN pair_lucky

// If all add the same, it does not matter who is first.
__global__ void same(const float *, float *out) { atomicAdd(out, 0.1f); }
CASE(same_value) { thirds(same, 4, 256); } // CLEAN same_value

// Threads that add nothing are no matter.
__global__ void few(const float *in, float *out) {
  atomicAdd(out, threadIdx.x == 3 ? in[3] : 0.f);
}
CASE(zeros_but_one) { thirds(few, 1, 64, 7.1f); } // CLEAN zeros_but_one

// The first thread of each block adds the sum of its block, in a fixed order within it.
template <bool store> __global__ void partial(const float *in, float *out) {
  __shared__ float s[64];
  int i = threadIdx.x;
  s[i] = in[64 * blockIdx.x + i];
  __syncthreads();
  if (i > 0)
    return;
  float own = 0;
  for (int k = 0; k < 64; k++)
    own += s[k];
  if (store)
    out[blockIdx.x] = own;
  else
    atomicAdd(out, own); // BUG blocks_sums: order-float-atomic
}
CASE(blocks_sums) { thirds(partial<false>, 4, 64); }

// A second kernel adds what the blocks have stored.
__global__ void rest(const float *in, float *out) {
  float all = 0;
  for (int k = 0; k < 4; k++)
    all += in[k];
  atomicAdd(out, all);
}
CASE(blocks_in_turn) { // CLEAN blocks_in_turn
  buffer<float> in(256), parts(4), out(1);
  partial<true><<<4, 64>>>(in, parts);
  rest<<<1, 1>>>(parts, out);
  finish();
}

// A barrier between two additions orders them; without it they are at the mercy of the hardware.
template <bool barrier> __global__ void turns(const float *in, float *out) {
  __shared__ float s;
  if (threadIdx.x == 0)
    s = 0.1f;
  __syncthreads();
  for (int k = 0; k < 3; k++) {
    if (threadIdx.x == 40 * k)
      atomicAdd(&s, in[k]); // BUG shared_free: order-float-atomic
    if (barrier)
      __syncthreads();
  }
  __syncthreads();
  if (threadIdx.x == 0)
    *out = s;
}
CASE(shared_free) { thirds(turns<false>, 1, 96); }
CASE(shared_turns) { thirds(turns<true>, 1, 96); } // CLEAN shared_turns

// Kernels of one stream add in order; those of two streams do not.
__global__ void one(const float *in, float *out, int k) {
  atomicAdd(out, in[k]); // BUG two_streams: order-float-atomic
}
static void launches(bool apart) {
  buffer<float> out(1, unset), in(64, numbers);
  float old = 0.3f, third = 1 / 3.f;
  must(cudaMemcpy(out, &old, sizeof old, cudaMemcpyHostToDevice));
  must(cudaMemcpy(in + 1, &third, sizeof third, cudaMemcpyHostToDevice));
  cudaStream_t a, b;
  must(cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking));
  must(cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking));
  one<<<1, 1, 0, a>>>(in, out, 1);
  one<<<1, 1, 0, apart ? b : a>>>(in, out, 7);
  finish();
  cudaStreamDestroy(a);
  cudaStreamDestroy(b);
}
CASE(two_streams) { launches(true); }
CASE(one_stream) { launches(false); } // CLEAN one_stream

// Other formats have other numbers of digits.
template <class T> __global__ void any(const T *in, T *out) {
  atomicAdd(out, in[threadIdx.x]); // BUG double_tenths: order-float-atomic BUG half_wholes: order-float-atomic BUG brain_wholes: order-float-atomic
}
template <class T> void several(int n, double scale) {
  T list[64];
  for (int i = 0; i < 64; i++)
    list[i] = T(float(i) * float(scale));
  sum(any<T>, 1, n, list, 64, T(0.f));
}
CASE(double_tenths) {
  double list[64];
  for (int i = 0; i < 64; i++)
    list[i] = i * 0.1;
  sum(any<double>, 1, 64, list, 64, 0.);
}
CASE(double_wholes) { several<double>(64, 1e6); } // CLEAN double_wholes
CASE(half_wholes) { several<__half>(64, 3); } // 6,048: beyond 2,048
CASE(half_few) { several<__half>(64, 1); } // CLEAN half_few
CASE(brain_wholes) { several<__nv_bfloat16>(64, 1); } // 2,016: beyond 256
CASE(brain_few) { several<__nv_bfloat16>(16, 1); } // CLEAN brain_few

// Pairs of halves: the first of each pair is exact, the second is not.
__global__ void pairs(const __half2 *in, __half2 *out) {
  atomicAdd(out, in[threadIdx.x]); // BUG half_pairs: order-float-atomic
}
CASE(half_pairs) {
  __half2 list[64];
  for (int i = 0; i < 64; i++)
    list[i] = __floats2half2_rn(1, i / 3.f);
  sum(pairs, 1, 64, list, 64, __floats2half2_rn(0, 0));
}

// Integers have one sum.
__global__ void fixed(const float *in, float *out) { atomicAdd((unsigned long long *)out, (unsigned long long)(in[threadIdx.x] * 65536)); }
CASE(fixed_point) { // CLEAN fixed_point
  buffer<float> in(64, numbers), out(2);
  fixed<<<1, 64>>>(in, out);
  finish();
}
