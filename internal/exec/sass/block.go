package sass

import (
	"cmp"
	"fmt"
	"math/bits"
	"slices"

	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/exec/device"
	"github.com/heddle-sim/heddle/internal/isa"
)

// block is a thread block being executed.
type block struct {
	exec.CTA
	im     *image
	launch *Launch
	wk     *worker
	warps  []warp
	pend   []*pending
	free   []int32
	// Of the instruction that is executed in one go: with its results aside, and in their registers.
	step, direct pending
	caller       thread
	work         *work // that it belongs to when a core model runs it

	probe  exec.BlockProbe // nil: nothing looks at it
	flow   exec.FlowProbe  // the probe, if it follows values
	faults exec.FaultProbe // the probe, if it decides about faults
	silent bool            // the probe wants exec.Access.Silent
	told   watching
}

// worker owns what blocks reuse. One goroutine uses it at a time.
type worker struct {
	spare []*block
}

// takePending returns a record for an instruction that issues.
func (b *block) takePending() int32 {
	if len(b.free) == 0 {
		b.morePending()
	}
	n := len(b.free) - 1
	h := b.free[n]
	b.free = b.free[:n]
	return h
}

// moreRecords is the number of records that a block gets when it has none left (our
// choice).
const moreRecords = 8

// morePending adds records, side by side.
func (b *block) morePending() {
	more := new([moreRecords]pending)
	for i := range more {
		more[i].init()
		b.free = append(b.free, int32(len(b.pend)))
		b.pend = append(b.pend, &more[i])
	}
}

func (b *block) givePending(h int32) { b.free = append(b.free, h) }

// sharedGranule is the unit in bytes in which shared memory is given to blocks from sm_80 on (CUDA's
// table of compute capabilities; before it is 256, of which we take half, to find more mistakes). What a block reads up to its end is no
// fault, and NVIDIA's compiler makes use of it: where 12 bytes are declared, it reads 16.
const sharedGranule = 128

// newBlock makes block n of a launch ready to run.
func (wk *worker) newBlock(im *image, l *Launch, n uint64, view *device.View) *block {
	var b *block
	if k := len(wk.spare); k > 0 {
		b, wk.spare = wk.spare[k-1], wk.spare[:k-1]
	} else {
		b = &block{wk: wk}
		b.step.late = new(operands)
		b.step.init()
		b.direct.init()
	}
	b.Start(l, n, (im.kernel.text.Shared+l.Shared+sharedGranule-1)&^(sharedGranule-1), view)
	b.im, b.launch, b.Spins = im, l, im.kernel.spins
	b.free = b.free[:0]
	for h := range b.pend {
		b.free = append(b.free, int32(h))
	}
	b.warps = slices.Grow(b.warps[:0], b.Warps())[:b.Warps()]
	for i := range b.warps {
		w := &b.warps[i]
		w.blk, w.id, w.live = b, i, b.StartWarp(i, &w.tid)
		w.start(im)
	}
	b.watch(im.probe)
	return b
}

// start places a warp at the kernel's first instruction. Registers are zero, so that a
// program that reads one before writing it gives the same result everywhere.
func (w *warp) start(im *image) {
	switch k := im.kernel; {
	case w.kernel == k:
		clear(w.rows[:k.named])
	case cap(w.rows) < k.rows:
		w.rows = make([][32]uint32, k.rows)
	default:
		w.rows = w.rows[:k.rows]
		clear(w.rows)
	}
	w.kernel = im.kernel
	w.pr = [predicates]uint32{predTrue: full, uniformPred + predTrue: full}
	w.b, w.after = [bRegs][32]uint32{}, [32]int32{}
	w.barCount, w.barPred = [32]uint32{}, 0
	w.pc, w.mask, w.running, w.since = 0, w.live, true, 0
	w.frags, w.waiting = w.frags[:0], w.waiting[:0]
	w.insts, w.thrInsts, w.seq, w.open, w.fault = 0, 0, 0, 0, nil
	w.used = false
}

// Quiet is as in exec.GridBlock.
func (b *block) Quiet() bool { return b.probe == nil && b.CTA.Quiet() }

// Recycle returns the block's storage to its worker.
func (b *block) Recycle() {
	if b.probe != nil {
		b.probe.End()
		b.probe, b.flow, b.faults = nil, nil, nil
	}
	b.wk.spare = append(b.wk.spare, b)
}

// exited records that lanes of w have exited.
func (b *block) exited(w *warp) {
	b.Lanes[w.id] = w.live
	for i := range b.Bars {
		if b.Bars[i].Used {
			b.release(i)
		}
	}
}

// release opens barrier i if all threads have arrived.
func (b *block) release(i int) {
	if !b.Complete(i) {
		return
	}
	br := &b.Bars[i]
	for k := range b.warps {
		w := &b.warps[k]
		if br.Came[k] == 0 {
			continue
		}
		for n := range w.frags {
			f := &w.frags[n]
			if f.st != atBarrier || int(f.bar) != i {
				continue
			}
			f.st = ready
			if f.mask != w.live {
				b.GoOn()
			}
			f.pc++
			if in := &b.im.code[f.pc-1]; in.mode >= barPopc {
				w.reduced(in.mode, f.mask, br)
			}
		}
	}
	b.Open(i)
	if b.probe != nil {
		b.probe.Open(i)
	}
}

// reduced keeps the result of a BAR.RED for lanes m, for B2R.
func (w *warp) reduced(mode uint8, m uint32, br *exec.Barrier) {
	v := uint32(0)
	if mode == barAnd && br.And || mode == barOr && br.Or {
		v = full
	}
	w.barPred = w.barPred&^m | v&m
	for ; m != 0; m &= m - 1 {
		w.barCount[bits.TrailingZeros32(m)&31] = br.Pop
	}
}

// The operations of BAR, in inst.mode.
const (
	barSync = iota
	barArrive
	barPopc
	barAnd
	barOr
)

// actBAR is BAR.SYNC, .ARV and .RED. The sources are the barrier and, if arg is set, the
// number of threads; for .RED also a predicate. Since Volta barriers count lanes, not
// warps; lanes whose guard is off continue.
func actBAR(w *warp, in *inst, m uint32) {
	b := w.blk
	first := bits.TrailingZeros32(m) & 31
	id := w.row(in.src[0].row)[first]
	need := 0
	if in.arg != 0 {
		n := w.row(in.src[1].row)[first]
		if n%32 != 0 || n == 0 || n > 1<<16 {
			w.failf(in, m, "barrier %d for %d threads: the number must be a positive multiple of the warp size, 32", id, n)
			return
		}
		need = int(n)
	}
	if id >= exec.MaxBarriers {
		w.failf(in, m, "barrier %d does not exist: a block has barriers 0 to %d", id, exec.MaxBarriers-1)
		return
	}
	if wrong := b.Arrive(int(id), w.id, m, need, in.mode != barArrive); wrong != "" {
		w.failf(in, m, "%s", wrong)
		return
	}
	if p := w.probe(in); p != nil {
		p.Arrive(w.id, isa.LaneMask(m), int(id), in.mode != barArrive)
	}
	if in.mode >= barPopc {
		b.Bars[id].Reduce(w.pred(in.ps[0]), m)
	}
	if in.mode == barArrive {
		w.pc++
	} else {
		w.park(frag{mask: m, st: atBarrier, bar: uint8(id)})
	}
	b.release(int(id))
}

// opBarResult is B2R.RESULT: the result of the warp's last BAR.RED.
func opBarResult(w *warp, _ *inst, p *pending, _ uint32) {
	*p.d[0], p.pout[0] = w.barCount, w.barPred
}

// quantum is the number of instructions that a warp runs before the next warp of its
// block gets a turn in a functional run: a load of shared memory does not reveal whether
// it waits for another warp's store.
const quantum = 256

// Run executes the block until it ends, or until it has issued budget
// instructions.
func (b *block) Run(budget uint64) exec.Status { return b.RunAs(b, budget, quantum) }

// RunWarp lets warp i issue at most the given number of instructions.
func (b *block) RunWarp(i int, most uint64) (used uint64, moved, ok bool) {
	w, s := &b.warps[i], b.Searching()
	var e *exec.Effects
	if s != nil {
		e = new(exec.Effects)
	}
	for ; w.ready(); used++ {
		if used == most {
			return used, true, true
		}
		if s == nil {
			if used += w.burst(most - used); used == most {
				return used, true, true
			}
			in := &b.im.code[w.pc]
			w.step(in, w.mask&w.pred(in.guard))
		} else if w.Step(e) == nil {
			s.Saw(e, b.View)
		}
		if w.fault != nil {
			return used, true, false
		}
	}
	return used, used > 0, true
}

// Free lets no lanes go: those that wait for others wait until they arrive. When it is called they
// never will.
func (b *block) Free() (moved, ok bool) {
	if b.probe != nil {
		b.neverCame()
	}
	return false, true
}

// Failure returns the block's pending fault as an error.
func (b *block) Failure() error {
	for i := range b.warps {
		if w := &b.warps[i]; w.fault != nil {
			return w.failure()
		}
	}
	return nil
}

// waitOf describes what a fragment of warp w waits for, "" if it can run: a barrier of the
// block, -1 for none, or lanes of its warp.
func (b *block) waitOf(w *warp, f *frag) (what string, barrier int, lanes uint32) {
	if f.st == atBarrier {
		return b.Waiting(int(f.bar)), int(f.bar), 0
	}
	need, came, waits := w.awaited(f)
	if lanes = need &^ came; !waits {
		return "", -1, 0
	}
	of := "its warp"
	if f.st == atJoin {
		of = fmt.Sprintf("B%d", f.bar)
	}
	return fmt.Sprintf("waits for lanes %#08x of %s, which have not arrived", lanes, of), -1, lanes
}

// Waits describes what each warp waits for.
func (b *block) Waits() []string {
	var out []string
	for i := range b.warps {
		w := &b.warps[i]
		frags := w.frags
		if w.running && w.live != 0 {
			frags = append([]frag{{pc: w.pc, mask: w.mask, st: ready}}, frags...)
		}
		for k := range frags {
			f := &frags[k]
			in := &b.im.code[f.pc]
			what, _, _ := b.waitOf(w, f)
			out = append(out, fmt.Sprintf("warp %d, lanes %#08x, pc %#x: %s (%s:%d) %s", i, f.mask, int(f.pc)*instBytes, in.info.Op, b.im.kernel.prog.file, in.info.Pos.Line, cmp.Or(what, "is ready")))
		}
	}
	return exec.FewWaits(out)
}

// Somewhere returns the place of the first warp that still runs.
func (b *block) Somewhere() exec.Where {
	for i := range b.warps {
		w := &b.warps[i]
		if w.live == 0 {
			continue
		}
		pc, mask := w.pc, w.mask
		if !w.running {
			pc, mask = w.frags[0].pc, w.frags[0].mask
		}
		return w.where(bits.TrailingZeros32(mask)&31, &b.im.code[pc])
	}
	return exec.Where{Kernel: b.im.kernel.Name(), Block: b.Idx}
}

// Warp returns warp i.
func (b *block) Warp(i int) exec.Warp { return &b.warps[i] }

// Unblock does nothing: lanes that wait for others wait until those arrive.
func (b *block) Unblock() bool { return false }

// Counts returns the instructions issued so far, per warp and per lane.
func (b *block) Counts() (warp, thread uint64) {
	for i := range b.warps {
		warp += b.warps[i].insts
		thread += b.warps[i].thrInsts
	}
	return warp, thread
}

// Tell writes what the block has printed, and reports its warnings.
func (b *block) Tell() {
	// A failing writer loses text only; the run's results stand.
	_ = b.Say(b.work.out, &b.im.m.Warner)
}

// Release writes what the block printed, and recycles its storage.
func (b *block) Release() {
	if w := b.work; w != nil {
		b.Tell()
		b.work = nil
		b.Recycle()
		w.m.crew.Return(b.wk, b.View)
	}
}
