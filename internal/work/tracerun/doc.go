// Package tracerun replays recorded runs (package trace) on a chip: it gives the
// chip their copies and launches one after another, as they are listed, and
// turns what the chip counted into a result.
//
// It does not read files (trace/text and its siblings) and does not know what a
// mnemonic means (trace/replay). Kernels are read ahead of the simulation by one
// goroutine, and what is wrong with one costs none of those before it.
package tracerun
