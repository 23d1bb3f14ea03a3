// The operands of all kernels but the plain products: vectors, and matrices of every
// structure and storage that BLAS has.
#pragma once
#include "types.cuh"

template <class T> __device__ inline T divide(T a, T b) { return a / b; }
// The quotient of complex numbers is that of numbers scaled by the larger part of the
// divisor, so that squares cannot overflow.
template <class T> __device__ inline complex<T> divide(complex<T> a, complex<T> b) {
  if (fabs(b.x) >= fabs(b.y)) {
    const T q = b.y / b.x, d = fma(b.y, q, b.x);
    return {fma(a.y, q, a.x) / d, fma(-a.x, q, a.y) / d};
  }
  const T q = b.x / b.y, d = fma(b.x, q, b.y);
  return {fma(a.x, q, a.y) / d, fma(a.y, q, -a.x) / d};
}

template <class T> __device__ inline T negative(T a) { return -a; }
template <class T> __device__ inline complex<T> negative(complex<T> a) { return {-a.x, -a.y}; }

template <class T> __device__ inline T realOf(T a) { return a; }
template <class T> __device__ inline T realOf(complex<T> a) { return a.x; }
template <class T> __device__ inline T imaginaryOf(T) { return 0; }
template <class T> __device__ inline T imaginaryOf(complex<T> a) { return a.y; }

template <class T> __device__ inline T onlyReal(T a) { return a; }
template <class T> __device__ inline complex<T> onlyReal(complex<T> a) { return {a.x, 0}; }

template <class T> __device__ inline T shuffle(T a, int lane) { return __shfl_sync(~0u, a, lane); }
template <class T> __device__ inline complex<T> shuffle(complex<T> a, int lane) { return {shuffle(a.x, lane), shuffle(a.y, lane)}; }

// make is a number of the type that is computed with.
template <class T> __device__ inline T make(double x, double) { return T(x); }
template <> __device__ inline complex32 make(double x, double y) { return {(float)x, (float)y}; }
template <> __device__ inline complex64 make(double x, double y) { return {x, y}; }

// number is a scalar argument: a value, or where it lies on the device, and of which type
// (cudaDataType).
struct number {
  double x, y;
  const void *at;
  int32_t type, unused;
  template <class T> __device__ T get() const {
    double re = x, im = y;
    if (at) {
      im = 0;
      switch (type) {
      case 0: re = *(const float *)at; break;
      case 1: re = *(const double *)at; break;
      case 2: re = __half2float(*(const __half *)at); break;
      case 10: re = *(const int32_t *)at; break;
      case 14: re = __bfloat162float(*(const __nv_bfloat16 *)at); break;
      case 4: re = ((const float *)at)[0], im = ((const float *)at)[1]; break;
      case 5: re = ((const double *)at)[0], im = ((const double *)at)[1]; break;
      }
    }
    return make<T>(re, im);
  }
};

enum kind { GENERAL, SYMMETRIC, HERMITIAN, TRIANGULAR };
enum packing { DENSE, PACKED_LOWER, PACKED_UPPER };
enum flip { ROWS = 1, COLUMNS = 2 };

// operand is a matrix, or a batch of them. Elements are addressed as the operation sees
// them: after rows or columns have been reversed, after the transposition, and with the
// elements that the structure implies. A vector is a transposed row: its increment is ld.
template <class T> struct operand {
  T *at;
  int64_t stride, offset, ld;
  int32_t listed, kind, packed, upper, unit, transposed, conjugated, flip, n, below, above, unused;

  template <class U = T> __device__ U *base(int batch) const { return (listed ? ((U **)at)[batch] : (U *)at + batch * stride) + offset; }

  // place is the address of a stored element.
  template <class U> __device__ U &place(U *base, int i, int j) const {
    if (flip & ROWS) i = n - 1 - i;
    if (flip & COLUMNS) j = n - 1 - j;
    return transposed ? base[j + i * ld] : base[i + j * ld];
  }

  // index is where an element of the stored triangle is.
  __device__ int64_t index(int i, int j) const {
    if (packed == DENSE) return i + j * ld;
    return i + (int64_t)j * (packed == PACKED_UPPER ? j + 1 : 2 * n - 1 - j) / 2;
  }

  // stored says whether an element is that of the stored triangle.
  __device__ bool stored(int i, int j) const { return kind == GENERAL || (upper ? i <= j : i >= j); }

  // get is an element of a matrix of any structure.
  template <class Acc, class U> __device__ Acc get(U *base, int i, int j) const {
    if (flip & ROWS) i = n - 1 - i;
    if (flip & COLUMNS) j = n - 1 - j;
    if (transposed) { const int t = i; i = j; j = t; }
    bool conjugate = conjugated;
    if (kind != GENERAL && (upper ? i > j : i < j)) {
      if (kind == TRIANGULAR) return Acc(0);
      const int t = i; i = j; j = t;
      conjugate ^= kind == HERMITIAN;
    }
    if (i - j > below || j - i > above) return Acc(0);
    if (unit && i == j) return Acc(1);
    const Acc v = ::get<Acc>(base[index(i, j)]);
    if (kind == HERMITIAN && i == j) return onlyReal(v);
    return conjugate ? conj(v) : v;
  }
};

// Flags of products that are added with their operands exchanged.
enum { CONJUGATE = 1, BOTH = 2 };

// task is the argument of all kernels here.
template <class In, class Out = In> struct task {
  int32_t m, n, k;
  int32_t first; // batch of the first z of the grid
  int32_t flags, more;
  number alpha, beta;
  operand<const In> a, b;
  operand<Out> c;
};
