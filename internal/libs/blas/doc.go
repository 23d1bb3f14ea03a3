// Package blas is cuBLAS: the functions of its documentation, computed by kernels of
// Heddle's own (the folder kernels). It checks arguments as documented, chooses a kernel
// for the types, the sizes and the GPU, and launches it; cmd/libcudart has the C functions.
//
// Matrices are column-major. Sums are computed in the order of the kernels' loops, and do
// not depend on anything but the arguments and the GPU. Sums of f16 and bf16 are kept in
// f32, also where the compute type says f16.
package blas

//go:generate go run ../kernelgen kernels
