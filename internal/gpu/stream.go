package gpu

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"

	"github.com/heddle-sim/heddle/internal/core"
	"github.com/heddle-sim/heddle/internal/exec"
)

// Op is an action of the host. Actions of one stream happen in order. Those of
// stream 0 wait for all earlier actions of every stream, and all later actions wait
// for them, except for those of NonBlocking streams.
type Op struct {
	Kind        OpKind
	Stream      int64
	NonBlocking bool // its stream, which is not 0, does not synchronise with stream 0
	Loose       bool // it belongs to no stream, whatever Stream says: it waits only for After
	// After are earlier actions that it also waits for, of this chip or of others of
	// its Machine.
	After []*Op
	// Priority decides between launches that could begin or could place the next
	// block: the smallest number goes first, and among equals the earliest.
	Priority int
	// Programmatic lets a launch begin while the launch before it in its stream runs, as soon as all blocks of that one
	// have ended or let it (griddepcontrol.launch_dependents; CUDA: programmatic stream serialization). It ends no
	// earlier. It has no effect on cores that are no core.Dependents.
	Programmatic bool

	// Make and Options are a launch. Add calls Make; the work runs when its turn
	// comes. With warm caches Make is called again for the rehearsal.
	Make    func(rehearsal bool) (exec.Work, error)
	Options LaunchOptions
	// Save saves the contents of device memory and returns a function that restores
	// them; runs with warm caches need it.
	Save func() (restore func())
	// Pass, if not nil, is asked when a launch's turn comes and no other launch runs or could. If
	// it returns a passage, the launch has been executed without the chip, and only its time
	// passes; launches whose turn comes meanwhile wait, if they have a Pass too.
	Pass func() (*Passage, error)
	// Look, if not nil, is asked whether some of the next blocks of a launch are passed over: when it begins,
	// then, while it runs alone, whenever as many blocks have completed as it asked for. Blocks that
	// are executed without the chip may leave their trace in the L2.
	Look func(s Standing, w *Warming) (Skip, error)
	// Passed says, at the end of a launch with blocks that were passed over, how many cycles these are
	// estimated to take.
	Passed func(now uint64) uint64
	// Add sets Kernel for a launch; it is complete when the action has ended.
	Kernel *Kernel

	// Copy moves a copy's bytes; it is called at the copy's end. Way and Bytes
	// say how long the copy takes, if copies take time.
	Copy  func() error
	Way   CopyWay
	Bytes uint64
	// From and To are the chips of a copy between two, by their numbers in the Machine.
	From, To int
	// Fills are the ranges of device memory that the copy writes, ToHost those that
	// it copies to the host.
	Fills, ToHost []Range

	// Start and End are core cycles, set when the action has ended.
	Start, End uint64

	state   opState
	cut     bool   // ended early, with the run
	warmed  bool   // has been rehearsed
	number  uint64 // among all actions
	chip    *GPU   // to which it was added
	waits   int    // actions that it waits for
	coupled bool   // with other chips
	next    []*Op  // actions that wait for it
	dependence
}

// Range is a piece of device memory.
type Range struct{ Addr, Bytes uint64 }

// OpKind is the kind of an action.
type OpKind uint8

// The kinds.
const (
	OpLaunch OpKind = iota
	OpCopy
	OpMark // takes no time; others wait for it, or read its time
	OpSync // waits for all earlier actions of every stream; all later ones wait for it
)

type opState uint8

const (
	opWaits opState = iota
	opRuns
	opEnded
	opNever // the run ended before its turn
)

// Begun reports whether the action's turn has come.
func (o *Op) Begun() bool { return o.state == opRuns || o.state == opEnded }

// Ended reports whether the action came to its end before the run did.
func (o *Op) Ended() bool { return o.state == opEnded && !o.cut }

// ops are the actions added so far.
type ops struct {
	list    []*Op         // in the host's order; the first may be dropped once they have ended
	given   uint64        // number added so far
	open    int           // number not ended
	coupled int           // of these, those that depend on other chips
	last    map[int64]*Op // the last action of each stream, if it has not ended
	sync    *Op           // the last OpSync, likewise
	ready   []*Op         // those that no longer wait, in the order of their turns
	later   []*Op         // of these, those that had their turn in this cycle but must still wait
	feed    func() (*Op, error)
	ahead   int   // number of actions fetched from feed in advance
	bad     error // error of feed
}

// Feed supplies actions while others run, so that they need not all exist at the
// start: Finish calls next whenever fewer than ahead actions wait or run, until it
// returns nil or an error. The error ends the run once the earlier actions have
// ended.
func (g *GPU) Feed(ahead int, next func() (*Op, error)) {
	g.ops.feed, g.ops.ahead = next, max(1, ahead)
}

// forget drops ended actions from the front of the list.
func (s *ops) forget() {
	n := 0
	for n < len(s.list) && s.list[n].state == opEnded {
		n++
	}
	s.list = slices.Delete(s.list, 0, n)
}

// fetch adds actions from feed and drops those that have ended.
func (g *GPU) fetch() {
	s := &g.ops
	if s.feed == nil {
		return
	}
	s.forget()
	for s.feed != nil && s.open < s.ahead {
		o, err := s.feed()
		if err == nil && o != nil {
			err = g.Add(o)
		}
		if err != nil || o == nil {
			s.feed, s.bad = nil, err
		}
	}
}

// Add adds an action. It does not advance time: see Finish. The error is a
// *exec.LaunchError if no SM can take a launch.
func (g *GPU) Add(o *Op) error {
	if err := g.renew(); err != nil {
		return err
	}
	if o.Kind == OpLaunch {
		w, err := o.Make(false)
		if err != nil {
			return err
		}
		k, err := g.newKernel(w, o.Options)
		if err != nil {
			return err
		}
		o.Kernel, k.op, k.priority = k, o, o.Priority
		k.done = func(k *Kernel) {
			o.cut = k.Blocks < k.total
			g.leave(o)
		}
	}
	s := &g.ops
	o.chip, o.number = g, s.given
	s.given++
	s.open++
	s.list = append(s.list, o)
	coupled := o.Kind == OpCopy && o.Way == ToPeer
	wait := func(x *Op) {
		if x != nil && x.state != opEnded && x.state != opNever {
			x.next = append(x.next, o)
			o.waits++
			coupled = coupled || x.chip != g
		}
	}
	for _, x := range o.After {
		wait(x)
	}
	if !o.Loose {
		s.enter(o, func(x *Op) {
			if x != nil && x == s.last[o.Stream] && g.mayOverlap(o, x) {
				o.follow(x)
				return
			}
			wait(x)
		})
	}
	if coupled {
		o.coupled = true
		s.coupled++
	}
	if o.waits == 0 {
		s.offer(o)
	}
	return nil
}

// enter appends an action to its stream, and makes it wait for the stream's earlier
// actions and for those of other streams that it depends on.
func (s *ops) enter(o *Op, wait func(*Op)) {
	if s.last == nil {
		s.last = map[int64]*Op{}
	}
	switch {
	case o.Kind == OpSync:
		for _, x := range s.last {
			wait(x)
		}
		s.sync = o
	case o.Stream == 0:
		for _, x := range s.last {
			if !x.NonBlocking {
				wait(x)
			}
		}
	default:
		wait(s.last[o.Stream])
		if !o.NonBlocking {
			wait(s.last[0])
		}
	}
	if s.sync != o {
		wait(s.sync)
	}
	s.last[o.Stream] = o
}

// offer queues an action that waits for nothing.
func (s *ops) offer(o *Op) {
	at, _ := slices.BinarySearchFunc(s.ready, o, func(a, b *Op) int {
		return cmp.Or(cmp.Compare(a.Priority, b.Priority), cmp.Compare(a.number, b.number))
	})
	s.ready = slices.Insert(s.ready, at, o)
}

// endOp ends an action at the given time; those that waited only for it are next.
func (g *GPU) endOp(o *Op, at uint64) {
	o.End, o.state, o.After = at, opEnded, nil
	s := &g.ops
	s.open--
	if o.coupled {
		s.coupled--
	}
	if s.last[o.Stream] == o {
		delete(s.last, o.Stream)
	}
	if s.sync == o {
		s.sync = nil
	}
	g.release(o)
	g.letGo(o)
}

// Finish advances time until all actions have ended. An error ends the run: the
// other actions never end, and running kernels keep their results so far. If there
// was one, the next action finds the machine as New makes it, idle, with empty
// caches, clocks at phase zero and no code in memory. Time, counters and observers
// continue; device memory is not part of the chip.
func (g *GPU) Finish(ctx context.Context) error { return g.pass(ctx, nil, math.MaxUint64) }

// Wait advances time until an action has ended, but by no more than the given core
// cycles. Errors are as with Finish.
func (g *GPU) Wait(ctx context.Context, o *Op, cycles uint64) error {
	if o.state == opEnded {
		return nil
	}
	until := g.now + cycles
	if until < cycles {
		until = math.MaxUint64
	}
	err := g.pass(ctx, o, until)
	g.ops.forget()
	return err
}

// pass advances time to a cycle, or until an action has ended, or all have.
func (g *GPU) pass(ctx context.Context, o *Op, until uint64) error {
	g.hire()
	defer g.dismiss()
	g.until = until
	for {
		if err := ctx.Err(); err != nil {
			g.abandon()
			return err
		}
		if err := g.begin(); err != nil {
			g.abandon()
			return err
		}
		if o != nil && o.state == opEnded || g.now >= until {
			return nil
		}
		if g.running == 0 && g.copies.n == 0 {
			if g.ops.open > 0 {
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

// begin ends the copies that are due, starts all actions whose turn it is, and ends
// those that take no time, until there are no more.
func (g *GPU) begin() error {
	g.offered = false
	if err := g.endCopies(); err != nil {
		return err
	}
	if err := g.idles(); err != nil {
		return err
	}
	s := &g.ops
	for again := true; again; {
		again = false
		g.fetch()
		for len(s.ready) > 0 {
			o := s.ready[0]
			s.ready = slices.Delete(s.ready, 0, 1)
			if err := g.act(o); err != nil && !errors.Is(err, errLater) {
				return err
			}
			if o.state == opWaits {
				s.later = append(s.later, o)
			}
			again = again || o.state == opEnded
		}
		for _, o := range s.later {
			s.offer(o)
		}
		s.later = s.later[:0]
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
		if o.Pass != nil && !o.warmed {
			if over, err := g.passOver(o); over || err != nil {
				return err
			}
		}
		if warm && !o.warmed {
			return g.rehearse(o)
		}
		if err := g.start(o.Kernel); err != nil {
			return err
		}
		if o.primary != nil {
			o.Kernel.core.(core.Dependent).Hold(true)
		}
		o.state = opRuns
		return nil
	case OpCopy:
		return g.beginCopy(o)
	}
	g.endOp(o, g.now)
	return nil
}

// rehearse runs a launch once without counting it. Its writes are undone, but the
// caches keep their contents.
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

// Fill puts ranges of device memory into the L2 if the run's conditions say that
// copies to the device do so.
func (g *GPU) Fill(list []Range) {
	if !g.cfg.Run.CopiesFillL2 || g.renew() != nil { // Add reports the error
		return
	}
	for _, r := range list {
		g.last.good = false
		g.mem.Parts.Warm(r.Addr, r.Bytes, g.now)
	}
}
