package findings_test

import (
	"context"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/internal/alltests"
	"github.com/heddle-sim/heddle/internal/work/job"
)

// This file: what the rules say of the examples, which was checked by hand. The second column of
// the document is generated; the others are a person's words about it.

const exampleDocs = "../../../docs/findings-examples.md"

// unchecked is the verdict of a row whose first finding has changed since it was checked.
const unchecked = "to be checked by hand"

// shortExamples are tried in every run of the tests.
var shortExamples = []string{"dp4a", "half2", "sass/dot", "sass/saxpy"}

// drift is how far shares may be from the document's (our choice): each change of a model's timing
// moves them a little, and changes no verdict.
const drift = 3 // per cent of the run

// cell is one finding in the document: a rule, its share of the run in per cent, and of the first
// one the line that costs most, "" if there is none.
type cell struct {
	rule  string
	share float64
	line  string
}

// firstFindings are the findings that the text report shows.
func firstFindings(t *testing.T, example string) []cell {
	t.Helper()
	ready, err := job.Load("../../../examples/"+file(example), job.Options{})
	if err != nil {
		t.Fatal(err)
	}
	res, err := ready.Run(context.Background(), job.Options{Timing: true, GPU: "rtx-a6000"})
	if err != nil || !res.OK {
		t.Fatalf("%s: %v, ok %v", example, err, res.OK)
	}
	var list []cell
	for _, f := range res.Findings[:min(3, len(res.Findings))] {
		c := cell{rule: strings.ReplaceAll(f.Rule, "-", " "), share: 100 * f.RunShare}
		if len(list) == 0 && len(f.Lines) > 0 {
			l := f.Lines[0]
			if c.line = fmt.Sprintf("%s:%d", filepath.Base(l.File), l.Line); l.SourceLine > 0 {
				c.line = fmt.Sprintf("%s:%d", filepath.Base(l.SourceFile), l.SourceLine)
			}
		}
		list = append(list, c)
	}
	return list
}

// file is the job of an example: its own folder's, or one of a folder.
func file(example string) string {
	if strings.Contains(example, "/") {
		return example + ".toml"
	}
	return example + "/" + example + ".toml"
}

func (c cell) String() string {
	text := fmt.Sprintf("%s %.0f %%", c.rule, c.share)
	if c.line != "" {
		text += " (" + c.line + ")"
	}
	return text
}

// written is the document's form of findings.
func written(list []cell) string {
	var texts []string
	for _, c := range list {
		texts = append(texts, c.String())
	}
	return strings.Join(texts, ", ")
}

// parsed reads that form.
func parsed(t *testing.T, text string) []cell {
	t.Helper()
	var list []cell
	for one := range strings.SplitSeq(text, ", ") {
		one, line, _ := strings.Cut(strings.TrimSuffix(one, ")"), " (")
		at := strings.LastIndex(strings.TrimSuffix(one, " %"), " ")
		c := cell{line: line}
		if _, err := fmt.Sscanf(one[at+1:], "%f %%", &c.share); at < 0 || err != nil {
			t.Fatalf("%s: %q is not findings with shares in per cent; run with -update", exampleDocs, text)
		}
		c.rule = one[:at]
		list = append(list, c)
	}
	return list
}

// alike says how findings differ from those of the document; "" if they do not.
func alike(got, want []cell) string {
	if len(got) != len(want) {
		return fmt.Sprintf("%d findings, not %d", len(got), len(want))
	}
	left := slices.Clone(want)
	for i, c := range got {
		at := slices.IndexFunc(left, func(x cell) bool { return x.rule == c.rule && x.line == c.line })
		switch {
		case at < 0 && i == 0:
			return fmt.Sprintf("the first finding is %s, not %s", c, want[0])
		case at < 0 && c.share-want[len(want)-1].share > drift:
			return fmt.Sprintf("%s is new", c)
		case at >= 0 && math.Abs(c.share-left[at].share) > drift:
			return fmt.Sprintf("%s, not %.0f %%", c, left[at].share)
		case at >= 0:
			left = slices.Delete(left, at, at+1)
		}
	}
	return ""
}

// TestExampleFindings holds the document's findings of the examples against what the rules say
// now, and wants a verdict for each. With -update it writes them; a row whose first finding is
// another one loses its verdict.
func TestExampleFindings(t *testing.T) {
	alltests.Only(t, "findings of the examples")
	text, err := os.ReadFile(exampleDocs)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(text), "\n")
	rows := map[string]int{}
	for i, l := range lines {
		if cells := strings.Split(l, " | "); len(cells) == 4 && strings.HasPrefix(l, "| ") && !strings.HasPrefix(l, "| example") && !strings.HasPrefix(l, "| ---") {
			rows[strings.TrimPrefix(cells[0], "| ")] = i
		}
	}
	if len(rows) < 52 {
		t.Fatalf("%s has %d examples, want 52 or more", exampleDocs, len(rows))
	}
	for _, example := range slices.Sorted(maps.Keys(rows)) {
		if !*update && !alltests.On() && !slices.Contains(shortExamples, example) {
			continue
		}
		t.Run(example, func(t *testing.T) {
			line := &lines[rows[example]]
			cells := strings.Split(*line, " | ")
			got := firstFindings(t, example)
			if *update {
				if !strings.HasPrefix(cells[1], got[0].rule+" ") {
					cells[3] = unchecked + " |"
				}
				cells[1] = written(got)
				*line = strings.Join(cells, " | ")
			}
			if why := alike(got, parsed(t, cells[1])); why != "" {
				t.Errorf("%s: %s has %q, the rules say %q: %s; run go test ./internal/report/findings -update, and check by hand what has changed", example, exampleDocs, cells[1], written(got), why)
			}
			if verdict := strings.TrimSuffix(cells[3], " |"); verdict == "" || verdict == unchecked {
				t.Errorf("%s: the findings %s have no verdict; compare them with the source and the result", example, cells[1])
			}
		})
	}
	if *update {
		if err := os.WriteFile(exampleDocs, []byte(strings.Join(lines, "\n")), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for _, file := range examplesOf(t) {
		if _, ok := rows[file]; !ok && !slices.Contains(notJudged, file) {
			t.Errorf("%s has no row for the example %s", exampleDocs, file)
		}
	}
}

// notJudged are examples that the document leaves out: each shows one effect on purpose (learn), or is
// a benchmark of others.
var notJudged = []string{"polybench/empty", "polybench/ffma", "polybench/gemm"}

// examplesOf are the names of the examples that count cycles on a GPU, as the document has them.
func examplesOf(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("../../../examples/*/*.toml")
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for _, f := range files {
		name := strings.TrimSuffix(strings.TrimPrefix(filepath.ToSlash(f), "../../../examples/"), ".toml")
		if dir, base, _ := strings.Cut(name, "/"); dir == base {
			name = base
		}
		if !job.IsKepler(f) && !strings.HasPrefix(name, "learn/") {
			list = append(list, name)
		}
	}
	return list
}
