// Package micro reads and writes traces in the form of the simulator of
// MICRO'25 (Huerta et al., "Dissecting and Modeling the Architecture of Modern
// GPU Cores"): what ran as protobuf, a file per thread block, and what it is as
// JSON, control bits included.
//
// It is not a protobuf library: the few messages are read and written by hand.
// Nor does it know what instructions do; registers are those that operands
// name, so of a wide value the first.
//
// A trace is a folder:
//
//	dynamic_trace.pb                            copies and launches in order
//	extra_info/enhanced_execution_info.json     static code of all functions
//	threadblocks/device_D/stream_S/kernel_K/d_D_s_S_k_K_X,Y,Z.pb
//	stats.csv                                   for people; not read
//
// What the form has no place for is lost when a trace is written in it: source
// lines, header lines of other forms, streams where there are several (the form
// tells no order between them, so all goes to stream 0), and control bits of
// functions of which some instructions have none. Lanes of a predicate mask
// that are not active are lost when it is read, and so are descriptor values of
// addresses and the liveness counts of the static code, which no model here
// asks for.
package micro
