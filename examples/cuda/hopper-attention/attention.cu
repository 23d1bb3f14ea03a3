// Attention forward, softmax(Q·Kᵀ/√d)·V, in two styles: a thread for each query, which adds one key after
// the other, and a warp group for 64 queries, which multiplies tiles of 64 keys (wgmma) that the copy
// engine brings. Both keep the largest score and the sum so far (online softmax).
#include "../hopper.h"
#include <math.h>

constexpr int heads = 2, length = 256, dim = 64, tile = 64;
constexpr float scale = 0.125f * 1.44269504f; // 1/√d, for powers of two

__device__ float4 wide(const bf16 *p) { return make_float4(__bfloat162float(p[0]), __bfloat162float(p[1]), __bfloat162float(p[2]), __bfloat162float(p[3])); }
__device__ float4 operator*(float4 a, float b) { return make_float4(a.x * b, a.y * b, a.z * b, a.w * b); }
__device__ float4 operator+(float4 a, float4 b) { return make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w); }
__device__ float4 operator*(float4 a, float4 b) { return make_float4(a.x * b.x, a.y * b.y, a.z * b.z, a.w * b.w); }

// plain is the first style: all threads of a block use the same keys and values, from shared memory.
__global__ void __launch_bounds__(tile) plain(const bf16 *q, const bf16 *k, const bf16 *v, float *o) {
  constexpr int words = dim / 4;
  __shared__ float4 tk[tile][words], tv[tile][words];
  int first = blockIdx.y * length, row = first + blockIdx.x * tile + threadIdx.x;
  float4 x[words], sum[words] = {};
  float most = -INFINITY, total = 0;
  for (int i = 0; i < words; i++)
    x[i] = wide(q + row * dim + i * 4) * scale;
  for (int at = first; at < first + length; at += tile) {
    for (int i = threadIdx.x; i < tile * words; i += tile) {
      tk[i / words][i % words] = wide(k + at * dim + i * 4);
      tv[i / words][i % words] = wide(v + at * dim + i * 4);
    }
    __syncthreads();
    for (int j = 0; j < tile; j++) {
      float4 dot = {};
      for (int i = 0; i < words; i++)
        dot = dot + x[i] * tk[j][i];
      float score = dot.x + dot.y + dot.z + dot.w;
      float now = fmaxf(most, score), keep = exp2f(most - now), p = exp2f(score - now);
      total = total * keep + p;
      for (int i = 0; i < words; i++)
        sum[i] = sum[i] * keep + tv[j][i] * p;
      most = now;
    }
    __syncthreads();
  }
  for (int i = 0; i < words; i++)
    ((float4 *)o)[row * words + i] = sum[i] * (1 / total);
}

struct __align__(1024) Tiles {
  bf16 q[tile * dim], k[2][tile * dim], v[2][tile * dim];
  barrier full[2], queries;
};

__device__ unsigned pack(float low, float high) {
  __nv_bfloat162 x = __floats2bfloat162_rn(low, high);
  return *(unsigned *)&x;
}

// over combines a value of the four lanes that have a row of a product.
template <class F> __device__ float over(float x, F combine) {
  x = combine(x, __shfl_xor_sync(~0u, x, 1));
  return combine(x, __shfl_xor_sync(~0u, x, 2));
}

// groups is the second style. A thread has two rows of a product, eight apart, and of every eight columns
// two; so a product of scores is the left factor of the next one as it is.
__global__ void __launch_bounds__(128) groups(const __grid_constant__ CUtensorMap mapQ, const __grid_constant__ CUtensorMap mapK,
                                              const __grid_constant__ CUtensorMap mapV, float *o) {
  extern __shared__ __align__(1024) char memory[];
  Tiles &t = *(Tiles *)memory;
  int first = blockIdx.y * length, row = first + blockIdx.x * tile;
  auto next = [&](int i) {
    if (threadIdx.x != 0 || i == length / tile)
      return;
    expect(&t.full[i % 2], sizeof t.k[0] + sizeof t.v[0]);
    load(t.k[i % 2], &mapK, 0, first + i * tile, &t.full[i % 2]);
    load(t.v[i % 2], &mapV, 0, first + i * tile, &t.full[i % 2]);
  };
  if (threadIdx.x == 0) {
    open(&t.full[0], 1), open(&t.full[1], 1), open(&t.queries, 1);
    published();
    expect(&t.queries, sizeof t.q);
    load(t.q, &mapQ, 0, row, &t.queries);
  }
  __syncthreads();
  next(0);
  wait(&t.queries, 0);
  float sum[32] = {}, most[2] = {-INFINITY, -INFINITY}, total[2] = {};
  for (int i = 0; i < length / tile; i++) {
    next(i + 1);
    wait(&t.full[i % 2], i / 2 % 2);
    float s[32] = {};
    begin();
    for (int x = 0; x < dim; x += 16)
      multiply(s, descriptor(t.q + x), descriptor(t.k[i % 2] + x));
    finish();
    for (int half = 0; half < 2; half++) {
      float now = most[half];
      for (int j = half * 2; j < 32; j += 4)
        now = fmaxf(now, fmaxf(s[j], s[j + 1]) * scale);
      now = over(now, [](float a, float b) { return fmaxf(a, b); });
      float keep = exp2f(most[half] - now);
      total[half] *= keep;
      for (int j = half * 2; j < 32; j += 4)
        for (int c = 0; c < 2; c++) {
          s[j + c] = exp2f(s[j + c] * scale - now);
          total[half] += s[j + c];
          sum[j + c] *= keep;
        }
      most[half] = now;
    }
    unsigned p[4][4]; // before the fence: products read these registers
    for (int j = 0; j < 32; j += 2)
      p[j / 8][j % 8 / 2] = pack(s[j], s[j + 1]);
    begin();
    for (int j = 0; j < 4; j++)
      multiply(sum, p[j], descriptor(t.v[i % 2] + j * 16 * dim));
    finish();
    __syncthreads(); // all have used the tiles
  }
  int lane = threadIdx.x % 32;
  row += threadIdx.x / 32 * 16 + lane / 4;
  for (int half = 0; half < 2; half++) {
    float by = 1 / over(total[half], [](float a, float b) { return a + b; });
    for (int j = half * 2; j < 32; j += 4)
      for (int c = 0; c < 2; c++)
        o[(row + half * 8) * dim + j / 4 * 8 + lane % 4 * 2 + c] = sum[j + c] * by;
  }
}

static bf16 *q, *k, *v;
static float *o;

// check counts results that differ from those in double precision by more than the weights' rounding to
// bf16 explains, and empties them.
static int check() {
  CHECK(cudaDeviceSynchronize());
  int wrong = 0;
  for (int row = 0; row < heads * length; row++) {
    int first = row / length * length;
    double p[length], total = 0, sum[dim] = {};
    for (int j = 0; j < length; j++) {
      double score = 0;
      for (int i = 0; i < dim; i++)
        score += (double)__bfloat162float(q[row * dim + i]) * __bfloat162float(k[(first + j) * dim + i]);
      total += p[j] = exp(score / 8);
    }
    for (int j = 0; j < length; j++)
      for (int i = 0; i < dim; i++)
        sum[i] += p[j] / total * __bfloat162float(v[(first + j) * dim + i]);
    for (int i = 0; i < dim; i++) {
      wrong += !(fabs(o[row * dim + i] - sum[i]) < 0.004);
      o[row * dim + i] = NAN;
    }
  }
  return wrong;
}

int main() {
  const int n = heads * length * dim;
  CHECK(cudaMallocManaged(&q, n * sizeof *q));
  CHECK(cudaMallocManaged(&k, n * sizeof *k));
  CHECK(cudaMallocManaged(&v, n * sizeof *v));
  CHECK(cudaMallocManaged(&o, n * sizeof *o));
  unsigned seed = 1;
  auto random = [&] { return __float2bfloat16((float)(int)((seed = seed * 1664525 + 1013904223) >> 8) / (1 << 23) - 1); };
  for (int i = 0; i < n; i++)
    q[i] = random(), k[i] = random(), v[i] = random();
  CUtensorMap mapQ = rowsOf(q, heads * length, dim, tile), mapK = rowsOf(k, heads * length, dim, tile), mapV = rowsOf(v, heads * length, dim, tile);
  CHECK(cudaFuncSetAttribute((const void *)groups, cudaFuncAttributeMaxDynamicSharedMemorySize, sizeof(Tiles)));

  dim3 grid(length / tile, heads);
  plain<<<grid, tile>>>(q, k, v, o);
  int wrong = check();
  groups<<<grid, 128, sizeof(Tiles)>>>(mapQ, mapK, mapV, o);
  wrong += check();
  CHECK(cudaFree(q));
  CHECK(cudaFree(k));
  CHECK(cudaFree(v));
  CHECK(cudaFree(o));
  return verdict(wrong);
}
