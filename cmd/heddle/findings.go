package main

import (
	"bytes"
	"os"

	"github.com/heddle-sim/heddle/internal/check"
	"github.com/heddle-sim/heddle/internal/check/output"
	"github.com/heddle-sim/heddle/internal/report"
)

// findingFlags are the flags for what becomes of findings.
type findingFlags struct {
	SARIF string `name:"sarif" placeholder:"FILE" help:"Write the findings of checkers as SARIF 2.1.0, for code scanning (- is standard output)."`
}

// check returns what is wrong with the flags of a run with these checkers, which may be nil.
func (f *findingFlags) check(checks *check.Set) error {
	if f.SARIF != "" && checks == nil {
		return usage("--sarif writes what checkers find, and no checker runs: add --check all")
	}
	return nil
}

// show prints findings on standard error and writes their files. It reports whether one of
// them makes the run fail.
func (f *findingFlags) show(e env, list []*check.Finding, checked, roots []string) (bool, error) {
	src := &output.Sources{Roots: roots}
	if f.SARIF != "" {
		var b bytes.Buffer
		err := output.WriteSARIF(&b, list, src, output.Repository("."), report.Version)
		if err == nil {
			err = writeTo(e, f.SARIF, b.Bytes())
		}
		if err != nil {
			return false, usage("--sarif: %w", err)
		}
	}
	err := output.WriteText(e.stderr, list, src, checked)
	return output.Failing(list), err
}

// writeTo writes a file; - is standard output.
func writeTo(e env, file string, b []byte) error {
	if file == "-" {
		_, err := e.stdout.Write(b)
		return err
	}
	return os.WriteFile(file, b, 0o666)
}

// ordered notes in findings under which order of blocks and warps they were made.
func ordered(list []*check.Finding, order string) []*check.Finding {
	for _, f := range list {
		f.Order = order
	}
	return list
}
