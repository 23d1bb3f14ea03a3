// Package kepler is a cycle-accurate model of the Kepler-style educational SIMT
// core: 24 warps of 32 lanes, dual issue, scoreboards, operand collectors over a
// banked register file, an integer and a floating-point pipe, a coalescing
// load/store unit with splits and replay, banked shared memory, divergence and call
// stacks, barriers, and the mock memory.
//
// Function and timing are not separate here: values are read when the collector
// reads them and written when the write-back stage writes them. Hence hazards that
// the scoreboards miss have the same results as in the hardware. What an operation
// computes is in exec/kasm.
//
// All decisions of a cycle are based on the state at its start and take effect
// together at its end. The state is flat: arrays and bit masks, no pointers.
package kepler
