package report

import "strings"

// Kepler are the counters that only the Kepler-style core has.
type Kepler struct {
	Conform      string            `json:"conform"`               // conformance level
	DualIssues   uint64            `json:"dual_issue_cycles"`     // cycles that selected two instructions
	SingleIssues uint64            `json:"single_issue_cycles"`   // cycles that selected one
	Squashed     uint64            `json:"squashed_instructions"` // overtaken by a branch
	Branches     uint64            `json:"branches_taken"`
	Transactions uint64            `json:"memory_transactions"`
	Replays      uint64            `json:"split_transactions"`     // the later parts of split accesses
	Conflicts    uint64            `json:"shared_conflict_cycles"` // lost to bank conflicts
	ExitCycle    map[string]uint64 `json:"exit_cycle"`             // by warp
}

// Add adds the counters of another run and takes its exit cycles.
func (k *Kepler) Add(o *Kepler) {
	k.DualIssues += o.DualIssues
	k.SingleIssues += o.SingleIssues
	k.Squashed += o.Squashed
	k.Branches += o.Branches
	k.Transactions += o.Transactions
	k.Replays += o.Replays
	k.Conflicts += o.Conflicts
	k.Conform, k.ExitCycle = o.Conform, o.ExitCycle
}

// Warp has the counters of one warp of a launch.
type Warp struct {
	Warp      int               `json:"warp"`
	ExitCycle uint64            `json:"exit_cycle"` // 0 if it has not exited
	Cycles    uint64            `json:"cycles"`     // from its start to its exit: the sum of the stalls
	Stalls    map[string]uint64 `json:"stalls"`     // by the warp's state, without zeros
}

// fetchTable shows the cycles of the Kepler-style core by state of fetch.
func (r *Run) fetchTable(b *strings.Builder) {
	k := r.Kepler
	slots := map[string]uint64{"two instructions selected": k.DualIssues, "one instruction selected": k.SingleIssues}
	for i := range r.Kernels {
		if t := r.Kernels[i].KernelTiming; t != nil {
			for s, n := range t.SlotStalls {
				slots["none: "+spoken(s)] += n
			}
		}
	}
	var cycles uint64 // of all SMs
	for _, n := range slots {
		cycles += n
	}
	t := NewTable("<what fetch did", "cycles", "share", "<")
	for _, s := range shares(slots) {
		t.Row(s.name, Count(s.n), percent(float64(s.n), float64(cycles)), Bar(s.n, cycles))
	}
	t.Rule()
	t.Row("all", Count(cycles), "", "")
	b.WriteString("\n")
	t.Write(b)
	c := NewTable("<", "")
	c.Row("instructions squashed by branches", Count(k.Squashed))
	c.Row("branches taken", Count(k.Branches))
	c.Row("memory transactions", Count(k.Transactions))
	c.Row("of them from splits", Count(k.Replays))
	c.Row("bank conflict cycles", Count(k.Conflicts))
	c.Write(b)
	r.warpTable(b)
}

// warpTable shows the warps of a run of one launch, if there are several.
func (r *Run) warpTable(b *strings.Builder) {
	if len(r.Kernels) != 1 || r.Kernels[0].KernelTiming == nil || len(r.Kernels[0].Warps) < 2 {
		return
	}
	t := NewTable("warp", "cycles", "exit in", "selected", "<main stall")
	for _, w := range r.Kernels[0].Warps {
		exit := "–"
		if w.ExitCycle > 0 {
			exit = Count(w.ExitCycle)
		}
		t.Row(Count(uint64(w.Warp)), Count(w.Cycles), exit, percent(float64(w.Stalls[selected]), float64(w.Cycles)), mostly(w.Stalls, 2))
	}
	b.WriteString("\n")
	t.Write(b)
}
