package report

import (
	"fmt"
	"strings"
)

// Sampling is how a run was sampled: some launches were simulated cycle by cycle, and the cycles
// of the others were estimated from these. All were executed.
type Sampling struct {
	Level         string  `json:"level"` // launch: whole launches are simulated or estimated; full: blocks of launches, too
	TargetPercent float64 `json:"target_percent"`
	Seed          uint64  `json:"seed"`
	Launches      uint64  `json:"launches"`
	Timed         uint64  `json:"timed"` // launches that were simulated
	// TimedInPart are those of them of which blocks were executed only. These blocks' cycles and
	// instructions count as estimated.
	TimedInPart uint64 `json:"timed_in_part"`
	// TimedCycles and EstimatedCycles are sums over launches. MarginCycles is half the width of the
	// interval around them that holds the truth in 95 of 100 cases, if launches of a group are
	// alike and the caches' contents at the start of those that were simulated are typical.
	TimedCycles     uint64 `json:"timed_cycles"`
	EstimatedCycles uint64 `json:"estimated_cycles"`
	MarginCycles    uint64 `json:"margin_cycles"`
	// WarpInstructions are those of all launches, TimedWarpInstructions of those simulated.
	WarpInstructions      uint64        `json:"warp_instructions"`
	TimedWarpInstructions uint64        `json:"timed_warp_instructions"`
	Groups                []SampleGroup `json:"groups"` // the one with the most estimated cycles first
}

// SampleGroup is a set of launches that were taken to behave alike: the same kernel and grid, and
// instructions within 5 % of the first one's.
type SampleGroup struct {
	Kernel           string  `json:"kernel"` // with grid, block, and bytes of shared memory
	WarpInstructions uint64  `json:"warp_instructions"`
	Launches         uint64  `json:"launches"`
	Timed            uint64  `json:"timed"`
	TimedCycles      uint64  `json:"timed_cycles"`
	EstimatedCycles  uint64  `json:"estimated_cycles"`
	SpreadPercent    float64 `json:"spread_percent"` // coefficient of variation of cycles per instruction
	MarginCycles     uint64  `json:"margin_cycles"`
}

// Estimates reports whether any cycles are estimates; of nil none are.
func (s *Sampling) Estimates() bool { return s != nil && (s.Timed < s.Launches || s.TimedInPart > 0) }

// write says in the report what of the cycles is an estimate.
func (s *Sampling) write(b *strings.Builder) {
	if !s.Estimates() {
		return
	}
	all := s.TimedCycles + s.EstimatedCycles
	part := ""
	if s.TimedInPart > 0 {
		part = fmt.Sprintf(", %s of them in part", Count(s.TimedInPart))
	}
	fmt.Fprintf(b, "sampled: %s of %s launches were simulated%s, with %s of the instructions; the rest was executed, and its cycles are estimates.\n", Count(s.Timed), Count(s.Launches), part, percent(float64(s.TimedWarpInstructions), float64(s.WarpInstructions)))
	fmt.Fprintf(b, "The launches take %s cycles ± %s (95 %%). Other counters are those of what was simulated.\n", Count(all), percent(float64(s.MarginCycles), float64(all)))
}
