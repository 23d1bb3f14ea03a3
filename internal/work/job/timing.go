package job

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/gpu"
	"github.com/heddle-sim/heddle/internal/report"
	"github.com/heddle-sim/heddle/internal/run"
	"github.com/heddle-sim/heddle/internal/trace/record"
)

// This file: runs that count cycles. The host side of a job becomes actions on
// the chip's streams; values are computed by the same executor as in a
// functional run, in the order in which the chip issues instructions.

// chipRun is what a timing run has beyond a functional one.
type chipRun struct {
	chip *gpu.GPU
	ops  []*gpu.Op // by step, nil for those left out
}

// plugIn makes the chip of a timing run.
func (x *runner) plugIn() error {
	name := cmp.Or(x.opt.GPU, x.job.GPU, run.DefaultGPU)
	if x.opt.GPU == "" && run.IsFile(x.job.GPU) {
		name = x.job.Path(x.job.GPU)
	}
	cfg, err := x.opt.Settings.Machine(name)
	if err != nil {
		return err
	}
	chip, err := run.Begin(cfg, x.opt.MaxInsts, x.opt.Threads, x.res)
	if err != nil {
		return fmt.Errorf("GPU %s: %w", name, err)
	}
	x.timing = &chipRun{chip: chip}
	if x.opt.Hazards {
		if err := run.WatchHazards(chip); err != nil {
			return err
		}
	}
	return nil
}

// filled tells the chip which memory was filled before the first step, as
// copies from the host.
func (x *runner) filled() {
	for _, d := range x.job.Buffers {
		n := uint64(d.Count) * uint64(d.Type.Size())
		x.timing.chip.Fill([]gpu.Range{{Addr: x.addr[d.Name], Bytes: n}})
		if x.opt.Record != nil {
			x.opt.Record.Copy(x.addr[d.Name], n)
		}
	}
}

// stepsTimed runs the steps on the chip.
func (x *runner) stepsTimed(ctx context.Context) error {
	t := x.timing
	t.ops = make([]*gpu.Op, len(x.job.Steps))
	if x.opt.Progress != nil {
		number := map[*gpu.Kernel]int{}
		t.chip.OnProgress(func(p gpu.Progress) {
			if len(number) == 0 {
				for i, o := range t.ops {
					if o != nil && o.Kernel != nil {
						number[o.Kernel] = x.job.Steps[i].Number
					}
				}
			}
			x.opt.Progress(run.Progress{
				Launch: number[p.Kernel], Launches: x.launches, Kernel: p.Kernel.Name,
				Blocks: p.Blocks, Total: p.Total, WarpInsts: p.WarpInsts, Cycles: p.Cycle,
			})
		})
	}
	var printed error
	if x.opt.AccelSim != nil {
		start := time.Now()
		t.chip.OnEnd(func(k *gpu.Kernel) {
			for i, o := range t.ops {
				if s := x.job.Steps[i]; o != nil && o.Kernel == k && printed == nil {
					printed = t.chip.WriteAccelSim(x.opt.AccelSim, k, s.Number+1, s.Stream, time.Since(start))
				}
			}
		})
	}
	var rows *run.Rows
	if x.opt.Series != nil {
		rows = run.StartSeries(t.chip, *x.opt.Series)
	}
	if x.opt.Timeline != nil {
		run.Record(t.chip, x.opt.Timeline)
	}
	x.inside()
	err := x.give()
	if err == nil && x.opt.Hazards {
		var given []*gpu.Kernel
		for _, o := range t.ops {
			if o != nil && o.Kernel != nil {
				given = append(given, o.Kernel)
			}
		}
		if err := run.AnyHazards(given); err != nil {
			return &Error{File: x.job.File, Msg: err.Error(), Err: err}
		}
	}
	if err == nil && x.opt.Record != nil {
		if err := x.opt.Record.Begin(); err != nil {
			return &Error{File: x.job.File, Msg: fmt.Sprintf("recording a trace: %v", err), Err: err}
		}
	}
	if err == nil {
		err = t.chip.Finish(ctx)
	}
	x.collect()
	if x.opt.Hazards {
		begun := map[int]*gpu.Kernel{}
		for i, o := range t.ops {
			if o != nil && o.Kernel != nil && o.Begun() {
				begun[x.job.Steps[i].Number] = o.Kernel
			}
		}
		run.AddHazards(t.chip, begun, x.res)
	}
	if rows != nil {
		printed = errors.Join(printed, rows.End())
	}
	if x.opt.Timeline != nil {
		t.chip.FlushLog()
		x.spans(x.opt.Timeline)
	}
	return errors.Join(err, printed)
}

// give hands all steps to the chip.
func (x *runner) give() error {
	records := map[int]*gpu.Op{} // by index of the step
	for i, s := range x.job.Steps {
		o := &gpu.Op{Stream: s.Stream}
		switch s.Kind {
		case StepLaunch:
			k := x.ready.kernels[s.Launch]
			if !x.opt.Select.Has(s.Number, k.Name()) {
				x.res.LeftOut++
				continue
			}
			l, err := x.prepare(s)
			if err != nil {
				return err
			}
			l.TakenFirst = x.timing.chip.Config().Compat.TakenFirst
			o.Kind, o.Options.Registers = gpu.OpLaunch, int(s.Launch.Registers)
			if o.Options.Registers == 0 {
				o.Options.Registers = k.Registers()
			}
			o.Options.Prefer = map[string]gpu.Preference{"none": gpu.PreferNone, "l1": gpu.PreferL1, "shared": gpu.PreferShared}[s.Launch.Prefer]
			o.Make = func(rehearsal bool) (exec.Work, error) {
				l.Rehearsal = rehearsal
				w, err := x.machine.NewWork(l, x.opt.Out)
				if err == nil && x.opt.Record != nil && !rehearsal {
					w = x.opt.Record.Launch(w, record.Launch{
						Stream: s.Stream, Grid: s.Launch.Grid, Block: s.Launch.Block, Registers: o.Options.Registers,
					})
				}
				return w, err
			}
			o.Save = x.mem.Save
		case StepCopy, StepFill:
			m := x.moves[s]
			o.Kind, o.Copy = gpu.OpCopy, func() error { return x.copy(m) }
			o.Way, o.Bytes = m.way(), uint64(m.Bytes)
			if o.Way == gpu.ToDevice && x.opt.Record != nil {
				x.opt.Record.Copy(m.to, o.Bytes)
			}
			if o.Way != gpu.ToHost {
				o.Fills = []gpu.Range{{Addr: m.to, Bytes: o.Bytes}}
			} else {
				o.ToHost = []gpu.Range{{Addr: m.from, Bytes: o.Bytes}}
			}
		case StepRecord:
			o.Kind, records[s.Index] = gpu.OpMark, o
		case StepWait:
			o.Kind, o.After = gpu.OpMark, []*gpu.Op{records[s.Record]}
		case StepSync:
			o.Kind = gpu.OpSync
		}
		if err := x.timing.chip.Add(o); err != nil {
			var le *exec.LaunchError
			if errors.As(err, &le) {
				err = &Error{File: x.job.File, Pos: s.Launch.Pos, Msg: le.Error(), Err: err}
				x.res.Error = run.Failure(err, &s.Number)
			}
			return err
		}
		x.timing.ops[i] = o
	}
	return nil
}

// collect writes what the chip did into the result.
func (x *runner) collect() {
	t := x.timing
	for i, s := range x.job.Steps {
		o := t.ops[i]
		if o == nil {
			continue
		}
		if o.Kernel != nil && o.Begun() {
			l, src := s.Launch, x.ready.kernels[s.Launch]
			run.Add(t.chip, o.Kernel, run.Launch{
				Number: s.Number, Stream: s.Stream, Grid: l.Grid, Block: l.Block, LocalBytes: src.LocalBytes(),
				Estimated: l.Registers == 0 && src.RegistersEstimated(),
			}, x.res)
		}
		if !x.job.stepsGiven {
			continue
		}
		rs := report.Step{Step: s.Index, Kind: s.Kind.String(), Stream: s.Stream, Event: s.Event.S}
		if s.Kind == StepLaunch {
			rs.Launch = &s.Number
		}
		if m := x.moves[s]; m != nil {
			m.describe(&rs)
		}
		if o.Begun() {
			start, end := o.Start, o.End
			rs.StartCycle, rs.EndCycle, rs.Unfinished = &start, &end, !o.Ended()
		}
		x.res.Steps = append(x.res.Steps, rs)
	}
	run.End(t.chip, x.res)
}
