package compile

import (
	"strings"

	"github.com/heddle-sim/heddle/internal/compile/ir"
)

// This file: sums of more than a register, in steps that pass a carry on.

// carries is add, sub and mad with .cc, and addc, subc and madc. The carry is a predicate in a register of
// its own, true after a subtraction that needs none, false where nothing has set it yet, and undefined where
// only other ways to here have.
func (b *builder) carries() {
	in := b.inst
	t := b.typeOf()
	minus, with, product := strings.HasPrefix(in.Op, "sub"), strings.HasSuffix(in.Op, "c"), strings.HasPrefix(in.Op, "mad")
	if t.Bits() != 32 && t.Bits() != 64 || !t.Integer() || !with && !in.Has("cc") {
		stop(in.FullName(), notYet)
	}
	carry := ir.Pr(nil, true)
	if with {
		if v := b.read(b.carry); v != nil {
			carry = ir.Pr(v, false)
		}
	}
	x := func(n int) ir.Arg { return b.source(&in.Args[1], t, n) }
	last := &in.Args[2]
	if product {
		last = &in.Args[3]
		x = b.productOf()
	}
	var list []*ir.Value
	for n := range width(t) {
		d, p := b.f.NewValue(ir.GPR), b.f.NewValue(ir.Pred)
		y := b.source(last, t, n)
		if with || n > 0 {
			y.Not = minus
			b.emit("IADD3.X", ir.D(d), ir.DP(p), x(n), y, ir.RZ(), carry, ir.Pr(nil, true))
		} else {
			y.Neg = minus
			b.emit("IADD3", ir.D(d), ir.DP(p), x(n), y, ir.RZ())
		}
		list, carry = append(list, d), ir.Pr(p, false)
	}
	if in.Has("cc") {
		b.set(b.carry, carry.Vals[0])
	}
	for n, v := range list {
		b.assign(&in.Args[0], n, v)
	}
}

// productOf are the words of the product in mad and madc, by the row for mul.
func (b *builder) productOf() func(n int) ir.Arg {
	in := b.inst
	name := "mul.lo." + string(b.typeOf())
	if in.Has("hi") {
		name = "mul.hi." + string(b.typeOf())
	}
	r := rules()[name]
	if r == nil {
		stop(in.FullName(), notYet)
	}
	x := b.applying(nil)
	x.run(r)
	return func(n int) ir.Arg { return ir.R(x.names[[2]string{"d.lo", "d.hi"}[n]]) }
}
