package core

import (
	"fmt"

	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/isa"
)

// HazardKind is the kind of a hazard.
type HazardKind uint8

// The kinds.
const (
	// RAW: a register is read before the value due in program order is available.
	RAW HazardKind = iota
	// WAR: a register is overwritten although nothing in the program ensures that an
	// earlier instruction has read it.
	WAR
	// WAW: an earlier result may overwrite a later one.
	WAW
	hazardKinds
)

var hazardNames = [hazardKinds]string{"read after write", "write after read", "write after write"}

func (k HazardKind) String() string { return hazardNames[k] }

// Hazard is a dependence that a program does not wait for. It is listed once, however
// often it occurs: Block, Warp, Cycle and Lane are those of the first occurrence, Short
// is the worst of all, and Fixes correct all of them.
type Hazard struct {
	Kind  HazardKind
	Work  exec.Work
	Block uint64 // in its grid
	Warp  int    // in its block
	Cycle uint64 // core cycle of the instruction's issue
	// At is the instruction that issues too soon, Producer the earlier one, whose
	// result it reads or overwrites or whose sources it overwrites. Both are indices
	// into the work's code.
	At, Producer int32
	// Reg is the register, Lane the first affected lane.
	Reg  isa.Reg
	Lane int
	// Short is the largest number of cycles by which it issued too soon; 0 if it was
	// late enough every time, but only by chance.
	Short int
	// Fixes are the control codes that correct it, by instruction; none if stall
	// counters alone cannot.
	Fixes []Fix
	// Count is the number of occurrences, over all warps.
	Count int
}

// Merge adds the occurrences of the same hazard on another SM or in another launch.
func (h *Hazard) Merge(x *Hazard) {
	h.Count += x.Count
	h.Short = max(h.Short, x.Short)
	h.Fixes = mend(h.Fixes, x.Fixes)
}

// mend joins the fixes of two occurrences of a hazard. It returns none if either has
// none.
func mend(a, b []Fix) []Fix {
	if len(a) == 0 || len(b) == 0 {
		return nil
	}
next:
	for _, f := range b {
		for i := range a {
			have := &a[i].Control
			if a[i].At != f.At {
				continue
			}
			have.Wait |= f.Control.Wait
			if f.Control.Stall > have.Stall {
				have.Stall, have.Yield = f.Control.Stall, f.Control.Yield
			}
			continue next
		}
		a = append(a, f)
	}
	return a
}

// Fix is a control code that an instruction should have.
type Fix struct {
	At      int32
	Control isa.Control
}

// Register returns the register's name in SASS.
func (h *Hazard) Register() string {
	file := [...]string{isa.RegGPR: "R", isa.RegPred: "P", isa.RegUGPR: "UR", isa.RegUPred: "UP"}[h.Reg.File]
	return fmt.Sprintf("%s%d", file, h.Reg.Index)
}

// String describes the hazard in one line.
func (h *Hazard) String() string {
	code := h.Work.Code()
	s := fmt.Sprintf("%s of %s: %s (line %d) after %s (line %d), block %d warp %d lane %d", h.Kind, h.Register(),
		code[h.At].Op, code[h.At].Pos.Line, code[h.Producer].Op, code[h.Producer].Pos.Line, h.Block, h.Warp, h.Lane)
	if h.Short > 0 {
		s += fmt.Sprintf(", %d cycles too soon", h.Short)
	} else {
		s += ", not waited for"
	}
	for _, f := range h.Fixes {
		s += fmt.Sprintf("; line %d needs %s", code[f.At].Pos.Line, f.Control)
	}
	return s
}
