// Package whatif is the answer to "what would it be worth if this cause were gone": the
// model of the result of heddle whatif, its JSON and its text.
//
// It does not know how the runs came about; package internal/whatif makes them.
package whatif

import (
	"encoding/json"
	"io"
	"slices"
)

// Result is the answer for one input on one machine. Fields may be added, never renamed.
type Result struct {
	Heddle string `json:"heddle"` // version
	Input  string `json:"input"`  // job, trace or program
	GPU    string `json:"gpu"`    // machine of all runs
	Core   string `json:"core"`   // its core model
	// Launches is the selection of launches whose cycles are compared, as the user wrote it;
	// "" is the whole run, from the start to the end of its last step.
	Launches string `json:"launches,omitempty"`
	// Cycles are the core cycles of the machine as it is: the baseline of all savings.
	Cycles uint64 `json:"cycles"`
	// Checks is the number of checks of values that each run without an error has passed; 0 if
	// the input has none.
	Checks int `json:"checks"`
	// Printed reports that kernels or the program printed something in the baseline.
	Printed bool `json:"printed"`
	// Ideals are the idealised runs, the largest saving first; equal ones in the order of
	// the machine's keys.
	Ideals []Ideal `json:"ideals"`
	// Pair is the run with the two largest savings at once, a single line's left out; nil if
	// fewer than two save anything.
	Pair *Pair `json:"pair,omitempty"`
	// SumPercent is the sum of all savings, without that of a single line. Above 100, causes hide each other: the same
	// cycles count for several of them.
	SumPercent float64 `json:"sum_percent"`
	// Missing are the idealisations that were not tried, with the reason.
	Missing []Missing `json:"missing,omitempty"`
}

// Ideal is a run on a machine with one change.
type Ideal struct {
	Name string `json:"name"` // short: the key without its table; line for a line's loads
	Key  string `json:"key"`  // of the configuration, with its value if that is not true
	What string `json:"what"` // what was removed, after "if"
	// Optimistic is why a real machine would gain less.
	Optimistic string `json:"optimistic"`
	Cycles     uint64 `json:"cycles"`
	// SavedCycles is the baseline's cycles less these, negative if the run got longer;
	// SavedPercent is its share of the baseline.
	SavedCycles  int64   `json:"saved_cycles"`
	SavedPercent float64 `json:"saved_percent"`
	// Launches are the cycles of each compared launch, in order.
	Launches []Launch `json:"launches"`
	// Lines are the instructions at which warps waited less, the largest difference first;
	// at most MostLines.
	Lines []Line `json:"lines"`
	// SameOutput reports that kernels and program printed what they print in the baseline.
	SameOutput bool `json:"same_output"`
	// Error is why the run failed or what of its values is wrong; then its cycles are 0 and
	// count for nothing.
	Error string `json:"error,omitempty"`
	// WrongValues reports that the error is that a check of values did not pass.
	WrongValues bool `json:"wrong_values,omitempty"`
}

// MostLines is the number of lines listed for each idealisation (our choice).
const MostLines = 5

// Launch is a launch in two runs.
type Launch struct {
	Launch int    `json:"launch"` // its number in the run
	Name   string `json:"name"`   // of the kernel
	Before uint64 `json:"before"` // cycles in the baseline
	After  uint64 `json:"after"`  // cycles in the idealised run
}

// Line is an instruction, with the warp cycles that warps waited at it, over all compared
// launches: in the baseline and in the idealised run. Cycles in which it issued are left
// out.
type Line struct {
	File        string `json:"file"` // program text
	Line        int    `json:"line"`
	PC          int    `json:"pc"` // index in its function
	Function    string `json:"function"`
	Instruction string `json:"instruction"`
	SourceFile  string `json:"source_file,omitempty"` // from debug information, if any
	SourceLine  int    `json:"source_line,omitempty"`
	State       string `json:"state"` // the warp state that lost most
	Before      uint64 `json:"before"`
	After       uint64 `json:"after"`
}

// Pair is a run with two changes. Interaction is what it saves beyond the sum of both:
// positive if one cause costs nothing as long as the other is there, negative if both claim the same cycles.
type Pair struct {
	Names             [2]string `json:"names"` // of the two, the larger saving first
	Cycles            uint64    `json:"cycles"`
	SavedCycles       int64     `json:"saved_cycles"`
	SavedPercent      float64   `json:"saved_percent"`
	SumCycles         int64     `json:"sum_cycles"`         // saved by the two alone, added
	InteractionCycles int64     `json:"interaction_cycles"` // SavedCycles less SumCycles
	SameOutput        bool      `json:"same_output"`        // as in Ideal, like those below
	Error             string    `json:"error,omitempty"`
	WrongValues       bool      `json:"wrong_values,omitempty"`
}

// Missing is an idealisation that was not tried.
type Missing struct {
	Name string `json:"name"`
	Why  string `json:"why"`
}

// WrongValues reports whether any run computed wrong values.
func (r *Result) WrongValues() bool {
	return r.Pair != nil && r.Pair.WrongValues || slices.ContainsFunc(r.Ideals, func(x Ideal) bool { return x.WrongValues })
}

// WriteJSON writes the result as JSON.
func (r *Result) WriteJSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(r)
}
