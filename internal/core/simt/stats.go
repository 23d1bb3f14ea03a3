package simt

import "github.com/heddle-sim/heddle/internal/core"

// Stall is the reason why the load/store unit could not finish an instruction in a
// cycle.
type Stall uint8

// The reasons, with GPGPU-Sim's names.
const (
	StallBank     Stall = iota // a bank, or the cache, refused (resource_stall, bk_conf)
	StallCoalesce              // more accesses to send
	StallNetwork               // no room in the network
	StallDataPort              // the cache's data port is busy
	Stalls                     // number of reasons
)

var stallNames = [Stalls]string{"bank", "coalesce", "network", "data_port"}

// String returns the name used in reports.
func (s Stall) String() string { return stallNames[s] }

// Client is the kind of access that a load/store stall is charged to.
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
	Clients // number of clients
)

var clientNames = [Clients]string{"shared", "const", "texture", "global_load", "global_store", "local_load", "local_store"}

// String returns the name used in reports.
func (c Client) String() string { return clientNames[c] }

// Slots are the outcomes of a scheduler's cycle without an issue; they index
// Stats.Slots.
const (
	SlotIdle       = int(slotIdle)  // W0_Idle: no warp had an instruction to issue
	SlotScoreboard = int(slotScore) // W0_Scoreboard: all warps with an instruction waited for registers
	SlotStall      = int(slotStall) // Stall: no issue register was free
)

// Stats are a core's counters. They are never reset; a kernel's are differences.
// Lanes[0], GPGPU-Sim's W0, counts issues without active lanes.
type Stats struct {
	core.Stats
	Counters
}

// Counters are those that other models do not have.
type Counters struct {
	// CompletedLanes counts the active lanes of finished instructions.
	CompletedLanes uint64
	// Issues counts scheduler cycles that issued one and two instructions.
	Issues [2]uint64
	// IssuesBy splits them by scheduler.
	IssuesBy [][2]uint64
	// Slots counts scheduler cycles without issue, by scheduler and outcome.
	Slots [][3]uint64
	// LSStalls counts cycles in which the load/store unit could not finish.
	LSStalls uint64
	// ConstConflicts counts cycles stalled by constant accesses, also by their refusal.
	ConstConflicts uint64
	// LSStallBy splits them by kind of access and reason.
	LSStallBy [Clients][Stalls]uint64
}

// Zero returns empty counters.
func (s *Counters) Zero() core.Own { return &Counters{} }

// Add adds the counters of another core.
func (s *Counters) Add(o core.Own) { core.Add(s, o.(*Counters)) }

// Sub subtracts an earlier reading.
func (s *Counters) Sub(o core.Own) { core.Sub(s, o.(*Counters)) }

// LoadStoreStalls counts the cycles in which the load/store unit could not finish.
func (s *Counters) LoadStoreStalls() uint64 { return s.LSStalls }

// SlotStalls adds the cycles in which a scheduler issued nothing, by reason.
func (s *Counters) SlotStalls(by map[string]uint64) {
	for _, slots := range s.Slots {
		by["idle"] += slots[SlotIdle]
		by["scoreboard"] += slots[SlotScoreboard]
		by["pipe"] += slots[SlotStall]
	}
}

// Terms returns the counters under GPGPU-Sim's names. The model has the same ones.
func (s *Counters) Terms(of *core.Stats) core.Terms {
	by := &s.LSStallBy
	t := core.Terms{
		Completed: of.Completed, CompletedLanes: s.CompletedLanes, StallCycles: s.LSStalls, ConstConflicts: s.ConstConflicts,
		ConstStalls: by[ClientConst][StallBank], SharedStalls: by[ClientShared][StallBank], Issues: s.IssuesBy,
	}
	for _, c := range []Client{ClientGlobalLoad, ClientGlobalStore, ClientLocalLoad, ClientLocalStore} {
		t.GlobalStalls += by[c][StallBank]
		t.CoalStalls += by[c][StallCoalesce]
		t.PortFull += by[c][StallDataPort]
	}
	for _, slots := range s.Slots {
		t.Stalled += slots[SlotStall]
		t.Idle += slots[SlotIdle]
		t.Waiting += slots[SlotScoreboard]
	}
	return t
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
