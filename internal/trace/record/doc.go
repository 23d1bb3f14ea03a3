// Package record makes a trace of what Heddle executes. It stands between an
// executor and a core model: launches pass through it, it notes every warp
// instruction that issues, its lanes and its addresses, and hands complete
// blocks to a writer of traces, in order, while the run goes on.
//
// It is not a writer of files (trace/text and trace/micro are), and it changes
// nothing about a run: models see the same instructions, effects and order.
//
// What is recorded is what Accel-Sim's tracer records:
//   - per warp the records stand in the order of issue;
//   - the mask is that of the lanes whose guard held, which may be none;
//   - accesses to global, shared, local and generic memory have addresses, those
//     to constants, parameters, textures and surfaces have none;
//   - of a copy into shared memory the source's addresses are kept.
//
// SASS is recorded as it stands, with its words and control bits. A kernel of
// PTX gets mnemonics of SASS, one for each of its instructions: see opcodes.
// Its registers are folded into R0 to R251: see foldedRegisters.
package record
