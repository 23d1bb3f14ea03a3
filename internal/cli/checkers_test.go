package cli

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/heddle-sim/heddle/internal/alltests"
	"github.com/heddle-sim/heddle/internal/work/cuda/sdk"
)

// knownMisses are labelled cases that come to something else today, and why.
var knownMisses = map[string]string{
	"bulk/proxy_no_fence":   "proxies count as one",
	"scopes/relay_relaxed":  "cuda::atomic of heddle cc stores with release as a fence and a relaxed store, and that fence acquires too: the PTX has no race",
	"streams/managed_hasty": "what the host does to managed memory is not seen",
}

// oldMisses are those that come out right from a version of clang on.
var oldMisses = map[string]struct {
	reason string
	until  int // the first version of clang
}{
	"leaks/heap_some": {"the operator new of clang's header is inlined, and clang does not write down into which line", 22},
}

// missed returns why a version of clang lets a case come to something else, or "".
func (c *checkedCase) missed(clang int) string {
	if old := oldMisses[c.name]; clang < old.until {
		return old.reason
	}
	return knownMisses[c.name]
}

// someChecked are the cases that run by default.
var someChecked = []string{"shared/turn_plain", "shared/turn_barrier", "shared/tree_lockstep", "shared/tree_meet", "sync/branches_lanes", "sync/branches_warps"}

// label is what a comment in a program says of a case.
type label struct {
	kind, rule string // BUG, ALSO or CLEAN; the rule of the first two
	line       int
}

// checkedCase is a case of a program in testdata/checkers, which says what its labels mean.
type checkedCase struct {
	name   string // of the program and of the case: shared/turn_plain
	labels []label
}

// buggy reports whether something must be found.
func (c *checkedCase) buggy() bool {
	return slices.ContainsFunc(c.labels, func(l label) bool { return l.kind == "BUG" })
}

// checkedProgram is a program in testdata/checkers.
type checkedProgram struct {
	name, file string
	flags      []string // of heddle cc, from a comment
	options    []string // of heddle check, from another
	cases      []*checkedCase
	notes      bool // notes count: the program is about hints, which are no more
}

var (
	caseLine  = regexp.MustCompile(`(?m)^CASE\((\w+)\)`)
	labelText = regexp.MustCompile(`\b(BUG|ALSO) (\w+): ([a-z-]+)|\b(CLEAN) (\w+)`)
	flagsLine = regexp.MustCompile(`^// heddle (cc|check) (.*)`)
)

// readChecked reads the labels of a program.
func readChecked(t *testing.T, file string) *checkedProgram {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	p := &checkedProgram{name: strings.TrimSuffix(filepath.Base(file), ".cu"), file: file}
	by := map[string]*checkedCase{}
	for _, m := range caseLine.FindAllSubmatch(b, -1) {
		c := &checkedCase{name: p.name + "/" + string(m[1])}
		p.cases, by[string(m[1])] = append(p.cases, c), c
	}
	for i, line := range strings.Split(string(b), "\n") {
		if m := flagsLine.FindStringSubmatch(line); m != nil {
			if m[1] == "cc" {
				p.flags = strings.Fields(m[2])
			} else {
				p.options = strings.Fields(m[2])
				p.notes = slices.Contains(p.options, "perf")
			}
		}
		_, comment, _ := strings.Cut(line, "//")
		for _, m := range labelText.FindAllStringSubmatch(comment, -1) {
			c := by[m[2]+m[5]]
			if c == nil {
				t.Errorf("%s:%d: there is no case %s", file, i+1, m[2]+m[5])
				continue
			}
			c.labels = append(c.labels, label{kind: m[1] + m[4], rule: m[3], line: i + 1})
		}
	}
	for _, c := range p.cases {
		clean := slices.ContainsFunc(c.labels, func(l label) bool { return l.kind == "CLEAN" })
		if clean == c.buggy() || clean && len(c.labels) > 1 {
			t.Errorf("%s: want either BUG labels or one CLEAN", c.name)
		}
	}
	return p
}

// seen is a finding as heddle check --json writes it.
type seen struct {
	Rule, Level, Message string
	Steps                []struct {
		File string
		Line int
	}
}

// at reports whether a step of the finding is at a line of the program.
func (s *seen) at(file string, line int) bool {
	for _, x := range s.Steps {
		if x.Line == line && filepath.Base(x.File) == filepath.Base(file) {
			return true
		}
	}
	return false
}

// verdict is what was found of a case, against its labels.
type verdict struct {
	found, lines bool // a finding of each rule; all of them at their lines
	silent       bool // no error and no warning
	wrong        []string
}

// judge compares findings with the labels of a case.
func (c *checkedCase) judge(p *checkedProgram, all []seen) verdict {
	v := verdict{found: true, lines: true, silent: true}
	known := map[string]bool{}
	for _, l := range c.labels {
		known[l.rule] = true
		if l.kind != "BUG" {
			continue
		}
		if !slices.ContainsFunc(all, func(s seen) bool { return s.Rule == l.rule }) {
			v.found = false
		}
		if !slices.ContainsFunc(all, func(s seen) bool { return s.Rule == l.rule && s.at(p.file, l.line) }) {
			v.lines = false
			v.wrong = append(v.wrong, fmt.Sprintf("no %s at line %d", l.rule, l.line))
		}
	}
	for _, s := range all {
		if !p.counts(s) {
			continue
		}
		v.silent = false
		if !known[s.Rule] {
			v.wrong = append(v.wrong, fmt.Sprintf("%s %s at %v: %s", s.Level, s.Rule, s.Steps, s.Message))
		}
	}
	return v
}

// counts reports whether nothing may be found of the kind in a clean case.
func (p *checkedProgram) counts(s seen) bool { return s.Level != "note" || p.notes }

// run runs cases in one process, and returns what was found, the exit code and the output.
func (p *checkedProgram) run(t *testing.T, env []string, program string, cases ...*checkedCase) (all []seen, code int, out []byte) {
	t.Helper()
	found := filepath.Join(t.TempDir(), "found.json")
	args := slices.Concat([]string{"check", "--json", found}, p.options, []string{"--", program})
	for _, c := range cases {
		_, name, _ := strings.Cut(c.name, "/")
		args = append(args, name)
	}
	cmd := exec.Command("heddle", args...)
	cmd.Env = env
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	b, err := os.ReadFile(found)
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var doc struct{ Findings []seen }
	if err := json.Unmarshal(b, &doc); err != nil {
		t.Fatal(err)
	}
	return doc.Findings, cmd.ProcessState.ExitCode(), out
}

// build compiles the program, once for all tests.
func (p *checkedProgram) build(t *testing.T, env []string) string {
	t.Helper()
	dir, err := testCache()
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(dir, "checked-"+p.name)
	if _, err := os.Stat(program); err == nil {
		return program
	}
	cmd := exec.Command("heddle", slices.Concat([]string{"cc", "-g", "-O1"}, p.flags, []string{p.file, "-o", program})...)
	cmd.Env = env
	switch out, err := cmd.CombinedOutput(); {
	case strings.Contains(string(out), "unsupported CUDA gpu architecture"):
		t.Skipf("the compiler is too old: %s", out)
	case err != nil || len(out) > 0:
		t.Fatalf("heddle cc: %v\n%s", err, out)
	}
	return program
}

// verdicts runs cases: those with a bug one by one, the clean ones together unless something
// is found in them.
func (p *checkedProgram) verdicts(t *testing.T, env []string, program string, cases []*checkedCase) []verdict {
	t.Helper()
	clean := slices.DeleteFunc(slices.Clone(cases), (*checkedCase).buggy)
	all, code, _ := p.run(t, env, program, clean...)
	together := code == 0 && !slices.ContainsFunc(all, p.counts)
	var list []verdict
	for _, c := range cases {
		if !c.buggy() && together {
			list = append(list, c.judge(p, all))
			continue
		}
		found, code, out := p.run(t, env, program, c)
		v := c.judge(p, found)
		if v.silent && code != 0 {
			v.wrong = append(v.wrong, fmt.Sprintf("exit code %d: %s", code, out))
		}
		list = append(list, v)
	}
	return list
}

// tally counts the cases of a program.
type tally struct{ buggy, found, lines, clean, silent, known int }

func (n *tally) add(c *checkedCase, v verdict, missed string) {
	count := func(p *int, yes bool) {
		if yes {
			*p++
		}
	}
	count(&n.buggy, c.buggy())
	count(&n.found, c.buggy() && v.found)
	count(&n.lines, c.buggy() && v.lines)
	count(&n.clean, !c.buggy())
	count(&n.silent, !c.buggy() && v.silent)
	count(&n.known, missed != "")
}

func (n tally) String() string {
	return fmt.Sprintf("found %3d of %3d, %3d with all lines; silent on %3d of %3d clean; %d known misses", n.found, n.buggy, n.lines, n.silent, n.clean, n.known)
}

// TestCheckerCases runs heddle check on the cases of testdata/checkers, small kernels with a
// bug of a known kind and their clean twins; by default on a few of them.
func TestCheckerCases(t *testing.T) {
	files, err := filepath.Glob("testdata/checkers/*.cu")
	if err != nil {
		t.Fatal(err)
	}
	var programs []*checkedProgram
	names := map[string]bool{}
	for _, file := range files {
		p := readChecked(t, file)
		programs = append(programs, p)
		for _, c := range p.cases {
			names[c.name] = true
		}
	}
	for _, name := range slices.Concat(slices.Collect(maps.Keys(knownMisses)), slices.Collect(maps.Keys(oldMisses)), someChecked) {
		if !names[name] {
			t.Errorf("there is no case %s", name)
		}
	}
	env := append(os.Environ(), cudaEnv(t)...)
	clang, err := sdk.FindClang(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	counts := map[string]*tally{}
	t.Run("programs", func(t *testing.T) {
		for _, p := range programs {
			cases := slices.DeleteFunc(slices.Clone(p.cases), func(c *checkedCase) bool { return !alltests.On() && !slices.Contains(someChecked, c.name) })
			if len(cases) == 0 {
				continue
			}
			n := &tally{}
			counts[p.name] = n
			t.Run(p.name, func(t *testing.T) {
				t.Parallel()
				program := p.build(t, env)
				for i, v := range p.verdicts(t, env, program, cases) {
					c := cases[i]
					mu.Lock()
					reason := c.missed(clang.Major)
					n.add(c, v, reason)
					mu.Unlock()
					switch {
					case reason == "" && len(v.wrong) > 0:
						t.Errorf("%s: %s", c.name, strings.Join(v.wrong, "; "))
					case reason != "" && len(v.wrong) == 0:
						t.Errorf("%s is right now: it is no known miss any more", c.name)
					case reason != "":
						t.Logf("known miss: %s: %s", c.name, reason)
					}
				}
			})
		}
	})
	var all tally
	for _, name := range slices.SortedFunc(maps.Keys(counts), cmp.Compare[string]) {
		n := counts[name]
		t.Logf("%-8s %v", name, n)
		all = tally{all.buggy + n.buggy, all.found + n.found, all.lines + n.lines, all.clean + n.clean, all.silent + n.silent, all.known + n.known}
	}
	t.Logf("%-8s %v", "all", all)
}
