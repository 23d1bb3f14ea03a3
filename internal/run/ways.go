package run

import (
	"cmp"
	"math"
	"slices"

	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/gpu"
	"github.com/heddle-sim/heddle/internal/report"
)

// This file: the way of instructions through the pipeline of an SM, for a page: the first ones of
// the run, and those of ranges of cycles that who looks at a live run asks for.

// Bounds of what is recorded (our choice: some 15 kB of a page for the first instructions, and for
// a range, as many cycles as a live run takes from one look to the next).
const (
	firstWays      = 2048
	firstWaysEvery = 256  // core cycles between two looks at whether that many have been recorded
	MostWayCycles  = 4000 // of a range
	mostWays       = 8    // the last ones stay
)

// Wish is a range of cycles whose instructions are to be recorded, from the next one on.
type Wish struct {
	SM     int    `json:"sm"`
	Cycles uint64 `json:"cycles"` // at most MostWayCycles
}

// ways records instructions of one SM at a time.
type ways struct {
	session  *Session
	chip     *gpu.GPU
	issue    int               // the stage of issue
	launches map[exec.Work]int // those that have ended
	list     []*report.Ways    // complete

	sm       int // that is recorded; -1 for none
	from, to uint64
	records  []gpu.Record
}

// startWays records the first instructions of a run.
func (s *Session) startWays() *ways {
	w := &ways{session: s, chip: s.Chip, issue: max(0, slices.Index(s.Chip.Stages(), "issue")), launches: map[exec.Work]int{}, sm: -1}
	w.begin(0, math.MaxUint64)
	var often *gpu.Sampler
	often = s.Chip.OnSample(firstWaysEvery, func() {
		if w.to == math.MaxUint64 && len(w.records) < firstWays {
			return
		}
		if w.to == math.MaxUint64 {
			w.end()
		}
		often.Slow(math.MaxUint64 / 2)
	})
	return w
}

// begin records an SM up to a cycle, in place of what is recorded.
func (w *ways) begin(sm int, to uint64) {
	w.end()
	w.sm, w.from, w.to = sm, w.chip.Now(), to
	w.chip.Log(sm, func(list []gpu.Record) {
		for i := range list {
			if list[i].Times[w.issue] < w.to {
				w.records = append(w.records, list[i])
			}
		}
	})
}

// settle ends a range that is complete. Nil ways record nothing.
func (w *ways) settle() {
	if w != nil && w.sm >= 0 && w.chip.Now() >= w.to {
		w.end()
	}
}

// want begins a range that is wished, if there is one.
func (w *ways) want(wish *Wish) {
	if w == nil {
		return
	}
	if wish != nil && wish.SM >= 0 && wish.SM < w.chip.Config().SMs() && wish.Cycles > 0 {
		w.begin(wish.SM, w.chip.Now()+min(wish.Cycles, MostWayCycles))
	}
}

// end ends the recording, if there is one, and keeps it.
func (w *ways) end() {
	if w.sm < 0 {
		return
	}
	w.chip.Log(w.sm, nil)
	w.list = append(w.list, w.recorded())
	if len(w.list) > mostWays {
		w.list = slices.Delete(w.list, 0, 1)
	}
	w.sm, w.records = -1, nil
}

// result returns what was recorded so far. The recording goes on. Nil ways record nothing.
func (w *ways) result() []*report.Ways {
	if w == nil {
		return nil
	}
	list := slices.Clone(w.list)
	if w.sm >= 0 {
		w.chip.FlushLog()
		list = append(list, w.recorded())
	}
	return slices.DeleteFunc(list, func(x *report.Ways) bool { return len(x.Inst) == 0 })
}

// recorded brings the records into columns.
func (w *ways) recorded() *report.Ways {
	list := make([]*gpu.Record, len(w.records)) // records are large to sort
	for i := range list {
		list[i] = &w.records[i]
	}
	slices.SortFunc(list, func(a, b *gpu.Record) int {
		if c := cmp.Compare(a.Times[w.issue], b.Times[w.issue]); c != 0 {
			return c
		}
		return cmp.Compare(a.ID, b.ID)
	})
	x := &report.Ways{SM: w.sm, From: w.from, To: min(w.to, w.chip.Now()), Stages: w.chip.Stages(), Insts: []report.WayInst{}}
	if w.to == math.MaxUint64 && len(list) > firstWays {
		list = list[:firstWays]
		x.To = list[firstWays-1].Times[w.issue] + 1
	}
	x.At = make([][]int64, len(x.Stages))
	type place struct {
		work exec.Work
		at   int32
	}
	known := map[place]int{}
	number := func(work exec.Work, at int32) int {
		if at < 0 {
			return -1
		}
		n, ok := known[place{work, at}]
		if !ok {
			n = len(x.Insts)
			known[place{work, at}], x.Insts = n, append(x.Insts, w.inst(work, int(at)))
		}
		return n
	}
	for i, r := range list {
		x.Inst, x.WaitedFor = append(x.Inst, number(r.Work, r.At)), append(x.WaitedFor, number(r.Work, r.For))
		x.Block, x.Warp, x.Slot, x.Lanes = append(x.Block, r.Block), append(x.Warp, int(r.Warp)), append(x.Slot, int(r.Slot)), append(x.Lanes, uint32(r.Lanes))
		before := w.from
		for s := range x.At {
			x.At[s] = append(x.At[s], int64(r.Times[s]-before)) // wraps to a number below 0
			before = r.Times[s]
		}
		if r.Open {
			x.Open = append(x.Open, i)
		}
	}
	return x
}

// launch returns the number of a launch.
func (w *ways) launch(work exec.Work) int {
	for _, l := range w.session.open {
		if k := l.op.Kernel; k != nil && k.Work() == work {
			return l.Number
		}
	}
	return w.launches[work]
}

// inst describes an instruction of a launch.
func (w *ways) inst(work exec.Work, at int) report.WayInst {
	src := work.Traits()
	p, text := where(work, &src, at)
	return report.WayInst{
		Launch: w.launch(work), PC: p.PC, Text: text, File: p.File, Line: int(p.Pos.Line), SourceFile: p.SrcFile, SourceLine: p.SrcLine,
	}
}
