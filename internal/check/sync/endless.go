package sync

import (
	"fmt"

	"github.com/heddle-sim/heddle/internal/check"
	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/plain"
)

// This file: launches that never end, because all threads that run wait in loops.

// mostLoops bounds the places of a finding. Our choice.
const mostLoops = 8

// endless reports a launch whose threads wait in loops for ever: at mbarriers, or for other
// threads of the grid.
func (c *Checker) endless(number int, e *exec.StuckError) {
	before := len(c.all)
	c.endlessPolls(number)
	if len(c.all) > before {
		return
	}
	f := &check.Finding{Rule: endless, Level: check.Error, Kernel: plain.Instance(e.Kernel), Launch: number, Count: 1, Details: map[string]string{}}
	what := endless.Short
	var waiting []check.Step
	waits := map[check.Place]bool{}
	for _, b := range c.ofLaunch(number) {
		if b.cooperative {
			f.Rule, what = divergence, "Blocks wait in a loop, as at a barrier of the grid, for others of the grid that never come."
		}
		for i := range b.came {
			if a := &b.came[i]; a.waits && !waits[a.place] && len(waiting) < mostLoops {
				waits[a.place] = true
				waiting = append(waiting, b.step(check.Other, a, "waits at barrier "+fmt.Sprint(a.bar)))
			}
		}
	}
	if e.Ended > 0 {
		what += fmt.Sprintf(" %d of %d blocks have ended.", e.Ended, e.Total)
	}
	f.Message = what + " " + f.Rule.Mend
	lines := map[check.Place]bool{} // places of other instructions of a loop say nothing new
	for i := range e.Loops {
		w := &e.Loops[i]
		p := check.PlaceOf(*w)
		key := check.Place{File: p.File, Line: p.Line, Function: p.Function}
		if lines[key] || len(f.Steps) == mostLoops {
			continue
		}
		lines[key] = true
		s := check.Step{Role: check.Other, Place: p, Text: fmt.Sprintf("repeats the same loop, by thread %v of block %v", w.Thread, w.Block)}
		if len(f.Steps) == 0 {
			s.Role = check.First
		}
		f.Steps = append(f.Steps, s)
	}
	f.Steps = append(f.Steps, waiting...)
	c.all = append(c.all, f)
}
