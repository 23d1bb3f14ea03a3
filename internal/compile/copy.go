package compile

import (
	"fmt"
	"slices"

	"github.com/heddle-sim/heddle/internal/compile/ir"
	"github.com/heddle-sim/heddle/internal/isa/ptx"
)

// This file: asynchronous copies to shared memory.

// Fields for offsets in LDGSTS (the encoding): 20 bits in shared memory, 12 in global memory, with a sign.
const (
	farthestTo   = 1 << 19
	farthestFrom = 1 << 11
)

// copyAsync is cp.async with the instructions that close groups of copies and wait for them.
func (b *builder) copyAsync() {
	in := b.inst
	a := in.Args
	switch {
	case !in.Has("async") || in.Has("bulk"):
		stop(in.FullName(), notYet)
	case in.Has("mbarrier"):
		b.arriveAfterCopies()
	case b.mod.turing() && (in.Has("commit_group") || in.Has("wait_all") || in.Has("wait_group")): // copies are done at once
	case in.Has("commit_group"):
		b.effect("LDGDEPBAR")
	case in.Has("wait_all"):
		b.effect("LDGDEPBAR")
		b.effect("DEPBAR.LE", ir.T("SB0"), ir.T("0x0"))
	case in.Has("wait_group"):
		if a[0].Kind != ptx.OpImm || a[0].Imm.Bits > 63 {
			stop(in.FullName(), notYet)
		}
		b.effect("DEPBAR.LE", ir.T("SB0"), ir.T(fmt.Sprintf("%#x", a[0].Imm.Bits)))
	default:
		b.copyGlobal()
	}
}

// asyncCopy is a copy to shared memory.
type asyncCopy struct {
	name  string // of the machine's instruction
	bytes int
	to    ir.Arg
	from  ir.Arg
}

// copyGlobal is cp.async from global memory. Its last operand, if there is one, is how many bytes it reads,
// or a predicate of lanes that read none; zeros are stored for the others.
func (b *builder) copyGlobal() {
	in := b.inst
	a := in.Args
	if in.Has("L2::cache_hint") {
		a = a[:len(a)-1]
	}
	if len(a) < 3 || len(a) > 4 || a[2].Kind != ptx.OpImm {
		stop(in.FullName(), "with these operands "+notYet)
	}
	c := &asyncCopy{name: "LDGSTS.E", bytes: int(a[2].Imm.Bits), to: b.address(&a[0], false), from: b.address(&a[1], true)}
	if in.Has("cg") {
		c.name += ".BYPASS"
	}
	c.name += sizeOf(c.bytes, false)
	if c.to.Imm < -farthestTo || c.to.Imm >= farthestTo-16 {
		b.far(&c.to)
	}
	if c.from.Imm < -farthestFrom || c.from.Imm >= farthestFrom-16 {
		b.far(&c.from)
	}
	switch {
	case len(a) == 3, a[3].Kind == ptx.OpImm && a[3].Imm.Bits == a[2].Imm.Bits:
		b.copyWhere(c)
	case a[3].Kind == ptx.OpReg && a[3].Var.Type.Predicate():
		ignore := b.source(&a[3], "pred", 0)
		ignore.Not = !ignore.Not
		b.copyWhere(c, ignore)
	default:
		n := b.value(b.source(&a[3], "u32", 0))
		if where, ok := allOrNone(n, c.bytes); ok {
			b.copyWhere(c, where)
			return
		}
		b.under(nil, 0, func() []*ir.Value { b.copyPart(c, n); return nil })
	}
}

// copyWhere is a copy. Lanes where a predicate, if one is given, does not hold store zeros.
func (b *builder) copyWhere(c *asyncCopy, where ...ir.Arg) {
	if b.mod.turing() {
		b.copyAtOnce(c, where)
		return
	}
	name := c.name
	if len(where) > 0 {
		name += ".ZFILL"
	}
	b.effect(name, append([]ir.Arg{c.to, b.global(c.from)}, where...)...)
}

// allOrNone is where a number is that of all bytes, if it is zero elsewhere, as programs make it that copy
// nothing at the edge of an array. It is not known if ok is false.
func allOrNone(n *ir.Value, bytes int) (where ir.Arg, ok bool) {
	in := n.Def
	if in == nil || in.Name != "SEL" || in.Guard.Val != nil || in.Args[1].Kind != ir.Imm || in.Args[2].Kind != ir.Imm {
		return where, false
	}
	where = in.Args[3]
	switch all := int64(bytes); {
	case in.Args[1].Imm == all && in.Args[2].Imm == 0:
		return where, true
	case in.Args[1].Imm == 0 && in.Args[2].Imm == all:
		where.Not = !where.Not
		return where, true
	}
	return where, false
}

// copyPart is a copy of which the first n bytes are read. The machine copies all or nothing: the rest is
// done byte by byte, without delay, which a program cannot tell.
func (b *builder) copyPart(c *asyncCopy, n *ir.Value) {
	some, part := b.f.NewValue(ir.Pred), b.f.NewValue(ir.Pred)
	b.emit("ISETP.NE.AND", ir.DP(some), ir.DP(nil), ir.R(n), ir.RZ(), ir.Pr(nil, false))
	b.emit("ISETP.LT.U32.AND", ir.DP(part), ir.DP(nil), ir.R(n), ir.I(uint32(c.bytes)), ir.Pr(some, false))
	b.guard = ir.Guard{Val: part, Not: true}
	b.copyWhere(&asyncCopy{c.name, c.bytes, c.to.Clone(), c.from.Clone()}, ir.Pr(some, false))
	b.guard = ir.Guard{}
	b.aside(part, nil, func() []*ir.Value {
		zero := b.value(ir.RZ())
		first := []*ir.Value{zero, b.inRegisters(c.to)[0]}
		first = append(first, b.inRegisters(c.from)...)
		b.rounds(first, func(now []*ir.Value) ([]*ir.Value, *ir.Value) {
			more, done, carry, v := b.f.NewValue(ir.Pred), b.f.NewValue(ir.Pred), b.f.NewValue(ir.Pred), b.f.NewValue(ir.GPR)
			b.emit("ISETP.GT.U32.AND", ir.DP(more), ir.DP(nil), ir.R(n), ir.R(now[0]), ir.Pr(nil, false))
			b.guard = ir.Guard{Val: more}
			b.emit("LDG.E.U8", ir.D(v), b.global(ir.Arg{Kind: ir.Mem, Vals: slices.Clone(now[2:])})).Else[0] = zero
			b.guard = ir.Guard{}
			b.effect("STS.U8", ir.Arg{Kind: ir.Mem, Vals: []*ir.Value{now[1]}}, ir.R(v))
			next := b.fresh(4)
			b.emit("IADD3", ir.D(next[0]), ir.R(now[0]), ir.I(1), ir.RZ())
			b.emit("IADD3", ir.D(next[1]), ir.R(now[1]), ir.I(1), ir.RZ())
			b.emit("IADD3", ir.D(next[2]), ir.DP(carry), ir.R(now[2]), ir.I(1), ir.RZ())
			b.emit("IADD3.X", ir.D(next[3]), ir.R(now[3]), ir.RZ(), ir.RZ(), ir.Pr(carry, false), ir.Pr(nil, true))
			b.emit("ISETP.GE.U32.AND", ir.DP(done), ir.DP(nil), ir.R(next[0]), ir.I(uint32(c.bytes)), ir.Pr(nil, false))
			return next, done
		})
		return nil
	})
}

// inRegisters are registers that have an address, its offset included.
func (b *builder) inRegisters(m ir.Arg) []*ir.Value {
	m = m.Clone()
	if len(m.Vals) == 0 {
		return []*ir.Value{b.value(ir.I(uint32(m.Imm)))}
	}
	if m.Imm != 0 {
		b.far(&m)
	}
	return m.Vals
}
