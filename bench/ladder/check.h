// What the programs of the ladder share: arrays on both sides, and a verdict.
#pragma once
#include <cuda_runtime.h>
#include <cmath>
#include <cstdio>
#include <vector>

struct Array {
  std::vector<float> host;
  float *device;
  explicit Array(int n, int seed = 0) : host(n) {
    // Small whole numbers: sums of them are exact in any order.
    unsigned x = 12345u + 777u * seed;
    for (float &v : host) {
      x = x * 1664525u + 1013904223u; // Numerical Recipes, chapter 7
      v = seed ? float(int(x >> 28) - 8) : 0.0f;
    }
    cudaMalloc(&device, n * sizeof(float));
    put();
  }
  void put() { cudaMemcpy(device, host.data(), host.size() * sizeof(float), cudaMemcpyHostToDevice); }
  void get() { cudaMemcpy(host.data(), device, host.size() * sizeof(float), cudaMemcpyDeviceToHost); }
};

// verdict compares a kernel's output with the expected values, and clears it.
inline int verdict(const char *kernel, Array &out, const std::vector<float> &want) {
  cudaError_t e = cudaDeviceSynchronize();
  out.get();
  int wrong = 0;
  for (size_t i = 0; i < want.size(); i++) wrong += out.host[i] != want[i];
  std::printf("%s: %d wrong of %zu%s\n", kernel, wrong, want.size(), e == cudaSuccess ? "" : cudaGetErrorString(e));
  for (float &v : out.host) v = 0;
  out.put();
  return wrong != 0 || e != cudaSuccess;
}
