// The C++ library's own, without the macro that __noinline__ is for clang 14: it
// stands in an attribute there.
#pragma push_macro("__noinline__")
#undef __noinline__
#include_next <experimental/bits/simd_detail.h>
#pragma pop_macro("__noinline__")
