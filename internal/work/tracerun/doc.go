// Package tracerun replays recorded runs (package trace) on a chip: it submits their
// copies and launches in their listed order, and converts the chip's counters to a
// result.
//
// It does not read files (trace/text and its siblings) or interpret mnemonics
// (exec/replay). One goroutine reads kernels ahead of the simulation, and an error
// in one does not affect those before it.
package tracerun
