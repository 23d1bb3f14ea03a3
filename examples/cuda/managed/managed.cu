// Managed memory: host and device follow the same pointers. The host builds a
// linked list, the device doubles what hangs on it, the host reads it back.
#include "../check.h"

struct node {
  int value;
  node *next;
};

__global__ void twice(node *const *heads, int lists) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < lists)
    for (node *n = heads[i]; n != nullptr; n = n->next)
      n->value *= 2;
}

int main() {
  const int lists = 100, length = 7;
  node **heads, *nodes;
  CHECK(cudaMallocManaged(&heads, lists * sizeof *heads));
  CHECK(cudaMallocManaged(&nodes, lists * length * sizeof *nodes));
  for (int i = 0; i < lists; i++) {
    heads[i] = nullptr;
    for (int k = 0; k < length; k++) {
      node *n = &nodes[k * lists + i];
      *n = {10 * i + k, heads[i]};
      heads[i] = n;
    }
  }

  twice<<<2, 64>>>(heads, lists);
  CHECK(cudaDeviceSynchronize());
  for (int i = 0; i < lists; i++)
    heads[i]->value++; // the last one that was hung in
  twice<<<2, 64>>>(heads, lists);
  CHECK(cudaDeviceSynchronize());

  int wrong = 0;
  for (int i = 0; i < lists; i++) {
    int k = length - 1;
    for (node *n = heads[i]; n != nullptr; n = n->next, k--)
      wrong += n->value != 4 * (10 * i + k) + (k == length - 1 ? 2 : 0);
    wrong += k != -1;
  }
  cudaPointerAttributes about;
  CHECK(cudaPointerGetAttributes(&about, nodes));
  wrong += about.type != cudaMemoryTypeManaged || about.devicePointer != about.hostPointer;
  CHECK(cudaFree(heads));
  CHECK(cudaFree(nodes));
  return verdict(wrong);
}
