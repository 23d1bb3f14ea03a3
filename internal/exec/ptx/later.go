package ptx

import (
	"math/bits"
	"strings"

	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/isa"
	"github.com/heddle-sim/heddle/internal/isa/ptx"
)

// This file: what goes on after an instruction, for core models that time it (exec.Bulk): the pieces of
// global memory that bulk copies access, and the signals of mbarriers that are still to come.

// later is what the last step has started.
type later struct {
	exec.Bulk
	started bool
}

func (l *later) reset() {
	l.started = false
	l.Bulk = exec.Bulk{Spans: l.Spans[:0], Signals: l.Signals[:0]}
}

// begin notes that an operation has started, and returns it.
func (l *later) begin() *exec.Bulk {
	l.started = true
	return &l.Bulk
}

// span adds a piece of global memory.
func (l *later) span(addr uint64, size int) {
	if size <= 0 {
		return
	}
	if n := len(l.Spans); n > 0 && l.Spans[n-1].Addr+uint64(l.Spans[n-1].Size) == addr {
		l.Spans[n-1].Size += size
		return
	}
	l.Spans = append(l.Spans, exec.Span{Addr: addr, Size: size})
}

// signal adds a signal; bytes for the same barrier are added up.
func (l *later) signal(s exec.Notice) {
	l.started = true
	if n := len(l.Signals); n > 0 && s.Arrivals == 0 {
		if p := &l.Signals[n-1]; p.Rank == s.Rank && p.Addr == s.Addr && p.Arrivals == 0 {
			p.Tx += s.Tx
			return
		}
	}
	l.Signals = append(l.Signals, s)
}

// Postpone is as in exec.Postponer.
func (b *block) Postpone() { b.postpones = true }

// Signal is as in exec.Postponer.
func (b *block) Signal(s exec.Notice) error {
	w := &b.warps[0]
	w.addr[0] = s.Addr
	v, p := w.mbarAt(&inst{mode: uint8(isa.Shared)}, 0)
	phase := v.phase
	ok := p != nil && (s.Tx == 0 || w.addTx(&v, 0, s.Tx))
	if ok && s.Drop {
		v.expected -= s.Arrivals
	}
	switch {
	case ok && s.Arrivals > 0:
		ok = w.arriveMbar(&v, 0, s.Arrivals)
	case ok:
		v.advance()
	}
	if !ok {
		f := &exec.Fault{Where: s.Origin.Where(), What: "a signal that came later: nothing is at its address"}
		if x := w.fault; x != nil {
			f.Kind, f.What, f.Access = x.kind, "a signal that came later: "+strings.TrimSpace(x.what), x.access
		}
		return f
	}
	le.PutUint64(p, v.pack())
	if b.probe != nil {
		b.resolved[0] = s.Addr
		b.signal = exec.Signal{Site: s.Origin.At, Does: exec.SignalBytes, Lanes: 1, Addr: &b.resolved, Done: isa.LaneMask(v.phase ^ phase), Order: isa.Release, Scope: isa.ScopeCluster}
		b.probe.Signal(&b.signal)
	}
	return nil
}

// postponed reports whether lane i's mbarrier operation at w.addr is a signal to another block that is
// still to come, and notes it.
func (w *warp) postponed(i int, s exec.Notice) bool {
	if !w.blk.postpones {
		return false
	}
	_, a := isa.Resolve(w.addr[i&31])
	rank, at, ok := inCluster(a)
	if !ok || rank == w.blk.rank() {
		return false
	}
	s.Rank, s.Addr, s.Origin = int(rank), at, w.origin()
	w.bulk.signal(s)
	return true
}

// signalAt notes that n bytes will have come at lane i's mbarrier, in the block with a rank, or if that
// is negative in that of the address.
func (w *warp) signalAt(at *inst, i, rank int, n int64) {
	own := w.addr
	r, a := w.barrierAt(at, i, rank)
	w.addr = own
	w.bulk.signal(exec.Notice{Rank: r, Addr: a, Tx: -n, Origin: w.origin()})
}

// arriveLater notes that lane i's mbarrier gets an arrival, in the block with a rank, or if that is negative in that of
// the address.
func (w *warp) arriveLater(at *inst, i, rank int) {
	r, a := w.barrierAt(at, i, rank)
	w.bulk.signal(exec.Notice{Rank: r, Addr: a, Arrivals: 1, Origin: w.origin()})
}

// arriveWithCopies notes the arrivals of lanes when their copies have ended.
func (w *warp) arriveWithCopies(in *inst, m uint32) {
	for ; m != 0; m &= m - 1 {
		r, a := w.barrierAt(in, bits.TrailingZeros32(m)&31, -1)
		if n := len(w.bulk.Signals); n > 0 && w.bulk.Signals[n-1].Rank == r && w.bulk.Signals[n-1].Addr == a {
			w.bulk.Signals[n-1].Arrivals++
			continue
		}
		w.bulk.signal(exec.Notice{Rank: r, Addr: a, Arrivals: 1, Origin: w.origin()})
	}
}

// barrierAt is where lane i's mbarrier is: the rank of the block, and the address there.
func (w *warp) barrierAt(at *inst, i, rank int) (block int, addr uint64) {
	w.addresses(at, 1<<i)
	_, a := isa.Resolve(w.addr[i&31])
	r, a, ok := inCluster(a)
	switch {
	case rank >= 0:
		r = uint64(rank)
	case !ok:
		r = w.blk.rank()
	}
	return int(r), a
}

// origin is the executing instruction.
func (w *warp) origin() exec.Origin {
	f := w.fr.f
	return exec.Origin{Code: w.blk.im, At: int(f.base/instBytes) + int(w.pc), Block: w.blk.Idx}
}

// bulkNote notes lane i's bulk copy of n bytes.
func (w *warp) bulkNote(c *copyOp, from, to uint64, n int) {
	if !w.blk.postpones {
		return
	}
	b := w.bulk.begin()
	b.Many = c.multi
	switch {
	case c.to == isa.Global:
		b.Write, b.Atomic = true, c.elem > 0
		w.bulk.span(to, n)
	case c.from == isa.Global:
		w.bulk.span(from, n)
	default:
		b.Remote += n
	}
}

// storeNote notes asynchronous stores of n bytes by lanes.
func (w *warp) storeNote(m uint32, n int) {
	if w.blk.postpones {
		w.bulk.begin().Remote += n * bits.OnesCount32(m)
	}
}

// tensorNote notes the copy of a box.
func (w *warp) tensorNote(b *tensorBox) {
	if !w.blk.postpones {
		return
	}
	x := w.bulk.begin()
	x.Tensor, x.Write, x.Atomic, x.Many = true, b.op.store, b.op.reduce != "", b.op.copy.multi
	size := b.m.Bytes()
	b.m.Rows(b.at, b.offsets, func(r *exec.TensorRow) bool {
		w.bulk.span(r.Global+uint64(r.Lo*size), (r.Hi-r.Lo)*size)
		return true
	})
}

// Suspends is as in exec.Suspender.
func (w *warp) Suspends() bool {
	if !w.running || w.live == 0 {
		return false
	}
	in := &w.code[w.pc]
	if in.x == nil {
		return false
	}
	op, ok := in.x.any.(*mbarOp)
	if !ok || !op.try {
		return false
	}
	m := w.guarded(in, w.mask)
	w.addresses(in, m)
	for ; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m) & 31
		space, a := isa.Resolve(w.addr[i])
		if space != isa.Shared {
			a = w.addr[i]
		}
		if rank, at, ok := inCluster(a); ok && rank == w.blk.rank() {
			a = at
		}
		mem := w.blk.Shared
		if a%8 != 0 || a+8 > uint64(len(mem)) {
			return false // a fault when it is stepped
		}
		v := le.Uint64(mem[a:])
		if v&mbarValid == 0 {
			return false
		}
		if w.phaseOf(op, i) == unpackMbar(v).phase {
			return true
		}
	}
	return false
}

// phaseOf is the phase for whose end lane i waits.
func (w *warp) phaseOf(op *mbarOp, i int) uint64 {
	if op.parity {
		return uint64(w.u32(op.state)[i&31] & 1)
	}
	return w.u64(op.state)[i&31] >> 61 & 1
}

// shape is that of a product of warp groups, for its timing.
func (op *wgmmaOp) shape() *isa.Tensor {
	t := &isa.Tensor{M: 64, N: uint16(op.n), K: uint16(op.k), Elem: uint8(op.element), Bits: 32, Sparse: op.sparse != nil, F32: op.dt == ptx.Type("f32"), Group: true}
	t.FromRegs = op.descA == none
	if op.dt == "f16" {
		t.Bits = 16
	}
	return t
}
