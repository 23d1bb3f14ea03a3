package cuda

import (
	"slices"

	"github.com/heddle-sim/heddle/internal/report"
	"github.com/heddle-sim/heddle/internal/run"
)

// Limits of a report, our choice: programs may launch any number of kernels. Launches
// beyond them count in the totals.
const (
	maxListed   = 10000 // launches
	maxDetailed = 100   // launches listed with their instructions, in a timing run
)

// collect drops completed work, after the end of the run all of it; its launches are in
// the report by then.
func (r *Runtime) collect(all bool) {
	r.pending = slices.DeleteFunc(r.pending, func(p given) bool { return all || p.op.Ended() })
	if all {
		r.ses.Settle()
	}
	r.endObjects()
}

// Result ends the run: it waits for all work and returns the result. Later calls have no
// effect on the result.
func (r *Runtime) Result() *report.Run {
	r.mu.Lock()
	defer r.leave()
	for _, d := range r.devices {
		d.finish()
	}
	r.tellEnd()
	return r.result()
}

// result returns the result so far.
func (r *Runtime) result() *report.Run {
	r.unused()
	var sessions []*run.Session // one, in a functional run
	listed, unlisted, leftOut := 0, 0, 0
	for _, d := range r.devices {
		if slices.Contains(sessions, d.ses) {
			continue
		}
		sessions = append(sessions, d.ses)
		listed, unlisted, leftOut = listed+len(d.ses.Res.Kernels), unlisted+d.ses.Unlisted, leftOut+d.ses.Res.LeftOut
	}
	if unlisted > 0 {
		r.once("listed", "the report lists %d launches; %d more count in its totals", listed, unlisted)
	}
	if n := leftOut; n > 0 && n == r.launches {
		r.once("selection", "the selection %s matches none of the program's %s (0 to %d)", r.opt.Select, report.Plural(n, "launch", "launches"), n-1)
	}
	if r.machine != nil {
		res, _ := run.Join(sessions, r.machine, r.failed)
		return res
	}
	ses := sessions[0]
	res, _ := ses.End(r.failed)
	if err := ses.Unwritten(); err != nil {
		r.once("observers", "%v", err)
	}
	return res
}
