package unset

import (
	"math/bits"

	"github.com/heddle-sim/heddle/internal/exec"
	"github.com/heddle-sim/heddle/internal/isa"
)

// This file: how unset values go through registers, and where they are used.

// registers returns the registers of a warp's lanes at a depth of calls.
func (b *block) registers(warp, depth int) []reg {
	w := &b.warps[warp]
	for depth >= len(w.frames) {
		w.frames = append(w.frames, make([]reg, len(b.plan.fresh)))
	}
	return w.frames[depth]
}

// Executed is as in exec.FlowProbe.
func (b *block) Executed(warp, site int, lanes, active isa.LaneMask, depth int) {
	o := &b.plan.ops[site]
	regs := b.registers(warp, depth)
	t := b.pending
	for _, s := range b.plan.regs[o.from:o.mid] {
		t |= regs[s].lanes
	}
	if t&uint32(active) != 0 {
		b.follow(warp, site, uint32(lanes), uint32(active), regs)
		return
	}
	m := uint32(lanes)
	if o.uniform {
		m = ^uint32(0)
	}
	for _, d := range b.plan.regs[o.mid:o.to] {
		regs[d].lanes &^= m
	}
}

// follow is Executed for an instruction with an unset source.
func (b *block) follow(warp, site int, m, active uint32, regs []reg) {
	o, in := &b.plan.ops[site], b.plan.code[site]
	srcs := b.plan.regs[o.from:o.mid]
	pending := b.pending & m
	b.pending = 0
	if in.Guarded && len(srcs) > 0 && isPredicate(in.Srcs[0]) {
		r := &regs[srcs[0]]
		switch t := r.lanes & active; {
		case t == 0:
		case o.does == branches:
			b.use(warp, site, r, t, usedBranch)
		case in.Load || in.Store:
			b.use(warp, site, r, t, usedAccess)
		}
	}
	for i, s := range srcs {
		r := &regs[s]
		t := r.lanes & m
		switch {
		case t == 0:
		case in.Bases>>i&1 != 0:
			b.use(warp, site, r, t, usedAddress)
		case in.Flow == isa.FlowIndirect && (i > 0 || !in.Guarded):
			b.use(warp, site, r, t, usedTarget)
		case in.Atomic && isValue(in, i):
			b.use(warp, site, r, t, usedAtomic)
		case o.does == votes && (i > 0 || !in.Guarded):
			b.use(warp, site, r, t, usedVote)
		}
	}
	if b.c.atReads && o.does != branches && o.does != stores {
		for _, s := range srcs {
			if t := regs[s].lanes & m; t != 0 {
				b.use(warp, site, &regs[s], t, usedRead)
			}
		}
	}
	t, from := uint32(0), uint32(0)
	switch o.does {
	case matrices:
		b.matrix(in, o, pending, regs)
		return
	case products:
		b.product(warp, site, m, regs)
		return
	case loads, swaps:
		t, from = pending, b.from
	case passes, packs, ands, ors, selects:
		t, from = b.result(warp, site, m, regs)
	}
	if o.uniform && m != 0 { // as in the first lane
		t, m = -(t >> (bits.TrailingZeros32(m) & 31) & 1), ^uint32(0)
	}
	for _, d := range b.plan.regs[o.mid:o.to] {
		regs[d].set(m, t, from)
	}
}

// set writes lanes m of a register, of which t are unset.
func (r *reg) set(m, t, from uint32) {
	r.lanes = r.lanes&^m | t
	if t != 0 {
		r.from = from
	}
}

// result returns the lanes of m whose result is unset, and the record of the first.
func (b *block) result(warp, site int, m uint32, regs []reg) (t, from uint32) {
	o, in := &b.plan.ops[site], b.plan.code[site]
	srcs := b.plan.regs[o.from:o.mid]
	settled, first := uint32(0), -1 // lanes that are set in spite of their sources
	for i, s := range srcs {
		u := regs[s].lanes & m
		switch o.does {
		case packs:
			if machineOp(in) && b.neverWritten(&regs[s]) { // the first bits of it are set here
				u = 0
			}
			if !in.Guarded || i > 0 {
				settled |= ^u
			}
		case ands, ors:
			if u != m && !b.writes(o, s) && (!in.Guarded || i > 0) {
				if zero := uint32(b.reader.Zero(warp, in.Srcs[i])); o.does == ands {
					settled |= zero &^ u
				} else {
					settled |= ^zero &^ u
				}
			}
		case selects:
			if bit := uint32(1) << i; (in.Then|in.Else)&bit != 0 {
				zero := uint32(b.reader.Zero(warp, in.Srcs[len(in.Srcs)-1]))
				if in.Then&bit != 0 {
					u &^= zero
				} else {
					u &= zero
				}
			}
		}
		if u != 0 && first < 0 {
			first = i
		}
		t |= u
	}
	if t &^= settled; t == 0 {
		return 0, 0
	}
	r := &regs[srcs[first]]
	return t, b.traced(warp, site, r, r.lanes&m)
}

// neverWritten reports whether the unset value of a register is that of one which nothing has written.
func (b *block) neverWritten(r *reg) bool {
	return r.from == 0 || b.records[r.from&^moved].rule == register
}

// writes reports whether an instruction writes a register that it reads.
func (b *block) writes(o *op, s uint32) bool {
	for _, d := range b.plan.regs[o.mid:o.to] {
		if d == s {
			return true
		}
	}
	return false
}

// Shuffled is as in exec.FlowProbe.
func (b *block) Shuffled(warp, site int, lanes isa.LaneMask, from *[32]uint8, depth int) {
	o, in := &b.plan.ops[site], b.plan.code[site]
	regs, m := b.registers(warp, depth), uint32(lanes)
	i := uint32(0)
	if in.Guarded {
		i++
	}
	t, origin := uint32(0), uint32(0)
	if o.from+i < o.mid {
		if r := &regs[b.plan.regs[o.from+i]]; r.lanes != 0 {
			for k := m; k != 0; k &= k - 1 {
				i := bits.TrailingZeros32(k) & 31
				t |= r.lanes >> (from[i] & 31) & 1 << i
			}
			if t != 0 {
				if b.c.atReads {
					b.use(warp, site, r, t, usedRead)
					t = 0
				} else {
					origin = b.traced(warp, site, r, t)
				}
			}
		}
	}
	for k, d := range b.plan.regs[o.mid:o.to] {
		if isPredicate(in.Dsts[k]) {
			regs[d].set(m, 0, 0)
		} else {
			regs[d].set(m, t, origin)
		}
	}
}

// Enter is as in exec.FlowProbe.
func (b *block) Enter(warp int, lanes isa.LaneMask, f *exec.Callee) {
	regs, m := b.registers(warp, f.Depth), uint32(lanes)
	open := func(list []reg) {
		for i := range list {
			r := &list[i]
			if r.lanes&^m == 0 {
				r.from = 0
			}
			r.lanes |= m
		}
	}
	open(regs[:min(f.Registers, int(b.plan.preds))])
	open(regs[b.plan.preds:min(int(b.plan.preds)+f.Predicates, len(regs))])
	b.warps[warp].local.mark(f.Base, f.Bytes, m, true)
}

// Passed is as in exec.FlowProbe.
func (b *block) Passed(warp int, lanes isa.LaneMask, depth int, to isa.Reg, addr uint64, bytes int) {
	if to.File == isa.NoReg {
		b.warps[warp].local.mark(addr, uint64(bytes), uint32(lanes), false)
		return
	}
	if regs, at := b.registers(warp, depth), int(b.plan.at(to)); at < len(regs) {
		regs[at].lanes &^= uint32(lanes)
	}
}
