package findings

import (
	"fmt"

	"github.com/heddle-sim/heddle/internal/report"
)

// This file: rules for the Kepler-style core, whose fetch is in exactly one state in each cycle.

var keplerRules = []Rule{
	{
		Name:    "memory-latency",
		Explain: "Fetch waits for loads from global memory.",
		Try:     "load several values before using the first, load ahead, have more warps, or reuse data in shared memory",
		launch:  waiting("of the time fetch waits for loads from global memory", "long_scoreboard"),
	},
	{
		Name:    "shared-memory-latency",
		Explain: "Fetch waits for results of shared memory.",
		Try:     "keep values in registers, load them earlier, or have more warps",
		launch:  waiting("of the time fetch waits for results of shared memory", "short_scoreboard"),
	},
	{
		Name:    "dependent-instructions",
		Explain: "Fetch waits for results of arithmetic, or for predicates.",
		Try:     "independent instructions in between: several elements for a lane; or more warps",
		launch:  waiting("of the time fetch waits for results of arithmetic or for predicates", "wait"),
	},
	{
		Name:    "few-warps",
		Explain: "Fetch waits for results, and there are too few warps to fill the time.",
		Try:     "divide the work among more warps: an SM has 24",
		launch:  keplerFewWarps,
	},
	{
		Name:    "split-accesses",
		Explain: "The lanes of a warp access several lines of 128 bytes, which the load/store unit requests one after the other.",
		Try:     "let neighbouring lanes access neighbouring words, or pass through shared memory",
		launch:  splits,
	},
	{
		Name:    "bank-conflicts",
		Explain: "Lanes of a warp access different words of one bank of shared memory, which serves one a cycle. Fetch stops meanwhile.",
		Try:     "pad rows of shared arrays by a word, or permute the columns",
		launch:  keplerConflicts,
	},
	{
		Name:    "collectors",
		Explain: "No operand collector is free: decoded instructions wait in them for their operands or for a place in the queue of their unit.",
		Try:     "fewer accesses to memory in a row, operands in different banks of registers (number modulo 4), and instructions of both pipes",
		launch:  waiting("of the time no operand collector is free", "collectors"),
	},
	{
		Name:    "too-many-loads",
		Explain: "Warps have as many accesses to global memory in flight as they can: each line takes a slot.",
		Try:     "fewer lines for an access, more warps with fewer accesses each, or arithmetic in between",
		launch:  waiting("of the time fetch waits for a free transaction slot", "transaction_slots"),
	},
	{
		Name:    "branches",
		Explain: "A branch is taken, and no warp fetches until its target is known. Calls, returns, SSY, JOIN and BAR count as branches.",
		Try:     "unroll loops, replace short branches by guards, and call fewer functions",
		launch:  keplerBranches,
	},
	{
		Name:    "divergence",
		Explain: "Instructions execute with few active lanes: lanes take different paths, or warps began with few.",
		Try:     "let the lanes of a warp take the same path, and start warps with all lanes",
		launch:  keplerDivergence,
	},
	{
		Name:    "barriers",
		Explain: "Warps wait at the barrier for others.",
		Try:     "even out the work between barriers, or have fewer of them",
		launch:  keplerBarriers,
	},
	{
		Name:    "drain",
		Explain: "Warps have nothing left to fetch: an EXIT or a BAR waits for operations in flight.",
		Try:     "store results earlier, and have arithmetic follow the last accesses",
		launch:  waiting("of the time an EXIT or BAR waits for operations in flight", "drain"),
	},
	{
		Name:    "uneven-warps",
		Explain: "Some warps run much longer than others.",
		Try:     "divide the work evenly among the warps",
		launch:  unevenWarps,
	},
	{
		Name:    "uneven-sms",
		Explain: "SMs are done, or have no warps, while others run.",
		Try:     "start warps on all SMs (warp number modulo the number of SMs) and divide the work evenly",
		launch:  waiting("of the time of all SMs is on SMs without warps, or whose warps have exited", "done"),
	},
	{
		Name:    "single-issue",
		Explain: "Fetch is busy, but mostly selects one instruction, where it could select two that are independent and of different units.",
		Try:     "alternate integer, floating-point and memory instructions that do not depend on each other",
		run:     singleIssue,
	},
	{
		Name:    "squashed-instructions",
		Explain: "Fetched instructions have no effect, because a branch before them is taken.",
		Try:     "unroll loops, and let the frequent path fall through",
		run:     squashed,
	},
}

// newKeplerLaunch divides the time of fetch by its states. That of the scoreboard is divided
// as the warps' waits for results are.
func newKeplerLaunch(r *report.Run, k *report.Kernel) *launch {
	l := &launch{Kernel: k, run: r, active: r.SMs, state: map[string]float64{}}
	all := float64(k.Cycles) * float64(r.SMs)
	results := []string{"long_scoreboard", "short_scoreboard", "wait"}
	var waits uint64
	for _, s := range results {
		waits += k.Stalls[s]
	}
	var idle uint64 // as an integer: a sum of fractions would depend on the map's order
	for s, n := range k.SlotStalls {
		idle += n
		if s != "scoreboard" {
			l.state[s] = float64(n) / all
		}
	}
	l.idle = float64(idle) / all
	for _, s := range results {
		if waits > 0 {
			l.state[s] = float64(k.SlotStalls["scoreboard"]) / all * float64(k.Stalls[s]) / float64(waits)
		}
	}
	return l
}

func keplerFewWarps(l *launch) *cost {
	share := l.waits("long_scoreboard", "short_scoreboard", "wait")
	if l.Occupancy >= enough || share < 0.2 {
		return nil
	}
	return &cost{share * (1 - l.Occupancy), fmt.Sprintf("%.1f of 24 warps run on an SM on average; %s of the time fetch waits for results", 24*l.Occupancy, percent(share)), nil}
}

func splits(l *launch) *cost {
	k := l.run.Kepler // of all frames, which run the same program
	if k.Replays == 0 {
		return nil
	}
	part := float64(k.Replays) / float64(k.Transactions)
	share := l.waits("long_scoreboard", "transaction_slots", "collectors", "drain") * part
	return &cost{share, fmt.Sprintf("%s of the lines that accesses request are not the first of their access", percent(part)), l.lines(func(x *report.Line) uint64 { return x.Replays })}
}

func keplerConflicts(l *launch) *cost {
	share := l.waits("bank_conflict")
	return &cost{share, percent(share) + " of the time shared memory serves bank conflicts", l.lines(func(x *report.Line) uint64 {
		if x.Accesses == nil {
			return 0
		}
		return x.ConflictCycles
	})}
}

// jumps are the instructions that count as branches.
var jumps = map[string]bool{"BRA": true, "BEQ": true, "BNE": true, "CALL": true, "RET": true, "SSY": true, "JOIN": true, "BAR": true}

func keplerBranches(l *launch) *cost {
	share := l.waits("branch")
	return &cost{share, percent(share) + " of the time fetch waits for a taken branch", l.lines(func(x *report.Line) uint64 {
		if !jumps[x.Instruction] {
			return 0
		}
		return x.Issues
	})}
}

func keplerDivergence(l *launch) *cost {
	if l.WarpInstructions == 0 {
		return nil
	}
	mean := float64(l.ThreadInstructions) / float64(l.WarpInstructions)
	return &cost{(1 - l.idle) * (1 - mean/32), fmt.Sprintf("%.1f of 32 lanes are active in an instruction", mean), l.lines(func(x *report.Line) uint64 { return 32*x.Issues - x.ThreadInstructions })}
}

// keplerBarriers divides the time in which fetch selects nothing as the warps' waits: a fetch
// that waits for the last warp is not in the state of the barrier.
func keplerBarriers(l *launch) *cost {
	var waits uint64
	for s, n := range l.Stalls {
		if !issued[s] && s != "start" {
			waits += n
		}
	}
	n := l.Stalls["barrier"]
	if n == 0 {
		return nil
	}
	part := float64(n) / float64(waits)
	return &cost{l.idle * part, fmt.Sprintf("warps are at the barrier for %s of the time in which they wait", percent(part)), l.lines(l.atBarrier)}
}

// atBarrier are the cycles in which warps wait at a BAR: they are counted at the instruction after
// it.
func (l *launch) atBarrier(x *report.Line) uint64 {
	for i := range l.Lines {
		if y := &l.Lines[i]; x.Instruction == "BAR" && y.File == x.File && y.PC == x.PC+1 {
			return y.Stalls["barrier"]
		}
	}
	return 0
}

func unevenWarps(l *launch) *cost {
	list := make([]uint64, len(l.Warps))
	for i := range l.Warps {
		list[i] = l.Warps[i].Cycles
	}
	if share, most, mean := uneven(list); share >= tolerated {
		return &cost{share, fmt.Sprintf("%d warps run for %s cycles on average, one for %s", len(list), report.Count(uint64(mean)), report.Count(most)), nil}
	}
	return nil
}

// selectedTwo is the share of the cycles of all SMs in which fetch selected something, from which
// on pairs matter: else there is little to select (our choice).
const selectedTwo = 0.5

func singleIssue(r *report.Run) *cost {
	k, all := r.Kepler, float64(r.Cycles)*float64(r.SMs)
	if float64(k.SingleIssues+k.DualIssues) < selectedTwo*all {
		return nil
	}
	return &cost{float64(k.SingleIssues) / 2 / all, fmt.Sprintf("of the cycles in which fetch selects instructions, %s select two", percent(float64(k.DualIssues)/float64(k.SingleIssues+k.DualIssues))), nil}
}

func squashed(r *report.Run) *cost {
	k := r.Kepler
	fetched := float64(k.SingleIssues + 2*k.DualIssues)
	if fetched == 0 {
		return nil
	}
	part := min(float64(k.Squashed)/fetched, 1)
	return &cost{part * float64(k.SingleIssues+k.DualIssues) / (float64(r.Cycles) * float64(r.SMs)), fmt.Sprintf("%s of the fetched instructions are squashed by a branch before them", percent(part)), nil}
}
