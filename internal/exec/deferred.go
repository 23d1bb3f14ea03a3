package exec

// This file: the part of the contract with timing for instruction sets whose
// results must not be visible before the hardware would show them.
//
// Where the compiler guards dependences, an instruction that issues too soon
// reads the old value. So a core model does not step such a warp in one go. It
// issues an instruction, which reads the sources that are visible now; it says
// when an instruction of variable latency has read its sources, which is when
// memory is accessed; and it says when the results become visible.

// Pending names an instruction of a warp that has issued and not been
// committed. A handle is used again after that.
type Pending int32

// NoPending is what an instruction returns that leaves nothing to be done.
const NoPending Pending = -1

// Deferred is what a Warp is if its results are made visible by the model.
// Step on such a warp does all three at once.
type Deferred interface {
	Warp
	// Issue executes the instruction that Next returns. It reads guard and
	// sources as they are visible now and moves control flow on. Instructions
	// of fixed latency compute their results, which stay hidden until Commit.
	// Those of variable latency (memory, S2R, SHFL, SFU, FP64 …) only take their
	// operands. The pending instruction is NoPending if there is nothing to
	// access and nothing to show. The error is a *Fault.
	Issue(e *Effects) (Pending, error)
	// Access is called once for every pending instruction of variable latency,
	// when its sources have been read: it accesses memory and computes the
	// results. Registers that later instructions of the warp have made visible
	// since Issue have changed its operands: that is what happens where the
	// compiler forgot to wait. It fills e; Lanes are those that access memory,
	// which may be fewer than those whose guard held. The error is a *Fault.
	Access(p Pending, e *Effects) error
	// Commit makes the results visible and ends the pending instruction. It
	// follows Access where there is one.
	Commit(p Pending)
	// Late reports whether a pending instruction has variable latency and so
	// needs Access.
	Late(p Pending) bool
}
