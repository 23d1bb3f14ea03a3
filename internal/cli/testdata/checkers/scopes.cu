// Scopes and fences: flags, locks, acquire and release.
#include "suite.h"

#include <cuda/atomic>
#include <cuda/latch>
#include <cuda/semaphore>

using cuda::std::memory_order_acq_rel;
using cuda::std::memory_order_acquire;
using cuda::std::memory_order_relaxed;
using cuda::std::memory_order_release;
template <class T> using device_ref = cuda::atomic_ref<T, cuda::thread_scope_device>;
template <class T> using block_ref = cuda::atomic_ref<T, cuda::thread_scope_block>;

// out[0] is a flag, out[1] what it is about; block 0 hands it to block 1.
template <cuda::std::memory_order store, cuda::std::memory_order load> __global__ void pass(const int *in, int *out) {
  device_ref<int> flag(out[0]);
  if (blockIdx.x == 0) {
    out[1] = in[7]; // BUG pass_relaxed: race-global-interblock BUG pass_release: race-global-interblock BUG pass_acquire: race-global-interblock
    flag.store(1, store);
  } else {
    while (flag.load(load) == 0)
      ;
    out[2] = out[1]; // BUG pass_relaxed: race-global-interblock BUG pass_release: race-global-interblock BUG pass_acquire: race-global-interblock
  }
}
CASE(pass_relaxed) { run(pass<memory_order_relaxed, memory_order_relaxed>, 2, 1); }
CASE(pass_release) { run(pass<memory_order_release, memory_order_relaxed>, 2, 1); }
CASE(pass_acquire) { run(pass<memory_order_relaxed, memory_order_acquire>, 2, 1); }
CASE(pass_both) { run(pass<memory_order_release, memory_order_acquire>, 2, 1); } // CLEAN pass_both

// The same with the scope of a block, which two blocks do not share.
template <bool device> __global__ void scope(const int *in, int *out) {
  if (blockIdx.x == 0) {
    out[1] = in[7]; // BUG scope_block: race-global-interblock
    if (device)
      device_ref<int>(out[0]).store(1, memory_order_release);
    else
      block_ref<int>(out[0]).store(1, memory_order_release); // ALSO scope_block: race-global-interblock
  } else {
    if (device)
      while (device_ref<int>(out[0]).load(memory_order_acquire) == 0)
        ;
    else
      while (block_ref<int>(out[0]).load(memory_order_acquire) == 0)
        ;
    out[2] = out[1]; // BUG scope_block: race-global-interblock
  }
}
CASE(scope_block) { run(scope<false>, 2, 1); }
CASE(scope_device) { run(scope<true>, 2, 1); } // CLEAN scope_device

// Within a block its own scope is enough, relaxed is not.
template <bool release> __global__ void warps(const int *in, int *out) {
  block_ref<int> flag(out[0]);
  if (threadIdx.x == 0) {
    out[1] = in[7]; // BUG warps_relaxed: race-global-intrablock
    flag.store(1, release ? memory_order_release : memory_order_relaxed);
  } else if (threadIdx.x == 32) {
    while (flag.load(release ? memory_order_acquire : memory_order_relaxed) == 0)
      ;
    out[2] = out[1]; // BUG warps_relaxed: race-global-intrablock
  }
}
CASE(warps_relaxed) { run(warps<false>, 1, 64); }
CASE(warps_release) { run(warps<true>, 1, 64); } // CLEAN warps_release

// A volatile flag with fences on both sides, on one, of too narrow a scope.
template <int writer, int reader> __global__ void fences(const int *in, int *out) {
  volatile int *flag = out;
  if (blockIdx.x == 0) {
    out[1] = in[7]; // BUG fences_none: race-global-interblock BUG fences_writer: race-global-interblock BUG fences_reader: race-global-interblock BUG fences_block: race-global-interblock
    if (writer == 1)
      __threadfence();
    if (writer == 2)
      __threadfence_block();
    *flag = 1;
  } else {
    while (*flag == 0)
      ;
    if (reader == 1)
      __threadfence();
    if (reader == 2)
      __threadfence_block();
    out[2] = out[1]; // BUG fences_none: race-global-interblock BUG fences_writer: race-global-interblock BUG fences_reader: race-global-interblock BUG fences_block: race-global-interblock
  }
}
CASE(fences_none) { run(fences<0, 0>, 2, 1); }
CASE(fences_writer) { run(fences<1, 0>, 2, 1); }
CASE(fences_reader) { run(fences<0, 1>, 2, 1); }
CASE(fences_block) { run(fences<2, 2>, 2, 1); }
CASE(fences_both) { run(fences<1, 1>, 2, 1); } // CLEAN fences_both

// What older headers make of cuda::atomic: membar and volatile accesses.
template <bool acquire> __global__ void old_headers(const int *in, int *out) {
  if (blockIdx.x == 0) {
    out[1] = in[7]; // BUG old_relaxed: race-global-interblock
    asm volatile("membar.gl; st.volatile.global.s32 [%0], 1;" ::"l"(__cvta_generic_to_global(out)) : "memory");
  } else {
    int seen;
    do
      asm volatile("ld.volatile.global.s32 %0, [%1];" : "=r"(seen) : "l"(__cvta_generic_to_global(out)) : "memory");
    while (!seen);
    if (acquire)
      asm volatile("membar.gl;" ::: "memory");
    out[2] = out[1]; // BUG old_relaxed: race-global-interblock
  }
}
CASE(old_relaxed) { run(old_headers<false>, 2, 1); }
CASE(old_acquire) { run(old_headers<true>, 2, 1); } // CLEAN old_acquire

// Two volatile accesses are strong in PTX, so they do not race; a plain one beside them does.
template <bool plain> __global__ void beside(const int *in, int *out) {
  volatile int *v = out;
  if (blockIdx.x == 0) {
    if (plain)
      out[0] = in[7]; // BUG beside_plain: race-global-interblock
    else
      v[0] = in[7];
  } else {
    out[1] = v[0]; // BUG beside_plain: race-global-interblock
  }
}
CASE(beside_plain) { run(beside<true>, 2, 1); }
CASE(beside_volatile) { run(beside<false>, 2, 1); } // CLEAN beside_volatile

// A flag that is set by an exchange.
template <bool fence> __global__ void exchange(const int *in, int *out) {
  if (blockIdx.x == 0) {
    out[1] = in[7]; // BUG exchange_bare: race-global-interblock
    if (fence)
      __threadfence();
    atomicExch(out, 1);
  } else {
    while (atomicCAS(out, 1, 2) != 1)
      ;
    if (fence)
      __threadfence();
    out[2] = out[1]; // BUG exchange_bare: race-global-interblock
  }
}
CASE(exchange_bare) { run(exchange<false>, 2, 1); }
CASE(exchange_fence) { run(exchange<true>, 2, 1); } // CLEAN exchange_fence

// Locks: out[0] is free (0) or taken, out[1] is what it guards.
template <int kind> __global__ void lock(const int *in, int *out) {
  device_ref<int> flag(out[0]);
  int zero = 0;
  if (kind < 3) {
    while (atomicCAS(out, 0, 1) != 0)
      ;
    if (kind == 1)
      __threadfence();
    if (kind == 2)
      __threadfence_block();
  } else {
    while (!flag.compare_exchange_weak(zero, 1, kind == 4 ? memory_order_acquire : memory_order_relaxed))
      zero = 0;
  }
  out[1] += in[1]; // BUG lock_bare: race-global-interblock BUG lock_block: race-global-interblock BUG lock_relaxed: race-global-interblock
  if (kind == 1)
    __threadfence();
  if (kind == 2)
    __threadfence_block();
  if (kind < 3)
    atomicExch(out, 0);
  else
    flag.store(0, memory_order_release);
}
CASE(lock_bare) { run(lock<0>, 3, 1); }
CASE(lock_block) { run(lock<2>, 3, 1); }
CASE(lock_relaxed) { run(lock<3>, 3, 1); }
CASE(lock_fence) { run(lock<1>, 3, 1); }   // CLEAN lock_fence
CASE(lock_acquire) { run(lock<4>, 3, 1); } // CLEAN lock_acquire

// Locks for each of two elements: taking the wrong one guards nothing.
template <bool right> __global__ void locks(const int *in, int *out) {
  int mine = blockIdx.x % 2, taken = right ? 0 : mine;
  device_ref<int> flag(out[taken]);
  while (flag.exchange(1, memory_order_acquire) != 0)
    ;
  out[2] += in[1]; // BUG locks_wrong: race-global-interblock
  flag.store(0, memory_order_release);
}
CASE(locks_wrong) { run(locks<false>, 4, 1); }
CASE(locks_right) { run(locks<true>, 4, 1); } // CLEAN locks_right

// A lock that serves in turn: out[0] gives numbers, out[1] is the one served.
template <bool release> __global__ void ticket(const int *in, int *out) {
  device_ref<int> next(out[0]), served(out[1]);
  int mine = next.fetch_add(1, memory_order_relaxed);
  while (served.load(memory_order_acquire) != mine)
    ;
  out[2] += in[1]; // BUG ticket_relaxed: race-global-interblock
  served.store(mine + 1, release ? memory_order_release : memory_order_relaxed);
}
CASE(ticket_relaxed) { run(ticket<false>, 3, 1); }
CASE(ticket_release) { run(ticket<true>, 3, 1); } // CLEAN ticket_release

// Atomic operations whose scope is the block.
template <bool device> __global__ void count(const int *in, int *out) {
  if (device)
    atomicAdd(out, in[1]);
  else
    atomicAdd_block(out, in[1]); // BUG count_block: race-global-interblock
}
CASE(count_block) { run(count<false>, 2, 32); }
CASE(count_device) { run(count<true>, 2, 32); }     // CLEAN count_device
CASE(count_one_block) { run(count<false>, 1, 64); } // CLEAN count_one_block

// Two sizes at one address.
template <bool same> __global__ void sizes(const int *in, int *out) {
  if (blockIdx.x == 0)
    atomicAdd((unsigned long long *)out, 1ULL); // BUG sizes_mixed: race-global-interblock
  else if (same)
    atomicAdd((unsigned long long *)out, (unsigned long long)in[1] << 32);
  else
    atomicAdd(out + 1, in[1]); // BUG sizes_mixed: race-global-interblock
}
CASE(sizes_mixed) { run(sizes<false>, 2, 1); }
CASE(sizes_same) { run(sizes<true>, 2, 1); } // CLEAN sizes_same

// From block 0 by block 1 to block 2.
template <bool release> __global__ void relay(const int *in, int *out) {
  device_ref<int> a(out[0]), b(out[1]);
  if (blockIdx.x == 0) {
    out[2] = in[7]; // BUG relay_relaxed: race-global-interblock
    a.store(1, memory_order_release);
  } else if (blockIdx.x == 1) {
    while (a.load(release ? memory_order_acquire : memory_order_relaxed) == 0)
      ;
    b.store(1, memory_order_release);
  } else {
    while (b.load(memory_order_acquire) == 0)
      ;
    out[3] = out[2]; // BUG relay_relaxed: race-global-interblock
  }
}
CASE(relay_relaxed) { run(relay<false>, 3, 1); }
CASE(relay_acquire) { run(relay<true>, 3, 1); } // CLEAN relay_acquire

// A chain of atomic operations carries a release on, a plain exchange by a third as well.
template <bool chain> __global__ void chained(const int *in, int *out) {
  device_ref<int> flag(out[0]);
  if (blockIdx.x == 0) {
    out[1] = in[7]; // BUG chained_store: race-global-interblock
    flag.store(1, memory_order_release);
  } else if (blockIdx.x == 1) {
    while (flag.load(memory_order_relaxed) != 1)
      ;
    if (chain)
      flag.fetch_add(1, memory_order_relaxed);
    else
      flag.store(2, memory_order_relaxed);
  } else {
    while (flag.load(memory_order_acquire) != 2)
      ;
    out[2] = out[1]; // BUG chained_store: race-global-interblock
  }
}
CASE(chained_store) { run(chained<false>, 3, 1); }
CASE(chained_add) { run(chained<true>, 3, 1); } // CLEAN chained_add

// One thread hands over what its whole block has written, to a whole block.
template <bool before, bool after> __global__ void teams(const int *in, int *out) {
  int i = threadIdx.x;
  device_ref<int> flag(out[0]);
  if (blockIdx.x == 0) {
    out[64 + i] = in[i]; // BUG teams_before: race-global-interblock BUG teams_after: race-global-interblock
    if (before)
      __syncthreads();
    if (i == 0)
      flag.store(1, memory_order_release);
  } else {
    if (after ? i == 0 : i < 32)
      while (flag.load(memory_order_acquire) == 0)
        ;
    if (after)
      __syncthreads();
    if (!before || after || i >= 32)
      out[128 + i] = out[64 + i]; // BUG teams_before: race-global-interblock BUG teams_after: race-global-interblock
  }
}
CASE(teams_before) { run(teams<false, true>, 2, 64); }
CASE(teams_after) { run(teams<true, false>, 2, 64); }
CASE(teams_both) { run(teams<true, true>, 2, 64); } // CLEAN teams_both

// Fences in place of orders: those of cuda::atomic_thread_fence.
template <bool device> __global__ void apart(const int *in, int *out) {
  device_ref<int> flag(out[0]);
  if (blockIdx.x == 0) {
    out[1] = in[7]; // BUG apart_block: race-global-interblock
    cuda::atomic_thread_fence(memory_order_release, device ? cuda::thread_scope_device : cuda::thread_scope_block);
    flag.store(1, memory_order_relaxed);
  } else {
    while (flag.load(memory_order_relaxed) == 0)
      ;
    cuda::atomic_thread_fence(memory_order_acquire, device ? cuda::thread_scope_device : cuda::thread_scope_block);
    out[2] = out[1]; // BUG apart_block: race-global-interblock
  }
}
CASE(apart_block) { run(apart<false>, 2, 1); }
CASE(apart_device) { run(apart<true>, 2, 1); } // CLEAN apart_device

// The reader looks at the flag once, and goes on whatever it saw. It is block 0, which runs first.
template <bool looks> __global__ void impatient(const int *in, int *out) {
  device_ref<int> flag(out[0]);
  if (blockIdx.x == 1) {
    out[1] = in[7]; // BUG impatient_blind: race-global-interblock
    flag.store(1, memory_order_release);
  } else {
    bool ready = flag.load(memory_order_acquire) == 1;
    if (!looks || ready)
      out[2] = out[1]; // BUG impatient_blind: race-global-interblock
  }
}
CASE(impatient_blind) { run(impatient<false>, 2, 1); }
CASE(impatient_looks) { run(impatient<true>, 2, 1); } // CLEAN impatient_looks

// A writer that changes a number twice around its data: the data must be atomic as well.
template <bool atomic> __global__ void sequence(const int *in, int *out) {
  device_ref<int> number(out[0]), data(out[1]);
  if (blockIdx.x == 1) {
    number.store(1, memory_order_relaxed);
    cuda::atomic_thread_fence(memory_order_release, cuda::thread_scope_device);
    if (atomic)
      data.store(in[7], memory_order_relaxed);
    else
      out[1] = in[7]; // BUG sequence_plain: race-global-interblock
    number.store(2, memory_order_release);
  } else {
    int before = number.load(memory_order_acquire);
    int v = atomic ? data.load(memory_order_relaxed) : out[1]; // BUG sequence_plain: race-global-interblock
    cuda::atomic_thread_fence(memory_order_acquire, cuda::thread_scope_device);
    if (number.load(memory_order_relaxed) == before)
      out[2] = v;
  }
}
CASE(sequence_plain) { run(sequence<false>, 2, 1); }
CASE(sequence_atomic) { run(sequence<true>, 2, 1); } // CLEAN sequence_atomic

// A latch of the program: data before count_down, and after wait or before it.
__device__ cuda::latch<cuda::thread_scope_device> gate(2);
template <bool waits> __global__ void latched(const int *in, int *out) {
  out[blockIdx.x] = in[blockIdx.x]; // BUG latched_open: race-global-interblock
  gate.count_down();
  if (waits)
    gate.wait();
  out[2 + blockIdx.x] = out[1 - blockIdx.x]; // BUG latched_open: race-global-interblock
}
CASE(latched_open) { run(latched<false>, 2, 1); }
CASE(latched_waits) { run(latched<true>, 2, 1); } // CLEAN latched_waits

// A semaphore with one place, or with two.
__device__ cuda::counting_semaphore<cuda::thread_scope_device, 4> places(1), more(2);
template <bool one> __global__ void guarded(const int *in, int *out) {
  if (one)
    places.acquire();
  else
    more.acquire();
  if (!one) // until both are inside
    for (atomicAdd(&out[1], 1); *(volatile int *)&out[1] < 2;)
      ;
  out[0] += in[1]; // BUG guarded_two: race-global-interblock
  if (one)
    places.release();
  else
    more.release();
}
CASE(guarded_two) { run(guarded<false>, 2, 1); }
CASE(guarded_one) { run(guarded<true>, 4, 1); } // CLEAN guarded_one

// Shared memory has flags as well.
template <bool release> __global__ void in_shared(const int *in, int *out) {
  __shared__ int ready, data;
  if (threadIdx.x == 0)
    ready = 0;
  __syncthreads();
  block_ref<int> flag(ready);
  if (threadIdx.x == 0) {
    data = in[7]; // BUG in_shared_relaxed: race-shared-interwarp
    flag.store(1, release ? memory_order_release : memory_order_relaxed);
  } else if (threadIdx.x == 32) {
    while (flag.load(release ? memory_order_acquire : memory_order_relaxed) == 0)
      ;
    out[0] = data; // BUG in_shared_relaxed: race-shared-interwarp
  }
}
CASE(in_shared_relaxed) { run(in_shared<false>, 1, 64); }
CASE(in_shared_release) { run(in_shared<true>, 1, 64); } // CLEAN in_shared_release

// Decoupled look-back by cache operators: PTX gives them no order, fences beside them do. out[0..3] are
// the flags of the blocks, out[4..7] their sums, out[8..11] the sums up to them.
__device__ static inline int get(const int *p) {
  int v;
  asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(v) : "l"(p) : "memory"); // BUG look_back_plain: race-global-interblock
  return v;
}
__device__ static inline void put(int *p, int v) { asm volatile("st.global.cg.u32 [%0], %1;" ::"l"(p), "r"(v) : "memory"); }

template <bool release, bool acquire> __global__ void look_back(const int *in, int *out) {
  int b = blockIdx.x, sum = in[b];
  out[4 + b] = sum; // BUG look_back_bare: race-global-interblock BUG look_back_release: race-global-interblock BUG look_back_acquire: race-global-interblock
  if (release)
    __threadfence();
  put(out + b, 1);
  for (int i = b - 1; i >= 0; i--) {
    while (get(out + i) == 0)
      ;
    if (acquire)
      __threadfence();
    sum += out[4 + i]; // BUG look_back_bare: race-global-interblock BUG look_back_release: race-global-interblock BUG look_back_acquire: race-global-interblock
  }
  out[8 + b] = sum;
}
CASE(look_back_bare) { run(look_back<false, false>, 4, 1); }
CASE(look_back_release) { run(look_back<true, false>, 4, 1); }
CASE(look_back_acquire) { run(look_back<false, true>, 4, 1); }
CASE(look_back_fences) { run(look_back<true, true>, 4, 1); } // CLEAN look_back_fences

// The sum and its flag in one word, as CUB's scans have it: nothing else needs an order.
__global__ void look_back_word(const int *in, int *out) {
  int b = blockIdx.x, sum = in[b];
  put(out + b, 2 * sum + 1);
  for (int i = b - 1; i >= 0; i--) {
    int v;
    while ((v = get(out + i)) == 0)
      ;
    sum += v / 2;
  }
  out[8 + b] = sum;
}
CASE(look_back_packed) { run(look_back_word, 4, 1); } // CLEAN look_back_packed

// A plain store of the flag.
__global__ void look_back_flag(const int *in, int *out) {
  if (blockIdx.x == 0) {
    out[0] = in[5]; // BUG look_back_plain: race-global-interblock
  } else {
    while (get(out) == 0)
      ;
    out[1] = 1;
  }
}
CASE(look_back_plain) { run(look_back_flag, 2, 1); }
