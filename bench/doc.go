// Package bench measures how fast Heddle computes. It holds kernels, Go
// benchmarks over them, and run.sh, which prints all figures in one table. It
// is not a test: it fails only where a result is wrong.
package bench
