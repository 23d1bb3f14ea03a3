// make_int4 and so on.
#ifndef HEDDLE_VECTOR_FUNCTIONS_H
#define HEDDLE_VECTOR_FUNCTIONS_H
#define __VECTOR_FUNCTIONS_H__

#include "vector_types.h"

#define HEDDLE_MAKE(name, type)                                                                    \
  static __inline__ __host__ __device__ name##1 make_##name##1(type x) {                           \
    name##1 v; v.x = x; return v;                                                                  \
  }                                                                                                \
  static __inline__ __host__ __device__ name##2 make_##name##2(type x, type y) {                   \
    name##2 v; v.x = x; v.y = y; return v;                                                         \
  }                                                                                                \
  static __inline__ __host__ __device__ name##3 make_##name##3(type x, type y, type z) {           \
    name##3 v; v.x = x; v.y = y; v.z = z; return v;                                                \
  }                                                                                                \
  static __inline__ __host__ __device__ name##4 make_##name##4(type x, type y, type z, type w) {   \
    name##4 v; v.x = x; v.y = y; v.z = z; v.w = w; return v;                                       \
  }

HEDDLE_MAKE(char, signed char)
HEDDLE_MAKE(uchar, unsigned char)
HEDDLE_MAKE(short, short)
HEDDLE_MAKE(ushort, unsigned short)
HEDDLE_MAKE(int, int)
HEDDLE_MAKE(uint, unsigned int)
HEDDLE_MAKE(long, long)
HEDDLE_MAKE(ulong, unsigned long)
HEDDLE_MAKE(longlong, long long)
HEDDLE_MAKE(ulonglong, unsigned long long)
HEDDLE_MAKE(float, float)
HEDDLE_MAKE(double, double)
#undef HEDDLE_MAKE

#endif
