package compile

import (
	"cmp"
	"math"
	"slices"

	"github.com/heddle-sim/heddle/internal/compile/ir"
	"github.com/heddle-sim/heddle/internal/isa/ptx"
)

// This file: operands of PTX as operands of the machine, in parts of 32 bits.

// width is the number of 32-bit parts of a type.
func width(t ptx.Type) int { return max(1, t.Bits()/32) }

// typeOf is the type with which an instruction reads an operand that is a literal: that of the
// instruction, for conversions the second.
func (b *builder) typeOf() ptx.Type {
	second := b.inst.Op == "cvt" || b.inst.Op == "set" || b.inst.Op == "slct"
	first := ptx.Type("")
	for _, m := range b.inst.Mods {
		switch t := ptx.Type(m); {
		case !t.Known():
		case first != "" || !second:
			return t
		default:
			first = t
		}
	}
	return cmp.Or(first, "b32")
}

// bits are the bits of a literal for a type.
func bits(im ptx.Imm, t ptx.Type) uint64 {
	switch {
	case t.Float() && t.Bits() == 16 && (im.Kind == ptx.ImmF64 || im.Kind == ptx.ImmF32):
		stop("a literal of type "+string(t), notYet)
	case im.Kind == ptx.ImmF64 && t.Bits() == 32:
		return uint64(math.Float32bits(float32(math.Float64frombits(im.Bits))))
	case im.Kind == ptx.ImmF32 && t.Bits() == 64 && t.Float():
		return math.Float64bits(float64(math.Float32frombits(uint32(im.Bits))))
	}
	return im.Bits
}

// source is part n of what an operand is, of 32 bits.
func (b *builder) source(o *ptx.Operand, t ptx.Type, n int) ir.Arg {
	switch o.Kind {
	case ptx.OpReg:
		if o.Neg && !o.Var.Type.Predicate() {
			stop(b.inst.FullName(), "has a negated operand, which "+notYet)
		}
		if o.Imm.Bits != 0 {
			return b.sum(o, n)
		}
		return b.register(o, n)
	case ptx.OpImm:
		v := bits(o.Imm, t)
		return ir.I(uint32(v >> (32 * n)))
	case ptx.OpSym:
		return b.symbol(o, n)
	case ptx.OpSpecial:
		if n > 0 {
			return ir.RZ()
		}
		return ir.R(b.special(o))
	}
	stop(b.inst.FullName(), "has an operand that "+notYet)
	return ir.Arg{}
}

// sum is part n of a register and a number.
func (b *builder) sum(o *ptx.Operand, n int) ir.Arg {
	carry := ir.Pr(nil, true)
	var v *ir.Value
	for i := range n + 1 {
		v = b.f.NewValue(ir.GPR)
		p := b.f.NewValue(ir.Pred)
		x, y := b.register(o, i), ir.I(uint32(o.Imm.Bits>>(32*i)))
		if i == 0 {
			b.free("IADD3", ir.D(v), ir.DP(p), x, y, ir.RZ())
		} else {
			b.free("IADD3.X", ir.D(v), ir.DP(p), x, y, ir.RZ(), carry, ir.Pr(nil, true))
		}
		carry = ir.Pr(p, false)
	}
	return ir.R(v)
}

// register is part n of a register operand: RZ if nothing was assigned to it.
func (b *builder) register(o *ptx.Operand, n int) ir.Arg {
	if n >= width(o.Var.Type) { // narrower than the operand: never read
		return ir.RZ()
	}
	v := b.read(b.slotOf(o, n))
	if o.Var.Type.Predicate() {
		if v == nil {
			return ir.Pr(nil, !o.Neg)
		}
		return ir.Pr(v, o.Neg)
	}
	return ir.R(v)
}

// symbol is part n of the address of a variable.
func (b *builder) symbol(o *ptx.Operand, n int) ir.Arg {
	v := o.Var
	switch {
	case v == nil && o.Func != nil && o.Imm.Bits == 0:
		return b.mod.pointer(o.Func, n)
	case v == nil:
		stop("the address of a function", notYet)
	}
	off := int64(o.Imm.Bits)
	var at int64
	if (v.Type == "texref" || v.Type == "surfref") && off == 0 && v.Space != ptx.SpaceParam {
		return b.reference(v, n)
	}
	switch v.Space {
	case ptx.SpaceShared:
		at = b.lay.shared[v] + off
	case ptx.SpaceParam:
		place, ok := b.lay.param[v]
		if !ok && !b.unread() {
			stop("the address of a parameter of a call", notYet)
		}
		at = place + off
	case ptx.SpaceLocal:
		if o.Generic {
			stop("generic(local variable)", notYet)
		}
		if n > 0 {
			return ir.RZ()
		}
		t := b.f.NewValue(ir.GPR)
		b.free("IADD3", ir.D(t), ir.R(b.stack()), ir.I(uint32(b.lay.local[v]+off)), ir.RZ())
		return ir.R(t)
	case ptx.SpaceConst:
		if o.Generic || b.mod.far {
			return b.mod.address(v, off, n)
		}
		at = b.mod.constant(v) + off
	case ptx.SpaceGlobal:
		return b.mod.address(v, off, n)
	default:
		stop("the address of "+v.Name, notYet)
	}
	if o.Generic {
		stop("generic("+v.Name+")", notYet)
	}
	return ir.I(uint32(at >> (32 * n)))
}

// free is emit without the guard.
func (b *builder) free(name string, args ...ir.Arg) *ir.Inst {
	g := b.guard
	b.guard = ir.Guard{}
	in := b.emit(name, args...)
	b.guard = g
	return in
}

// stack is the value of the stack pointer, which the kernel's first instruction makes.
func (b *builder) stack() *ir.Value {
	if b.lay.sp == nil {
		entry := b.f.Blocks[0]
		b.lay.sp = b.f.NewValue(ir.GPR)
		top := b.f.NewValue(ir.GPR)
		frame := ir.I(uint32(-b.lay.frame))
		entry.Insert(0,
			&ir.Inst{Name: "MOV", Args: []ir.Arg{ir.D(top), ir.C(0, stackTop)}},
			&ir.Inst{Name: "IADD3", Args: []ir.Arg{ir.D(b.lay.sp), ir.R(top), frame, ir.RZ()}})
		if b.cur == entry {
			b.from += 2
		}
	}
	return b.lay.sp
}

// value is an operand's part in a register.
func (b *builder) value(a ir.Arg) *ir.Value {
	if a.Kind == ir.Reg && len(a.Vals) == 1 && a.Vals[0] != nil && !a.Neg && !a.Not && !a.Abs {
		return a.Vals[0]
	}
	v := b.f.NewValue(ir.GPR)
	b.free("MOV", ir.D(v), a)
	return v
}

// tuple are n parts of an operand in registers.
func (b *builder) tuple(o *ptx.Operand, t ptx.Type, n int) ir.Arg {
	a := ir.Arg{Kind: ir.Reg}
	zero := true
	for i := range n {
		p := b.source(o, t, i)
		isZero := p.Kind == ir.Reg && p.Vals[0] == nil || p.Kind == ir.Imm && p.Imm == 0
		zero = zero && isZero
		if isZero {
			a.Vals = append(a.Vals, nil)
		} else {
			a.Vals = append(a.Vals, b.value(p))
		}
	}
	if zero {
		return a
	}
	for i, v := range a.Vals {
		if v == nil {
			a.Vals[i] = b.value(ir.RZ())
		}
	}
	return a
}

// unread reports whether the instruction is a move to a register that nothing but moves names, as their result: clang
// without optimisation takes the address of each parameter that is a struct.
func (b *builder) unread() bool {
	if b.inst.Op != "mov" || b.inst.Args[0].Kind != ptx.OpReg {
		return false
	}
	for _, in := range b.fn.Code {
		args := in.Args
		if in.Op == "mov" && args[0].Kind == ptx.OpReg {
			args = args[1:]
		}
		if names(args, &b.inst.Args[0]) {
			return false
		}
	}
	return true
}

// names reports whether operands name a register.
func names(list []ptx.Operand, r *ptx.Operand) bool {
	return slices.ContainsFunc(list, func(o ptx.Operand) bool { return o.Var == r.Var && o.Index == r.Index || names(o.List, r) })
}
