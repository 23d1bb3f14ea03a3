// Kernels that allocate: every thread grows a binary tree with new, another
// kernel walks it and deletes it.
#include "../check.h"

struct node {
  int key;
  node *left, *right;
  __device__ node(int k) : key(k), left(nullptr), right(nullptr) {}
};

__device__ void insert(node **at, int key) {
  while (*at != nullptr)
    at = key < (*at)->key ? &(*at)->left : &(*at)->right;
  *at = new node(key);
}

__global__ void grow(node **roots, int keys) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  node *root = nullptr;
  for (int k = 0; k < keys; k++)
    insert(&root, (k * 5 + i) % keys); // keys is prime: every number once
  roots[i] = root;
}

// Writes the keys in order, with a stack of its own from malloc.
__global__ void harvest(node **roots, int *out, int keys) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, depth = 0, n = 0;
  node **stack = (node **)malloc(keys * sizeof(node *)), *at = roots[i];
  if (stack == nullptr)
    return;
  while (at != nullptr || depth > 0) {
    for (; at != nullptr; at = at->left)
      stack[depth++] = at;
    at = stack[--depth];
    out[i * keys + n++] = at->key;
    node *right = at->right;
    delete at;
    at = right;
  }
  free(stack);
}

int main() {
  const int threads = 64, keys = 13;
  CHECK(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 16 << 20));
  node **roots;
  int *out, got[threads * keys];
  CHECK(cudaMalloc(&roots, threads * sizeof *roots));
  CHECK(cudaMalloc(&out, sizeof got));
  CHECK(cudaMemset(out, -1, sizeof got));
  grow<<<2, threads / 2>>>(roots, keys);
  harvest<<<2, threads / 2>>>(roots, out, keys);
  CHECK(cudaMemcpy(got, out, sizeof got, cudaMemcpyDeviceToHost));
  int wrong = 0;
  for (int i = 0; i < threads * keys; i++)
    wrong += got[i] != i % keys;
  return verdict(wrong);
}
