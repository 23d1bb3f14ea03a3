package cuda

import (
	"sync"
	"testing"
	"time"

	"github.com/heddle-sim/heddle/internal/run"
)

// screen is a terminal with a progress line.
type screen struct {
	mu            sync.Mutex
	shown, clears int
	up            bool
	last          run.Progress
}

func (s *screen) Show(p run.Progress) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.shown, s.up, s.last = s.shown+1, true, p
}

func (s *screen) Clear() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.clears, s.up = s.clears+1, false
}

func (s *screen) seen() (int, bool, run.Progress) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.shown, s.up, s.last
}

// TestProgress: progress is shown while a launch runs, and erased when the program
// continues.
func TestProgress(t *testing.T) {
	both(t, func(t *testing.T, mode func(*Options)) {
		var s screen
		b := start(t, func(o *Options) {
			o.Progress, o.Clear = s.Show, s.Clear
			o.MaxInsts = 400_000
			if mode != nil {
				mode(o)
			}
		})
		b.want("launch", b.run("spin", 1, 0), Success)
		b.want("wait", b.Synchronize(), Success)
		b.run("forever", 1, 0)
		b.want("wait", b.Synchronize(), LaunchTimeout)
		n, up, last := s.seen()
		if n == 0 || up || last.Kernel != "forever" || last.Launch != 1 || last.Launches != 0 || last.WarpInsts < 1000 || (last.Cycles > 0) != (mode != nil) {
			t.Errorf("shown %d times, still shown: %v; the last was %+v", n, up, last)
		}
	})
}

// TestInterrupt: an interrupted program stays in its call, and the report says what
// ran.
func TestInterrupt(t *testing.T) {
	both(t, func(t *testing.T, mode func(*Options)) {
		var s screen
		b := start(t, func(o *Options) {
			o.Progress, o.Clear = s.Show, s.Clear
			if mode != nil {
				mode(o)
			}
		})
		b.want("launch", b.run("spin", 1, 0), Success)
		b.want("wait", b.Synchronize(), Success)
		back := make(chan Error, 1)
		go func() {
			b.run("forever", 1, 0)
			back <- b.Synchronize()
		}()
		for {
			if _, up, last := s.seen(); up && last.Kernel == "forever" {
				break
			}
			time.Sleep(time.Millisecond)
		}
		res := b.r.Interrupt()
		if res.OK || res.Error == nil || res.Error.Kind != "interrupted" || len(res.Kernels) != 2 || res.Kernels[0].Name != "spin" || res.WarpInstructions < 1502 {
			t.Errorf("the report: %+v, %v", res, res.Error)
		}
		if _, up, _ := s.seen(); up {
			t.Error("the progress line was not erased")
		}
		select {
		case err := <-back:
			t.Errorf("the call returned %v", err)
		case <-time.After(20 * time.Millisecond):
		}
		if b.log.Len() > 0 {
			t.Errorf("log: %s", b.log)
		}
	})
}
