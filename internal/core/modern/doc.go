// Package modern is a core model: one streaming multiprocessor of NVIDIA's GPUs
// since Turing as hardware measurements show it (Huerta et al., "Dissecting and
// Modeling the Architecture of Modern GPU Cores", MICRO 2025). Four sub-cores
// issue each warp in order, guided by the compiler's control bits. A result
// becomes readable only when the pipeline makes it visible, so a stall count that
// is too small reads the old value, as on the chip.
//
// What instructions do is in package exec; the core decides when they execute.
// Anything outside the SM is not modelled here either: requests leave through Env,
// replies arrive through Deliver, blocks through Launch.
//
// Sources are marked in comments: [HW] measured by the authors, [SIM] an unmeasured
// choice of their simulator, [INF] inferred or assumed here.
//
// # Time
//
// An instruction that issues in cycle t is in Control at t+1, in Allocate at
// t+2 if its latency is fixed, and reads registers in the following three cycles.
// Its result can be read by an instruction that issues at t plus its dependent
// distance, however long Allocate holds either of them: a compiler cannot know the
// port conflicts that other warps cause, so the hardware must guarantee this. The
// distance depends on both: Kernel.need has those that NVIDIA's compiler keeps. Guards
// see predicates later than operands do. What one instruction may read early, all
// later ones may ([INF]); the hazard checker reports those for which it is too soon.
// Uniform registers and predicates are read at issue. A counter that is decremented
// in a cycle lets instructions issue in the same cycle.
//
// Operations of a queue read their sources in order, and the results of SFU
// operations and those of shared memory are written in order: compilers wait for the
// last of several only. So are those of a warp's textures and surfaces, which memory
// may answer in any order (operands.go, inTurn).
//
// Memory is accessed once the sources have been read: by loads while they are in
// the address unit, by all others when they leave it. Hence the memory
// instructions of a sub-core access memory in issue order. A barrier issues only
// after the memory instructions of its warp have accessed memory, so that blocks
// can rely on it ([INF]); as in the authors' simulator it also waits for all
// dependence counters.
package modern
