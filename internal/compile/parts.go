package compile

import (
	"slices"

	"github.com/heddle-sim/heddle/internal/compile/ir"
	"github.com/heddle-sim/heddle/internal/isa/ptx"
)

// This file: instructions of PTX that become several blocks.

// split ends the block that is being made, and returns the one with which the code goes on: it has the
// end that the first had.
func (b *builder) split() (before, after *ir.Block) {
	before = b.cur
	after = &ir.Block{Term: before.Term}
	for _, s := range after.Succs() {
		s.Preds[s.PredIndex(before)] = after
	}
	b.put(before, after)
	b.of(before).filled = true
	return before, after
}

// put places new blocks after another one; what they read comes from their predecessors.
func (b *builder) put(at *ir.Block, list ...*ir.Block) {
	i := slices.Index(b.f.Blocks, at)
	b.f.Blocks = slices.Insert(b.f.Blocks, i+1, list...)
	b.f.Renumber()
	for _, x := range list {
		b.of(x).sealed = true
	}
}

// choice are values that depend on from where control has come to a block: one of those of a list each.
func (b *builder) choice(x *ir.Block, lists ...[]*ir.Value) []*ir.Value {
	var list []*ir.Value
	for i, v := range lists[len(lists)-1] {
		p := &ir.Phi{Dst: b.f.NewValue(v.Class)}
		for _, l := range lists {
			p.Args = append(p.Args, l[i])
		}
		p.Dst.Block = x
		x.Phis = append(x.Phis, p)
		list = append(list, p.Dst)
	}
	return list
}

// aside makes code that only some lanes execute: where cond holds. f makes it, and returns its
// results; fast are the same in the other lanes. The code is out of the way, at the kernel's end.
func (b *builder) aside(cond *ir.Value, fast []*ir.Value, f func() []*ir.Value) []*ir.Value {
	return b.detour(ir.Guard{Val: cond}, fast, f)
}

// detour is aside for lanes of a guard.
func (b *builder) detour(cond ir.Guard, fast []*ir.Value, f func() []*ir.Value) []*ir.Value {
	before, after := b.split()
	slow := &ir.Block{Term: ir.Term{Flow: ir.Jump, Then: after, Line: b.inst.Pos.Line}, Preds: []*ir.Block{before}}
	before.Term = ir.Term{Flow: ir.Branch, Cond: cond.Val, Not: cond.Not, Then: slow, Else: after, Line: b.inst.Pos.Line}
	after.Preds = []*ir.Block{before, slow}
	b.put(b.f.Blocks[len(b.f.Blocks)-1], slow)
	b.of(slow).filled = true
	b.cur, b.from = slow, 0
	results := f()
	b.cur, b.from = after, 0
	return b.choice(after, fast, results)
}

// rounds makes code that lanes go through again and again, until done holds. body makes it, from the
// values with which a round begins: those of first, or what the round before has left. The result are the
// values with which the last round began. Lanes that have done wait for the others, so that the loop must
// end whatever other threads do.
func (b *builder) rounds(first []*ir.Value, body func(now []*ir.Value) (left []*ir.Value, done *ir.Value)) []*ir.Value {
	before, after := b.split()
	loop := &ir.Block{}
	loop.Preds = []*ir.Block{before, loop}
	before.Term = ir.Term{Flow: ir.Jump, Then: loop, Line: b.inst.Pos.Line}
	after.Preds = []*ir.Block{loop}
	b.put(before, loop)
	b.of(loop).filled = true
	b.cur, b.from = loop, 0
	now := b.choice(loop, first, first)
	left, done := body(now)
	for i, p := range loop.Phis[:len(now)] {
		p.Args[1] = left[i]
	}
	loop.Term = ir.Term{Flow: ir.Branch, Cond: done, Then: after, Else: loop, Brief: true, Line: b.inst.Pos.Line}
	b.cur, b.from = after, 0
	return now
}

// under gives d what f returns, n values, in the lanes of the instruction's guard. f's code is executed by
// those lanes only, which need not be guarded itself. d is nil if nothing wants the results.
func (b *builder) under(d *ptx.Operand, n int, f func() []*ir.Value) {
	g := b.guard
	b.guard = ir.Guard{}
	var list []*ir.Value
	if g.Val == nil {
		list = f()
	} else {
		old := make([]*ir.Value, n)
		for i := range old {
			if d != nil {
				old[i] = b.read(b.slotOf(d, i))
			}
		}
		list = b.detour(g, old, f)
	}
	if d != nil {
		for i, v := range list {
			b.assign(d, i, v)
		}
	}
	b.guard = g
}
