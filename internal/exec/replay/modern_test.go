package replay

import (
	"context"
	"flag"
	"maps"
	"slices"
	"testing"

	"github.com/heddle-sim/heddle/internal/alltests"
	"github.com/heddle-sim/heddle/internal/config"
	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/gpu"
	"github.com/heddle-sim/heddle/internal/trace"
)

// onChip runs launches one after another on a GPU of the library.
func onChip(t *testing.T, name string, o Options, list ...*trace.Kernel) []*gpu.Kernel {
	t.Helper()
	return onThreads(t, name, 1, o, list...)
}

func onThreads(t *testing.T, name string, threads int, o Options, list ...*trace.Kernel) []*gpu.Kernel {
	t.Helper()
	cfg, err := config.Load(name)
	if err != nil {
		t.Fatal(err)
	}
	chip := cfg.ChipConfig()
	chip.Run.Threads, chip.Run.LaunchLatency = threads, 0
	g, err := gpu.New(chip)
	if err != nil {
		t.Fatal(err)
	}
	var out []*gpu.Kernel
	for _, k := range list {
		op := &gpu.Op{Kind: gpu.OpLaunch, Make: func(bool) (exec.Work, error) { return New(k, o) }}
		if err := g.Add(op); err != nil {
			t.Fatal(err)
		}
		out = append(out, op.Kernel)
	}
	if err := g.Finish(context.Background()); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return out
}

// ways are the combinations of options for cores that guard dependences by
// control bits.
var ways = []Options{
	{},
	{Hidden: HiddenRecover},
	{Dependences: Inferred},
	{Hidden: HiddenRecover, Dependences: Inferred},
}

var everywhere = flag.Bool("everywhere", false, "replay all launches in all ways on all GPUs (TestEverywhere)")

// All real traces run to their end on a core of either model, with all their
// instructions. With -everywhere it is all launches in all ways on all GPUs of the
// library.
func TestEverywhere(t *testing.T) {
	alltests.Only(t, "traces on every GPU")
	gpus := map[string][]Options{"rtx-a6000": {ways[0]}}
	if alltests.On() {
		gpus = map[string][]Options{"rtx-a6000": {ways[0], ways[3]}, "rtx-3070": {ways[1]}}
	}
	if *everywhere {
		for _, n := range config.Names() {
			gpus[n] = ways
		}
	}
	for _, a := range archives(t) {
		for _, name := range slices.Sorted(maps.Keys(gpus)) {
			for _, o := range gpus[name] {
				var list []*trace.Kernel
				for i, read := range a.kernels {
					if i >= 2 && !*everywhere { // those that follow are like them
						break
					}
					k, _ := read(t)
					list = append(list, k)
				}
				total := uint64(0)
				for i, k := range onChip(t, name, o, list...) {
					if k.WarpInsts != list[i].WarpInsts || k.ThreadInsts != list[i].ThreadInsts {
						t.Errorf("%s %s %d: %d warp and %d thread instructions, the trace has %d and %d", name, a.name, i,
							k.WarpInsts, k.ThreadInsts, list[i].WarpInsts, list[i].ThreadInsts)
					}
					total += k.Cycles()
				}
				t.Logf("%-12s %-32s hidden %-8s dependences %-12s %8d cycles", name, a.name, o.Hidden, o.Dependences, total)
			}
		}
	}
}

// On the modern core with control bits, a chain of dependent FFMA takes as long as measured on
// an H100 that ran the same program: 25,446 cycles less 9,576 for 30·128 of them. (Without the
// waits of its loop for uniform registers and predicates it is 2.1 % too fast, and scoreboards
// of the modern core release a reader one cycle later.)
func TestChain(t *testing.T) {
	const measured = (25446 - 9576) / 3840.
	read := func(name string) *trace.Kernel {
		k, _ := archives(t, name)[0].kernels[0](t)
		return k
	}
	for _, o := range ways {
		var c [2]float64
		for i, n := range []string{"ffma-1-32-10", "ffma-1-32-40"} {
			c[i] = float64(onChip(t, "h100-pcie", o, read(n))[0].Cycles())
		}
		slope := (c[1] - c[0]) / 3840
		t.Logf("hidden %v, dependences %v: %.3f cycles an FFMA, measured %.3f", o.Hidden, o.Dependences, slope, measured)
		if o.Hidden == HiddenRecover && o.Dependences == Inferred && (slope < 0.98*measured || slope > 1.02*measured) {
			t.Errorf("hidden %v: %.3f cycles an FFMA, measured %.3f", o.Hidden, slope, measured)
		}
	}
}

// Blocks of several SMs run concurrently with one result.
func TestThreads(t *testing.T) {
	for _, name := range []string{"rtx-3070", "rtx-a6000"} {
		var want []uint64
		for _, threads := range []int{1, 4} {
			var list []*trace.Kernel
			for _, read := range archives(t, "bfs-rodinia")[0].kernels[6:9] {
				k, _ := read(t)
				list = append(list, k)
			}
			var got []uint64
			for _, k := range onThreads(t, name, threads, Options{Dependences: Inferred}, list...) {
				got = append(got, k.Cycles(), k.WarpInsts, k.ThreadInsts, k.L1D.Total(), k.L2.Misses())
			}
			if want == nil {
				want = got
			} else if !slices.Equal(got, want) {
				t.Errorf("%s: %d threads: %v, one: %v", name, threads, got, want)
			}
		}
	}
}
