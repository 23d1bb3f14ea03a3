// Package pti implements the records of CUPTI, the library with which profilers see what a
// CUDA program does: their bytes, their kinds, the library's codes and attributes. What
// happens comes from internal/work/cuda; cmd/libcudart fills the buffers of profilers.
package pti
