package exec

import "github.com/heddle-sim/heddle/internal/isa"

// This file: looking at what warps execute. A Tap stands between an executor and a
// core model, passes everything on and shows what comes back. It changes nothing
// about a run: models see the same instructions, effects and order.

// BlockWatcher sees what the warps of a block execute.
type BlockWatcher interface {
	// Executed is called after a warp of the block has executed e.Inst. Unless p is
	// NoPending, what the instruction still has to do in memory comes with Accessed.
	Executed(warp int, e *Effects, p Pending)
	// Accessed is called after a pending instruction has accessed memory.
	Accessed(warp int, e *Effects, p Pending)
	// Released is called before the block is released.
	Released()
}

// CommitWatcher is a BlockWatcher that is also called after the results of a pending
// instruction have become visible.
type CommitWatcher interface {
	BlockWatcher
	Committed(warp int, p Pending)
}

// Tap returns work whose blocks are watched. Open is called for each block, when it
// starts.
func Tap(w Work, open func(Block) BlockWatcher) Work { return &tapped{w, open} }

// Untapped returns the work itself.
func Untapped(w Work) Work {
	for {
		x, ok := w.(*tapped)
		if !ok {
			return w
		}
		w = x.Work
	}
}

// tapped is work whose blocks are watched.
type tapped struct {
	Work
	open func(Block) BlockWatcher
}

func (w *tapped) Block(n uint64) Block {
	b := &tappedBlock{Block: w.Work.Block(n)}
	b.see = w.open(b)
	b.warps = make([]Warp, b.Warps())
	for i := range b.warps {
		x := &tappedWarp{Warp: b.Block.Warp(i), b: b, i: i}
		switch y := x.Warp.(type) {
		case Deferred:
			b.warps[i] = &tappedDeferred{x, y}
		case Foreseen:
			b.warps[i] = &tappedForeseen{x, y}
		default:
			b.warps[i] = x
		}
	}
	return b
}

// tappedBlock is a running block.
type tappedBlock struct {
	Block
	see   BlockWatcher
	warps []Warp
}

func (b *tappedBlock) Warp(i int) Warp { return b.warps[i] }

// Tell passes the call on.
func (b *tappedBlock) Tell() {
	if x, ok := b.Block.(Teller); ok {
		x.Tell()
	}
}

// Postpone passes the call on.
func (b *tappedBlock) Postpone() {
	if x, ok := b.Block.(Postponer); ok {
		x.Postpone()
	}
}

// Signal passes the call on.
func (b *tappedBlock) Signal(s Notice) error {
	if x, ok := b.Block.(Postponer); ok {
		return x.Signal(s)
	}
	return nil
}

// Rank passes the call on.
func (b *tappedBlock) Rank() int {
	if x, ok := b.Block.(ClusterMember); ok {
		return x.Rank()
	}
	return 0
}

// Opened passes the call on.
func (b *tappedBlock) Opened() uint64 {
	if x, ok := b.Block.(ClusterMember); ok {
		return x.Opened()
	}
	return 0
}

// Team passes the call on.
func (b *tappedBlock) Team() any {
	if x, ok := b.Block.(ClusterMember); ok {
		return x.Team()
	}
	return nil
}

// SharedBytes passes the call on.
func (b *tappedBlock) SharedBytes() []byte {
	if x, ok := b.Block.(Sharer); ok {
		return x.SharedBytes()
	}
	return nil
}

// Meeting passes the call on.
func (b *tappedBlock) Meeting(i int) (came, need int, missing []isa.LaneMask) {
	if x, ok := b.Block.(Meeter); ok {
		return x.Meeting(i)
	}
	return 0, 0, nil
}

func (b *tappedBlock) Release() {
	b.see.Released()
	b.Block.Release()
}

// tappedWarp is a warp that is stepped. What a warp may also be it passes on.
type tappedWarp struct {
	Warp
	b *tappedBlock
	i int
}

func (x *tappedWarp) Step(e *Effects) error {
	err := x.Warp.Step(e)
	if err == nil && e.Inst != nil {
		x.b.see.Executed(x.i, e, NoPending)
	}
	return err
}

// Pass is as in Passer.
func (x *tappedWarp) Pass(e *Effects) error {
	p, ok := x.Warp.(Passer)
	if !ok {
		return x.Step(e)
	}
	err := p.Pass(e)
	if err == nil && e.Inst != nil {
		x.b.see.Executed(x.i, e, NoPending)
	}
	return err
}

// Suspends is as in Suspender.
func (x *tappedWarp) Suspends() bool {
	s, ok := x.Warp.(Suspender)
	return ok && s.Suspends()
}

func (x *tappedWarp) Digest() (uint64, bool) {
	if d, ok := x.Warp.(Digester); ok {
		return d.Digest()
	}
	return 0, false
}

func (x *tappedWarp) Fragments() []Fragment {
	if i, ok := x.Warp.(Inspector); ok {
		return i.Fragments()
	}
	return nil
}

func (x *tappedWarp) Joins() []Join {
	if i, ok := x.Warp.(Inspector); ok {
		return i.Joins()
	}
	return nil
}

func (x *tappedWarp) Frame(lane int) (Frame, bool) {
	if i, ok := x.Warp.(Inspector); ok {
		return i.Frame(lane)
	}
	return Frame{}, false
}

func (x *tappedWarp) Changed(lane int, since *Seen) (Frame, bool) {
	if i, ok := x.Warp.(Inspector); ok {
		return i.Changed(lane, since)
	}
	return Frame{}, false
}

// tappedForeseen is a warp whose way is known beforehand.
type tappedForeseen struct {
	*tappedWarp
	f Foreseen
}

func (x *tappedForeseen) Ahead(n int) (uint64, bool) { return x.f.Ahead(n) }

// tappedDeferred is a warp whose instructions access memory after they have issued.
type tappedDeferred struct {
	*tappedWarp
	d Deferred
}

func (x *tappedDeferred) Issue(e *Effects) (Pending, error) {
	p, err := x.d.Issue(e)
	if err == nil && e.Inst != nil {
		x.b.see.Executed(x.i, e, p)
	}
	return p, err
}

func (x *tappedDeferred) Access(p Pending, e *Effects) error {
	err := x.d.Access(p, e)
	if err == nil {
		x.b.see.Accessed(x.i, e, p)
	}
	return err
}

func (x *tappedDeferred) Commit(p Pending) {
	x.d.Commit(p)
	if c, ok := x.b.see.(CommitWatcher); ok {
		c.Committed(x.i, p)
	}
}

func (x *tappedDeferred) Late(p Pending) bool { return x.d.Late(p) }
