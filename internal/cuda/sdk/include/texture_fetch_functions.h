// Texture fetches and surface accesses. Fetches go through the instructions
// that clang's texture header writes; surfaces are written here.
#ifndef HEDDLE_TEXTURE_FETCH_FUNCTIONS_H
#define HEDDLE_TEXTURE_FETCH_FUNCTIONS_H

#if defined(__cplusplus) && __cplusplus >= 201103L && defined(__CUDA__)

#define HEDDLE_TEX static __inline__ __attribute__((device, always_inline))

namespace heddle_sdk {
// What a fetch returns: the element, or floats of as many components.
template <class T, int n> struct floats;
template <class T> struct floats<T, 1> { typedef float type; };
template <class T> struct floats<T, 2> { typedef float2 type; };
template <class T> struct floats<T, 3> { typedef float3 type; };
template <class T> struct floats<T, 4> { typedef float4 type; };
template <class T> struct components { static const int n = sizeof(T) / sizeof(decltype(T::x)); };
template <> struct components<char> { static const int n = 1; };
template <> struct components<signed char> { static const int n = 1; };
template <> struct components<unsigned char> { static const int n = 1; };
template <> struct components<short> { static const int n = 1; };
template <> struct components<unsigned short> { static const int n = 1; };
template <> struct components<int> { static const int n = 1; };
template <> struct components<unsigned int> { static const int n = 1; };
template <> struct components<float> { static const int n = 1; };
template <class T> struct normalized { typedef typename floats<T, components<T>::n>::type type; };
} // namespace heddle_sdk

template <class T> HEDDLE_TEX T tex1Dfetch(cudaTextureObject_t tex, int x) {
  T v;
  __nv_tex_surf_handler("__itex1Dfetch", &v, tex, x);
  return v;
}
template <class T> HEDDLE_TEX void tex1Dfetch(T *p, cudaTextureObject_t tex, int x) { *p = tex1Dfetch<T>(tex, x); }
template <class T> HEDDLE_TEX T tex1Dfetch(texture<T, cudaTextureType1D, cudaReadModeElementType> tex, int x) {
  T v;
  __nv_tex_surf_handler("__tex1Dfetch_v2", &v, tex, x);
  return v;
}
template <class T>
HEDDLE_TEX typename heddle_sdk::normalized<T>::type tex1Dfetch(texture<T, cudaTextureType1D, cudaReadModeNormalizedFloat> tex, int x) {
  T kind;
  typename heddle_sdk::normalized<T>::type v;
  __nv_tex_surf_handler("__tex1Dfetch_rmnf_v2", &kind, &v, tex, x);
  return v;
}
template <class T> HEDDLE_TEX T tex1D(cudaTextureObject_t tex, float x) {
  T v;
  __nv_tex_surf_handler("__itex1D", &v, tex, x);
  return v;
}
template <class T> HEDDLE_TEX void tex1D(T *p, cudaTextureObject_t tex, float x) { *p = tex1D<T>(tex, x); }
template <class T> HEDDLE_TEX T tex1D(texture<T, cudaTextureType1D, cudaReadModeElementType> tex, float x) {
  T v;
  __nv_tex_surf_handler("__tex1D_v2", &v, tex, x);
  return v;
}
template <class T>
HEDDLE_TEX typename heddle_sdk::normalized<T>::type tex1D(texture<T, cudaTextureType1D, cudaReadModeNormalizedFloat> tex, float x) {
  T kind;
  typename heddle_sdk::normalized<T>::type v;
  __nv_tex_surf_handler("__tex1D_rmnf_v2", &kind, &v, tex, x);
  return v;
}
template <class T> HEDDLE_TEX T tex1DLod(cudaTextureObject_t tex, float x, float level) {
  T v;
  __nv_tex_surf_handler("__itex1DLod", &v, tex, x, level);
  return v;
}
template <class T> HEDDLE_TEX void tex1DLod(T *p, cudaTextureObject_t tex, float x, float level) { *p = tex1DLod<T>(tex, x, level); }
template <class T> HEDDLE_TEX T tex1DLod(texture<T, cudaTextureType1D, cudaReadModeElementType> tex, float x, float level) {
  T v;
  __nv_tex_surf_handler("__tex1DLod_v2", &v, tex, x, level);
  return v;
}
template <class T>
HEDDLE_TEX typename heddle_sdk::normalized<T>::type tex1DLod(texture<T, cudaTextureType1D, cudaReadModeNormalizedFloat> tex, float x, float level) {
  T kind;
  typename heddle_sdk::normalized<T>::type v;
  __nv_tex_surf_handler("__tex1DLod_rmnf_v2", &kind, &v, tex, x, level);
  return v;
}
template <class T> HEDDLE_TEX T tex1DLayered(cudaTextureObject_t tex, float x, int layer) {
  T v;
  __nv_tex_surf_handler("__itex1DLayered", &v, tex, x, layer);
  return v;
}
template <class T> HEDDLE_TEX void tex1DLayered(T *p, cudaTextureObject_t tex, float x, int layer) { *p = tex1DLayered<T>(tex, x, layer); }
template <class T> HEDDLE_TEX T tex1DLayered(texture<T, cudaTextureType1DLayered, cudaReadModeElementType> tex, float x, int layer) {
  T v;
  __nv_tex_surf_handler("__tex1DLayered_v2", &v, tex, x, layer);
  return v;
}
template <class T>
HEDDLE_TEX typename heddle_sdk::normalized<T>::type tex1DLayered(texture<T, cudaTextureType1DLayered, cudaReadModeNormalizedFloat> tex, float x, int layer) {
  T kind;
  typename heddle_sdk::normalized<T>::type v;
  __nv_tex_surf_handler("__tex1DLayered_rmnf_v2", &kind, &v, tex, x, layer);
  return v;
}
template <class T> HEDDLE_TEX T tex2D(cudaTextureObject_t tex, float x, float y) {
  T v;
  __nv_tex_surf_handler("__itex2D", &v, tex, x, y);
  return v;
}
template <class T> HEDDLE_TEX void tex2D(T *p, cudaTextureObject_t tex, float x, float y) { *p = tex2D<T>(tex, x, y); }
template <class T> HEDDLE_TEX T tex2D(texture<T, cudaTextureType2D, cudaReadModeElementType> tex, float x, float y) {
  T v;
  __nv_tex_surf_handler("__tex2D_v2", &v, tex, x, y);
  return v;
}
template <class T>
HEDDLE_TEX typename heddle_sdk::normalized<T>::type tex2D(texture<T, cudaTextureType2D, cudaReadModeNormalizedFloat> tex, float x, float y) {
  T kind;
  typename heddle_sdk::normalized<T>::type v;
  __nv_tex_surf_handler("__tex2D_rmnf_v2", &kind, &v, tex, x, y);
  return v;
}
template <class T> HEDDLE_TEX T tex2DLod(cudaTextureObject_t tex, float x, float y, float level) {
  T v;
  __nv_tex_surf_handler("__itex2DLod", &v, tex, x, y, level);
  return v;
}
template <class T> HEDDLE_TEX void tex2DLod(T *p, cudaTextureObject_t tex, float x, float y, float level) { *p = tex2DLod<T>(tex, x, y, level); }
template <class T> HEDDLE_TEX T tex2DLod(texture<T, cudaTextureType2D, cudaReadModeElementType> tex, float x, float y, float level) {
  T v;
  __nv_tex_surf_handler("__tex2DLod_v2", &v, tex, x, y, level);
  return v;
}
template <class T>
HEDDLE_TEX typename heddle_sdk::normalized<T>::type tex2DLod(texture<T, cudaTextureType2D, cudaReadModeNormalizedFloat> tex, float x, float y, float level) {
  T kind;
  typename heddle_sdk::normalized<T>::type v;
  __nv_tex_surf_handler("__tex2DLod_rmnf_v2", &kind, &v, tex, x, y, level);
  return v;
}
template <class T> HEDDLE_TEX T tex2DLayered(cudaTextureObject_t tex, float x, float y, int layer) {
  T v;
  __nv_tex_surf_handler("__itex2DLayered", &v, tex, x, y, layer);
  return v;
}
template <class T> HEDDLE_TEX void tex2DLayered(T *p, cudaTextureObject_t tex, float x, float y, int layer) { *p = tex2DLayered<T>(tex, x, y, layer); }
template <class T> HEDDLE_TEX T tex2DLayered(texture<T, cudaTextureType2DLayered, cudaReadModeElementType> tex, float x, float y, int layer) {
  T v;
  __nv_tex_surf_handler("__tex2DLayered_v2", &v, tex, x, y, layer);
  return v;
}
template <class T>
HEDDLE_TEX typename heddle_sdk::normalized<T>::type tex2DLayered(texture<T, cudaTextureType2DLayered, cudaReadModeNormalizedFloat> tex, float x, float y, int layer) {
  T kind;
  typename heddle_sdk::normalized<T>::type v;
  __nv_tex_surf_handler("__tex2DLayered_rmnf_v2", &kind, &v, tex, x, y, layer);
  return v;
}
template <class T> HEDDLE_TEX T tex3D(cudaTextureObject_t tex, float x, float y, float z) {
  T v;
  __nv_tex_surf_handler("__itex3D", &v, tex, x, y, z);
  return v;
}
template <class T> HEDDLE_TEX void tex3D(T *p, cudaTextureObject_t tex, float x, float y, float z) { *p = tex3D<T>(tex, x, y, z); }
template <class T> HEDDLE_TEX T tex3D(texture<T, cudaTextureType3D, cudaReadModeElementType> tex, float x, float y, float z) {
  T v;
  __nv_tex_surf_handler("__tex3D_v2", &v, tex, x, y, z);
  return v;
}
template <class T>
HEDDLE_TEX typename heddle_sdk::normalized<T>::type tex3D(texture<T, cudaTextureType3D, cudaReadModeNormalizedFloat> tex, float x, float y, float z) {
  T kind;
  typename heddle_sdk::normalized<T>::type v;
  __nv_tex_surf_handler("__tex3D_rmnf_v2", &kind, &v, tex, x, y, z);
  return v;
}
template <class T> HEDDLE_TEX T tex3DLod(cudaTextureObject_t tex, float x, float y, float z, float level) {
  T v;
  __nv_tex_surf_handler("__itex3DLod", &v, tex, x, y, z, level);
  return v;
}
template <class T> HEDDLE_TEX void tex3DLod(T *p, cudaTextureObject_t tex, float x, float y, float z, float level) { *p = tex3DLod<T>(tex, x, y, z, level); }
template <class T> HEDDLE_TEX T tex3DLod(texture<T, cudaTextureType3D, cudaReadModeElementType> tex, float x, float y, float z, float level) {
  T v;
  __nv_tex_surf_handler("__tex3DLod_v2", &v, tex, x, y, z, level);
  return v;
}
template <class T>
HEDDLE_TEX typename heddle_sdk::normalized<T>::type tex3DLod(texture<T, cudaTextureType3D, cudaReadModeNormalizedFloat> tex, float x, float y, float z, float level) {
  T kind;
  typename heddle_sdk::normalized<T>::type v;
  __nv_tex_surf_handler("__tex3DLod_rmnf_v2", &kind, &v, tex, x, y, z, level);
  return v;
}
template <class T> HEDDLE_TEX T texCubemap(cudaTextureObject_t tex, float x, float y, float z) {
  T v;
  __nv_tex_surf_handler("__itexCubemap", &v, tex, x, y, z);
  return v;
}
template <class T> HEDDLE_TEX void texCubemap(T *p, cudaTextureObject_t tex, float x, float y, float z) { *p = texCubemap<T>(tex, x, y, z); }
template <class T> HEDDLE_TEX T texCubemap(texture<T, cudaTextureTypeCubemap, cudaReadModeElementType> tex, float x, float y, float z) {
  T v;
  __nv_tex_surf_handler("__texCubemap_v2", &v, tex, x, y, z);
  return v;
}
template <class T>
HEDDLE_TEX typename heddle_sdk::normalized<T>::type texCubemap(texture<T, cudaTextureTypeCubemap, cudaReadModeNormalizedFloat> tex, float x, float y, float z) {
  T kind;
  typename heddle_sdk::normalized<T>::type v;
  __nv_tex_surf_handler("__texCubemap_rmnf_v2", &kind, &v, tex, x, y, z);
  return v;
}
template <class T> HEDDLE_TEX T texCubemapLod(cudaTextureObject_t tex, float x, float y, float z, float level) {
  T v;
  __nv_tex_surf_handler("__itexCubemapLod", &v, tex, x, y, z, level);
  return v;
}
template <class T> HEDDLE_TEX void texCubemapLod(T *p, cudaTextureObject_t tex, float x, float y, float z, float level) { *p = texCubemapLod<T>(tex, x, y, z, level); }
template <class T> HEDDLE_TEX T texCubemapLod(texture<T, cudaTextureTypeCubemap, cudaReadModeElementType> tex, float x, float y, float z, float level) {
  T v;
  __nv_tex_surf_handler("__texCubemapLod_v2", &v, tex, x, y, z, level);
  return v;
}
template <class T>
HEDDLE_TEX typename heddle_sdk::normalized<T>::type texCubemapLod(texture<T, cudaTextureTypeCubemap, cudaReadModeNormalizedFloat> tex, float x, float y, float z, float level) {
  T kind;
  typename heddle_sdk::normalized<T>::type v;
  __nv_tex_surf_handler("__texCubemapLod_rmnf_v2", &kind, &v, tex, x, y, z, level);
  return v;
}

// Surface accesses by the size of the element, x in bytes, as PTX has them.
namespace heddle_sdk {
template <int bytes> struct surface_op;
template <> struct surface_op<1> {
  typedef unsigned short type;
  HEDDLE_TEX void d1(type &v, cudaSurfaceObject_t s, int x) {
    asm volatile("suld.b.1d.b8.trap %0, [%1, %2];" : "=h"(v) : "l"(s), "r"(x) : "memory");
  }
  HEDDLE_TEX void put_d1(type v, cudaSurfaceObject_t s, int x) {
    asm volatile("sust.b.1d.b8.trap [%0, %1], %2;" : : "l"(s), "r"(x), "h"(v) : "memory");
  }
  HEDDLE_TEX void d2(type &v, cudaSurfaceObject_t s, int x, int y) {
    asm volatile("suld.b.2d.b8.trap %0, [%1, {%2, %3}];" : "=h"(v) : "l"(s), "r"(x), "r"(y) : "memory");
  }
  HEDDLE_TEX void put_d2(type v, cudaSurfaceObject_t s, int x, int y) {
    asm volatile("sust.b.2d.b8.trap [%0, {%1, %2}], %3;" : : "l"(s), "r"(x), "r"(y), "h"(v) : "memory");
  }
  HEDDLE_TEX void d3(type &v, cudaSurfaceObject_t s, int x, int y, int z) {
    asm volatile("suld.b.3d.b8.trap %0, [%1, {%2, %3, %4, %4}];" : "=h"(v) : "l"(s), "r"(x), "r"(y), "r"(z) : "memory");
  }
  HEDDLE_TEX void put_d3(type v, cudaSurfaceObject_t s, int x, int y, int z) {
    asm volatile("sust.b.3d.b8.trap [%0, {%1, %2, %3, %3}], %4;" : : "l"(s), "r"(x), "r"(y), "r"(z), "h"(v) : "memory");
  }
  HEDDLE_TEX void layered2(type &v, cudaSurfaceObject_t s, int x, int y, int layer) {
    asm volatile("suld.b.a2d.b8.trap %0, [%1, {%2, %3, %4, %4}];" : "=h"(v) : "l"(s), "r"(layer), "r"(x), "r"(y) : "memory");
  }
  HEDDLE_TEX void put_layered2(type v, cudaSurfaceObject_t s, int x, int y, int layer) {
    asm volatile("sust.b.a2d.b8.trap [%0, {%1, %2, %3, %3}], %4;" : : "l"(s), "r"(layer), "r"(x), "r"(y), "h"(v) : "memory");
  }
};
template <> struct surface_op<2> {
  typedef unsigned short type;
  HEDDLE_TEX void d1(type &v, cudaSurfaceObject_t s, int x) {
    asm volatile("suld.b.1d.b16.trap %0, [%1, %2];" : "=h"(v) : "l"(s), "r"(x) : "memory");
  }
  HEDDLE_TEX void put_d1(type v, cudaSurfaceObject_t s, int x) {
    asm volatile("sust.b.1d.b16.trap [%0, %1], %2;" : : "l"(s), "r"(x), "h"(v) : "memory");
  }
  HEDDLE_TEX void d2(type &v, cudaSurfaceObject_t s, int x, int y) {
    asm volatile("suld.b.2d.b16.trap %0, [%1, {%2, %3}];" : "=h"(v) : "l"(s), "r"(x), "r"(y) : "memory");
  }
  HEDDLE_TEX void put_d2(type v, cudaSurfaceObject_t s, int x, int y) {
    asm volatile("sust.b.2d.b16.trap [%0, {%1, %2}], %3;" : : "l"(s), "r"(x), "r"(y), "h"(v) : "memory");
  }
  HEDDLE_TEX void d3(type &v, cudaSurfaceObject_t s, int x, int y, int z) {
    asm volatile("suld.b.3d.b16.trap %0, [%1, {%2, %3, %4, %4}];" : "=h"(v) : "l"(s), "r"(x), "r"(y), "r"(z) : "memory");
  }
  HEDDLE_TEX void put_d3(type v, cudaSurfaceObject_t s, int x, int y, int z) {
    asm volatile("sust.b.3d.b16.trap [%0, {%1, %2, %3, %3}], %4;" : : "l"(s), "r"(x), "r"(y), "r"(z), "h"(v) : "memory");
  }
  HEDDLE_TEX void layered2(type &v, cudaSurfaceObject_t s, int x, int y, int layer) {
    asm volatile("suld.b.a2d.b16.trap %0, [%1, {%2, %3, %4, %4}];" : "=h"(v) : "l"(s), "r"(layer), "r"(x), "r"(y) : "memory");
  }
  HEDDLE_TEX void put_layered2(type v, cudaSurfaceObject_t s, int x, int y, int layer) {
    asm volatile("sust.b.a2d.b16.trap [%0, {%1, %2, %3, %3}], %4;" : : "l"(s), "r"(layer), "r"(x), "r"(y), "h"(v) : "memory");
  }
};
template <> struct surface_op<4> {
  typedef unsigned int type;
  HEDDLE_TEX void d1(type &v, cudaSurfaceObject_t s, int x) {
    asm volatile("suld.b.1d.b32.trap %0, [%1, %2];" : "=r"(v) : "l"(s), "r"(x) : "memory");
  }
  HEDDLE_TEX void put_d1(type v, cudaSurfaceObject_t s, int x) {
    asm volatile("sust.b.1d.b32.trap [%0, %1], %2;" : : "l"(s), "r"(x), "r"(v) : "memory");
  }
  HEDDLE_TEX void d2(type &v, cudaSurfaceObject_t s, int x, int y) {
    asm volatile("suld.b.2d.b32.trap %0, [%1, {%2, %3}];" : "=r"(v) : "l"(s), "r"(x), "r"(y) : "memory");
  }
  HEDDLE_TEX void put_d2(type v, cudaSurfaceObject_t s, int x, int y) {
    asm volatile("sust.b.2d.b32.trap [%0, {%1, %2}], %3;" : : "l"(s), "r"(x), "r"(y), "r"(v) : "memory");
  }
  HEDDLE_TEX void d3(type &v, cudaSurfaceObject_t s, int x, int y, int z) {
    asm volatile("suld.b.3d.b32.trap %0, [%1, {%2, %3, %4, %4}];" : "=r"(v) : "l"(s), "r"(x), "r"(y), "r"(z) : "memory");
  }
  HEDDLE_TEX void put_d3(type v, cudaSurfaceObject_t s, int x, int y, int z) {
    asm volatile("sust.b.3d.b32.trap [%0, {%1, %2, %3, %3}], %4;" : : "l"(s), "r"(x), "r"(y), "r"(z), "r"(v) : "memory");
  }
  HEDDLE_TEX void layered2(type &v, cudaSurfaceObject_t s, int x, int y, int layer) {
    asm volatile("suld.b.a2d.b32.trap %0, [%1, {%2, %3, %4, %4}];" : "=r"(v) : "l"(s), "r"(layer), "r"(x), "r"(y) : "memory");
  }
  HEDDLE_TEX void put_layered2(type v, cudaSurfaceObject_t s, int x, int y, int layer) {
    asm volatile("sust.b.a2d.b32.trap [%0, {%1, %2, %3, %3}], %4;" : : "l"(s), "r"(layer), "r"(x), "r"(y), "r"(v) : "memory");
  }
};
template <> struct surface_op<8> {
  typedef unsigned long long type;
  HEDDLE_TEX void d1(type &v, cudaSurfaceObject_t s, int x) {
    asm volatile("suld.b.1d.b64.trap %0, [%1, %2];" : "=l"(v) : "l"(s), "r"(x) : "memory");
  }
  HEDDLE_TEX void put_d1(type v, cudaSurfaceObject_t s, int x) {
    asm volatile("sust.b.1d.b64.trap [%0, %1], %2;" : : "l"(s), "r"(x), "l"(v) : "memory");
  }
  HEDDLE_TEX void d2(type &v, cudaSurfaceObject_t s, int x, int y) {
    asm volatile("suld.b.2d.b64.trap %0, [%1, {%2, %3}];" : "=l"(v) : "l"(s), "r"(x), "r"(y) : "memory");
  }
  HEDDLE_TEX void put_d2(type v, cudaSurfaceObject_t s, int x, int y) {
    asm volatile("sust.b.2d.b64.trap [%0, {%1, %2}], %3;" : : "l"(s), "r"(x), "r"(y), "l"(v) : "memory");
  }
  HEDDLE_TEX void d3(type &v, cudaSurfaceObject_t s, int x, int y, int z) {
    asm volatile("suld.b.3d.b64.trap %0, [%1, {%2, %3, %4, %4}];" : "=l"(v) : "l"(s), "r"(x), "r"(y), "r"(z) : "memory");
  }
  HEDDLE_TEX void put_d3(type v, cudaSurfaceObject_t s, int x, int y, int z) {
    asm volatile("sust.b.3d.b64.trap [%0, {%1, %2, %3, %3}], %4;" : : "l"(s), "r"(x), "r"(y), "r"(z), "l"(v) : "memory");
  }
  HEDDLE_TEX void layered2(type &v, cudaSurfaceObject_t s, int x, int y, int layer) {
    asm volatile("suld.b.a2d.b64.trap %0, [%1, {%2, %3, %4, %4}];" : "=l"(v) : "l"(s), "r"(layer), "r"(x), "r"(y) : "memory");
  }
  HEDDLE_TEX void put_layered2(type v, cudaSurfaceObject_t s, int x, int y, int layer) {
    asm volatile("sust.b.a2d.b64.trap [%0, {%1, %2, %3, %3}], %4;" : : "l"(s), "r"(layer), "r"(x), "r"(y), "l"(v) : "memory");
  }
};
template <> struct surface_op<16> {
  typedef ulonglong2 type;
  HEDDLE_TEX void d1(type &v, cudaSurfaceObject_t s, int x) {
    asm volatile("suld.b.1d.v2.b64.trap {%0, %1}, [%2, %3];" : "=l"(v.x), "=l"(v.y) : "l"(s), "r"(x) : "memory");
  }
  HEDDLE_TEX void put_d1(type v, cudaSurfaceObject_t s, int x) {
    asm volatile("sust.b.1d.v2.b64.trap [%0, %1], {%2, %3};" : : "l"(s), "r"(x), "l"(v.x), "l"(v.y) : "memory");
  }
  HEDDLE_TEX void d2(type &v, cudaSurfaceObject_t s, int x, int y) {
    asm volatile("suld.b.2d.v2.b64.trap {%0, %1}, [%2, {%3, %4}];" : "=l"(v.x), "=l"(v.y) : "l"(s), "r"(x), "r"(y) : "memory");
  }
  HEDDLE_TEX void put_d2(type v, cudaSurfaceObject_t s, int x, int y) {
    asm volatile("sust.b.2d.v2.b64.trap [%0, {%1, %2}], {%3, %4};" : : "l"(s), "r"(x), "r"(y), "l"(v.x), "l"(v.y) : "memory");
  }
  HEDDLE_TEX void d3(type &v, cudaSurfaceObject_t s, int x, int y, int z) {
    asm volatile("suld.b.3d.v2.b64.trap {%0, %1}, [%2, {%3, %4, %5, %5}];" : "=l"(v.x), "=l"(v.y) : "l"(s), "r"(x), "r"(y), "r"(z) : "memory");
  }
  HEDDLE_TEX void put_d3(type v, cudaSurfaceObject_t s, int x, int y, int z) {
    asm volatile("sust.b.3d.v2.b64.trap [%0, {%1, %2, %3, %3}], {%4, %5};" : : "l"(s), "r"(x), "r"(y), "r"(z), "l"(v.x), "l"(v.y) : "memory");
  }
  HEDDLE_TEX void layered2(type &v, cudaSurfaceObject_t s, int x, int y, int layer) {
    asm volatile("suld.b.a2d.v2.b64.trap {%0, %1}, [%2, {%3, %4, %5, %5}];" : "=l"(v.x), "=l"(v.y) : "l"(s), "r"(layer), "r"(x), "r"(y) : "memory");
  }
  HEDDLE_TEX void put_layered2(type v, cudaSurfaceObject_t s, int x, int y, int layer) {
    asm volatile("sust.b.a2d.v2.b64.trap [%0, {%1, %2, %3, %3}], {%4, %5};" : : "l"(s), "r"(layer), "r"(x), "r"(y), "l"(v.x), "l"(v.y) : "memory");
  }
};

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
template <class T> HEDDLE_TEX T surf1Dread(cudaSurfaceObject_t s, int x, cudaSurfaceBoundaryMode = cudaBoundaryModeTrap) {
  typename heddle_sdk::surface_op<sizeof(T)>::type bits;
  heddle_sdk::surface_op<sizeof(T)>::d1(bits, s, x);
  return heddle_sdk::from_bits<T>(bits);
}
template <class T> HEDDLE_TEX void surf1Dread(T *p, cudaSurfaceObject_t s, int x, cudaSurfaceBoundaryMode m = cudaBoundaryModeTrap) {
  *p = surf1Dread<T>(s, x, m);
}
template <class T> HEDDLE_TEX void surf1Dwrite(T v, cudaSurfaceObject_t s, int x, cudaSurfaceBoundaryMode = cudaBoundaryModeTrap) {
  heddle_sdk::surface_op<sizeof(T)>::put_d1(heddle_sdk::to_bits<T>(v), s, x);
}
template <class T, int k> HEDDLE_TEX void surf1Dread(T *p, surface<void, k> s, int x, cudaSurfaceBoundaryMode m = cudaBoundaryModeTrap) {
  *p = surf1Dread<T>(heddle_sdk::surface_handle(s), x, m);
}
template <class T, int k> HEDDLE_TEX void surf1Dwrite(T v, surface<void, k> s, int x, cudaSurfaceBoundaryMode m = cudaBoundaryModeTrap) {
  surf1Dwrite<T>(v, heddle_sdk::surface_handle(s), x, m);
}
template <class T> HEDDLE_TEX T surf2Dread(cudaSurfaceObject_t s, int x, int y, cudaSurfaceBoundaryMode = cudaBoundaryModeTrap) {
  typename heddle_sdk::surface_op<sizeof(T)>::type bits;
  heddle_sdk::surface_op<sizeof(T)>::d2(bits, s, x, y);
  return heddle_sdk::from_bits<T>(bits);
}
template <class T> HEDDLE_TEX void surf2Dread(T *p, cudaSurfaceObject_t s, int x, int y, cudaSurfaceBoundaryMode m = cudaBoundaryModeTrap) {
  *p = surf2Dread<T>(s, x, y, m);
}
template <class T> HEDDLE_TEX void surf2Dwrite(T v, cudaSurfaceObject_t s, int x, int y, cudaSurfaceBoundaryMode = cudaBoundaryModeTrap) {
  heddle_sdk::surface_op<sizeof(T)>::put_d2(heddle_sdk::to_bits<T>(v), s, x, y);
}
template <class T, int k> HEDDLE_TEX void surf2Dread(T *p, surface<void, k> s, int x, int y, cudaSurfaceBoundaryMode m = cudaBoundaryModeTrap) {
  *p = surf2Dread<T>(heddle_sdk::surface_handle(s), x, y, m);
}
template <class T, int k> HEDDLE_TEX void surf2Dwrite(T v, surface<void, k> s, int x, int y, cudaSurfaceBoundaryMode m = cudaBoundaryModeTrap) {
  surf2Dwrite<T>(v, heddle_sdk::surface_handle(s), x, y, m);
}
template <class T> HEDDLE_TEX T surf3Dread(cudaSurfaceObject_t s, int x, int y, int z, cudaSurfaceBoundaryMode = cudaBoundaryModeTrap) {
  typename heddle_sdk::surface_op<sizeof(T)>::type bits;
  heddle_sdk::surface_op<sizeof(T)>::d3(bits, s, x, y, z);
  return heddle_sdk::from_bits<T>(bits);
}
template <class T> HEDDLE_TEX void surf3Dread(T *p, cudaSurfaceObject_t s, int x, int y, int z, cudaSurfaceBoundaryMode m = cudaBoundaryModeTrap) {
  *p = surf3Dread<T>(s, x, y, z, m);
}
template <class T> HEDDLE_TEX void surf3Dwrite(T v, cudaSurfaceObject_t s, int x, int y, int z, cudaSurfaceBoundaryMode = cudaBoundaryModeTrap) {
  heddle_sdk::surface_op<sizeof(T)>::put_d3(heddle_sdk::to_bits<T>(v), s, x, y, z);
}
template <class T, int k> HEDDLE_TEX void surf3Dread(T *p, surface<void, k> s, int x, int y, int z, cudaSurfaceBoundaryMode m = cudaBoundaryModeTrap) {
  *p = surf3Dread<T>(heddle_sdk::surface_handle(s), x, y, z, m);
}
template <class T, int k> HEDDLE_TEX void surf3Dwrite(T v, surface<void, k> s, int x, int y, int z, cudaSurfaceBoundaryMode m = cudaBoundaryModeTrap) {
  surf3Dwrite<T>(v, heddle_sdk::surface_handle(s), x, y, z, m);
}
template <class T> HEDDLE_TEX T surf2DLayeredread(cudaSurfaceObject_t s, int x, int y, int layer, cudaSurfaceBoundaryMode = cudaBoundaryModeTrap) {
  typename heddle_sdk::surface_op<sizeof(T)>::type bits;
  heddle_sdk::surface_op<sizeof(T)>::layered2(bits, s, x, y, layer);
  return heddle_sdk::from_bits<T>(bits);
}
template <class T> HEDDLE_TEX void surf2DLayeredread(T *p, cudaSurfaceObject_t s, int x, int y, int layer, cudaSurfaceBoundaryMode m = cudaBoundaryModeTrap) {
  *p = surf2DLayeredread<T>(s, x, y, layer, m);
}
template <class T> HEDDLE_TEX void surf2DLayeredwrite(T v, cudaSurfaceObject_t s, int x, int y, int layer, cudaSurfaceBoundaryMode = cudaBoundaryModeTrap) {
  heddle_sdk::surface_op<sizeof(T)>::put_layered2(heddle_sdk::to_bits<T>(v), s, x, y, layer);
}
template <class T, int k> HEDDLE_TEX void surf2DLayeredread(T *p, surface<void, k> s, int x, int y, int layer, cudaSurfaceBoundaryMode m = cudaBoundaryModeTrap) {
  *p = surf2DLayeredread<T>(heddle_sdk::surface_handle(s), x, y, layer, m);
}
template <class T, int k> HEDDLE_TEX void surf2DLayeredwrite(T v, surface<void, k> s, int x, int y, int layer, cudaSurfaceBoundaryMode m = cudaBoundaryModeTrap) {
  surf2DLayeredwrite<T>(v, heddle_sdk::surface_handle(s), x, y, layer, m);
}

#undef HEDDLE_TEX

#endif

#endif
