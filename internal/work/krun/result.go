package krun

import (
	"fmt"

	"github.com/heddle-sim/heddle/internal/core/kepler"
	"github.com/heddle-sim/heddle/internal/isa/kasm"
	"github.com/heddle-sim/heddle/internal/report"
	"github.com/heddle-sim/heddle/internal/report/findings"
)

// sms returns how many SMs the machine has.
func (r *Run) sms() int { return max(1, r.Core.Config().Chip.SMs) }

// Kernel returns the run as a launch of a result: the breakdown of its cycles and
// those of its warps, also by instruction.
func (r *Run) Kernel(name string) report.Kernel {
	k := r.Core
	s, c, cycles := k.Stats(), k.Counters(), k.Counted()
	t := &report.KernelTiming{
		EndCycle: cycles, Cycles: cycles, FirstBlockCycle: kepler.FirstFetch, BlocksPerSM: 1,
		Stalls: map[string]uint64{}, SlotStalls: map[string]uint64{}, LanesPerIssue: c.Lanes[:],
	}
	if cycles > 0 {
		t.IPC = float64(s.Executed) / float64(cycles)
	}
	warps := 0
	var total [kepler.WarpStates]uint64
	for w := range kepler.Warps {
		if !k.Started(w) {
			continue
		}
		warps++
		one := report.Warp{Warp: w, ExitCycle: k.ExitCycle(w), Cycles: k.Lifetime(w), Stalls: map[string]uint64{}}
		for st, n := range c.Warps[w] {
			total[st] += n
			t.WarpCycles += n
			if n > 0 {
				one.Stalls[kepler.WarpState(st).String()] = n
			}
		}
		t.Warps = append(t.Warps, one)
	}
	for st, n := range total {
		t.Stalls[kepler.WarpState(st).String()] = n
	}
	for st := kepler.SlotSingle + 1; st < kepler.SlotStates; st++ {
		t.SlotStalls[st.String()] = c.Slots[st]
	}
	if cycles > 0 {
		t.Occupancy = float64(t.WarpCycles) / float64(uint64(kepler.Warps*r.sms())*cycles)
	}
	t.Lines = r.lines()
	t.Memory = r.memory
	return report.Kernel{
		Name: name, Grid: [3]int64{1, 1, 1}, Block: [3]int64{int64(warps * kasm.Lanes), 1, 1}, Registers: kasm.Registers, SharedBytes: kepler.SharedBytes,
		Blocks: 1, WarpInstructions: s.Executed, ThreadInstructions: s.Threads, KernelTiming: t,
	}
}

// lines are the instructions that executed or that warps waited at.
func (r *Run) lines() []report.Line {
	var list []report.Line
	for p := range r.Core.Programs() {
		for pc := range kasm.ProgramWords {
			pt := r.Core.Point(p, pc)
			l := report.Line{PC: pc, Issues: pt.Executed, ThreadInstructions: pt.Threads, Stalls: map[string]uint64{}}
			for st, n := range pt.Cycles {
				l.WarpCycles += n
				if n > 0 {
					l.Stalls[kepler.WarpState(st).String()] = n
				}
			}
			if l.Issues == 0 && l.WarpCycles == 0 {
				continue
			}
			if l.File, l.Line = r.Place(p, pc); l.File == "" {
				l.File = r.Name
			}
			if l.Text = r.Core.Text(p, pc); l.Line == 0 {
				l.Text += " (no code)" // after the program, where memory is zero
			}
			l.Instruction = r.Core.Op(p, pc).String()
			l.Replays = pt.Replays
			if pt.Conflicts > 0 {
				l.Accesses = &report.Accesses{ConflictCycles: pt.Conflicts}
			}
			list = append(list, l)
		}
	}
	return list
}

// Counters returns the counters that only this core has.
func (r *Run) Counters() *report.Kepler {
	k := r.Core
	s := k.Stats()
	c := &report.Kepler{
		Conform: k.Level().String(), DualIssues: s.DualIssues, SingleIssues: s.SingleIssues, Squashed: s.Squashed, Branches: s.Branches,
		Transactions: s.Transactions, Replays: s.Replays, Conflicts: s.Conflicts, ExitCycle: map[string]uint64{},
	}
	for w := range kepler.Warps {
		if n := k.ExitCycle(w); n > 0 {
			c.ExitCycle[fmt.Sprint(w)] = n
		}
	}
	return c
}

// Result is the run as a whole result of one launch.
func (r *Run) Result(name string) *report.Run {
	k := r.Core
	s := k.Stats()
	res := &report.Run{
		Heddle: report.Version, Input: r.Name, GPU: k.Config().Name, Mode: "timing", OK: k.Done(),
		Conditions:       k.Config().Conditions(),
		Timing:           &report.Timing{Core: "kepler", SMs: r.sms(), Cycles: k.Counted(), Memory: r.memory},
		WarpInstructions: s.Executed, ThreadInstructions: s.Threads,
		Kernels: []report.Kernel{r.Kernel(name)}, Kepler: r.Counters(), Checks: []report.Check{},
	}
	for _, p := range r.Programs {
		res.Programs = append(res.Programs, p.File)
	}
	res.Findings = findings.Of(res)
	return res
}
