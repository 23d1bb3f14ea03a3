package exec

// This file: the timing contract for instruction sets whose results must not become
// visible earlier than on hardware.
//
// If the compiler guards dependences, an instruction that issues too soon reads the
// old value. A core model therefore does not step such a warp in one go. It issues an
// instruction, which reads the sources visible at that time. It says when an
// instruction of variable latency has read its sources, which is when memory is
// accessed. And it says when the results become visible.

// Pending identifies an instruction of a warp that has issued and is not committed.
// Handles are reused after that.
type Pending int32

// NoPending is returned by an instruction that leaves nothing to do.
const NoPending Pending = -1

// Deferred is implemented by a Warp whose results are made visible by the model.
// Step on such a warp does all three phases at once.
type Deferred interface {
	Warp
	// Issue executes the instruction that Next returns. It reads the guard and the
	// sources as currently visible and advances control flow. Instructions of fixed
	// latency compute their results, which stay hidden until Commit. Instructions of
	// variable latency (memory, S2R, SHFL, SFU, FP64 …) only read their operands. The
	// pending instruction is NoPending if there is nothing to access and nothing to
	// make visible. The error is a *Fault.
	Issue(e *Effects) (Pending, error)
	// Access is called once for every pending instruction of variable latency, when
	// its sources have been read: it accesses memory and computes the results. If
	// later instructions of the warp have made registers visible since Issue, its
	// operands have changed; that happens when the compiler forgot to wait. Access
	// fills e; Lanes are those that access memory, which may be fewer than those whose
	// guard held. The error is a *Fault.
	Access(p Pending, e *Effects) error
	// Commit makes the results visible and ends the pending instruction. If there is
	// an Access, Commit follows it.
	Commit(p Pending)
	// Late reports whether a pending instruction has variable latency and so
	// needs Access.
	Late(p Pending) bool
}
