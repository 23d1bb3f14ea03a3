package sass

import (
	"fmt"
	"math/bits"

	"github.com/heddle-sim/heddle/internal/device"
	"github.com/heddle-sim/heddle/internal/exec"
)

// maxBarriers is the number of named barriers of a block (CUDA programming
// guide: 16).
const maxBarriers = 16

// barrier is a named barrier of a block. Lanes are counted; a warp all of whose
// live lanes have come counts as 32.
type barrier struct {
	came    []uint32 // per warp: lanes that arrived in this phase
	need    int      // threads, a multiple of 32; 0: all of the block
	used    bool     // somebody arrived in this phase
	pop     uint32   // BAR.RED: threads whose predicate held
	and, or bool
}

func (br *barrier) reset() {
	clear(br.came)
	br.need, br.used = 0, false
	br.pop, br.and, br.or = 0, true, false
}

// block is a thread block being executed.
type block struct {
	im     *image
	launch *Launch
	wk     *worker
	n      uint64
	idx    exec.Dim3
	shared []byte
	view   *device.View
	warps  []warp
	bars   [maxBarriers]barrier
	pend   []*pending
	free   []int32
	work   *work // that it belongs to when a core model runs it
}

// worker owns what blocks reuse. One goroutine uses it at a time.
type worker struct {
	view  *device.View
	spare []*block
	tile  tile
}

// takePending returns a record for an instruction that issues.
func (b *block) takePending() int32 {
	if n := len(b.free); n > 0 {
		h := b.free[n-1]
		b.free = b.free[:n-1]
		return h
	}
	b.pend = append(b.pend, new(pending))
	return int32(len(b.pend) - 1)
}

func (b *block) givePending(h int32) { b.free = append(b.free, h) }

// newBlock makes block n of a launch ready to run.
func (wk *worker) newBlock(im *image, l *Launch, n uint64) *block {
	var b *block
	if k := len(wk.spare); k > 0 {
		b, wk.spare = wk.spare[k-1], wk.spare[:k-1]
	} else {
		b = &block{wk: wk}
	}
	b.im, b.launch, b.n, b.idx, b.view = im, l, n, l.Grid.At(n), wk.view
	b.free = b.free[:0]
	for h := range b.pend {
		b.free = append(b.free, int32(h))
	}
	size := im.kernel.Shared + l.Shared
	if cap(b.shared) < size {
		b.shared = make([]byte, size)
	}
	b.shared = b.shared[:size]
	clear(b.shared)
	threads := int(l.Block.Count())
	nw := (threads + 31) / 32
	for len(b.warps) < nw {
		b.warps = append(b.warps, warp{})
	}
	b.warps = b.warps[:nw]
	for i := range b.bars {
		br := &b.bars[i]
		for len(br.came) < nw {
			br.came = append(br.came, 0)
		}
		br.came = br.came[:nw]
		br.reset()
	}
	for i := range b.warps {
		w := &b.warps[i]
		w.blk, w.id, w.live = b, i, full
		if rest := threads - 32*i; rest < 32 {
			w.live = 1<<rest - 1
		}
		w.start(im)
	}
	return b
}

// start puts a warp at the kernel's first instruction. Registers are zero, so
// that a program that reads one before writing it gives the same result
// everywhere.
func (w *warp) start(im *image) {
	dim := w.blk.launch.Block
	for i := range 32 {
		t := uint32(w.id*32 + i)
		w.tid[0][i], w.tid[1][i], w.tid[2][i] = t%dim.X, t/dim.X%dim.Y, t/dim.X/dim.Y
	}
	if n := im.kernel.rows; cap(w.rows) < n {
		w.rows = make([][32]uint32, n)
	} else {
		w.rows = w.rows[:n]
		clear(w.rows)
	}
	w.pr = [predicates]uint32{predTrue: full, uniformPred + predTrue: full}
	w.b = [bRegs][32]uint32{}
	w.barCount, w.barPred = [32]uint32{}, 0
	w.pc, w.mask, w.running, w.since = 0, w.live, true, 0
	w.frags, w.waiting = w.frags[:0], w.waiting[:0]
	w.insts, w.thrInsts, w.seq, w.open, w.fault = 0, 0, 0, 0, nil
	if n := im.local; n > 0 {
		for i := range w.local {
			if len(w.local[i]) != n {
				w.local[i] = make([]byte, n)
			} else {
				clear(w.local[i])
			}
		}
	}
}

// recycle gives the block's storage back to its worker.
func (b *block) recycle() { b.wk.spare = append(b.wk.spare, b) }

// exited is told that lanes of w have ended.
func (b *block) exited(*warp) {
	for i := range b.bars {
		if b.bars[i].used {
			b.release(i)
		}
	}
}

// count returns the threads that have come to a barrier, and those of the block
// that can come.
func (b *block) count(br *barrier) (came, all int) {
	for i := range b.warps {
		live := b.warps[i].live
		if live != 0 {
			all += 32
		}
		switch c := br.came[i]; {
		case c == 0:
		case live&^c == 0:
			came += 32
		default:
			came += bits.OnesCount32(c)
		}
	}
	return came, all
}

// release opens barrier i if all have come.
func (b *block) release(i int) {
	br := &b.bars[i]
	came, all := b.count(br)
	need := br.need
	if need == 0 {
		need = all
	}
	if came < need {
		return
	}
	for k := range b.warps {
		w := &b.warps[k]
		for n := range w.frags {
			f := &w.frags[n]
			if f.st != atBarrier || int(f.bar) != i {
				continue
			}
			f.st = ready
			f.pc++
			v := uint32(0)
			if in := &b.im.kernel.code[f.pc-1]; in.mode == barAnd && br.and || in.mode == barOr && br.or {
				v = full
			}
			w.barPred = w.barPred&^f.mask | v&f.mask
			for m := f.mask; m != 0; m &= m - 1 {
				w.barCount[bits.TrailingZeros32(m)&31] = br.pop
			}
		}
	}
	br.reset()
}

// The operations of BAR, in inst.mode.
const (
	barSync = iota
	barArrive
	barPopc
	barAnd
	barOr
)

// actBAR is BAR.SYNC, .ARV and .RED: sources are the barrier and, if arg is set,
// the number of threads; of .RED a predicate. From Volta on lanes count, not
// warps; those whose guard is off go on.
func actBAR(w *warp, in *inst, m uint32) {
	b := w.blk
	first := bits.TrailingZeros32(m) & 31
	id := w.row(in.src[0].row)[first]
	need := 0
	if in.arg != 0 {
		n := w.row(in.src[1].row)[first]
		if n%32 != 0 || n == 0 || n > 1<<16 {
			w.failf(in, m, "barrier %d for %d threads: the number must be a multiple of the warp size, 32, and not zero", id, n)
			return
		}
		need = int(n)
	}
	if id >= maxBarriers {
		w.failf(in, m, "barrier %d: a block has barriers 0 to %d", id, maxBarriers-1)
		return
	}
	br := &b.bars[id]
	if br.used && need != br.need {
		w.failf(in, m, "barrier %d: this thread expects %s, others in the same phase %s", id, threadsOf(need), threadsOf(br.need))
		return
	}
	br.used, br.need = true, need
	if in.mode >= barPopc {
		p := w.pred(in.ps[0]) & m
		br.pop += uint32(bits.OnesCount32(p))
		br.and = br.and && p == m
		br.or = br.or || p != 0
	}
	br.came[w.id] |= m
	if in.mode == barArrive {
		w.pc++
	} else {
		w.park(frag{mask: m, st: atBarrier, bar: uint8(id)})
	}
	b.release(int(id))
}

func threadsOf(n int) string {
	if n == 0 {
		return "all threads of the block"
	}
	return fmt.Sprintf("%d threads", n)
}

// opBarResult is B2R.RESULT: what the warp's last BAR.RED gave.
func opBarResult(w *warp, _ *inst, p *pending, _ uint32) {
	p.out[0], p.pout[0] = w.barCount, w.barPred
}

// quantum is how many instructions a warp runs before the next warp of its block
// gets a turn in a functional run.
const quantum = 256

// status says how far a block got.
type status uint8

const (
	stopped  status = iota // its budget is used up
	finished               // all threads have exited
	failed                 // faulted
	stuck                  // no warp can go on
)

// run executes the block until it ends, or until it has issued budget
// instructions. The error is a *exec.Fault.
func (b *block) run(budget uint64) (status, error) {
	var e exec.Effects
	for {
		moved, live := false, false
		for i := range b.warps {
			w := &b.warps[i]
			for range quantum {
				if !w.ready() {
					break
				}
				if budget == 0 {
					return stopped, nil
				}
				if err := w.Step(&e); err != nil {
					return failed, err
				}
				budget--
				moved = true
			}
			live = live || w.live != 0
		}
		if !live {
			return finished, nil
		}
		if !moved {
			return stuck, nil
		}
	}
}

// waitOf says what a fragment of warp w waits for, "" if it can run.
func (b *block) waitOf(w *warp, f *frag) string {
	switch f.st {
	case atBarrier:
		br := &b.bars[f.bar]
		came, all := b.count(br)
		if br.need != 0 {
			all = br.need
		}
		return fmt.Sprintf("waits at barrier %d, where %d of %d threads have come", f.bar, came, all)
	case atJoin:
		came := f.mask
		for k := range w.frags {
			if g := &w.frags[k]; w.together(f, g) {
				came |= g.mask
			}
		}
		return fmt.Sprintf("waits for lanes %#08x, which B%d names and which have not come", w.members(f.bar, f.mask)&^came, f.bar)
	case atSync:
		return fmt.Sprintf("waits for lanes %#08x of its warp", f.need&w.live&^f.mask)
	}
	return ""
}

// Waits describes what every warp waits for.
func (b *block) Waits() []string {
	var out []string
	for i := range b.warps {
		w := &b.warps[i]
		for k := range w.frags {
			f := &w.frags[k]
			in := &b.im.kernel.code[f.pc]
			what := b.waitOf(w, f)
			if what == "" {
				what = "is ready"
			}
			out = append(out, fmt.Sprintf("warp %d, lanes %#08x, pc %#x: %s (%s:%d) %s", i, f.mask, int(f.pc)*instBytes, in.info.Op, b.im.kernel.prog.file, in.info.Pos.Line, what))
		}
	}
	const most = 40
	if len(out) > most {
		out = append(out[:most], fmt.Sprintf("… and %d more", len(out)-most))
	}
	return out
}

// somewhere is the place of the first warp that still runs.
func (b *block) somewhere() exec.Where {
	for i := range b.warps {
		w := &b.warps[i]
		if w.live == 0 {
			continue
		}
		pc, mask := w.pc, w.mask
		if !w.running {
			pc, mask = w.frags[0].pc, w.frags[0].mask
		}
		return w.where(bits.TrailingZeros32(mask)&31, &b.im.kernel.code[pc])
	}
	return exec.Where{Kernel: b.im.kernel.Name, Block: b.idx}
}

// Index returns the block's place in the grid.
func (b *block) Index() exec.Dim3 { return b.idx }

// Linear returns the block's number in the grid.
func (b *block) Linear() uint64 { return b.n }

// Warps returns the number of warps.
func (b *block) Warps() int { return len(b.warps) }

// Warp returns warp i.
func (b *block) Warp(i int) exec.Warp { return &b.warps[i] }

// Unblock does nothing: lanes that wait for others wait until those come.
func (b *block) Unblock() bool { return false }

// Counts returns the instructions issued so far, per warp and per lane.
func (b *block) Counts() (warp, thread uint64) {
	for i := range b.warps {
		warp += b.warps[i].insts
		thread += b.warps[i].thrInsts
	}
	return warp, thread
}

// Release recycles the block's storage.
func (b *block) Release() {
	if w := b.work; w != nil {
		b.work = nil
		b.recycle()
		w.m.apart = append(w.m.apart, b.wk)
	}
}
