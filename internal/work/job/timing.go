package job

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/gpu"
	xprog "github.com/heddle-sim/heddle/internal/program"
	"github.com/heddle-sim/heddle/internal/report"
	"github.com/heddle-sim/heddle/internal/run"
	"github.com/heddle-sim/heddle/internal/tomlfile"
)

// This file: timing runs. The host side of a job becomes actions on the chip's streams;
// the same executor as in a functional run computes values, in the order in which the
// chip issues instructions.

// Machine is the name or the file of the machine of a run.
func (j *Job) Machine(opt Options) string {
	if opt.GPU == "" && run.IsFile(j.GPU) {
		return j.Path(j.GPU)
	}
	return cmp.Or(opt.GPU, j.GPU, run.DefaultGPU)
}

// plugIn makes the chip of a timing run.
func (x *runner) plugIn() error {
	name := x.job.Machine(x.opt)
	cfg, err := x.opt.Settings.Machine(name)
	if err != nil {
		return err
	}
	return x.ses.PlugIn(name, cfg)
}

// filled reports memory that was filled before the first step to the chip, as copies from
// the host.
func (x *runner) filled() {
	for _, d := range x.job.Buffers {
		x.ses.Fill(x.addr[d.Name], uint64(d.Count)*uint64(d.Type.Size()))
	}
}

// stepsTimed runs the steps on the chip.
func (x *runner) stepsTimed(ctx context.Context) error {
	in := &run.Inside{Memory: x.mem}
	for _, b := range x.job.Buffers {
		in.Buffers = append(in.Buffers, run.Buffer{Name: b.Name, Addr: x.addr[b.Name], Type: b.Type.String()})
	}
	x.ses.Look(in)
	ops := make([]*gpu.Op, len(x.job.Steps)) // by step, nil if left out
	err := x.give(ctx, ops)
	if err == nil {
		if err = x.ses.Ready(); err != nil {
			err = &tomlfile.Error{File: x.job.File, Msg: err.Error(), Err: err}
		}
	}
	if err == nil {
		err = x.ses.Keep(&progress{x, ops})
	}
	if err == nil {
		err = x.ses.Finish(ctx)
	}
	x.describe(ops)
	return err
}

// give submits all steps to the chip.
func (x *runner) give(ctx context.Context, ops []*gpu.Op) error {
	records := map[int]*gpu.Op{} // by index of the step
	for i, s := range x.job.Steps {
		if s.Kind == StepLaunch {
			op, err := x.giveLaunch(ctx, s)
			if err != nil {
				return err
			}
			ops[i] = op
			continue
		}
		x.tell(s)
		o, name := &gpu.Op{Stream: s.Stream}, s.Kind.String()
		switch s.Kind {
		case StepCopy, StepFill:
			m := x.moves[s]
			name = fmt.Sprintf("%s %s → %s", name, m.From, m.To)
			o.Kind, o.Copy = gpu.OpCopy, func() error { return x.copy(m) }
			o.Way, o.Bytes = m.way(), uint64(m.Bytes)
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
		if err := x.ses.Do(o, name); err != nil {
			return err
		}
		ops[i] = o
	}
	return nil
}

// giveLaunch submits a launch to the chip, unless it is left out.
func (x *runner) giveLaunch(ctx context.Context, s *Step) (*gpu.Op, error) {
	k := x.ready.kernels[s.Launch]
	if !x.opt.Select.Has(s.Number, k.Name()) {
		x.ses.Res.LeftOut++
		return nil, nil
	}
	l, err := x.prepare(s)
	if err != nil {
		return nil, err
	}
	x.ses.Watch(&l, s.Number, s.Stream, nil)
	l.TakenFirst = x.ses.Chip.Config().Compat.TakenFirst
	o := &gpu.Op{Kind: gpu.OpLaunch, Stream: s.Stream, Save: x.mem.Save}
	o.Options.Registers = cmp.Or(int(s.Launch.Registers), k.Registers())
	o.Options.Prefer = map[string]gpu.Preference{"none": gpu.PreferNone, "l1": gpu.PreferL1, "shared": gpu.PreferShared}[s.Launch.Prefer]
	o.Make = func(rehearsal bool) (exec.Work, error) {
		l.Rehearsal = rehearsal
		return x.machine.NewWork(l, x.opt.Out)
	}
	err = x.ses.Launch(&run.Launch{
		Number: s.Number, Stream: s.Stream, Grid: s.Launch.Grid, Block: s.Launch.Block, LocalBytes: k.LocalBytes(), Code: string(xprog.CodeOf(k)), Weight: s.Launch.threads(),
		Estimated: s.Launch.Registers == 0 && k.RegistersEstimated(),
		Compute: func(o exec.Options) (exec.Result, error) {
			l := l
			l.Rehearsal = false
			o.Threads = x.opt.Threads
			return x.machine.Run(ctx, l, o)
		},
		Forget: x.machine.Forget,
	}, o)
	var le *exec.LaunchError
	if errors.As(err, &le) {
		err = &tomlfile.Error{File: x.job.File, Pos: s.Launch.Pos, Msg: le.Error(), Err: err}
		x.ses.Res.Error = run.Failure(err, &s.Number)
	}
	return o, err
}

// describe adds the times of the file's steps to the result.
func (x *runner) describe(ops []*gpu.Op) {
	if !x.job.stepsGiven {
		return
	}
	for i, s := range x.job.Steps {
		o := ops[i]
		if o == nil {
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
		x.ses.Res.Steps = append(x.ses.Res.Steps, rs)
	}
}
