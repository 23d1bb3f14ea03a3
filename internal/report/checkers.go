package report

import (
	"fmt"
	"path/filepath"
	"strings"
)

// This file: what checkers found. A checker watches a run for what is wrong
// with a program although its results may be right.

// Checker is a checker that watched a run, and what it found.
type Checker struct {
	Checker string `json:"checker"`
	OK      bool   `json:"ok"` // nothing was found
	// NotWatched are the launches that there was nothing to watch in, by number.
	NotWatched []int `json:"launches_not_watched,omitempty"`
	// LeftOut is how often something was found that had no room in the list.
	LeftOut uint64   `json:"left_out,omitempty"`
	Hazards []Hazard `json:"hazards,omitempty"` // of --check hazards
}

// Hazard is a dependence between two instructions that a program's control bits
// do not wait for. It stands once for all the times that it happened; block,
// warp, lane and cycle are those of the first time.
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
	Producer    Instruction `json:"producer"` // whose result, or whose reads, it does not wait for
	Register    string      `json:"register"`
	// Short is the most cycles by which the instruction issued too soon. 0: it
	// went well every time, but nothing in the program waits.
	Short int    `json:"cycles_short"`
	Times uint64 `json:"times"` // that it happened, over all warps and launches
	// Fixes are the control codes that mend it; without any, stall counters
	// cannot: other instructions have to come in between.
	Fixes []Instruction `json:"fixes"`
}

// Instruction is a place in a program's text. The control code is the one that
// stands there, of a fix the one that should.
type Instruction struct {
	File    string `json:"file"`
	Line    int    `json:"line"`
	PC      int    `json:"pc"`
	Text    string `json:"text"`
	Control string `json:"control"`
}

// mostHazards is how many hazards the report shows; the JSON form has them all.
const mostHazards = 20

// place is the file and line of an instruction, or its pc where there is no text.
func (i *Instruction) place() string {
	if i.File == "" {
		return fmt.Sprintf("pc %#x", i.PC)
	}
	return fmt.Sprintf("%s:%d", filepath.Base(i.File), i.Line)
}

// checkerTable shows what checkers found.
func (r *Run) checkerTable(b *strings.Builder) {
	for _, c := range r.Checkers {
		fmt.Fprintf(b, "\n--check %s: ", c.Checker)
		if c.OK {
			b.WriteString("nothing found\n")
		} else {
			fmt.Fprintf(b, "%s\n\n", Plural(len(c.Hazards), "hazard", "hazards"))
			hazardTable(b, c.Hazards)
		}
		if c.LeftOut > 0 {
			fmt.Fprintf(b, "others happened %s, beyond what is kept; mend these first\n", Plural(int(c.LeftOut), "time", "times"))
		}
		if n := len(c.NotWatched); n > 0 {
			fmt.Fprintf(b, "%s not watched: guarded by scoreboards, not control bits\n", Plural(n, "launch was", "launches were"))
		}
	}
}

func hazardTable(b *strings.Builder, list []Hazard) {
	t := NewTable("<register", "<instruction", "<", "<after", "<", "<first at", "<too early by", "times", "<control code that cures it")
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

// found says in words what a checker found, "" if nothing.
func (c *Checker) found() string {
	if c.OK {
		return ""
	}
	return Plural(len(c.Hazards), "hazard", "hazards") + " FOUND"
}
