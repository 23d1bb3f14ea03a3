package modern

import "github.com/heddle-sim/heddle/internal/core"

// Stats are a core's counters. They are never reset; a kernel's are differences.
// Completed counts the instructions of variable latency that have ended.
type Stats struct {
	core.Stats
	Counters
}

// Counters are those that other models do not have.
type Counters struct {
	// IssuesBy counts issues by sub-core, ByPipe by pipe.
	IssuesBy []uint64
	ByPipe   [Pipes]uint64
	// Slots counts the cycles of each sub-core's issue slot by outcome: the state of the
	// warp that was closest to issuing, or SlotEmpty without warps.
	Slots [][WarpStates + 1]uint64

	// AllocateHolds counts the cycles in which an instruction waited in Allocate for
	// read ports, LateReadHolds those in which one of variable latency waited for them.
	AllocateHolds, LateReadHolds uint64
	// OperandReads counts registers read through the ports, ReuseHits those found in
	// the register-file cache instead.
	OperandReads, ReuseHits uint64
	// ResultWaits counts the cycles that results of fixed latency spent in the result
	// queue, WriteConflicts the cycles by which they delayed other results.
	ResultWaits, WriteConflicts uint64
	// CounterLimits counts the cycles in which a warp was held because a dependence
	// counter was at its highest value.
	CounterLimits uint64
	// TableFull counts the cycles in which a full pending request table held up a
	// sub-core.
	TableFull uint64

	// Fetches counts look-ups in the L0Is, L0IMisses those that missed, StreamHits the
	// misses whose line was in the stream buffer or had been requested by it;
	// Prefetches counts the lines that stream buffers requested.
	Fetches, L0IMisses, StreamHits, Prefetches uint64
	// FLLookups and FLMisses count look-ups of constants by instructions of fixed
	// latency, VLLookups and VLMisses those by LDC.
	FLLookups, FLMisses, VLLookups, VLMisses uint64

	// L1Fails counts cycles in which the L1D refused a look-up, L1Conflicts those in
	// which a bank did.
	L1Fails uint64
}

// SlotEmpty is the index in Stats.Slots of the cycles of a sub-core without warps.
const SlotEmpty = int(WarpStates)

func (s *Stats) init(cfg *Config) {
	s.IssuesBy = make([]uint64, cfg.SubCores)
	s.Slots = make([][WarpStates + 1]uint64, cfg.SubCores)
	s.PerWarp = make([]uint64, cfg.Warps)
}

// Zero returns empty counters.
func (s *Counters) Zero() core.Own { return &Counters{} }

// Add adds the counters of another core.
func (s *Counters) Add(o core.Own) { core.Add(s, o.(*Counters)) }

// Sub subtracts an earlier reading.
func (s *Counters) Sub(o core.Own) { core.Sub(s, o.(*Counters)) }

// LoadStoreStalls returns 0: the parts of the memory unit have their own counters.
func (s *Counters) LoadStoreStalls() uint64 { return 0 }

// SlotStalls adds the cycles in which a sub-core issued nothing, by reason.
func (s *Counters) SlotStalls(by map[string]uint64) {
	for _, slots := range s.Slots {
		for st, n := range slots {
			switch {
			case st == SlotEmpty:
				by["no_warp"] += n
			case st != int(Selected):
				by[WarpState(st).String()] += n
			}
		}
	}
}

// Terms returns the counters with a counterpart here. The constant caches (but for the
// cycles that further addresses take) and the data port of the L1D never refuse an access, and the lines of an instruction are requested
// while others proceed, so their counters are 0. Every issued instruction counts as
// completed.
func (s *Counters) Terms(of *core.Stats) core.Terms {
	t := core.Terms{
		Completed: of.WarpInsts, CompletedLanes: of.ThreadInsts, SharedStalls: of.SharedConflicts, GlobalStalls: of.L1Conflicts + s.L1Fails,
		ConstConflicts: of.ConstConflicts, StallCycles: of.SharedConflicts + of.L1Conflicts + s.L1Fails + s.TableFull,
	}
	for _, n := range s.IssuesBy {
		t.Issues = append(t.Issues, [2]uint64{n})
	}
	for _, by := range s.Slots {
		for st, n := range by {
			switch WarpState(st) {
			case Selected:
			case Wait, ShortScoreboard, LongScoreboard:
				t.Waiting += n
			case NotSelected, MathThrottle, LGThrottle, MIOThrottle, Dispatch, IMCMiss:
				t.Stalled += n
			default:
				t.Idle += n
			}
		}
	}
	return t
}
