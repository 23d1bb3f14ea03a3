package report

import (
	"fmt"
	"path/filepath"
	"strings"
)

// This file: what holds a run back, as package findings reads it from the counters.

// Finding is a cause that costs time. Its share is an upper bound of what removing the cause
// could save: other causes may take its place.
type Finding struct {
	Rule     string `json:"rule"`
	Launch   *int   `json:"launch,omitempty"` // that it costs most; nil if it concerns the whole run
	Launches int    `json:"launches"`         // of the same kernel, with the same finding
	Kernel   string `json:"kernel,omitempty"`
	// Share is the cost as a share of the launch's cycles, or of the run's without a launch:
	// 0 to 1. RunShare is that of all its launches as a share of the run's cycles.
	Share    float64    `json:"share"`
	RunShare float64    `json:"run_share"`
	Seen     string     `json:"seen"` // in a sentence, with figures
	Try      string     `json:"try"`  // what may help
	Lines    []LineCost `json:"lines,omitempty"`
}

// LineCost is the part of a finding that an instruction has, with the others of its line of the
// source if that is known.
type LineCost struct {
	File        string  `json:"file"`
	Line        int     `json:"line"`
	PC          int     `json:"pc"`
	SourceFile  string  `json:"source_file,omitempty"`
	SourceLine  int     `json:"source_line,omitempty"`
	Instruction string  `json:"instruction"`
	Share       float64 `json:"share"` // of what all lines of the launch contribute
}

// mostFindings is how many findings the text shows; the JSON form has all of them.
const mostFindings = 3

// findingTable shows the findings that cost most.
func (r *Run) findingTable(b *strings.Builder) {
	if len(r.Findings) == 0 {
		return
	}
	t := NewTable("<what costs most", "at most", "<where", "<what was seen; what may help")
	for i := range r.Findings {
		f := &r.Findings[i]
		if i == mostFindings {
			break
		}
		seen := f.Seen
		if f.Launches > 1 && f.Launch != nil {
			seen = fmt.Sprintf("launch %d: %s", *f.Launch, seen)
		}
		t.Row(strings.ReplaceAll(f.Rule, "-", " "), fmt.Sprintf("%.0f %%", 100*f.RunShare), f.where(len(r.Kernels)), seen)
		t.Row("", "", "", "→ "+f.Try)
	}
	b.WriteString("\n")
	t.Write(b)
}

// where is the place of a finding: its most expensive line, else the kernel if there are several.
func (f *Finding) where(launches int) string {
	switch {
	case len(f.Lines) > 0 && f.Lines[0].SourceLine > 0:
		return fmt.Sprintf("%s:%d", filepath.Base(f.Lines[0].SourceFile), f.Lines[0].SourceLine)
	case len(f.Lines) > 0 && f.Lines[0].Line > 0:
		return fmt.Sprintf("%s:%d", filepath.Base(f.Lines[0].File), f.Lines[0].Line)
	case len(f.Lines) > 0 && f.Lines[0].File == "": // a trace
		return fmt.Sprintf("pc %#x", f.Lines[0].PC)
	case len(f.Lines) > 0:
		return fmt.Sprintf("pc %d", f.Lines[0].PC)
	case launches > 1:
		return f.Kernel
	}
	return ""
}
