package tracerun_test

import (
	"bufio"
	"context"
	"errors"
	"math/bits"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/heddle-sim/heddle/internal/alltests"
	"github.com/heddle-sim/heddle/internal/config"
	"github.com/heddle-sim/heddle/internal/report"
	"github.com/heddle-sim/heddle/internal/run"
	"github.com/heddle-sim/heddle/internal/trace"
	"github.com/heddle-sim/heddle/internal/trace/open"
	"github.com/heddle-sim/heddle/internal/work/tracerun"
)

var archives = []string{
	"jager197-lud-v1-excerpt", "mgpusim-bfs-rodinia-2.0-ft", "mgpusim-dataset_debug", "mgpusim-simple-trace-example", "mgpusim-simtune-ffma-1-32-10",
	"mgpusim-simtune-ffma-1-32-20", "mgpusim-simtune-ffma-1-32-40", "mgpusim-simtune-ffma-4096-16", "microgpusim-matrixmul-32-32",
}

// traceLine matches an instruction of a .traceg; the first group is its mask.
var traceLine = regexp.MustCompile(`^(?:\d+ \d+ \d+ \d+ )?[0-9a-f]{4,} ([0-9a-f]{8}) `)

// stated counts records and lanes in the text of a folder's launches.
func stated(t *testing.T, dir string) (warp, thread uint64) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.traceg"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no launches in %s (%v)", dir, err)
	}
	for _, name := range files {
		f, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		s := bufio.NewScanner(f)
		for s.Scan() {
			if m := traceLine.FindStringSubmatch(s.Text()); m != nil {
				mask, err := strconv.ParseUint(m[1], 16, 32)
				if err != nil {
					t.Fatal(err)
				}
				warp++
				thread += uint64(bits.OnesCount64(mask))
			}
		}
		f.Close()
	}
	return warp, thread
}

func replayed(t testing.TB, dir string, o tracerun.Options) (*report.Run, error) {
	t.Helper()
	set, err := open.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	return tracerun.Run(context.Background(), set, o)
}

// TestEveryTraceOnEveryGPU runs all traces to their ends on all GPUs. What was
// counted is what a reader of the text counts.
func TestEveryTraceOnEveryGPU(t *testing.T) {
	alltests.Only(t, "half a minute of traces")
	for _, name := range archives {
		dir := unpacked(t, name)
		warp, thread := stated(t, dir)
		for _, gpu := range config.Names() {
			r, err := replayed(t, dir, tracerun.Options{GPU: gpu, Threads: 1})
			if err != nil {
				t.Errorf("%s on %s: %v", name, gpu, err)
				continue
			}
			if r.WarpInstructions != warp || r.ThreadInstructions != thread {
				t.Errorf("%s on %s: %d warp and %d thread instructions, the trace has %d and %d", name, gpu, r.WarpInstructions, r.ThreadInstructions, warp, thread)
			}
		}
	}
}

// TestThreads compares whole results for several numbers of threads.
func TestThreads(t *testing.T) {
	alltests.Only(t, "traces with several workers")
	dir := unpacked(t, "mgpusim-bfs-rodinia-2.0-ft")
	for _, gpu := range []string{"rtx-2060", "rtx-a6000"} {
		var first *report.Run
		for _, threads := range alltests.Some([]int{1, 5, 2}, 2) {
			r, err := replayed(t, dir, tracerun.Options{GPU: gpu, Threads: threads})
			if err != nil {
				t.Fatal(err)
			}
			r.Seconds = 0
			if first == nil {
				first = r
			} else if d := cmp.Diff(first, r); d != "" {
				t.Errorf("%s with %d threads (-1 thread, +%d):\n%s", gpu, threads, threads, d)
			}
		}
	}
}

// TestSelection runs some launches of a list.
func TestSelection(t *testing.T) {
	dir := unpacked(t, "mgpusim-bfs-rodinia-2.0-ft")
	all, err := replayed(t, dir, tracerun.Options{GPU: "rtx-2060"})
	if err != nil {
		t.Fatal(err)
	}
	sel, err := run.ParseSelection("2-3,/Kernel2/")
	if err != nil {
		t.Fatal(err)
	}
	some, err := replayed(t, dir, tracerun.Options{GPU: "rtx-2060", Select: sel})
	if err != nil {
		t.Fatal(err)
	}
	var want []uint64
	for i, k := range all.Kernels {
		if i == 2 || i == 3 || strings.Contains(k.Name, "Kernel2") {
			want = append(want, k.WarpInstructions)
		}
	}
	var got []uint64
	for _, k := range some.Kernels {
		got = append(got, k.WarpInstructions)
	}
	if d := cmp.Diff(want, got); d != "" || some.LeftOut != len(all.Kernels)-len(want) {
		t.Errorf("%d left out; -want +got:\n%s", some.LeftOut, d)
	}
	none, err := run.ParseSelection("99")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := replayed(t, dir, tracerun.Options{GPU: "rtx-2060", Select: none}); err == nil {
		t.Error("a selection of nothing runs")
	}
}

// TestBrokenLaunch breaks one launch of a list: those before it are in the
// result, with all that they have alone.
func TestBrokenLaunch(t *testing.T) {
	dir := unpacked(t, "mgpusim-bfs-rodinia-2.0-ft")
	whole, err := replayed(t, dir, tracerun.Options{GPU: "rtx-2060"})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "kernel-4.traceg")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, size := range []int{0, 100, len(text) / 2, len(text) - 20} {
		if err := os.WriteFile(path, text[:size], 0o666); err != nil {
			t.Fatal(err)
		}
		r, err := replayed(t, dir, tracerun.Options{GPU: "rtx-2060"})
		var broken *trace.Error
		if !errors.As(err, &broken) || filepath.Base(broken.File) != "kernel-4.traceg" {
			t.Fatalf("cut to %d bytes: %v", size, err)
		}
		if len(r.Kernels) != 3 {
			t.Fatalf("cut to %d bytes: %d launches are in the result, want 3", size, len(r.Kernels))
		}
		for i := range r.Kernels {
			if d := cmp.Diff(whole.Kernels[i], r.Kernels[i]); d != "" {
				t.Errorf("cut to %d bytes, launch %d (-whole +cut):\n%s", size, i, d)
			}
		}
	}
}

// trigger is a writer that calls a function when it is written to.
type trigger func()

func (f trigger) Write(b []byte) (int, error) {
	f()
	return len(b), nil
}

// TestInterrupted cancels a run: what has ended stays.
func TestInterrupted(t *testing.T) {
	dir := unpacked(t, "mgpusim-bfs-rodinia-2.0-ft")
	set, err := open.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	r, err := tracerun.Run(ctx, set, tracerun.Options{GPU: "rtx-2060", AccelSim: trigger(stop)}) // which is written to after every launch
	if !errors.Is(err, context.Canceled) || len(r.Kernels) < 1 || len(r.Kernels) > 15 || r.Kernels[0].Blocks != 8 {
		t.Errorf("%d launches in the result, %v", len(r.Kernels), err)
	}
}

// TestUnknownRules reads trace.unknown.
func TestUnknownRules(t *testing.T) {
	dir := unpacked(t, "mgpusim-simtune-ffma-1-32-10")
	for _, c := range []struct {
		set string
		ok  bool
	}{
		{"FOO=fp32", true}, {"FOO=IADD3,*=nop", true}, {"FOO", false}, {"FOO=", false}, {"FOO=nothing-like-that", false}, {"*=QQQ", false},
	} {
		var s run.Settings
		if err := s.Set("trace.unknown=" + c.set); err != nil {
			t.Fatal(err)
		}
		if _, err := replayed(t, dir, tracerun.Options{GPU: "rtx-2060", Settings: s}); (err == nil) != c.ok {
			t.Errorf("%s: %v", c.set, err)
		}
	}
}

// TestConditions looks at what copies and caches do to a replayed run.
func TestConditions(t *testing.T) {
	dir := unpacked(t, "mgpusim-simple-trace-example")
	run := func(keys ...string) *report.Run {
		t.Helper()
		var s run.Settings
		for _, k := range keys {
			if err := s.Set(k); err != nil {
				t.Fatal(err)
			}
		}
		r, err := replayed(t, dir, tracerun.Options{GPU: "rtx-2060", Settings: s})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	cold, filled, warm := run("run.copies_fill_l2=false"), run("run.copies_fill_l2=true"), run("run.caches=warm")
	if filled.Memory.DRAM.Reads >= cold.Memory.DRAM.Reads {
		t.Errorf("%d DRAM reads with the L2 filled by copies, %d without", filled.Memory.DRAM.Reads, cold.Memory.DRAM.Reads)
	}
	if len(warm.Kernels) != 1 || warm.Kernels[0].Cycles >= cold.Kernels[0].Cycles {
		t.Errorf("with warm caches %d launches, %d cycles; cold %d", len(warm.Kernels), warm.Kernels[0].Cycles, cold.Kernels[0].Cycles)
	}
	slow := run("run.copies_fill_l2=false", "run.launch_latency=9000")
	fast := run("run.copies_fill_l2=false", "run.launch_latency=1000")
	// The DRAM's clock is at another phase when the kernel begins.
	if d := slow.Cycles - fast.Cycles; d < 7900 || d > 8100 {
		t.Errorf("8000 cycles of launch latency make %d", d)
	}
}
