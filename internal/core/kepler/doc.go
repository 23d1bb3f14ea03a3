// Package kepler is the Kepler-style educational SIMT core, cycle by cycle: 24
// warps of 32 lanes, dual issue, scoreboards, operand collectors over a banked
// register file, an integer and a floating-point pipe, a coalescing load/store
// unit with splits and replay, banked shared memory, divergence and call
// stacks, barriers, and the mock memory behind it all.
//
// Function and timing are one here: values are read when the collector reads
// them and written when the write-back stage writes them, so that hazards which
// the scoreboards miss have the results that they have in the hardware. What an
// operation computes is in exec/kasm.
//
// A cycle's decisions are all taken from the state at its start and take effect
// together at its end. The state is flat: arrays and bit masks, no pointers.
package kepler
