// The C++ library's own, which uses __noinline__ in an attribute: in clang 14 that is a
// macro, which is undefined here.
#pragma push_macro("__noinline__")
#undef __noinline__
#include_next <experimental/bits/simd_detail.h>
#pragma pop_macro("__noinline__")
