// Package blaslt is cuBLASLt: products of matrices whose types, orders and epilogues objects
// describe. It computes them with the kernels of package blas; a kernel of its own does
// what follows a product. Where there is an epilogue, sums are kept as they were computed
// until it ends, so that a result is rounded once.
package blaslt

//go:generate go run ../kernelgen kernels
