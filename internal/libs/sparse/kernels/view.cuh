// Sparse matrices as all kernels see them: by rows, whatever their format.
#pragma once
#include <stdint.h>

// load and save are elements of arrays of 32-bit or 64-bit integers.
__device__ inline int64_t load(const void *at, int wide, int64_t i) { return wide ? ((const int64_t *)at)[i] : ((const int32_t *)at)[i]; }
__device__ inline void save(void *at, int wide, int64_t i, int64_t v) {
  if (wide)
    ((int64_t *)at)[i] = v;
  else
    ((int32_t *)at)[i] = (int32_t)v;
}

// view is a matrix by rows. If its elements are stored in another order, places has the
// place of each value.
struct view {
  const void *offsets, *indices;
  void *values;
  const int32_t *places;
  int64_t rows, columns;
  int32_t wideOffsets, wideIndices, offsetBase, base, conjugated, unused;

  __device__ int64_t begin(int64_t row) const { return load(offsets, wideOffsets, row) - offsetBase; }
  __device__ int64_t column(int64_t i) const { return load(indices, wideIndices, i) - base; }
  __device__ int64_t place(int64_t i) const { return places ? places[i] : i; }
  // row is that of an element: the last one that begins at it or before.
  __device__ int64_t row(int64_t i) const {
    int64_t low = 0, high = rows;
    while (high - low > 1) {
      const int64_t middle = (low + high) / 2;
      if (begin(middle) <= i) low = middle; else high = middle;
    }
    return low;
  }
};

// find is the place of an element of a row whose columns are in order, -1 if it has none.
__device__ inline int64_t find(const view &v, int64_t row, int64_t column) {
  int64_t low = v.begin(row), high = v.begin(row + 1);
  while (low < high) {
    const int64_t middle = (low + high) / 2, at = v.column(middle);
    if (at == column) return middle;
    if (at < column) low = middle + 1; else high = middle;
  }
  return -1;
}

// thread is the number of the thread in the grid.
__device__ inline int64_t thread() { return blockIdx.x * (int64_t)blockDim.x + threadIdx.x; }
