package output

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/heddle-sim/heddle/internal/check"
	"github.com/heddle-sim/heddle/internal/report"
	"github.com/heddle-sim/heddle/internal/report/found"
)

// This file: findings as text for people.

// mostNotes bounds the notes that are written as text, our choice: they change nothing, and
// some programs have a thousand.
const mostNotes = 10

// WriteText writes findings for people, the most serious first, and a line that sums them up.
// checked are the names of the checkers that ran.
func WriteText(w io.Writer, list []*check.Finding, src *Sources, checked []string) error {
	var b bytes.Buffer
	explained := map[*check.Rule]bool{} // how to mend it is said once for each rule
	notes := 0
	for _, f := range list {
		if f.Level == check.Note {
			if notes++; notes > mostNotes {
				continue
			}
		}
		writeFinding(&b, f, src, !explained[f.Rule])
		explained[f.Rule] = true
	}
	if n := notes - mostNotes; n > 0 {
		fmt.Fprintf(&b, "and %s; --json and --sarif have them all\n\n", report.Plural(n, "more note", "more notes"))
	}
	fmt.Fprintf(&b, "%s\n", Summary(list, checked))
	_, err := w.Write(b.Bytes())
	return err
}

// Summary is one line: how many findings there are of each level.
func Summary(list []*check.Finding, checked []string) string {
	by := ""
	if len(checked) > 0 {
		by = " (checked: " + strings.Join(checked, ", ") + ")"
	}
	var parts []string
	for _, l := range slices.Backward(levels) {
		n := 0
		for _, f := range list {
			if f.Level == l {
				n++
			}
		}
		if n > 0 {
			parts = append(parts, report.Plural(n, l.String(), l.String()+"s"))
		}
	}
	if len(parts) == 0 {
		return "heddle: nothing found" + by
	}
	return "heddle: found " + strings.Join(parts, ", ") + by
}

// Failing reports whether findings make a run fail: one of them is more than a note.
func Failing(list []*check.Finding) bool {
	return slices.ContainsFunc(list, func(f *check.Finding) bool { return f.Level > check.Note })
}

// writeFinding writes one finding as a paragraph.
func writeFinding(b *bytes.Buffer, f *check.Finding, src *Sources, mend bool) {
	fmt.Fprintf(b, "%s: %s [%s]\n", f.Level, f.Message, f.Rule.ID)
	for i, s := range f.Steps {
		head := s.Text
		if i > 0 && !strings.HasPrefix(s.Text, string(s.Role)) {
			head = strings.TrimSuffix(string(s.Role)+": "+s.Text, ": ")
		}
		if head != "" {
			fmt.Fprintf(b, "  %s\n", head)
		}
		writePlace(b, "at", s.Place, src)
		for _, p := range s.Chain {
			writePlace(b, "called from", p, src)
		}
	}
	var facts []string
	if f.Kernel != "" {
		facts = append(facts, fmt.Sprintf("in launch %d, of %s", f.Launch, f.Kernel))
	}
	if f.Order != "" && f.Order != "forward" {
		facts = append(facts, "with --order "+f.Order)
	}
	if f.Count > 1 {
		facts = append(facts, report.Count(f.Count)+" times")
	}
	if len(facts) > 0 {
		fmt.Fprintf(b, "  %s\n", strings.Join(facts, ", "))
	}
	if why := found.Causes[f.Cause]; why != "" {
		fmt.Fprintf(b, "  why: %s\n", why)
	}
	if mend && f.Rule.Mend != "" && !strings.Contains(f.Message, f.Rule.Mend) {
		fmt.Fprintf(b, "  to mend it: %s\n", f.Rule.Mend)
	}
	b.WriteByte('\n')
}

// writePlace writes a place and, if it is known, the line of the source.
func writePlace(b *bytes.Buffer, how string, p check.Place, src *Sources) {
	at := p.File
	if p.Line > 0 {
		at = fmt.Sprintf("%s:%d", p.File, p.Line)
	}
	switch {
	case at == "" && p.Function == "":
		return
	case at == "" && p.Inst != "":
		at = fmt.Sprintf("%s, instruction %d: %s", p.Function, p.PC, p.Inst)
	case at == "":
		at = p.Function
	case p.Function != "":
		at += " in " + p.Function
	}
	fmt.Fprintf(b, "    %s %s\n", how, at)
	if line := src.Line(p.File, p.Line); line != "" {
		fmt.Fprintf(b, "      %5d | %s\n", p.Line, line)
	}
}
