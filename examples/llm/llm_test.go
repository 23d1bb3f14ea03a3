// Package llm runs the language model of this folder; its README says what it shows.
package llm

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/internal/alltests"
)

// TestLLM runs run.sh, which compares the logits of CPU and simulated GPU, functionally and
// in timing mode.
func TestLLM(t *testing.T) {
	alltests.Only(t, "a language model, a download of 265 MB")
	for _, tool := range []string{"bash", "npm", "node"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("%s not found", tool)
		}
	}
	heddle := filepath.Join(t.TempDir(), "heddle")
	if out, err := exec.Command("go", "build", "-o", heddle, "../../cmd/heddle").CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	cmd := exec.Command("bash", "run.sh")
	cmd.Env = append(os.Environ(), "HEDDLE="+heddle)
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit) && exit.ExitCode() == 77: // the packages cannot be had
		t.Skip(strings.TrimSpace(string(out)))
	case err != nil:
		t.Fatalf("run.sh: %v\n%s", err, out)
	}
	for _, want := range []string{"32 of 32 tokens are the same", "1 of 1 tokens are the same", "mul_mat_q", "flash_attn_ext_f16", "what warps did"} {
		if !strings.Contains(string(out), want) {
			t.Errorf("the output lacks %q:\n%s", want, out)
		}
	}
}
