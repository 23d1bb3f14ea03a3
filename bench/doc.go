// Package bench measures how fast Heddle computes. It holds kernels, Go
// benchmarks over them, run.sh, which prints all figures in one table, cuda.sh,
// which prints what calls of the CUDA runtime cost, and ablations.sh, which prints
// what parts of the modern core are worth. outside.sh builds and runs programs that
// live elsewhere and keeps a table of what came of them; same.sh compares all that
// two builds of heddle compute. It is not a test: it fails only where a result is
// wrong.
package bench
