// Package replay turns what a trace has recorded into work for the core models:
// warps whose instructions, lanes and addresses are those of the record.
//
// It executes nothing. Nothing is computed, so there are no values, no faults of
// the program, and no memory that could be looked at; control goes where it went
// when the trace was made, whatever the simulated machine does. What a trace
// does not tell, it takes from the mnemonics (isa/mnemonic), from the encoded
// words where they are known (isa/sass), or leaves open, and the Report says
// which.
//
// How it is laid out: code.go makes instructions of the static part of a trace,
// work.go runs the records, hidden.go finds dependences that traces do not name,
// infer.go sets control bits where nobody knows the compiler's, join.go takes a
// disassembly as a second source, survey.go passes over all records where what
// follows what must be known.
//
// # What is ours
//
//   - A launch has the blocks that its trace holds, in the trace's order. Blocks
//     of the grid without a record do not run.
//   - A warp without a record of its own is done from the start. A warp whose
//     records end without an EXIT is done after the last of them.
//   - Code keeps the distances of the recorded addresses, so that instruction
//     caches see them; what lies between and never ran is a filler. Parts that
//     are too far apart are moved together.
//   - Several numbered barriers are told apart only where the words of the
//     instructions are known. Else a block has one, which opens when all warps
//     that have not ended have come to it.
package replay
