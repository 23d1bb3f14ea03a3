// An image in an array, read through a texture object at places between its
// texels; the host interpolates the same and compares.
#include "../check.h"

#include <math.h>
#include <string.h>
#include <vector>

const int width = 24, height = 16, samples = 64;

__global__ void sample(cudaTextureObject_t image, float *out, float x0, float y0, float step) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y;
  out[j * samples + i] = tex2D<float>(image, x0 + step * i, y0 + step * j);
}

// The programming guide's linear filter: weights have 8 bits of fraction, and
// coordinates beyond the image are clamped.
static float bilinear(const std::vector<float> &image, float x, float y) {
  auto texel = [&](int i, int j) {
    i = i < 0 ? 0 : i >= width ? width - 1 : i;
    j = j < 0 ? 0 : j >= height ? height - 1 : j;
    return image[j * width + i];
  };
  float xb = x - 0.5f, yb = y - 0.5f;
  int i = (int)floorf(xb), j = (int)floorf(yb);
  float a = roundf((xb - i) * 256) / 256, b = roundf((yb - j) * 256) / 256;
  return (1 - a) * (1 - b) * texel(i, j) + a * (1 - b) * texel(i + 1, j) + (1 - a) * b * texel(i, j + 1) + a * b * texel(i + 1, j + 1);
}

int main() {
  std::vector<float> image(width * height), got(samples * samples);
  for (int j = 0; j < height; j++)
    for (int i = 0; i < width; i++)
      image[j * width + i] = sinf(0.7f * i) * cosf(0.4f * j);

  cudaArray_t array;
  cudaChannelFormatDesc one = cudaCreateChannelDesc<float>();
  CHECK(cudaMallocArray(&array, &one, width, height));
  CHECK(cudaMemcpy2DToArray(array, 0, 0, image.data(), width * sizeof(float), width * sizeof(float), height, cudaMemcpyHostToDevice));

  cudaResourceDesc from;
  memset(&from, 0, sizeof from);
  from.resType = cudaResourceTypeArray;
  from.res.array.array = array;
  cudaTextureDesc how;
  memset(&how, 0, sizeof how);
  how.addressMode[0] = how.addressMode[1] = cudaAddressModeClamp;
  how.readMode = cudaReadModeElementType;

  float *out;
  CHECK(cudaMalloc(&out, got.size() * sizeof(float)));
  int wrong = 0;
  for (int linear = 0; linear < 2; linear++) {
    how.filterMode = linear ? cudaFilterModeLinear : cudaFilterModePoint;
    cudaTextureObject_t texture;
    CHECK(cudaCreateTextureObject(&texture, &from, &how, nullptr));
    // From a little outside of the image to well beyond its other corner.
    const float x0 = -1.8f, y0 = -2.3f, step = 0.43f;
    sample<<<dim3(samples / 16, samples / 16), dim3(16, 16)>>>(texture, out, x0, y0, step);
    CHECK(cudaMemcpy(got.data(), out, got.size() * sizeof(float), cudaMemcpyDeviceToHost));
    CHECK(cudaDestroyTextureObject(texture));
    for (int j = 0; j < samples; j++)
      for (int i = 0; i < samples; i++) {
        float x = fmaf(step, i, x0), y = fmaf(step, j, y0);
        float want = linear ? bilinear(image, x, y) : bilinear(image, floorf(x) + 0.5f, floorf(y) + 0.5f);
        wrong += fabsf(got[j * samples + i] - want) > (linear ? 0.01f : 0); // a weight may be one of 256 steps off
      }
  }
  CHECK(cudaFreeArray(array));
  CHECK(cudaFree(out));
  return verdict(wrong);
}
