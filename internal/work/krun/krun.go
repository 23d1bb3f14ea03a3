package krun

import (
	"bufio"
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/heddle-sim/heddle/internal/core/kepler"
	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/isa/kasm"
	"github.com/heddle-sim/heddle/internal/report"
	"github.com/heddle-sim/heddle/internal/report/lesson"
	"github.com/heddle-sim/heddle/internal/report/timeline"
	"github.com/heddle-sim/heddle/internal/run"
)

// DefaultLimit is the default limit of a run in cycles, so that a program that
// never exits ends with a message. Our choice.
const DefaultLimit = 20_000_000

// Run is a core that is ready to run, with its settings and observers.
type Run struct {
	Name     string          // of the input, for messages
	Core     *kepler.Core    //
	Programs []*kasm.Program // in the order in which the core loaded them
	Limit    uint64          // cycles; 0 is DefaultLimit
	Whole    bool            // run to the limit even if it is clear that the program never exits
	From     uint64          // cycles of earlier runs, after which timeline and series continue

	Timeline *timeline.Recorder // records every instruction; may be nil
	Series   *run.Series        // counters over time, with a heading if this is the first run; may be nil
	Lesson   *lesson.Recorder   // gets the run step by step, unless there are several SMs; may be nil
	Progress func(cycle uint64) // called from time to time; may be nil

	memory report.Memory // counters of a chip's memory system
}

// Error is the reason why a run ended early.
type Error struct {
	Kind string // fault, stuck or limit, as in report.Failure
	Msg  string // with the place, if there is one
	Warp int    // of a fault: its warp and place
	PC   int
	Inst string
	File string
	Line int   // 0 if the instruction comes from no line of the text
	Err  error // an *exec.LimitError of a limit, else nil
}

func (e *Error) Error() string { return e.Msg }

// Unwrap returns the limit that was reached, if any.
func (e *Error) Unwrap() error { return e.Err }

// Failure returns the error in the form of a result.
func (e *Error) Failure() *report.Failure {
	f := &report.Failure{Kind: e.Kind, Message: e.Msg}
	if e.Kind == "fault" {
		f.Warp, f.PC, f.Instruction, f.File, f.Line = &e.Warp, &e.PC, e.Inst, e.File, e.Line
	}
	return f
}

// stretch is the number of cycles between checks of the context.
const stretch = 1 << 16

// limit is the cycle to stop at.
func (r *Run) limit() uint64 {
	if r.Limit == 0 {
		return DefaultLimit
	}
	return r.Limit
}

// Do simulates to the end. An error says why the end was not reached: an *Error,
// that of the context, or that of writing a file.
func (r *Run) Do(ctx context.Context) error {
	if r.Core.Config().Chip.Wanted() {
		return r.doChip(ctx)
	}
	k, limit := r.Core, r.limit()
	k.Watch(!r.Whole)
	if r.Timeline != nil {
		sms := []*kepler.Core{k}
		r.record(sms)
		defer stopRecording(sms)
	}
	var rows *series
	if r.Series != nil {
		rows = r.startSeries()
	}
	if r.Lesson != nil {
		for p := r.watch(); !r.Over() && !p.Full() && ctx.Err() == nil; {
			p.cycle()
			if rows != nil && k.Cycle() >= rows.next {
				rows.row()
			}
		}
	}
	for !r.Over() && ctx.Err() == nil {
		until := k.Cycle() + stretch - k.Cycle()%stretch
		if rows != nil {
			until = min(until, rows.next)
		}
		if !k.Done() {
			until = min(until, limit)
		}
		k.Run(until)
		if rows != nil && k.Cycle() >= rows.next {
			rows.row()
		}
		if r.Progress != nil && k.Cycle()%stretch == 0 {
			r.Progress(k.Cycle())
		}
	}
	if err := rows.end(); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil && !k.Done() {
		return err
	}
	if err := r.Err(); err != nil {
		return err // not a nil *Error in an error
	}
	return nil
}

// Over reports whether there is nothing more to simulate.
func (r *Run) Over() bool {
	return r.Core.Ended() || !r.Core.Done() && r.Core.Cycle() >= r.limit()
}

// Err returns the reason why the core has not come to its end, nil if it has.
func (r *Run) Err() *Error {
	k := r.Core
	switch f := k.Fault(); {
	case f != nil:
		file, line := r.Place(f.Program, f.PC)
		return &Error{Kind: "fault", Msg: r.At(f.Program, f.PC) + f.Error(), Warp: f.Warp, PC: f.PC, Inst: f.Inst, File: file, Line: line}
	case k.Done():
		return nil
	case k.Stuck():
		if cycle, period := k.Repeats(); period > 0 {
			return &Error{Kind: "stuck", Msg: fmt.Sprintf("%s: the program never exits: the state of cycle %d came back %d cycles later:%s", r.Name, r.From+cycle, period, r.waiting())}
		}
		return &Error{Kind: "stuck", Msg: fmt.Sprintf("%s: no forward progress after cycle %d:%s", r.Name, k.Moved(), r.waiting())}
	}
	limit := &exec.LimitError{Limit: r.From + r.limit(), What: "cycles"}
	return &Error{Kind: "limit", Msg: fmt.Sprintf("%s: %v; the program does not exit?%s", r.Name, limit, r.waiting()), Err: limit}
}

// waiting lists the warps that have not exited, a line for each.
func (r *Run) waiting() string {
	var b strings.Builder
	for _, w := range r.Core.Waiting() {
		fmt.Fprintf(&b, "\n  %s%v", r.At(w.Program, w.PC), w)
	}
	return b.String()
}

// Place returns the source line of an instruction of a program of the core; line 0
// if there is none.
func (r *Run) Place(program, pc int) (file string, line int) {
	program-- // before those loaded, a core has an empty one
	if program < 0 || program >= len(r.Programs) {
		return "", 0
	}
	n, _ := r.Programs[program].Line(pc)
	return r.Programs[program].File, n
}

// At is the place of an instruction for the start of a message, "" if there is
// none.
func (r *Run) At(program, pc int) string {
	file, line := r.Place(program, pc)
	if line == 0 {
		return ""
	}
	return fmt.Sprintf("%s:%d: ", file, line)
}

// record starts recording the instructions on some SMs.
func (r *Run) record(sms []*kepler.Core) {
	k := r.Core
	first := int32(0)
	for p := range k.Programs() {
		prog := timeline.Program{Kernel: r.Name}
		for pc := range kasm.ProgramWords {
			place := ""
			if file, line := r.Place(p, pc); line > 0 {
				place = fmt.Sprintf("%s:%d", filepath.Base(file), line)
			}
			prog.Insts = append(prog.Insts, k.Text(p, pc))
			prog.Places = append(prog.Places, place)
		}
		if n := r.Timeline.AddProgram(prog); p == 0 {
			first = n
		}
	}
	for sm, k := range sms {
		k.Record(func(w *kepler.Way) {
			at := [timeline.MaxStages]uint64{w.Fetch, w.Decode, w.Collect, w.Read, w.Queue, w.Execute, w.Write}
			for s := range at {
				at[s] += r.From
			}
			r.Timeline.Add(timeline.Inst{
				At: at, SM: int32(sm), Slot: int32(w.Warp), Warp: int32(w.Warp),
				Program: first + int32(w.Program), Index: int32(w.PC), Lanes: w.Lanes, Flushed: w.Squashed,
			})
		})
	}
}

// stopRecording records the instructions still in flight, and nothing after them.
func stopRecording(sms []*kepler.Core) {
	for _, k := range sms {
		k.Record(nil)
	}
}

// series writes counters over time.
type series struct {
	k     *kepler.Core
	w     *bufio.Writer
	every uint64
	next  uint64 // cycle of the next row
	from  uint64
	at    uint64 // of the last
	stats kepler.Stats
	sum   kepler.Counters
}

func (r *Run) startSeries() *series {
	s := &series{k: r.Core, from: r.From, w: bufio.NewWriter(r.Series.Out), every: r.Series.Every, at: r.Core.Cycle(), stats: r.Core.Stats(), sum: *r.Core.Counters()}
	s.next = s.at + s.every
	if r.From > 0 {
		return s
	}
	fmt.Fprint(s.w, "cycle,warp_instructions,thread_instructions,ipc,resident_warps")
	for st := range kepler.SlotStates {
		fmt.Fprintf(s.w, ",slots.%s", st)
	}
	for st := range kepler.WarpStates {
		fmt.Fprintf(s.w, ",stalls.%s", st)
	}
	fmt.Fprintln(s.w, ",memory_transactions,split_transactions,shared_conflict_cycles,branches_taken,squashed_instructions")
	return s
}

// end writes the last row, if there is a series.
func (s *series) end() error {
	if s == nil {
		return nil
	}
	s.row()
	if err := s.w.Flush(); err != nil {
		return fmt.Errorf("writing the series: %w", err)
	}
	return nil
}

// row writes what happened since the last row.
func (s *series) row() {
	now := s.k.Counted()
	if now == s.at {
		s.next = s.k.Cycle() + s.every
		return
	}
	live := 0
	for w := range kepler.Warps {
		if s.k.Started(w) && s.k.Status(w) != kepler.Exited {
			live++
		}
	}
	st, sum := s.k.Stats(), *s.k.Counters()
	insts := st.Executed - s.stats.Executed
	fmt.Fprintf(s.w, "%d,%d,%d,%.4f,%d", s.from+now, insts, st.Threads-s.stats.Threads, float64(insts)/float64(now-s.at), live)
	for i, n := range sum.Slots {
		fmt.Fprintf(s.w, ",%d", n-s.sum.Slots[i])
	}
	for i := range kepler.WarpStates {
		var n uint64
		for w := range kepler.Warps {
			n += sum.Warps[w][i] - s.sum.Warps[w][i]
		}
		fmt.Fprintf(s.w, ",%d", n)
	}
	fmt.Fprintf(s.w, ",%d,%d,%d,%d,%d\n", st.Transactions-s.stats.Transactions, st.Replays-s.stats.Replays, st.Conflicts-s.stats.Conflicts,
		st.Branches-s.stats.Branches, st.Squashed-s.stats.Squashed)
	s.at, s.next, s.stats, s.sum = now, now+s.every, st, sum
}
