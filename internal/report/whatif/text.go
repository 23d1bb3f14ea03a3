package whatif

import (
	"fmt"
	"io"
	"math"
	"path"
	"strings"

	"github.com/heddle-sim/heddle/internal/report"
)

// WriteText writes the result as a table with bars, and what it means.
func (r *Result) WriteText(w io.Writer) error {
	var b strings.Builder
	what := "the whole run"
	if r.Launches != "" {
		what = "launches " + r.Launches
	}
	fmt.Fprintf(&b, "heddle %s  what if  %s  on %s (%s core)\n", r.Heddle, r.Input, r.GPU, r.Core)
	fmt.Fprintf(&b, "baseline: %s cycles (%s)\n\n", report.Count(r.Cycles), what)
	r.table(&b)
	r.pair(&b)
	fmt.Fprintf(&b, "sum of all savings: %.1f %%", r.SumPercent)
	if r.SumPercent > 100 {
		b.WriteString("; more than 100 % because causes overlap: the same cycles count for several of them")
	}
	b.WriteString("\n")
	r.lines(&b)
	r.notes(&b)
	_, err := io.WriteString(w, b.String())
	return err
}

// few is the number of rows up to which all are shown, also those that save nothing (our
// choice).
const few = 8

// table writes a row for each idealisation, and one line for those without effect if there
// are many.
func (r *Result) table(b *strings.Builder) {
	var without []string
	t := report.NewTable("<what if", "cycles", "saved", "<", "<name")
	for _, x := range r.Ideals {
		if x.Error != "" {
			t.Row(x.What, "failed", "", "", x.Name)
			continue
		}
		if len(r.Ideals) > few && math.Abs(x.SavedPercent) < 0.05 {
			without = append(without, x.Name)
			continue
		}
		t.Row(x.What, report.Count(x.Cycles), percent(x.SavedPercent), report.Bar(uint64(max(0, x.SavedCycles)), r.Cycles), x.Name)
	}
	t.Write(b)
	if len(without) > 0 {
		fmt.Fprintf(b, "less than 0.05 %%: %s\n", strings.Join(without, ", "))
	}
}

// percent formats a saving as a change: −38.1 %.
func percent(saved float64) string {
	switch s := fmt.Sprintf("%.1f %%", max(saved, -saved)); {
	case s == "0.0 %":
		return s
	case saved > 0:
		return "−" + s
	default:
		return "+" + s
	}
}

// pair writes what the two largest save together.
func (r *Result) pair(b *strings.Builder) {
	p := r.Pair
	switch {
	case p == nil:
		b.WriteString("\n")
		return
	case p.Error != "":
		fmt.Fprintf(b, "\n%s and %s together: failed: %s\n", p.Names[0], p.Names[1], p.Error)
		return
	}
	fmt.Fprintf(b, "\n%s and %s together: %s cycles, %s; alone they add up to %s cycles less", p.Names[0], p.Names[1], report.Count(p.Cycles),
		percent(p.SavedPercent), signed(p.SumCycles))
	switch n := p.InteractionCycles; {
	case n > 0:
		fmt.Fprintf(b, ", together they save %s more: one hides the other\n", signed(n))
	case n < 0:
		fmt.Fprintf(b, ", together they save %s fewer: both claim these cycles\n", signed(-n))
	default:
		b.WriteString(", and so they do together\n")
	}
}

func signed(n int64) string {
	if n < 0 {
		return "−" + report.Count(uint64(-n))
	}
	return report.Count(uint64(n))
}

// lines writes at which lines warps waited less in the runs that saved most.
func (r *Result) lines(b *strings.Builder) {
	t := report.NewTable("<name", "<lines with less waiting", "<instruction", "waited", "now", "<for")
	rows := 0
	for i := range r.Ideals {
		x := &r.Ideals[i]
		if i == 3 || x.SavedPercent < 1 { // the largest three are enough for a screen
			break
		}
		name := x.Name
		for _, l := range x.Lines[:min(3, len(x.Lines))] {
			t.Row(name, l.place(), l.Instruction, report.Count(l.Before), report.Count(l.After), strings.ReplaceAll(l.State, "_", " "))
			name = ""
			rows++
		}
	}
	if rows > 0 {
		b.WriteString("\n")
		t.Write(b)
	}
}

// place names a line: of the source if that is known.
func (l *Line) place() string {
	if l.SourceFile != "" {
		return fmt.Sprintf("%s:%d", path.Base(l.SourceFile), l.SourceLine)
	}
	return report.Place(l.File, l.Function, l.Line, l.PC)
}

// notes writes what is optimistic about the largest savings, what failed, and what was not
// tried.
func (r *Result) notes(b *strings.Builder) {
	b.WriteString("\n")
	for i, x := range r.Ideals {
		if x.Error != "" {
			fmt.Fprintf(b, "%s failed: %s\n", x.Name, x.Error)
			continue
		}
		if i < 3 && x.SavedPercent >= 1 {
			fmt.Fprintf(b, "%s is optimistic: %s\n", x.Name, x.Optimistic)
		}
		if !x.SameOutput {
			otherOutput(b, x.Name)
		}
	}
	if p := r.Pair; p != nil && p.Error == "" && !p.SameOutput {
		otherOutput(b, p.Names[0]+" and "+p.Names[1])
	}
	for _, x := range r.Missing {
		fmt.Fprintf(b, "%s was not tried: %s\n", x.Name, x.Why)
	}
	r.values(b)
}

// otherOutput writes that a run printed something else.
func otherOutput(b *strings.Builder, name string) {
	fmt.Fprintf(b, "%s: the program printed something else than in the baseline; if that is not a time, its cycles are not comparable\n", name)
}

// values writes what is known of the values and the output of all runs.
func (r *Result) values(b *strings.Builder) {
	failed, same := 0, r.Printed
	ran := func(err string, sameOutput bool) {
		if err != "" {
			failed++
		} else {
			same = same && sameOutput
		}
	}
	for _, x := range r.Ideals {
		ran(x.Error, x.SameOutput)
	}
	if p := r.Pair; p != nil {
		ran(p.Error, p.SameOutput)
	}
	all, printed := "every run", ""
	if failed > 0 {
		all = fmt.Sprintf("all runs but %d", failed)
	}
	if same {
		printed = "; " + strings.Replace(all, "every run", "all runs", 1) + " printed the same"
	}
	if r.Checks > 0 {
		fmt.Fprintf(b, "values: %s passed %s%s\n", all, report.Plural(r.Checks, "check", "checks"), printed)
	} else {
		fmt.Fprintf(b, "values: the input has no checks%s\n", printed)
	}
}
