// A stencil of five points over an image: the copy engine brings a box with its edge, zeros where it lies
// outside of the image, and takes the result away, beside a version whose threads load for themselves.
#include "../hopper.h"

constexpr int width = 256, height = 128, tile = 32;
constexpr int across = tile + 4; // of a box: a tile and its edge, in rows of a multiple of 16 bytes

__device__ float five(float at, float up, float down, float left, float right) { return 4 * at - up - down - left - right; }

__global__ void plain(const float *in, float *out) {
  int x = blockIdx.x * tile + threadIdx.x;
  for (int y = blockIdx.y * tile + threadIdx.y; y < (blockIdx.y + 1) * tile; y += blockDim.y) {
    const float *p = in + y * width + x;
    out[y * width + x] = five(*p, y > 0 ? p[-width] : 0, y < height - 1 ? p[width] : 0, x > 0 ? p[-1] : 0, x < width - 1 ? p[1] : 0);
  }
}

struct __align__(128) Tiles {
  float in[tile + 2][across];
  __align__(128) float out[tile][tile];
  barrier full;
};

__global__ void boxes(const __grid_constant__ CUtensorMap from, const __grid_constant__ CUtensorMap to) {
  __shared__ Tiles t;
  int x = blockIdx.x * tile, y = blockIdx.y * tile;
  bool one = threadIdx.x + threadIdx.y == 0;
  if (one) {
    open(&t.full, 1);
    published();
    expect(&t.full, sizeof t.in);
    load(t.in, &from, x - 1, y - 1, &t.full);
  }
  __syncthreads();
  wait(&t.full, 0);
  for (int i = threadIdx.y; i < tile; i += blockDim.y) {
    float(*p)[across] = &t.in[i + 1];
    int j = threadIdx.x + 1;
    t.out[i][j - 1] = five(p[0][j], p[-1][j], p[1][j], p[0][j - 1], p[0][j + 1]);
  }
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); // the copy engine sees the result
  __syncthreads();
  if (one)
    store(&to, x, y, t.out);
}

static float *in, *out;

static int check() {
  CHECK(cudaDeviceSynchronize());
  int wrong = 0;
  auto at = [](int x, int y) { return x < 0 || y < 0 || x >= width || y >= height ? 0 : in[y * width + x]; };
  for (int y = 0; y < height; y++)
    for (int x = 0; x < width; x++) {
      wrong += out[y * width + x] != 4 * at(x, y) - at(x, y - 1) - at(x, y + 1) - at(x - 1, y) - at(x + 1, y);
      out[y * width + x] = -1;
    }
  return wrong;
}

int main() {
  CHECK(cudaMallocManaged(&in, width * height * sizeof *in));
  CHECK(cudaMallocManaged(&out, width * height * sizeof *out));
  for (int i = 0; i < width * height; i++)
    in[i] = (float)(i * 37 % 101);
  CUtensorMap from = mapOf(CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 4, in, height, width, tile + 2, across, CU_TENSOR_MAP_SWIZZLE_NONE);
  CUtensorMap to = mapOf(CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 4, out, height, width, tile, tile, CU_TENSOR_MAP_SWIZZLE_NONE);
  dim3 grid(width / tile, height / tile), block(tile, 8);
  plain<<<grid, block>>>(in, out);
  int wrong = check();
  boxes<<<grid, block>>>(from, to);
  wrong += check();
  CHECK(cudaFree(in));
  CHECK(cudaFree(out));
  return verdict(wrong);
}
