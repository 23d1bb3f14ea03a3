// Included first in every source that NVRTC compiles, after the compiler's own headers and
// heddle_nvcc.h.
#ifndef HEDDLE_NVRTC_H
#define HEDDLE_NVRTC_H

#undef __NVCC__
#define __CUDACC_RTC__ 1

// The section tells these variables from constants that kernels may use without it, whose
// values the compiler knows. It is gone from the PTX.
#undef __constant__
#define __constant__ __attribute__((constant)) __attribute__((section("heddle_constant")))

// NVRTC has no host headers: the names of <stdint.h> are free until it is included, and
// programs define them with types of their own. The compiler's headers have included it by
// now, so the names get aliases; stdint.h in the folder rtc removes these.
#define int8_t heddle_rtc_int8_t
#define int16_t heddle_rtc_int16_t
#define int32_t heddle_rtc_int32_t
#define int64_t heddle_rtc_int64_t
#define intptr_t heddle_rtc_intptr_t
#define uint8_t heddle_rtc_uint8_t
#define uint16_t heddle_rtc_uint16_t
#define uint32_t heddle_rtc_uint32_t
#define uint64_t heddle_rtc_uint64_t
#define uintptr_t heddle_rtc_uintptr_t

#endif
