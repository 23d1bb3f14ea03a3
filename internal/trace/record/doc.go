// Package record makes a trace of what Heddle executes. It sits between an executor
// and a core model: launches pass through it. It records every warp instruction
// that issues, with its lanes and addresses, and passes complete blocks in order to
// a writer of traces while the run continues.
//
// The files are written by trace/text and trace/micro. Recording changes nothing
// about a run: models see the same instructions, effects and order.
//
// The contents are those of Accel-Sim's tracer:
//   - the records of a warp are in issue order;
//   - the mask is that of the lanes whose guard held, which may be none;
//   - accesses to global, shared, local and generic memory have addresses, those to
//     constants, parameters, textures and surfaces have none;
//   - for a copy into shared memory, the source's addresses are kept.
//
// SASS is recorded unchanged, with its words and control bits. A PTX kernel gets
// SASS mnemonics, one for each of its instructions (see opcodes), and its registers
// are folded into R0 to R251 (see foldedRegisters).
package record
