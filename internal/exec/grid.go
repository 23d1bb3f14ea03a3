package exec

import (
	"cmp"
	"context"
	"io"
	"runtime"
	"sync"
	"sync/atomic"
)

// This file: running all blocks of a launch, in any instruction set.
//
// Blocks that cannot communicate run in batches: every block of a batch sees device
// memory as it was before the batch plus its own stores, and the stores are applied in
// block order afterwards. A batch's outcome is therefore independent of the number of
// goroutines, even for programs with races. Blocks that can communicate (global
// atomics, fences, volatile and ordered accesses, device heap) run one after another
// directly on device memory, each for a slice of instructions at a time, and yield
// when they spin.
const (
	firstBatch = 32       // blocks in a launch's first batch
	mostBatch  = 1024     // blocks in any batch
	batchBytes = 16 << 20 // batches stop growing when their stores fill this

	blockSlice = 1 << 20 // instructions before the next resident block gets a turn
	spinSlice  = 1 << 10 // the same for kernels that wait in loops
	residents  = 128     // concurrent blocks of an ordinary launch, unless the launch sets it
	together   = 1 << 20 // concurrent blocks of a cooperative launch
)

// Options are the conditions of a functional run; they do not affect results.
type Options struct {
	Threads  int       // worker goroutines; 0 means one per core
	MaxInsts uint64    // warp instructions per machine, all launches together; 0 means no limit
	Out      io.Writer // where printf of device code goes; nil discards it

	// From and Count select blocks: Count of them from number From on; a Count of 0 selects all. Blocks that wait
	// for others must run all together; a grid of clusters refuses a part.
	From, Count uint64

	// See, if set, is called with what each step of a warp has done, by one goroutine. The effects are those of
	// Warp.Step.
	See func(block uint64, e *Effects)

	// Progress, if set, is called from time to time by one goroutine with the number of
	// blocks done, their total, and the warp instructions so far.
	Progress func(blocks, total, warpInsts uint64)
}

// Result counts what a launch did. If an error ended the run, it counts what was done
// until then.
type Result struct {
	Blocks      uint64 // blocks that ran to their end
	WarpInsts   uint64 // instructions issued, once per warp (or per part of a diverged one)
	ThreadInsts uint64 // active lanes whose guard held, summed over those
}

// add counts the instructions of a block.
func (r *Result) add(b GridBlock) { r.count(b.Counts()) }

func (r *Result) count(warpInsts, threadInsts uint64) {
	r.WarpInsts += warpInsts
	r.ThreadInsts += threadInsts
}

// Status is the state of a block after Run.
type Status uint8

// The statuses.
const (
	Stopped  Status = iota // its budget is used up
	Finished               // all threads have exited
	Failed                 // faulted
	Stuck                  // no warp can continue
)

// GridBlock is a thread block of a functional run.
type GridBlock interface {
	Index() Dim3
	// Run executes the block until it ends, or until it has issued budget warp
	// instructions.
	Run(budget uint64) Status
	Counts() (warpInsts, threadInsts uint64)
	// Say writes what the block has printed, and reports its warnings; to may be nil.
	Say(to io.Writer, m *Warner) error
	// Failure returns the *Fault of a Failed block.
	Failure() error
	// Waits describes what every warp waits for.
	Waits() []string
	// Somewhere returns the place of a warp that has not ended.
	Somewhere() Where
	// Watch lets a search see what the block does; nil ends that. Loops returns the places of
	// the warps that can run.
	Watch(s *Search)
	Loops() []Where
	// Free lets lanes go on that wait for others of their warp, where that can be. It reports
	// whether there were any, and whether all is well.
	Free() (moved, ok bool)
	// Quiet reports whether nothing is left to do for a block that has finished but to count its instructions: it has
	// nothing to say, and nobody follows it.
	Quiet() bool
	// Recycle gives the block's storage back to its worker.
	Recycle()
}

// Overlay holds the stores of a block until its batch ends.
type Overlay interface {
	DirtyBytes() int // bytes held
	Commit()         // applies them to memory and empties it
	Discard()        // empties it
}

// Direct selects memory itself in place of an overlay number.
const Direct = -1

// Grid is a launch that is ready to run.
type Grid struct {
	Kernel      string // for messages
	Blocks      uint64 // or clusters of them, which then run as one block each
	Per         uint64 // blocks of a cluster; 0: there are none
	Talks       bool   // blocks can communicate through memory
	Spins       bool   // blocks also wait for each other in loops
	Cooperative bool   // all blocks must be resident at once
	Order       Sequence
	Rest        *Rest // from which its blocks take; nil if they do not
	Resident    int   // concurrent blocks of an ordinary launch on the target machine; 0: our choice

	// Begin makes block n ready to run on memory itself (Direct) or on an overlay.
	// Workers are numbered from 0; calls for different workers may be concurrent.
	Begin func(worker int, n uint64, overlay int) GridBlock
	// Overlay returns an overlay that is empty. Numbers begin at 0.
	Overlay func(i int) Overlay
	// Warner takes the warnings of each block that ended, well or not, in block order.
	Warner *Warner
}

// inTurn reports whether blocks run in turn. The order of blocks in batches has no effect.
func (g *Grid) inTurn() bool { return g.Talks || g.Cooperative || g.Order != Sequence{} }

// Workers returns the maximum number of workers of a run with these options.
func (g *Grid) Workers(o Options) int {
	n := o.Threads
	if n <= 0 {
		n = runtime.GOMAXPROCS(0)
	}
	if g.inTurn() || o.See != nil {
		n = 1
	}
	return int(min(uint64(n), g.Blocks, mostBatch))
}

// gridRun is the state of a running launch.
type gridRun struct {
	*Grid
	ctx    context.Context
	o      Options
	issued uint64 // by the machine before this launch
	budget uint64 // warp instructions left
	res    Result
}

// Run executes the launch to its end; issued is the number of warp instructions that
// the machine has executed before. Errors: *LaunchError of a part of a grid of clusters; *Fault, *StuckError or *LimitError of a
// block; ctx.Err() if cancelled. The result counts what was done even if an error is
// returned.
func (g *Grid) Run(ctx context.Context, o Options, issued uint64) (Result, error) {
	if o.See != nil {
		seen, begin := *g, g.Begin
		seen.Begin = func(worker int, n uint64, overlay int) GridBlock {
			b := begin(worker, n, overlay)
			if x, ok := b.(interface{ See(func(uint64, *Effects)) }); ok {
				x.See(o.See)
			}
			return b
		}
		g = &seen
	}
	if o.Count > 0 {
		if g.Per > 1 {
			return Result{}, &LaunchError{Kernel: g.Kernel, Msg: "a part of a grid with clusters of more than one block cannot run on its own yet"}
		}
		part, begin := *g, g.Begin
		part.Blocks, part.Rest = o.Count, nil // the others are somebody else's
		part.Begin = func(worker int, n uint64, overlay int) GridBlock { return begin(worker, o.From+n, overlay) }
		g = &part
	}
	r := &gridRun{Grid: g, ctx: ctx, o: o, issued: issued, budget: ^uint64(0)}
	if o.MaxInsts > 0 {
		r.budget = o.MaxInsts - min(o.MaxInsts, issued)
	}
	var err error
	if g.inTurn() {
		err = r.inTurn()
	} else {
		err = r.inBatches()
	}
	return r.res, err
}

// finish accounts for a block that has ended or failed, in block order.
func (r *gridRun) finish(b GridBlock, st Status) error {
	r.res.add(b)
	if err := b.Say(r.o.Out, r.Warner); err != nil {
		return err
	}
	switch st {
	case Failed:
		return b.Failure()
	case Stuck:
		return &StuckError{Kernel: r.Kernel, Block: b.Index(), Waits: b.Waits()}
	case Stopped:
		return &LimitError{Limit: r.o.MaxInsts, Where: b.Somewhere()}
	}
	r.res.Blocks += r.per()
	return nil
}

// per is the number of blocks that run as one.
func (g *Grid) per() uint64 { return max(1, g.Per) }

func (r *gridRun) progress() {
	if r.o.Progress != nil {
		r.o.Progress(r.res.Blocks, r.Blocks*r.per(), r.issued+r.res.WarpInsts)
	}
}

// inTurn runs blocks that may communicate.
func (r *gridRun) inTurn() error {
	most, slice := max(1, cmp.Or(r.Resident, residents)/int(r.per())), uint64(blockSlice)
	if r.Spins {
		slice = spinSlice
	}
	if r.Cooperative {
		most = int(min(r.Blocks, together))
	}
	var under []GridBlock
	// Blocks still running when the run ends count with what they did.
	leave := func(err error) error {
		for _, b := range under {
			r.res.add(b)
		}
		return err
	}
	next := uint64(0)
	r.Rest.Give(func() (n uint64, ok bool) {
		if next == r.Blocks {
			return 0, false
		}
		n = r.Order.At(next, r.Blocks)
		next++
		r.res.Blocks += r.per()
		return n, true
	})
	search := newHunt(r.Spins)
	more := 1 // blocks to begin
	if r.Cooperative {
		more = most
	}
	for next < r.Blocks || len(under) > 0 {
		still := true
		for ; more > 0 && next < r.Blocks && len(under) < most; more-- {
			under = append(under, r.Begin(0, r.Order.At(next, r.Blocks), Direct))
			next++
			still = false
		}
		// If none of them ends, they may be waiting for blocks that have not begun.
		more = max(1, len(under))
		// The newest block runs first: older ones have used up a slice already.
		for i := len(under) - 1; i >= 0; i-- {
			if err := r.ctx.Err(); err != nil {
				return leave(err)
			}
			b := under[i]
			before, _ := b.Counts()
			st := b.Run(min(slice, r.budget))
			after, _ := b.Counts()
			r.budget -= min(r.budget, after-before)
			if st == Stopped && r.budget > 0 {
				continue
			}
			b.Watch(nil)
			under = append(under[:i], under[i+1:]...)
			more = 1
			still = false
			if err := r.finish(b, st); err != nil {
				return leave(err)
			}
			b.Recycle()
			r.progress()
		}
		if search.round(under, still) {
			b, ok := search.free(under)
			switch {
			case b == nil:
				return leave(r.endless(under, next))
			case !ok:
				return leave(b.Failure())
			}
		}
	}
	return nil
}

// place is a block's place in a batch.
type place struct {
	b       GridBlock // nil if it has not begun, or has finished and its worker uses its storage again
	overlay Overlay
	st      Status
	endless bool // it loops for ever

	warpInsts, threadInsts uint64 // that a finished block has issued
}

// ended notes that the block runs no more. Most blocks have finished and are quiet: their worker has the storage back at
// once, for the next one, since all blocks of a batch are more than the host's caches hold. If instructions are bounded, a
// block may be one too many, and is needed for the message.
func (p *place) ended(bounded bool) {
	if p.st != Finished {
		return
	}
	p.warpInsts, p.threadInsts = p.b.Counts()
	if !bounded && p.b.Quiet() {
		p.b.Recycle()
		p.b = nil
	}
}

// leave accounts for a block that has finished.
func (r *gridRun) leave(p *place) error {
	if p.b != nil {
		return r.finish(p.b, p.st)
	}
	r.res.count(p.warpInsts, p.threadInsts)
	r.res.Blocks += r.per()
	return nil
}

// inBatches runs blocks that cannot communicate.
func (r *gridRun) inBatches() error {
	size := firstBatch
	places := make([]place, 0, firstBatch)
	direct := r.Blocks == 1
	// A launch that ends early leaves stores in overlays, which the next launch reuses.
	defer func() {
		for i := range places {
			if o := places[i].overlay; o != nil {
				o.Discard()
			}
		}
	}()
	for first := uint64(0); first < r.Blocks; {
		n := int(min(uint64(size), r.Blocks-first))
		for len(places) < n {
			var p place
			if !direct {
				p.overlay = r.Overlay(len(places))
			}
			places = append(places, p)
		}
		r.batch(first, places[:n], direct)
		if err := r.ctx.Err(); err != nil {
			for i := range places[:n] {
				if p := &places[i]; p.st == Finished {
					if !direct {
						p.overlay.Commit()
					}
					_ = r.leave(p)
				}
			}
			return err
		}
		dirty := 0
		for i := range places[:n] {
			p := &places[i]
			if !direct {
				dirty += p.overlay.DirtyBytes()
				p.overlay.Commit()
			}
			if err := r.endPlace(p); err != nil {
				return err
			}
		}
		first += uint64(n)
		r.progress()
		if dirty < batchBytes/2 && size < mostBatch {
			size *= 2
		} else if dirty > batchBytes && size > firstBatch {
			size /= 2
		}
	}
	return nil
}

// endPlace accounts for a block of a batch, in block order.
func (r *gridRun) endPlace(p *place) error {
	if b := p.b; b != nil {
		wi, _ := b.Counts()
		if wi > r.budget || p.st == Stopped {
			r.budget = 0
			return r.finish(b, Stopped)
		}
		r.budget -= wi
		if p.endless {
			r.res.add(b)
			return r.endless([]GridBlock{b}, r.Blocks)
		}
	}
	if err := r.leave(p); err != nil || p.b == nil {
		return err
	}
	p.b.Recycle()
	p.b = nil
	return nil
}

// batch runs the blocks of a batch, starting with number first. Blocks after one that
// failed need not run: the launch ends there.
func (r *gridRun) batch(first uint64, places []place, direct bool) {
	var at, cut atomic.Int64
	cut.Store(int64(len(places)))
	for i := range places {
		places[i].b, places[i].st = nil, Stopped
	}
	work := func(id int) {
		for {
			i := int(at.Add(1)) - 1
			if int64(i) >= cut.Load() || r.ctx.Err() != nil {
				return
			}
			p, view := &places[i], i
			if direct {
				view = Direct
			}
			b := r.Begin(id, first+uint64(i), view)
			p.b, p.st = b, Stopped
			search, one := newHunt(false), []GridBlock{b}
			for left := r.budget; left > 0; {
				if r.ctx.Err() != nil || int64(i) > cut.Load() {
					break
				}
				slice := min(blockSlice, left)
				if p.st = b.Run(slice); p.st != Stopped {
					break
				}
				left -= slice
				if search.round(one, true) {
					free, ok := search.free(one)
					p.endless = free == nil
					if p.endless {
						p.st = Stuck
						break
					}
					if !ok {
						p.st = Failed
						break
					}
				}
			}
			search.end(one)
			p.ended(r.o.MaxInsts > 0)
			if p.st != Finished {
				for old := cut.Load(); int64(i) < old && !cut.CompareAndSwap(old, int64(i)); old = cut.Load() {
				}
			}
		}
	}
	workers := min(r.Workers(r.o), len(places))
	if workers <= 1 {
		work(0)
		return
	}
	var wg sync.WaitGroup
	for id := range workers {
		wg.Go(func() { work(id) })
	}
	wg.Wait()
}
