// Package rand is the host interface of cuRAND: arrays of random numbers, computed by
// kernels of Heddle's own (the folder kernels) with the functions of curand_kernel.h.
//
// XORWOW and MRG32k3a have 4096 streams, subsequences 2^67 and 2^76 numbers apart: number n
// of a generator comes from stream n mod 4096, which is the order that cuRAND documents.
// Distributions that need several numbers take them from one stream, and normal numbers
// come in pairs, from each stream in turn. Philox's numbers come in the order of its
// subsequence 0, MT19937's in that of the generator. All orderings (SetOrdering) are these.
package rand

//go:generate go run ../kernelgen kernels
