// Texture fetches. They use the instructions in clang's texture header, which identifies operations by name: __tex2D_v2, and
// __tex2D_rmnf_v2 for integers that are read as fractions.
#ifndef HEDDLE_TEXTURE_FETCH_FUNCTIONS_H
#define HEDDLE_TEXTURE_FETCH_FUNCTIONS_H

#pragma pop_macro("CUDA_VERSION") // which sm_61_intrinsics.hpp changed

#if defined(__cplusplus) && __cplusplus >= 201103L && defined(__CUDA__)

#define HEDDLE_TEX static __inline__ __attribute__((device, always_inline, nodebug))
#define HEDDLE_LIST(...) __VA_ARGS__

namespace heddle_sdk {
// For an element: its number of components, the float vector of that size, and the vector of four of its components.
template <class T, int n> struct floats;
template <class T> struct floats<T, 1> { typedef float type; };
template <class T> struct floats<T, 2> { typedef float2 type; };
template <class T> struct floats<T, 3> { typedef float3 type; };
template <class T> struct floats<T, 4> { typedef float4 type; };
template <class T> struct fours;
template <class T> struct element {
  typedef decltype(T::x) component;
  static const int n = sizeof(T) / sizeof(component);
};
#define HEDDLE_ELEMENT(T, four)                                                \
  template <> struct element<T> {                                              \
    typedef T component;                                                       \
    static const int n = 1;                                                    \
  };                                                                           \
  template <> struct fours<T> { typedef four type; };
HEDDLE_ELEMENT(char, char4)
HEDDLE_ELEMENT(signed char, char4)
HEDDLE_ELEMENT(unsigned char, uchar4)
HEDDLE_ELEMENT(short, short4)
HEDDLE_ELEMENT(unsigned short, ushort4)
HEDDLE_ELEMENT(int, int4)
HEDDLE_ELEMENT(unsigned int, uint4)
HEDDLE_ELEMENT(float, float4)
#undef HEDDLE_ELEMENT
template <class T> struct normalized { typedef typename floats<T, element<T>::n>::type type; };
template <class T> struct gathered { typedef typename fours<typename element<T>::component>::type type; };
} // namespace heddle_sdk

// Defines a fetch: its name, the kind of reference that it reads, its parameters, these as arguments, and as arguments of
// clang's operation.
#define HEDDLE_FETCH(name, kind, params, args, operands)                                                                    \
  template <class T> HEDDLE_TEX T name(cudaTextureObject_t tex, HEDDLE_LIST params) {                                       \
    T v;                                                                                                                    \
    __nv_tex_surf_handler("__" #name "_v2", &v, tex, HEDDLE_LIST operands);                                                 \
    return v;                                                                                                               \
  }                                                                                                                         \
  template <class T> HEDDLE_TEX void name(T *p, cudaTextureObject_t tex, HEDDLE_LIST params) {                              \
    *p = name<T>(tex, HEDDLE_LIST args);                                                                                    \
  }                                                                                                                         \
  template <class T> HEDDLE_TEX T name(texture<T, kind, cudaReadModeElementType> tex, HEDDLE_LIST params) {                 \
    T v;                                                                                                                    \
    __nv_tex_surf_handler("__" #name "_v2", &v, tex, HEDDLE_LIST operands);                                                 \
    return v;                                                                                                               \
  }                                                                                                                         \
  template <class T>                                                                                                        \
  HEDDLE_TEX typename heddle_sdk::normalized<T>::type name(texture<T, kind, cudaReadModeNormalizedFloat> tex, HEDDLE_LIST params) { \
    T element;                                                                                                              \
    typename heddle_sdk::normalized<T>::type v;                                                                             \
    __nv_tex_surf_handler("__" #name "_rmnf_v2", &element, &v, tex, HEDDLE_LIST operands);                                  \
    return v;                                                                                                               \
  }
// The same with a result for whether the texels are resident, which is always true: there are no sparse arrays.
#define HEDDLE_FETCH_RESIDENT(name, kind, params, args, operands)                                                           \
  HEDDLE_FETCH(name, kind, params, args, operands)                                                                          \
  template <class T> HEDDLE_TEX T name(cudaTextureObject_t tex, HEDDLE_LIST params, bool *resident) {                       \
    *resident = true;                                                                                                       \
    return name<T>(tex, HEDDLE_LIST args);                                                                                  \
  }

HEDDLE_FETCH(tex1Dfetch, cudaTextureType1D, (int x), (x), (x))
HEDDLE_FETCH(tex1D, cudaTextureType1D, (float x), (x), (x))
HEDDLE_FETCH(tex1DLod, cudaTextureType1D, (float x, float level), (x, level), (x, level))
HEDDLE_FETCH(tex1DGrad, cudaTextureType1D, (float x, float dx, float dy), (x, dx, dy), (x, dx, dy))
HEDDLE_FETCH(tex1DLayered, cudaTextureType1DLayered, (float x, int layer), (x, layer), (x, layer))
HEDDLE_FETCH(tex1DLayeredLod, cudaTextureType1DLayered, (float x, int layer, float level), (x, layer, level), (x, layer, level))
HEDDLE_FETCH(tex1DLayeredGrad, cudaTextureType1DLayered, (float x, int layer, float dx, float dy), (x, layer, dx, dy), (x, layer, dx, dy))
HEDDLE_FETCH_RESIDENT(tex2D, cudaTextureType2D, (float x, float y), (x, y), (x, y))
HEDDLE_FETCH_RESIDENT(tex2DLod, cudaTextureType2D, (float x, float y, float level), (x, y, level), (x, y, level))
HEDDLE_FETCH_RESIDENT(tex2DGrad, cudaTextureType2D, (float x, float y, float2 dx, float2 dy), (x, y, dx, dy), (x, y, &dx, &dy))
HEDDLE_FETCH_RESIDENT(tex2DLayered, cudaTextureType2DLayered, (float x, float y, int layer), (x, y, layer), (x, y, layer))
HEDDLE_FETCH_RESIDENT(tex2DLayeredLod, cudaTextureType2DLayered, (float x, float y, int layer, float level), (x, y, layer, level), (x, y, layer, level))
HEDDLE_FETCH_RESIDENT(tex2DLayeredGrad, cudaTextureType2DLayered, (float x, float y, int layer, float2 dx, float2 dy), (x, y, layer, dx, dy),
                      (x, y, layer, &dx, &dy))
HEDDLE_FETCH_RESIDENT(tex3D, cudaTextureType3D, (float x, float y, float z), (x, y, z), (x, y, z))
HEDDLE_FETCH_RESIDENT(tex3DLod, cudaTextureType3D, (float x, float y, float z, float level), (x, y, z, level), (x, y, z, level))
HEDDLE_FETCH_RESIDENT(tex3DGrad, cudaTextureType3D, (float x, float y, float z, float4 dx, float4 dy), (x, y, z, dx, dy), (x, y, z, &dx, &dy))
HEDDLE_FETCH_RESIDENT(texCubemap, cudaTextureTypeCubemap, (float x, float y, float z), (x, y, z), (x, y, z))
HEDDLE_FETCH(texCubemapLod, cudaTextureTypeCubemap, (float x, float y, float z, float level), (x, y, z, level), (x, y, z, level))
HEDDLE_FETCH(texCubemapGrad, cudaTextureTypeCubemap, (float x, float y, float z, float4 dx, float4 dy), (x, y, z, dx, dy), (x, y, z, &dx, &dy))
HEDDLE_FETCH(texCubemapLayered, cudaTextureTypeCubemapLayered, (float x, float y, float z, int layer), (x, y, z, layer), (x, y, z, layer))
HEDDLE_FETCH(texCubemapLayeredLod, cudaTextureTypeCubemapLayered, (float x, float y, float z, int layer, float level), (x, y, z, layer, level),
             (x, y, z, layer, level))
HEDDLE_FETCH(texCubemapLayeredGrad, cudaTextureTypeCubemapLayered, (float x, float y, float z, int layer, float4 dx, float4 dy),
             (x, y, z, layer, dx, dy), (x, y, z, layer, &dx, &dy))

// One component of the four texels around a position. An object's element has four components, a reference's is extended to
// four.
template <class T> HEDDLE_TEX T tex2Dgather(cudaTextureObject_t tex, float x, float y, int component = 0) {
  T v;
  __nv_tex_surf_handler("__tex2Dgather_v2", &v, tex, x, y, component);
  return v;
}
template <class T> HEDDLE_TEX void tex2Dgather(T *p, cudaTextureObject_t tex, float x, float y, int component = 0) {
  *p = tex2Dgather<T>(tex, x, y, component);
}
template <class T> HEDDLE_TEX T tex2Dgather(cudaTextureObject_t tex, float x, float y, bool *resident, int component = 0) {
  *resident = true;
  return tex2Dgather<T>(tex, x, y, component);
}
template <class T>
HEDDLE_TEX typename heddle_sdk::gathered<T>::type tex2Dgather(texture<T, cudaTextureType2D, cudaReadModeElementType> tex, float x, float y,
                                                              int component = 0) {
  typename heddle_sdk::gathered<T>::type v;
  __nv_tex_surf_handler("__tex2Dgather_v2", &v, tex, x, y, component);
  return v;
}
template <class T>
HEDDLE_TEX float4 tex2Dgather(texture<T, cudaTextureType2D, cudaReadModeNormalizedFloat> tex, float x, float y, int component = 0) {
  T element;
  float4 v;
  __nv_tex_surf_handler("__tex2Dgather_rmnf_v2", &element, &v, tex, x, y, component);
  return v;
}

#undef HEDDLE_FETCH_RESIDENT
#undef HEDDLE_FETCH

#include "heddle_surfaces.h"

#undef HEDDLE_LIST
#undef HEDDLE_TEX

#endif

#endif
