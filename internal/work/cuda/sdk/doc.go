// Package sdk provides what clang needs to compile CUDA C++ without NVIDIA's toolkit:
// headers, the source of a device math library, and fat binaries of the PTX that clang
// generates. It finds clang and unpacks a folder for it into the user's cache.
//
// It is neither a compiler nor a runtime: the headers declare the functions of the
// CUDA runtime, and programs are linked to an empty library with their names, which
// is replaced at run time.
package sdk
