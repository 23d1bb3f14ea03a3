package bench

import (
	"context"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/heddle-sim/heddle/internal/config"
	"github.com/heddle-sim/heddle/internal/work/job"
)

// The jobs that are also run on GPGPU-Sim, see their folder's notice.
const references = "../testdata/reference/gpgpusim"

// ready loads jobs.
func ready(tb testing.TB, pattern string) []*job.Ready {
	tb.Helper()
	files, err := filepath.Glob(filepath.Join(references, pattern))
	if err != nil || len(files) == 0 {
		tb.Fatal("no jobs ", pattern, err)
	}
	var list []*job.Ready
	for _, f := range files {
		r, err := job.Load(f, job.Options{})
		if err != nil {
			tb.Fatal(err)
		}
		list = append(list, r)
	}
	return list
}

// timed runs jobs cycle by cycle and reports how fast.
func timed(b *testing.B, list []*job.Ready, chip string) {
	b.Helper()
	b.ReportAllocs()
	var warp, thread, cycles uint64
	for b.Loop() {
		for _, r := range list {
			res, err := r.Run(context.Background(), job.Options{Timing: true, GPU: chip, Threads: 1})
			if err != nil || !res.OK {
				b.Fatal(r.Job.File, err)
			}
			warp += res.WarpInstructions
			thread += res.ThreadInstructions
			cycles += res.Cycles
		}
	}
	sec := b.Elapsed().Seconds()
	b.ReportMetric(float64(thread)/sec/1e6, "Mthread-instr/s")
	b.ReportMetric(float64(warp)/sec/1e6, "Mwarp-instr/s")
	b.ReportMetric(float64(cycles)/sec/1e6, "Mcycles/s")
}

// BenchmarkTimingAll runs all 16 jobs of the comparison with GPGPU-Sim on an RTX 2060, cycle
// by cycle. GPGPU-Sim does about 0.009 million warp instructions per second on them.
func BenchmarkTimingAll(b *testing.B) { timed(b, ready(b, "*.toml"), "rtx-2060") }

// BenchmarkTimingMatmulTiled runs the one that computes most.
func BenchmarkTimingMatmulTiled(b *testing.B) { timed(b, ready(b, "matmul_tiled.toml"), "rtx-2060") }

// BenchmarkTimingCopy runs one that is bound by memory.
func BenchmarkTimingCopy(b *testing.B) { timed(b, ready(b, "copy_s8.toml"), "rtx-2060") }

// TestChipMemory runs a job on the largest supplied chip and requires that the whole process
// takes less than 500 MB from the system.
func TestChipMemory(t *testing.T) {
	c, err := config.Load("rtx-a6000")
	if err != nil {
		t.Fatal(err)
	}
	if c.SMs() != 84 {
		t.Fatalf("%d SMs", c.SMs())
	}
	r := ready(t, "matmul_tiled.toml")[0]
	res, err := r.Run(context.Background(), job.Options{Timing: true, GPU: "rtx-a6000"})
	if err != nil || !res.OK {
		t.Fatal(err)
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	n := float64(m.Sys) / 1e6
	t.Logf("%.1f MB", n)
	if n > 500 {
		t.Errorf("a run on %d SMs takes %.0f MB", c.SMs(), n)
	}
}
