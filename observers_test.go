package heddle_test

import (
	"bytes"
	"context"
	"errors"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/heddle-sim/heddle"
	"github.com/heddle-sim/heddle/internal/trace"
	"github.com/heddle-sim/heddle/internal/trace/micro"
	"github.com/heddle-sim/heddle/internal/trace/open"
	"github.com/heddle-sim/heddle/internal/trace/record"
	"github.com/heddle-sim/heddle/internal/trace/text"
)

// TestObservers: a Go program's observers change no result, and the result has
// every launch.
func TestObservers(t *testing.T) {
	prog, err := heddle.Load("examples/vecadd/vecadd.ptx")
	if err != nil {
		t.Fatal(err)
	}
	launch := func(o heddle.RunOptions) (*heddle.GPU, []heddle.Stats) {
		gpu, err := heddle.New(prog, heddle.With(o), heddle.Machine("rtx-2060"))
		if err != nil {
			t.Fatal(err)
		}
		var list []heddle.Stats
		for range 2 {
			a, err := heddle.Upload(gpu, "a", make([]float32, 1000))
			if err != nil {
				t.Fatal(err)
			}
			s, err := gpu.Launch(context.Background(), "vecadd", heddle.Dim(4), heddle.Dim(256), a, a, a, uint32(1000))
			if err != nil {
				t.Fatal(err)
			}
			list = append(list, s)
		}
		return gpu, list
	}
	_, plain := launch(heddle.RunOptions{})
	var rows, stats bytes.Buffer
	o := heddle.RunOptions{Series: &heddle.Series{Every: 100, Out: &rows}, AccelSim: &stats, Timeline: heddle.NewTimeline()}
	if err := o.Settings.Set("run.block_log=true"); err != nil {
		t.Fatal(err)
	}
	gpu, seen := launch(o)
	res, err := gpu.Result()
	if err != nil || !res.OK || len(res.Kernels) != 2 {
		t.Fatalf("%+v, %v", res, err)
	}
	for i, k := range res.Kernels {
		if seen[i] != plain[i] || k.Launch != i || k.Cycles != plain[i].Cycles || k.WarpInstructions != plain[i].WarpInstructions {
			t.Errorf("launch %d: %+v, seen %+v, and in the result %d cycles and %d warp instructions", i, plain[i], seen[i], k.Cycles, k.WarpInstructions)
		}
		if len(k.BlockLog) != 4 || len(k.Lines) == 0 {
			t.Errorf("launch %d: %d blocks in the log, %d lines", i, len(k.BlockLog), len(k.Lines))
		}
	}
	if n := strings.Count(stats.String(), "kernel_name = vecadd"); n != 2 {
		t.Errorf("GPGPU-Sim's counters are there for %d launches", n)
	}
	if n := uint64(o.Timeline.Len()); n != seen[0].WarpInstructions+seen[1].WarpInstructions {
		t.Errorf("the timeline has %d instructions", n)
	}
	if !strings.HasPrefix(rows.String(), "cycle,") || strings.Count(rows.String(), "\n") < int(res.Cycles/100) {
		t.Errorf("the series of %d cycles is\n%s", res.Cycles, rows.String())
	}

	// Options that do not apply are refused, with messages that name no flag.
	for _, c := range []struct {
		name string
		o    []heddle.Option
		want string
	}{
		{"a functional run", []heddle.Option{heddle.With(heddle.RunOptions{Timeline: heddle.NewTimeline()})}, "a Go program cannot have a timeline: it shows cycles"},
		{"a core without control bits", []heddle.Option{heddle.With(heddle.RunOptions{Hazards: true}), heddle.Machine("rtx-2060")}, "the simt core"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, err := heddle.New(prog, c.o...); err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "--") {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
}

// TestResultOfFailure: a result says how launches ended, and lists those that have
// begun.
func TestResultOfFailure(t *testing.T) {
	for _, c := range []struct {
		name string
		opt  []heddle.Option
	}{{"functional", nil}, {"timing", []heddle.Option{heddle.Machine("rtx-2060")}}} {
		t.Run(c.name, func(t *testing.T) {
			prog, err := heddle.LoadSource(heddle.Source{Name: "k.ptx", Text: kernels})
			if err != nil {
				t.Fatal(err)
			}
			gpu, err := heddle.New(prog, c.opt...)
			if err != nil {
				t.Fatal(err)
			}
			var refused *heddle.LaunchError
			if _, err := gpu.Launch(context.Background(), "wild", heddle.Dim(1), heddle.Dim(2048), uint64(0)); !errors.As(err, &refused) {
				t.Fatalf("a block of 2048 threads: %v", err)
			}
			res, err := gpu.Result()
			if err != nil || !res.OK || len(res.Kernels) != 0 {
				t.Errorf("after a refused launch: %v, OK %v, %d launches; want OK and none", err, res.OK, len(res.Kernels))
			}
			var fault *heddle.Fault
			if _, err := gpu.Launch(context.Background(), "wild", heddle.Dim(1), heddle.Dim(1), uint64(0)); !errors.As(err, &fault) {
				t.Fatalf("a null pointer: %v", err)
			}
			res, err = gpu.Result()
			if err != nil || res.OK || res.Error == nil || res.Error.Kind != "fault" || len(res.Kernels) != 1 || res.Kernels[0].Launch != 0 {
				t.Errorf("after a fault: %v, OK %v, %+v, %d launches; want the fault, and launch 0", err, res.OK, res.Error, len(res.Kernels))
			}
		})
	}
}

// TestRecordAfterFailure: a trace has every completed launch, also after a refused
// and a faulting one, and names its source.
func TestRecordAfterFailure(t *testing.T) {
	prog, err := heddle.LoadSource(heddle.Source{Name: "k.ptx", Text: kernels})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name  string
		write func(dir string, set *trace.Set) error
	}{
		{"Accel-Sim's text", func(dir string, set *trace.Set) error {
			return text.Write(dir, set, text.Options{Version: 5}, nil)
		}},
		{"the MICRO 2025 form", func(dir string, set *trace.Set) error { return micro.Write(dir, set, nil) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "trace")
			rec := record.New("test", func(set *trace.Set) error { return c.write(dir, set) })
			gpu, err := heddle.New(prog, heddle.With(heddle.RunOptions{Record: rec}), heddle.Machine("rtx-2060"))
			if err != nil {
				t.Fatal(err)
			}
			place, err := heddle.Upload(gpu, "place", make([]uint64, 64))
			if err != nil {
				t.Fatal(err)
			}
			for _, l := range []struct {
				threads uint32
				at      heddle.Ptr
				ends    bool
			}{{1, place, true}, {2048, place, false}, {2, place, true}, {3, 0, false}, {4, place, true}} {
				if _, err := gpu.Launch(context.Background(), "wild", heddle.Dim(1), heddle.Dim(l.threads), l.at); (err == nil) != l.ends {
					t.Fatalf("%d threads: %v", l.threads, err)
				}
			}
			if err := rec.Finish(); err != nil {
				t.Fatal(err)
			}
			set, err := open.Open(dir)
			if err != nil {
				t.Fatal(err)
			}
			var threads []uint32
			for _, c := range set.Commands {
				if c.Launch == nil {
					continue
				}
				h, err := c.Launch.Header()
				if err != nil {
					t.Fatal(err)
				}
				threads = append(threads, h.Block[0])
				if h.Arch != 86 {
					t.Errorf("%s has the architecture %d, want 86", c.Launch.Name(), h.Arch)
				}
			}
			if d := cmp.Diff([]uint32{1, 2, 4}, threads); d != "" {
				t.Errorf("threads of the launches (-want +got):\n%s", d)
			}
		})
	}
}

// TestSideBySide: several GPUs run a program at the same time, for the race
// detector.
func TestSideBySide(t *testing.T) {
	prog, err := heddle.Load("examples/vecadd/vecadd.ptx")
	if err != nil {
		t.Fatal(err)
	}
	var done sync.WaitGroup
	for range 4 {
		done.Go(func() {
			gpu, err := heddle.New(prog, heddle.Machine("rtx-2060"))
			if err != nil {
				t.Error(err)
				return
			}
			a, err := heddle.Upload(gpu, "a", make([]float32, 100))
			if err == nil {
				_, err = gpu.Launch(context.Background(), "vecadd", heddle.Dim(1), heddle.Dim(128), a, a, a, uint32(100))
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
	done.Wait()
}
