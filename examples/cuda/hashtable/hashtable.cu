// A hash table without locks: threads claim slots with compare-and-swap and
// count with atomicAdd; a second kernel looks keys up.
#include "../check.h"

#include <map>
#include <vector>

const unsigned slots = 1024, empty = ~0u;

struct slot {
  unsigned key, count;
};

__device__ unsigned hash(unsigned key) {
  key ^= key >> 16;
  key *= 0x45d9f3bu;
  key ^= key >> 13;
  return key % slots;
}

__global__ void insert(slot *table, const unsigned *keys, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  unsigned key = keys[i];
  for (unsigned at = hash(key);; at = (at + 1) % slots) {
    unsigned was = atomicCAS(&table[at].key, empty, key);
    if (was == empty || was == key) {
      atomicAdd(&table[at].count, 1);
      return;
    }
  }
}

__global__ void lookup(const slot *table, const unsigned *keys, unsigned *counts, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  unsigned at = hash(keys[i]);
  while (table[at].key != keys[i] && table[at].key != empty)
    at = (at + 1) % slots;
  counts[i] = table[at].key == empty ? 0 : table[at].count;
}

int main() {
  const int n = 4000, asked = 900;
  std::vector<unsigned> keys(n), questions(asked), counts(asked);
  std::map<unsigned, unsigned> want;
  unsigned seed = 7;
  for (unsigned &k : keys) {
    seed = seed * 1664525 + 1013904223;
    k = (seed >> 16) % 700 * 1000003; // about 700 different keys
    want[k]++;
  }
  for (int i = 0; i < asked; i++)
    questions[i] = i * 1000003u; // some are not there

  slot *table;
  unsigned *dkeys, *dquestions, *dcounts;
  CHECK(cudaMalloc(&table, slots * sizeof *table));
  CHECK(cudaMalloc(&dkeys, n * sizeof *dkeys));
  CHECK(cudaMalloc(&dquestions, asked * sizeof *dquestions));
  CHECK(cudaMalloc(&dcounts, asked * sizeof *dcounts));
  std::vector<slot> blank(slots, slot{empty, 0});
  CHECK(cudaMemcpy(table, blank.data(), slots * sizeof *table, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(dkeys, keys.data(), n * sizeof *dkeys, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(dquestions, questions.data(), asked * sizeof *dquestions, cudaMemcpyHostToDevice));
  insert<<<(n + 127) / 128, 128>>>(table, dkeys, n);
  lookup<<<(asked + 127) / 128, 128>>>(table, dquestions, dcounts, asked);
  CHECK(cudaMemcpy(counts.data(), dcounts, asked * sizeof *dcounts, cudaMemcpyDeviceToHost));

  int wrong = 0;
  for (int i = 0; i < asked; i++)
    wrong += counts[i] != (want.count(questions[i]) ? want[questions[i]] : 0);
  return verdict(wrong);
}
