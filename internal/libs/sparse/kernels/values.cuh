// Kernels that compute with the values of sparse matrices. Sums are in the order of the
// elements, or of fixed trees: the same for every schedule.
#pragma once
#include "../../blas/kernels/operand.cuh"
#include "view.cuh"

// dense is a matrix with distances from row to row and from column to column.
struct dense {
  void *at;
  int64_t row, column;
  int32_t conjugated, unused;
  template <class T> __device__ T &place(int64_t i, int64_t j) const { return ((T *)at)[i * row + j * column]; }
  template <class T, class Acc> __device__ Acc get(int64_t i, int64_t j) const {
    const Acc v = ::get<Acc>(place<T>(i, j));
    return conjugated ? conj(v) : v;
  }
};

// problem is the argument of all kernels here.
struct problem {
  view a, b;
  dense x, y;
  number alpha, beta;
  const int64_t *first; // sums of counts
  void *rows, *columns;
  void *to;
  int64_t n, k;
  int32_t wide, base, flags, unused;
};

template <class T, class Acc> __device__ inline Acc value(const view &v, int64_t i) {
  const Acc a = get<Acc>(((const T *)v.values)[v.place(i)]);
  return v.conjugated ? conj(a) : a;
}

// update is alpha * sum + beta * to, without reading to if beta is 0.
template <class T, class Acc> __device__ inline void update(const problem &p, T &to, Acc sum) {
  const Acc beta = p.beta.get<Acc>();
  Acc v = p.alpha.get<Acc>() * sum;
  if (!(beta == Acc(0))) v = mad(beta, get<Acc>(to), v);
  to = put<T>(v);
}

// total adds up W lanes.
template <int W, class Acc> __device__ inline Acc total(Acc v) {
  for (int n = W / 2; n > 0; n /= 2) v = v + shuffle(v, threadIdx.x % 32 ^ n);
  return v;
}

// spmv: W threads add up a row.
template <int W, class In, class Out, class Acc> __device__ inline void spmv(const problem &p) {
  const int64_t row = thread() / W;
  Acc sum(0);
  if (row < p.a.rows) {
    const int64_t end = p.a.begin(row + 1);
    for (int64_t i = p.a.begin(row) + threadIdx.x % W; i < end; i += W)
      sum = mad(value<In, Acc>(p.a, i), p.x.get<In, Acc>(p.a.column(i), 0), sum);
  }
  sum = total<W>(sum);
  if (row < p.a.rows && threadIdx.x % W == 0) update(p, p.y.place<Out>(row, 0), sum);
}

// spmm: a thread has an element of the result, or several if the grid has fewer columns. k
// neighbouring threads have neighbouring columns.
template <class In, class Out, class Acc> __device__ inline void spmm(const problem &p) {
  const int64_t row = thread() / p.k;
  if (row >= p.a.rows) return;
  for (int64_t j = blockIdx.y * p.k + threadIdx.x % p.k; j < p.n; j += gridDim.y * p.k) {
    Acc sum(0);
    const int64_t end = p.a.begin(row + 1);
    for (int64_t i = p.a.begin(row); i < end; i++) sum = mad(value<In, Acc>(p.a, i), p.x.get<In, Acc>(p.a.column(i), j), sum);
    update(p, p.y.place<Out>(row, j), sum);
  }
}

// sddmm: a warp has an element of the sparse result, and adds up k products.
template <class In, class Out, class Acc> __device__ inline void sddmm(const problem &p) {
  const int64_t i = thread() / 32;
  if (i >= p.n) return;
  const int64_t row = p.a.row(i), column = p.a.column(i);
  Acc sum(0);
  for (int64_t k = threadIdx.x % 32; k < p.k; k += 32) sum = mad(p.x.get<In, Acc>(row, k), p.y.get<In, Acc>(k, column), sum);
  sum = total<32>(sum);
  if (threadIdx.x % 32 == 0) update(p, ((Out *)p.a.values)[p.a.place(i)], sum);
}

// solve: a warp has a right side x, and computes y row by row: upward if flags has 1; a
// diagonal of ones is not stored if it has 2.
template <class T> __device__ inline void solve(const problem &p) {
  const int64_t j = thread() / 32, n = p.a.rows;
  if (j >= p.n) return;
  const bool up = p.flags & 1, ones = p.flags & 2;
  const T alpha = p.alpha.get<T>();
  for (int64_t r = 0; r < n; r++) {
    const int64_t row = up ? n - 1 - r : r, end = p.a.begin(row + 1);
    T sum(0), diagonal(0);
    for (int64_t i = p.a.begin(row) + threadIdx.x % 32; i < end; i += 32) {
      const int64_t column = p.a.column(i);
      if (column == row)
        diagonal = diagonal + value<T, T>(p.a, i);
      else if (up ? column > row : column < row)
        sum = mad(value<T, T>(p.a, i), *(T *)&p.y.place<T>(column, j), sum);
    }
    sum = total<32>(sum);
    if (!ones) diagonal = total<32>(diagonal);
    if (threadIdx.x % 32 == 0) {
      const T v = alpha * p.x.get<T, T>(row, j) - sum;
      p.y.place<T>(row, j) = ones ? v : divide(v, diagonal);
    }
    __syncwarp();
  }
}

// pivoted notes the first row whose pivot is zero or missing.
__device__ inline void pivoted(const problem &p, int64_t row, bool good) {
  int32_t *to = (int32_t *)p.rows;
  if (!good && threadIdx.x == 0 && *to < 0) *to = row + p.a.base;
}

// ilu computes the incomplete factors L and U of a, in its place. It is one warp.
template <class T> __device__ inline void ilu(const problem &p) {
  T *a = (T *)p.a.values;
  if (threadIdx.x == 0) *(int32_t *)p.rows = -1;
  for (int64_t i = 0; i < p.a.rows; i++) {
    const int64_t end = p.a.begin(i + 1);
    for (int64_t q = p.a.begin(i); q < end && p.a.column(q) < i; q++) {
      const int64_t k = p.a.column(q), d = find(p.a, k, k), last = p.a.begin(k + 1);
      if (d < 0) continue; // noted in row k
      const T f = divide(a[q], a[d]);
      __syncwarp();
      if (threadIdx.x == 0) a[q] = f;
      for (int64_t r = d + 1 + threadIdx.x; r < last; r += 32) {
        const int64_t to = find(p.a, i, p.a.column(r));
        if (to >= 0) a[to] = mad(negative(f), a[r], a[to]);
      }
      __syncwarp();
    }
    const int64_t d = find(p.a, i, i);
    pivoted(p, i, d >= 0 && !(a[d < 0 ? 0 : d] == T(0)));
  }
}

__device__ inline bool root(float &a) { const bool good = a > 0; a = sqrtf(a); return good; }
__device__ inline bool root(double &a) { const bool good = a > 0; a = sqrt(a); return good; }
template <class T> __device__ inline bool root(complex<T> &a) { a.y = 0; return root(a.x); }

// cholesky computes the incomplete factor L of a Hermitian matrix, in place of its lower
// triangle. It is one warp.
template <class T> __device__ inline void cholesky(const problem &p) {
  T *a = (T *)p.a.values;
  if (threadIdx.x == 0) *(int32_t *)p.rows = -1;
  for (int64_t i = 0; i < p.a.rows; i++) {
    const int64_t end = p.a.begin(i + 1);
    bool diagonal = false;
    for (int64_t q = p.a.begin(i); q < end && p.a.column(q) <= i; q++) {
      const int64_t k = p.a.column(q), last = p.a.begin(k + 1);
      T sum(0);
      for (int64_t r = p.a.begin(k) + threadIdx.x; r < last && p.a.column(r) < k; r += 32) {
        const int64_t other = find(p.a, i, p.a.column(r));
        if (other >= 0) sum = mad(a[other], conj(a[r]), sum);
      }
      T v = a[q] - total<32>(sum);
      if (k == i) {
        diagonal = root(v);
      } else {
        const int64_t d = find(p.a, k, k);
        if (d < 0) continue; // noted in row k
        v = divide(v, a[d]);
      }
      __syncwarp();
      if (threadIdx.x == 0) a[q] = v;
      __syncwarp();
    }
    pivoted(p, i, diagonal);
  }
}

// products writes row, column and value of all products of elements of two matrices; those
// of an element of the first begin at first.
template <class T> __device__ inline void products(const problem &p) {
  const int64_t i = thread();
  if (i >= p.n) return;
  int64_t low = 0, high = p.k; // the last element whose products begin here or before
  while (high - low > 1) {
    const int64_t middle = (low + high) / 2;
    if (p.first[middle] <= i) low = middle; else high = middle;
  }
  const int64_t j = p.b.begin(p.a.column(low)) + (i - p.first[low]);
  ((uint32_t *)p.rows)[i] = p.a.row(low);
  ((uint32_t *)p.columns)[i] = p.b.column(j);
  ((T *)p.to)[i] = value<T, T>(p.a, low) * value<T, T>(p.b, j);
}

// sums adds up runs of products, which lie in the order of a's places.
template <class T> __device__ inline void sums(const problem &p) {
  const int64_t i = thread();
  if (i >= p.n) return;
  T sum(0);
  for (int64_t j = p.first[i]; j < p.first[i + 1]; j++) sum = sum + value<T, T>(p.a, j);
  update(p, ((T *)p.to)[i], sum);
}

// merge adds matrices: alpha * a + beta * b. Rows of the result begin at first.
template <class T> __device__ inline void merge(const problem &p) {
  const int64_t row = thread();
  if (row >= p.a.rows) return;
  const T alpha = p.alpha.get<T>(), beta = p.beta.get<T>();
  int64_t i = p.a.begin(row), j = p.b.begin(row), to = p.first[row];
  const int64_t endA = p.a.begin(row + 1), endB = p.b.begin(row + 1);
  for (; i < endA || j < endB; to++) {
    const int64_t x = i < endA ? p.a.column(i) : INT64_MAX, y = j < endB ? p.b.column(j) : INT64_MAX;
    T v(0);
    if (x <= y) v = alpha * value<T, T>(p.a, i++);
    if (y <= x) v = mad(beta, value<T, T>(p.b, j++), v);
    save(p.columns, p.wide, to, (x < y ? x : y) + p.base);
    ((T *)p.to)[to] = v;
  }
}

// compact looks through row thread/32 of x for elements that are not zero. With flags it
// stores them from first on, otherwise it only counts them.
template <class T, class Acc> __device__ inline void compact(const problem &p) {
  const int64_t row = thread() / 32;
  if (row >= p.n) return;
  const int lane = threadIdx.x % 32;
  int64_t n = 0, to = p.flags ? p.first[row] : 0;
  for (int64_t j = 0; j < p.k; j += 32) {
    T v = put<T>(Acc(0));
    if (j + lane < p.k) v = p.x.place<T>(row, j + lane);
    const bool some = !(get<Acc>(v) == Acc(0));
    const unsigned all = __ballot_sync(~0u, some);
    if (some && p.flags) {
      const int64_t at = to + n + __popc(all & ((1u << lane) - 1));
      save(p.columns, p.wide, at, j + lane + p.base);
      ((T *)p.to)[at] = v;
    }
    n += __popc(all);
  }
  if (!p.flags && lane == 0) ((int64_t *)p.rows)[row] = n;
}

// densify writes a row of a to x: a warp has a row.
template <class T, class Acc> __device__ inline void densify(const problem &p) {
  const int64_t row = thread() / 32;
  if (row >= p.a.rows) return;
  for (int64_t j = threadIdx.x % 32; j < p.a.columns; j += 32) p.x.place<T>(row, j) = put<T>(Acc(0));
  __syncwarp();
  const int64_t end = p.a.begin(row + 1);
  for (int64_t i = p.a.begin(row) + threadIdx.x % 32; i < end; i += 32) p.x.place<T>(row, p.a.column(i)) = ((const T *)p.a.values)[p.a.place(i)];
}

// Vectors: the elements of a sparse one are the first row of a.
template <class T, class Acc> __device__ inline void scale(const problem &p) {
  const int64_t i = thread();
  if (i >= p.n) return;
  const Acc beta = p.beta.get<Acc>();
  T &to = p.y.place<T>(i, 0);
  to = put<T>(beta == Acc(0) ? Acc(0) : beta * get<Acc>(to));
}
template <class T, class Acc> __device__ inline void axpy(const problem &p) {
  const int64_t i = thread();
  if (i >= p.n) return;
  T &to = p.y.place<T>(p.a.column(i), 0);
  to = put<T>(mad(p.alpha.get<Acc>(), value<T, Acc>(p.a, i), get<Acc>(to)));
}
template <class T, class Acc> __device__ inline void rotate(const problem &p) {
  const int64_t i = thread();
  if (i >= p.n) return;
  T &from = ((T *)p.a.values)[i], &to = p.y.place<T>(p.a.column(i), 0);
  const Acc c = p.alpha.get<Acc>(), s = p.beta.get<Acc>(), x = get<Acc>(from), y = get<Acc>(to);
  from = put<T>(mad(c, x, s * y));
  to = put<T>(mad(c, y, negative(s) * x));
}

// dot is one block.
template <class T, class Acc> __device__ inline void dot(const problem &p) {
  __shared__ __align__(16) char bytes[8 * sizeof(Acc)];
  Acc *sums = (Acc *)bytes, sum(0);
  for (int64_t i = threadIdx.x; i < p.n; i += 256) sum = mad(value<T, Acc>(p.a, i), p.y.get<T, Acc>(p.a.column(i), 0), sum);
  sum = total<32>(sum);
  if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x > 0) return;
  for (int w = 1; w < 8; w++) sum = sum + sums[w];
  *(Acc *)p.to = sum;
}

#define KERNEL(name, body) extern "C" __global__ void __launch_bounds__(256) name(problem p) { body(p); }
#define COMMA ,
#define PRODUCTS(In, Out, Acc, name) \
  KERNEL(spmv4_##name, spmv<4 COMMA In COMMA Out COMMA Acc>) \
  KERNEL(spmv32_##name, spmv<32 COMMA In COMMA Out COMMA Acc>) \
  KERNEL(spmm_##name, spmm<In COMMA Out COMMA Acc>) \
  KERNEL(sddmm_##name, sddmm<In COMMA Out COMMA Acc>)
#define VECTORS(T, Acc, name) \
  KERNEL(compact_##name, compact<T COMMA Acc>) \
  KERNEL(densify_##name, densify<T COMMA Acc>) \
  KERNEL(scale_##name, scale<T COMMA Acc>) \
  KERNEL(axpy_##name, axpy<T COMMA Acc>) \
  KERNEL(rotate_##name, rotate<T COMMA Acc>) \
  KERNEL(dot_##name, dot<T COMMA Acc>)
#define MATRICES(T, name) \
  PRODUCTS(T, T, T, name##_##name) \
  VECTORS(T, T, name) \
  KERNEL(solve_##name, solve<T>) \
  KERNEL(products_##name, products<T>) \
  KERNEL(sums_##name, sums<T>) \
  KERNEL(merge_##name, merge<T>) \
  KERNEL(ilu_##name, ilu<T>) \
  KERNEL(cholesky_##name, cholesky<T>)
