// Package cuda is what the CUDA runtime does for a program, in Go: it registers
// the program's device code, gives out memory, copies, launches kernels on a
// simulated GPU in the order that streams and events demand, and answers with
// the error codes that programs expect.
//
// It knows neither C nor pointers of the host: addresses are numbers, and the
// host's memory is behind the interface Host. cmd/libcudart makes a shared
// library of it. What kernels do is in the packages below.
//
// Work runs when somebody waits for it. In a functional run a launch has ended
// when the call returns; in a timing run launches and copies are given to the
// chip as they come, so that streams overlap, and simulated time passes when the
// host waits for any of them: then all that was given before ends. The host
// itself takes no simulated time.
package cuda
