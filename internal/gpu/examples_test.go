package gpu_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/internal/alltests"
	"github.com/heddle-sim/heddle/internal/config"
	"github.com/heddle-sim/heddle/internal/core/modern"
	"github.com/heddle-sim/heddle/internal/core/simt"
	"github.com/heddle-sim/heddle/internal/gpu"
	"github.com/heddle-sim/heddle/internal/report"
	"github.com/heddle-sim/heddle/internal/report/timeline"
	"github.com/heddle-sim/heddle/internal/work/job"
)

// quick are the examples that tests run in any case.
var quick = []string{
	"bitonic", "blackscholes", "compact", "convolution", "cp-async", "gaussian", "histogram", "mandelbrot",
	"mbarrier", "mma-gemm", "ntt", "sha256", "streams", "texref", "texture", "transpose",
}

// allExamples are the jobs of the examples, except those of the Kepler-style core.
func allExamples(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("../../examples/*/*.toml")
	files = slices.DeleteFunc(files, func(f string) bool {
		switch filepath.Base(f) {
		case "race.toml", "stall.toml": // their values depend on time: they teach what goes wrong
			return true
		}
		return job.IsKepler(f)
	})
	if err != nil || len(files) == 0 {
		t.Fatal("no examples", err)
	}
	return files
}

// onGPU is an example and a GPU.
type onGPU struct{ file, gpu string }

// onGPUs returns the first example on the first GPU and the second on the second, or each
// on half of the GPUs if tests run in full.
func onGPUs(examples, gpus []string) (list []onGPU) {
	for i, name := range examples {
		part := 2
		if !alltests.On() {
			part = len(gpus)
		}
		for _, g := range alltests.Spread(gpus, i, part) {
			if alltests.On() || i < 2 {
				list = append(list, onGPU{filepath.Join("../../examples", name, name+".toml"), g})
			}
		}
	}
	return list
}

// runJob runs a job in its own folder, for jobs that write files.
func runJob(t *testing.T, file string, timing bool, o job.Options, set ...string) *report.Run {
	t.Helper()
	ready, err := job.Load(file, job.Options{})
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

// smaller reduces a job to some launches of some blocks. It drops the checks, since
// not all checked results are then computed.
func smaller(r *job.Ready, launches int, blocks int64) {
	r.Job.Steps = slices.DeleteFunc(r.Job.Steps, func(s *job.Step) bool {
		if s.Kind == job.StepLaunch {
			launches--
		}
		return s.Kind == job.StepLaunch && launches < 0
	})
	for _, s := range r.Job.Steps {
		if s.Kind != job.StepLaunch {
			continue
		}
		left := blocks
		for i := range s.Launch.Grid {
			s.Launch.Grid[i] = min(s.Launch.Grid[i], left)
			left = max(1, left/s.Launch.Grid[i])
		}
	}
	r.Job.Checks = nil
}

// after is the outcome of a run: its result and the bytes of its buffers.
type after struct {
	*report.Run
	buffers map[string][]byte
}

// runSmall runs a job with small grids.
func runSmall(t *testing.T, file string, o job.Options) after {
	t.Helper()
	ready, err := job.Load(file, job.Options{})
	if err != nil {
		t.Fatal(err)
	}
	smaller(ready, 6, 3)
	dir := t.TempDir()
	for _, b := range ready.Job.BufferNames() {
		o.Dumps = append(o.Dumps, job.Dump{Buffer: b, File: filepath.Join(dir, b)})
	}
	r := after{buffers: map[string][]byte{}}
	if r.Run, err = ready.Run(context.Background(), o); err != nil {
		t.Fatalf("%s on %s: %v", file, o.GPU, err)
	}
	for _, d := range o.Dumps {
		if r.buffers[d.Buffer], err = os.ReadFile(d.File); err != nil {
			t.Fatal(err)
		}
	}
	return r
}

// longRuns take long even with small grids, and run on only one GPU.
var longRuns = []string{"spinlock", "recursion"}

// TestExamplesOnGPUs runs every example cycle by cycle on a quarter of the shipped
// GPUs, the next one on others (by default some of them on one each). All memory is as after a functional
// run, the checks pass, and the counters are consistent; the instruction counts are
// equal unless something depends on the order of blocks.
func TestExamplesOnGPUs(t *testing.T) {
	// The work of a block depends on that of earlier ones, or a warp polls until
	// others have arrived.
	racing := map[string]bool{"mbarrier": true, "bfs": true, "gridsync": true, "kmeans": true, "lookback": true, "spinlock": true, "heap": true}
	pairs := 0
	for n, file := range allExamples(t) {
		name := strings.TrimSuffix(filepath.Base(file), ".toml")
		gpus := config.Names()
		switch {
		case !alltests.On():
			if !slices.Contains(quick, name) {
				continue
			}
			gpus = gpus[n%len(gpus):][:1]
		case slices.Contains(longRuns, name):
			gpus = gpus[:1]
		default:
			gpus = alltests.Spread(gpus, n, 4)
		}
		t.Run(name, func(t *testing.T) {
			want := runSmall(t, file, job.Options{MaxInsts: 1 << 30})
			for _, g := range gpus {
				pairs++
				got := runSmall(t, file, job.Options{Timing: true, GPU: g})
				if !got.OK {
					t.Errorf("%s: checks fail: %+v", g, got.Checks)
				}
				for b, w := range want.buffers {
					if !bytes.Equal(got.buffers[b], w) {
						t.Errorf("%s: buffer %s differs from the functional run", g, b)
					}
				}
				if loaded, err := config.Load(g); err != nil {
					t.Fatal(err)
				} else if leavesOut(loaded) {
					if w := want.WarpInstructions; !racing[name] && (got.WarpInstructions > w || got.WarpInstructions < w/2) {
						t.Errorf("%s: %d warp instructions, %d in a functional run", g, got.WarpInstructions, w)
					}
				} else if !racing[name] && (got.WarpInstructions != want.WarpInstructions || got.ThreadInstructions != want.ThreadInstructions) {
					t.Errorf("%s: %d warp and %d thread instructions, %d and %d in a functional run", g,
						got.WarpInstructions, got.ThreadInstructions, want.WarpInstructions, want.ThreadInstructions)
				}
				for i := range got.Kernels {
					balance(t, g, &got.Kernels[i])
				}
				balanceRun(t, g, got.Run)
			}
		})
	}
	t.Logf("%d pairs of an example and a GPU", pairs)
}

// leavesOut reports whether a GPU executes some instructions in no time and counts them as none.
func leavesOut(g *config.GPU) bool {
	c, ok := g.ChipConfig().Core.(*modern.Config)
	return ok && c.Assembled
}

// balance checks the sums of a launch's counters.
func balance(t *testing.T, gpu string, k *report.Kernel) {
	t.Helper()
	what := fmt.Sprintf("%s, launch %d", gpu, k.Launch)
	caches(t, what, &k.Memory)
	var sum uint64
	for _, n := range k.Stalls {
		sum += n
	}
	if sum != k.WarpCycles || sum == 0 {
		t.Errorf("%s: the states of warps sum to %d cycles of %d", what, sum, k.WarpCycles)
	}
	if k.Stalls["selected"] > k.WarpInstructions {
		t.Errorf("%s: %d cycles with an issue, %d issues", what, k.Stalls["selected"], k.WarpInstructions)
	}
	if k.EndCycle-k.StartCycle != k.Cycles || k.FirstBlockCycle <= k.StartCycle || k.FirstBlockCycle >= k.EndCycle {
		t.Errorf("%s: start %d, first block %d, end %d, cycles %d", what, k.StartCycle, k.FirstBlockCycle, k.EndCycle, k.Cycles)
	}
	var issues, lanes, at uint64
	for i := range k.Lines {
		l := &k.Lines[i]
		issues += l.Issues
		lanes += l.ThreadInstructions
		at += l.WarpCycles
	}
	if issues != k.WarpInstructions || lanes != k.ThreadInstructions || at != k.WarpCycles {
		t.Errorf("%s: its instructions have %d issues, %d lanes and %d cycles, it has %d, %d and %d", what, issues, lanes, at, k.WarpInstructions, k.ThreadInstructions, k.WarpCycles)
	}
	if k.Shared {
		return // the rest is for all kernels that ran at the time
	}
	issues, lanes = 0, 0
	for n, x := range k.LanesPerIssue {
		issues += x
		lanes += uint64(n) * x
	}
	if issues != k.WarpInstructions || lanes < k.ThreadInstructions {
		t.Errorf("%s: %d issues with %d active lanes, %d warp and %d thread instructions", what, issues, lanes, k.WarpInstructions, k.ThreadInstructions)
	}
}

// caches checks that the accesses of caches are hits, pending hits and misses.
func caches(t *testing.T, what string, m *report.Memory) {
	t.Helper()
	for name, c := range map[string]*report.Cache{"L1": &m.L1, "L1 const": &m.L1Const, "L1 texture": &m.L1Texture, "L1 inst": &m.L1Inst, "L2": &m.L2} {
		if c.Accesses != c.Hits+c.PendingHits+c.Misses || c.SectorMisses > c.Misses {
			t.Errorf("%s: %s: %+v do not add up", what, name, *c)
		}
	}
}

// balanceRun checks the sums over the parts of a machine.
func balanceRun(t *testing.T, gpu string, r *report.Run) {
	t.Helper()
	m := &r.Memory
	caches(t, gpu, m)
	plus := func(a, b *report.Cache) {
		a.Accesses += b.Accesses
		a.Hits += b.Hits
		a.PendingHits += b.PendingHits
		a.Misses += b.Misses
		a.SectorMisses += b.SectorMisses
		a.Refused += b.Refused
		a.WriteBacks += b.WriteBacks
	}
	var l1, l2 report.Cache
	var busy, resident, warps, threads, blocks, entered uint64
	for i := range r.PerSM {
		s := &r.PerSM[i]
		plus(&l1, &s.L1)
		busy += s.BusyCycles
		resident += s.WarpCycles
		warps += s.WarpInstructions
		threads += s.ThreadInstructions
		blocks += s.Blocks
	}
	for i := range r.PerSlice {
		plus(&l2, &r.PerSlice[i].L2)
		entered += r.PerSlice[i].Requests
	}
	if l1 != m.L1 || l2 != m.L2 {
		t.Errorf("%s: the SMs' L1s have %+v together, the slices %+v; the machine %+v and %+v", gpu, l1, l2, m.L1, m.L2)
	}
	var kwarps, kthreads, kblocks, kresident, slots uint64
	shared := false
	for i := range r.Kernels {
		k := &r.Kernels[i]
		kwarps += k.WarpInstructions
		kthreads += k.ThreadInstructions
		kblocks += k.Blocks
		kresident += k.WarpCycles
		slots += k.Stalls["selected"]
		for _, n := range k.SlotStalls {
			slots += n
		}
		shared = shared || k.Shared
	}
	if warps != kwarps || threads != kthreads || blocks != kblocks || resident != kresident || warps != r.WarpInstructions || threads != r.ThreadInstructions {
		t.Errorf("%s: the SMs have %d warp and %d thread instructions, %d blocks, %d warp cycles; the launches %d, %d, %d, %d", gpu,
			warps, threads, blocks, resident, kwarps, kthreads, kblocks, kresident)
	}
	// Each scheduler issues in a cycle, or has a reason for not issuing.
	if c, err := config.Load(gpu); err != nil {
		t.Error(err)
	} else if n := busy * schedulers(c.ChipConfig()); !shared && slots != n {
		t.Errorf("%s: schedulers account for %d of %d cycles", gpu, slots, n)
	}
	// All requests of the SMs enter a slice, and all except write-backs are
	// answered, sector by sector if the L2 splits them.
	if entered != m.Network.RequestPackets {
		t.Errorf("%s: %d requests sent, %d entered the slices", gpu, m.Network.RequestPackets, entered)
	}
	n := m.Network.RequestPackets - m.L1.WriteBacks
	if got := m.Network.ReplyPackets; got < n || got > 4*n {
		t.Errorf("%s: %d replies to %d requests", gpu, got, n)
	}
	var d report.DRAM
	for i := range r.PerChannel {
		c := &r.PerChannel[i]
		var b report.Bank
		for _, x := range c.Banks {
			b.Reads += x.Reads
			b.Writes += x.Writes
			b.Activates += x.Activates
			b.Requests += x.Requests
			b.RowHits += x.RowHits
		}
		if b.Reads != c.Reads || b.Writes != c.Writes || b.Activates != c.Activates || b.RowHits != c.RowHits || b.Requests > c.Requests || b.RowHits > b.Requests || c.BusyCycles > c.Cycles {
			t.Errorf("%s: channel %d: its banks have %+v, it has %d reads, %d writes, %d activates, %d requests, %d row hits, %d of %d cycles", gpu, i,
				b, c.Reads, c.Writes, c.Activates, c.Requests, c.RowHits, c.BusyCycles, c.Cycles)
		}
		d.Reads += c.Reads
		d.Writes += c.Writes
		d.Activates += c.Activates
		d.Requests += c.Requests
		d.BusyCycles += c.BusyCycles
	}
	if x := &m.DRAM; d.Reads != x.Reads || d.Writes != x.Writes || d.Activates != x.Activates || d.Requests != x.Requests || d.BusyCycles != x.BusyCycles || x.Precharges > x.Activates {
		t.Errorf("%s: the channels have %+v together, the DRAM %+v", gpu, d, *x)
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

// TestOneResult runs examples with and without skipping idle cycles, with different
// numbers of threads, and with a timeline: result and timeline stay the same.
func TestOneResult(t *testing.T) {
	alltests.Only(t, "examples with a timeline, with 5 workers and without skipping")
	for _, x := range onGPUs([]string{"streams", "transpose", "gaussian", "histogram", "mbarrier", "texture"}, []string{"gtx-480", "rtx-3080", "rtx-2060", "v100"}) {
		base := json(t, runJob(t, x.file, true, job.Options{GPU: x.gpu, Threads: 1}))
		var ways [2]bytes.Buffer
		for i, how := range []struct {
			threads int
			way     bool
			set     []string
		}{{threads: 1, way: true}, {threads: 2, way: true, set: []string{"run.idle_skip=false"}}, {threads: 5}} {
			o := job.Options{GPU: x.gpu, Threads: how.threads}
			if how.way {
				o.Timeline = timeline.New(20_000)
			}
			if got := json(t, runJob(t, x.file, true, o, how.set...)); got != base {
				t.Errorf("%s on %s, %+v: %s", x.file, x.gpu, how, firstDifference(base, got))
			}
			if how.way {
				if err := o.Timeline.WriteKanata(&ways[i]); err != nil {
					t.Fatal(err)
				}
			}
		}
		if !bytes.Equal(ways[0].Bytes(), ways[1].Bytes()) || ways[0].Len() < 1<<10 {
			t.Errorf("%s on %s: timelines of %d and %d bytes differ", x.file, x.gpu, ways[0].Len(), ways[1].Len())
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

// schedulers returns the schedulers of an SM.
func schedulers(c gpu.Config) uint64 {
	if x, ok := c.Core.(*simt.Config); ok {
		return uint64(x.Schedulers)
	}
	return uint64(c.Core.(*modern.Config).SubCores)
}
