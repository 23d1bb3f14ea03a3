package output_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/owenrumney/go-sarif/v3/pkg/report/v210/sarif"

	"github.com/heddle-sim/heddle/internal/check"
	"github.com/heddle-sim/heddle/internal/check/output"
)

// valid validates a SARIF log by the official schema and returns it.
func valid(t *testing.T, b []byte) *sarif.Report {
	t.Helper()
	r, err := sarif.FromBytes(b, sarif.WithStrictValidation())
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Validate(); err != nil {
		t.Fatal(err)
	}
	return r
}

// repository is a folder with .git and the findings' sources in src.
func repository(t *testing.T) (dir string, src *output.Sources) {
	t.Helper()
	dir = t.TempDir()
	for _, d := range []string{".git", "src"} {
		if err := os.Mkdir(filepath.Join(dir, d), 0o777); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(filepath.Join(sources(t), "sum.cu"))
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "src", "sum.cu"), text, 0o666)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "src", "main.cu"), bytes.Repeat([]byte("run();\n"), 40), 0o666)
	}
	if err != nil {
		t.Fatal(err)
	}
	return dir, &output.Sources{Roots: []string{dir}}
}

// TestWriteSARIF: rules, places, related places, both threads' ways, counts and fingerprints,
// valid by the schema.
func TestWriteSARIF(t *testing.T) {
	for name, list := range map[string][]*check.Finding{"none": nil, "some": findings()} {
		t.Run(name, func(t *testing.T) {
			dir, src := repository(t)
			var b bytes.Buffer
			if err := output.WriteSARIF(&b, list, src, dir, "0.1.0"); err != nil {
				t.Fatal(err)
			}
			valid(t, b.Bytes())
			golden(t, name+".sarif", b.Bytes())
		})
	}
}

// TestPrimary: a result is shown at a line of the repository, if there is one.
func TestPrimary(t *testing.T) {
	dir, src := repository(t)
	user := check.Place{File: "src/sum.cu", Line: 12}
	header := check.Place{File: "/usr/lib/clang/19/include/__clang_cuda_intrinsics.h", Line: 173, Library: true}
	outside := check.Place{File: "/opt/other/lib.cuh", Line: 5}
	const here, there = "src/sum.cu", "file:///opt/other/lib.cuh"
	for _, c := range []struct {
		name  string
		steps []check.Step
		want  string // "": no location
	}{
		{"the program's line", []check.Step{{Place: user}}, here},
		{"the caller of a header", []check.Step{{Place: header, Chain: []check.Place{user}}}, here},
		{"the other access", []check.Step{{Place: header}, {Place: user}}, here},
		{"rather than a file outside", []check.Step{{Place: outside}, {Place: user}}, here},
		{"a file outside", []check.Step{{Place: outside}}, there},
		{"only a header", []check.Step{{Place: header}}, ""},
		{"no lines", []check.Step{{Place: check.Place{Function: "k", PC: 3}}}, ""},
		{"no places", nil, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			var b bytes.Buffer
			if err := output.WriteSARIF(&b, []*check.Finding{{Rule: race, Message: "m", Steps: c.steps}}, src, dir, "0.1.0"); err != nil {
				t.Fatal(err)
			}
			got := ""
			for _, l := range valid(t, b.Bytes()).Runs[0].Results[0].Locations {
				got = *l.PhysicalLocation.ArtifactLocation.URI
			}
			if got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

// TestManyResults: what GitHub would not take is left out, and counted.
func TestManyResults(t *testing.T) {
	list := make([]*check.Finding, 25_003)
	for i := range list {
		list[i] = &check.Finding{Rule: leak, Message: "m"}
	}
	var b bytes.Buffer
	if err := output.WriteSARIF(&b, list, &output.Sources{}, t.TempDir(), "0.1.0"); err != nil {
		t.Fatal(err)
	}
	r, err := sarif.FromBytes(b.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	if n, left := len(r.Runs[0].Results), r.Runs[0].Properties.Properties["leftOut"]; n != 25_000 || left != 3.0 {
		t.Errorf("%d results, %v left out", n, left)
	}
}

// TestFingerprint: it stays when lines move and the folder is another, and tells lines and
// rules apart.
func TestFingerprint(t *testing.T) {
	write := func(text string) *output.Sources {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "sum.cu"), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		return &output.Sources{Roots: []string{dir}}
	}
	at := func(rule *check.Rule, file string, line int) *check.Finding {
		return &check.Finding{Rule: rule, Steps: []check.Step{{Role: check.First, Place: check.Place{File: file, Line: line, Function: "k"}}}}
	}
	with := func(f *check.Finding, line int) *check.Finding {
		f.Steps = append(f.Steps, check.Step{Role: check.Other, Place: check.Place{File: "/a/sum.cu", Line: line, Function: "k"}})
		return f
	}
	first := output.Fingerprint(at(race, "/a/sum.cu", 1), write("x = 1;\ny = 2;\n"))
	for _, c := range []struct {
		name string
		f    *check.Finding
		text string
		same bool
	}{
		{"other blanks between words", at(race, "b/sum.cu", 3), "\n\n\t x  =\t1;\n", true},
		{"moved", at(race, "b/sum.cu", 3), "\n\n\tx = 1;\n", true},
		{"another line", at(race, "/a/sum.cu", 2), "x = 1;\ny = 2;\n", false},
		{"another rule", at(leak, "/a/sum.cu", 1), "x = 1;\n", false},
		{"with another access", with(at(race, "/a/sum.cu", 1), 2), "x = 1;\ny = 2;\n", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := output.Fingerprint(c.f, write(c.text)); (got == first) != c.same {
				t.Errorf("%s and %s", got, first)
			}
		})
	}
}

// TestFingerprintOfRace: it does not matter which access of a race came first.
func TestFingerprintOfRace(t *testing.T) {
	of := func(rule *check.Rule, first, other int) string {
		f := &check.Finding{Rule: rule}
		for i, line := range []int{first, other} {
			f.Steps = append(f.Steps, check.Step{Role: []check.Role{check.First, check.Other}[i], Place: check.Place{File: "sum.cu", Line: line, Function: "k"}})
		}
		return output.Fingerprint(f, &output.Sources{})
	}
	if of(race, 1, 2) != of(race, 2, 1) || of(race, 1, 2) == of(race, 1, 3) {
		t.Error("a race that came the other way round has another fingerprint, or one at other lines the same")
	}
	if of(leak, 1, 2) == of(leak, 2, 1) {
		t.Error("a read and its use are the same as the reverse")
	}
}

// TestRepository: the nearest folder with .git, else the folder itself.
func TestRepository(t *testing.T) {
	dir, _ := repository(t)
	if got := output.Repository(filepath.Join(dir, "src")); got != dir {
		t.Errorf("%s, want %s", got, dir)
	}
	if alone := t.TempDir(); !strings.HasPrefix(alone, output.Repository(alone)) {
		t.Errorf("%s for %s", output.Repository(alone), alone)
	}
}
