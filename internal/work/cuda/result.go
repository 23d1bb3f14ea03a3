package cuda

import (
	"slices"

	"github.com/heddle-sim/heddle/internal/report"
)

// Bounds of a report, our choice: programs launch kernels without end. Launches
// beyond them count in the totals.
const (
	maxListed   = 10000 // launches
	maxDetailed = 100   // launches with their instructions, of a timing run
)

// collect forgets the work that has ended, and all of it after the end of the run;
// launches are in the report then.
func (r *Runtime) collect(all bool) {
	r.pending = slices.DeleteFunc(r.pending, func(p given) bool { return all || p.op.Ended() })
	if all {
		r.ses.Settle()
	}
	r.dropObjects()
}

// Result ends the run: it waits for all work and returns what it came to. Calls
// after it are of no effect on the result.
func (r *Runtime) Result() *report.Run {
	r.mu.Lock()
	defer r.leave()
	r.finish()
	return r.result()
}

// result is what the run has come to.
func (r *Runtime) result() *report.Run {
	r.unused()
	if n := r.ses.Unlisted; n > 0 {
		r.once("listed", "the report lists %d launches; %d more count in its totals", len(r.ses.Res.Kernels), n)
	}
	if n := r.ses.Res.LeftOut; n > 0 && n == r.launches {
		r.once("selection", "the selection %s takes none of the program's %s (0 to %d)", r.opt.Select, report.Plural(n, "launch", "launches"), n-1)
	}
	res, _ := r.ses.End(r.failed)
	if err := r.ses.Unwritten(); err != nil {
		r.once("observers", "%v", err)
	}
	return res
}
