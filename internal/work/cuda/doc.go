// Package cuda is what the CUDA runtime does for a program, in Go: it registers
// the program's device code, gives out memory, copies, launches kernels on a
// simulated GPU in the order that streams and events demand, and answers with
// the error codes that programs expect.
//
// It knows neither C nor pointers of the host: addresses are numbers, and the
// host's memory is behind the interface Host. cmd/libcudart makes a shared
// library of it. What kernels do is in the packages below.
//
// A call of the program makes work (work.go), and a stream does it, or a graph
// keeps it. Work runs when somebody waits for it. In a functional run a launch has
// ended when the call returns; in a timing run launches and copies are given to
// the chip as they come, so that streams overlap, and simulated time passes while
// the host waits, until just what it waits for has ended. The host itself takes no
// simulated time, but for a little at each question whether something has ended.
package cuda
