package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"runtime"
	"slices"
	"time"

	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/gpu"
	"github.com/heddle-sim/heddle/internal/plain"
	"github.com/heddle-sim/heddle/internal/report"
	"github.com/heddle-sim/heddle/internal/report/findings"
	"github.com/heddle-sim/heddle/internal/report/lesson"
	"github.com/heddle-sim/heddle/internal/report/timeline"
	"github.com/heddle-sim/heddle/internal/sample"
	"github.com/heddle-sim/heddle/internal/trace/record"
)

// Session is one run of any kind of work. It owns the result and, in a timing run, the
// chip with all observers. The work only gives it launches and other actions. It is used
// by one goroutine at a time.
type Session struct {
	Res  *report.Run // the result so far; End completes it
	Chip *gpu.GPU    // nil until PlugIn, and in a functional run

	// Launches is the number of launches, 0 if unknown. Weight is the sum of their
	// weights, which progress is relative to, 0 if unknown; Passed that of those that have
	// ended.
	Launches       int
	Weight, Passed float64
	// Most limits the launches that the result lists, Detailed those listed with
	// their instructions. The others count only in the totals. 0: no limit.
	Most, Detailed int
	Unlisted       int // launches beyond Most
	// Ended, if not nil, is called at the end of every launch, after it was added to
	// the result, and with nil at the end of a rehearsal.
	Ended func(*gpu.Kernel, *Launch)

	kind    Kind
	opt     Options
	covered *exec.Coverage // counts who goes which way; nil: nobody does
	began   time.Time
	open    []*Launch // submitted, and not yet in the result
	rows    *Rows
	history *history              // with Page
	ways    *ways                 // with Page, unless a timeline gets them
	school  *school               // with Page, for work with values: small launches step by step
	logged  bool                  // the log of blocks was asked for
	spans   []timeline.Span       // launches that the timeline shows
	others  []span                // other actions that it shows
	ranges  []*Range              // that it shows
	named   int                   // ranges in the result
	tracks  map[string]string     // names of streams' tracks in the timeline
	watched map[exec.Work]*Launch // with Hazards: launches that have begun
	opened  *watchedBlock         // with Watch.Inst: the block that comes to an SM next
	sampler *sample.Sampler       // with Sample
	kept    *checkpoints          // with Checkpoint
	bad     error                 // the first write error of an observer
}

// span is a named action in the timeline.
type span struct {
	op   *gpu.Op
	name string
}

// trackOf is the timeline's track of a stream.
func trackOf(stream int64) string { return fmt.Sprintf("stream %d", stream) }

// NameStream gives the timeline's track of a stream a name.
func (s *Session) NameStream(stream int64, name string) {
	if s.tracks == nil {
		s.tracks = map[string]string{}
	}
	s.tracks[trackOf(stream)] = trackOf(stream) + ": " + plain.Text(name)
}

// timed returns the span with the times of its action, if that has begun.
func (x span) timed() timeline.Span {
	return timeline.Span{Name: x.name, Track: trackOf(x.op.Stream), Start: x.op.Start, End: max(x.op.End, x.op.Start)}
}

// NewSession begins a run of a kind of work on an input, with an empty result.
func NewSession(kind Kind, input string, opt Options) *Session {
	s := &Session{kind: kind, opt: opt, began: time.Now(), watched: map[exec.Work]*Launch{}, covered: opt.Coverage}
	if opt.Page && !opt.Timing && s.covered == nil {
		s.covered = &exec.Coverage{}
	}
	s.Res = &report.Run{
		Heddle: report.Version, Input: input, Programs: []string{}, GPU: cmp.Or(opt.GPU, DefaultGPU), Mode: "functional",
		Conditions: map[string]any{}, Kernels: []report.Kernel{}, Checks: []report.Check{}, NoJob: kind != Job,
	}
	if opt.Timing {
		s.Res.Mode = "timing"
	}
	maps.Copy(s.Res.Conditions, opt.Settings.Conditions)
	return s
}

// PlugIn makes the chip of a timing run and all observers. name is the machine's name in
// messages.
func (s *Session) PlugIn(name string, cfg gpu.Config) error {
	o := &s.opt
	if err := o.Refused(s.kind); err != nil {
		return err
	}
	cfg.Run.MaxCycles = cmp.Or(o.MaxInsts, cfg.Run.MaxCycles)
	cfg.Run.Threads = cmp.Or(o.Threads, runtime.GOMAXPROCS(0))
	if o.Checks != nil { // they see things in one order
		cfg.Run.Threads = 1
	}
	if w := o.Watch; w != nil && (w.Inst != nil || w.Memory != nil) {
		cfg.Run.Threads = 1
	}
	s.logged = cfg.Run.BlockLog
	cfg.Run.BlockLog = cfg.Run.BlockLog || o.Page
	chip, err := gpu.New(cfg)
	if err != nil {
		return fmt.Errorf("GPU %s: %w", name, err)
	}
	s.Chip = chip
	if o.Checkpoint != nil {
		if err := s.identify(name); err != nil {
			return err
		}
	}
	if o.Sample != nil {
		s.sampler = sample.New(*o.Sample)
	}
	if o.Page {
		chip.KeepEdges()
	}
	chip.KeepPlaces()
	describeMachine(chip.Config(), s.Res)
	if o.Hazards {
		if err := watchHazards(chip); err != nil {
			return err
		}
	}
	chip.OnEnd(s.ended)
	if o.Watch != nil {
		s.watch(o.Watch)
	}
	if o.Progress != nil || o.Live != nil {
		chip.OnProgress(s.progress)
	}
	if o.Series != nil {
		s.rows = startSeries(chip, *o.Series, s.kept != nil)
	}
	if o.Page {
		s.history = startHistory(chip)
	}
	if o.Timeline != nil {
		recordWays(chip, o.Timeline)
	} else if o.Page {
		s.ways = s.startWays()
	}
	return nil
}

// OnlyCompute begins a functional run: it refuses options that need a timing run.
func (s *Session) OnlyCompute() error {
	if err := s.opt.Refused(s.kind); err != nil {
		return err
	}
	return s.opt.Settings.Check()
}

// Look calls Inside of the options before the run begins. With Page, small launches are then
// recorded step by step.
func (s *Session) Look(in *Inside) {
	if s.opt.Page && in.Memory != nil {
		s.school = &school{in: in, left: lesson.MostSteps}
	}
	if s.opt.Inside != nil {
		in.Chip = s.Chip
		s.Chip.OnCycle(s.opt.Inside(in))
	}
}

// Fill notes that the host filled memory before the first action.
func (s *Session) Fill(addr, bytes uint64) {
	s.Chip.Fill([]gpu.Range{{Addr: addr, Bytes: bytes}})
	if s.opt.Record != nil {
		s.opt.Record.Copy(addr, bytes)
	}
}

// Launch is the data of a launch for the result, in addition to the chip's counters.
type Launch struct {
	Number      int  // in the run, from 0
	Device      *int // nil if there is only one
	Stream      int64
	Grid, Block [3]int64
	LocalBytes  int     // of a thread
	Estimated   bool    // the number of registers is an estimate
	Code        string  // as in report.Kernel
	Weight      float64 // in the progress of the run
	Unwatched   bool    // its control bits are inferred, so there is nothing to check

	Ranges []*Range // in which it was submitted: the innermost ones
	// Compute executes the launch without the chip, all of it or some blocks; it sets the Threads of the
	// options. Only for sampling.
	Compute func(o exec.Options) (exec.Result, error)
	// Forget takes back the number of the launch: after Compute, if device memory has been restored, or before it, if
	// some blocks of a launch that has a number are executed.
	Forget func()

	op     *gpu.Op
	part   *sample.Blocks // of its blocks, if some may be passed over
	margin float64        // of the cycles of those that were
	drop   func()         // removes it from the recorded trace; nil if it is not recorded
}

// Note registers a launch with the observers; the caller submits its action to the chip.
func (s *Session) Note(l *Launch, op *gpu.Op) {
	l.op = op
	s.open = append(s.open, l)
	if w := s.opt.Watch; w != nil && w.Inst != nil {
		s.tap(l, op)
	}
	if s.school != nil {
		s.teach(l, op)
	}
	if s.sampler != nil {
		op.Pass = func() (*gpu.Passage, error) { return s.passage(l) }
		if s.opt.Sample.Blocks {
			op.Look = func(x gpu.Standing, w *gpu.Warming) (gpu.Skip, error) { return s.skip(l, x, w) }
			op.Passed = func(now uint64) uint64 {
				var cycles float64
				cycles, l.margin = l.part.Estimate(now)
				return uint64(math.Round(cycles))
			}
		}
	}
	if r := s.opt.Record; r != nil {
		plain := op.Make
		op.Make = func(rehearsal bool) (exec.Work, error) {
			w, err := plain(rehearsal)
			if err == nil && !rehearsal {
				w, l.drop = r.Launch(w, record.Launch{Stream: l.Stream, Grid: l.Grid, Block: l.Block, Registers: op.Options.Registers})
			}
			return w, err
		}
	}
}

// Launch submits a launch to the chip. The error is a *exec.LaunchError if it does not
// fit on an SM; then it is not part of the run.
func (s *Session) Launch(l *Launch, op *gpu.Op) error {
	s.Note(l, op)
	err := s.Chip.Add(op)
	if err != nil {
		s.open = s.open[:len(s.open)-1]
		s.drop(l)
	}
	return err
}

// drop removes a launch that will not complete from the recorded trace.
func (s *Session) drop(l *Launch) {
	if l.drop != nil {
		l.drop()
	}
}

// Do submits an action other than a launch to the chip. A timeline shows it under its
// name, unless that is "".
func (s *Session) Do(op *gpu.Op, name string) error {
	if s.opt.Record != nil && op.Kind == gpu.OpCopy && op.Way == gpu.ToDevice {
		for _, r := range op.Fills {
			s.opt.Record.Copy(r.Addr, r.Bytes)
		}
	}
	if s.opt.Timeline != nil && name != "" {
		s.others = append(s.others, span{op, name})
	}
	return s.Chip.Add(op)
}

// Ready refuses the work, which must be complete, if an observer cannot use it, and
// begins the other observers.
func (s *Session) Ready() error {
	if s.opt.Hazards {
		if err := anyHazards(s.open); err != nil {
			return err
		}
	}
	return s.Begin()
}

// Begin starts observers that need to know when the run begins. Work that is not known in
// advance calls it in place of Ready.
func (s *Session) Begin() error {
	if s.opt.Record == nil {
		return nil
	}
	if err := s.opt.Record.Begin(); err != nil {
		return fmt.Errorf("recording a trace: %w", err)
	}
	return nil
}

// Finish lets the chip's time pass until all submitted work has completed. On an error
// the result covers what ran until then.
func (s *Session) Finish(ctx context.Context) error {
	err := s.Chip.Finish(ctx)
	s.Settle()
	return err
}

// Settle adds launches that have begun but will not complete to the result, and drops
// those that will not begin.
func (s *Session) Settle() {
	for _, l := range s.open {
		if l.op.Begun() {
			s.collect(l)
			s.tellLaunch(l, true, true)
		}
		s.drop(l)
	}
	s.open = s.open[:0]
}

// find returns a kernel's launch, nil if it is a rehearsal.
func (s *Session) find(k *gpu.Kernel) (int, *Launch) {
	for i, l := range s.open {
		if l.op.Kernel == k {
			return i, l
		}
	}
	return 0, nil
}

// ended is called at the end of every kernel.
func (s *Session) ended(k *gpu.Kernel) {
	i, l := s.find(k)
	if l != nil {
		if s.opt.AccelSim != nil && s.bad == nil {
			s.bad = s.Chip.WriteAccelSim(s.opt.AccelSim, k, l.Number+1, l.Stream, time.Since(s.began))
		}
		s.collect(l)
		s.open = slices.Delete(s.open, i, i+1)
		s.Passed += l.Weight
		if s.kept != nil {
			s.kept.since++
			s.kept.header.Launches++
		}
	}
	if s.Ended != nil {
		s.Ended(k, l)
	}
}

// collect adds a launch to the result.
func (s *Session) collect(l *Launch) {
	k := l.op.Kernel
	if k.Passed {
		s.List(passed(k, l), l.Ranges...)
		return
	}
	if s.sampler != nil {
		s.simulated(l)
	}
	if s.opt.Hazards {
		s.watched[k.Work()] = l
		l.Unwatched = l.Unwatched || !k.ControlBits()
	}
	if s.ways != nil {
		s.ways.launches[k.Work()] = l.Number
	}
	guarded(s.Chip, k, s.Res)
	if s.opt.Timeline != nil {
		s.spans = append(s.spans, span{l.op, fmt.Sprintf("launch %d: %s", l.Number, k.Name)}.timed())
	}
	r := describe(s.Chip, k, *l)
	if s.opt.Page && len(r.BlockLog) > historyLog && !s.logged {
		r.BlockLog = nil
	}
	if s.Detailed > 0 && len(s.Res.Kernels) >= s.Detailed {
		r.Lines = nil
	}
	s.List(r, l.Ranges...)
}

// List adds a completed launch to the result, and to the ranges in which it was submitted.
func (s *Session) List(k report.Kernel, ranges ...*Range) {
	var counted []*report.Range
	for _, r := range ranges {
		counted = r.add(&k, counted)
	}
	s.Res.WarpInstructions += k.WarpInstructions
	s.Res.ThreadInstructions += k.ThreadInstructions
	if s.Most > 0 && len(s.Res.Kernels) >= s.Most {
		s.Unlisted++
		return
	}
	s.Res.Kernels = append(s.Res.Kernels, k)
}

// progress reports the chip's progress.
func (s *Session) progress(p gpu.Progress) {
	_, l := s.find(p.Kernel)
	if l == nil {
		return
	}
	if s.opt.Progress != nil {
		s.Show(Progress{Launch: l.Number, Kernel: p.Kernel.Name, Blocks: p.Blocks, Running: p.Running, Total: p.Total, WarpInsts: p.WarpInsts, Cycles: p.Cycle}, l.Weight)
	}
	if s.opt.Live != nil {
		s.ways.settle()
		s.ways.want(s.opt.Live(s.soFar))
	}
}

// soFar returns the result so far, with the launches that run as if they ended now. The run
// goes on as without the call.
func (s *Session) soFar() *report.Run {
	res := *s.Res
	res.Kernels = slices.Clone(res.Kernels)
	for _, l := range s.open {
		if l.op.Begun() && !l.op.Ended() && !l.op.Kernel.Passed {
			k := describe(s.Chip, s.Chip.SoFar(l.op.Kernel), *l)
			res.Kernels = append(res.Kernels, k)
			res.WarpInstructions += k.WarpInstructions
			res.ThreadInstructions += k.ThreadInstructions
		}
	}
	inOrder(res.Kernels)
	timing := *res.Timing
	res.Timing = &timing
	summarize(s.Chip, &res)
	if s.history != nil {
		res.History = s.history.result()
	}
	res.Ways = s.ways.result()
	if s.sampler != nil {
		res.Sampling = s.sampling()
	}
	res.Now = s.now()
	res.Findings = findings.Of(&res)
	res.Seconds = time.Since(s.began).Seconds()
	return &res
}

// mostNow bounds the sets of lanes of a result so far that say what they do (our choice: the warps
// of a large chip).
const mostNow = 8192

// now returns what the warps do at the moment.
func (s *Session) now() *report.Now {
	x := &report.Now{Cycle: s.Chip.Now(), Standstill: *standstill(s.Chip.Standing(mostNow)), Queues: []report.Queue{}}
	for sm := range s.Chip.Config().SMs() {
		for _, q := range s.Chip.Core(sm).Queues() {
			if q.Len > 0 {
				x.Queues = append(x.Queues, report.Queue{SM: sm, Name: q.Name, Len: q.Len, Cap: q.Cap})
			}
		}
	}
	return x
}

// inOrder sorts launches by their numbers.
func inOrder(list []report.Kernel) {
	slices.SortStableFunc(list, func(a, b report.Kernel) int { return cmp.Compare(a.Launch, b.Launch) })
}

// Show completes the progress of a launch, which has a weight, with what the session knows of
// the run, and passes it on.
func (s *Session) Show(p Progress, weight float64) {
	p.Input, p.Each, p.Launches = s.Res.Input, "launch", s.Launches
	if s.Chip != nil {
		p.GPU = s.Res.GPU
	}
	if s.Weight > 0 {
		p.Share = (s.Passed + weight*p.Done()) / s.Weight
	}
	s.opt.Progress(p)
}

// End returns the result, and err joined with observers' write errors; err is why the run
// ended early. The run may continue, and End be called again.
func (s *Session) End(err error) (*report.Run, error) {
	res := *s.Res
	res.Kernels = slices.Clone(res.Kernels)
	inOrder(res.Kernels)
	res.Checkers = slices.Clone(res.Checkers)
	if s.Chip != nil {
		s.flush(&res)
		err = errors.Join(err, s.bad)
	}
	if err != nil && res.Error == nil {
		res.Error = Failure(err, nil)
	}
	if s.opt.Checks != nil {
		s.conclude(&res, err)
	}
	if s.opt.Page && !s.opt.Timing {
		res.Lines = executed(s.covered)
	}
	res.OK = err == nil && !slices.ContainsFunc(res.Checks, func(c report.Check) bool { return !c.OK }) &&
		!slices.ContainsFunc(res.Checkers, func(c report.Checker) bool { return !c.OK })
	res.Findings = findings.Of(&res)
	res.Seconds = time.Since(s.began).Seconds()
	return &res, err
}

// Unwritten returns an observer's write error, or nil.
func (s *Session) Unwritten() error { return s.bad }

// flush writes the counters of the chip and its observers so far.
func (s *Session) flush(res *report.Run) {
	timing := *res.Timing
	res.Timing = &timing
	summarize(s.Chip, res)
	if s.sampler != nil {
		res.Sampling = s.sampling()
	}
	if s.opt.Hazards && len(s.watched) > 0 { // otherwise the run was refused
		addHazards(s.Chip, s.watched, res)
	}
	if s.history != nil {
		s.history.row()
		res.History = s.history.result()
	}
	res.Ways = s.ways.result()
	if s.school != nil {
		res.Lessons = s.school.result()
	}
	if s.rows != nil {
		s.bad = errors.Join(s.bad, s.rows.end())
	}
	if s.opt.Timeline != nil {
		s.Chip.FlushLog()
		for _, x := range s.others {
			if x.op.Begun() {
				s.spans = append(s.spans, x.timed())
			}
		}
		s.spans = append(s.spans, rangeSpans(s.ranges)...)
		slices.SortStableFunc(s.spans, func(a, b timeline.Span) int { return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.End, b.End)) })
		for _, x := range s.spans {
			x.Track = cmp.Or(s.tracks[x.Track], x.Track)
			s.opt.Timeline.AddSpan(x)
		}
		s.spans, s.others, s.ranges = nil, nil, nil
	}
}
