package gpu_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/internal/config"
	"github.com/heddle-sim/heddle/internal/job"
	"github.com/heddle-sim/heddle/internal/report"
)

// quick are the examples that tests run in any case; with HEDDLE_ALL all are
// run, on every GPU, which takes minutes.
var quick = []string{
	"bitonic", "blackscholes", "compact", "convolution", "cp-async", "gaussian", "histogram", "mandelbrot",
	"mbarrier", "mma-gemm", "ntt", "sha256", "streams", "texref", "texture", "transpose",
}

func examples(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("../../examples/*/*.toml")
	if err != nil || len(files) == 0 {
		t.Fatal("no examples", err)
	}
	if os.Getenv("HEDDLE_ALL") != "" {
		return files
	}
	return slices.DeleteFunc(files, func(f string) bool {
		return !slices.Contains(quick, strings.TrimSuffix(filepath.Base(f), ".toml"))
	})
}

// run runs a job in a folder of its own, for jobs that write files.
func run(t *testing.T, file string, timing bool, o job.Options, set ...string) *report.Run {
	t.Helper()
	ready, err := job.Load(file)
	if err != nil {
		t.Fatal(err)
	}
	o.Timing = timing
	for _, s := range set {
		if err := o.Settings.Set(s); err != nil {
			t.Fatal(err)
		}
	}
	res, err := ready.Run(context.Background(), o)
	if err != nil {
		t.Fatalf("%s on %s: %v", file, o.GPU, err)
	}
	return res
}

// TestExamplesKeepTheirValues runs the examples cycle by cycle on the shipped
// GPUs: their checks hold, and as many instructions are executed as in a
// functional run if nothing depends on the order of blocks.
func TestExamplesKeepTheirValues(t *testing.T) {
	gpus := []string{"gtx-480", "rtx-a6000"}
	if os.Getenv("HEDDLE_ALL") != "" {
		gpus = config.Names()
	}
	// What a block does depends on what others have done before, or a warp asks
	// again until others have come.
	racing := map[string]bool{"mbarrier": true, "bfs": true, "gridsync": true, "kmeans": true, "lookback": true, "spinlock": true, "heap": true}
	for _, file := range examples(t) {
		name := strings.TrimSuffix(filepath.Base(file), ".toml")
		t.Run(name, func(t *testing.T) {
			want := run(t, file, false, job.Options{})
			for _, g := range gpus {
				got := run(t, file, true, job.Options{GPU: g})
				if !got.OK {
					t.Errorf("%s: checks fail: %+v", g, got.Checks)
				}
				if !racing[name] && (got.WarpInstructions != want.WarpInstructions || got.ThreadInstructions != want.ThreadInstructions) {
					t.Errorf("%s: %d warp and %d thread instructions, %d and %d in a functional run", g,
						got.WarpInstructions, got.ThreadInstructions, want.WarpInstructions, want.ThreadInstructions)
				}
				for _, k := range got.Kernels {
					balance(t, g, &k)
				}
			}
		})
	}
}

// balance tests what must add up in a launch's counters.
func balance(t *testing.T, gpu string, k *report.Kernel) {
	t.Helper()
	m := &k.Memory
	for name, c := range map[string]*report.Cache{"L1": &m.L1, "L1 const": &m.L1Const, "L1 texture": &m.L1Texture, "L1 inst": &m.L1Inst, "L2": &m.L2} {
		if c.Accesses != c.Hits+c.PendingHits+c.Misses {
			t.Errorf("%s, launch %d: %s: %d accesses are not %d hits, %d pending hits and %d misses", gpu, k.Launch, name, c.Accesses, c.Hits, c.PendingHits, c.Misses)
		}
	}
	var sum uint64
	for _, n := range k.Stalls {
		sum += n
	}
	if sum != k.WarpCycles || sum == 0 {
		t.Errorf("%s, launch %d: the states of warps add up to %d cycles of %d", gpu, k.Launch, sum, k.WarpCycles)
	}
	if k.Stalls["selected"] > k.WarpInstructions {
		t.Errorf("%s, launch %d: %d cycles with an issue, %d issues", gpu, k.Launch, k.Stalls["selected"], k.WarpInstructions)
	}
	if k.EndCycle-k.StartCycle != k.Cycles || k.FirstBlockCycle <= k.StartCycle || k.FirstBlockCycle >= k.EndCycle {
		t.Errorf("%s, launch %d: start %d, first block %d, end %d, cycles %d", gpu, k.Launch, k.StartCycle, k.FirstBlockCycle, k.EndCycle, k.Cycles)
	}
}

// json is a result without what may differ between runs.
func json(t *testing.T, r *report.Run) string {
	t.Helper()
	c := *r
	c.Seconds = 0
	var b bytes.Buffer
	if err := c.WriteJSON(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestOneResult runs examples with and without jumping over idle cycles, with
// different numbers of threads, and again: nothing in the result changes.
func TestOneResult(t *testing.T) {
	some := []string{"gaussian", "histogram", "mbarrier", "streams", "texture", "transpose"}
	for _, file := range examples(t) {
		if !slices.Contains(some, strings.TrimSuffix(filepath.Base(file), ".toml")) && os.Getenv("HEDDLE_ALL") == "" {
			continue
		}
		for _, g := range []string{"gtx-480", "v100"} {
			base := json(t, run(t, file, true, job.Options{GPU: g, Threads: 1}))
			for what, o := range map[string]struct {
				threads int
				set     string
			}{"again": {1, ""}, "without idle skip": {2, "run.idle_skip=false"}, "5 threads": {5, ""}} {
				var set []string
				if o.set != "" {
					set = append(set, o.set)
				}
				if got := json(t, run(t, file, true, job.Options{GPU: g, Threads: o.threads}, set...)); got != base {
					t.Errorf("%s on %s, %s: %s", file, g, what, firstDifference(base, got))
				}
			}
		}
	}
}

func firstDifference(a, b string) string {
	x, y := strings.Split(a, "\n"), strings.Split(b, "\n")
	for i := range min(len(x), len(y)) {
		if x[i] != y[i] {
			return x[i] + " is now " + y[i]
		}
	}
	return "one result is longer"
}
