package replay

import (
	"fmt"
	"math/bits"
	"sync"

	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/isa"
	"github.com/heddle-sim/heddle/internal/isa/mnemonic"
	"github.com/heddle-sim/heddle/internal/trace"
)

// Work is a launch of a trace, prepared for a core model. It implements exec.Work.
type Work struct {
	k      *trace.Kernel
	code   []*isa.Inst
	stat   []static
	bytes  int // of an instruction
	report Report
	table  *mnemonic.Table
	rules  mnemonic.Rules
	lost   []hiddenReads // by static instruction; nil if there was nothing to recover

	partial    bool // barriers count warps, not lanes (before Volta)
	asAccelSim bool // see Options.AsAccelSim

	mu     sync.Mutex
	free   []*block
	err    error
	counts []uint64 // records of blocks that have ended, by static instruction
}

// static is what running a record needs to know about its instruction.
type static struct {
	inst  *isa.Inst
	at    int32 // in code
	does  does
	space isa.Space
	bar   uint8       // number of the barrier
	count int32       // warps that it waits for, 0 for all
	konst *[32]uint64 // addresses of a load of constants
}

type does uint8

const (
	doesExit does = 1 << iota
	doesWait
	doesArrive
	doesStore
	doesGeneric
	doesConst
)

var (
	_ exec.Work  = (*Work)(nil)
	_ exec.Block = (*block)(nil)
	_ exec.Warp  = (*warp)(nil)
)

// New prepares a launch. It takes over the kernel's blocks: nothing else may read them.
// The error names the launch and what is wrong with it.
func New(k *trace.Kernel, o Options) (*Work, error) {
	if err := checkHeader(&k.Header); err != nil {
		return nil, fmt.Errorf("%s: %w", k.Kernel, err)
	}
	w := &Work{k: k, bytes: 16, partial: k.Arch > 0 && k.Arch < 70, asAccelSim: o.AsAccelSim, rules: o.Rules}
	if w.partial {
		w.bytes = 8
	}
	if err := w.decode(o); err != nil {
		return nil, fmt.Errorf("%s: %w", k.Kernel, err)
	}
	w.report.Grid = k.Grid.Count()
	w.report.Absent = w.report.Grid - min(w.report.Grid, uint64(len(k.Present)))
	return w, nil
}

// checkHeader rejects launches that no machine supports.
func checkHeader(h *trace.Header) error {
	n := uint64(1)
	for _, d := range h.Block {
		if d == 0 || d > isa.MaxThreads {
			return fmt.Errorf("a block of %d×%d×%d threads; want 1 to %d", h.Block[0], h.Block[1], h.Block[2], isa.MaxThreads)
		}
		n *= uint64(d)
	}
	if n > isa.MaxThreads {
		return fmt.Errorf("a block of %d threads; want 1 to %d", n, isa.MaxThreads)
	}
	for _, d := range h.Grid {
		if d == 0 {
			return fmt.Errorf("a grid of %d×%d×%d blocks; every extent must be at least 1", h.Grid[0], h.Grid[1], h.Grid[2])
		}
	}
	if h.Shared < 0 || h.Registers < 0 || h.Registers > 1<<12 {
		return fmt.Errorf("%d bytes of shared memory and %d registers are invalid; want at least 0 bytes and 0 to 4096 registers", h.Shared, h.Registers)
	}
	return nil
}

// Report describes the basis of the launch. Its counts by records are those of the
// blocks that have ended.
func (w *Work) Report() Report {
	w.mu.Lock()
	defer w.mu.Unlock()
	r := w.report
	t, err := mnemonic.New(w.k.Arch, w.rules)
	if err != nil {
		return r
	}
	for i, n := range w.counts {
		t.Note(w.k.Code[i].Op, n)
	}
	r.Unknown = t.Unknown()
	for i, n := range w.counts {
		if h := w.lost; h != nil {
			r.Hidden.Needed += n * uint64(h[i].needed)
			r.Hidden.Recovered += n * uint64(h[i].recovered)
		}
	}
	return r
}

// Err returns the first error in reading blocks, nil if there was none. It is an error of
// the trace.
func (w *Work) Err() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.err
}

// Trace returns the launch as recorded.
func (w *Work) Trace() *trace.Kernel { return w.k }

// At returns the place in Code of static instruction i of the trace.
func (w *Work) At(i int) int { return int(w.stat[i].at) }

// PC returns the byte offset of an instruction of the code in its function.
func (w *Work) PC(at int) int {
	for i := range w.stat {
		if int(w.stat[i].at) == at {
			return int(w.k.Code[i].PC)
		}
	}
	return at * w.bytes
}

// Name returns the mangled name of the kernel.
func (w *Work) Name() string { return w.k.Kernel }

// Blocks returns the number of blocks that the trace holds.
func (w *Work) Blocks() uint64 { return uint64(len(w.k.Present)) }

// Threads returns the threads of a block.
func (w *Work) Threads() int { return int(w.k.Block.Count()) }

// Registers returns those of a thread as the trace has them.
func (w *Work) Registers() int { return w.k.Registers }

// Shared returns the bytes of shared memory of a block.
func (w *Work) Shared() int { return w.k.Shared }

// Code returns the instructions by address; see Traits.
func (w *Work) Code() []*isa.Inst { return w.code }

// Traits is as in exec.Work. Instructions are 8 bytes apart before Volta, where words
// with control codes lie between, and 16 bytes since.
func (w *Work) Traits() exec.Traits { return exec.Traits{InstBytes: w.bytes, Arch: w.k.Arch} }

// Block starts the n-th block of the trace. Blocks are started by one goroutine. A block
// that cannot be read fails in its first step; see Err.
func (w *Work) Block(n uint64) exec.Block {
	w.mu.Lock()
	var b *block
	if m := len(w.free); m > 0 {
		b = w.free[m-1]
		w.free = w.free[:m-1]
	} else {
		b = &block{w: w}
	}
	w.mu.Unlock()
	b.start(n)
	return b
}

// block is a running block.
type block struct {
	w     *Work
	n     uint64
	index exec.Dim3
	rec   *trace.Block
	err   error
	warps []warp
	left  int // warps that are not done

	barriers []barrier
	used     uint32 // barriers at which a warp waits

	warpInsts, threadInsts uint64
}

// barrier is a barrier of a block.
type barrier struct {
	came  int32 // warps that have arrived
	count int32 // warps that it waits for; 0: all that are not done
	waits uint32
}

// barriers is the number of barriers of a block (PTX manual).
const barriers = 16

func (b *block) start(n uint64) {
	w := b.w
	k := w.k
	b.n, b.err, b.used = n, nil, 0
	b.warpInsts, b.threadInsts = 0, 0
	threads := w.Threads()
	count := (threads + 31) / 32
	if cap(b.warps) < count {
		b.warps = make([]warp, count)
	}
	b.warps = b.warps[:count]
	if b.barriers == nil {
		b.barriers = make([]barrier, barriers)
	}
	clear(b.barriers)
	b.rec, b.err = nil, nil
	if n >= uint64(len(k.Present)) {
		b.err = fmt.Errorf("%s: block %d of %d does not exist", k.Kernel, n, len(k.Present))
	} else {
		b.rec, b.err = k.Blocks.Block(int(n))
	}
	if b.err == nil {
		b.err = b.check()
	}
	for i := range b.warps {
		x := &b.warps[i]
		x.b, x.id = b, int32(i)
		x.at, x.end = 0, 0
		x.live = isa.FullMask
		if m := threads - 32*i; m < 32 {
			x.live = 1<<m - 1
		}
		x.came = 0
		x.state = exec.Done
	}
	b.left = 0
	if b.err != nil {
		w.mu.Lock()
		if w.err == nil {
			w.err = b.err
		}
		w.mu.Unlock()
		// A warp that can step reports it.
		b.warps[0].state = exec.Ready
		b.left = 1
		return
	}
	b.index = exec.Dim3{X: b.rec.Index[0], Y: b.rec.Index[1], Z: b.rec.Index[2]}
	for i := range b.rec.Warps {
		r := &b.rec.Warps[i]
		x := &b.warps[r.ID]
		x.at, x.end = r.From, r.Upto
		if x.at < x.end {
			x.state = exec.Ready
			b.left++
		}
	}
	for i := range b.warps {
		if x := &b.warps[i]; x.state == exec.Done {
			x.live = 0
		}
	}
}

// check validates data read from a file before it is used as an index.
func (b *block) check() error {
	r := b.rec
	last := int32(-1)
	for i := range r.Warps {
		x := &r.Warps[i]
		if x.ID <= last || int(x.ID) >= len(b.warps) || x.From < 0 || x.From > x.Upto || int(x.Upto) > len(r.Insts) {
			return fmt.Errorf("%s: thread block %d,%d,%d: warp %d is out of order: want %d warps, each once, in ascending order",
				b.w.k.Kernel, r.Index[0], r.Index[1], r.Index[2], x.ID, len(b.warps))
		}
		last = x.ID
	}
	for i := range r.Mems {
		if m := &r.Mems[i]; m.N > 0 && (m.First < 0 || int(m.First)+int(m.N) > len(r.Deltas)) {
			return fmt.Errorf("%s: thread block %d,%d,%d: an access refers to missing addresses", b.w.k.Kernel, r.Index[0], r.Index[1], r.Index[2])
		}
	}
	n, m := int32(len(b.w.stat)), int32(len(r.Mems))
	for i := range r.Insts {
		x := &r.Insts[i]
		if uint32(x.At) >= uint32(n) || x.NMems > 0 && (x.Mem < 0 || x.Mem+int32(x.NMems) > m) {
			return fmt.Errorf("%s: thread block %d,%d,%d: record %d refers to a missing instruction or address", b.w.k.Kernel,
				r.Index[0], r.Index[1], r.Index[2], i)
		}
	}
	return nil
}

func (b *block) Index() exec.Dim3 { return b.index }

// Linear returns the block's place in the trace, which is its index in the grid if the
// trace holds all blocks in order.
func (b *block) Linear() uint64 { return b.n }

func (b *block) Warps() int { return len(b.warps) }

func (b *block) Warp(i int) exec.Warp { return &b.warps[i] }

// Unblock opens barriers at which all unfinished warps wait: if barrier numbers are not
// known, warps may wait for others that are at another barrier.
func (b *block) Unblock() bool {
	any := false
	for m := b.used; m != 0; m &= m - 1 {
		b.open(bits.TrailingZeros32(m))
		any = true
	}
	return any
}

func (b *block) Counts() (warpInsts, threadInsts uint64) { return b.warpInsts, b.threadInsts }

func (b *block) Release() {
	w := b.w
	w.mu.Lock()
	defer w.mu.Unlock()
	if b.rec != nil {
		if b.err == nil {
			for i := range b.rec.Insts {
				w.counts[b.rec.Insts[i].At]++
			}
		}
		w.k.Blocks.Free(b.rec)
		b.rec = nil
	}
	w.free = append(w.free, b)
}

// arrive records that warp x has arrived at barrier n; it waits there if waits.
func (b *block) arrive(x *warp, n uint8, count int32, waits bool) {
	q := &b.barriers[n]
	q.came++
	if count > 0 {
		q.count = count
	}
	if waits {
		q.waits |= 1 << x.id
		x.state = exec.AtBarrier
	}
	b.used |= 1 << n
	b.retest(int(n))
}

// retest opens a barrier if all warps have arrived.
func (b *block) retest(n int) {
	q := &b.barriers[n]
	want := q.count
	if want == 0 {
		want = int32(b.left)
	}
	if q.came >= want {
		b.open(n)
	}
}

func (b *block) open(n int) {
	q := &b.barriers[n]
	for m := q.waits; m != 0; m &= m - 1 {
		b.warps[bits.TrailingZeros32(m)].state = exec.Ready
	}
	*q = barrier{}
	b.used &^= 1 << n
}

// warp is a running warp.
type warp struct {
	b     *block
	id    int32
	at    int32 // record that is next
	end   int32
	state exec.WarpState
	live  isa.LaneMask
	came  isa.LaneMask // lanes at the barrier, before all have arrived
	bar   uint8        // which one
	count int32
	addr  [32]uint64
}

func (x *warp) Next() (*isa.Inst, isa.LaneMask, uint64, exec.WarpState) {
	if x.state != exec.Ready {
		return nil, 0, 0, x.state
	}
	if x.b.err != nil {
		return x.b.w.code[0], 1, 0, exec.Ready
	}
	r := &x.b.rec.Insts[x.at]
	s := &x.b.w.stat[r.At]
	return s.inst, r.Active, uint64(s.at) * uint64(x.b.w.bytes), exec.Ready
}

// Ahead returns the address of the n-th instruction from the next one on, which is number
// 0, whether or not the warp waits; false after the last.
func (x *warp) Ahead(n int) (uint64, bool) {
	i := int64(x.at) + int64(n)
	if x.b.err != nil || i < 0 || i >= int64(x.end) {
		return 0, false
	}
	s := &x.b.w.stat[x.b.rec.Insts[i].At]
	return uint64(s.at) * uint64(x.b.w.bytes), true
}

func (x *warp) Live() isa.LaneMask { return x.live }

// noAddress are the addresses of loads of constants known only by their mnemonics: traces
// have none. All lanes read one word.
var noAddress [32]uint64

// Step executes the next record. It fails only if the block cannot be read.
func (x *warp) Step(e *exec.Effects) error {
	b := x.b
	if b.err != nil {
		return b.err
	}
	w := b.w
	r := &b.rec.Insts[x.at]
	s := &w.stat[r.At]
	x.at++
	mask := r.Mask
	*e = exec.Effects{Inst: s.inst, Active: r.Active, Lanes: mask, Space: s.space, Wrote: s.does&doesStore != 0}
	b.warpInsts++
	b.threadInsts += uint64(mask.Count())
	if r.NMems > 0 && mask != 0 {
		// Of two, the first is the target of a copy into shared memory.
		m := &b.rec.Mems[r.Mem+int32(r.NMems)-1]
		if s.space != isa.NoSpace {
			b.rec.Expand(m, mask, &x.addr)
			e.Addr = &x.addr
			if s.does&doesGeneric != 0 {
				w.resolve(e)
			}
		}
	} else if s.does&doesConst != 0 {
		e.Addr = s.konst
	}
	if s.does&(doesExit|doesWait|doesArrive) != 0 {
		x.control(e, s, mask)
	}
	if x.at == x.end {
		x.finish(e)
	}
	return nil
}

// control implements EXIT and BAR.
func (x *warp) control(e *exec.Effects, s *static, mask isa.LaneMask) {
	b := x.b
	switch {
	case s.does&doesExit != 0:
		e.Exited = mask & x.live
		x.live &^= mask
		if x.came != 0 && x.live != 0 && x.live&^x.came == 0 { // the others are at the barrier
			x.came = 0
			b.arrive(x, x.bar, x.count, true)
			e.Blocked = x.state == exec.AtBarrier
		}
	case mask == 0:
	case s.does&doesArrive != 0:
		b.arrive(x, s.bar, s.count, false)
	default:
		// Since Volta the parts of a warp come one after another.
		x.came |= mask
		x.bar, x.count = s.bar, s.count
		if b.w.partial || x.live&^x.came == 0 {
			x.came = 0
			b.arrive(x, s.bar, s.count, true)
			e.Blocked = x.state == exec.AtBarrier
		}
	}
}

// finish ends a warp after its last record.
func (x *warp) finish(e *exec.Effects) {
	b := x.b
	if x.state == exec.AtBarrier { // nothing follows it
		for i := range b.barriers {
			b.barriers[i].waits &^= 1 << x.id
		}
		e.Blocked = false
	}
	e.Exited |= x.live
	x.live = 0
	x.state = exec.Done
	b.left--
	for m := b.used; m != 0; m &= m - 1 {
		b.retest(bits.TrailingZeros32(m))
	}
}

// resolve finds the windows in which generic addresses lie, and converts the addresses to
// offsets from the window. Accel-Sim uses the first lane's.
func (w *Work) resolve(e *exec.Effects) {
	bases := [...]uint64{w.k.SharedBase, w.k.LocalBase}
	if w.asAccelSim && bases[0]|bases[1] == 0 {
		e.Space = isa.Shared
		return
	}
	var in [len(bases)]isa.LaneMask
	for m := e.Lanes; m != 0; m &= m - 1 {
		l := m.First() & 31
		for i, base := range bases {
			if base != 0 && e.Addr[l]-base < isa.WindowSize {
				in[i] |= 1 << l
				e.Addr[l] -= base
				break
			}
		}
		if w.asAccelSim && m == e.Lanes {
			for i := range bases {
				if in[i] == 0 {
					bases[i] = 0
				}
			}
		}
	}
	if w.asAccelSim {
		for i := range in {
			if in[i] != 0 {
				in[i] = e.Lanes
			}
		}
	}
	e.Lie(in[0], in[1])
}

// Digest reports that there are no endless loops: a trace ends.
func (x *warp) Digest() (uint64, bool) { return 0, false }

// Fragments returns the lanes of the next record.
func (x *warp) Fragments() []exec.Fragment {
	if x.state == exec.Done || x.b.err != nil || x.at >= x.end {
		return nil
	}
	r := &x.b.rec.Insts[x.at]
	f := exec.Fragment{Lanes: r.Active, Function: x.b.w.k.Kernel, PC: int(x.b.w.stat[r.At].at), Barrier: -1}
	if x.state == exec.AtBarrier {
		f.Waits = "barrier"
	}
	return []exec.Fragment{f}
}

// Joins returns nothing: a trace does not record where lanes wait for others.
func (x *warp) Joins() []exec.Join { return nil }

// Frame returns nothing: a trace has no values.
func (x *warp) Frame(int) (exec.Frame, bool) { return exec.Frame{}, false }

// Changed returns nothing, either.
func (x *warp) Changed(int, *exec.Seen) (exec.Frame, bool) { return exec.Frame{}, false }
