// Package ggml compares the operations of ggml on the CPU and on a simulated GPU; run.sh
// says how to run it by hand.
package ggml

import (
	"errors"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/internal/alltests"
)

// missing is run.sh's exit code where the package cannot be had.
const missing = 77

// TestGGML runs every case functionally; every fiftieth also in timing mode on two GPUs,
// where its result has to be the same, bit for bit.
func TestGGML(t *testing.T) {
	alltests.Only(t, "ggml's CUDA backend, a download of 143 MB")
	for _, tool := range []string{"bash", "npm", "cc"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("%s not found", tool)
		}
	}
	heddle := filepath.Join(t.TempDir(), "heddle")
	if out, err := exec.Command("go", "build", "-o", heddle, "../../cmd/heddle").CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	compare := func(t *testing.T, gpu, mode string, args ...string) string {
		t.Helper()
		cmd := exec.Command("bash", append([]string{"run.sh"}, args...)...)
		cmd.Env = append(os.Environ(), "HEDDLE="+heddle, "GPU="+gpu, "MODE="+mode)
		var stderr strings.Builder
		cmd.Stderr = &stderr
		out, err := cmd.Output()
		var exit *exec.ExitError
		switch {
		case errors.As(err, &exit) && exit.ExitCode() == missing:
			t.Skip(strings.TrimSpace(stderr.String()))
		case err != nil:
			t.Errorf("run.sh: %v\n%s%s", err, grep(string(out), "WRONG|^[0-9]+ cases|: $"), stderr.String())
		}
		t.Logf("%s, %s: %s", gpu, mode, strings.TrimSpace(grep(string(out), "^[0-9]+ cases")))
		return string(out)
	}
	all := compare(t, "rtx-a6000", "functional")
	if m := regexp.MustCompile(`(?m)^(\d+) cases: (\d+) right, 0 wrong; 0 not supported`).FindStringSubmatch(all); m == nil || m[1] != m[2] || len(m[1]) < 4 {
		t.Error("want at least a thousand cases, all of them supported and right") // the backend declines what the GPU's properties do not allow
	}
	for _, gpu := range []string{"rtx-a6000", "h100-pcie"} {
		want := hashes(compare(t, gpu, "functional", "--hash", "--part", "7/50"))
		got := hashes(compare(t, gpu, "timing", "--hash", "--part", "7/50"))
		if len(want) < 20 || !maps.Equal(got, want) {
			t.Errorf("%s: in timing mode %v, functionally %v", gpu, got, want)
		}
	}
}

// grep returns the lines that match.
func grep(text, pattern string) string {
	match := regexp.MustCompile(pattern)
	var s strings.Builder
	for line := range strings.Lines(text) {
		if match.MatchString(strings.TrimSuffix(line, "\n")) {
			s.WriteString(line)
		}
	}
	return s.String()
}

// hashes returns the hash of the result of every case.
func hashes(out string) map[string]string {
	found := map[string]string{}
	for _, m := range regexp.MustCompile(`(?m)^(.*): error .*: (?:right|WRONG) ([0-9a-f]{16})$`).FindAllStringSubmatch(out, -1) {
		found[m[1]] = m[2]
	}
	return found
}
