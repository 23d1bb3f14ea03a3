package modern

import "github.com/heddle-sim/heddle/internal/core"

// Stats are a core's counters. They grow for ever; differences give a kernel's.
type Stats struct {
	// Cycles counts core cycles with a resident warp; WarpCycles sums the
	// resident warps over them.
	Cycles, WarpCycles uint64
	// WarpInsts and ThreadInsts count issued instructions, per warp and per
	// lane whose guard held. Completed counts the instructions of variable
	// latency that have ended.
	WarpInsts, ThreadInsts, Completed uint64
	// BlocksLaunched, BlocksDone and WarpsLaunched count what they say.
	BlocksLaunched, BlocksDone, WarpsLaunched uint64
	// Lanes counts issues by the number of active lanes.
	Lanes [33]uint64
	// IssuesBy counts issues by sub-core, PerWarp by warp slot, ByPipe by pipe.
	IssuesBy []uint64
	PerWarp  []uint64
	ByPipe   [Pipes]uint64
	// Slots counts the cycles of each sub-core's issue slot by what it did: the
	// state of the warp that was closest to issuing, SlotEmpty without warps.
	Slots [][WarpStates + 1]uint64

	// AllocateHolds counts the cycles in which an instruction was held in
	// Allocate for read ports, LateReadHolds those in which one of variable
	// latency found none.
	AllocateHolds, LateReadHolds uint64
	// OperandReads counts registers read through the ports, ReuseHits those
	// found in the register-file cache instead.
	OperandReads, ReuseHits uint64
	// ResultWaits counts cycles of results of fixed latency in the result queue,
	// WriteConflicts the cycles by which they delayed others.
	ResultWaits, WriteConflicts uint64
	// CounterLimits counts the cycles in which a warp was held because a
	// dependence counter was at its highest value.
	CounterLimits uint64
	// TableFull counts the cycles in which the pending request table held up a
	// sub-core.
	TableFull uint64

	// Fetches counts look-ups in the L0Is and L0IMisses those that missed, of
	// which StreamHits found their line in the stream buffer or on its way there;
	// Prefetches counts the lines that stream buffers asked for.
	Fetches, L0IMisses, StreamHits, Prefetches uint64
	// FLLookups and FLMisses count look-ups of constants by instructions of fixed
	// latency, VLLookups and VLMisses those by LDC.
	FLLookups, FLMisses, VLLookups, VLMisses uint64

	// LoadInsts and the others count the lanes of memory instructions.
	LoadInsts, StoreInsts, SharedInsts, TextureInsts, ConstInsts, ParamInsts uint64
	// SharedConflicts counts passes through shared memory beyond those without
	// conflicts. L1Conflicts and L1Fails count cycles in which a bank or the L1D
	// refused a look-up.
	SharedConflicts, L1Conflicts, L1Fails uint64
	core.Traffic

	// States sums the cycles of warps in each state.
	States [WarpStates]uint64
	// WarpLife sums the cycles from launch to retirement of the warps that
	// have retired; for those the states add up to it.
	WarpLife uint64
}

// SlotEmpty is where Stats.Slots counts the cycles of a sub-core without warps.
const SlotEmpty = int(WarpStates)

func (s *Stats) init(cfg *Config) {
	s.IssuesBy = make([]uint64, cfg.SubCores)
	s.Slots = make([][WarpStates + 1]uint64, cfg.SubCores)
	s.PerWarp = make([]uint64, cfg.Warps)
}
