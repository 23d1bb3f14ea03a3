// Breadth-first search with two masks, one launch pair for each level. The flag
// says whether the last level found anything; once it stays 0, further launches
// find nothing to do.
#include "../cuda.h"

extern "C" __global__ void start(int *cost, u8 *frontier, u32 *go_on, u32 source, u32 n) {
  u32 i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  cost[i] = i == source ? 0 : -1;
  frontier[i] = i == source;
  if (i == source) *go_on = 1;
}

// Visits the neighbours of every node of the frontier.
extern "C" __global__ void expand(const u32 *row, const u16 *col, const int *cost, u8 *frontier, u8 *next, u32 *go_on, u32 n) {
  u32 i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i == 0) *go_on = 0;
  if (i >= n || !frontier[i]) return;
  frontier[i] = 0;
  for (u32 e = row[i], last = row[i + 1]; e < last; e++) {
    u32 v = col[e];
    if (cost[v] < 0) next[v] = 1;
  }
}

// Turns the nodes that were found into the new frontier.
extern "C" __global__ void advance(int *cost, u8 *frontier, u8 *next, u32 *go_on, int level, u32 n) {
  u32 i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n || !next[i]) return;
  next[i] = 0;
  cost[i] = level;
  frontier[i] = 1;
  *go_on = 1;
}
