// Package run is one run of any kind of work. A Session owns the result and, in a timing
// run, the chip and all its observers: progress, series of counters, timeline, hazards,
// recording. Jobs, traces, CUDA programs and the Go library give it launches and copies.
// It reads no inputs, prints no results (report) and parses no flags (run/flags).
package run
