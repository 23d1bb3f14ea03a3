package live_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/heddle-sim/heddle/internal/report"
	"github.com/heddle-sim/heddle/internal/run"
	"github.com/heddle-sim/heddle/internal/run/live"
)

// connect starts a viewer, and a program that it shows.
func connect(t *testing.T, v live.Viewer, stop func()) (*live.Server, *live.Program) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "live")
	s, err := live.Listen(path, v)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	p, err := live.Dial(path, stop)
	if err != nil {
		t.Fatal(err)
	}
	return s, p
}

// A program makes its result only when it is asked for, waits for the viewer, and stops when it shall.
func TestLook(t *testing.T) {
	var mutex sync.Mutex
	var happened []string
	note := func(what string) {
		mutex.Lock()
		defer mutex.Unlock()
		happened = append(happened, what)
	}
	looks := 0
	_, p := connect(t, live.Viewer{
		Progress: func(p run.Progress) { note("at " + p.Kernel) },
		Look: func(program int, soFar func() (*report.Run, error)) *run.Wish {
			if looks++; looks == 2 {
				res, err := soFar()
				if err != nil || program != 0 {
					t.Errorf("%v of program %d", err, program)
					return nil
				}
				note("shows " + res.Input)
				return &run.Wish{SM: 3, Cycles: 500}
			}
			return nil
		},
		Stopped: func() bool { return looks == 3 },
	}, func() { note("stops") })
	for _, kernel := range []string{"a", "b", "c", "d"} {
		p.Progress(run.Progress{Kernel: kernel})
		wish := p.Look(func() *report.Run {
			note("makes a result")
			return &report.Run{Input: "the program"}
		})
		if wish != nil {
			note(fmt.Sprintf("records SM %d for %d cycles", wish.SM, wish.Cycles))
		}
		note("goes on")
	}
	want := []string{"at a", "goes on", "at b", "makes a result", "shows the program", "records SM 3 for 500 cycles", "goes on", "at c", "stops", "goes on", "goes on"}
	if !slices.Equal(happened, want) {
		t.Errorf("%q, want %q", happened, want)
	}
}

// A program whose viewer has gone runs on.
func TestViewerGone(t *testing.T) {
	s, p := connect(t, live.Viewer{
		Progress: func(run.Progress) {},
		Look:     func(int, func() (*report.Run, error)) *run.Wish { return nil },
		Stopped:  func() bool { return false },
	}, func() { t.Error("it is stopped") })
	p.Look(func() *report.Run { return nil })
	s.Close()
	for range 2 {
		p.Look(func() *report.Run {
			t.Error("a result is made for nobody")
			return nil
		})
	}
	if _, err := live.Dial(filepath.Join(t.TempDir(), "nowhere"), nil); err == nil {
		t.Error("a program connects with nobody")
	}
}
