// targets: 52
// What has to do with the places of elements, not with their values: conversions between
// formats, sorting, sums of counts.
#include "view.cuh"

// count fills an array with 0, 1, 2, ...
extern "C" __global__ void __launch_bounds__(256) count(int32_t *to, int64_t n) {
  if (thread() < n) to[thread()] = thread();
}

// expand writes the row of each element.
extern "C" __global__ void __launch_bounds__(256) expand(view v, void *to, int64_t n, int32_t wide, int32_t base) {
  if (thread() < n) save(to, wide, thread(), v.row(thread()) + base);
}

// compress writes where each row begins in a sorted list of rows, and the end of the last.
extern "C" __global__ void __launch_bounds__(256)
    compress(const void *from, int64_t n, int32_t wideFrom, int32_t baseFrom, void *to, int64_t rows, int32_t wideTo, int32_t baseTo) {
  const int64_t row = thread();
  if (row > rows) return;
  int64_t low = 0, high = n;
  while (low < high) {
    const int64_t middle = (low + high) / 2;
    if (load(from, wideFrom, middle) - baseFrom < row) low = middle + 1; else high = middle;
  }
  save(to, wideTo, row, low + baseTo);
}

// pick copies integers in the order of places, if there are any, and adds a number.
extern "C" __global__ void __launch_bounds__(256)
    pick(void *to, const void *from, const int32_t *places, int64_t n, int32_t wideTo, int32_t wideFrom, int64_t add) {
  const int64_t i = thread();
  if (i < n) save(to, wideTo, i, load(from, wideFrom, places ? places[i] : i) + add);
}

template <class T> __device__ inline void moveOne(void *to, int64_t i, const void *from, int64_t j) { ((T *)to)[i] = ((const T *)from)[j]; }

// move copies elements of any type: to[a] = from[b], where a or b is taken from a list.
extern "C" __global__ void __launch_bounds__(256)
    move(void *to, const void *from, const void *list, int64_t n, int32_t wide, int32_t base, int32_t scatter, int32_t size) {
  int64_t i = thread();
  if (i >= n) return;
  int64_t j = load(list, wide, i) - base;
  if (scatter) { const int64_t t = i; i = j; j = t; }
  switch (size) {
  case 1: moveOne<int8_t>(to, i, from, j); break;
  case 2: moveOne<int16_t>(to, i, from, j); break;
  case 4: moveOne<int32_t>(to, i, from, j); break;
  case 8: moveOne<int2>(to, i, from, j); break;
  case 16: moveOne<int4>(to, i, from, j); break;
  }
}

// Sorting goes by 4 bits at a time. A block has a chunk of keys.
enum { CHUNK = 2048, DIGITS = 16 };

// histogram counts the digits of each chunk.
extern "C" __global__ void __launch_bounds__(256) histogram(const uint32_t *keys, int64_t n, int32_t shift, int32_t unused, int64_t *counts) {
  __shared__ int sums[DIGITS];
  if (threadIdx.x < DIGITS) sums[threadIdx.x] = 0;
  __syncthreads();
  for (int k = threadIdx.x; k < CHUNK; k += 256) {
    const int64_t i = blockIdx.x * (int64_t)CHUNK + k;
    if (i < n) atomicAdd(&sums[keys[i] >> shift & (DIGITS - 1)], 1);
  }
  __syncthreads();
  if (threadIdx.x < DIGITS) counts[threadIdx.x * (int64_t)gridDim.x + blockIdx.x] = sums[threadIdx.x];
}

// distribute moves keys and their places to where their digits belong, in order.
extern "C" __global__ void __launch_bounds__(256) distribute(const uint32_t *keys, const int32_t *places, uint32_t *keysTo, int32_t *placesTo,
                                                             int64_t n, int32_t shift, int32_t unused, const int64_t *counts) {
  __shared__ int64_t first[DIGITS];
  __shared__ int sums[DIGITS][8];
  const int t = threadIdx.x, warp = t / 32, lane = t % 32;
  if (t < DIGITS) first[t] = counts[t * (int64_t)gridDim.x + blockIdx.x];
  for (int k = 0; k < CHUNK && blockIdx.x * (int64_t)CHUNK + k < n; k += 256) {
    const int64_t i = blockIdx.x * (int64_t)CHUNK + k + t;
    const bool valid = i < n;
    const uint32_t key = valid ? keys[i] : 0;
    const int digit = key >> shift & (DIGITS - 1);
    if (t < DIGITS * 8) sums[t / 8][t % 8] = 0;
    __syncthreads();
    unsigned same = __ballot_sync(~0u, valid);
    for (int bit = 0; bit < 4; bit++) {
      const unsigned set = __ballot_sync(~0u, digit >> bit & 1);
      same &= digit >> bit & 1 ? set : ~set;
    }
    const int rank = __popc(same & ((1u << lane) - 1));
    if (valid && rank == 0) sums[digit][warp] = __popc(same);
    __syncthreads();
    if (valid) {
      int64_t to = first[digit] + rank;
      for (int w = 0; w < warp; w++) to += sums[digit][w];
      keysTo[to] = key;
      placesTo[to] = places[i];
    }
    __syncthreads();
    if (t < DIGITS)
      for (int w = 0; w < 8; w++) first[t] += sums[t][w];
    __syncthreads();
  }
}

// scan replaces n numbers by the sums of those before them; the sum of all follows. It is
// one block.
extern "C" __global__ void __launch_bounds__(1024) scan(int64_t *a, int64_t n) {
  __shared__ int64_t sums[32];
  const int t = threadIdx.x, warp = t / 32, lane = t % 32;
  int64_t before = 0;
  for (int64_t at = 0; at < n; at += 4096) {
    int64_t v[4], sum = 0;
    for (int k = 0; k < 4; k++) {
      const int64_t i = at + 4 * t + k;
      v[k] = i < n ? a[i] : 0;
      sum += v[k];
    }
    int64_t up = sum;
    for (int d = 1; d < 32; d *= 2) {
      const int64_t other = __shfl_up_sync(~0u, (long long)up, d);
      if (lane >= d) up += other;
    }
    if (lane == 31) sums[warp] = up;
    __syncthreads();
    int64_t first = before + up - sum, all = 0;
    for (int w = 0; w < 32; w++) {
      if (w < warp) first += sums[w];
      all += sums[w];
    }
    for (int k = 0; k < 4; k++) {
      const int64_t i = at + 4 * t + k;
      if (i < n) a[i] = first;
      first += v[k];
    }
    before += all;
    __syncthreads();
  }
  if (t == 0) a[n] = before;
}

// lengths writes how many products each element of a matrix has with those of another.
extern "C" __global__ void __launch_bounds__(256) lengths(view a, view b, int64_t n, int64_t *to) {
  const int64_t i = thread();
  if (i >= n) return;
  const int64_t row = a.column(i);
  to[i] = b.begin(row + 1) - b.begin(row);
}

// heads writes 1 for each element of a sorted list that is not equal to that before it.
extern "C" __global__ void __launch_bounds__(256) heads(const uint32_t *rows, const uint32_t *columns, int64_t n, int64_t *to) {
  const int64_t i = thread();
  if (i < n) to[i] = i == 0 || rows[i] != rows[i - 1] || columns[i] != columns[i - 1];
}

// unite writes row, column and first element of each run of equal ones, whose numbers are
// the sums of heads. The end of the last run follows.
extern "C" __global__ void __launch_bounds__(256)
    unite(const uint32_t *rows, const uint32_t *columns, int64_t n, const int64_t *sums, int32_t *rowsTo, int32_t *columnsTo, int64_t *first) {
  const int64_t i = thread();
  if (i == 0) first[sums[n]] = n;
  if (i >= n || sums[i + 1] == sums[i]) return;
  rowsTo[sums[i]] = rows[i];
  columnsTo[sums[i]] = columns[i];
  first[sums[i]] = i;
}

// diagonals writes the first row that lacks its diagonal element, as the matrix counts, or
// -1. It is one block.
extern "C" __global__ void __launch_bounds__(256) diagonals(view a, int32_t *to) {
  __shared__ int firsts[8];
  int first = INT32_MAX;
  for (int64_t row = threadIdx.x; row < a.rows && first == INT32_MAX; row += 256)
    if (find(a, row, row) < 0) first = row;
  for (int d = 16; d > 0; d /= 2) first = min(first, __shfl_xor_sync(~0u, first, d));
  if (threadIdx.x % 32 == 0) firsts[threadIdx.x / 32] = first;
  __syncthreads();
  if (threadIdx.x > 0) return;
  for (int w = 1; w < 8; w++) first = min(first, firsts[w]);
  *to = first == INT32_MAX ? -1 : first + a.base;
}

// merged writes how many elements each row of the sum of two matrices has.
extern "C" __global__ void __launch_bounds__(256) merged(view a, view b, int64_t *to) {
  const int64_t row = thread();
  if (row >= a.rows) return;
  int64_t i = a.begin(row), j = b.begin(row), n = 0;
  const int64_t endA = a.begin(row + 1), endB = b.begin(row + 1);
  for (; i < endA && j < endB; n++) {
    const int64_t x = a.column(i), y = b.column(j);
    i += x <= y;
    j += y <= x;
  }
  to[row] = n + (endA - i) + (endB - j);
}
