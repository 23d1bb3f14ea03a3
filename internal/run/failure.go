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
	case errors.As(err, &le):
		f.Kind, f.Kernel = "launch", le.Kernel
	case errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded):
		f.Kind, f.Message = "interrupted", "interrupted"
	}
	return f
}
