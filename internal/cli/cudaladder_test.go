package cli

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/internal/alltests"
	"github.com/heddle-sim/heddle/internal/report"
	"github.com/heddle-sim/heddle/internal/work/cuda/sdk"
)

// TestLadder: kernels whose arrays have constant indices after unrolling keep them
// in registers, with the oldest and the newest installed compiler, or with all of
// them if HEDDLE_ALL is set.
func TestLadder(t *testing.T) {
	alltests.Only(t, "the ladder of GEMMs, stencils and reductions")
	env := append(os.Environ(), cudaEnv(t)...)
	compilers := sdk.Installed(t.Context())
	if len(compilers) > 2 && !alltests.On() {
		compilers = []sdk.Clang{compilers[0], compilers[len(compilers)-1]}
	}
	for _, compiler := range compilers {
		for _, p := range []struct {
			name    string
			kernels int
		}{{"gemm", 7}, {"stencil", 2}, {"reduce", 2}} {
			t.Run(fmt.Sprintf("clang-%d/%s", compiler.Major, p.name), func(t *testing.T) {
				dir := t.TempDir()
				program, result := filepath.Join(dir, p.name), filepath.Join(dir, "result.json")
				for _, args := range [][]string{
					{"cc", "-arch=sm_80", "../../bench/ladder/" + p.name + ".cu", "-o", program},
					{"cuda", "--mode", "functional", "--quiet", "--json", result, "--", program},
				} {
					cmd := exec.Command("heddle", args...)
					cmd.Env = append(env, "HEDDLE_CLANG="+compiler.Path)
					if out, err := cmd.CombinedOutput(); err != nil {
						t.Fatalf("heddle %s: %v\n%s", strings.Join(args, " "), err, out)
					}
				}
				text, err := os.ReadFile(result)
				var res report.Run
				if err == nil {
					err = json.Unmarshal(text, &res)
				}
				if err != nil {
					t.Fatal(err)
				}
				if len(res.Kernels) != p.kernels {
					t.Errorf("%d launches, want %d", len(res.Kernels), p.kernels)
				}
				for _, k := range res.Kernels {
					if k.LocalBytes != 0 {
						t.Errorf("%s has %d bytes of local memory per thread", k.Name, k.LocalBytes)
					}
				}
			})
		}
	}
}
