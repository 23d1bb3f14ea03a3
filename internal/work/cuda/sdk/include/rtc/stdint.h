// In sources that NVRTC compiles, this header precedes the C library's, and removes what
// heddle_nvrtc.h has defined.
#undef int8_t
#undef int16_t
#undef int32_t
#undef int64_t
#undef intptr_t
#undef uint8_t
#undef uint16_t
#undef uint32_t
#undef uint64_t
#undef uintptr_t
#include_next <stdint.h>
