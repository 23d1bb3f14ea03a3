package run_test

import (
	"errors"
	"testing"

	"github.com/heddle-sim/heddle/internal/run"
)

// TestRefuse is the table of README.md: which kind of work has which observer.
func TestRefuse(t *testing.T) {
	kinds := []run.Kind{run.Job, run.Trace, run.CUDA, run.Library, run.KeplerJob, run.KeplerCore}
	for _, c := range []struct {
		name     string
		observer run.Observer
		has      [6]bool // in the order of kinds
		cycles   bool    // not in a functional run
		stepped  bool    // not with stepping
	}{
		{"series", run.SeriesObserver, [6]bool{true, true, true, true, true, true}, true, true},
		{"timeline", run.TimelineObserver, [6]bool{true, true, true, true, true, true}, true, true},
		{"hazards", run.HazardObserver, [6]bool{true, true, true, true, false, false}, true, false},
		{"counters of GPGPU-Sim", run.AccelSimObserver, [6]bool{true, true, true, true, false, false}, true, true},
		{"recording", run.RecordObserver, [6]bool{true, false, true, true, false, false}, true, true},
		{"stepping", run.StepObserver, [6]bool{true, true, false, true, true, true}, true, false},
		{"watching", run.WatchObserver, [6]bool{true, true, true, true, false, false}, true, true},
		{"log of blocks", run.BlockLogObserver, [6]bool{true, true, true, true, false, false}, false, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			for i, kind := range kinds {
				var r *run.Refusal
				if err := run.Refuse(kind, true, c.observer); errors.As(err, &r) == c.has[i] {
					t.Errorf("%v: %v", kind, err)
				} else if r != nil && (r.Why == "" || r.Observer != c.observer || r.Kind != kind || r.Functional || r.Stepped) {
					t.Errorf("%v: %+v", kind, r)
				}
				if !c.has[i] {
					continue
				}
				if err := run.Refuse(kind, false, c.observer); errors.As(err, &r) != c.cycles || c.cycles && !r.Functional {
					t.Errorf("%v, functional: %v", kind, err)
				}
				if run.Refuse(kind, true, run.StepObserver) != nil {
					continue
				}
				if err := run.Refuse(kind, true, c.observer, run.StepObserver); errors.As(err, &r) != c.stepped || c.stepped && !r.Stepped {
					t.Errorf("%v, stepping: %v", kind, err)
				}
			}
		})
	}
}
