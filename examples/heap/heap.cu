// Every thread builds a linked list with malloc, walks it, and frees it again.
#include "../cuda.h"

extern "C" __device__ void *malloc(u64 size);
extern "C" __device__ void free(void *p);

struct Node {
  Node *next;
  u32 value;
};

extern "C" __global__ void heap(u32 *out, u32 *failed, u32 rounds) {
  u32 i = blockIdx.x * blockDim.x + threadIdx.x, sum = 0;
#pragma unroll 1
  for (u32 r = 0; r < rounds; r++) {
    Node *list = nullptr;
#pragma unroll 1
    for (u32 k = 0; k < 1 + i % 13; k++) {
      Node *node = (Node *)malloc(sizeof(Node));
      if (node == nullptr) {
        atomicAdd(failed, 1u);
        break;
      }
      *node = {list, i * 2654435761u + k + r};
      list = node;
    }
    // Last in, first out: the order counts.
    while (list != nullptr) {
      Node *next = list->next;
      sum = sum * 31 + list->value;
      free(list);
      list = next;
    }
  }
  out[i] = sum;
}
