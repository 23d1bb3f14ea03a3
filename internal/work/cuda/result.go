package cuda

import (
	"slices"
	"time"

	"github.com/heddle-sim/heddle/internal/report"
	"github.com/heddle-sim/heddle/internal/run"
)

// Bounds of a report, our choice: programs launch kernels without end. Launches
// beyond them count in the totals.
const (
	maxListed   = 10000 // launches
	maxDetailed = 100   // launches with their instructions, of a timing run
)

// list puts a launch into the report, as long as there is room.
func (r *Runtime) list(k report.Kernel) {
	if len(r.res.Kernels) < maxListed {
		r.res.Kernels = append(r.res.Kernels, k)
		return
	}
	r.unlisted++
}

// collect puts the launches that have ended into the report, and after the end of
// all those that have begun.
func (r *Runtime) collect(all bool) {
	r.pending = slices.DeleteFunc(r.pending, func(p given) bool {
		if !all && !p.op.Ended() {
			return false
		}
		if p.launch == nil || !p.op.Begun() {
			return true
		}
		r.issued += p.op.Kernel.WarpInsts
		kept := r.res.Kernels
		run.Add(r.chip, p.op.Kernel, p.launch.about, r.res)
		k := &r.res.Kernels[len(r.res.Kernels)-1]
		if len(kept) >= maxDetailed && k.KernelTiming != nil {
			k.Lines = nil
		}
		if len(kept) >= maxListed {
			r.res.Kernels = kept
			r.unlisted++
		}
		return true
	})
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
	res := *r.res
	res.Kernels = slices.Clone(r.res.Kernels)
	slices.SortStableFunc(res.Kernels, func(a, b report.Kernel) int { return a.Launch - b.Launch }) // they came as they ended
	if n := r.unlisted; n > 0 {
		r.once("listed", "the report lists %d launches; %d more count in its totals", len(res.Kernels), n)
	}
	if r.chip != nil {
		timing := *r.res.Timing
		res.Timing = &timing
		run.End(r.chip, &res)
		if r.opt.Timeline != nil {
			r.chip.FlushLog()
		}
	}
	if r.failed != nil {
		res.Error = run.Failure(r.failed, nil)
	}
	res.OK = r.failed == nil
	res.Seconds = time.Since(r.began).Seconds()
	return &res
}
