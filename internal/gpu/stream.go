package gpu

import (
	"context"
	"errors"
	"slices"

	"github.com/heddle-sim/heddle/internal/exec"
)

// Op is an action of the host on a stream. Actions of one stream happen in
// their order. Those of stream 0 wait for all before them on every stream, and
// all behind them wait for them.
type Op struct {
	Kind   OpKind
	Stream int64

	// Make and Options are a launch. Add makes the work, which is run when its
	// turn comes. With warm caches another one is made for the rehearsal.
	Make    func(rehearsal bool) (exec.Work, error)
	Options LaunchOptions
	// Save keeps the contents of device memory and returns how to restore
	// them; runs with warm caches need it.
	Save func() (restore func())
	// Kernel is set for a launch by Add; it is complete when the action is.
	Kernel *Kernel

	// Copy moves a copy's bytes; it is called at the copy's end. Way and Bytes
	// say how long the copy takes, if copies take time.
	Copy  func() error
	Way   CopyWay
	Bytes uint64
	// Fills are the ranges of device memory that the copy writes, ToHost those
	// it reads on their way to the host.
	Fills, ToHost []Range

	// Event is the event that is recorded or waited for. A wait refers to the
	// last record of it that was given before; without one it waits for nothing.
	Event int

	// Start and End are core cycles, set when the action has ended.
	Start, End uint64

	state  opState
	cut    bool // ended with the run, before its own end
	warmed bool // has been rehearsed
	after  int  // for a wait: the record it waits for, -1 if none
}

// Range is a piece of device memory.
type Range struct{ Addr, Bytes uint64 }

// OpKind is the kind of an action.
type OpKind uint8

// The kinds.
const (
	OpLaunch OpKind = iota
	OpCopy
	OpRecord
	OpWait
	OpSync // the host waits for all before it
)

type opState uint8

const (
	opWaits opState = iota
	opRuns
	opEnded
)

// Begun reports whether the action's turn has come.
func (o *Op) Begun() bool { return o.state != opWaits }

// Ended reports whether the action came to its end before the run did.
func (o *Op) Ended() bool { return o.state == opEnded && !o.cut }

// ops are the actions given so far, in the host's order.
type ops struct {
	list  []*Op
	first int         // all before it have ended
	event map[int]int // last record of each event
	feed  func() (*Op, error)
	ahead int   // actions that are fetched from feed before they are needed
	bad   error // that feed returned
}

// Feed has actions fetched one after another while others run, so that not all
// of them have to be made at first: Finish calls next whenever fewer than ahead
// actions wait or run, until it returns nil or an error, which ends the run once
// the actions before have ended. Such a run has no events.
func (g *GPU) Feed(ahead int, next func() (*Op, error)) {
	g.ops.feed, g.ops.ahead = next, max(1, ahead)
}

// fetch adds actions from feed, and forgets those that have ended.
func (g *GPU) fetch() {
	s := &g.ops
	for s.first < len(s.list) && s.list[s.first].state == opEnded {
		s.first++
	}
	if s.feed == nil {
		return
	}
	s.list = slices.Delete(s.list, 0, s.first)
	s.first = 0
	for s.feed != nil && len(s.list) < s.ahead {
		o, err := s.feed()
		if err == nil && o != nil {
			err = g.Add(o)
		}
		if err != nil || o == nil {
			s.feed, s.bad = nil, err
		}
	}
}

// Add gives an action. It does not let time pass: see Finish. The error is a
// *exec.LaunchError if no SM can take a launch.
func (g *GPU) Add(o *Op) error {
	o.after = -1
	switch o.Kind {
	case OpLaunch:
		w, err := o.Make(false)
		if err != nil {
			return err
		}
		k, err := g.newKernel(w, o.Options)
		if err != nil {
			return err
		}
		o.Kernel = k
		k.done = func(k *Kernel) { o.End, o.state, o.cut = k.End, opEnded, k.Blocks < k.total }
	case OpRecord:
		if g.ops.event == nil {
			g.ops.event = map[int]int{}
		}
		g.ops.event[o.Event] = len(g.ops.list)
	case OpWait:
		if at, ok := g.ops.event[o.Event]; ok {
			o.after = at
		}
	}
	g.ops.list = append(g.ops.list, o)
	return nil
}

// Finish lets time pass until all actions have ended. An error ends the run;
// kernels that were under way are then complete as far as they came.
func (g *GPU) Finish(ctx context.Context) error {
	g.hire()
	defer g.dismiss()
	for {
		if err := ctx.Err(); err != nil {
			g.abandon()
			return err
		}
		if err := g.begin(); err != nil {
			g.abandon()
			return err
		}
		if g.running == 0 && g.copies.n == 0 {
			if g.ops.first < len(g.ops.list) {
				g.abandon()
				return errors.New("actions wait for each other")
			}
			err := g.ops.bad
			g.ops = ops{}
			return err
		}
		if err := g.run(ctx); err != nil {
			g.abandon()
			return err
		}
	}
}

// begin ends the copies whose time has come, starts all actions whose turn it
// is, and ends those that take no time, until there are no more.
func (g *GPU) begin() error {
	if err := g.endCopies(); err != nil {
		return err
	}
	for again := true; again; {
		again = false
		g.fetch()
		s := &g.ops
		open := map[int64]bool{} // streams with an earlier action that has not ended
		for i := s.first; i < len(s.list); i++ {
			o := s.list[i]
			if o.state == opEnded {
				continue
			}
			turn := !open[0] && !open[o.Stream]
			if o.Stream == 0 || o.Kind == OpSync {
				turn = len(open) == 0
			}
			if o.Kind == OpWait && o.after >= 0 && s.list[o.after].state != opEnded {
				turn = false
			}
			if turn && o.state == opWaits {
				if err := g.act(o); err != nil && !errors.Is(err, errLater) {
					return err
				}
				again = again || o.state == opEnded
			}
			if o.state != opEnded {
				open[o.Stream] = true
				if o.Kind == OpSync || o.Stream == 0 {
					break // all the others wait for it
				}
			}
		}
	}
	return nil
}

// act starts an action.
func (g *GPU) act(o *Op) error {
	warm := g.cfg.Run.Caches == Warm
	if warm && (g.running > 0 || g.copies.n > 0) {
		return errLater // one after the other
	}
	o.Start = g.now
	switch o.Kind {
	case OpLaunch:
		if warm && !o.warmed {
			return g.rehearse(o)
		}
		if err := g.start(o.Kernel); err != nil {
			return err
		}
		o.state = opRuns
		return nil
	case OpCopy:
		return g.beginCopy(o)
	}
	o.End, o.state = g.now, opEnded
	return nil
}

// rehearse runs a launch once without counting it. What it wrote is undone, but
// the caches keep what it left there.
func (g *GPU) rehearse(o *Op) error {
	w, err := o.Make(true)
	if err != nil {
		return err
	}
	k, err := g.newKernel(w, o.Options)
	if err != nil {
		return err
	}
	restore := func() {}
	if o.Save != nil {
		restore = o.Save()
	}
	k.done = func(*Kernel) {
		restore()
		o.warmed = true
	}
	return g.start(k)
}

// Fill puts ranges of device memory into the L2, as copies to the device do
// if the run's conditions say so.
func (g *GPU) Fill(list []Range) {
	if !g.cfg.Run.CopiesFillL2 {
		return
	}
	for _, r := range list {
		g.part.Warm(r.Addr, r.Bytes, g.now)
	}
}
