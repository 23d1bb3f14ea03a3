// Package rtc implements NVRTC, the library with which programs compile CUDA C++ at run
// time: programs, options, logs, name expressions and error codes. Clang compiles, in the
// way in which internal/work/cuda/sdk makes it compile device code of files.
//
// It runs nothing: programs load the PTX with the driver. Machine code, LTO and OptiX IR
// are not generated.
package rtc
