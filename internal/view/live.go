package view

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
	"time"
)

// This file: a page of a run that goes on. The page gets a stream of events (server-sent
// events): the state of the run several times a second, and the result so far in the form of
// pack.go from time to time. Results are made only while someone looks, and so seldom that they
// take little of the run's time.

// State is how far a run is.
type State struct {
	Is    string  `json:"is"`    // runs, paused, ended (with success or not) or stopped (by the user)
	Holds bool    `json:"holds"` // it can pause
	Done  bool    `json:"done"`  // it has ended, and its final result was sent
	Input string  `json:"input"` // what runs
	GPU   string  `json:"gpu"`   // the machine, "" if none is simulated
	Share float64 `json:"share"` // of the whole run that is done, 0 to 1; 0 if unknown

	Seconds float64 `json:"seconds"` // since the start
	Left    float64 `json:"left"`    // seconds that the rest may take, 0 if unknown

	Each     string `json:"each"`     // what a launch is called
	Launch   int    `json:"launch"`   // the current one, from 0
	Launches int    `json:"launches"` // their number, 0 if unknown
	Kernel   string `json:"kernel"`
	Blocks   uint64 `json:"blocks"` // of the launch, that have ended
	Total    uint64 `json:"total"`  // of the launch
	Cycles   uint64 `json:"cycles"` // so far
	Insts    uint64 `json:"warp_instructions"`
}

// The states of a run.
const (
	Runs    = "runs"
	Paused  = "paused"
	Ended   = "ended"
	Stopped = "stopped"
)

// The pace of a live page (our choice): a state is sent at most this often, and results take at
// most a tenth of the time.
const (
	statePause  = 200 * time.Millisecond
	resultPause = 500 * time.Millisecond
	resultShare = 10
	aliveAfter  = 15 * time.Second // a comment is sent if nothing else was
)

// Live is a run that goes on. Its methods may be called concurrently.
type Live struct {
	ctx   context.Context // of the run
	input string
	stop  func()

	mutex   sync.Mutex
	news    chan struct{} // is closed when something has changed
	began   time.Time     // moved by pauses
	state   State
	step    bool   // a paused run goes on until the next look
	wish    *Range // to be recorded from the next look on
	data    []byte // packed results, nil until the first
	version int    // of data
	readers int
	next    time.Time // when the next result is due
}

// Range is a range of cycles of an SM whose instructions are to be recorded on their way through the
// pipeline, from now on.
type Range struct {
	SM     int
	Cycles uint64
}

// NewLive begins a run, which stop ends early. A pause ends with the context.
func NewLive(ctx context.Context, input string, stop func()) *Live {
	return &Live{ctx: ctx, input: input, stop: stop, began: time.Now(), news: make(chan struct{}), state: State{Is: Runs, Input: input}}
}

// changed wakes all readers. The mutex is held.
func (l *Live) changed() {
	close(l.news)
	l.news = make(chan struct{})
}

// Show sets the state of the run; the times are added.
func (l *Live) Show(s State) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	s.Is, s.Holds, s.Done, s.Input = l.state.Is, l.state.Holds, l.state.Done, l.input
	s.Seconds = time.Since(l.began).Seconds()
	if s.Share > 0 && s.Share < 1 {
		s.Left = s.Seconds * (1/s.Share - 1)
	}
	l.state = s
	l.changed()
}

// Look shows the result so far if it is due and someone looks. If the run is paused, Look shows
// it in any case, and returns when the run goes on, makes a step, or ends. It returns what shall be
// recorded then; nil: nothing.
func (l *Live) Look(page func() (*Page, error)) (*Range, error) {
	start := time.Now()
	l.mutex.Lock()
	l.state.Holds = true
	paused := l.state.Is == Paused
	due := l.readers > 0 && !start.Before(l.next)
	l.mutex.Unlock()
	if !due && !paused {
		return l.wished(), nil
	}
	p, err := page()
	if err == nil {
		err = l.show(p, start)
	}
	if paused {
		l.hold()
		l.mutex.Lock()
		l.began = l.began.Add(time.Since(start))
		l.mutex.Unlock()
	}
	return l.wished(), err
}

// wished returns what shall be recorded, once.
func (l *Live) wished() *Range {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	r := l.wish
	l.wish = nil
	return r
}

// hold waits while the run is paused.
func (l *Live) hold() {
	for {
		l.mutex.Lock()
		on, news := l.state.Is != Paused || l.step, l.news
		l.step = false
		l.mutex.Unlock()
		if on {
			return
		}
		select {
		case <-l.ctx.Done():
			return
		case <-news:
		}
	}
}

// Pause makes the run wait at the next look, Continue lets it go on, and Step lets a paused run
// go on until the next look.
func (l *Live) Pause()    { l.turn(Runs, Paused, false) }
func (l *Live) Continue() { l.turn(Paused, Runs, false) }
func (l *Live) Step()     { l.turn(Paused, Paused, true) }

// Record makes the run record a range from the next look on; a paused run makes a step for it.
func (l *Live) Record(r Range) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	if (l.state.Is == Runs || l.state.Is == Paused) && l.state.Holds {
		l.wish, l.step = &r, l.state.Is == Paused
		l.changed()
	}
}

// turn changes a state to another.
func (l *Live) turn(from, to string, step bool) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	if l.state.Is == from && l.state.Holds {
		l.state.Is, l.step = to, step
		l.changed()
	}
}

// show replaces the results, unless they are final.
func (l *Live) show(p *Page, start time.Time) error {
	data, err := p.pack()
	if err != nil {
		return err
	}
	l.mutex.Lock()
	defer l.mutex.Unlock()
	if l.state.Done {
		return nil
	}
	l.data = data
	l.version++
	now := time.Now()
	l.next = now.Add(max(resultPause, resultShare*now.Sub(start)))
	l.changed()
	return nil
}

// End shows the final result; a page without results if there is none.
func (l *Live) End(p *Page) error {
	err := l.show(p, time.Now())
	l.mutex.Lock()
	defer l.mutex.Unlock()
	if l.state.Is != Stopped {
		l.state.Is = Ended
	}
	l.state.Done = true
	l.state.Seconds, l.state.Left = time.Since(l.began).Seconds(), 0
	l.changed()
	return err
}

// Stop ends the run early, as a user's wish.
func (l *Live) Stop() {
	l.mutex.Lock()
	runs := l.state.Is == Runs || l.state.Is == Paused
	if runs {
		l.state.Is = Stopped
		l.changed()
	}
	l.mutex.Unlock()
	if runs {
		l.stop()
	}
}

// results returns what a page begins with.
func (l *Live) results() ([]byte, error) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	if l.data != nil {
		return l.data, nil
	}
	return (&Page{}).pack()
}

// reader counts who looks.
func (l *Live) reader(n int) {
	l.mutex.Lock()
	l.readers += n
	l.mutex.Unlock()
}

// events sends what changes until the reader has gone.
func (l *Live) events(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/event-stream")
	out := http.NewResponseController(w)
	l.reader(1)
	defer l.reader(-1)
	sent := 0
	for {
		l.mutex.Lock()
		state, data, version, news := l.state, l.data, l.version, l.news
		l.mutex.Unlock()
		text, err := json.Marshal(state)
		if err == nil && version != sent {
			_, err = fmt.Fprintf(w, "event: page\ndata: %s\n\n", data)
			sent = version
		}
		if err == nil {
			_, err = fmt.Fprintf(w, "event: state\ndata: %s\n\n", text)
		}
		if err == nil {
			err = out.Flush()
		}
		if err != nil || !l.wait(r, news) {
			return
		}
	}
}

// wait waits until there are news and the pause is over, or the reader has to hear that the
// server is alive. It returns false when the reader has gone.
func (l *Live) wait(r *http.Request, news <-chan struct{}) bool {
	select {
	case <-r.Context().Done():
		return false
	case <-time.After(aliveAfter):
		return true
	case <-news:
	}
	select {
	case <-r.Context().Done():
		return false
	case <-time.After(statePause):
		return true
	}
}
