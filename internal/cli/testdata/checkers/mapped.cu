// Memory that is mapped at addresses that were reserved (cuMemMap).
// heddle cc -lcuda
#include "suite.h"

#include <cuda.h>
#include <heddle/check.h>

static void must(CUresult r) {
  if (r != CUDA_SUCCESS) {
    printf("error %d\n", r);
    exit(3);
  }
}

static const size_t piece = 2 << 20;

// Memory without an address.
struct memory {
  CUmemGenericAllocationHandle handle;
  bool held = true;
  memory() {
    CUmemAllocationProp p = {};
    p.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    p.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    must(cudaFree(0)); // makes the context
    must(cuMemCreate(&handle, piece, &p, 0)); // BUG kept: leak
  }
  void release() {
    must(cuMemRelease(handle));
    held = false;
  }
  ~memory() {
    if (held)
      release();
  }
};

// Addresses of four pieces.
struct addresses {
  CUdeviceptr at;
  addresses() { must(cuMemAddressReserve(&at, 4 * piece, 0, 0, 0)); }
  int *map(int i, const memory &m) {
    must(cuMemMap(at + i * piece, piece, 0, m.handle, 0));
    CUmemAccessDesc d = {};
    d.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    d.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    must(cuMemSetAccess(at + i * piece, piece, &d, 1));
    return (int *)(at + i * piece);
  }
  void unmap(int i, int n = 1) { must(cuMemUnmap(at + i * piece, n * piece)); }
  ~addresses() { must(cuMemAddressFree(at, 4 * piece)); }
};

__global__ void fill(int *out, int n) {
  if (threadIdx.x < n)
    out[threadIdx.x] = threadIdx.x; // BUG unmapped: oob-global
}
// Moves a row of 64.
__global__ void move(const int *in, int *out) {
  out[threadIdx.x] = in[threadIdx.x]; // BUG unset_used: uninit-global BUG unset_after_move: uninit-global BUG part_unset: uninit-global BUG tile_used: uninit-global BUG beside: uninit-global
}
// Uses the first n numbers of a row.
__global__ void sum(const int *in, int *out, int n) {
  if (threadIdx.x < n && in[threadIdx.x] > 3)
    atomicAdd(out, 1);
}

// What nobody has written, used at once.
static void first(bool filled) {
  memory m;
  addresses a;
  buffer<int> out(64);
  int *p = a.map(0, m);
  if (filled)
    fill<<<1, 64>>>(p, 64);
  move<<<1, 64>>>(p, p + 64);
  sum<<<1, 64>>>(p + 64, out, 64);
  finish();
  look(out, 1);
  a.unmap(0);
}
CASE(unset_used) { first(false); }
CASE(set_used) { first(true); } // CLEAN set_used

// A whole row is moved on, of which the half is set; then some of it is used.
static void tile(int used) {
  memory m;
  addresses a;
  buffer<int> out(64);
  int *p = a.map(2, m);
  fill<<<1, 64>>>(p, 32);
  move<<<1, 64>>>(p, p + 64);
  sum<<<1, 64>>>(p + 64, out, used);
  finish();
  look(out, 1);
  a.unmap(2);
}
CASE(tile_moved) { tile(32); } // CLEAN tile_moved
CASE(tile_used) { tile(33); }

// Contents go along when memory is mapped elsewhere, also to addresses where other memory was
// before; what is unset stays unset.
static void moves(int used) {
  memory m, other;
  addresses a;
  buffer<int> out(64);
  int *p = a.map(0, m), *q = a.map(1, other);
  fill<<<1, 64>>>(p, 32);
  move<<<1, 64>>>(p, p + 64);
  finish();
  a.unmap(0, 2);
  p = a.map(1, m);
  q = a.map(0, other);
  fill<<<1, 64>>>(q, 64);
  sum<<<1, 64>>>(p + 64, out, used);
  finish();
  look(out, 1);
  a.unmap(0);
  a.unmap(1);
}
CASE(set_after_move) { moves(32); } // CLEAN set_after_move
CASE(unset_after_move) { moves(33); }

// Other memory at the same addresses has no values yet.
static void beside_it(bool same) {
  memory m, other;
  addresses a;
  buffer<int> out(64);
  int *p = a.map(0, m);
  fill<<<1, 64>>>(p, 64);
  finish();
  a.unmap(0);
  p = a.map(0, same ? m : other);
  move<<<1, 64>>>(p, p + 64);
  sum<<<1, 64>>>(p + 64, out, 64);
  finish();
  look(out, 1);
  a.unmap(0);
}
CASE(beside) { beside_it(false); }
CASE(same_again) { beside_it(true); } // CLEAN same_again

// One memory at two addresses: what is written at one is read at the other.
CASE(alias) { // CLEAN alias
  memory m;
  addresses a;
  buffer<int> out(64);
  int *p = a.map(0, m), *q = a.map(3, m);
  fill<<<1, 64>>>(p, 64);
  move<<<1, 64>>>(q, q + 64);
  sum<<<1, 64>>>(p + 64, out, 64);
  finish();
  look(out, 1);
  a.unmap(0);
  a.unmap(3);
}
// It may have been written while it was mapped twice.
CASE(alias_ended) { // CLEAN alias_ended
  memory m;
  addresses a;
  buffer<int> out(64);
  a.map(0, m);
  int *q = a.map(3, m);
  fill<<<1, 64>>>(q, 64);
  finish();
  a.unmap(3);
  move<<<1, 64>>>((int *)a.at, (int *)a.at + 64);
  sum<<<1, 64>>>((int *)a.at + 64, out, 64);
  finish();
  look(out, 1);
  a.unmap(0);
}
// An allocator shares out memory that is mapped twice.
CASE(alias_part) { // CLEAN alias_part
  memory m;
  addresses a;
  buffer<int> out(64);
  int *p = a.map(0, m), *q = a.map(3, m);
  heddle_give(p, 512, 0);
  heddle_give(q, 512, 0);
  fill<<<1, 64>>>(q, 64);
  move<<<1, 64>>>(p, p + 64);
  sum<<<1, 64>>>(p + 64, out, 64);
  finish();
  look(out, 1);
  heddle_take(p, 512, 0);
  heddle_take(q, 512, 0);
  a.unmap(0);
  a.unmap(3);
}

// Memory whose handle is given up stays until it is unmapped, and is no leak after that.
CASE(released) { // CLEAN released
  memory m;
  addresses a;
  int *p = a.map(0, m);
  m.release();
  fill<<<1, 64>>>(p, 64);
  finish();
  a.unmap(0);
}
// A handle that is kept keeps the memory, mapped or not.
CASE(kept) {
  memory m;
  addresses a;
  fill<<<1, 64>>>(a.map(0, m), 64);
  finish();
  a.unmap(0);
  m.held = false;
}
CASE(retained) { // CLEAN retained
  memory m;
  addresses a;
  int *p = a.map(0, m);
  CUmemGenericAllocationHandle again;
  must(cuMemRetainAllocationHandle(&again, p));
  m.release();
  a.unmap(0);
  must(cuMemRelease(again));
}

// Nothing is there after the unmapping.
CASE(unmapped) {
  memory m;
  addresses a;
  int *p = a.map(1, m);
  finish();
  a.unmap(1);
  fill<<<1, 64>>>(p, 64);
  finish();
}

// Parts may lie in two pieces.
static void parts(bool filled) {
  memory m, next;
  addresses a;
  buffer<int> out(64);
  a.map(0, m);
  a.map(1, next);
  int *p = (int *)(a.at + piece) - 64;
  heddle_give(p, 512, 0);
  heddle_give(p + 128, 512, 0);
  fill<<<1, 64>>>(p, 64);
  fill<<<1, 64>>>(p + 64, filled ? 64 : 32);
  move<<<1, 64>>>(p + 64, p);
  sum<<<1, 64>>>(p, out, 64);
  finish();
  look(out, 1);
  if (filled)
    look(p, 128);
  heddle_take(p, 512, 0);
  heddle_take(p + 128, 512, 0);
  a.unmap(0, 2);
}
CASE(part_set) { parts(true); } // CLEAN part_set
CASE(part_unset) { parts(false); }
