package ptx

import (
	"bytes"
	"cmp"
	"fmt"
	"math/bits"
	"strings"

	"github.com/heddle-sim/heddle/internal/device"
	"github.com/heddle-sim/heddle/internal/exec"
)

// maxBarriers is the number of named barriers of a block (PTX manual: 16).
const maxBarriers = 16

// barrier is a named barrier of a block. Lanes are counted; a warp all of
// whose live lanes have come counts as 32, as the manual's rule for partial
// warps has it.
type barrier struct {
	came    []uint32 // per warp: lanes that arrived in this phase
	need    int      // threads, a multiple of 32; 0: all of the block
	waiting int      // fragments that block here
	used    bool     // somebody arrived in this phase
	pop     uint32   // bar.red: threads whose predicate held
	and, or bool
}

// block is a thread block (CTA) being executed.
type block struct {
	im     *image
	wk     *worker
	idx    exec.Dim3
	dim    exec.Dim3
	grid   exec.Dim3
	n      uint64 // linear index in the grid
	shared []byte
	params []byte
	view   *device.View
	warps  []warp
	bars   [maxBarriers + 1]barrier // the last is the cluster's
	out    bytes.Buffer             // what printf printed
	launch *Launch
	work   *work // that it belongs to when a core model runs it
	live   int   // warps with live lanes
	turn   int   // warp whose turn is next in the current round
	moved  bool  // some warp did something in this round
}

// worker owns what blocks reuse: frames, warps, buffers. One goroutine uses
// it at a time.
type worker struct {
	pool map[*fn][]*frame
	free []*block
	view *device.View // of a block that a core model runs
}

// frame takes a frame for f from the pool. Registers are zero, so that a
// program that reads one before writing it gives the same result everywhere.
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

// release drops one hold on fr and recycles it after the last.
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
func (wk *worker) newBlock(im *image, l *Launch, n uint64, view *device.View) *block {
	var b *block
	if k := len(wk.free); k > 0 {
		b, wk.free = wk.free[k-1], wk.free[:k-1]
	} else {
		b = &block{wk: wk}
	}
	b.im, b.launch, b.n, b.view = im, l, n, view
	b.idx, b.dim, b.grid, b.params = l.Grid.At(n), l.Block, l.Grid, l.Params
	b.out.Reset()
	size := im.sharedBytes + l.Shared
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
	b.live, b.turn, b.moved = nw, 0, false
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
		w.blk, w.id = b, i
		w.live = full
		if rest := threads - 32*i; rest < 32 {
			w.live = 1<<rest - 1
		}
		w.start()
	}
	return b
}

func (br *barrier) reset() {
	clear(br.came)
	br.need, br.waiting, br.used = 0, 0, false
	br.pop, br.and, br.or = 0, true, false
}

// start puts a warp at the kernel's first instruction.
func (w *warp) start() {
	b := w.blk
	for i := range 32 {
		t := uint32(w.id*32 + i)
		w.tid[0][i] = t % b.dim.X
		w.tid[1][i] = t / b.dim.X % b.dim.Y
		w.tid[2][i] = t / b.dim.X / b.dim.Y
	}
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
}

// exited is told that lanes m of w have ended.
func (b *block) exited(w *warp, m uint32) {
	if w.live == 0 {
		b.live--
	}
	for i := range b.bars {
		if br := &b.bars[i]; br.used {
			b.tryRelease(i)
		}
	}
}

// count returns the threads that have come to a barrier, and those of the
// block that can come.
func (b *block) count(br *barrier) (came, all int) {
	for i := range b.warps {
		live := b.warps[i].live
		if live != 0 {
			all += 32
		}
		switch c := br.came[i]; {
		case c == 0:
		case live != 0 && live&^c == 0, live == 0:
			came += 32
		case !b.im.independent:
			came += 32
		default:
			came += bits.OnesCount32(c)
		}
	}
	return came, all
}

// tryRelease opens barrier i if all have come.
func (b *block) tryRelease(i int) {
	br := &b.bars[i]
	came, all := b.count(br)
	need := br.need
	if need == 0 {
		need = all
	}
	if came < need {
		return
	}
	if br.waiting > 0 {
		for k := range b.warps {
			w := &b.warps[k]
			for n := range w.frags {
				f := &w.frags[n]
				if f.st != atBarrier || int(f.bar) != i {
					continue
				}
				f.st = ready
				in := &f.fr.f.code[f.pc]
				if in.x != nil {
					if red, ok := in.x.any.(*barRed); ok {
						red.give(f, in, br)
					}
				}
				f.pc++
			}
		}
	}
	br.reset()
}

// expects is the number of threads that a barrier operation names; 0 stands for
// the whole block.
func (b *block) expects(need int) int {
	if need == 0 {
		return 32 * len(b.warps)
	}
	return need
}

// arriveAt counts lanes m of the running fragment at barrier i, and blocks it
// there if wait is set.
func (w *warp) arriveAt(in *inst, i int, need int, m uint32, wait bool) {
	b := w.blk
	br := &b.bars[i]
	if br.used && b.expects(need) != b.expects(br.need) {
		w.failf(m, "barrier %d: this thread expects %d threads, others in the same phase expect %d", i, b.expects(need), b.expects(br.need))
		return
	}
	if !br.used {
		br.used, br.need = true, need
	}
	br.came[w.id] |= m
	if !wait {
		w.pc++
		b.tryRelease(i)
		return
	}
	w.waitAt(i, m)
	b.tryRelease(i)
}

// waitAt blocks lanes m of the running fragment at barrier i. From sm_70 on,
// lanes whose guard is off do not wait: they go on as a fragment of their own.
// Before, a barrier counts and holds a warp as a whole (PTX manual, bar).
func (w *warp) waitAt(i int, m uint32) {
	w.blk.bars[i].waiting++
	if rest := w.mask &^ m; rest != 0 && w.blk.im.independent {
		w.push(w.pc+1, rest, w.join, w.fr)
		w.mask = m
	}
	w.frags = append(w.frags, frag{pc: w.pc, mask: w.mask, join: w.join, st: atBarrier, bar: uint8(i), fr: w.fr})
	w.running = false
}

// warpQuantum is how many instructions a warp runs before the next warp of
// its block gets a turn; a warp that blocks gives way at once.
const warpQuantum = 1 << 14

// spinQuantum is the same for kernels that wait in loops: the warp that is
// waited for may be the next one.
const spinQuantum = 1 << 8

// status says how far a block got.
type status uint8

const (
	stopped  status = iota // its budget is used up
	finished               // all threads have exited
	failed                 // faulted
	stuck                  // no warp can go on
)

// run executes the block until it ends, or until it has issued budget
// instructions.
func (b *block) run(budget uint64) status {
	quantum := uint64(warpQuantum)
	if b.im.spins || b.im.waits {
		quantum = spinQuantum
	}
	for {
		// A round goes on where the slice before it ended.
		for b.turn < len(b.warps) {
			w := &b.warps[b.turn]
			b.turn++
			if w.live == 0 {
				continue
			}
			before := w.insts
			if w.run(min(quantum, budget)) {
				b.moved = true
			}
			if w.fault != nil {
				return failed
			}
			used := w.insts - before
			if used >= budget {
				if b.live == 0 {
					return finished
				}
				return stopped
			}
			budget -= used
		}
		if b.live == 0 {
			return finished
		}
		if !b.moved {
			if !b.unblock() {
				return stuck
			}
			if b.failure() != nil { // what lanes did that were let go
				return failed
			}
		}
		b.turn, b.moved = 0, false
	}
}

// unblock lets lanes go on that wait for others of their warp which will not
// come before them.
func (b *block) unblock() bool {
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

// insts returns the instructions that the block has issued, and their lanes.
func (b *block) insts() (warp, thread uint64) {
	for i := range b.warps {
		warp += b.warps[i].insts
		thread += b.warps[i].thrInsts
	}
	return
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
	case atSync:
		return fmt.Sprintf("waits for lanes %#08x of its warp", f.need&w.live&^f.mask)
	}
	return ""
}

// waits describes what every warp waits for.
func (b *block) waits() []string {
	var out []string
	for i := range b.warps {
		w := &b.warps[i]
		if w.live == 0 {
			continue
		}
		for _, f := range w.frags {
			in := &f.fr.f.info[f.pc]
			what := cmp.Or(b.waitOf(w, &f), "is ready")
			out = append(out, fmt.Sprintf("warp %d, lanes %#08x, pc %d: %s (%s:%d) %s", i, f.mask, f.pc, in.Op, b.im.fileOf(f.fr.f), in.Pos.Line, what))
		}
		for _, j := range w.joins {
			if j.live && j.got != 0 {
				out = append(out, fmt.Sprintf("warp %d, lanes %#08x wait for lanes %#08x at pc %d, where they reconverge", i, j.got, j.want&^j.got, j.pc))
			}
		}
	}
	const most = 40
	if len(out) > most {
		out = append(out[:most], fmt.Sprintf("… and %d more", len(out)-most))
	}
	return out
}

// failure turns the block's pending fault into an error.
func (b *block) failure() error {
	for i := range b.warps {
		if w := &b.warps[i]; w.fault != nil {
			return &exec.Fault{Where: w.where(w.fault.lane), What: strings.TrimSpace(w.fault.what)}
		}
	}
	return nil
}

// somewhere is the place of the first warp that still runs.
func (b *block) somewhere() exec.Where {
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
	return exec.Where{Kernel: b.im.kernel.Name(), Block: b.idx}
}

// recycle gives the block's storage back to its worker.
func (b *block) recycle() {
	for i := range b.warps {
		w := &b.warps[i]
		w.fr, w.running = nil, false
	}
	b.wk.free = append(b.wk.free, b)
}
