// Package simt is a core model: one streaming multiprocessor as GPGPU-Sim
// models it. Warp schedulers issue in order behind a scoreboard; an operand
// collector gathers sources from banked registers; pipelined units execute;
// a load/store unit coalesces and goes through L1 caches. In its sub-core
// mode schedulers own a share of the registers, collectors and units.
//
// What instructions do is not here: the core looks at a warp's next
// instruction, steps it when it issues (package exec) and times its effects.
// Nor is anything outside the SM: requests leave through Env, replies come in
// through Deliver, blocks through Launch.
//
// A cycle runs the pipeline backwards: write back, execute, collect operands,
// issue, decode and fetch. So a value moves one stage per cycle.
package simt
