package heddle_test

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle"
)

// TestObservers: what a Go program may watch a GPU with changes no result, and the
// result has every launch.
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

	// What a machine cannot have is refused, in words that name no flag.
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
