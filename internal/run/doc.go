// Package run is one run, whatever gives it its work. A Session owns the result
// and, in a timing run, the chip and all that watches it: progress, counters as
// they grow, the way of every instruction, hazards, a recording. Jobs, traces,
// CUDA programs and the Go library give it launches and copies.
//
// It reads no inputs, and knows neither how a result is printed (report) nor
// what users write to ask for something (run/flags).
package run
