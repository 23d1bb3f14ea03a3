package run

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/gpu"
	"github.com/heddle-sim/heddle/internal/isa"
	"github.com/heddle-sim/heddle/internal/report"
)

// This file: the hazard checker, from the option to the result.

// Hazards is the name of the hazard checker.
const Hazards = report.Hazards

// watchHazards turns the chip's hazard checker on. It refuses a machine without control
// bits.
func watchHazards(chip *gpu.GPU) error {
	if !chip.CheckHazards() {
		return fmt.Errorf("the hazard checker checks the control bits of SASS, which the modern core uses; this run has the %s core, which guards every program by scoreboards: choose a GPU with a modern core, or the modern core model", chip.Config().Core.Model().Name)
	}
	return nil
}

// anyHazards refuses a run whose launches all lack control bits.
func anyHazards(launches []*Launch) error {
	var names []string
	for _, l := range launches {
		switch k := l.op.Kernel; {
		case k.ControlBits():
			return nil
		case !slices.Contains(names, k.Name):
			names = append(names, k.Name)
		}
	}
	if len(names) == 0 {
		return errors.New("the hazard checker checks launches, but this run has none")
	}
	return fmt.Errorf("the hazard checker checks programs guarded by control bits, but scoreboards guard %s; use SASS text with control codes, and a machine that does not set modern.dependences to scoreboard",
		strings.Join(names, ", "))
}

// hazardKey identifies a hazard: those of one kernel are the same at every launch and on
// every SM.
type hazardKey struct {
	kernel       string
	kind         string
	at, producer int32
	reg          isa.Reg
}

// addHazards adds the hazards found by the SMs to a result: each once, in order of first
// occurrence. Launches that only warm the caches do not count.
func addHazards(chip *gpu.GPU, launches map[exec.Work]*Launch, res *report.Run) {
	c := report.Checker{Checker: Hazards}
	for _, l := range launches {
		if l.Unwatched {
			c.NotWatched = append(c.NotWatched, l.Number)
		}
	}
	slices.Sort(c.NotWatched)
	list, left := chip.Hazards()
	c.LeftOut = left
	list = slices.DeleteFunc(list, func(h gpu.Hazard) bool {
		l := launches[h.Work]
		return l == nil || l.Unwatched
	})
	slices.SortStableFunc(list, func(a, b gpu.Hazard) int {
		return cmp.Or(cmp.Compare(a.Cycle, b.Cycle), cmp.Compare(a.SM, b.SM))
	})
	first := map[hazardKey]*gpu.Hazard{}
	var each []*gpu.Hazard
	for i := range list {
		h := &list[i]
		key := hazardKey{h.Work.Name(), h.Kind.String(), h.At, h.Producer, h.Reg}
		if x, ok := first[key]; ok {
			x.Merge(&h.Hazard)
			continue
		}
		first[key] = h
		each = append(each, h)
	}
	for _, h := range each {
		c.Hazards = append(c.Hazards, hazard(h, launches[h.Work].Number))
	}
	c.OK = len(c.Hazards) == 0 && left == 0
	res.Checkers = append(res.Checkers, c)
}

// hazard describes one.
func hazard(h *gpu.Hazard, launch int) report.Hazard {
	w := h.Work
	code := w.Code()
	place := func(at int32, control isa.Control) report.Instruction {
		src := w.Traits()
		s, text := where(w, &src, int(at))
		return report.Instruction{File: s.File, Line: int(s.Pos.Line), PC: s.PC, Text: text, Control: control.String()}
	}
	r := report.Hazard{
		Kind: strings.ReplaceAll(h.Kind.String(), " ", "_"), Kernel: w.Name(), Launch: launch, SM: h.SM,
		Block: h.Block, Warp: h.Warp, Lane: h.Lane, Cycle: h.Cycle,
		Instruction: place(h.At, *code[h.At].Control), Producer: place(h.Producer, *code[h.Producer].Control),
		Register: h.Register(), Short: h.Short, Times: uint64(h.Count), Fixes: []report.Instruction{},
	}
	for _, f := range h.Fixes {
		r.Fixes = append(r.Fixes, place(f.At, f.Control))
	}
	return r
}
