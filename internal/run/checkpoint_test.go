package run_test

import (
	"bytes"
	"reflect"
	"testing"

	"github.com/heddle-sim/heddle/internal/alltests"
	"github.com/heddle-sim/heddle/internal/checkpoint"
	"github.com/heddle-sim/heddle/internal/config"
	"github.com/heddle-sim/heddle/internal/core"
	"github.com/heddle-sim/heddle/internal/core/modern"
	"github.com/heddle-sim/heddle/internal/core/simt"
	"github.com/heddle-sim/heddle/internal/gpu"
	"github.com/heddle-sim/heddle/internal/run"
)

// Every field of the chip and of its parts is written to checkpoints, or left out by its tag or by a rule: none is of a
// type that cannot be written.
func TestStateFields(t *testing.T) {
	for _, typ := range []reflect.Type{reflect.TypeFor[gpu.GPU](), reflect.TypeFor[modern.Core](), reflect.TypeFor[simt.Core](), reflect.TypeFor[core.Base]()} {
		for _, field := range checkpoint.Check(typ, gpu.StateRules()) {
			t.Errorf("%s cannot be written to a checkpoint: give the field the tag `state:\"-\"` if it is the same on every chip, follows from the rest or means nothing between launches", field)
		}
	}
}

// state writes the state of a chip.
func state(t *testing.T, g *gpu.GPU) []byte {
	t.Helper()
	var b bytes.Buffer
	e := checkpoint.NewEncoder(&b, gpu.StateRules())
	if err := g.Save(e); err != nil {
		t.Fatal(err)
	}
	if err := e.Flush(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// A chip of every machine gets the state of another one, with any numbers of workers.
func TestStateOfMachines(t *testing.T) {
	for _, name := range alltests.Some([]string{"rtx-2060", "rtx-a6000", "h100-pcie", "gtx-480", "v100", "rtx-5070-ti", "titan-x-pascal"}, 2) {
		t.Run(name, func(t *testing.T) {
			g, err := config.Load(name)
			if err != nil {
				t.Fatal(err)
			}
			var chips [2]*gpu.GPU
			for i := range chips {
				cfg := g.ChipConfig()
				cfg.Run.Threads = 1 + i
				if chips[i], err = gpu.New(cfg); err != nil {
					t.Fatal(err)
				}
			}
			want := state(t, chips[0])
			d := checkpoint.NewDecoder(bytes.NewReader(want), gpu.StateRules())
			if err := chips[1].Load(d); err != nil {
				t.Fatal(err)
			}
			if err := d.End(); err != nil {
				t.Error(err)
			}
			if !bytes.Equal(state(t, chips[1]), want) {
				t.Error("what it writes then differs")
			}
		})
	}
}

// Work whose process cannot be stopped has no checkpoints, and says why; observers whose findings they do not keep are
// refused beside them.
func TestRefusedCheckpoints(t *testing.T) {
	for _, c := range []struct {
		name string
		kind run.Kind
		with []run.Observer
		want bool
	}{
		{"a job", run.Job, nil, true},
		{"a trace", run.Trace, nil, true},
		{"a CUDA program", run.CUDA, nil, false},
		{"a Go program", run.Library, nil, false},
		{"a job of the Kepler-style core", run.KeplerJob, nil, false},
		{"with a series", run.Job, []run.Observer{run.SeriesObserver}, true},
		{"with a timeline", run.Job, []run.Observer{run.TimelineObserver}, false},
		{"with a checker", run.Job, []run.Observer{run.CheckObserver}, false},
		{"with a recording", run.Job, []run.Observer{run.RecordObserver}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			if err := run.Refuse(c.kind, true, append(c.with, run.CheckpointObserver)...); (err == nil) != c.want {
				t.Errorf("%v", err)
			}
		})
	}
}
