package job

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/heddle-sim/heddle/internal/alltests"
	"github.com/heddle-sim/heddle/internal/report"
)

const matmul = "../../../examples/matmul/matmul.toml"

// TestPeaks compares what a launch used and the machine does at most with figures that are known
// from the program and the data sheet.
func TestPeaks(t *testing.T) {
	res := runTimed(t, matmul, "rtx-a6000")
	k := &res.Kernels[0]
	peak := map[string]report.PeakUse{}
	for _, p := range k.Peaks {
		peak[p.Part] = p
		if p.Used > p.Most {
			t.Errorf("%s: %g of %g %s", p.Part, p.Used, p.Most, p.Unit)
		}
	}
	cycles := float64(k.Cycles)
	for _, c := range []struct {
		name      string
		got, want float64
	}{
		{"two operations for each of 128³ products", float64(k.Flops["f32"]), 2 * 128 * 128 * 128},
		{"no double precision", float64(k.Flops["f64"]), 0},
		{"f32 of the data sheet: 84 SMs of 128 lanes at 1.8 GHz", res.Machine.Gflops["f32"], 84 * 128 * 2 * 1.8},
		{"tensor: 512 products an SM and cycle", res.Machine.Gflops["tensor"], 84 * 512 * 2 * 1.8},
		{"L2: 48 slices of 32 bytes at 1.8 GHz", res.Machine.L2Rate, 48 * 32 * 1.8},
		{"L1: 128 bytes an SM and cycle", res.Machine.L1Rate, 84 * 128 * 1.8},
		{"warp slots", float64(res.Machine.WarpSlots), 48},
		{"issued", peak["issue"].Used, float64(k.WarpInstructions)},
		{"issue slots of four schedulers", peak["issue"].Most, 84 * 4 * cycles},
		{"L2 accesses", peak["l2"].Used, float64(k.Memory.L2.Accesses)},
		{"L2 at most", peak["l2"].Most, 48 * cycles},
	} {
		t.Run(c.name, func(t *testing.T) {
			if d := c.got/max(c.want, 1e-9) - 1; c.want == 0 && c.got != 0 || c.want != 0 && (d > 1e-9 || d < -1e-9) {
				t.Errorf("got %v, want %v", c.got, c.want)
			}
		})
	}
}

// TestOccupancySteps finds that a step is one, and that it is the nearest.
func TestOccupancySteps(t *testing.T) {
	program, err := filepath.Abs("../../../examples/vecadd/vecadd.ptx")
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "small.toml")
	text := fmt.Sprintf(`program = %q
[buffers.a]
type = "f32"
count = 4096
[[launches]]
kernel = "vecadd"
grid = [1024, 1, 1]
block = [256, 1, 1]
registers = 16
args = [{ buffer = "a" }, { buffer = "a" }, { buffer = "a" }, { u32 = 4096 }]
`, program)
	if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	res := runTimed(t, file, "rtx-a6000")
	k := &res.Kernels[0]
	for _, s := range k.Occupancies {
		if s.Blocks <= k.BlocksPerSM || s.Need >= s.Now {
			t.Errorf("%+v is no step from %d blocks", s, k.BlocksPerSM)
		}
	}
	// 256 threads, 1,536 threads of an SM: 6 blocks. 7 need at most 219 threads, whole warps 192: 8 blocks.
	want := report.OccupancyStep{Resource: "threads", Now: 256, Need: 192, Blocks: 8}
	if k.LimitedBy != "threads" || k.BlocksPerSM != 6 || !slices.Contains(k.Occupancies, want) {
		t.Errorf("%d blocks, limited by %s, steps %+v, want %+v", k.BlocksPerSM, k.LimitedBy, k.Occupancies, want)
	}
}

// TestHistory compares what a page gets over time with the totals, and finds that a page changes
// nothing else.
func TestHistory(t *testing.T) {
	alltests.Only(t, "histories of runs")
	ready, err := Load(matmul, Options{})
	if err != nil {
		t.Fatal(err)
	}
	run := func(page bool) *report.Run {
		res, err := ready.Run(context.Background(), Options{Timing: true, GPU: "rtx-a6000", Page: page})
		if err != nil {
			t.Fatal(err)
		}
		res.Seconds = 0
		return res
	}
	res := run(true)
	h, k := res.History, &res.Kernels[0]
	sum := func(list []uint64) (n uint64) {
		for _, x := range list {
			n += x
		}
		return n
	}
	type row struct {
		name      string
		got, want uint64
	}
	rows := []row{
		{"warp_instructions", sum(h.Columns["warp_instructions"]), res.WarpInstructions},
		{"thread_instructions", sum(h.Columns["thread_instructions"]), res.ThreadInstructions},
		{"blocks", sum(h.Columns["blocks"]), k.Blocks},
		{"memory.l1.accesses", sum(h.Columns["memory.l1.accesses"]), res.Memory.L1.Accesses},
		{"memory.l2.hits", sum(h.Columns["memory.l2.hits"]), res.Memory.L2.Hits},
		{"memory.replies", sum(h.Columns["memory.replies"]), res.Memory.Replies},
		{"the last row ends with the run", h.End[len(h.End)-1], res.Cycles},
		{"blocks of the log", uint64(len(k.BlockLog)), k.Blocks},
	}
	for _, st := range slices.Sorted(maps.Keys(k.Stalls)) {
		rows = append(rows, row{"stalls." + st, sum(h.Columns["stalls."+st]), k.Stalls[st]})
	}
	for _, p := range h.Parts {
		var got, want uint64
		for i, c := range p.Counts {
			got += sum(c)
			switch p.Part + " " + p.Counter {
			case "sm warp_instructions":
				want += res.PerSM[i].WarpInstructions
			case "sm warp_cycles":
				want += res.PerSM[i].WarpCycles
			case "slice requests":
				want += res.PerSlice[i].Requests
			case "channel busy_cycles":
				want += res.PerChannel[i].BusyCycles
			}
			if len(c) > 240 {
				t.Errorf("%s: %d rows", p.Part, len(c))
			}
		}
		rows = append(rows, row{p.Part + " " + p.Counter, got, want})
	}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			if r.got != r.want {
				t.Errorf("%d over time, %d in all", r.got, r.want)
			}
		})
	}
	res.History, res.Ways = nil, nil
	waited := 0
	for i := range res.Kernels {
		for j := range res.Kernels[i].Lines {
			l := &res.Kernels[i].Lines[j]
			waited += len(l.WaitedFor)
			l.WaitedFor = nil
		}
	}
	if waited == 0 {
		t.Error("no line says for which instructions its warps waited")
	}
	if d := cmp.Diff(run(false), res.WithoutBlocks()); d != "" {
		t.Errorf("a page changes the result:\n%s", d)
	}
}

// TestHistoryDoubles: a long run has fewer rows than a history may have, because its intervals
// have doubled, and no count is lost.
func TestHistoryDoubles(t *testing.T) {
	alltests.Only(t, "long histories")
	o := Options{Timing: true, GPU: "rtx-2060", Page: true}
	ready, err := Load(spin(t), o)
	if err != nil {
		t.Fatal(err)
	}
	res, err := ready.Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	h := res.History
	if len(h.End) >= 2000 || h.Every < 64 || res.Cycles/h.Every > uint64(len(h.End)) {
		t.Errorf("%d rows of %d cycles for %d", len(h.End), h.Every, res.Cycles)
	}
	before := uint64(0)
	for i, end := range h.End {
		// The last row ends with the run.
		if n := end - before; end <= before || n != h.Every && i < len(h.End)-1 {
			t.Errorf("row %d ends after %d cycles, the one before after %d", i, end, before)
		}
		before = end
	}
	for name, list := range h.Columns {
		if len(list) != len(h.End) {
			t.Errorf("%s has %d rows, want %d", name, len(list), len(h.End))
		}
	}
	var insts, resident uint64
	for i, n := range h.Columns["warp_instructions"] {
		insts += n
		resident = max(resident, h.Columns["resident_warps"][i])
	}
	if insts != res.WarpInstructions || resident != 30 {
		t.Errorf("%d instructions of %d; at most %d warps are resident, want 30", insts, res.WarpInstructions, resident)
	}
}
