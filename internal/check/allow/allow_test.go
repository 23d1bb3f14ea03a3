package allow_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/internal/check"
	"github.com/heddle-sim/heddle/internal/check/allow"
	"github.com/heddle-sim/heddle/internal/check/output"
)

// at is a race at a line of a file.
func at(file string, line int) *check.Finding {
	return &check.Finding{
		Rule: &check.Rule{ID: "race-global-interblock"}, Level: check.Error, Message: "m", Kernel: "sum<int>",
		Steps: []check.Step{{Role: check.First, Place: check.Place{File: file, Line: line, Function: "sum"}}},
	}
}

func write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestComments: a comment allows the rules that it names, in its line, or in the next one if it
// stands alone.
func TestComments(t *testing.T) {
	for _, c := range []struct {
		name, text string
		allowed    bool
	}{
		{"in the line", "\nx++; // heddle:allow race-global-interblock\n", true},
		{"one of several, with a reason", "\nx++; // heddle:allow leak, race-*: only a counter\n", true},
		{"in the line above", "// heddle:allow race-global-interblock\nx++;\n", true},
		{"after code in the line above", "y++; // heddle:allow race-global-interblock\nx++;\n", false},
		{"another rule", "\nx++; // heddle:allow leak\n", false},
		{"no rule", "\nx++; // heddle:allow\n", false},
		{"in the line below", "\nx++;\n// heddle:allow race-*\n", false},
		{"none", "\nx++;\n", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			kept, out := new(allow.List).Keep([]*check.Finding{at(write(t, "a.cu", c.text), 2)}, &output.Sources{})
			if (len(kept) == 0) != c.allowed || (out.Allowed == 1) != c.allowed {
				t.Errorf("%d kept, %+v", len(kept), out)
			}
		})
	}
}

// TestBadComments: a comment at a finding that names no rule is pointed out.
func TestBadComments(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"none", "x++; // heddle:allow\n", "a.cu:1: heddle:allow has no rule; want // heddle:allow RULE"},
		{"misspelt", "x++; // heddle:allow race-glbal-interblock\n", `a.cu:1: there is no rule "race-glbal-interblock"; did you mean "race-global-interblock"?`},
		{"another one's", "x++; // heddle:allow leak\n", ""},
		{"right", "x++; // heddle:allow race-*\n", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := at(write(t, "a.cu", c.text), 1)
			_, out := (&allow.List{Rules: []string{"leak", "race-global-interblock"}}).Keep([]*check.Finding{f, f}, &output.Sources{})
			if got := strings.Join(out.Wrong, "\n"); !strings.Contains(got, c.want) || (got == "") != (c.want == "") || len(out.Wrong) > 1 {
				t.Errorf("%q, want %q once", got, c.want)
			}
		})
	}
}

// TestReadFile: every key that is set must match.
func TestReadFile(t *testing.T) {
	for _, c := range []struct {
		name, text string
		allowed    bool
	}{
		{"a rule", "[[allow]]\nrule = \"race-global-*\"\nreason = \"known\"", true},
		{"another rule", "[[allow]]\nrule = \"leak\"", false},
		{"a file by its name", "[[allow]]\nfile = \"a.cu\"", true},
		{"a file by its folder", "[[allow]]\nfile = \"src/*.cu\"", true},
		{"another folder", "[[allow]]\nfile = \"lib/*.cu\"", false},
		{"a kernel", "[[allow]]\nkernel = \"sum*\"", true},
		{"a kernel and another rule", "[[allow]]\nkernel = \"sum*\"\nrule = \"leak\"", false},
		{"the second entry", "[[allow]]\nrule = \"leak\"\n[[allow]]\nrule = \"race-*\"", true},
		{"nothing", "", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			var l allow.List
			if err := l.ReadFile(write(t, "allow.toml", c.text)); err != nil {
				t.Fatal(err)
			}
			if kept, _ := l.Keep([]*check.Finding{at("/home/me/src/a.cu", 2)}, &output.Sources{}); (len(kept) == 0) != c.allowed {
				t.Errorf("%d kept", len(kept))
			}
		})
	}
}

// TestBadFiles: what is wrong with a file is said.
func TestBadFiles(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"no TOML", "[[allow]\n", "allow.toml:2: expected"},
		{"an unknown key", "[[allow]]\nrul = \"leak\"", "allow.rul is not known"},
		{"an entry for everything", "[[allow]]\nreason = \"all\"", "would allow everything"},
		{"a pattern", "[[allow]]\nrule = \"[\"", "is not closed"},
		{"another type", "[[allow]]\nrule = 5", "allow.toml: line 2"},
		{"another table", "[allow]\nrule = \"leak\"", "want [[allow]] tables"},
		{"a rule that there is not", "[[allow]]\nrule = \"leek\"", `there is no rule "leek"; did you mean "leak"?`},
		{"a pattern of no rule", "[[allow]]\nrule = \"race-glbal-*\"", `there is no rule "race-glbal-*"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			if err := (&allow.List{Rules: []string{"leak", "race-global-interblock"}}).ReadFile(write(t, "allow.toml", c.text)); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
	if err := new(allow.List).ReadBaseline(write(t, "b.json", "[]")); err == nil || !strings.Contains(err.Error(), "--write-baseline") {
		t.Error(err)
	}
}

// TestBaseline: what a baseline holds is not reported again, also when lines have moved; what
// is new is.
func TestBaseline(t *testing.T) {
	file := filepath.Join(t.TempDir(), "base.json")
	old := write(t, "a.cu", "x++;\ny++;\n")
	if err := allow.WriteBaseline(file, []*check.Finding{at(old, 1)}, &output.Sources{}); err != nil {
		t.Fatal(err)
	}
	var l allow.List
	if err := l.ReadBaseline(file); err != nil {
		t.Fatal(err)
	}
	now := write(t, "a.cu", "\n\nx++;\ny++;\n")
	kept, out := l.Keep([]*check.Finding{at(now, 3), at(now, 4)}, &output.Sources{})
	if len(kept) != 1 || kept[0].At().Line != 4 || out.Baseline != 1 || out.String() != "1 in the baseline" {
		t.Errorf("%d kept, %+v", len(kept), out)
	}
}
