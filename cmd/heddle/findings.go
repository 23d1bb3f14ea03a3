package main

import (
	"github.com/heddle-sim/heddle/internal/check"
	"github.com/heddle-sim/heddle/internal/check/output"
)

// findingFlags are the flags for what becomes of findings.
type findingFlags struct{}

// show prints findings on standard error, and reports whether one of them makes the run fail.
func (f *findingFlags) show(e env, list []*check.Finding, checked, roots []string) (bool, error) {
	err := output.WriteText(e.stderr, list, &output.Sources{Roots: roots}, checked)
	return output.Failing(list), err
}

// ordered notes in findings under which order of blocks and warps they were made.
func ordered(list []*check.Finding, order string) []*check.Finding {
	for _, f := range list {
		f.Order = order
	}
	return list
}
