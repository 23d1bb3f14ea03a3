package tracerun_test

import (
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/internal/run"
	"github.com/heddle-sim/heddle/internal/work/tracerun"
)

// measured returns the cycles that a device took for the launch of a trace.
func measured(t *testing.T, dir string) float64 {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, "gt"))
	if err != nil {
		t.Fatal(err)
	}
	v, err := strconv.ParseFloat(strings.TrimSpace(string(b)), 64)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// TestHopper replays chains of dependent FFMAs on the machine on which they were
// measured, an H100 PCIe, twice: by Nsight Compute, which flushes the caches
// before a kernel, and by Nsight Systems, which does not. The launch latency and
// the rate of blocks come from empty kernels; nothing is fitted to these rows.
func TestHopper(t *testing.T) {
	chains := []struct {
		name       string
		iterations float64 // of 128 FFMAs
		system     float64 // cycles by Nsight Systems (h100-ffmakernel_full.txt); 0: the row is not there
	}{
		{"mgpusim-simtune-ffma-1-32-10", 10, 8087.04},
		{"mgpusim-simtune-ffma-1-32-20", 20, 13366.08},
		{"mgpusim-simtune-ffma-1-32-40", 40, 23811.84},
		{"mgpusim-simtune-ffma-4096-16", 0, 0},
	}
	for _, by := range []struct{ profiler, icache string }{{"Nsight Compute", "cold"}, {"Nsight Systems", "warm"}} {
		var s run.Settings
		if err := s.Set("run.icache=" + by.icache); err != nil {
			t.Fatal(err)
		}
		var hard, ours, iterations []float64
		for _, c := range chains {
			dir := unpacked(t, c.name)
			h := c.system
			if by.profiler == "Nsight Compute" {
				h = measured(t, dir)
			}
			if h == 0 {
				continue
			}
			r, err := replayed(t, dir, tracerun.Options{GPU: "h100-pcie", Settings: s})
			if err != nil {
				t.Fatal(err)
			}
			o := float64(r.Cycles)
			t.Logf("%s, %s: %.0f cycles, measured %.0f (%+.1f %%)", by.profiler, c.name, o, h, 100*(o/h-1))
			if math.Abs(o/h-1) > 0.15 {
				t.Errorf("%s, %s: %.0f cycles, measured %.0f (%+.1f %%)", by.profiler, c.name, o, h, 100*(o/h-1))
			}
			if c.iterations > 0 {
				hard, ours, iterations = append(hard, h), append(ours, o), append(iterations, c.iterations)
			}
		}
		last := len(hard) - 1
		n := 128 * (iterations[last] - iterations[0])
		h, o := (hard[last]-hard[0])/n, (ours[last]-ours[0])/n
		t.Logf("%s: %.3f cycles for each FFMA, measured %.3f (%+.1f %%)", by.profiler, o, h, 100*(o/h-1))
		if math.Abs(o/h-1) > 0.02 {
			t.Errorf("%s: %.3f cycles for each FFMA, measured %.3f (%+.1f %%)", by.profiler, o, h, 100*(o/h-1))
		}
	}
}
