// Package modern is a core model: one streaming multiprocessor of NVIDIA's GPUs
// since Turing as hardware measurements show it (Huerta et al., "Dissecting and
// Modeling the Architecture of Modern GPU Cores", MICRO 2025). Four sub-cores
// issue in order under the compiler's control bits; a value can be read when
// the stages make it visible, and not before, so that a control code which is
// too small gives the old value, as on the chip.
//
// What instructions do is not here: the core has them executed (package exec)
// and says when. Nor is anything outside the SM: requests leave through Env,
// replies come in through Deliver, blocks through Launch.
//
// Sources are marked in comments: [HW] measured by the authors, [SIM] a choice
// of their simulator that nobody measured, [INF] inferred or assumed here.
//
// # Time
//
// An instruction that issues in cycle t is in Control at t+1, in Allocate at
// t+2 if its latency is fixed, and reads registers in the three cycles after.
// It can be read by an instruction that issues at t plus its dependent
// distance, whatever happens in Allocate meanwhile: the hardware must see to
// that, because a compiler cannot know of the port conflicts that other warps
// cause. An instruction of variable latency sees a register a cycle later, since
// nothing is bypassed to it; those of the SFU pipe do not, since compilers put
// conversions four cycles behind what they convert. Predicates take no part in
// the bypass ([INF]); guards see them later than operands do. Counters that are lowered in a cycle let instructions
// issue in that cycle.
//
// Memory is touched once the sources have been read: by loads on the way
// through the address unit, by all others when they leave it. So memory
// instructions of a sub-core touch memory in the order of their issue. A barrier
// issues only when the memory instructions of its warp have touched memory, so
// that blocks may rely on it ([INF]; the authors' simulator has it wait for all
// dependence counters, which this model does as well).
package modern
