package ptx

import (
	"math"
	"math/bits"
	"slices"
	"strings"

	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/isa"
)

// This file: for a probe, which registers products of warp groups (wgmma) and loads of tensor memory have still to
// write: nothing may read them before wgmma.wait_group or tcgen05.wait::ld. Here they have their values at once, so
// that a program which does so has the right results all the same.

// loading is the group of what tcgen05.ld has still to write: no group of products has such a number.
const loading = math.MaxInt32

// products are what a warp's products have still to write, by registers of a function.
type products struct {
	in     *fn
	of     map[uint32]owed
	closed int32 // groups
}

// owed is a register that has still to be written, in some lanes, by the products of a group.
type owed struct {
	group int32
	lanes uint32
}

// watchProducts makes the instructions of a function with products tell the probe of reads that come too early.
func (f *fn) watchProducts() {
	written := map[uint32]bool{}
	for i := range f.code {
		if f.isProduct(i) || isTensorLoad(&f.info[i]) {
			for _, r := range f.info[i].Dsts {
				written[r.Index] = true
			}
		}
	}
	if len(written) == 0 {
		return
	}
	for grows := true; grows; { // copies
		grows = false
		for i := range f.info {
			in := &f.info[i]
			if isMove(in) && slices.ContainsFunc(in.Srcs, func(r isa.Reg) bool { return isPending(r, written) }) {
				for _, r := range in.Dsts {
					for k := range max(1, uint32(r.Count)) {
						grows = grows || !written[r.Index+k]
						written[r.Index+k] = true
					}
				}
			}
		}
	}
	for i := range f.code {
		in := &f.info[i]
		touches := func(r isa.Reg) bool { return isPending(r, written) }
		if in.Async.Done == isa.ByProduct || f.isProduct(i) || isTensorLoad(in) || isTensorWait(in) || slices.ContainsFunc(in.Srcs, touches) || slices.ContainsFunc(in.Dsts, touches) {
			f.watchProduct(&f.code[i], f.isProduct(i))
		}
	}
}

// isProduct reports whether instruction i is a product.
func (f *fn) isProduct(i int) bool {
	x := f.code[i].x
	if x == nil {
		return false
	}
	_, ok := x.any.(*wgmmaOp)
	return ok
}

// isTensorLoad and isTensorWait report whether an instruction loads from tensor memory, or waits for that.
func isTensorLoad(in *isa.Inst) bool { return strings.HasPrefix(in.Op, "tcgen05.ld.") }
func isTensorWait(in *isa.Inst) bool { return strings.HasPrefix(in.Op, "tcgen05.wait::ld.") }

// isMove reports whether an instruction copies registers.
func isMove(in *isa.Inst) bool { return strings.HasPrefix(in.Op, "mov.") }

// isPending reports whether a register is among some.
func isPending[V any](r isa.Reg, of map[uint32]V) bool {
	if r.File != isa.RegGPR {
		return false
	}
	for k := range max(1, uint32(r.Count)) {
		if _, ok := of[r.Index+k]; ok {
			return true
		}
	}
	return false
}

// watchProduct makes an instruction note what it has to do with products.
func (f *fn) watchProduct(o *inst, product bool) {
	if !o.wrappable() {
		return
	}
	run := o.run
	o.run = func(w *warp, in *inst, m uint32) {
		info := w.info()
		if w.products == nil || w.products.in != f {
			w.products = &products{in: f, of: map[uint32]owed{}}
		}
		p := w.products
		if product {
			run(w, in, m)
			for _, r := range info.Dsts {
				p.of[r.Index] = owed{p.closed, full}
			}
			return
		}
		p.before(w, in, info, m)
		if run(w, in, m); isTensorLoad(info) {
			p.set(info, owed{loading, full}, full)
		}
	}
}

// before looks at an instruction that is about to run, and is no product.
func (p *products) before(w *warp, in *inst, info *isa.Inst, m uint32) {
	switch a := info.Async; {
	case a.Done == isa.ByProduct && a.Does == isa.AsyncCommit:
		p.closed++
	case a.Done == isa.ByProduct && a.Does == isa.AsyncWait:
		for r, o := range p.of {
			if o.group < p.closed-a.Leave {
				delete(p.of, r)
			}
		}
	case isTensorWait(info):
		for r, o := range p.of {
			if o.group == loading {
				delete(p.of, r)
			}
		}
	case isMove(info): // compilers copy accumulators between products, which costs nothing in machine code
		p.set(info, p.read(info, m), m)
	default:
		// What a compiler spills to local memory is no use that the program makes of it.
		spilt := info.Store && (info.Space == isa.Local || info.Space == isa.Generic && w.toLocal(in, m))
		switch o := p.read(info, m); {
		case spilt || o.lanes == 0:
		case o.group == loading:
			w.misuse(exec.LoadTooEarly, o.lanes, 0)
		default:
			w.misuse(exec.TooEarly, o.lanes, 0)
		}
		p.set(info, owed{}, m)
	}
}

// read is what lanes m of an instruction read too early: the latest group of its sources, and the lanes of all.
func (p *products) read(info *isa.Inst, m uint32) (o owed) {
	for _, r := range info.Srcs {
		for k := range max(1, uint32(r.Count)) {
			if x := p.of[r.Index+k]; r.File == isa.RegGPR && x.lanes&m != 0 {
				o.group, o.lanes = max(o.group, x.group), o.lanes|x.lanes&m
			}
		}
	}
	return o
}

// toLocal reports whether lanes store by generic addresses into local memory.
func (w *warp) toLocal(in *inst, m uint32) bool {
	w.addresses(in, m)
	s, _ := isa.Resolve(w.addr[bits.TrailingZeros32(m)&31])
	return s == isa.Local
}

// set notes that the destinations of an instruction have in lanes m what is owed, or their own value in those that are not.
func (p *products) set(info *isa.Inst, o owed, m uint32) {
	for _, r := range info.Dsts {
		for k := range max(1, uint32(r.Count)) {
			if r.File != isa.RegGPR {
				continue
			}
			x := p.of[r.Index+k]
			if x.lanes = x.lanes&^m | o.lanes; x.lanes == 0 {
				delete(p.of, r.Index+k)
				continue
			}
			x.group = max(x.group, o.group)
			p.of[r.Index+k] = x
		}
	}
}
