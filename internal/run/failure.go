package run

import (
	"context"
	"errors"

	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/report"
)

// Failure describes an error for the report.
func Failure(err error, launch *int) *report.Failure {
	var own interface{ Failure() *report.Failure }
	if errors.As(err, &own) {
		return own.Failure()
	}
	f := &report.Failure{Kind: "input", Message: err.Error(), Launch: launch}
	at := func(w exec.Where) {
		f.Kernel, f.Function, f.Instruction, f.File, f.Line = w.Kernel, w.Function, w.Inst, w.File, int(w.Pos.Line)
		f.SourceFile, f.SourceLine = w.SrcFile, w.SrcLine
		f.Block, f.Thread = &[3]uint32{w.Block.X, w.Block.Y, w.Block.Z}, &[3]uint32{w.Thread.X, w.Thread.Y, w.Thread.Z}
		f.PC = &w.PC
	}
	var (
		fault *exec.Fault
		limit *exec.LimitError
		stuck *exec.StuckError
		le    *exec.LaunchError
	)
	switch {
	case errors.As(err, &fault):
		f.Kind, f.Message = "fault", fault.What
		at(fault.Where)
	case errors.As(err, &limit):
		f.Kind, f.Message = "limit", limit.Reached()
		if limit.Where.Kernel != "" {
			at(limit.Where)
		}
	case errors.As(err, &stuck):
		f.Kind, f.Kernel = "stuck", stuck.Kernel
		f.Block = &[3]uint32{stuck.Block.X, stuck.Block.Y, stuck.Block.Z}
		f.Standstill = standstill(stuck.Standstill)
	case errors.As(err, &le):
		f.Kind, f.Kernel = "launch", le.Kernel
	case errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded):
		f.Kind, f.Message = "interrupted", "interrupted"
	}
	return f
}

// standstill describes who waits for whom for the report; nil if that is not known.
func standstill(s *exec.Standstill) *report.Standstill {
	if s == nil {
		return nil
	}
	out := &report.Standstill{LeftOut: s.Left, Loops: s.Loops, Warps: []report.Standing{}, Barriers: []report.Meeting{}, Grids: []report.Begun{}}
	index := func(d exec.Dim3) [3]uint32 { return [3]uint32{d.X, d.Y, d.Z} }
	for _, x := range s.Warps {
		w := &x.Where
		y := report.Standing{
			SM: x.SM, Slot: x.Slot, Kernel: w.Kernel, Block: index(w.Block), Warp: x.Warp, Lanes: uint32(x.Lanes),
			Function: w.Function, PC: w.PC, Instruction: w.Inst, File: w.File, Line: int(w.Pos.Line), SourceFile: w.SrcFile, SourceLine: w.SrcLine,
			State: x.State, WaitsFor: x.Waits, ForLanes: uint32(x.For),
		}
		if x.Barrier >= 0 {
			y.Barrier = &x.Barrier
		}
		out.Warps = append(out.Warps, y)
	}
	for _, m := range s.Barriers {
		y := report.Meeting{SM: m.SM, Kernel: m.Kernel, Block: index(m.Block), Barrier: m.ID, Came: m.Came, Need: m.Need, Missing: []uint32{}}
		for _, lanes := range m.Missing {
			y.Missing = append(y.Missing, uint32(lanes))
		}
		out.Barriers = append(out.Barriers, y)
	}
	for _, g := range s.Grids {
		out.Grids = append(out.Grids, report.Begun(g))
	}
	return out
}
