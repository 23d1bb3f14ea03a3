package examples_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle"
	"github.com/heddle-sim/heddle/internal/alltests"
	"github.com/heddle-sim/heddle/internal/config"
	"github.com/heddle-sim/heddle/internal/report"
	"github.com/heddle-sim/heddle/internal/work/job"
)

// seconds has the jobs that take long in timing mode, some those that take
// noticeably long. They run on one GPU only, the former on a small one and once.
// The tests of internal/gpu run those of elsewhere with smaller grids in any case.
var (
	seconds = []string{"recursion", "spinlock"}
	some    = []string{
		"kmeans", "bfs", "vecadd", "nbody", "hotspot", "scan", "funcptr", "needle", "pathfinder", "printf", "two-files",
		"stencil3d", "spmv", "reduction", "heap", "lookback", "gridsync", "mandelbrot", "collatz", "histogram", "lud", "gaussian",
	}
	elsewhere = []string{"bitonic", "compact", "convolution", "cp-async", "mbarrier", "mma-gemm", "ntt", "sha256", "streams", "texref", "texture", "transpose"}
)

// timedJobs lists the paths of the repository's jobs that compute something:
// the examples, and those of the comparison with GPGPU-Sim, which that runs by default.
func timedJobs(t *testing.T) []string {
	t.Helper()
	var list []string
	for _, ex := range examples {
		list = append(list, filepath.Join(ex.name, ex.name+".toml"))
	}
	more, err := filepath.Glob("../testdata/reference/gpgpusim/*.toml")
	if err != nil {
		t.Fatal(err)
	}
	if len(more) < 16 {
		t.Fatalf("only %d jobs of the comparison are there", len(more))
	}
	if !alltests.On() {
		return list
	}
	return append(list, more...)
}

func jobName(path string) string { return strings.TrimSuffix(filepath.Base(path), ".toml") }

// outcome is the final state of a run of a job: the bytes of all its buffers, what its
// kernels printed, and its checks.
type outcome struct {
	buffers map[string][]byte
	printed string
	result  *heddle.JobResult
}

// runAll runs a job and keeps all that it left.
func runAll(t *testing.T, path string, opt heddle.JobOptions) outcome {
	t.Helper()
	ready, err := job.Load(path, job.Options{})
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	var printed bytes.Buffer
	opt.Out = &printed
	for _, b := range ready.Job.BufferNames() {
		opt.Dumps = append(opt.Dumps, heddle.JobDump{Buffer: b, File: filepath.Join(dir, b)})
	}
	res, err := ready.Run(context.Background(), opt)
	if err != nil {
		t.Fatal(err)
	}
	o := outcome{map[string][]byte{}, printed.String(), res}
	for _, d := range opt.Dumps {
		if o.buffers[d.Buffer], err = os.ReadFile(d.File); err != nil {
			t.Fatal(err)
		}
	}
	return o
}

// TestTiming runs every job with cycles counted on some of the shipped GPUs, the next
// job on the next ones. It wants the values of the functional run, and the same result
// to the last counter from more workers and without jumping over idle cycles.
func TestTiming(t *testing.T) {
	for n, path := range timedJobs(t) {
		name := jobName(path)
		on := alltests.Spread(config.Names(), n, 6)
		again := n%4 == 0
		switch {
		case !alltests.On() && slices.Contains(slices.Concat(seconds, some, elsewhere), name):
			continue
		case slices.Contains(seconds, name):
			on, again = []string{"gtx-480"}, false
		case !alltests.On() || slices.Contains(some, name):
			on = on[:1]
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			want := runAll(t, path, heddle.JobOptions{MaxInsts: 1 << 30})
			for i, gpu := range on {
				got := runAll(t, path, heddle.JobOptions{Timing: true, GPU: gpu, Threads: 1})
				sameValues(t, gpu, got, want)
				accounted(t, gpu, got.result)
				if i == 0 && again {
					sameEverything(t, path, gpu, 5, false, got)
				}
				if i == 2 {
					sameEverything(t, path, gpu, 2, true, got)
				}
			}
		})
	}
}

// sameValues compares what two runs computed.
func sameValues(t *testing.T, gpu string, got, want outcome) {
	t.Helper()
	for _, c := range got.result.Checks {
		if !c.OK {
			t.Errorf("%s: the job's check fails: %+v", gpu, c)
		}
	}
	if len(got.result.Checks) != len(want.result.Checks) || !got.result.OK {
		t.Errorf("%s: ok is %v after %d checks, %d in the functional run", gpu, got.result.OK, len(got.result.Checks), len(want.result.Checks))
	}
	for b, w := range want.buffers {
		if !bytes.Equal(got.buffers[b], w) {
			i := 0
			for i < len(w) && i < len(got.buffers[b]) && got.buffers[b][i] == w[i] {
				i++
			}
			t.Errorf("%s: buffer %s differs from the functional run at byte %d of %d", gpu, b, i, len(w))
		}
	}
	if g, w := sortedLines(got.printed), sortedLines(want.printed); g != w {
		t.Errorf("%s: printed (lines sorted)\n%s\nthe functional run\n%s", gpu, g, w)
	}
}

// sortedLines is a text without the order of its lines, which is that of the
// warps.
func sortedLines(s string) string {
	l := strings.SplitAfter(s, "\n")
	slices.Sort(l)
	return strings.Join(l, "")
}

// accounted tests that what is counted in two ways is counted alike.
func accounted(t *testing.T, gpu string, r *heddle.JobResult) {
	t.Helper()
	var warps, threads uint64
	for i := range r.Kernels {
		k := &r.Kernels[i]
		warps += k.WarpInstructions
		threads += k.ThreadInstructions
		if k.EndCycle-k.StartCycle != k.Cycles || k.EndCycle > r.Cycles {
			t.Errorf("%s: launch %d runs from %d to %d of %d, %d cycles", gpu, k.Launch, k.StartCycle, k.EndCycle, r.Cycles, k.Cycles)
		}
		var issues, lanes uint64
		if k.Stalls["selected"] > k.WarpInstructions {
			t.Errorf("%s: launch %d: warps were selected in %d cycles for %d instructions", gpu, k.Launch, k.Stalls["selected"], k.WarpInstructions)
		}
		for _, l := range k.Lines {
			issues += l.Issues
			lanes += l.ThreadInstructions
		}
		if issues != k.WarpInstructions || lanes != k.ThreadInstructions {
			t.Errorf("%s: launch %d: its lines have %d warp and %d thread instructions, it has %d and %d", gpu, k.Launch,
				issues, lanes, k.WarpInstructions, k.ThreadInstructions)
		}
	}
	if warps != r.WarpInstructions || threads != r.ThreadInstructions {
		t.Errorf("%s: the launches have %d warp and %d thread instructions, the run %d and %d", gpu, warps, threads, r.WarpInstructions, r.ThreadInstructions)
	}
	m := &r.Memory
	for _, c := range []struct {
		name string
		c    *report.Cache
	}{{"L1", &m.L1}, {"constant", &m.L1Const}, {"texture", &m.L1Texture}, {"instruction", &m.L1Inst}, {"L2", &m.L2}} {
		if c.c.Hits+c.c.PendingHits+c.c.Misses != c.c.Accesses || c.c.SectorMisses > c.c.Misses {
			t.Errorf("%s: %s cache: %+v do not add up", gpu, c.name, *c.c)
		}
	}
	// All that leaves an SM is answered, sector by sector where the L2 cuts it
	// up; but not what its caches write back.
	n := m.Network.RequestPackets - m.L1.WriteBacks
	if got := m.Network.ReplyPackets; got < n || got > 4*n {
		t.Errorf("%s: %d replies to %d requests", gpu, got, n)
	}
}

// plain is a result as JSON without the time on the wall and the names of files.
func plain(t *testing.T, r *heddle.JobResult) string {
	t.Helper()
	c := *r
	c.Seconds, c.Dumps = 0, nil
	b, err := json.MarshalIndent(&c, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// sameEverything runs a job again, with other settings that must not matter.
func sameEverything(t *testing.T, path, gpu string, threads int, idleSkip bool, want outcome) {
	t.Helper()
	opt := heddle.JobOptions{Timing: true, GPU: gpu, Threads: threads}
	opt.Settings.Assignments = []string{fmt.Sprintf("run.idle_skip=%v", idleSkip)}
	got := runAll(t, path, opt)
	what := fmt.Sprintf("%s: %d workers, idle skip %v", gpu, threads, idleSkip)
	if g, w := plain(t, got.result), plain(t, want.result); g != w {
		t.Errorf("%s: another result:\n%s", what, firstDifference(g, w))
	}
	if got.printed != want.printed {
		t.Errorf("%s: prints otherwise", what)
	}
	for b, w := range want.buffers {
		if !bytes.Equal(got.buffers[b], w) {
			t.Errorf("%s: buffer %s differs", what, b)
		}
	}
}

// firstDifference shows where two texts part.
func firstDifference(got, want string) string {
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range min(len(g), len(w)) {
		if g[i] != w[i] {
			from := max(0, i-3)
			return strings.Join(g[from:i], "\n") + "\n got: " + g[i] + "\nwant: " + w[i]
		}
	}
	return fmt.Sprintf("%d lines, want %d", len(g), len(w))
}
