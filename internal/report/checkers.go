package report

import (
	"fmt"
	"strings"
)

// This file: the findings of checkers. A checker looks for errors of a program even if
// its results are correct.

// Checker is a checker that observed a run, with its findings.
type Checker struct {
	Checker string `json:"checker"`
	OK      bool   `json:"ok"` // nothing was found
	// Found counts findings of level warning or error, each once; hazards have a list of their
	// own instead.
	Found uint64 `json:"found,omitempty"`
	// NotWatched are the numbers of launches that could not be checked.
	NotWatched []int `json:"launches_not_watched,omitempty"`
	// LeftOut counts the findings that did not fit into the list.
	LeftOut uint64   `json:"left_out,omitempty"`
	Hazards []Hazard `json:"hazards,omitempty"` // of --check hazards
}

// Hazard is a dependence between two instructions that a program's control bits do not
// wait for. All its occurrences are one entry; block, warp, lane and cycle are those of
// the first.
type Hazard struct {
	Kind        string      `json:"kind"` // read_after_write, write_after_read or write_after_write
	Kernel      string      `json:"kernel"`
	Launch      int         `json:"launch"`
	SM          int         `json:"sm"`
	Block       uint64      `json:"block"` // index in the grid, x fastest
	Warp        int         `json:"warp"`  // in the block
	Lane        int         `json:"lane"`  // the first one concerned
	Cycle       uint64      `json:"cycle"` // of the issue
	Instruction Instruction `json:"instruction"`
	Producer    Instruction `json:"producer"` // the instruction whose result, or whose reads, it does not wait for
	Register    string      `json:"register"`
	// Short is the largest number of cycles by which the instruction issued too
	// early. 0: it never did, but nothing in the program waits.
	Short int    `json:"cycles_short"`
	Times uint64 `json:"times"` // occurrences, over all warps and launches
	// Fixes are the control codes that fix it. If there are none, stall counters
	// are not enough: other instructions must be inserted in between.
	Fixes []Instruction `json:"fixes"`
}

// Instruction is a location in a program's text. The control code is the present one, or
// for a fix the correct one.
type Instruction struct {
	File    string `json:"file"`
	Line    int    `json:"line"`
	PC      int    `json:"pc"`
	Text    string `json:"text"`
	Control string `json:"control"`
}

// mostHazards is the number of hazards that the report shows; the JSON form has all of
// them.
const mostHazards = 20

// place returns the file and line of an instruction, or its pc without text.
func (i *Instruction) place() string { return Place(i.File, "", i.Line, i.PC) }

// checkerTable shows the findings of checkers.
func (r *Run) checkerTable(b *strings.Builder) {
	for _, c := range r.Checkers {
		fmt.Fprintf(b, "\n--check %s: ", c.Checker)
		if c.OK && len(c.NotWatched) > 0 && len(c.NotWatched) == len(r.Kernels) {
			b.WriteString("nothing was checked\n")
		} else if c.OK {
			b.WriteString("nothing found\n")
		} else if c.Found > 0 {
			fmt.Fprintf(b, "%s\n", Plural(int(c.Found), "finding", "findings"))
		} else {
			fmt.Fprintf(b, "%s\n\n", Plural(len(c.Hazards), "hazard", "hazards"))
			hazardTable(b, c.Hazards)
		}
		if c.LeftOut > 0 {
			fmt.Fprintf(b, "others occurred %s but were not kept; fix these first\n", Plural(int(c.LeftOut), "time", "times"))
		}
		if n := len(c.NotWatched); n > 0 {
			fmt.Fprintf(b, "%s not checked: %s\n", Plural(n, "launch was", "launches were"), c.blind())
		}
	}
}

func hazardTable(b *strings.Builder, list []Hazard) {
	t := NewTable("<register", "<instruction", "<", "<after", "<", "<first at", "<too early by", "times", "<control code that fixes it")
	for i, h := range list {
		if i == mostHazards {
			break
		}
		soon := "not waited for"
		if h.Short > 0 {
			if soon = Plural(h.Short, "cycle", "cycles"); h.Times > 1 {
				soon = "up to " + soon
			}
		}
		fix := []string{"other instructions in between"}
		if len(h.Fixes) > 0 {
			fix = fix[:0]
			for _, f := range h.Fixes {
				fix = append(fix, fmt.Sprintf("%s %s", f.place(), f.Control))
			}
		}
		t.Row(h.Register+" "+spoken(h.Kind), h.Instruction.place(), shorten(h.Instruction.Text, 36), h.Producer.place(), shorten(h.Producer.Text, 36),
			fmt.Sprintf("%s launch %d block %d warp %d lane %d", h.Kernel, h.Launch, h.Block, h.Warp, h.Lane), soon, Count(h.Times), fix[0])
		for _, f := range fix[1:] {
			t.Row("", "", "", "", "", "", "", "", f)
		}
	}
	t.Write(b)
	if n := len(list) - mostHazards; n > 0 {
		fmt.Fprintf(b, "and %s more; --json has them all\n", Count(uint64(n)))
	}
}

// Hazards is the name of the checker of control bits. Its findings are Checker.Hazards.
const Hazards = "hazards"

// blind says why launches were not watched.
func (c *Checker) blind() string {
	if c.Checker == Hazards {
		return "guarded by scoreboards, not control bits"
	}
	if seesMachineCode(c.Checker) {
		return "machine code, which this checker sees in functional runs only"
	}
	return "machine code, and this checker sees PTX"
}

// seesMachineCode reports whether a checker sees machine code, in functional runs.
func seesMachineCode(checker string) bool {
	return checker == "races" || checker == "sync" || checker == "init" || checker == "memory"
}

// found describes the findings of a checker, "" if there are none.
func (c *Checker) found() string {
	if c.OK {
		return ""
	}
	if c.Found > 0 {
		return Plural(int(c.Found), "finding", "findings") + " of " + c.Checker
	}
	return Plural(len(c.Hazards), "hazard", "hazards") + " FOUND"
}
