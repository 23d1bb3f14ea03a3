// Groups of threads: blocks, tiles of blocks, coalesced threads, grids. Collective
// operations are in cooperative_groups/{reduce,scan,memcpy_async}.h.
#ifndef HEDDLE_COOPERATIVE_GROUPS_H
#define HEDDLE_COOPERATIVE_GROUPS_H
// Programs test this macro to see whether the header was included.
#define _COOPERATIVE_GROUPS_H_

#include "sm_90_rt.h"
#include "cuda_runtime.h"

#if defined(__CUDA__) && __cplusplus >= 201103L

#define HEDDLE_D __inline__ __attribute__((device, always_inline, nodebug))

namespace heddle_sdk {
namespace groups {

// The barrier of grids: the number of waiting blocks, and of completed barriers. Two
// concurrent cooperative kernels would share it.
static __device__ unsigned int grid_waiting, grid_passed;

static HEDDLE_D unsigned int lane() {
  unsigned int l;
  asm volatile("mov.u32 %0, %%laneid;" : "=r"(l));
  return l;
}
static HEDDLE_D unsigned int lanes_below() {
  unsigned int m;
  asm volatile("mov.u32 %0, %%lanemask_lt;" : "=r"(m));
  return m;
}
static HEDDLE_D unsigned int block_size() { return blockDim.x * blockDim.y * blockDim.z; }
static HEDDLE_D unsigned int rank_in_block() { return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x; }

// The n-th lane, from 0, in a mask.
static HEDDLE_D unsigned int nth_lane(unsigned int mask, unsigned int n) {
  if (mask == 0xffffffffu) return n;
  unsigned int at = 0;
#pragma unroll
  for (unsigned int half = 16; half > 0; half /= 2) {
    unsigned int low = __popc(mask >> at & ((1u << half) - 1));
    if (n >= low) {
      n -= low;
      at += half;
    }
  }
  return at;
}
// Bits of lanes as bits of ranks.
static HEDDLE_D unsigned int by_rank(unsigned int mask, unsigned int bits) {
  if (mask == 0xffffffffu) return bits;
  unsigned int packed = 0, rank = 0;
  for (unsigned int rest = mask; rest; rest &= rest - 1, rank++) packed |= (bits >> (__ffs((int)rest) - 1) & 1) << rank;
  return packed;
}

// Values of any trivially copyable type are exchanged between lanes word by word.
template <class T> struct words {
  static_assert(__is_trivially_copyable(T), "only plain bytes go from thread to thread");
  unsigned int w[(sizeof(T) + 3) / 4];
  HEDDLE_D words(const T &v) {
    w[sizeof(w) / 4 - 1] = 0;
    __builtin_memcpy(w, &v, sizeof(T));
  }
  template <class F> HEDDLE_D T each(F f) {
#pragma unroll
    for (unsigned int i = 0; i < sizeof(w) / 4; i++) w[i] = f(w[i]);
    alignas(T) unsigned char v[sizeof(T)];
    __builtin_memcpy(v, w, sizeof(T));
    return *(const T *)v;
  }
};
struct from_lane {
  unsigned int mask;
  int lane, width;
  HEDDLE_D unsigned int operator()(unsigned int v) const { return __shfl_sync(mask, v, lane, width); }
};
struct from_above {
  unsigned int mask, delta;
  int width;
  HEDDLE_D unsigned int operator()(unsigned int v) const { return __shfl_down_sync(mask, v, delta, width); }
};
struct from_below {
  unsigned int mask, delta;
  int width;
  HEDDLE_D unsigned int operator()(unsigned int v) const { return __shfl_up_sync(mask, v, delta, width); }
};
struct from_xor {
  unsigned int mask;
  int with, width;
  HEDDLE_D unsigned int operator()(unsigned int v) const { return __shfl_xor_sync(mask, v, with, width); }
};
template <class T> HEDDLE_D T shuffle(unsigned int mask, const T &v, unsigned int lane, int width = 32) {
  return words<T>(v).each(from_lane{mask, (int)lane, width});
}

// The shared memory of tiles with several warps: a barrier for each tile, and space for
// each warp's value.
const unsigned int largest_value = 16; // bytes
struct tile_memory {
  struct barrier {
    unsigned int waiting, passed;
  } *barriers;
  unsigned char *values;
  // Waits at a tile's barrier for all of its warps.
  HEDDLE_D void wait(unsigned int tile, unsigned int warps) const {
    __syncwarp();
    if (lane() == 0) {
      volatile unsigned int *passed = &barriers[tile].passed;
      unsigned int before = *passed;
      __threadfence_block();
      if (atomicAdd(&barriers[tile].waiting, 1u) + 1 == warps) {
        barriers[tile].waiting = 0;
        __threadfence_block();
        *passed = before + 1;
      } else {
        while (*passed == before) {
        }
      }
      __threadfence_block();
    }
    __syncwarp();
  }
};

} // namespace groups
} // namespace heddle_sdk

namespace cooperative_groups {

class thread_block;

// Any group of threads that can synchronize.
class thread_group {
 protected:
  enum kind_t { of_block, of_lanes, of_warps, of_grid };
  kind_t kind;
  unsigned int mask;                        // of_lanes
  unsigned int threads;                     // of_warps
  unsigned int meta_rank, meta_size;        // of_lanes, of_warps: its index and their number
  heddle_sdk::groups::tile_memory memory;   // of_block, of_warps
  HEDDLE_D thread_group(kind_t k, unsigned int m = 0, unsigned int n = 0, unsigned int rank = 0, unsigned int of = 1)
      : kind(k), mask(m), threads(n), meta_rank(rank), meta_size(of), memory() {}
  friend HEDDLE_D thread_group tiled_partition(const thread_group &g, unsigned int n);

 public:
  HEDDLE_D void sync() const;
  HEDDLE_D unsigned long long size() const;
  HEDDLE_D unsigned long long num_threads() const { return size(); }
  HEDDLE_D unsigned long long thread_rank() const;
  HEDDLE_D bool is_valid() const { return true; }
};

// Shared memory for tiles of more than a warp: of a block of at most n threads.
template <unsigned int n = 1024> struct block_tile_memory {
  heddle_sdk::groups::tile_memory::barrier barriers[n < 64 ? 1 : n / 64];
  alignas(16) unsigned char values[(n < 32 ? 1 : n / 32) * heddle_sdk::groups::largest_value];
};

class thread_block : public thread_group {
  template <unsigned int, class> friend class thread_block_tile;
  template <unsigned int n> friend HEDDLE_D thread_block this_thread_block(block_tile_memory<n> &m);

 public:
  struct arrival_token {};
  HEDDLE_D thread_block() : thread_group(of_block) {}
  HEDDLE_D static void sync() { __syncthreads(); }
  // The hardware's barrier has no separate arrival that a thread can wait for later.
  HEDDLE_D static arrival_token barrier_arrive() { return arrival_token(); }
  HEDDLE_D static void barrier_wait(arrival_token &&) { __syncthreads(); }
  HEDDLE_D static unsigned int thread_rank() { return heddle_sdk::groups::rank_in_block(); }
  HEDDLE_D static unsigned int size() { return heddle_sdk::groups::block_size(); }
  HEDDLE_D static unsigned int num_threads() { return size(); }
  HEDDLE_D static dim3 group_index() { return dim3(blockIdx.x, blockIdx.y, blockIdx.z); }
  HEDDLE_D static dim3 thread_index() { return dim3(threadIdx.x, threadIdx.y, threadIdx.z); }
  HEDDLE_D static dim3 group_dim() { return dim3(blockDim.x, blockDim.y, blockDim.z); }
  HEDDLE_D static dim3 dim_threads() { return group_dim(); }
};
static HEDDLE_D thread_block this_thread_block() { return thread_block(); }
template <unsigned int n> HEDDLE_D thread_block this_thread_block(block_tile_memory<n> &m) {
  thread_block b;
  b.memory.barriers = m.barriers;
  b.memory.values = m.values;
  for (unsigned int i = b.thread_rank(); i < sizeof(m.barriers) / sizeof(m.barriers[0]); i += b.size()) {
    m.barriers[i].waiting = 0;
    m.barriers[i].passed = 0;
  }
  b.sync();
  return b;
}

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
// The blocks of a cluster, which run at the same time and reach each other's shared memory.
class cluster_group {
 public:
  struct arrival_token {};
  HEDDLE_D static void sync() {
    __cluster_barrier_arrive();
    __cluster_barrier_wait();
  }
  HEDDLE_D static arrival_token barrier_arrive() {
    __cluster_barrier_arrive();
    return arrival_token();
  }
  HEDDLE_D static void barrier_wait() { __cluster_barrier_wait(); }
  HEDDLE_D static void barrier_wait(arrival_token &&) { __cluster_barrier_wait(); }
  HEDDLE_D static dim3 block_index() { return __clusterRelativeBlockIdx(); }
  HEDDLE_D static unsigned int block_rank() { return __clusterRelativeBlockRank(); }
  HEDDLE_D static dim3 dim_blocks() { return __clusterDim(); }
  HEDDLE_D static unsigned int num_blocks() { return __clusterSizeInBlocks(); }
  HEDDLE_D static unsigned int num_threads() { return num_blocks() * heddle_sdk::groups::block_size(); }
  HEDDLE_D static unsigned int size() { return num_threads(); }
  HEDDLE_D static unsigned int thread_rank() { return block_rank() * heddle_sdk::groups::block_size() + heddle_sdk::groups::rank_in_block(); }
  HEDDLE_D static dim3 thread_index() {
    dim3 b = block_index();
    return dim3(b.x * blockDim.x + threadIdx.x, b.y * blockDim.y + threadIdx.y, b.z * blockDim.z + threadIdx.z);
  }
  HEDDLE_D static dim3 dim_threads() {
    dim3 n = dim_blocks();
    return dim3(n.x * blockDim.x, n.y * blockDim.y, n.z * blockDim.z);
  }
  template <class T> HEDDLE_D static T *map_shared_rank(T *p, int rank) { return (T *)__cluster_map_shared_rank((const void *)p, (unsigned int)rank); }
  HEDDLE_D static unsigned int query_shared_rank(const void *p) { return __cluster_query_shared_rank(p); }
};
static HEDDLE_D cluster_group this_cluster() { return cluster_group(); }
#endif

class grid_group : public thread_group {
 public:
  struct arrival_token {
    unsigned int passed;
  };
  HEDDLE_D grid_group() : thread_group(of_grid) {}
  HEDDLE_D static bool is_valid() { return true; }
  HEDDLE_D static unsigned long long block_rank() { return ((unsigned long long)blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x; }
  HEDDLE_D static unsigned long long num_blocks() { return (unsigned long long)gridDim.x * gridDim.y * gridDim.z; }
  HEDDLE_D static unsigned long long size() { return num_blocks() * thread_block::size(); }
  HEDDLE_D static unsigned long long num_threads() { return size(); }
  HEDDLE_D static unsigned long long thread_rank() { return block_rank() * thread_block::size() + thread_block::thread_rank(); }
  HEDDLE_D static dim3 group_dim() { return dim3(gridDim.x, gridDim.y, gridDim.z); }
  HEDDLE_D static dim3 dim_blocks() { return group_dim(); }
  HEDDLE_D static dim3 block_index() { return dim3(blockIdx.x, blockIdx.y, blockIdx.z); }
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
  HEDDLE_D static dim3 dim_clusters() { return __clusterGridDimInClusters(); }
  HEDDLE_D static dim3 cluster_index() { return __clusterIdx(); }
  HEDDLE_D static unsigned long long num_clusters() {
    dim3 n = dim_clusters();
    return (unsigned long long)n.x * n.y * n.z;
  }
  HEDDLE_D static unsigned long long cluster_rank() {
    dim3 n = dim_clusters(), i = cluster_index();
    return ((unsigned long long)i.z * n.y + i.y) * n.x + i.x;
  }
#endif
  HEDDLE_D static arrival_token barrier_arrive() {
    using namespace heddle_sdk::groups;
    arrival_token before = {0};
    __syncthreads();
    if (rank_in_block() == 0) {
      volatile unsigned int *passed = &grid_passed;
      before.passed = *passed;
      __threadfence();
      if (atomicAdd(&grid_waiting, 1u) + 1 == num_blocks()) {
        grid_waiting = 0;
        __threadfence();
        *passed = before.passed + 1;
      }
    }
    return before;
  }
  HEDDLE_D static void barrier_wait(arrival_token &&before) {
    using namespace heddle_sdk::groups;
    if (rank_in_block() == 0) {
      volatile unsigned int *passed = &grid_passed;
      while (*passed == before.passed) {
      }
      __threadfence();
    }
    __syncthreads();
  }
  HEDDLE_D static void sync() { barrier_wait(barrier_arrive()); }
};
static HEDDLE_D grid_group this_grid() { return grid_group(); }

// Grids of several devices: here there is only one device.
class multi_grid_group : public grid_group {
 public:
  HEDDLE_D static unsigned int grid_rank() { return 0; }
  HEDDLE_D static unsigned int num_grids() { return 1; }
};
static HEDDLE_D multi_grid_group this_multi_grid() { return multi_grid_group(); }

// Coalesced threads of a warp; ranks increase with the lanes.
class coalesced_group : public thread_group {
  HEDDLE_D unsigned int lane_of(unsigned int rank) const { return heddle_sdk::groups::nth_lane(mask, rank); }
  friend HEDDLE_D coalesced_group coalesced_threads();
  friend HEDDLE_D coalesced_group tiled_partition(const coalesced_group &g, unsigned int n);
  template <class Group> friend HEDDLE_D coalesced_group binary_partition(const Group &g, bool p);
  template <class Group, class Label> friend HEDDLE_D coalesced_group labeled_partition(const Group &g, Label label);

 public:
  HEDDLE_D coalesced_group(unsigned int m, unsigned int rank = 0, unsigned int of = 1) : thread_group(of_lanes, m, 0, rank, of) {}
  HEDDLE_D void sync() const { __syncwarp(mask); }
  HEDDLE_D unsigned int size() const { return __popc(mask); }
  HEDDLE_D unsigned int num_threads() const { return size(); }
  HEDDLE_D unsigned int thread_rank() const { return __popc(mask & heddle_sdk::groups::lanes_below()); }
  HEDDLE_D unsigned int meta_group_rank() const { return meta_rank; }
  HEDDLE_D unsigned int meta_group_size() const { return meta_size; }
  HEDDLE_D int any(int p) const { return __any_sync(mask, p); }
  HEDDLE_D int all(int p) const { return __all_sync(mask, p); }
  HEDDLE_D unsigned int ballot(int p) const { return heddle_sdk::groups::by_rank(mask, __ballot_sync(mask, p)); }
  template <class T> HEDDLE_D T shfl(T v, unsigned int rank) const { return heddle_sdk::groups::shuffle(mask, v, lane_of(rank % size())); }
  // Beyond the last or first thread, a thread gets its own value.
  template <class T> HEDDLE_D T shfl_down(T v, unsigned int delta) const {
    unsigned int from = thread_rank() + delta;
    return heddle_sdk::groups::shuffle(mask, v, from < size() ? lane_of(from) : heddle_sdk::groups::lane());
  }
  template <class T> HEDDLE_D T shfl_up(T v, unsigned int delta) const {
    unsigned int rank = thread_rank();
    return heddle_sdk::groups::shuffle(mask, v, rank >= delta ? lane_of(rank - delta) : heddle_sdk::groups::lane());
  }
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 700
  template <class T> HEDDLE_D unsigned int match_any(T v) const { return heddle_sdk::groups::by_rank(mask, __match_any_sync(mask, v)); }
  template <class T> HEDDLE_D unsigned int match_all(T v, int &p) const {
    return heddle_sdk::groups::by_rank(mask, __match_all_sync(mask, v, &p));
  }
#endif
};
HEDDLE_D coalesced_group coalesced_threads() { return coalesced_group(__activemask()); }

template <unsigned int n, class Parent = void> class thread_block_tile;

// A tile of at most a warp: n consecutive threads, where n is a power of two.
template <unsigned int n> class heddle_warp_tile : public thread_group {
 protected:
  HEDDLE_D unsigned int first() const { return heddle_sdk::groups::lane() & ~(n - 1); }
  HEDDLE_D heddle_warp_tile(unsigned int rank, unsigned int of)
      : thread_group(of_lanes, n == 32 ? 0xffffffffu : ((1u << (n & 31)) - 1) << (heddle_sdk::groups::lane() & ~(n - 1)), n, rank, of) {}
  template <class Group> friend HEDDLE_D coalesced_group binary_partition(const Group &g, bool p);
  template <class Group, class Label> friend HEDDLE_D coalesced_group labeled_partition(const Group &g, Label label);

 public:
  HEDDLE_D void sync() const { __syncwarp(mask); }
  HEDDLE_D static constexpr unsigned int size() { return n; }
  HEDDLE_D static constexpr unsigned int num_threads() { return n; }
  HEDDLE_D unsigned int thread_rank() const { return heddle_sdk::groups::lane() & (n - 1); }
  HEDDLE_D unsigned int meta_group_rank() const { return meta_rank; }
  HEDDLE_D unsigned int meta_group_size() const { return meta_size; }
  template <class T> HEDDLE_D T shfl(T v, int rank) const { return heddle_sdk::groups::shuffle(mask, v, (unsigned int)rank, n); }
  template <class T> HEDDLE_D T shfl_up(T v, unsigned int delta) const {
    return heddle_sdk::groups::words<T>(v).each(heddle_sdk::groups::from_below{mask, delta, n});
  }
  template <class T> HEDDLE_D T shfl_down(T v, unsigned int delta) const {
    return heddle_sdk::groups::words<T>(v).each(heddle_sdk::groups::from_above{mask, delta, n});
  }
  template <class T> HEDDLE_D T shfl_xor(T v, unsigned int with) const {
    return heddle_sdk::groups::words<T>(v).each(heddle_sdk::groups::from_xor{mask, (int)with, n});
  }
  HEDDLE_D int any(int p) const { return __any_sync(mask, p); }
  HEDDLE_D int all(int p) const { return __all_sync(mask, p); }
  HEDDLE_D unsigned int ballot(int p) const { return __ballot_sync(mask, p) >> first(); }
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 700
  template <class T> HEDDLE_D unsigned int match_any(T v) const { return __match_any_sync(mask, v) >> first(); }
  template <class T> HEDDLE_D unsigned int match_all(T v, int &p) const { return __match_all_sync(mask, v, &p) >> first(); }
#endif
};

// A tile of several whole warps, which synchronise through shared memory.
template <unsigned int n> class heddle_block_tile : public thread_group {
 protected:
  HEDDLE_D heddle_block_tile(unsigned int rank, unsigned int of, heddle_sdk::groups::tile_memory m)
      : thread_group(of_warps, 0, n, rank, of) {
    memory = m;
  }

 public:
  HEDDLE_D void sync() const { memory.wait(meta_rank, n / 32); }
  HEDDLE_D static constexpr unsigned int size() { return n; }
  HEDDLE_D static constexpr unsigned int num_threads() { return n; }
  HEDDLE_D unsigned int thread_rank() const { return heddle_sdk::groups::rank_in_block() & (n - 1); }
  HEDDLE_D unsigned int meta_group_rank() const { return meta_rank; }
  HEDDLE_D unsigned int meta_group_size() const { return meta_size; }
  // The space for the value of one of the tile's warps, or of all of them.
  template <class T> HEDDLE_D T *heddle_values() const {
    static_assert(sizeof(T) <= heddle_sdk::groups::largest_value, "tiles of several warps exchange at most 16 bytes a thread");
    return (T *)(memory.values + meta_rank * (n / 32) * heddle_sdk::groups::largest_value);
  }
  HEDDLE_D unsigned int heddle_warp() const { return thread_rank() / 32; }
  template <class T> HEDDLE_D T shfl(T v, int rank) const {
    if ((unsigned int)rank == thread_rank()) *heddle_values<T>() = v;
    sync();
    T r = *heddle_values<T>();
    sync();
    return r;
  }
  HEDDLE_D int any(int p) const {
    int mine = __any_sync(0xffffffffu, p);
    if (heddle_sdk::groups::lane() == 0) heddle_values<int>()[heddle_warp()] = mine;
    sync();
    int r = 0;
    for (unsigned int i = 0; i < n / 32; i++) r |= heddle_values<int>()[i];
    sync();
    return r;
  }
  HEDDLE_D int all(int p) const { return !any(!p); }
};

namespace heddle_tile {
template <unsigned int n, bool whole> struct base { using type = heddle_warp_tile<n>; };
template <unsigned int n> struct base<n, true> { using type = heddle_block_tile<n>; };
} // namespace heddle_tile

// A tile of a group of unknown type.
template <unsigned int n> class thread_block_tile<n, void> : public heddle_tile::base<n, (n > 32)>::type {
  using base = typename heddle_tile::base<n, (n > 32)>::type;

 protected:
  static_assert(n >= 1 && n <= 1024 && (n & (n - 1)) == 0, "a tile has a power of two of threads, at most 1024");
  HEDDLE_D thread_block_tile(unsigned int rank, unsigned int of) : base(rank, of) {}
  HEDDLE_D thread_block_tile(unsigned int rank, unsigned int of, heddle_sdk::groups::tile_memory m) : base(rank, of, m) {}
};

template <unsigned int n, class Parent> class thread_block_tile : public thread_block_tile<n, void> {
  HEDDLE_D explicit thread_block_tile(const Parent &g)
      : thread_block_tile<n, void>((unsigned int)(g.thread_rank() / n), (unsigned int)((g.size() + n - 1) / n)) {}
  template <unsigned int m, class P> friend HEDDLE_D thread_block_tile<m, P> tiled_partition(const P &g);
};

template <unsigned int n> class thread_block_tile<n, thread_block> : public thread_block_tile<n, void> {
  struct warp {};
  struct warps {};
  HEDDLE_D thread_block_tile(const thread_block &g, warp) : thread_block_tile<n, void>(g.thread_rank() / n, (g.size() + n - 1) / n) {}
  HEDDLE_D thread_block_tile(const thread_block &g, warps) : thread_block_tile<n, void>(g.thread_rank() / n, g.size() / n, g.memory) {}
  template <bool whole, class A, class B> struct choose { using type = A; };
  template <class A, class B> struct choose<true, A, B> { using type = B; };
  HEDDLE_D explicit thread_block_tile(const thread_block &g) : thread_block_tile(g, typename choose<(n > 32), warp, warps>::type()) {}
  template <unsigned int m, class P> friend HEDDLE_D thread_block_tile<m, P> tiled_partition(const P &g);
};

template <unsigned int n, class Parent> HEDDLE_D thread_block_tile<n, Parent> tiled_partition(const Parent &g) {
  return thread_block_tile<n, Parent>(g);
}

// Tiles whose size is known only at run time: at most 32, a power of two.
HEDDLE_D coalesced_group tiled_partition(const coalesced_group &g, unsigned int n) {
  unsigned int rank = g.thread_rank(), first = rank & ~(n - 1), mask = 0;
  for (unsigned int r = first; r < first + n && r < g.size(); r++) mask |= 1u << g.lane_of(r);
  return coalesced_group(mask, rank / n, (g.size() + n - 1) / n);
}
HEDDLE_D thread_group tiled_partition(const thread_group &g, unsigned int n) {
  if (g.kind == thread_group::of_lanes) return tiled_partition(coalesced_group(g.mask), n);
  unsigned int rank = heddle_sdk::groups::rank_in_block();
  unsigned int mask = n >= 32 ? 0xffffffffu : ((1u << n) - 1) << (heddle_sdk::groups::lane() & ~(n - 1));
  return thread_group(thread_group::of_lanes, mask, n, rank / n, (heddle_sdk::groups::block_size() + n - 1) / n);
}

// The threads of a group of at most a warp with the same p, and those with the same
// label.
template <class Group> HEDDLE_D coalesced_group binary_partition(const Group &g, bool p) {
  unsigned int with = __ballot_sync(g.mask, p);
  return p ? coalesced_group(with, 1, 2) : coalesced_group(g.mask & ~with, 0, 2);
}
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 700
template <class Group, class Label> HEDDLE_D coalesced_group labeled_partition(const Group &g, Label label) {
  unsigned int same = sizeof(Label) <= 4 ? __match_any_sync(g.mask, (unsigned int)label) : __match_any_sync(g.mask, (unsigned long long)label);
  // Groups are counted by their first lanes.
  unsigned int first = __ffs((int)same) - 1;
  unsigned int firsts = __ballot_sync(g.mask, first == heddle_sdk::groups::lane());
  return coalesced_group(same, __popc(firsts & ((1u << first) - 1)), __popc(firsts));
}
#endif

HEDDLE_D void thread_group::sync() const {
  if (kind == of_block) __syncthreads();
  else if (kind == of_lanes) __syncwarp(mask);
  else if (kind == of_warps) memory.wait(meta_rank, threads / 32);
  else grid_group::sync();
}
HEDDLE_D unsigned long long thread_group::size() const {
  return kind == of_block   ? thread_block::size()
         : kind == of_lanes ? (unsigned long long)__popc(mask)
         : kind == of_warps ? threads
                            : grid_group::size();
}
HEDDLE_D unsigned long long thread_group::thread_rank() const {
  return kind == of_block   ? thread_block::thread_rank()
         : kind == of_lanes ? (unsigned long long)__popc(mask & heddle_sdk::groups::lanes_below())
         : kind == of_warps ? heddle_sdk::groups::rank_in_block() & (threads - 1)
                            : grid_group::thread_rank();
}

template <class Group> HEDDLE_D void sync(const Group &g) { g.sync(); }
template <class Group> HEDDLE_D void synchronize(const Group &g) { g.sync(); }
template <class Group> HEDDLE_D auto thread_rank(const Group &g) -> decltype(g.thread_rank()) { return g.thread_rank(); }
template <class Group> HEDDLE_D auto group_size(const Group &g) -> decltype(g.size()) { return g.size(); }

// One thread of a group executes the function.
template <class Group, class F, class... Args> HEDDLE_D void invoke_one(const Group &g, F &&f, Args &&...args) {
  if (g.thread_rank() == 0) f(args...);
}
template <class Group, class F, class... Args>
HEDDLE_D auto invoke_one_broadcast(const Group &g, F &&f, Args &&...args) -> decltype(f(args...)) {
  decltype(f(args...)) r = decltype(f(args...))();
  if (g.thread_rank() == 0) r = f(args...);
  return g.shfl(r, 0);
}

} // namespace cooperative_groups

#undef HEDDLE_D

#endif

#endif
