// Several files: this one calls a device function and reads variables of
// table.cu. CRC-32 of many messages, a thread for each.
#include "../check.h"
#include "table.h"

#include <vector>

__global__ void crc(const unsigned char *text, int length, unsigned *out, int messages) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= messages)
    return;
  unsigned state = first;
  for (int k = 0; k < length; k++)
    state = step(state, text[i * length + k]);
  out[i] = ~state;
}

int main() {
  const unsigned polynomial = 0xedb88320;
  const int messages = 150, length = 20;
  std::vector<unsigned char> text(messages * length);
  for (size_t i = 0; i < text.size(); i++)
    text[i] = i * i / 7;
  unsigned char *dtext;
  unsigned *dout, got[messages], sample;
  CHECK(cudaMalloc(&dtext, text.size()));
  CHECK(cudaMalloc(&dout, sizeof got));
  CHECK(cudaMemcpy(dtext, text.data(), text.size(), cudaMemcpyHostToDevice));
  fill<<<1, entries>>>(polynomial);
  crc<<<(messages + 63) / 64, 64>>>(dtext, length, dout, messages);
  CHECK(cudaMemcpy(got, dout, sizeof got, cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpyFromSymbol(&sample, table, sizeof sample, 128 * sizeof sample));

  int wrong = sample != polynomial;
  for (int i = 0; i < messages; i++) {
    unsigned state = ~0u;
    for (int k = 0; k < length; k++) {
      state ^= text[i * length + k];
      for (int bit = 0; bit < 8; bit++)
        state = state & 1 ? state >> 1 ^ polynomial : state >> 1;
    }
    wrong += got[i] != ~state;
  }
  return verdict(wrong);
}
