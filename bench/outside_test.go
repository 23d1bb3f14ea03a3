package bench

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/internal/alltests"
)

// TestOutside runs outside.sh on a list of programs that end in every way, and again after
// one of them broke.
func TestOutside(t *testing.T) {
	alltests.Only(t, "a script that builds heddle")
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip("bash not found")
	}
	dir := t.TempDir()
	put := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	put("answer", "the answer is 42\n")
	put("list", strings.Join([]string{
		"# name, folder, build, run, what must appear",
		"right\t.\ttrue\theddle version >/dev/null && cat answer\tanswer is [0-9]+$",
		"silent\t.\ttrue\ttrue\tanswer",
		"fails\t.\ttrue\techo heddle: fault; exit 3\t",
		"slow\t.\t\tsleep 60\t",
		"broken\t.\techo 'x.cu:1: error: no'; false\tcat answer\tanswer",
		"absent\tnowhere\ttrue\ttrue\t",
		"built\t.\ttrue\t\t",
		"",
	}, "\n"))
	run := func(stage string) (string, int) {
		t.Helper()
		cmd := exec.Command("bash", "outside.sh", filepath.Join(dir, "list"), filepath.Join(dir, "table"))
		cmd.Env = append(os.Environ(), "RUN_LIMIT=1", "STAGE="+stage, "BUILD=", "RUN=")
		out, err := cmd.Output()
		var exit *exec.ExitError
		if err != nil && !errors.As(err, &exit) {
			t.Fatal(err)
		}
		return string(out), cmd.ProcessState.ExitCode()
	}
	table := func() string {
		t.Helper()
		b, err := os.ReadFile(filepath.Join(dir, "table"))
		if err != nil {
			t.Fatal(err)
		}
		var s strings.Builder
		for line := range strings.Lines(string(b)) {
			col := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
			if len(col) != 7 {
				t.Fatalf("%q has %d columns, want 7", line, len(col))
			}
			s.WriteString(strings.Join([]string{col[0], col[1], col[3], col[5], col[6]}, "|") + "\n") // without seconds
		}
		return s.String()
	}
	out, code := run("both")
	want := `name|build|run|check|why
absent|no folder|-|-|
broken|exit 1|-|-|x.cu:1: error: no
built|ok|-|-|
fails|ok|exit 3|-|heddle: fault
right|ok|ok|yes|
silent|ok|ok|no|
slow|-|time limit|-|
`
	if got := table(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if code != 0 || !strings.Contains(out, "7 programs: 4 built, 2 ran to their end, 1 checks hold, 1 do not\n") {
		t.Errorf("exit code %d: %s", code, out)
	}
	// Building alone keeps the outcomes of the runs.
	if out, code = run("build"); code != 0 || strings.Contains(out, "was") {
		t.Errorf("only built: exit code %d: %s", code, out)
	}
	if got := table(); got != want {
		t.Errorf("only built: got\n%s\nwant\n%s", got, want)
	}
	put("answer", "nothing\n")
	out, code = run("both")
	if code != 1 || !strings.Contains(out, "right: was ok, ok, yes; is ok, ok, no\n") {
		t.Errorf("a check that fails now: exit code %d: %s", code, out)
	}
	if out, code = run("both"); code != 0 || strings.Contains(out, "was") {
		t.Errorf("the same again: exit code %d: %s", code, out)
	}
}
