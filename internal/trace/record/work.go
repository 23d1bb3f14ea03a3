package record

import (
	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/exec/sass"
	"github.com/heddle-sim/heddle/internal/isa"
	"github.com/heddle-sim/heddle/internal/trace"
)

// This file: what stands between executor and core model. Every type passes
// everything on and notes what comes back.

// newWork wraps work and fills in the static code of its launch.
func newWork(w exec.Work, l *launch) exec.Work {
	x := &work{Work: w, l: l, at: map[*isa.Inst]int32{}}
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
	return x
}

// work is a launch whose blocks are recorded.
type work struct {
	exec.Work
	l   *launch
	at  map[*isa.Inst]int32
	has []bool // its records have addresses
}

func (w *work) Block(n uint64) exec.Block {
	b := &block{Block: w.Work.Block(n), w: w, rec: w.l.empty()}
	b.warps = make([]warp, b.Warps())
	b.late = make([]lateWarp, b.Warps())
	for i := range b.warps {
		x := &b.warps[i]
		*x = warp{Warp: b.Block.Warp(i), b: b}
		if d, ok := x.Warp.(exec.Deferred); ok {
			b.late[i] = lateWarp{warp: x, d: d}
		}
	}
	return b
}

// block is a running block.
type block struct {
	exec.Block
	w     *work
	rec   *trace.Block
	warps []warp
	late  []lateWarp
}

func (b *block) Warp(i int) exec.Warp {
	if b.late[i].d != nil {
		return &b.late[i]
	}
	return &b.warps[i]
}

// Tell passes the call on.
func (b *block) Tell() {
	if x, ok := b.Block.(exec.Teller); ok {
		x.Tell()
	}
}

// Release hands the block's records on, if all its warps are done.
func (b *block) Release() {
	i := b.Index()
	n, whole := b.Linear(), true
	b.rec.Index = trace.Dim{i.X, i.Y, i.Z}
	for i := range b.warps {
		x := &b.warps[i]
		whole = whole && x.Live() == 0
		from := int32(len(b.rec.Insts))
		b.rec.Insts = append(b.rec.Insts, x.insts...)
		b.rec.Warps = append(b.rec.Warps, trace.Warp{ID: int32(i), From: from, Upto: int32(len(b.rec.Insts))})
	}
	b.Block.Release()
	if whole {
		b.w.l.complete(n, b.rec)
	}
}

// warp is a warp that is stepped.
type warp struct {
	exec.Warp
	b     *block
	insts []trace.Inst
}

func (x *warp) Step(e *exec.Effects) error {
	err := x.Warp.Step(e)
	if err == nil && e.Inst != nil {
		at := x.note(e)
		if e.Addr != nil {
			x.addresses(at, e)
		}
	}
	return err
}

// note appends a record and returns its place.
func (x *warp) note(e *exec.Effects) int32 {
	x.insts = append(x.insts, trace.Inst{At: x.b.w.at[e.Inst], Active: e.Active, Mask: e.Lanes, Mem: -1})
	return int32(len(x.insts) - 1)
}

// addresses gives a record the addresses of its lanes.
func (x *warp) addresses(at int32, e *exec.Effects) {
	in := &x.insts[at]
	if in.Mask == 0 || !x.b.w.has[in.At] {
		return
	}
	r := x.b.rec
	in.Mem, in.NMems = int32(len(r.Mems)), 1
	var m trace.Mem
	m, r.Deltas = compress(in.Mask, e.Addr, r.Deltas)
	r.Mems = append(r.Mems, m)
}

// Digest is the warp's own, if it has one.
func (x *warp) Digest() (uint64, bool) {
	if d, ok := x.Warp.(exec.Digester); ok {
		return d.Digest()
	}
	return 0, false
}

// Fragments are the warp's own, if they can be seen.
func (x *warp) Fragments() []exec.Fragment {
	if i, ok := x.Warp.(exec.Inspector); ok {
		return i.Fragments()
	}
	return nil
}

// Joins are the warp's own, if they can be seen.
func (x *warp) Joins() []exec.Join {
	if i, ok := x.Warp.(exec.Inspector); ok {
		return i.Joins()
	}
	return nil
}

// Frame is the warp's own, if it can be seen.
func (x *warp) Frame(lane int) (exec.Frame, bool) {
	if i, ok := x.Warp.(exec.Inspector); ok {
		return i.Frame(lane)
	}
	return exec.Frame{}, false
}

// lateWarp is a warp whose instructions access memory after they have issued.
type lateWarp struct {
	*warp
	d    exec.Deferred
	open []int32 // by handle, the record of a pending instruction
}

func (x *lateWarp) Issue(e *exec.Effects) (exec.Pending, error) {
	p, err := x.d.Issue(e)
	if err != nil || e.Inst == nil {
		return p, err
	}
	at := x.note(e)
	if p >= 0 {
		for int(p) >= len(x.open) {
			x.open = append(x.open, 0)
		}
		x.open[p] = at
	}
	return p, nil
}

func (x *lateWarp) Access(p exec.Pending, e *exec.Effects) error {
	err := x.d.Access(p, e)
	if err == nil && e.Addr != nil {
		at := x.open[p]
		x.share(x.insts[at].Mask, e)
		x.addresses(at, e)
	}
	return err
}

// share gives lanes of a record that accessed nothing the address of one that
// did, as Step does.
func (x *lateWarp) share(mask isa.LaneMask, e *exec.Effects) {
	if e.Lanes == 0 {
		return
	}
	for m := mask &^ e.Lanes; m != 0; m &= m - 1 {
		e.Addr[m.First()&31] = e.Addr[e.Lanes.First()&31]
	}
}

func (x *lateWarp) Commit(p exec.Pending)    { x.d.Commit(p) }
func (x *lateWarp) Late(p exec.Pending) bool { return x.d.Late(p) }
