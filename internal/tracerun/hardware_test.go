package tracerun_test

import (
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/internal/chiprun"
	"github.com/heddle-sim/heddle/internal/tracerun"
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
// measured, an H100 PCIe: what one more FFMA costs, and whole launches. The
// launch latency and the rate of blocks come from empty kernels; nothing is
// fitted to these rows. Instruction caches are cold: each of these programs
// launches one kernel, whose code nobody has read before. With warm ones, which
// fit the empty kernels and PolyBench, the shortest chain is 21 % too fast.
func TestHopper(t *testing.T) {
	const each = 128 // FFMAs of an iteration
	iterations := map[string]float64{"mgpusim-simtune-ffma-1-32-10": 10, "mgpusim-simtune-ffma-1-32-20": 20, "mgpusim-simtune-ffma-1-32-40": 40}
	var cold chiprun.Settings
	if err := cold.Set("run.icache=cold"); err != nil {
		t.Fatal(err)
	}
	hard, ours := map[string]float64{}, map[string]float64{}
	for _, name := range []string{"mgpusim-simtune-ffma-1-32-10", "mgpusim-simtune-ffma-1-32-20", "mgpusim-simtune-ffma-1-32-40", "mgpusim-simtune-ffma-4096-16"} {
		dir := unpacked(t, name)
		r, err := replayed(t, dir, tracerun.Options{GPU: "h100-pcie", Settings: cold})
		if err != nil {
			t.Fatal(err)
		}
		hard[name], ours[name] = measured(t, dir), float64(r.Cycles)
		e := ours[name]/hard[name] - 1
		t.Logf("%s: %.0f cycles, measured %.0f (%+.1f %%)", name, ours[name], hard[name], 100*e)
		if math.Abs(e) > 0.15 {
			t.Errorf("%s: %.0f cycles, measured %.0f (%+.1f %%)", name, ours[name], hard[name], 100*e)
		}
	}
	slope := func(cycles map[string]float64) float64 {
		a, b := "mgpusim-simtune-ffma-1-32-10", "mgpusim-simtune-ffma-1-32-40"
		return (cycles[b] - cycles[a]) / (each * (iterations[b] - iterations[a]))
	}
	h, o := slope(hard), slope(ours)
	t.Logf("%.3f cycles for each FFMA, measured %.3f (%+.1f %%)", o, h, 100*(o/h-1))
	if math.Abs(o/h-1) > 0.02 {
		t.Errorf("%.3f cycles for each FFMA, measured %.3f (%+.1f %%)", o, h, 100*(o/h-1))
	}
}
