// Package findings reads from a result what costs time, and where. A rule looks at the
// counters of a launch, or of a whole run, and says how much of the time its cause can cost at
// most, what it saw, and what may help.
//
// How the cost is estimated: schedulers issue nothing in a part of their cycles, and that part
// is divided among the states in which warps wait, as the warps' cycles are. This is the time
// that would pass if each cause were removed alone and nothing took its place. The thresholds
// are our choice.
package findings

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/heddle-sim/heddle/internal/report"
)

// Least is the share of a launch's cycles from which on a rule reports a cause.
const Least = 0.03

// Rule is a cause of lost time that is recognised.
type Rule struct {
	Name    string // as in report.Finding
	Explain string // what the cause is, in a sentence or two
	Try     string // what may help
	launch  func(*launch) *cost
	run     func(*report.Run) *cost
}

// cost is what a rule found.
type cost struct {
	share float64
	seen  string
	lines []report.LineCost
}

// alike returns the launch that speaks for a launch of a sampled run: itself, or the last one of
// the same kernel and grid that was simulated; nil if there is none.
func alike(simulated map[string]*report.Kernel, k *report.Kernel) *report.Kernel {
	key := fmt.Sprint(k.Name, k.Grid, k.Block, k.SharedBytes)
	if !k.Sampled {
		simulated[key] = k
	}
	return simulated[key]
}

// Rules returns all rules, and KeplerRules those for the Kepler-style core.
func Rules() []Rule       { return slices.Clone(rules) }
func KeplerRules() []Rule { return slices.Clone(keplerRules) }

// Of returns the findings of a timing run, those that cost most of the run's time first; none
// of a functional run, and of one that ended because nothing moved, most of whose time is that in
// which it was noticed.
func Of(r *report.Run) []report.Finding {
	if r.Timing == nil || r.Cycles == 0 || r.Error != nil && r.Error.Kind == "stuck" {
		return nil
	}
	var list []report.Finding
	type key struct{ rule, kernel string }
	at := map[key]int{}
	largest := map[key]float64{}
	when := map[key][]span{}
	add := func(rule *Rule, c *cost, f report.Finding, time span) {
		if c == nil || c.share < Least {
			return
		}
		f.Rule, f.Try, f.Seen, f.Lines, f.Launches = rule.Name, rule.Try, c.seen, c.lines, 1
		f.Share = min(c.share, 1)
		f.RunShare = f.Share * float64(time.to-time.from) / float64(r.Cycles)
		// Of several launches of a kernel, the one that it costs most speaks for all.
		k := key{f.Rule, f.Kernel}
		when[k] = append(when[k], time)
		i, again := at[k]
		if !again {
			at[k], largest[k] = len(list), f.RunShare
			list = append(list, f)
			return
		}
		f.RunShare += list[i].RunShare
		f.Launches += list[i].Launches
		if own := f.RunShare - list[i].RunShare; own > largest[k] {
			largest[k], list[i] = own, f
		}
		list[i].RunShare, list[i].Launches = f.RunShare, f.Launches
	}
	rules, newLaunch := rules, newLaunch
	if r.Kepler != nil {
		rules, newLaunch = keplerRules, newKeplerLaunch
	}
	simulated := map[string]*report.Kernel{} // the last one by kernel and grid
	for i := range r.Kernels {
		k := &r.Kernels[i]
		if k.KernelTiming == nil || k.Cycles == 0 {
			continue
		}
		time := span{k.StartCycle, k.StartCycle + k.Cycles}
		if r.Sampling != nil {
			if k = alike(simulated, k); k == nil {
				continue
			}
		}
		l := newLaunch(r, k)
		for j := range rules {
			if rule := &rules[j]; rule.launch != nil {
				add(rule, rule.launch(l), report.Finding{Launch: &k.Launch, Kernel: k.Name}, time)
			}
		}
	}
	for j := range rules {
		if rule := &rules[j]; rule.run != nil {
			add(rule, rule.run(r), report.Finding{}, span{0, r.Cycles})
		}
	}
	for i := range list {
		f := &list[i]
		f.RunShare = min(f.RunShare*apart(when[key{f.Rule, f.Kernel}]), 1)
	}
	slices.SortStableFunc(list, func(a, b report.Finding) int { return cmp.Compare(b.RunShare, a.RunShare) })
	return list
}

// launch is a launch with what several rules need.
type launch struct {
	*report.Kernel
	run    *report.Run
	blocks uint64             // of its grid
	active int                // SMs that had a block
	idle   float64            // share of scheduler cycles without an issue
	state  map[string]float64 // that share, by the state of the warps that waited
}

// grid returns the number of a launch's blocks, also of one that has not ended.
func grid(k *report.Kernel) uint64 {
	n := uint64(1)
	for _, d := range k.Grid {
		n *= uint64(max(d, 0))
	}
	return max(n, k.Blocks)
}

// issued are the states of warps that could issue: the schedulers were busy.
var issued = map[string]bool{"selected": true, "not_selected": true}

func newLaunch(r *report.Run, k *report.Kernel) *launch {
	if k.PassedBlocks > 0 { // what is known is of the blocks that were simulated
		timing := *k.KernelTiming
		timing.Cycles -= k.PassedCycles
		part := *k
		part.WarpInstructions -= k.PassedWarpInstructions
		part.KernelTiming = &timing
		k = &part
	}
	l := &launch{Kernel: k, run: r, blocks: grid(k), active: int(min(uint64(r.SMs), max(grid(k), 1))), state: map[string]float64{}}
	var slots, waits uint64
	for reason, n := range k.SlotStalls {
		if reason != "no_warp" {
			slots += n
		}
	}
	for s, n := range k.Stalls {
		if !issued[s] {
			waits += n
		}
	}
	if waits == 0 || slots == 0 {
		return l
	}
	l.idle = float64(slots) / float64(slots+k.WarpInstructions)
	for s, n := range k.Stalls {
		if !issued[s] {
			l.state[s] = l.idle * float64(n) / float64(waits)
		}
	}
	return l
}

// waits is the share of time lost to the states.
func (l *launch) waits(states ...string) float64 {
	sum := 0.0
	for _, s := range states {
		sum += l.state[s]
	}
	return sum
}

// memory is the share of time lost to global memory.
func (l *launch) memory() float64 {
	return l.waits("long_scoreboard", "lg_throttle", "atomics", "transaction_slots")
}

// mostLines is how many lines a finding names.
const mostLines = 5

// lines are those to which most of a weight belongs. Instructions of one line of the source, of
// an unrolled loop say, count together; the heaviest stands for them.
func (l *launch) lines(weight func(*report.Line) uint64) []report.LineCost {
	type place struct {
		file string
		line int
	}
	type part struct {
		at   int // the heaviest instruction
		n    uint64
		most uint64 // its part
	}
	var sum uint64
	var parts []part
	known := map[place]int{} // numbers of parts
	for i := range l.Lines {
		x := &l.Lines[i]
		n := weight(x)
		if n == 0 {
			continue
		}
		sum += n
		at := len(parts)
		if x.SourceLine > 0 {
			from := place{x.SourceFile, x.SourceLine}
			if old, seen := known[from]; seen {
				at = old
			} else {
				known[from] = at
			}
		}
		if at == len(parts) {
			parts = append(parts, part{at: i})
		}
		p := &parts[at]
		p.n += n
		if n > p.most {
			p.at, p.most = i, n
		}
	}
	slices.SortStableFunc(parts, func(a, b part) int { return cmp.Compare(b.n, a.n) })
	var list []report.LineCost
	for _, p := range parts[:min(len(parts), mostLines)] {
		x := &l.Lines[p.at]
		list = append(list, report.LineCost{
			File: x.File, Line: x.Line, PC: x.PC, SourceFile: x.SourceFile, SourceLine: x.SourceLine,
			Instruction: cmp.Or(x.Text, x.Instruction), Share: float64(p.n) / float64(sum),
		})
	}
	return list
}

// waiting are the lines at which warps were in the states.
func (l *launch) waiting(states ...string) []report.LineCost {
	return l.lines(func(x *report.Line) uint64 {
		var n uint64
		for _, s := range states {
			n += x.Stalls[s]
		}
		return n
	})
}
