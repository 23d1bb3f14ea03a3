// Package run is what all timing runs on a chip have in common, whoever
// gives the chip its launches: the machine by name with the values that were
// set, the selection of launches, counters as they grow, the way of every
// instruction, and the chip's counters as a result.
//
// It reads no inputs and gives the chip nothing to do: that is for job and
// tracerun. Nor does it know how a result is printed (report).
package run
