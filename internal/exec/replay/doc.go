// Package replay turns a trace's records into work for the core models: warps whose
// instructions, lanes and addresses are those recorded.
//
// It executes nothing. There are no values, no program faults and no memory to inspect,
// and control flow is as recorded, independent of the simulated machine. What a trace
// does not contain is taken from the mnemonics (isa/mnemonic), from the encoded words
// if they are known (isa/sass), or left open; the Report says which.
//
// Layout: code.go makes instructions from the static part of a trace, work.go runs the
// records, hidden.go finds dependences that traces do not name, infer.go sets control
// bits if the compiler's are unknown, join.go uses a disassembly as a second source,
// and survey.go passes over all records to find which instruction follows which.
//
// # Our conventions
//
//   - A launch has the blocks that its trace holds, in the trace's order. Blocks of
//     the grid without a record do not run.
//   - A warp without records is done from the start. A warp whose records end without
//     an EXIT is done after the last of them.
//   - Code keeps the distances of the recorded addresses, so that instruction caches
//     see them; the gaps that never ran are fillers. Parts that are too far apart are
//     moved together.
//   - Numbered barriers are distinguished only if the words of the instructions are
//     known. Otherwise a block has one barrier, which opens when all warps that have
//     not ended have arrived.
package replay
