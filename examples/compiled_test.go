package examples_test

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/heddle-sim/heddle/internal/alltests"
	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/program"
	"github.com/heddle-sim/heddle/internal/work/job"
)

// TestCompiled runs examples as machine code that is compiled of their PTX, each on one of the cores of two generations
// that obey its control bits, the short ones on both: all checks hold, and the hazard checker finds nothing.
func TestCompiled(t *testing.T) {
	names := []string{"spinlock", "sha256"}
	if alltests.On() {
		names = nil
		for _, ex := range examples {
			names = append(names, ex.name)
		}
	}
	long := []string{"recursion", "lookback", "funcptr", "nbody", "bfs", "kmeans", "hotspot", "mbarrier", "mandelbrot", "heap", "scan"}
	for i, gpu := range []string{"rtx-a6000", "rtx-2080-ti"} {
		var on []string
		for n, name := range names {
			if n%2 == i || !slices.Contains(long, name) {
				on = append(on, name)
			}
		}
		t.Run(gpu, func(t *testing.T) { compiledFor(t, gpu, on) })
	}
}

func compiledFor(t *testing.T, gpu string, names []string) {
	whole, left := 0, 0
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			opt := job.Options{GPU: gpu, Threads: 1, Timing: true, Code: string(program.CompiledCode), MaxInsts: 1 << 30}
			opt.Tell = func(why string) { t.Log(why) }
			path := filepath.Join(name, name+".toml")
			ready, err := job.Load(path, opt)
			if err != nil {
				t.Fatal(err)
			}
			asPTX := slices.ContainsFunc(ready.Program.Kernels(), func(k exec.Kernel) bool { return program.CodeOf(k) == program.PTXCode })
			if opt.Hazards = !asPTX; asPTX { // the checker wants control bits in all launches
				left++
			} else {
				whole++
			}
			res, err := ready.Run(t.Context(), opt)
			if err != nil {
				t.Fatal(err)
			}
			if !res.OK {
				t.Errorf("%+v", res.Checks)
			}
			for _, c := range res.Checkers {
				for _, h := range c.Hazards {
					t.Errorf("%+v", h)
				}
			}
		})
	}
	t.Logf("%d examples run as machine code, %d have kernels that run as PTX", whole, left)
}
