package gpu_test

import (
	"path/filepath"
	"testing"

	"github.com/heddle-sim/heddle/internal/alltests"
	"github.com/heddle-sim/heddle/internal/work/job"
)

// TestSASSOnEveryCore runs the examples in SASS cycle by cycle: under their
// control bits, under scoreboards, and on the SIMT core. The values are those
// computed on the host, and the instruction counts those of a functional run.
func TestSASSOnEveryCore(t *testing.T) {
	alltests.Only(t, "machine code on every GPU")
	files, err := filepath.Glob("../../examples/sass/*.toml")
	if err != nil || len(files) < 5 {
		t.Fatalf("%d examples: %v", len(files), err)
	}
	for _, file := range alltests.Some(files, 2) {
		want := runJob(t, file, false, job.Options{})
		for _, x := range []struct {
			gpu, core string
			set       []string
		}{
			{gpu: "rtx-a6000"}, {gpu: "rtx-3080", set: []string{"modern.dependences=scoreboard"}}, {gpu: "rtx-5070-ti", core: "modern"},
			{gpu: "rtx-3070"}, {gpu: "rtx-3070", core: "modern"}, {gpu: "rtx-a6000", core: "simt"},
		} {
			o := job.Options{GPU: x.gpu}
			o.Settings.Core = x.core
			got := runJob(t, file, true, o, x.set...)
			if !got.OK {
				t.Errorf("%s, %+v: checks fail: %+v", file, x, got.Checks)
			}
			if got.WarpInstructions != want.WarpInstructions || got.ThreadInstructions != want.ThreadInstructions {
				t.Errorf("%s, %+v: %d warp and %d thread instructions, %d and %d in a functional run", file, x,
					got.WarpInstructions, got.ThreadInstructions, want.WarpInstructions, want.ThreadInstructions)
			}
			bits := len(got.Dependences) == 1 && got.Dependences[0].Mechanism == "control bits"
			if modern := got.Core == "modern"; modern && bits != (x.set == nil) || !modern && len(got.Dependences) != 0 {
				t.Errorf("%s, %+v: guarded by %+v", file, x, got.Dependences)
			}
			for i := range got.Kernels {
				balance(t, x.gpu, &got.Kernels[i])
			}
			balanceRun(t, x.gpu, got)
		}
	}
}
