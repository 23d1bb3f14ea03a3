package run

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/gpu"
	"github.com/heddle-sim/heddle/internal/isa"
	"github.com/heddle-sim/heddle/internal/report"
	"github.com/heddle-sim/heddle/internal/sample"
)

// This file: runs that simulate a part of their launches. The others are executed without the
// chip, so that all values are right, and only their estimated time passes.

// alike is what launches of one group have in common.
func alike(l *Launch) string {
	k := l.op.Kernel
	return fmt.Sprintf("%s %v %v %d %d %d %v", k.Name, l.Grid, l.Block, k.Shared, len(k.Work().Code()), k.Registers, l.op.Options)
}

// passage decides whether a launch whose turn has come is passed over, and if so, executes it. To
// see what it does it is executed in any case; if that is new, memory is restored and it is
// simulated. So is one that faults, which then says in which cycle, and one that reads the time,
// which only the chip has.
func (s *Session) passage(l *Launch) (*gpu.Passage, error) {
	if clocked(l) || !s.sampler.MayPass(alike(l)) {
		return nil, nil
	}
	restore := l.op.Save()
	var out bytes.Buffer
	r, err := l.Compute(exec.Options{Out: &out})
	var cycles uint64
	pass := false
	if err == nil {
		cycles, pass = s.sampler.Pass(sample.Launch{Kernel: alike(l), WarpInsts: r.WarpInsts, ThreadInsts: r.ThreadInsts})
	}
	if !pass {
		restore()
		l.Forget()
		return nil, nil
	}
	if s.opt.Out != nil {
		if _, err := out.WriteTo(s.opt.Out); err != nil {
			return nil, err
		}
	}
	return &gpu.Passage{Cycles: cycles, WarpInsts: r.WarpInsts, ThreadInsts: r.ThreadInsts}, nil
}

// clocked reports whether a launch reads the time.
func clocked(l *Launch) bool {
	return slices.ContainsFunc(l.op.Kernel.Work().Code(), func(in *isa.Inst) bool { return in.Time })
}

// bulky reports whether a launch has bulk or tensor copies. What they read and write does not reach gpu.Warming, since
// steps outside of the chip do not tell where they copy.
func bulky(l *Launch) bool {
	return slices.ContainsFunc(l.op.Kernel.Work().Code(), func(in *isa.Inst) bool {
		return (in.Load || in.Store) && strings.Contains(in.Op, "async.bulk")
	})
}

// skip decides whether blocks of a launch that is simulated are passed over, and if so, executes them; they leave
// their trace in the L2. A launch whose blocks wait for each other, or copy in bulk, is simulated whole.
func (s *Session) skip(l *Launch, x gpu.Standing, w *gpu.Warming) (gpu.Skip, error) {
	at := sample.Stand(x)
	if l.part == nil {
		t := l.op.Kernel.Work().Traits()
		if l.part = s.sampler.NewBlocks(at); l.part == nil || t.Spins || t.Cooperative || clocked(l) || bulky(l) {
			return gpu.Skip{}, nil
		}
		return gpu.Skip{Again: l.part.First()}, nil
	}
	pass, again := l.part.Look(at)
	skip := gpu.Skip{Again: again}
	if !pass {
		return skip, nil
	}
	out := s.opt.Out
	if out == nil {
		out = io.Discard
	}
	for n := l.part.Piece(); n > 0; n = l.part.Piece() {
		l.Forget() // the launch counts once
		r, err := l.Compute(exec.Options{Out: out, From: x.Next + skip.Blocks, Count: n, See: w.See})
		if err != nil {
			return gpu.Skip{}, err
		}
		fetched, written := w.Settle()
		l.part.Passed(n, r.WarpInsts, fetched, written)
		skip.Blocks += n
		skip.WarpInsts += r.WarpInsts
		skip.ThreadInsts += r.ThreadInsts
	}
	return skip, nil
}

// simulated tells the sampler of a launch that was simulated.
func (s *Session) simulated(l *Launch) {
	k := l.op.Kernel
	x := sample.Launch{Kernel: alike(l), WarpInsts: k.WarpInsts, ThreadInsts: k.ThreadInsts}
	if k.Alone && l.op.Ended() {
		s.sampler.Timed(x, k.Cycles())
	} else {
		s.sampler.Beside(x, k.Cycles())
	}
	if k.PassedBlocks > 0 {
		s.sampler.Within(k.PassedCycles, k.PassedWarpInsts, l.margin)
	}
}

// passed describes a launch that was passed over.
func passed(k *gpu.Kernel, l *Launch) report.Kernel {
	t := &report.KernelTiming{
		Sampled: true, StartCycle: k.Start, EndCycle: k.End, Cycles: k.Cycles(), FirstBlockCycle: k.FirstBlock,
		BlocksPerSM: k.MaxBlocks, LimitedBy: k.LimitedBy.String(), Stalls: map[string]uint64{}, SlotStalls: map[string]uint64{},
	}
	if t.Cycles > 0 {
		t.IPC = float64(k.WarpInsts) / float64(t.Cycles)
	}
	return report.Kernel{
		Name: k.Name, Launch: l.Number, Device: l.Device, Code: l.Code, Stream: l.Stream, Grid: l.Grid, Block: l.Block,
		Registers: k.Registers, SharedBytes: k.Shared, LocalBytes: l.LocalBytes,
		Blocks: k.Blocks, WarpInstructions: k.WarpInsts, ThreadInstructions: k.ThreadInsts, KernelTiming: t,
	}
}

// sampling describes how a run was sampled.
func (s *Session) sampling() *report.Sampling {
	r := s.sampler.Result()
	x := &report.Sampling{
		Level: s.opt.Sample.Level(), TargetPercent: 100 * s.opt.Sample.Target, Seed: s.opt.Sample.Seed,
		Launches: r.Launches, Timed: r.Timed, TimedCycles: r.TimedCycles, EstimatedCycles: r.EstimatedCycles, MarginCycles: uint64(r.Margin + 0.5),
		TimedInPart: r.Partly, WarpInstructions: r.Insts, TimedWarpInstructions: r.TimedInsts, Groups: []report.SampleGroup{},
	}
	for _, g := range r.Groups {
		x.Groups = append(x.Groups, report.SampleGroup{
			Kernel: g.Kernel, WarpInstructions: g.WarpInsts, Launches: g.Launches, Timed: g.Timed, TimedCycles: g.TimedCycles, EstimatedCycles: g.EstimatedCycles,
			SpreadPercent: 100 * g.Spread, MarginCycles: uint64(g.Margin + 0.5),
		})
	}
	return x
}
