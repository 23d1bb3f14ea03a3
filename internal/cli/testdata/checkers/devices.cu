// The order of work on two devices. Each has a default stream of its own.
// heddle check --devices 2
#include "suite.h"

static __global__ void set(int *p, int n) { p[threadIdx.x] = n; } // BUG default_free: race-streams
static __global__ void add(int *p) { p[threadIdx.x]++; } // BUG default_free: race-streams

// Two devices that access each other's memory.
struct pair {
  int *mine, *other;
  pair() {
    for (int d = 0; d < 2; d++) {
      must(cudaSetDevice(d));
      must(cudaDeviceEnablePeerAccess(1 - d, 0));
      must(cudaMalloc(d ? &other : &mine, 128));
      must(cudaMemset(d ? other : mine, 0, 128));
      must(cudaDeviceSynchronize());
    }
    must(cudaSetDevice(0));
  }
  ~pair() {
    for (int d = 0; d < 2; d++) {
      must(cudaSetDevice(d));
      must(cudaDeviceSynchronize());
    }
    cudaFree(mine);
    cudaFree(other);
    must(cudaSetDevice(0));
  }
};

// Kernels on the default streams of both devices, at one memory.
static void defaults(bool sync) {
  pair p;
  set<<<1, 32>>>(p.mine, 1);
  if (sync)
    must(cudaDeviceSynchronize());
  must(cudaSetDevice(1));
  add<<<1, 32>>>(p.mine);
}
CASE(default_free) { defaults(false); }
CASE(default_sync) { defaults(true); } // CLEAN default_sync

// Each device with memory of its own.
CASE(default_own) { // CLEAN default_own
  pair p;
  set<<<1, 32>>>(p.mine, 1);
  must(cudaSetDevice(1));
  add<<<1, 32>>>(p.other);
}

static __global__ void set_first(int *p) { p[threadIdx.x] = 1; } // BUG sync_wrong: race-streams
static __global__ void add_second(int *p) { p[threadIdx.x]++; } // BUG sync_wrong: race-streams

// The host waits for one of the devices.
static void waits(int device) {
  pair p;
  set_first<<<1, 32>>>(p.mine);
  must(cudaSetDevice(device));
  must(cudaDeviceSynchronize());
  must(cudaSetDevice(1));
  add_second<<<1, 32>>>(p.mine);
}
CASE(sync_wrong) { waits(1); }
CASE(sync_right) { waits(0); } // CLEAN sync_right

static __global__ void event_set(int *p) { p[threadIdx.x] = 1; } // BUG event_early: race-streams
static __global__ void event_add(int *p) { p[threadIdx.x]++; } // BUG event_early: race-streams

// The default stream of one device waits for an event of the other's.
static void events(bool after) {
  pair p;
  cudaEvent_t e;
  must(cudaEventCreateWithFlags(&e, cudaEventDisableTiming));
  if (!after)
    must(cudaEventRecord(e, 0));
  event_set<<<1, 32>>>(p.mine);
  if (after)
    must(cudaEventRecord(e, 0));
  must(cudaSetDevice(1));
  must(cudaStreamWaitEvent(0, e, 0));
  event_add<<<1, 32>>>(p.mine);
  must(cudaEventDestroy(e));
}
CASE(event_early) { events(false); }
CASE(event_after) { events(true); } // CLEAN event_after

static __global__ void peer_set(int *p) { p[threadIdx.x] = 1; } // BUG peer_stream: race-streams
static __global__ void peer_add(int *p) { p[threadIdx.x]++; }

// A copy between the devices. On a default stream it waits for both of them, and both wait for it;
// on another stream it does not.
static void peer(bool own, bool waits) {
  pair p;
  cudaStream_t s = 0;
  must(cudaSetDevice(1));
  if (own)
    must(cudaStreamCreate(&s));
  must(cudaSetDevice(0));
  peer_set<<<1, 32>>>(p.mine);
  if (waits)
    must(cudaDeviceSynchronize());
  must(cudaSetDevice(1));
  must(cudaMemcpyPeerAsync(p.other, 1, p.mine, 0, 128, s)); // BUG peer_stream: race-streams
  if (own)
    must(cudaStreamSynchronize(s));
  must(cudaSetDevice(0));
  peer_add<<<1, 32>>>(p.other);
  if (own)
    must(cudaStreamDestroy(s));
}
CASE(peer_default) { peer(false, false); } // CLEAN peer_default
CASE(peer_stream) { peer(true, false); }
CASE(peer_waits) { peer(true, true); } // CLEAN peer_waits

static __global__ void created_set(int *p) { p[threadIdx.x] = 1; } // BUG created_other: race-streams
static __global__ void created_add(int *p) { p[threadIdx.x]++; } // BUG created_other: race-streams

// A stream waits for the default stream of its own device, and not for that of the other.
static void created(int device) {
  pair p;
  cudaStream_t s;
  must(cudaSetDevice(device));
  must(cudaStreamCreate(&s));
  must(cudaSetDevice(0));
  created_set<<<1, 32>>>(p.mine);
  must(cudaSetDevice(device));
  created_add<<<1, 32, 0, s>>>(p.mine);
  must(cudaStreamSynchronize(s));
  must(cudaStreamDestroy(s));
}
CASE(created_other) { created(1); }
CASE(created_same) { created(0); } // CLEAN created_same
