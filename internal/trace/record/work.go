package record

import (
	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/exec/sass"
	"github.com/heddle-sim/heddle/internal/isa"
	"github.com/heddle-sim/heddle/internal/trace"
)

// This file: recording of the instructions that warps execute.

// newWork wraps work for recording and fills in the static code of its launch.
func newWork(w exec.Work, l *launch) exec.Work {
	x := &work{l: l, at: map[*isa.Inst]int32{}}
	for i, in := range w.Code() {
		x.at[in] = int32(i)
	}
	if k, ok := w.Traits().Kernel.(*sass.Kernel); ok {
		l.k.Arch = int(k.Text().Arch)
		l.k.Code = fromSASS(k.Text())
	} else {
		l.k.Code = fromPTX(w)
	}
	for i := range w.Code() {
		x.has = append(x.has, l.k.Code[i].Width > 0)
	}
	return exec.Tap(w, func(b exec.Block) exec.BlockWatcher {
		return &block{Block: b, w: x, rec: l.empty(), warps: make([]warp, b.Warps())}
	})
}

// work is a launch whose blocks are recorded.
type work struct {
	l   *launch
	at  map[*isa.Inst]int32
	has []bool // its records have addresses
}

// block is a running block.
type block struct {
	exec.Block
	w     *work
	rec   *trace.Block
	warps []warp
}

// warp is the recording of a warp.
type warp struct {
	insts []trace.Inst
	open  []int32 // by handle: the record of a pending instruction
}

// Executed appends a record.
func (b *block) Executed(i int, e *exec.Effects, p exec.Pending) {
	x := &b.warps[i]
	at := int32(len(x.insts))
	x.insts = append(x.insts, trace.Inst{At: b.w.at[e.Inst], Active: e.Active, Mask: e.Lanes, Mem: -1})
	switch {
	case p >= 0:
		for int(p) >= len(x.open) {
			x.open = append(x.open, 0)
		}
		x.open[p] = at
	case e.Addr != nil:
		b.addresses(&x.insts[at], e)
	}
}

// Accessed adds the addresses to the record of a pending instruction. Lanes that
// accessed nothing get the address of one that did, as in Step.
func (b *block) Accessed(i int, e *exec.Effects, p exec.Pending) {
	if e.Addr == nil {
		return
	}
	x := &b.warps[i]
	in := &x.insts[x.open[p]]
	if e.Lanes != 0 {
		for m := in.Mask &^ e.Lanes; m != 0; m &= m - 1 {
			e.Addr[m.First()&31] = e.Addr[e.Lanes.First()&31]
		}
	}
	b.addresses(in, e)
}

// addresses adds the addresses of its lanes to a record.
func (b *block) addresses(in *trace.Inst, e *exec.Effects) {
	if in.Mask == 0 || !b.w.has[in.At] {
		return
	}
	r := b.rec
	in.Mem, in.NMems = int32(len(r.Mems)), 1
	var m trace.Mem
	m, r.Deltas = compress(in.Mask, e.Addr, r.Deltas)
	r.Mems = append(r.Mems, m)
}

// Released passes the block's records on once all its warps are done.
func (b *block) Released() {
	i := b.Index()
	whole := true
	b.rec.Index = trace.Dim{i.X, i.Y, i.Z}
	for i := range b.warps {
		x := &b.warps[i]
		whole = whole && b.Warp(i).Live() == 0
		from := int32(len(b.rec.Insts))
		b.rec.Insts = append(b.rec.Insts, x.insts...)
		b.rec.Warps = append(b.rec.Warps, trace.Warp{ID: int32(i), From: from, Upto: int32(len(b.rec.Insts))})
	}
	if whole {
		b.w.l.complete(b.Linear(), b.rec)
	}
}
