// The vector types, with the sizes and alignments that kernels rely on.
#ifndef HEDDLE_VECTOR_TYPES_H
#define HEDDLE_VECTOR_TYPES_H
// Programs test this macro to see whether the header was included.
#define __VECTOR_TYPES_H__

#include "host_defines.h"

#define HEDDLE_VECTOR(name, type, a1, a2, a3, a4)                   \
  struct __align__(a1) name##1 { type x; };                         \
  struct __align__(a2) name##2 { type x, y; };                      \
  struct __align__(a3) name##3 { type x, y, z; };                   \
  struct __align__(a4) name##4 { type x, y, z, w; };                \
  typedef struct name##1 name##1;                                   \
  typedef struct name##2 name##2;                                   \
  typedef struct name##3 name##3;                                   \
  typedef struct name##4 name##4;

HEDDLE_VECTOR(char, signed char, 1, 2, 1, 4)
HEDDLE_VECTOR(uchar, unsigned char, 1, 2, 1, 4)
HEDDLE_VECTOR(short, short, 2, 4, 2, 8)
HEDDLE_VECTOR(ushort, unsigned short, 2, 4, 2, 8)
HEDDLE_VECTOR(int, int, 4, 8, 4, 16)
HEDDLE_VECTOR(uint, unsigned int, 4, 8, 4, 16)
HEDDLE_VECTOR(long, long, 8, 16, 8, 16)
HEDDLE_VECTOR(ulong, unsigned long, 8, 16, 8, 16)
HEDDLE_VECTOR(longlong, long long, 8, 16, 8, 16)
HEDDLE_VECTOR(ulonglong, unsigned long long, 8, 16, 8, 16)
HEDDLE_VECTOR(float, float, 4, 8, 4, 16)
HEDDLE_VECTOR(double, double, 8, 16, 8, 16)
#undef HEDDLE_VECTOR

// dim3 is an extent in blocks or threads; components default to 1.
struct dim3 {
  unsigned int x, y, z;
#if defined(__cplusplus)
#if __cplusplus >= 201103L
  __host__ __device__ constexpr dim3(unsigned int x_ = 1, unsigned int y_ = 1, unsigned int z_ = 1) : x(x_), y(y_), z(z_) {}
  __host__ __device__ constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
  __host__ __device__ constexpr operator uint3() const { return uint3{x, y, z}; }
#else
  __host__ __device__ dim3(unsigned int x_ = 1, unsigned int y_ = 1, unsigned int z_ = 1) : x(x_), y(y_), z(z_) {}
  __host__ __device__ dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
  __host__ __device__ operator uint3() const { uint3 v; v.x = x; v.y = y; v.z = z; return v; }
#endif
#endif
};
typedef struct dim3 dim3;

#endif
