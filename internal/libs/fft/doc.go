// Package fft is cuFFT: the functions of its documentation, computed by kernels of
// Heddle's own (the folder kernels).
//
// A transform of several dimensions is one of many lines along each. A line is transformed
// in passes (pass.go): one if its length fits into shared memory, otherwise several. Lengths
// with a prime factor above 7 are convolutions of a longer length without one (Bluestein).
// Transforms of real numbers are complex ones that read or write real numbers.
//
// Roots of unity come from tables, which a plan computes in double precision and keeps on
// the device. Executing a plan only launches kernels.
package fft

//go:generate go run ../kernelgen kernels
