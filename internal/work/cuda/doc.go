// Package cuda implements the CUDA runtime in Go: it registers the program's device code,
// allocates memory, copies, launches kernels on a simulated GPU in the order that streams
// and events require, and returns the error codes that programs expect. It uses neither C
// nor host pointers: addresses are numbers, and the interface Host gives access to the
// host's memory. cmd/libcudart builds a shared library from it. The packages below
// execute kernels. A call of the program makes work (work.go), which a stream executes or
// a graph stores. In a functional run a launch has completed when the call returns. In a
// timing run launches and copies are passed to the chip immediately, so that streams
// overlap; simulated time passes while the host waits, until exactly what it waits for
// has completed. The host itself takes no simulated time, except for a little at each
// query whether something has completed.
package cuda
