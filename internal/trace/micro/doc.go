// Package micro reads and writes traces in the format of the MICRO 2025 simulator
// (Huerta et al., "Dissecting and Modeling the Architecture of Modern GPU Cores"):
// the executed instructions as protobuf, one file per thread block, and the static
// code as JSON, control bits included.
//
// It contains no general protobuf library: the few messages are read and written by
// hand. It does not know what instructions do either; registers are those that
// operands name, so only the first of a wide value.
//
// A trace is a folder:
//
//	dynamic_trace.pb                            copies and launches in order
//	extra_info/enhanced_execution_info.json     static code of all functions
//	threadblocks/device_D/stream_S/kernel_K/d_D_s_S_k_K_X,Y,Z.pb
//	stats.csv                                   for people; not read
//
// Writing a trace in this format loses what the format has no place for: source
// lines, header lines of other formats, streams if there are several (the format
// has no order between them, so everything goes to stream 0), and the control bits
// of functions in which some instructions have none. Reading loses lanes of a
// predicate mask that are not active, descriptor values of addresses, and the
// liveness counts of the static code, which no model here uses.
package micro
