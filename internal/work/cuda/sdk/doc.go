// Package sdk is what clang needs to compile CUDA C++, with nothing of
// NVIDIA's: headers, a device math library in source, and fat binaries of the
// PTX that clang makes. It finds clang and unpacks a folder for it into the
// user's cache.
//
// It is not a compiler and not a runtime: the headers declare the functions of
// the CUDA runtime, and programs are linked to an empty library that has their
// names. What they do at run time is no matter of this package.
package sdk
