// C = A·Bᵀ of bf16 in seven steps, from a thread for each element to what Hopper has: boxes of tensors,
// products of warp groups, a producer warp, and clusters whose blocks share what they load.
#include "../hopper.h"
#include <cuda_pipeline.h>

constexpr int m = 256, n = 256, k = 128;

// 1: a thread for each element of C.
__global__ void naive(const bf16 *a, const bf16 *b, float *c) {
  int i = blockIdx.y * blockDim.y + threadIdx.y, j = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  for (int x = 0; x < k; x++)
    sum += __bfloat162float(a[i * k + x]) * __bfloat162float(b[j * k + x]);
  c[i * n + j] = sum;
}

constexpr int tile = 32, pad = 8; // of the next two; rows are longer in shared memory, against bank conflicts

__device__ float4 product(bf16 (&a)[tile][tile + pad], bf16 (&b)[tile][tile + pad], float4 d) {
  int row = threadIdx.x / 32 * 4, col = threadIdx.x % 32;
  for (int x = 0; x < tile; x++) {
    float y = __bfloat162float(b[col][x]);
    d.x += __bfloat162float(a[row][x]) * y, d.y += __bfloat162float(a[row + 1][x]) * y;
    d.z += __bfloat162float(a[row + 2][x]) * y, d.w += __bfloat162float(a[row + 3][x]) * y;
  }
  return d;
}

__device__ void put(float *c, float4 d) {
  c += (blockIdx.y * tile + threadIdx.x / 32 * 4) * n + blockIdx.x * tile + threadIdx.x % 32;
  c[0] = d.x, c[n] = d.y, c[2 * n] = d.z, c[3 * n] = d.w;
}

// 2: a block of 256 threads brings tiles into shared memory, which each thread uses four times.
__global__ void tiled(const bf16 *a, const bf16 *b, float *c) {
  __shared__ bf16 ta[tile][tile + pad], tb[tile][tile + pad];
  float4 d = {};
  for (int at = 0; at < k; at += tile) {
    for (int i = threadIdx.x; i < tile * tile; i += 256) {
      ta[i / tile][i % tile] = a[(blockIdx.y * tile + i / tile) * k + at + i % tile];
      tb[i / tile][i % tile] = b[(blockIdx.x * tile + i / tile) * k + at + i % tile];
    }
    __syncthreads();
    d = product(ta, tb, d);
    __syncthreads();
  }
  put(c, d);
}

// fetch copies a tile asynchronously, 16 bytes a thread.
template <int width> __device__ void fetch(bf16 (*to)[width], const bf16 *from, int i, int columns) {
  int per = columns / 8, row = i / per, col = i % per * 8;
  __pipeline_memcpy_async(&to[row][col], from + row * k + col, 16);
}

// 3: the next tiles are on their way while a block computes (cp.async).
__global__ void __launch_bounds__(256) copied(const bf16 *a, const bf16 *b, float *c) {
  __shared__ __align__(16) bf16 ta[2][tile][tile + pad], tb[2][tile][tile + pad];
  a += blockIdx.y * tile * k, b += blockIdx.x * tile * k;
  auto next = [&](int at) {
    int s = at / tile % 2, i = threadIdx.x % 128;
    threadIdx.x < 128 ? fetch(ta[s], a + at, i, tile) : fetch(tb[s], b + at, i, tile);
    __pipeline_commit();
  };
  float4 d = {};
  next(0);
  for (int at = 0; at < k; at += tile) {
    __pipeline_wait_prior(0);
    __syncthreads(); // all have used the other tiles, too
    if (at + tile < k)
      next(at + tile);
    d = product(ta[at / tile % 2], tb[at / tile % 2], d);
  }
  put(c, d);
}

// 4: each of four warps multiplies 16 rows and 64 columns by mma.sync.
__global__ void __launch_bounds__(128) warps(const bf16 *a, const bf16 *b, float *c) {
  constexpr int rows = 64, depth = 32;
  __shared__ __align__(16) bf16 ta[2][rows][depth + pad], tb[2][rows][depth + pad];
  a += blockIdx.y * rows * k, b += blockIdx.x * rows * k;
  auto next = [&](int at) {
    for (int i = threadIdx.x; i < rows * depth / 8; i += 128)
      fetch(ta[at / depth % 2], a + at, i, depth), fetch(tb[at / depth % 2], b + at, i, depth);
    __pipeline_commit();
  };
  int lane = threadIdx.x % 32, row = threadIdx.x / 32 * 16 + lane / 4, col = lane % 4 * 2;
  float d[8][4] = {};
  next(0);
  for (int at = 0; at < k; at += depth) {
    __pipeline_wait_prior(0);
    __syncthreads();
    if (at + depth < k)
      next(at + depth);
    for (int x = 0; x < depth; x += 16) {
      auto word = [&](bf16(*t)[depth + pad], int r, int y) { return *(const unsigned *)&t[r][x + y]; };
      auto ra = ta[at / depth % 2], rb = tb[at / depth % 2];
      for (int j = 0; j < 8; j++)
        asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
            : "+f"(d[j][0]), "+f"(d[j][1]), "+f"(d[j][2]), "+f"(d[j][3])
            : "r"(word(ra, row, col)), "r"(word(ra, row + 8, col)), "r"(word(ra, row, col + 8)), "r"(word(ra, row + 8, col + 8)),
              "r"(word(rb, j * 8 + lane / 4, col)), "r"(word(rb, j * 8 + lane / 4, col + 8)));
    }
  }
  c += (blockIdx.y * rows + row) * n + blockIdx.x * rows + col;
  for (int j = 0; j < 8; j++)
    for (int i = 0; i < 4; i++)
      c[i / 2 * 8 * n + j * 8 + i % 2] = d[j][i];
}

constexpr int tileM = 64, tileN = 128, tileK = 64; // of the rest; a row of tileK has 128 bytes
constexpr int stages = 3, blocks = 2;              // of the ring of tiles; of a cluster, along M

struct __align__(1024) Tiles {
  bf16 a[stages][tileM * tileK], b[stages][tileN * tileK];
  barrier full[stages], empty[stages]; // a tile has come, both blocks have used it
};

__device__ void multiplyTiles(float (&d)[64], Tiles &t, int s) {
  begin();
  for (int x = 0; x < tileK; x += 16)
    multiply(d, descriptor(t.a[s] + x), descriptor(t.b[s] + x));
  finish();
}

// put writes what a warp group has multiplied.
__device__ void put(float *c, float (&d)[64]) {
  int lane = threadIdx.x % 32;
  c += (threadIdx.x / 32 * 16 + lane / 4) * n + lane % 4 * 2;
  for (int i = 0; i < 64; i++)
    c[i / 2 % 2 * 8 * n + i / 4 * 8 + i % 2] = d[i];
}

// 5: a warp group multiplies (wgmma) what the copy engine brings.
__global__ void __launch_bounds__(128) groups(const __grid_constant__ CUtensorMap mapA, const __grid_constant__ CUtensorMap mapB, float *c) {
  extern __shared__ __align__(1024) char memory[];
  Tiles &t = *(Tiles *)memory;
  int row = blockIdx.y * tileM, col = blockIdx.x * tileN;
  if (threadIdx.x == 0) {
    for (int s = 0; s < stages; s++)
      open(&t.full[s], 1);
    published();
  }
  __syncthreads();
  auto next = [&](int i) {
    if (threadIdx.x == 0 && i < k / tileK) {
      int s = i % stages;
      expect(&t.full[s], sizeof t.a[s] + sizeof t.b[s]);
      load(t.a[s], &mapA, i * tileK, row, &t.full[s]);
      load(t.b[s], &mapB, i * tileK, col, &t.full[s]), load(t.b[s] + tileN / 2 * tileK, &mapB, i * tileK, col + tileN / 2, &t.full[s]);
    }
  };
  float d[64] = {};
  for (int i = 0; i < stages - 1; i++)
    next(i);
  for (int i = 0; i < k / tileK; i++) {
    wait(&t.full[i % stages], i / stages % 2);
    multiplyTiles(d, t, i % stages);
    __syncthreads();
    next(i + stages - 1);
  }
  put(c + row * n + col, d);
}

// 6: a warp of its own asks for tiles, and two blocks form a cluster, which needs one tile of B: each
// loads half of it and sends it to both. 7: with fewer clusters than tiles of C, each multiplies several,
// and its producer runs ahead.
__global__ void __launch_bounds__(160) clusters(const __grid_constant__ CUtensorMap mapA, const __grid_constant__ CUtensorMap mapB, float *c) {
  extern __shared__ __align__(1024) char memory[];
  Tiles &t = *(Tiles *)memory;
  int rank = blockIdx.x % blocks;
  if (threadIdx.x == 0) {
    for (int s = 0; s < stages; s++)
      open(&t.full[s], 1), open(&t.empty[s], blocks);
    published();
  }
  __syncthreads();
  meet();
  int used = 0; // tiles so far
  for (int at = blockIdx.x / blocks; at < m / tileM / blocks * (n / tileN); at += gridDim.x / blocks) {
    int row = (at / (n / tileN) * blocks + rank) * tileM, col = at % (n / tileN) * tileN;
    if (threadIdx.x >= 128) { // the producer
      for (int i = 0; threadIdx.x == 128 && i < k / tileK; i++, used++) {
        int s = used % stages, half = tileN / blocks * rank;
        wait(&t.empty[s], used / stages % 2 ^ 1);
        expect(&t.full[s], sizeof t.a[s] + sizeof t.b[s]);
        load(t.a[s], &mapA, i * tileK, row, &t.full[s]);
        share(t.b[s] + half * tileK, &mapB, i * tileK, col + half, &t.full[s], (1 << blocks) - 1);
      }
      continue;
    }
    float d[64] = {};
    for (int i = 0; i < k / tileK; i++, used++) {
      int s = used % stages;
      wait(&t.full[s], used / stages % 2);
      multiplyTiles(d, t, s);
      if (threadIdx.x < blocks)
        arriveAt(&t.empty[s], threadIdx.x);
    }
    put(c + row * n + col, d);
  }
  meet(); // a block's memory must stay until the others have sent to it
}

static bf16 *a, *b;
static float *c;

// check counts the wrong elements of C, and empties it.
static int check() {
  CHECK(cudaDeviceSynchronize());
  int wrong = 0;
  for (int i = 0; i < m; i++)
    for (int j = 0; j < n; j++) {
      float sum = 0;
      for (int x = 0; x < k; x++)
        sum += __bfloat162float(a[i * k + x]) * __bfloat162float(b[j * k + x]);
      wrong += c[i * n + j] != sum;
      c[i * n + j] = -1;
    }
  return wrong;
}

static void launchClusters(int count, CUtensorMap mapA, CUtensorMap mapB) {
  cudaLaunchAttribute cluster;
  cluster.id = cudaLaunchAttributeClusterDimension;
  cluster.val.clusterDim.x = blocks;
  cluster.val.clusterDim.y = cluster.val.clusterDim.z = 1;
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(count * blocks);
  config.blockDim = dim3(160);
  config.dynamicSmemBytes = sizeof(Tiles);
  config.attrs = &cluster;
  config.numAttrs = 1;
  CHECK(cudaLaunchKernelEx(&config, clusters, mapA, mapB, c));
}

int main() {
  CHECK(cudaMallocManaged(&a, m * k * sizeof *a));
  CHECK(cudaMallocManaged(&b, n * k * sizeof *b));
  CHECK(cudaMallocManaged(&c, m * n * sizeof *c));
  for (int i = 0; i < m * k; i++) // small integers: every sum is exact
    a[i] = __float2bfloat16((float)((i * 7 + i / k) % 9 - 4));
  for (int i = 0; i < n * k; i++)
    b[i] = __float2bfloat16((float)((i * 5 + i / k * 3) % 7 - 3));
  CUtensorMap mapA = rowsOf(a, m, k, tileM), mapB = rowsOf(b, n, k, tileN / blocks);
  CHECK(cudaFuncSetAttribute((const void *)groups, cudaFuncAttributeMaxDynamicSharedMemorySize, sizeof(Tiles)));
  CHECK(cudaFuncSetAttribute((const void *)clusters, cudaFuncAttributeMaxDynamicSharedMemorySize, sizeof(Tiles)));

  int wrong = 0;
  naive<<<dim3(n / 32, m / 8), dim3(32, 8)>>>(a, b, c);
  wrong += check();
  tiled<<<dim3(n / tile, m / tile), 256>>>(a, b, c);
  wrong += check();
  copied<<<dim3(n / tile, m / tile), 256>>>(a, b, c);
  wrong += check();
  warps<<<dim3(n / 64, m / 64), 128>>>(a, b, c);
  wrong += check();
  groups<<<dim3(n / tileN, m / tileM), 128, sizeof(Tiles)>>>(mapA, mapB, c);
  wrong += check();
  launchClusters(4, mapA, mapB);
  wrong += check();
  launchClusters(2, mapA, mapB);
  wrong += check();
  CHECK(cudaFree(a));
  CHECK(cudaFree(b));
  CHECK(cudaFree(c));
  return verdict(wrong);
}
