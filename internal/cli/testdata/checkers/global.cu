// Races in global memory, within a block and between blocks.
#include "suite.h"

// Each block needs what its neighbour computes.
template <bool result> __global__ void neighbour(const int *in, int *out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = in[i]; // BUG neighbour_result: race-global-interblock
  if (i >= 64 && threadIdx.x == 0)
    out[512 + blockIdx.x] = (result ? out : in)[i - 64]; // BUG neighbour_result: race-global-interblock
}
CASE(neighbour_result) { run(neighbour<true>, 3, 64); }
CASE(neighbour_input) { run(neighbour<false>, 3, 64); } // CLEAN neighbour_input

// The sum of all blocks.
template <bool atomic> __global__ void sum(const int *in, int *out) {
  if (threadIdx.x > 0)
    return;
  if (atomic)
    atomicAdd(out, in[blockIdx.x]);
  else
    *out += in[blockIdx.x]; // BUG sum_plain: race-global-interblock
}
CASE(sum_plain) { run(sum<false>, 4, 32); }
CASE(sum_atomic) { run(sum<true>, 4, 32); } // CLEAN sum_atomic

// Two steps of an algorithm in one launch, or in two.
__global__ void both(int *p) {
  int i = blockIdx.x * 32 + threadIdx.x, n = gridDim.x * 32;
  p[i] = i; // BUG steps_one: race-global-interblock
  __syncthreads();
  p[n + i] = p[n - 1 - i]; // BUG steps_one: race-global-interblock
}
__global__ void step(int *p, int to, int from) {
  int i = blockIdx.x * 32 + threadIdx.x, n = gridDim.x * 32;
  p[to * n + i] = from < 0 ? i : p[from * n + n - 1 - i];
}
CASE(steps_one) {
  buffer<int> p(128);
  both<<<2, 32>>>(p);
  finish();
}
CASE(steps_two) { // CLEAN steps_two
  buffer<int> p(128);
  step<<<2, 32>>>(p, 0, -1);
  step<<<2, 32>>>(p, 1, 0);
  finish();
}

// Within a block, between its warps.
template <bool barrier> __global__ void turn(const int *in, int *out) {
  int i = threadIdx.x;
  out[i] = in[i]; // BUG turn_plain: race-global-intrablock
  if (barrier)
    __syncthreads();
  out[64 + i] = out[63 - i]; // BUG turn_plain: race-global-intrablock
}
CASE(turn_plain) { run(turn<false>, 1, 64); }
CASE(turn_barrier) { run(turn<true>, 1, 64); } // CLEAN turn_barrier

// Within a warp.
template <bool meet> __global__ void pairs(const int *in, int *out) {
  int i = threadIdx.x;
  out[i] = in[i]; // BUG pairs_lockstep: race-global-intrawarp
  if (meet)
    __syncwarp();
  out[32 + i] = out[i ^ 1]; // BUG pairs_lockstep: race-global-intrawarp
}
CASE(pairs_lockstep) { run(pairs<false>, 1, 32); }
CASE(pairs_meet) { run(pairs<true>, 1, 32); } // CLEAN pairs_meet

// Two elements for each thread; with a stride of one they overlap.
template <int stride> __global__ void twos(const int *in, int *out) {
  int i = threadIdx.x * stride;
  out[i] = in[i];         // BUG twos_overlap: race-global-intrawarp
  out[i + 1] = in[i] + 1; // BUG twos_overlap: race-global-intrawarp
}
CASE(twos_overlap) { run(twos<1>, 1, 32); }
CASE(twos_apart) { run(twos<2>, 1, 32); } // CLEAN twos_apart

// A square that is turned about its diagonal in place: each pair by two threads, or by one.
template <bool one> __global__ void transpose(int *p) {
  int x = threadIdx.x, y = blockIdx.x, n = gridDim.x;
  if (one ? x >= y : x == y)
    return;
  int a = p[y * n + x], b = p[x * n + y]; // BUG transpose_twice: race-global-interblock
  p[y * n + x] = b;                       // BUG transpose_twice: race-global-interblock
  if (one)
    p[x * n + y] = a;
}
static void square(void (*f)(int *)) {
  buffer<int> p(64, numbers);
  f<<<8, 8>>>(p);
  finish();
}
CASE(transpose_twice) { square(transpose<false>); }
CASE(transpose_once) { square(transpose<true>); } // CLEAN transpose_once

// A flag that says that something has changed: all write one value.
template <bool atomic> __global__ void changed(const int *in, int *out) {
  int i = blockIdx.x * 32 + threadIdx.x;
  if (in[i] % 32 == 5) {
    if (atomic)
      atomicExch(out, 1);
    else
      *out = 1; // BUG changed_plain: race-global-interblock
  }
}
CASE(changed_plain) { run(changed<false>, 2, 32); }
CASE(changed_atomic) { run(changed<true>, 2, 32); } // CLEAN changed_atomic

// The largest number: look, then write.
template <bool atomic> __global__ void largest(const int *in, int *out) {
  int v = in[(blockIdx.x * 37) % 64];
  if (atomic)
    atomicMax(out, v);
  else if (*out < v) // BUG largest_plain: race-global-interblock
    *out = v;        // BUG largest_plain: race-global-interblock
}
CASE(largest_plain) { run(largest<false>, 4, 1); }
CASE(largest_atomic) { run(largest<true>, 4, 1); } // CLEAN largest_atomic

// A counter that is read without an atomic operation while others count.
template <bool atomic> __global__ void progress(const int *in, int *out) {
  atomicAdd(out, in[1]); // BUG progress_plain: race-global-interblock
  int seen = atomic ? atomicAdd(out, 0) : *out; // BUG progress_plain: race-global-interblock
  out[1 + blockIdx.x] = seen > 2;
}
CASE(progress_plain) { run(progress<false>, 3, 1); }
CASE(progress_atomic) { run(progress<true>, 3, 1); } // CLEAN progress_atomic

// The block that comes last adds up what all have written.
__device__ unsigned int arrived;
template <bool fence> __global__ void last(const int *in, int *out) {
  __shared__ bool is_last;
  if (threadIdx.x == 0) {
    out[1 + blockIdx.x] = in[blockIdx.x]; // BUG last_no_fence: race-global-interblock
    if (fence)
      __threadfence();
    is_last = atomicAdd(&arrived, 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (is_last && threadIdx.x == 0) {
    if (fence)
      __threadfence();
    int all = 0;
    for (unsigned int k = 0; k < gridDim.x; k++)
      all += out[1 + k]; // BUG last_no_fence: race-global-interblock
    *out = all;
    arrived = 0;
  }
}
CASE(last_no_fence) { run(last<false>, 4, 32); }
CASE(last_fence) { run(last<true>, 4, 32); } // CLEAN last_fence

// The same, where all threads of a block have written and only one passes the fence: the
// barrier between orders them.
template <bool barrier> __global__ void last_many(const int *in, int *out) {
  __shared__ bool is_last;
  int n = blockDim.x;
  out[64 + blockIdx.x * n + threadIdx.x] = in[threadIdx.x]; // BUG last_many_early: race-global-interblock
  if (barrier)
    __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence();
    is_last = atomicAdd(&arrived, 1) == gridDim.x - 1;
    __threadfence();
  }
  __syncthreads();
  if (is_last)
    out[threadIdx.x] = out[64 + threadIdx.x] + out[64 + n + threadIdx.x]; // BUG last_many_early: race-global-interblock
}
CASE(last_many_early) { run(last_many<false>, 2, 64); }
CASE(last_many_barrier) { run(last_many<true>, 2, 64); } // CLEAN last_many_barrier

// Scratch memory of the program, for each thread of a block, or of the grid.
__device__ int scratch[256];
template <bool grid> __global__ void scratched(const int *in, int *out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, k = grid ? i : threadIdx.x;
  scratch[k] = in[i]; // BUG scratched_block: race-global-interblock
  __syncthreads();
  out[i] = scratch[k ^ 1]; // BUG scratched_block: race-global-interblock
}
CASE(scratched_block) { run(scratched<false>, 4, 32); }
CASE(scratched_grid) { run(scratched<true>, 4, 32); } // CLEAN scratched_grid

// Marks of many blocks: a byte for each is no race, a bit for each is one.
template <int form> __global__ void marks(const int *in, int *out) {
  int i = blockIdx.x;
  if (form == 0)
    ((char *)out)[i] = in[i] > 3;
  if (form == 1)
    *out |= (in[i] > 3) << i; // BUG marks_bits: race-global-interblock
  if (form == 2)
    atomicOr(out, (in[i] > 3) << i);
}
CASE(marks_bits) { run(marks<1>, 8, 1); }
CASE(marks_bytes) { run(marks<0>, 8, 1); }  // CLEAN marks_bytes
CASE(marks_atomic) { run(marks<2>, 8, 1); } // CLEAN marks_atomic

// A queue: a place is taken atomically, and what lies in it is read by another block at once.
template <bool read> __global__ void queue(const int *in, int *out) {
  int at = atomicAdd(out, 1);
  out[1 + at] = in[blockIdx.x]; // BUG queue_read: race-global-interblock
  if (read && at > 0)
    out[512 + at] = out[at]; // BUG queue_read: race-global-interblock
}
CASE(queue_read) { run(queue<true>, 4, 1); }
CASE(queue_fill) { run(queue<false>, 4, 1); } // CLEAN queue_fill

// Elements of eight bytes whose index counts four.
template <int width> __global__ void wide(const int *in, int *out) {
  int i = blockIdx.x;
  if (i % 2 == 0)
    *(int2 *)(out + i * width) = make_int2(in[i], 1); // BUG wide_overlap: race-global-interblock
  else
    out[i * width] = 2; // BUG wide_overlap: race-global-interblock
}
CASE(wide_overlap) { run(wide<1>, 4, 1); }
CASE(wide_apart) { run(wide<2>, 4, 1); } // CLEAN wide_apart

// Sparse additions: elements that two threads have in common.
template <bool atomic> __global__ void scatter(const int *in, int *out) {
  int i = threadIdx.x;
  if (atomic)
    atomicAdd(&out[in[i] / 2], 1);
  else
    out[in[i] / 2] += 1; // BUG scatter_plain: race-global-intrawarp
}
CASE(scatter_plain) { run(scatter<false>, 1, 32); }
CASE(scatter_atomic) { run(scatter<true>, 1, 32); } // CLEAN scatter_atomic

// A wave front: a thread reads what the one before it has written in the former round.
template <bool barrier> __global__ void wave(const int *in, int *out) {
  int i = threadIdx.x;
  for (int k = 0; k < 4; k++) {
    if (i % 32 == 0 && i >= 32) {
      int v = out[128 * k + i - 32];           // BUG wave_free: race-global-intrablock
      out[128 * (k + 1) + i] = v + in[i] + in[k]; // BUG wave_free: race-global-intrablock
    }
    if (barrier)
      __syncthreads();
  }
}
CASE(wave_free) { run(wave<false>, 1, 128); }
CASE(wave_barrier) { run(wave<true>, 1, 128); } // CLEAN wave_barrier

// Memory of the device heap that a block hands to all its threads.
template <bool barrier> __global__ void heap(const int *in, int *out) {
  __shared__ int *p;
  int i = threadIdx.x;
  if (i == 0)
    p = (int *)malloc(64 * sizeof(int));
  __syncthreads();
  p[i] = in[i]; // BUG heap_hasty: race-global-intrablock
  if (barrier)
    __syncthreads();
  out[i] = p[63 - i]; // BUG heap_hasty: race-global-intrablock
  __syncthreads();
  if (i == 0)
    free(p);
}
CASE(heap_hasty) { run(heap<false>, 1, 64); } // ALSO heap_hasty: uninit-global
CASE(heap_barrier) { run(heap<true>, 1, 64); } // CLEAN heap_barrier
