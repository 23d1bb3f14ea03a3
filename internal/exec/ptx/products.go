package ptx

import (
	"math/bits"
	"slices"
	"strings"

	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/isa"
)

// This file: for a probe, which registers products of warp groups (wgmma) have still to write: nothing may
// read them before wgmma.wait_group. Here they have their values at once, so that a program which does so
// has the right results all the same.

// products are what a warp's products have still to write, by registers of a function, with the number of the
// group of each.
type products struct {
	in     *fn
	of     map[uint32]int32
	closed int32 // groups
}

// watchProducts makes the instructions of a function with products tell the probe of reads that come too early.
func (f *fn) watchProducts() {
	written := map[uint32]bool{}
	for i := range f.code {
		if f.isProduct(i) {
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
		if in.Async.Done == isa.ByProduct || f.isProduct(i) || slices.ContainsFunc(in.Srcs, touches) || slices.ContainsFunc(in.Dsts, touches) {
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
			w.products = &products{in: f, of: map[uint32]int32{}}
		}
		p := w.products
		if product {
			run(w, in, m)
			for _, r := range info.Dsts {
				p.of[r.Index] = p.closed
			}
			return
		}
		p.before(w, in, info, m)
		run(w, in, m)
	}
}

// before looks at an instruction that is about to run, and is no product.
func (p *products) before(w *warp, in *inst, info *isa.Inst, m uint32) {
	switch a := info.Async; {
	case a.Done == isa.ByProduct && a.Does == isa.AsyncCommit:
		p.closed++
	case a.Done == isa.ByProduct && a.Does == isa.AsyncWait:
		for r, group := range p.of {
			if group < p.closed-a.Leave {
				delete(p.of, r)
			}
		}
	case isMove(info): // compilers copy accumulators between products, which costs nothing in machine code
		group, early := int32(0), false
		for _, r := range info.Srcs {
			for k := range max(1, uint32(r.Count)) {
				if g, ok := p.of[r.Index+k]; ok && r.File == isa.RegGPR {
					group, early = max(group, g), true
				}
			}
		}
		p.set(info, group, early)
	default:
		// What a compiler spills to local memory is no use that the program makes of it.
		spilt := info.Store && (info.Space == isa.Local || info.Space == isa.Generic && w.toLocal(in, m))
		if !spilt && slices.ContainsFunc(info.Srcs, func(r isa.Reg) bool { return isPending(r, p.of) }) {
			w.misuse(exec.TooEarly, m, 0)
		}
		p.set(info, 0, false)
	}
}

// toLocal reports whether lanes store by generic addresses into local memory.
func (w *warp) toLocal(in *inst, m uint32) bool {
	w.addresses(in, m)
	s, _ := isa.Resolve(w.addr[bits.TrailingZeros32(m)&31])
	return s == isa.Local
}

// set notes that the destinations of an instruction have a value of a group that is still to come, or their own.
func (p *products) set(info *isa.Inst, group int32, early bool) {
	for _, r := range info.Dsts {
		for k := range max(1, uint32(r.Count)) {
			switch {
			case r.File != isa.RegGPR:
			case early:
				p.of[r.Index+k] = group
			default:
				delete(p.of, r.Index+k)
			}
		}
	}
}
