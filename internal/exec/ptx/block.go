package ptx

import (
	"cmp"
	"fmt"
	"math/bits"
	"slices"
	"strings"

	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/exec/device"
	"github.com/heddle-sim/heddle/internal/isa"
)

// block is a thread block (CTA) being executed.
type block struct {
	exec.CTA
	im     *image
	wk     *worker
	params []byte
	warps  []warp
	launch *launch
	team   *team         // its cluster; nil: it is alone
	tmem   *tensorMemory // nil: not used
	work   *work         // that it belongs to when a core model runs it
	// postpones says that signals are left to the core model.
	postpones bool
	caller    lane

	counts   *counter        // nil: nothing counts
	probe    exec.BlockProbe // nil: nothing looks at it
	faults   exec.FaultProbe // the same, if it decides about faults
	silent   bool            // whether it wants Access.Silent
	flow     exec.FlowProbe  // the same, if it follows values
	sums     exec.SumProbe   // the same, if it sees what is added
	summed   *sums           // what it is shown
	access   exec.Access     // the arguments of its calls
	signal   exec.Signal
	effects  exec.Effects // of an access that is seen
	resolved [32]uint64
	from     [32]uint8
}

// worker owns what blocks reuse: frames, warps, buffers. One goroutine uses
// it at a time.
type worker struct {
	pool map[*fn][]*frame
	free []*block
	tile *tile   // of matrix multiplications, made on first use
	wide *wgTile // of those of warp groups

	counter *counter // of the next block of a launch with coverage
}

// frame takes a frame for f from the pool. Registers are zero, so that a program that
// reads one before writing it gives the same result everywhere.
func (wk *worker) frame(f *fn) *frame {
	list := wk.pool[f]
	if n := len(list); n > 0 {
		fr := list[n-1]
		wk.pool[f] = list[:n-1]
		clear(fr.r32)
		clear(fr.r64)
		clear(fr.pr)
		fr.cc = 0
		return fr
	}
	return &frame{f: f, r32: make([][32]uint32, f.n32), r64: make([][32]uint64, f.n64), pr: make([]uint32, f.np, (f.np+31)&^31)}
}

// release drops one reference to fr and recycles it after the last.
func (wk *worker) release(fr *frame) {
	for fr != nil {
		fr.refs--
		if fr.refs > 0 {
			return
		}
		p := fr.parent
		fr.parent, fr.site = nil, nil
		wk.pool[fr.f] = append(wk.pool[fr.f], fr)
		fr = p
	}
}

// newBlock makes block n of a launch ready to run.
func (wk *worker) newBlock(im *image, l *launch, n uint64, view *device.View) *block {
	var b *block
	if k := len(wk.free); k > 0 {
		b, wk.free = wk.free[k-1], wk.free[:k-1]
	} else {
		b = &block{wk: wk}
	}
	b.Start(&l.Launch, n, im.sharedBytes+l.Shared, view)
	b.im, b.launch, b.params, b.Whole, b.Spins, b.team, b.postpones = im, l, l.Params, !im.independent, im.spins, nil, false
	b.warps = slices.Grow(b.warps[:0], b.Warps())[:b.Warps()]
	b.startCounts()
	for i := range b.warps {
		w := &b.warps[i]
		w.blk, w.id = b, i
		w.live = b.StartWarp(i, &w.tid)
		w.start()
		w.products = nil
	}
	b.probe, b.faults, b.flow, b.sums, b.silent = nil, nil, nil, nil, false
	if im.probed && !l.Rehearsal {
		b.probe = l.Probe.Block(b)
		b.faults, _ = exec.ProbeAs[exec.FaultProbe](b.probe)
		if im.follows {
			b.flow, _ = exec.ProbeAs[exec.FlowProbe](b.probe)
		}
		_, b.silent = exec.ProbeAs[exec.SilentProbe](b.probe)
		b.sums, _ = exec.ProbeAs[exec.SumProbe](b.probe)
	}
	return b
}

// start places a warp at the kernel's first instruction.
func (w *warp) start() {
	b := w.blk
	w.frags, w.joins, w.freeJ = w.frags[:0], w.joins[:0], w.freeJ[:0]
	w.insts, w.thrInsts, w.spins, w.quantum, w.ways, w.broken = 0, 0, 0, fragQuantum, 0, 0
	w.fault, w.yield = nil, false
	fr := b.wk.frame(b.im.entry)
	fr.base, fr.depth, fr.refs = 0, 0, 0
	j := w.newJoin(join{pc: -1, parent: -1, want: w.live, fr: fr})
	fr.refs++
	w.pc, w.mask, w.join, w.running = 0, w.live, j, true
	w.openFrame(fr, w.live)
	w.enter(fr)
	if c := b.counts; c != nil {
		c.entered[fr.f.index] += uint64(bits.OnesCount32(w.live))
	}
}

// exited records that lanes of w, those of gone, have exited.
func (b *block) exited(w *warp, gone uint32) {
	b.Lanes[w.id] = w.live
	if b.probe != nil {
		b.leavesColumns(w, gone)
		b.probe.Exit(w.id, isa.LaneMask(gone))
	}
	for i := range b.Bars {
		if b.Bars[i].Used || i == exec.ClusterBarrier && b.team != nil {
			b.tryRelease(i)
		}
	}
}

// tryRelease opens barrier i if all threads have arrived.
func (b *block) tryRelease(i int) {
	switch {
	case !b.Complete(i):
	case i == exec.ClusterBarrier && b.team != nil:
		b.tryReleaseCluster()
	default:
		b.release(i)
	}
}

// release opens barrier i.
func (b *block) release(i int) {
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
			in := &f.fr.f.code[f.pc]
			if in.x != nil {
				if red, ok := in.x.any.(*barRed); ok {
					red.give(f, in, br)
				}
			}
			f.pc++
		}
	}
	b.Open(i)
	if b.probe != nil && i < exec.GroupBarriers {
		b.probe.Open(i)
	}
}

// arriveAt counts lanes m of the running fragment at barrier i, and blocks the
// fragment there if wait is set.
func (w *warp) arriveAt(i int, need int, m uint32, wait bool) {
	b := w.blk
	if wrong := b.Arrive(i, w.id, m, need, wait); wrong != "" {
		w.failf(m, "%s", wrong)
		return
	}
	if p := b.probe; p != nil {
		p.Arrive(w.id, isa.LaneMask(m), i, wait)
	}
	if wait {
		w.waitAt(i, m)
	} else {
		w.pc++
	}
	b.tryRelease(i)
}

// waitAt blocks lanes m of the running fragment at barrier i. From sm_70 on, lanes
// whose guard is off do not wait: they continue as a separate fragment. Before, a
// barrier counts and holds whole warps (PTX manual, bar).
func (w *warp) waitAt(i int, m uint32) {
	if rest := w.mask &^ m; rest != 0 && w.blk.im.independent {
		w.push(w.pc+1, rest, w.join, w.fr)
		w.mask = m
	}
	w.frags = append(w.frags, frag{pc: w.pc, mask: w.mask, join: w.join, st: atBarrier, bar: uint8(i), fr: w.fr})
	w.running = false
}

// warpQuantum is the number of instructions that a warp runs before the next warp of
// its block gets a turn; a warp that blocks yields immediately. It must be bounded
// because a loop may wait for the next warp. It should be small because programs that
// forget the barrier after reading a shared variable run well on GPUs, whose warps
// never drift far apart: what one warp reads right after a barrier, another overwrites
// many instructions later. Our choice: small enough for those programs, large enough
// that switching costs little.
const warpQuantum = 32

// Run executes the block until it ends, or until it has issued budget
// instructions.
func (b *block) Run(budget uint64) exec.Status {
	return b.RunAs(b, budget, warpQuantum)
}

// RunWarp lets warp i issue at most the given number of instructions.
func (b *block) RunWarp(i int, most uint64) (used uint64, moved, ok bool) {
	w := &b.warps[i]
	if w.live == 0 {
		return 0, false, true
	}
	before := w.insts
	w.yield = false
	if s := b.Searching(); s != nil && s != b.Seer() {
		moved = w.watched(most, s)
	} else {
		moved = w.run(most)
	}
	return w.insts - before, moved, w.fault == nil
}

// Free releases lanes that wait for others of their warp.
func (b *block) Free() (moved, ok bool) {
	moved = b.Unblock()
	return moved, b.Failure() == nil
}

// Unblock releases lanes that wait for others of their warp which cannot arrive before
// them.
func (b *block) Unblock() bool {
	if !b.im.independent {
		return false
	}
	any := false
	for i := range b.warps {
		w := &b.warps[i]
		if w.live != 0 && w.breakJoin() {
			any = true
		}
	}
	if any {
		return true
	}
	for i := range b.warps {
		w := &b.warps[i]
		if w.live != 0 && w.forceSync() {
			return true
		}
	}
	return false
}

// Counts returns the instructions issued so far, per warp and per lane.
func (b *block) Counts() (warp, thread uint64) {
	for i := range b.warps {
		warp += b.warps[i].insts
		thread += b.warps[i].thrInsts
	}
	return
}

// waitOf describes what a fragment of warp w waits for, "" if it can run: a barrier, -1 for
// none, or lanes of its warp.
func (b *block) waitOf(w *warp, f *frag) (what string, barrier int, lanes uint32) {
	switch f.st {
	case atBarrier:
		if f.bar == exec.ClusterBarrier && b.team != nil {
			return b.waitingCluster(), -1, 0
		}
		if f.bar >= exec.GroupBarriers {
			return b.Waiting(int(f.bar)), -1, 0
		}
		return b.Waiting(int(f.bar)), int(f.bar), 0
	case atSync:
		lanes = f.need & w.live
		for i := range w.frags { // f among them
			if g := &w.frags[i]; g.meets(f.pc, f.fr, &f.fr.f.code[f.pc], f.need) {
				lanes &^= g.mask
			}
		}
		return fmt.Sprintf("waits for lanes %#08x of its warp", lanes), -1, lanes
	}
	return "", -1, 0
}

// Waits describes what each warp waits for.
func (b *block) Waits() []string {
	var out []string
	for i := range b.warps {
		w := &b.warps[i]
		if w.live == 0 {
			continue
		}
		frags := w.frags
		if w.running {
			frags = append([]frag{{pc: w.pc, mask: w.mask, join: w.join, st: ready, fr: w.fr}}, frags...)
		}
		for _, f := range frags {
			in := &f.fr.f.info[f.pc]
			what, _, _ := b.waitOf(w, &f)
			out = append(out, fmt.Sprintf("warp %d, lanes %#08x, pc %d: %s (%s:%d) %s", i, f.mask, f.pc, in.Op, b.im.fileOf(f.fr.f), in.Pos.Line, cmp.Or(what, "is ready")))
		}
		for _, j := range w.joins {
			if j.live && j.got != 0 {
				out = append(out, fmt.Sprintf("warp %d, lanes %#08x wait for lanes %#08x at pc %d, where they reconverge", i, j.got, j.want&^j.got, j.pc))
			}
		}
	}
	return exec.FewWaits(out)
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

// failure is the warp's pending fault as an error.
func (w *warp) failure() *exec.Fault {
	return &exec.Fault{Where: w.where(w.fault.lane), Kind: w.fault.kind, What: strings.TrimSpace(w.fault.what), Access: w.fault.access}
}

// Somewhere returns the place of the first warp that still runs.
func (b *block) Somewhere() exec.Where {
	for i := range b.warps {
		w := &b.warps[i]
		if w.live == 0 {
			continue
		}
		if !w.running && !w.resume() {
			if len(w.frags) == 0 {
				continue
			}
			w.take(0)
		}
		return w.where(bits.TrailingZeros32(w.mask))
	}
	return exec.Where{Kernel: b.im.kernel.Name(), Block: b.Idx}
}

// Quiet is as in exec.GridBlock. Counts of branches are those of blocks up to the one that fails.
func (b *block) Quiet() bool { return b.counts == nil && b.probe == nil && b.CTA.Quiet() }

// Recycle returns the block's storage to its worker.
func (b *block) Recycle() {
	b.endCounts()
	if b.probe != nil {
		b.probe.End()
		b.probe = nil
	}
	for i := range b.warps {
		w := &b.warps[i]
		w.fr, w.running = nil, false
	}
	b.team, b.tmem = nil, nil
	b.wk.free = append(b.wk.free, b)
}
