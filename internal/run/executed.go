package run

import (
	"github.com/heddle-sim/heddle/internal/check/coverage"
	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/isa"
	"github.com/heddle-sim/heddle/internal/report"
)

// This file: the instructions of a functional run, for its page.

// mostExecuted bounds the instructions of a functional run's page, our choice: generated code can
// be long.
const mostExecuted = 100_000

// executed returns the instructions of the functions that ran, with how many threads executed each
// and, of a conditional branch, how many took it and how many did not. What several kernels call
// counts once for all of them.
func executed(c *exec.Coverage) []report.Line {
	type place struct {
		file, function string
		line           uint32
		pc             int
	}
	at := map[place]int{}
	var list []report.Line
	for _, f := range c.Counts() {
		threads := coverage.Threads(f)
		if len(threads) == 0 || f.Entered == 0 && len(list)+len(threads) > mostExecuted {
			continue
		}
		for pc, n := range threads {
			w := f.Where(pc)
			key := place{w.File, f.Name, uint32(w.Pos.Line), pc}
			i, known := at[key]
			if !known {
				if len(list) == mostExecuted {
					return list
				}
				i = len(list)
				at[key], list = i, append(list, report.Line{
					File: w.File, Line: int(w.Pos.Line), PC: pc, Function: f.Name, Instruction: w.Inst, Text: f.Text(pc), SourceFile: w.SrcFile, SourceLine: w.SrcLine,
				})
			}
			list[i].ThreadInstructions += n
			if in := &f.Code[pc]; in.Flow == isa.FlowBranch && in.Guarded {
				if list[i].Branches == nil {
					list[i].Branches = &report.Branches{}
				}
				list[i].Taken += f.Taken[pc]
				list[i].NotTaken += f.Passed[pc]
			}
		}
	}
	return list
}
