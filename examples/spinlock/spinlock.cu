// Lanes of one warp take the same lock in turn. The lane that holds it must get through
// its critical section while its neighbours spin: this needs the independent thread
// scheduling that sm_70 and later promise.
#include "../cuda.h"

struct Account {
  u32 lock, count, sum, check;
};

static __device__ __forceinline__ void acquire(u32 *lock) {
  while (atomicCAS(lock, 0, 1) != 0) {
  }
  __threadfence();
}

static __device__ __forceinline__ void release(u32 *lock) {
  __threadfence();
  atomicExch(lock, 0);
}

// Every thread adds to the account of its block and to the common one.
extern "C" __global__ void spinlock(Account *own, Account *common, u32 rounds) {
  u32 id = blockIdx.x * blockDim.x + threadIdx.x;
#pragma unroll 1
  for (u32 r = 0; r < rounds; r++) {
    volatile Account *mine = &own[blockIdx.x];
    acquire((u32 *)&mine->lock);
    mine->count = mine->count + 1;
    mine->sum = mine->sum + id;
    mine->check = mine->check ^ (id * 2654435761u + r);
    release((u32 *)&mine->lock);
  }
  volatile Account *all = common;
  acquire((u32 *)&all->lock);
  all->count = all->count + 1;
  all->sum = all->sum + id;
  all->check = all->check ^ (id * 2654435761u);
  release((u32 *)&all->lock);
}
