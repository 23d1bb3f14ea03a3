// targets: 52
#include "rand.cuh"

// The generator MT19937 of Matsumoto and Nishimura (1998), with its state of 624 words in
// shared memory. One block generates all numbers: they are in the order of the sequence.
constexpr int size = 624, middle = 397, threads = 256;

// words are the next ones of a state.
struct words {
  const unsigned *at;
};
static inline __device__ unsigned curand(words *w) {
  unsigned y = *w->at++;
  y ^= y >> 11;
  y ^= y << 7 & 0x9d2c5680u;
  y ^= y << 15 & 0xefc60000u;
  return y ^ y >> 18;
}

// renew replaces a part of the state by the next one, whose words depend only on words
// before the part, after it, or not yet replaced.
static __device__ void renew(unsigned *x, int from, int to) {
  const int i = from + threadIdx.x;
  unsigned v = 0;
  if (i < to) {
    const unsigned y = (x[i] & 0x80000000u) | (x[(i + 1) % size] & 0x7fffffffu);
    v = x[(i + middle) % size] ^ y >> 1 ^ (y & 1 ? 0x9908b0dfu : 0);
  }
  __syncthreads();
  if (i < to) x[i] = v;
  __syncthreads();
}

// Words that a pair or a double does not use up are left out. At its end the state is to be
// renewed, also at first.
template <class D> __device__ inline void in_order(const task &t, uint64_t *positions, unsigned *state) {
  __shared__ unsigned x[size];
  constexpr int unit = D::count * D::words; // of words, divides the size
  const int left_out = (unit - positions[0] % unit) % unit;
  const uint64_t word = advance(positions, left_out + t.count * D::words) + left_out;
  int position = word % size ? word % size : size;
  for (int i = threadIdx.x; i < size; i += threads) x[i] = state[i];
  __syncthreads();
  for (int64_t done = 0; done < t.count;) {
    if (position == size) {
      renew(x, 0, size - middle);
      renew(x, size - middle, 2 * (size - middle));
      renew(x, 2 * (size - middle), size);
      position = 0;
    }
    for (int i = threadIdx.x; i < (size - position) / unit; i += threads) {
      const int64_t at = done + i * D::count;
      words w = {x + position + i * unit};
      if (at < t.count) D::draw(&w, t, (typename D::type *)t.to + at);
    }
    __syncthreads();
    const int64_t more = min(int64_t((size - position) / unit * D::count), t.count - done);
    done += more;
    position += more * D::words;
  }
  for (int i = threadIdx.x; i < size; i += threads) state[i] = x[i];
}

#define KERNEL(D) \
  extern "C" __global__ void __launch_bounds__(threads) mt19937_##D(task t, uint64_t *positions, unsigned *state) { in_order<D>(t, positions, state); }
FIXED(KERNEL)
