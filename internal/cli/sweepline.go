package cli

import (
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/heddle-sim/heddle/internal/progress"
	"github.com/heddle-sim/heddle/internal/sweep"
)

// sweepLine shows how far a sweep is, and messages above that.
type sweepLine struct {
	line   *progress.Line // nil: nothing is shown
	stderr io.Writer

	mu      sync.Mutex
	state   sweep.State
	watched bool // watch draws
}

// changed takes the state, and shows it unless watch does so from time to time.
func (l *sweepLine) changed(x sweep.State) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.state = x; l.line != nil && !l.watched {
		l.line.Swept(l.numbers())
	}
}

func (l *sweepLine) numbers() progress.Sweep {
	x := l.state
	return progress.Sweep{Kept: x.Kept, Ended: x.Done + x.Failed, All: x.All, Running: x.Running, Failed: x.Failed}
}

// say prints a message.
func (l *sweepLine) say(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.line != nil {
		l.line.Clear()
	}
	fmt.Fprintf(l.stderr, "heddle: "+format+"\n", args...)
}

// barsDelay is the time between two looks at what workers do (our choice).
const barsDelay = 250 * time.Millisecond

// watch draws bars of what workers do until the function that it returns is called.
func (l *sweepLine) watch(q *sweep.Queue) (stop func()) {
	if l.line == nil || !l.line.Bars() {
		return func() {}
	}
	l.mu.Lock()
	l.watched = true
	l.mu.Unlock()
	end := make(chan struct{})
	var ended sync.WaitGroup
	ended.Go(func() {
		tick := time.NewTicker(barsDelay)
		defer tick.Stop()
		for {
			select {
			case <-end:
				return
			case <-tick.C:
				l.draw(q.Workers())
			}
		}
	})
	return func() {
		close(end)
		ended.Wait()
	}
}

// draw draws the bars.
func (l *sweepLine) draw(workers []sweep.Worker) {
	var list []progress.Worker
	for _, w := range workers {
		x := progress.Worker{Expected: w.Expected, Is: w.Progress}
		if w.Point != nil {
			x.Name, x.Took = w.Point.Short(), time.Since(w.Began)
		}
		list = append(list, x)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.numbers()
	s.Workers = list
	l.line.Swept(s)
}
