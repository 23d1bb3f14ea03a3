package job_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/heddle-sim/heddle/internal/alltests"
	"github.com/heddle-sim/heddle/internal/report"
	"github.com/heddle-sim/heddle/internal/run"
	"github.com/heddle-sim/heddle/internal/work/job"
)

// Results so far change nothing, grow, and add up.
func TestResultsSoFar(t *testing.T) {
	const examples = "../../../examples/"
	for _, c := range alltests.Some([]struct {
		name, file string
		threads    int
		core       string
	}{
		{"streams", examples + "streams/streams.toml", 1, "modern"},
		{"SIMT core", examples + "matmul/matmul.toml", 1, "simt"},
		{"modern core", examples + "matmul/matmul.toml", 1, "modern"},
		{"modern core, two workers", examples + "matmul/matmul.toml", 2, "modern"},
	}, 2) {
		t.Run(c.name, func(t *testing.T) {
			once := func(live func(func() *report.Run)) *report.Run {
				o := run.Options{Timing: true, Page: true, Threads: c.threads, Live: live}
				o.Settings.Core = c.core
				ready, err := job.Load(c.file, o)
				if err != nil {
					t.Fatal(err)
				}
				res, err := ready.Run(context.Background(), o)
				if err != nil {
					t.Fatal(err)
				}
				res.Seconds = 0
				return res
			}
			plain := once(nil)
			var last *report.Run
			n := 0
			watched := once(func(soFar func() *report.Run) {
				n++
				last = grown(t, last, soFar())
			})
			if d := cmp.Diff(text(t, plain), text(t, watched)); d != "" {
				t.Errorf("the result differs: %s", d)
			}
			if n == 0 {
				t.Fatal("no result so far")
			}
			grown(t, last, watched)
		})
	}
}

// grown finds that a result has at least what an earlier one has, and adds up.
func grown(t *testing.T, old, now *report.Run) *report.Run {
	t.Helper()
	var insts uint64
	for i := range now.Kernels {
		k := &now.Kernels[i]
		insts += k.WarpInstructions
		var states, lines uint64
		for _, n := range k.Stalls {
			states += n
		}
		for j := range k.Lines {
			lines += k.Lines[j].WarpCycles
		}
		if states != k.WarpCycles || lines != k.WarpCycles {
			t.Errorf("launch %d at cycle %d: states are %d warp cycles, lines %d, all %d", k.Launch, now.Cycles, states, lines, k.WarpCycles)
		}
	}
	if insts != now.WarpInstructions {
		t.Errorf("at cycle %d launches have %d warp instructions, the run %d", now.Cycles, insts, now.WarpInstructions)
	}
	if old == nil {
		return now
	}
	if now.Cycles < old.Cycles || now.WarpInstructions < old.WarpInstructions || len(now.Kernels) < len(old.Kernels) || len(now.History.End) < len(old.History.End)/2 {
		t.Errorf("cycle %d has less than cycle %d", now.Cycles, old.Cycles)
	}
	return now
}

func text(t *testing.T, r *report.Run) string {
	t.Helper()
	b, err := json.MarshalIndent(r, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
