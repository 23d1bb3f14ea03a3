package core

import "fmt"

// Stats are the counters that all models have. They are never reset; a kernel's are
// differences.
type Stats struct {
	// Cycles counts core cycles with a resident warp; WarpCycles sums the resident
	// warps over them.
	Cycles, WarpCycles uint64
	// WarpInsts and ThreadInsts count issued instructions, per warp and per lane whose
	// guard was true. Completed counts finished ones, if the model notes their end.
	WarpInsts, ThreadInsts, Completed         uint64
	BlocksLaunched, BlocksDone, WarpsLaunched uint64
	// Lanes counts issues by the number of active lanes.
	Lanes [33]uint64
	// PerWarp counts issues by warp slot.
	PerWarp []uint64
	// LoadInsts and the following count the lanes of memory instructions.
	LoadInsts, StoreInsts, SharedInsts, TextureInsts, ConstInsts, ParamInsts uint64
	// SharedConflicts counts the cycles lost to bank conflicts in shared memory,
	// L1Conflicts those in which an L1D bank was busy, ConstConflicts those in which a
	// load of constants was served again, for other addresses.
	SharedConflicts, L1Conflicts, ConstConflicts uint64
	Traffic

	// States sums the cycles of warps in each state, by its number.
	States [MaxStates]uint64
	// WarpLife sums the cycles from launch to retirement of retired warps. Their
	// cycles in States add up to it.
	WarpLife uint64
}

// Activity grows whenever an instruction is issued, a reply delivered, or a block done.
func (s *Stats) Activity() uint64 { return s.WarpInsts + s.LatencyN + s.BlocksDone }

// Own are the counters that only one model has: a pointer to a struct that the
// functions Add and Sub accept.
type Own interface {
	// Zero returns empty counters of the same model.
	Zero() Own
	// Add and Sub add and subtract counters of the same model.
	Add(o Own)
	Sub(o Own)
	// LoadStoreStalls counts the cycles in which the load/store unit could not
	// finish; 0 where the model does not count them.
	LoadStoreStalls() uint64
	// SlotStalls adds the cycles in which a scheduler issued nothing, by reason.
	SlotStalls(by map[string]uint64)
	// Terms returns the counters in GPGPU-Sim's terms; s are the common counters.
	Terms(s *Stats) Terms
}

// Terms are counters as GPGPU-Sim defines them. Those of stages that a model does not
// have are 0.
type Terms struct {
	// Completed counts finished warp instructions, CompletedLanes their lanes.
	Completed, CompletedLanes uint64
	// StallCycles counts the cycles in which the load/store unit could not finish,
	// ConstConflicts those due to the port of the constant cache, refusals included.
	StallCycles, ConstConflicts uint64
	// ConstStalls and the following split some of them by reason.
	ConstStalls, SharedStalls          uint64
	GlobalStalls, CoalStalls, PortFull uint64
	// Stalled, Idle and Waiting count scheduler cycles without an issue: no free
	// pipeline register, no instruction, registers not ready.
	Stalled, Idle, Waiting uint64
	// Issues counts scheduler cycles that issued one and two instructions.
	Issues [][2]uint64
}

// PerGiga writes n in billions with one decimal.
func PerGiga(n int64) string {
	n = (n + 5e7) / 1e8
	return fmt.Sprintf("%d.%d", n/10, n%10)
}
