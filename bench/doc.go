// Package bench measures how fast Heddle computes. It holds kernels, Go
// benchmarks over them, run.sh, which prints all figures in one table, cuda.sh,
// which prints what calls of the CUDA runtime cost, and ablations.sh, which prints
// what parts of the modern core are worth. It is not a
// test: it fails only where a result is wrong.
package bench
