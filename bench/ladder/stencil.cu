// Stencils that keep neighbours in registers.
#include "check.h"

// 25 points in three dimensions, radius 4: a thread moves along z with a queue of
// nine values of its column.
constexpr int radius = 4;
__global__ void stencil_queue(int nx, int ny, int nz, const float *in, float *out) {
  constexpr float weight[radius + 1] = {4, 3, 2, 1, 1};
  int x = blockIdx.x * blockDim.x + threadIdx.x + radius, y = blockIdx.y * blockDim.y + threadIdx.y + radius;
  int plane = nx * ny, at = y * nx + x;
  float queue[2 * radius + 1];
  for (int k = 0; k < 2 * radius; k++) queue[k + 1] = in[k * plane + at];
  for (int z = radius; z < nz - radius; z++) {
    for (int k = 0; k < 2 * radius; k++) queue[k] = queue[k + 1];
    queue[2 * radius] = in[(z + radius) * plane + at];
    const float *p = &in[z * plane + at];
    float sum = weight[0] * queue[radius];
    for (int r = 1; r <= radius; r++)
      sum += weight[r] * (queue[radius - r] + queue[radius + r] + p[-r] + p[r] + p[-r * nx] + p[r * nx]);
    out[z * plane + at] = sum;
  }
}

// A function of each element of a window, which a thread moves down its column.
template <int H, int W> struct Window {
  float v[H][W];
  template <class F> __device__ void each(F f) {
    for (int i = 0; i < H; i++)
      for (int j = 0; j < W; j++) f(i, j, v[i][j]);
  }
  __device__ void down(const float *row) {
    for (int i = 0; i + 1 < H; i++)
      for (int j = 0; j < W; j++) v[i][j] = v[i + 1][j];
    for (int j = 0; j < W; j++) v[H - 1][j] = row[j];
  }
};
__global__ void stencil_window(int nx, int ny, const float *in, float *out) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int first = blockIdx.y * 32;
  Window<7, 7> w;
  w.each([&](int i, int j, float &v) { v = i == 0 ? 0 : in[(first + i - 1) * nx + x + j]; });
  for (int y = first; y < first + 32; y++) {
    w.down(&in[(y + 6) * nx + x]);
    float sum = 0, most = w.v[3][3];
    w.each([&](int i, int j, float v) {
      sum += v * ((i + 1) * (j - 3));
      most = fmaxf(most, v);
    });
    out[y * nx + x] = sum + most;
  }
}

int main() {
  int bad = 0;
  {
    const int nx = 72, ny = 40, nz = 24;
    Array in(nx * ny * nz, 3), out(nx * ny * nz);
    std::vector<float> want(nx * ny * nz);
    const float weight[] = {4, 3, 2, 1, 1};
    for (int z = 4; z < nz - 4; z++)
      for (int y = 4; y < ny - 4; y++)
        for (int x = 4; x < nx - 4; x++) {
          const float *p = &in.host[(z * ny + y) * nx + x];
          float sum = weight[0] * p[0];
          for (int r = 1; r <= 4; r++) sum += weight[r] * (p[-r] + p[r] + p[-r * nx] + p[r * nx] + p[-r * nx * ny] + p[r * nx * ny]);
          want[(z * ny + y) * nx + x] = sum;
        }
    stencil_queue<<<dim3(2, 4), dim3(32, 8)>>>(nx, ny, nz, in.device, out.device);
    bad += verdict("stencil_queue", out, want);
  }
  {
    const int nx = 256 + 6, ny = 128 + 6;
    Array in(nx * ny, 4), out(nx * ny);
    std::vector<float> want(nx * ny);
    for (int y = 0; y < 128; y++)
      for (int x = 0; x < 256; x++) {
        float sum = 0, most = in.host[(y + 3) * nx + x + 3];
        for (int i = 0; i < 7; i++)
          for (int j = 0; j < 7; j++) {
            float v = in.host[(y + i) * nx + x + j];
            sum += v * ((i + 1) * (j - 3));
            most = std::fmax(most, v);
          }
        want[y * nx + x] = sum + most;
      }
    stencil_window<<<dim3(4, 4), 64>>>(nx, ny, in.device, out.device);
    bad += verdict("stencil_window", out, want);
  }
  return bad;
}
