package report

import (
	"fmt"
	"strings"
)

// Trace describes the input of a replayed run, and what was missing from it.
type Trace struct {
	Form     string   `json:"form"`     // of the input: "Accel-Sim version 5" and the like
	Launches int      `json:"launches"` // in the trace
	Arch     []int    `json:"architectures"`
	Warnings []string `json:"warnings,omitempty"`
	// Control lists what guards the launches, each once: the mechanism, the source of
	// control bits, and why there are no others.
	Control []string `json:"dependences"`
	Hidden  string   `json:"hidden_dependences"` // off or recover
	// Needed counts reads of predicates and uniform registers that the trace does not
	// record, in warp instructions; Recovered those whose producer was found.
	Needed    uint64 `json:"hidden_reads"`
	Recovered uint64 `json:"hidden_reads_recovered"`
	// Words and Mnemonics count static instructions described by their encoding,
	// and by the mnemonic alone.
	Words     int         `json:"instructions_from_words"`
	Mnemonics int         `json:"instructions_from_mnemonics"`
	Unknown   []UnknownOp `json:"unknown_mnemonics,omitempty"`
	Absent    uint64      `json:"blocks_without_record"`
}

// UnknownOp is an unknown mnemonic.
type UnknownOp struct {
	Mnemonic string `json:"mnemonic"`
	Count    uint64 `json:"warp_instructions"`
	As       string `json:"taken_for"`
}

// maxTraceWarnings limits the warnings in the text; JSON has all.
const maxTraceWarnings = 10

// write appends the description of the input.
func (t *Trace) write(b *strings.Builder) {
	fmt.Fprintf(b, "Trace: %s, %s", t.Form, Plural(t.Launches, "launch", "launches"))
	for i, a := range t.Arch {
		fmt.Fprintf(b, "%s sm_%d", [2]string{",", " and"}[min(i, 1)], a)
	}
	fmt.Fprintln(b)
	for _, c := range t.Control {
		fmt.Fprintf(b, "  Dependences: %s\n", c)
	}
	switch {
	case t.Hidden == "off":
		fmt.Fprintln(b, "  Through predicates and uniform registers: none, as in Accel-Sim (trace.hidden_dependences = off)")
	case t.Needed > 0:
		fmt.Fprintf(b, "  Through predicates and uniform registers: %s of %s reads have their producer (%.1f %% could not be recovered)\n",
			Count(t.Recovered), Count(t.Needed), 100*(1-float64(t.Recovered)/float64(t.Needed)))
	}
	if t.Absent > 0 {
		fmt.Fprintf(b, "  %s have no record and did not run\n", Plural(int(t.Absent), "block", "blocks"))
	}
	for _, u := range t.Unknown {
		fmt.Fprintf(b, "  unknown mnemonic %s (%s warp instructions) was treated as %s (trace.unknown)\n", u.Mnemonic, Count(u.Count), u.As)
	}
	for i, w := range t.Warnings {
		if i == maxTraceWarnings {
			fmt.Fprintf(b, "  … and %d more warnings\n", len(t.Warnings)-i)
			break
		}
		fmt.Fprintf(b, "  warning: %s\n", w)
	}
}
