package ptx

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/heddle-sim/heddle/internal/device"
	"github.com/heddle-sim/heddle/internal/exec"
)

// Blocks that cannot talk to each other run in batches: every block of a batch
// sees device memory as it was before the batch plus its own stores, and the
// stores are applied in block order afterwards. So a batch's outcome is the
// same however many goroutines ran it, even for programs with races. Blocks
// that can talk (global atomics, fences, volatile and ordered accesses, device
// heap) run one after another on device memory itself, each for a slice of
// instructions at a time, and give way when they spin.
const (
	firstBatch = 32       // blocks in a launch's first batch
	mostBatch  = 1024     // blocks in any batch
	batchBytes = 16 << 20 // batches stop growing when their stores fill this

	blockSlice = 1 << 20 // instructions before the next resident block gets a turn
	spinSlice  = 1 << 10 // the same for kernels that wait in loops
	residents  = 128     // blocks of an ordinary launch that can be under way at once
)

// Run executes a launch to its end. Errors: *exec.LaunchError if it cannot
// start; *exec.Fault, *exec.StuckError or *exec.LimitError if a block came to
// one; ctx.Err() if it was cancelled. The result counts what was done also
// when an error is returned.
func (m *Machine) Run(ctx context.Context, l Launch, o Options) (Result, error) {
	im, err := m.prepare(&l)
	if err != nil {
		return Result{}, err
	}
	r := &gridRun{m: m, im: im, l: &l, o: o, total: l.Grid.Count(), ctx: ctx}
	r.budget = ^uint64(0)
	if o.MaxInsts > 0 {
		r.budget = o.MaxInsts - min(o.MaxInsts, m.issued)
	}
	if o.Threads <= 0 {
		r.o.Threads = runtime.GOMAXPROCS(0)
	}
	m.needWorkers(r.o.Threads)
	if im.ordered || l.Cooperative {
		err = r.inTurn()
	} else {
		err = r.inBatches()
	}
	m.issued += r.res.WarpInsts
	return r.res, err
}

// gridRun is the state of one launch.
type gridRun struct {
	m      *Machine
	im     *image
	l      *Launch
	o      Options
	ctx    context.Context
	total  uint64
	budget uint64 // warp instructions left
	res    Result
}

// finish accounts for a block that has ended or failed, in block order.
func (r *gridRun) finish(b *block, st status) error {
	wi, ti := b.insts()
	r.res.WarpInsts += wi
	r.res.ThreadInsts += ti
	if r.o.Out != nil && b.out.Len() > 0 {
		if _, err := r.o.Out.Write(b.out.Bytes()); err != nil {
			return fmt.Errorf("writing what the kernel printed: %w", err)
		}
	}
	switch st {
	case failed:
		return b.failure()
	case stuck:
		return &exec.StuckError{Kernel: r.im.kernel.Name(), Block: b.idx, Waits: b.waits()}
	case stopped:
		return &exec.LimitError{Limit: r.o.MaxInsts, Where: b.somewhere()}
	}
	r.res.Blocks++
	return nil
}

func (r *gridRun) progress() {
	if r.o.Progress != nil {
		r.o.Progress(r.res.Blocks, r.total, r.res.WarpInsts)
	}
}

// inTurn runs blocks that may talk to each other.
func (r *gridRun) inTurn() error {
	wk := r.m.workers[0]
	view := r.m.direct()
	most, slice := residents, uint64(blockSlice)
	if r.im.spins {
		slice = spinSlice
	}
	if r.l.Cooperative {
		most = int(min(r.total, 1<<20))
	}
	var under []*block
	next := uint64(0)
	more := 1 // blocks to begin
	if r.l.Cooperative {
		more = most
	}
	for next < r.total || len(under) > 0 {
		for ; more > 0 && next < r.total && len(under) < most; more-- {
			under = append(under, wk.newBlock(r.im, r.l, next, view))
			next++
		}
		// If none of them ends they may wait for blocks that have not begun.
		more = max(1, len(under))
		// The newest block runs first: older ones have used up a slice already.
		for i := len(under) - 1; i >= 0; i-- {
			if r.ctx.Err() != nil {
				for _, b := range under {
					wi, ti := b.insts()
					r.res.WarpInsts += wi
					r.res.ThreadInsts += ti
				}
				return r.ctx.Err()
			}
			b := under[i]
			before, _ := b.insts()
			st := b.run(min(slice, r.budget))
			after, _ := b.insts()
			r.budget -= min(r.budget, after-before)
			if st == stopped && r.budget > 0 {
				continue
			}
			under = append(under[:i], under[i+1:]...)
			more = 1
			err := r.finish(b, st)
			if err != nil {
				for _, b := range under {
					wi, ti := b.insts()
					r.res.WarpInsts += wi
					r.res.ThreadInsts += ti
				}
				return err
			}
			b.recycle()
			r.progress()
		}
	}
	return nil
}

// inBatches runs blocks that cannot talk to each other.
func (r *gridRun) inBatches() error {
	size := firstBatch
	type slot struct {
		b    *block
		view *device.View
		st   status
	}
	slots := make([]slot, 0, firstBatch)
	direct := r.total == 1
	for first := uint64(0); first < r.total; {
		n := int(min(uint64(size), r.total-first))
		for len(slots) < n {
			var v *device.View
			if direct {
				v = r.m.direct()
			} else {
				v = r.m.overlay(len(slots))
			}
			slots = append(slots, slot{view: v})
		}
		// Blocks after one that ended badly need not run: the launch ends there.
		var at, cut atomic.Int64
		cut.Store(int64(n))
		work := func(id int) {
			wk := r.m.workers[id]
			for {
				i := int(at.Add(1)) - 1
				if int64(i) >= cut.Load() || r.ctx.Err() != nil {
					return
				}
				s := &slots[i]
				b := wk.newBlock(r.im, r.l, first+uint64(i), s.view)
				s.b, s.st = b, stopped
				for left := r.budget; left > 0; {
					if r.ctx.Err() != nil || int64(i) > cut.Load() {
						break
					}
					slice := min(blockSlice, left)
					if s.st = b.run(slice); s.st != stopped {
						break
					}
					left -= slice
				}
				if s.st != finished {
					for old := cut.Load(); int64(i) < old && !cut.CompareAndSwap(old, int64(i)); old = cut.Load() {
					}
				}
			}
		}
		if nt := min(r.o.Threads, n); nt <= 1 {
			work(0)
		} else {
			var wg sync.WaitGroup
			for id := range nt {
				wg.Go(func() { work(id) })
			}
			wg.Wait()
		}
		if err := r.ctx.Err(); err != nil {
			for i := range n {
				if s := &slots[i]; s.b != nil && s.st == finished {
					s.view.Commit()
					_ = r.finish(s.b, s.st)
				}
			}
			return err
		}
		dirty := 0
		for i := range n {
			s := &slots[i]
			if !direct {
				dirty += s.view.DirtyBytes()
				s.view.Commit()
			}
			wi, _ := s.b.insts()
			if wi > r.budget || s.st == stopped {
				r.budget = 0
				s.st = stopped
				return r.finish(s.b, s.st)
			}
			r.budget -= wi
			if err := r.finish(s.b, s.st); err != nil {
				return err
			}
			s.b.recycle()
			s.b = nil
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
