// Package simt is a core model: one streaming multiprocessor as GPGPU-Sim
// models it. Warp schedulers issue each warp in order, guarded by a scoreboard; an
// operand collector gathers sources from banked registers; pipelined units
// execute; a load/store unit coalesces accesses and sends them through the L1
// caches. In sub-core mode each scheduler owns a share of the registers,
// collectors and units.
//
// What instructions do is in package exec: the core looks at a warp's next
// instruction, steps it at issue and times its effects. Anything outside the SM
// is not modelled here either: requests leave through Env, replies arrive through
// Deliver, blocks through Launch.
//
// A cycle simulates the pipeline stages in reverse order: write back, execute,
// collect operands, issue, decode and fetch. Hence an instruction moves one stage
// per cycle.
package simt
