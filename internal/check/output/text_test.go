package output_test

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/heddle-sim/heddle/internal/check"
	"github.com/heddle-sim/heddle/internal/check/output"
)

var update = flag.Bool("update", false, "write the golden files anew")

// golden compares bytes with a file under testdata.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), string(got)); d != "" {
		t.Errorf("%s: %s", path, d)
	}
}

// sources is a folder with the source files that the findings name.
func sources(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	text := bytes.Repeat([]byte("\n"), 9)
	text = append(text, "    s[threadIdx.x] = x;\n\n    float y = s[31 - threadIdx.x];\n"...)
	if err := os.WriteFile(filepath.Join(dir, "sum.cu"), text, 0o644); err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestWriteText: both places with their lines, callers, the launch, how often, how to mend it
// once for each rule, and a line that sums up. Lines of files that are not found are left out.
func TestWriteText(t *testing.T) {
	list := append(findings(), findings()[0])
	list[2].Cause, list[2].Order = "fence-missing", "seed=3"
	note := *list[1]
	note.Level, note.Steps = check.Note, []check.Step{{Role: check.First, Place: check.Place{Function: "k", PC: 3, Inst: "bar.sync 0"}}}
	var b bytes.Buffer
	if err := output.WriteText(&b, append(list, &note), &output.Sources{Roots: []string{sources(t)}}, []string{"races", "leaks"}); err != nil {
		t.Fatal(err)
	}
	golden(t, "text.golden", b.Bytes())
}

// TestSummary: levels are counted, and nothing found is said.
func TestSummary(t *testing.T) {
	for _, c := range []struct {
		name    string
		list    []*check.Finding
		checked []string
		want    string
	}{
		{"nothing", nil, []string{"races", "init"}, "heddle: nothing found (checked: races, init)"},
		{"no checkers", nil, nil, "heddle: nothing found"},
		{"some", append(findings(), findings()[0]), nil, "heddle: found 2 errors, 1 warning"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := output.Summary(c.list, c.checked); got != c.want {
				t.Errorf("%s\nwant %s", got, c.want)
			}
		})
	}
}

// TestWriteTextNotes: of many notes the first ten are written, and all others findings.
func TestWriteTextNotes(t *testing.T) {
	rule := &check.Rule{ID: "some-rule"}
	list := []*check.Finding{{Rule: rule, Level: check.Error, Message: "An error."}}
	for range 12 {
		list = append(list, &check.Finding{Rule: rule, Level: check.Note, Message: "A note."})
	}
	var b bytes.Buffer
	if err := output.WriteText(&b, list, &output.Sources{}, nil); err != nil {
		t.Fatal(err)
	}
	if n := bytes.Count(b.Bytes(), []byte("note: A note.")); n != 10 || !bytes.Contains(b.Bytes(), []byte("\nand 2 more notes; ")) || !bytes.Contains(b.Bytes(), []byte("heddle: found 1 error, 12 notes")) {
		t.Errorf("%d notes in:\n%s", n, b.String())
	}
}
