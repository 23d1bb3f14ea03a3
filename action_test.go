package heddle_test

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/heddle-sim/heddle/internal/alltests"
)

// action is what a test needs to know of action.yml.
type action struct {
	Inputs map[string]struct{ Default string }
	Runs   struct {
		Steps []struct {
			Name, ID, If, Shell, Uses, Run string
			Env, With                      map[string]string
		}
	}
}

// TestAction runs the steps of action.yml as a runner does, in an empty folder and with
// nothing but the variables that a runner sets; actions of others are not run, but what they
// are given must exist.
func TestAction(t *testing.T) {
	alltests.Only(t, "builds the program again")
	text, err := os.ReadFile("action.yml")
	if err != nil {
		t.Fatal(err)
	}
	var a action
	if err := yaml.Unmarshal(text, &a); err != nil {
		t.Fatal(err)
	}
	root, err := filepath.Abs(".")
	if err != nil {
		t.Fatal(err)
	}
	race, err := filepath.Abs("examples/learn/race.toml")
	if err != nil {
		t.Fatal(err)
	}
	clean, err := filepath.Abs("examples/vecadd/vecadd.toml")
	if err != nil {
		t.Fatal(err)
	}
	binary := filepath.Join(t.TempDir(), "heddle")
	for _, c := range []struct {
		name    string
		inputs  map[string]string
		code    string
		sends   []string // actions of others that would run
		prints  string
		covered bool
	}{
		{"built from source, a race", map[string]string{"program": race, "coverage": "true"}, "1", []string{"github/codeql-action/upload-sarif", "actions/upload-artifact"}, "[race-global-intrablock]", true},
		{"a built one, nothing found", map[string]string{"program": clean, "options": "--orders 2", "binary": binary}, "0", []string{"github/codeql-action/upload-sarif"}, "nothing found", false},
		{"a command", map[string]string{"program": "true 'a b'", "binary": binary}, "2", nil, "nothing was checked", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRunner(t, root)
			old := filepath.Join(r.temp, "heddle", "findings.sarif") // of an earlier step of the job: not sent again
			if err := errors.Join(os.Mkdir(filepath.Dir(old), 0o777), os.WriteFile(old, nil, 0o666)); err != nil {
				t.Fatal(err)
			}
			inputs := map[string]string{}
			for name, in := range a.Inputs {
				inputs[name] = in.Default
			}
			for name, v := range c.inputs {
				if _, ok := a.Inputs[name]; !ok {
					t.Fatalf("action.yml has no input %s", name)
				}
				inputs[name] = v
			}
			var sent []string
			failed := false
			for _, s := range a.Runs.Steps {
				if s.If != "" && r.value(s.If, inputs) != "true" {
					continue
				}
				if s.Uses != "" {
					name, _, _ := strings.Cut(s.Uses, "@")
					sent = append(sent, name)
					for _, key := range []string{"sarif_file", "path"} {
						if v, ok := s.With[key]; ok {
							if _, err := os.Stat(r.expand(v, inputs)); err != nil {
								t.Errorf("%s: %v", s.Name, err)
							}
						}
					}
					continue
				}
				if s.Shell != "bash" {
					t.Fatalf("%s: a step of a composite action needs a shell", s.Name)
				}
				env := map[string]string{}
				for k, v := range s.Env {
					env[k] = r.expand(v, inputs)
				}
				failed = !r.run(s.Run, s.ID, env)
			}
			if got := r.outputs["check.exit-code"]; got != c.code || failed != (c.code != "0") {
				t.Errorf("exit code %s, last step failed: %v; want %s\n%s", got, failed, c.code, r.log.String())
			}
			if strings.Join(sent, " ") != strings.Join(c.sends, " ") {
				t.Errorf("actions that would run: %v, want %v", sent, c.sends)
			}
			if !strings.Contains(r.log.String(), c.prints) {
				t.Errorf("no %q in:\n%s", c.prints, r.log.String())
			}
			if (r.outputs["check.coverage"] != "") != c.covered {
				t.Errorf("coverage %q", r.outputs["check.coverage"])
			}
			if inputs["binary"] == "" { // the next cases take what this one has built
				b, err := os.ReadFile(filepath.Join(r.temp, "heddle/bin/heddle"))
				if err == nil {
					err = os.WriteFile(binary, b, 0o755)
				}
				if err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// runner runs steps as GitHub's runner does.
type runner struct {
	t                *testing.T
	root, temp, work string
	path             string
	outputs          map[string]string // step.name
	log              bytes.Buffer
}

func newRunner(t *testing.T, root string) *runner {
	return &runner{t: t, root: root, temp: t.TempDir(), work: t.TempDir(), path: os.Getenv("PATH"), outputs: map[string]string{}}
}

var (
	expression = regexp.MustCompile(`\$\{\{ *([^}]*?) *\}\}`)
	name       = regexp.MustCompile(`(inputs|steps)\.([a-z]+)(?:\.outputs\.([a-z-]+))?`)
)

// expand replaces the expressions of a text.
func (r *runner) expand(text string, inputs map[string]string) string {
	return expression.ReplaceAllStringFunc(text, func(s string) string {
		return r.named(expression.FindStringSubmatch(s)[1], inputs)
	})
}

func (r *runner) named(s string, inputs map[string]string) string {
	m := name.FindStringSubmatch(s)
	if m == nil || m[0] != s {
		r.t.Fatalf("this test does not know the expression %q", s)
	}
	if m[1] == "steps" {
		return r.outputs[m[2]+"."+m[3]]
	}
	v, ok := inputs[m[2]]
	if !ok {
		r.t.Fatalf("%s: no such input", s)
	}
	return v
}

// value is the value of a condition: comparisons with text, joined by &&.
func (r *runner) value(cond string, inputs map[string]string) string {
	for _, part := range strings.Split(cond, "&&") {
		left, right, ok := strings.Cut(part, "==")
		if !ok {
			r.t.Fatalf("this test does not know the condition %q", part)
		}
		if r.named(strings.TrimSpace(left), inputs) != strings.Trim(strings.TrimSpace(right), "'") {
			return "false"
		}
	}
	return "true"
}

// run runs a script, and reads what it gives later steps. It reports whether it succeeded.
func (r *runner) run(script, id string, env map[string]string) bool {
	files := map[string]string{"GITHUB_OUTPUT": filepath.Join(r.temp, "output"), "GITHUB_PATH": filepath.Join(r.temp, "path")}
	cmd := exec.Command("bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script)
	cmd.Dir = r.work
	cmd.Env = []string{"PATH=" + r.path, "HOME=" + r.temp, "RUNNER_TEMP=" + r.temp, "GITHUB_ACTION_PATH=" + r.root}
	for _, k := range []string{"GOCACHE", "GOMODCACHE", "GOPROXY", "GOFLAGS", "GONOSUMDB", "GOSUMDB", "GOTOOLCHAIN"} { // of setup-go
		if v, err := exec.Command("go", "env", k).Output(); err == nil {
			cmd.Env = append(cmd.Env, k+"="+strings.TrimSpace(string(v)))
		}
	}
	for k, file := range files {
		if err := os.WriteFile(file, nil, 0o666); err != nil {
			r.t.Fatal(err)
		}
		cmd.Env = append(cmd.Env, k+"="+file)
	}
	for k, v := range env {
		cmd.Env = append(cmd.Env, k+"="+v)
	}
	cmd.Stdout, cmd.Stderr = &r.log, &r.log
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		r.t.Fatal(err)
	}
	for k, file := range files {
		b, rerr := os.ReadFile(file)
		if rerr != nil {
			r.t.Fatal(rerr)
		}
		for line := range strings.Lines(string(b)) {
			line = strings.TrimSpace(line)
			if k == "GITHUB_PATH" {
				r.path = line + string(os.PathListSeparator) + r.path
			} else if n, v, ok := strings.Cut(line, "="); ok {
				r.outputs[id+"."+n] = v
			}
		}
	}
	return err == nil
}
