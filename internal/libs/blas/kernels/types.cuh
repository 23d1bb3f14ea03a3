// What all kernels of the library share: element types, complex numbers, scalars that lie
// on the host or on the device, and places of matrices.
#pragma once
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <stdint.h>
#include <type_traits>

// complex is a complex number. Products are computed part by part, each with two fused
// multiply-adds.
template <class T> struct complex {
  T x, y;
  __device__ complex() {}
  __device__ complex(T x, T y = 0) : x(x), y(y) {}
  __device__ complex operator+(complex b) const { return {x + b.x, y + b.y}; }
  __device__ complex operator-(complex b) const { return {x - b.x, y - b.y}; }
  __device__ complex operator*(complex b) const { return {fma(x, b.x, -(y * b.y)), fma(x, b.y, y * b.x)}; }
  __device__ bool operator==(complex b) const { return x == b.x && y == b.y; }
};
using complex32 = complex<float>;
using complex64 = complex<double>;

// mad adds a product.
template <class T> __device__ inline T mad(T a, T b, T c) { return fma(a, b, c); }
template <> __device__ inline int mad(int a, int b, int c) { return a * b + c; }
template <class T> __device__ inline complex<T> mad(complex<T> a, complex<T> b, complex<T> c) {
  return {fma(-a.y, b.y, fma(a.x, b.x, c.x)), fma(a.y, b.x, fma(a.x, b.y, c.y))};
}

// conj is the conjugate of complex numbers, and other numbers themselves.
template <class T> __device__ inline T conj(T a) { return a; }
template <class T> __device__ inline complex<T> conj(complex<T> a) { return {a.x, -a.y}; }

// get converts an element to the type that is computed with.
template <class Acc, class T> __device__ inline Acc get(T a) { return Acc(a); }
template <> __device__ inline float get(__half a) { return __half2float(a); }
template <> __device__ inline float get(__nv_bfloat16 a) { return __bfloat162float(a); }

// put converts a result to the type of an element, rounded to nearest.
template <class T, class Acc> __device__ inline T put(Acc a) { return T(a); }
template <> __device__ inline __half put(float a) { return __float2half_rn(a); }
template <> __device__ inline __nv_bfloat16 put(float a) { return __float2bfloat16_rn(a); }

// parts says of which numbers an element is made.
template <class T> struct parts { typedef T type; enum { count = 1 }; };
template <class T> struct parts<complex<T>> { typedef T type; enum { count = 2 }; };

// scalar is alpha or beta: a value, or where it lies on the device.
template <class T> struct scalar {
  T value;
  const T *at;
  __device__ T get() const {
    T v = value;
    if (at) {
      typedef typename parts<T>::type part;
      for (int i = 0; i < parts<T>::count; i++) ((part *)&v)[i] = __ldg((const part *)at + i);
    }
    return v;
  }
};

// copy moves V aligned elements, 16 bytes at a time.
template <int V, class T> __device__ inline void copy(T *to, const T *from) {
  typedef typename parts<T>::type part;
  constexpr int all = V * parts<T>::count, most = 16 / sizeof(part), n = all < most ? all : most;
  typedef part vector __attribute__((ext_vector_type(n)));
#pragma unroll
  for (int i = 0; i < all; i += n) {
    vector v = *(const vector *)((const part *)from + i);
#pragma unroll
    for (int j = 0; j < n; j++) ((part *)to)[i + j] = v[j];
  }
}

// store writes V elements with one instruction.
template <int V, class T> __device__ inline void store(T *to, const T *from) {
  typedef uint32_t vector __attribute__((ext_vector_type(V * sizeof(T) / 4)));
  vector v;
  memcpy(&v, from, sizeof v);
  *(vector *)to = v;
}

// A product of f16 in f16 has scalars of f16.
template <> struct scalar<float> {
  float value;
  int32_t half;
  const void *at;
  __device__ float get() const {
    float v = value;
    if (at) v = half ? __half2float(__ldg((const __half *)at)) : __ldg((const float *)at);
    return v;
  }
};

// matrices are the operands of a product with the same number: one, or a batch in steps of
// a stride, or a batch that an array of pointers names.
template <class T> struct matrices {
  T *at; // or the array
  int64_t stride;
  int32_t listed;
  int32_t ld;
  template <class U = T> __device__ U *batch(int i) const { return listed ? ((U **)at)[i] : (U *)at + i * stride; }
};

enum op { N, TRANSPOSED, CONJUGATED };
