package simt

import "github.com/heddle-sim/heddle/internal/core"

// Stall says why the load/store unit could not finish an instruction in a
// cycle.
type Stall uint8

// The reasons, named as GPGPU-Sim's.
const (
	StallBank     Stall = iota // a bank, or the cache, refused (resource_stall, bk_conf)
	StallCoalesce              // more accesses to send
	StallNetwork               // no room in the network
	StallDataPort              // the cache's data port is busy
	Stalls                     // how many there are
)

var stallNames = [Stalls]string{"bank", "coalesce", "network", "data_port"}

// String returns the name used in reports.
func (s Stall) String() string { return stallNames[s] }

// Client is who an LD/ST stall is charged to.
type Client uint8

// The clients.
const (
	ClientShared Client = iota
	ClientConst
	ClientTexture
	ClientGlobalLoad
	ClientGlobalStore
	ClientLocalLoad
	ClientLocalStore
	Clients // how many there are
)

var clientNames = [Clients]string{"shared", "const", "texture", "global_load", "global_store", "local_load", "local_store"}

// String returns the name used in reports.
func (c Client) String() string { return clientNames[c] }

// Slots are the outcomes of a scheduler's cycle without an issue; they index
// Stats.Slots.
const (
	SlotIdle       = int(slotIdle)  // W0_Idle: no warp had an instruction to issue
	SlotScoreboard = int(slotScore) // W0_Scoreboard: all that had one waited for registers
	SlotStall      = int(slotStall) // Stall: no issue register was free
)

// Stats are a core's counters. They grow for ever; differences give a kernel's.
type Stats struct {
	// Cycles counts core cycles with a resident warp; WarpCycles sums the
	// resident warps over them.
	Cycles, WarpCycles uint64
	// WarpInsts and ThreadInsts count issued instructions, per warp and per
	// lane whose guard held. Completed counts the warp instructions finished,
	// CompletedLanes their active lanes.
	WarpInsts, ThreadInsts, Completed, CompletedLanes uint64
	// BlocksLaunched, BlocksDone and WarpsLaunched count what they say.
	BlocksLaunched, BlocksDone, WarpsLaunched uint64
	// Lanes counts issues by the number of active lanes (W1 to W32; W0 is an
	// issue without active lanes).
	Lanes [33]uint64
	// Issues counts scheduler cycles that issued one and two instructions.
	Issues [2]uint64
	// IssuesBy splits them by scheduler.
	IssuesBy [][2]uint64
	// Slots counts scheduler cycles without issue, by scheduler and outcome.
	Slots [][3]uint64
	// PerWarp counts issues by warp slot.
	PerWarp []uint64

	// MemInsts counts the lanes of accepted memory instructions.
	LoadInsts, StoreInsts, SharedInsts, TextureInsts, ConstInsts, ParamInsts uint64
	// LSStalls counts cycles in which the load/store unit could not finish.
	LSStalls uint64
	// LSStallBy splits them by who was held up and why.
	LSStallBy [Clients][Stalls]uint64
	// SharedConflicts, L1Conflicts and ConstConflicts count stalled cycles of
	// each kind.
	SharedConflicts, L1Conflicts, ConstConflicts uint64
	core.Traffic

	// States sums the cycles of warps in each state.
	States [WarpStates]uint64
	// WarpLife sums the cycles from launch to retirement of the warps that
	// have retired; for those the states add up to it.
	WarpLife uint64
}

// completed counts an instruction that has finished.
func (c *Core) completed(f *flight) {
	c.Stats.Completed++
	c.Stats.CompletedLanes += uint64(f.lanes.Count())
}

func (s *Stats) init(cfg *Config) {
	s.IssuesBy = make([][2]uint64, cfg.Schedulers)
	s.Slots = make([][3]uint64, cfg.Schedulers)
	s.PerWarp = make([]uint64, cfg.Warps)
}
