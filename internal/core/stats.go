package core

import "fmt"

// Stats are the counters that all models have. They grow for ever; differences
// give a kernel's.
type Stats struct {
	// Cycles counts core cycles with a resident warp; WarpCycles sums the resident
	// warps over them.
	Cycles, WarpCycles uint64
	// WarpInsts and ThreadInsts count issued instructions, per warp and per lane
	// whose guard held. Completed counts those that have finished, as far as the
	// model notes their end.
	WarpInsts, ThreadInsts, Completed uint64
	// BlocksLaunched, BlocksDone and WarpsLaunched count what they say.
	BlocksLaunched, BlocksDone, WarpsLaunched uint64
	// Lanes counts issues by the number of active lanes.
	Lanes [33]uint64
	// PerWarp counts issues by warp slot.
	PerWarp []uint64
	// LoadInsts and the others count the lanes of memory instructions.
	LoadInsts, StoreInsts, SharedInsts, TextureInsts, ConstInsts, ParamInsts uint64
	// SharedConflicts counts the cycles that conflicts in shared memory cost,
	// L1Conflicts those in which banks of the L1D were taken.
	SharedConflicts, L1Conflicts uint64
	Traffic

	// States sums the cycles of warps in each state, by its number.
	States [MaxStates]uint64
	// WarpLife sums the cycles from launch to retirement of the warps that have
	// retired; for those the states add up to it.
	WarpLife uint64
}

// Activity grows whenever an instruction is issued or a reply delivered.
func (s *Stats) Activity() uint64 { return s.WarpInsts + s.LatencyN + s.BlocksDone }

// Own are the counters that one model has and no other: a pointer to a struct that
// Add and Sub take.
type Own interface {
	// Zero returns empty counters of the same model.
	Zero() Own
	// Add and Sub add and subtract those of the same model.
	Add(o Own)
	Sub(o Own)
	// LoadStoreStalls counts the cycles in which the load/store unit could not
	// finish; 0 where the model does not count them.
	LoadStoreStalls() uint64
	// SlotStalls adds the cycles of schedulers that issued nothing, by the reason.
	SlotStalls(by map[string]uint64)
	// Terms says the same in the terms of GPGPU-Sim; s are the model's others.
	Terms(s *Stats) Terms
}

// Terms are counters as GPGPU-Sim has them. Those of stages that a model does not
// have stay 0.
type Terms struct {
	// Completed are the warp instructions finished, CompletedLanes their lanes.
	Completed, CompletedLanes uint64
	// StallCycles counts the cycles in which the load/store unit could not finish,
	// ConstConflicts those that were due to the port of the constant cache.
	StallCycles, ConstConflicts uint64
	// ConstStalls, SharedStalls and GlobalStalls split some of them, by why.
	ConstStalls, SharedStalls          uint64
	GlobalStalls, CoalStalls, PortFull uint64
	// Stalled, Idle and Waiting are cycles of schedulers without an issue: no place
	// behind issue, no instruction, registers that are not ready.
	Stalled, Idle, Waiting uint64
	// Issues counts scheduler cycles that issued one and two instructions.
	Issues [][2]uint64
}

// PerGiga writes n in billions with one decimal.
func PerGiga(n int64) string {
	n = (n + 5e7) / 1e8
	return fmt.Sprintf("%d.%d", n/10, n%10)
}
