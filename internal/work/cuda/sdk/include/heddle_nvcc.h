// Included in every CUDA source after the compiler's own headers, which leave this macro
// empty: with nvcc it is a number, and programs use #if __CUDACC__.
#undef __CUDACC__
#define __CUDACC__ 1
#if defined(__cplusplus)
#include "heddle_atomics.h"
#endif

// Nvcc lets kernels call the C++ library's functions that are not constexpr too, with a warning.
#if __cplusplus >= 201103L && __cplusplus < 202002L
#include <type_traits>
namespace std {
template <class T>
__attribute__((device)) inline typename enable_if<is_move_constructible<T>::value && is_move_assignable<T>::value>::type
swap(T &a, T &b) noexcept(is_nothrow_move_constructible<T>::value && is_nothrow_move_assignable<T>::value) {
  T c = static_cast<T &&>(a);
  a = static_cast<T &&>(b);
  b = static_cast<T &&>(c);
}
template <class T, size_t n> __attribute__((device)) inline auto swap(T (&a)[n], T (&b)[n]) noexcept(noexcept(swap(*a, *b))) -> decltype(swap(*a, *b)) {
  for (size_t i = 0; i < n; i++) swap(a[i], b[i]);
}
} // namespace std
#endif
