// Surface accesses, by the size of the element; x counts bytes. The header of texture fetches, which clang includes before every
// program, includes this file.
#if defined(HEDDLE_TEX) && !defined(HEDDLE_SURFACES_H)
#define HEDDLE_SURFACES_H

namespace heddle_sdk {
// One instruction for each boundary mode. Values are the asm operands v and w, the surface is s.
#define HEDDLE_SURFACE_MODES(op, mode, before, after, out, in)                                            \
  if (mode == cudaBoundaryModeZero)                                                                       \
    asm volatile(op ".zero " before "[%[s], " after ";" : HEDDLE_LIST out : HEDDLE_LIST in : "memory");   \
  else if (mode == cudaBoundaryModeClamp)                                                                 \
    asm volatile(op ".clamp " before "[%[s], " after ";" : HEDDLE_LIST out : HEDDLE_LIST in : "memory");  \
  else                                                                                                    \
    asm volatile(op ".trap " before "[%[s], " after ";" : HEDDLE_LIST out : HEDDLE_LIST in : "memory");

// Reads and writes of one size for one kind of coordinates: these as parameters, in the instruction, and as asm operands.
#define HEDDLE_SURFACE_PLACE(name, geometry, params, place, operands, bits, value, out, in)                              \
  HEDDLE_TEX void read##name(type &v, cudaSurfaceObject_t s, HEDDLE_LIST params, cudaSurfaceBoundaryMode m) {            \
    HEDDLE_SURFACE_MODES("suld.b." geometry "." bits, m, value ", ", place "]", out, ([s] "l"(s), HEDDLE_LIST operands)) \
  }                                                                                                                      \
  HEDDLE_TEX void write##name(type v, cudaSurfaceObject_t s, HEDDLE_LIST params, cudaSurfaceBoundaryMode m) {            \
    HEDDLE_SURFACE_MODES("sust.b." geometry "." bits, m, "", place "], " value, (),                                      \
                         ([s] "l"(s), HEDDLE_LIST operands, HEDDLE_LIST in))                                             \
  }

#define HEDDLE_SURFACE_SIZE(bytes, T, bits, value, out, in)                                                                        \
  template <> struct surface_op<bytes> {                                                                                           \
    typedef T type;                                                                                                                \
    HEDDLE_SURFACE_PLACE(1D, "1d", (int x), "{%[x]}", ([x] "r"(x)), bits, value, out, in)                                          \
    HEDDLE_SURFACE_PLACE(2D, "2d", (int x, int y), "{%[x], %[y]}", ([x] "r"(x), [y] "r"(y)), bits, value, out, in)                 \
    HEDDLE_SURFACE_PLACE(3D, "3d", (int x, int y, int z), "{%[x], %[y], %[z], %[z]}", ([x] "r"(x), [y] "r"(y), [z] "r"(z)), bits,  \
                         value, out, in)                                                                                           \
    HEDDLE_SURFACE_PLACE(1DLayered, "a1d", (int x, int layer), "{%[n], %[x]}", ([x] "r"(x), [n] "r"(layer)), bits, value, out, in) \
    HEDDLE_SURFACE_PLACE(2DLayered, "a2d", (int x, int y, int layer), "{%[n], %[x], %[y], %[y]}",                                  \
                         ([x] "r"(x), [y] "r"(y), [n] "r"(layer)), bits, value, out, in)                                           \
  };

template <int bytes> struct surface_op;
HEDDLE_SURFACE_SIZE(1, unsigned short, "b8", "%[v]", ([v] "=h"(v)), ([v] "h"(v)))
HEDDLE_SURFACE_SIZE(2, unsigned short, "b16", "%[v]", ([v] "=h"(v)), ([v] "h"(v)))
HEDDLE_SURFACE_SIZE(4, unsigned int, "b32", "%[v]", ([v] "=r"(v)), ([v] "r"(v)))
HEDDLE_SURFACE_SIZE(8, unsigned long long, "b64", "%[v]", ([v] "=l"(v)), ([v] "l"(v)))
HEDDLE_SURFACE_SIZE(16, ulonglong2, "v2.b64", "{%[v], %[w]}", ([v] "=l"(v.x), [w] "=l"(v.y)), ([v] "l"(v.x), [w] "l"(v.y)))
#undef HEDDLE_SURFACE_SIZE
#undef HEDDLE_SURFACE_PLACE
#undef HEDDLE_SURFACE_MODES

template <class S> HEDDLE_TEX cudaSurfaceObject_t surface_handle(S s) {
  cudaSurfaceObject_t h;
  asm("mov.b64 %0, %1;" : "=l"(h) : "l"(s));
  return h;
}
template <class T> HEDDLE_TEX T from_bits(typename surface_op<sizeof(T)>::type bits) {
  T v;
  memcpy(&v, &bits, sizeof(T));
  return v;
}
template <class T> HEDDLE_TEX typename surface_op<sizeof(T)>::type to_bits(T v) {
  typename surface_op<sizeof(T)>::type bits = typename surface_op<sizeof(T)>::type();
  memcpy(&bits, &v, sizeof(T));
  return bits;
}
} // namespace heddle_sdk

// The functions for programs: the name, the name of the coordinates, their parameters, and these as arguments. The faces of a cube
// are layers.
#define HEDDLE_SURFACE(name, place, params, args)                                                                                  \
  template <class T> HEDDLE_TEX T name##read(cudaSurfaceObject_t s, HEDDLE_LIST params, cudaSurfaceBoundaryMode m = cudaBoundaryModeTrap) { \
    typename heddle_sdk::surface_op<sizeof(T)>::type bits;                                                                         \
    heddle_sdk::surface_op<sizeof(T)>::read##place(bits, s, HEDDLE_LIST args, m);                                                  \
    return heddle_sdk::from_bits<T>(bits);                                                                                         \
  }                                                                                                                                \
  template <class T>                                                                                                               \
  HEDDLE_TEX void name##read(T *p, cudaSurfaceObject_t s, HEDDLE_LIST params, cudaSurfaceBoundaryMode m = cudaBoundaryModeTrap) {  \
    *p = name##read<T>(s, HEDDLE_LIST args, m);                                                                                    \
  }                                                                                                                                \
  template <class T>                                                                                                               \
  HEDDLE_TEX void name##write(T v, cudaSurfaceObject_t s, HEDDLE_LIST params, cudaSurfaceBoundaryMode m = cudaBoundaryModeTrap) {  \
    heddle_sdk::surface_op<sizeof(T)>::write##place(heddle_sdk::to_bits<T>(v), s, HEDDLE_LIST args, m);                            \
  }                                                                                                                                \
  template <class T, int k>                                                                                                        \
  HEDDLE_TEX T name##read(surface<void, k> s, HEDDLE_LIST params, cudaSurfaceBoundaryMode m = cudaBoundaryModeTrap) {              \
    return name##read<T>(heddle_sdk::surface_handle(s), HEDDLE_LIST args, m);                                                      \
  }                                                                                                                                \
  template <class T, int k>                                                                                                        \
  HEDDLE_TEX void name##read(T *p, surface<void, k> s, HEDDLE_LIST params, cudaSurfaceBoundaryMode m = cudaBoundaryModeTrap) {     \
    *p = name##read<T>(heddle_sdk::surface_handle(s), HEDDLE_LIST args, m);                                                        \
  }                                                                                                                                \
  template <class T, int k>                                                                                                        \
  HEDDLE_TEX void name##write(T v, surface<void, k> s, HEDDLE_LIST params, cudaSurfaceBoundaryMode m = cudaBoundaryModeTrap) {     \
    name##write<T>(v, heddle_sdk::surface_handle(s), HEDDLE_LIST args, m);                                                         \
  }

HEDDLE_SURFACE(surf1D, 1D, (int x), (x))
HEDDLE_SURFACE(surf2D, 2D, (int x, int y), (x, y))
HEDDLE_SURFACE(surf3D, 3D, (int x, int y, int z), (x, y, z))
HEDDLE_SURFACE(surf1DLayered, 1DLayered, (int x, int layer), (x, layer))
HEDDLE_SURFACE(surf2DLayered, 2DLayered, (int x, int y, int layer), (x, y, layer))
HEDDLE_SURFACE(surfCubemap, 2DLayered, (int x, int y, int face), (x, y, face))
HEDDLE_SURFACE(surfCubemapLayered, 2DLayered, (int x, int y, int face), (x, y, face))
#undef HEDDLE_SURFACE

#endif
