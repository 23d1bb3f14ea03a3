package ptx

import (
	"math/bits"

	"github.com/heddle-sim/heddle/internal/isa/ptx"
)

// This file: from which variables and pointer parameters addresses are made. It is found from
// the code alone, whatever the order in which its instructions run: a register comes from all
// that any of its assignments gives it.

// origin is a set of the objects of a function, by bits: what a value may be an address of. No
// bits: it is a number.
type origin uint64

const (
	// strange marks values of which nothing is known any more: an address that was negated or
	// multiplied, the sum of two addresses, the distance between two objects.
	strange origin = 1 << 63
	// loaded marks values from memory and from calls: a number, or an address of anything.
	loaded origin = 1 << 62
	// mostObjects is the number of objects that an origin can tell apart.
	mostObjects = 62
	objectBits  = 1<<mostObjects - 1
)

// object is what addresses are made from: a variable, or a parameter of a kernel that may be a
// pointer.
type object struct {
	v     *ptx.Var // nil for a parameter
	param int      // its offset in the parameter block
}

// origins finds the origins of registers in a function.
type origins struct {
	d    *dec
	list []object
	regs map[slotKey]origin
	// params are those objects that are parameters. They may be numbers too.
	params  origin
	changed bool
}

// findOrigins follows addresses through a function.
func findOrigins(d *dec) *origins {
	o := &origins{d: d, regs: map[slotKey]origin{}}
	for o.changed = true; o.changed; {
		o.changed = false
		for _, in := range d.ast.Code {
			o.step(in)
		}
	}
	return o
}

// of returns the origin of an operand.
func (o *origins) of(a *ptx.Operand) (from origin) {
	switch a.Kind {
	case ptx.OpReg:
		if a.Var == nil {
			return strange
		}
		from = o.regs[slotKey{a.Var, a.Index, elemIndex(a.Elem)}]
		if from&loaded != 0 && from&objectBits != 0 {
			from |= strange // at times an address from memory: pointers that a loop swaps
		}
		return from
	case ptx.OpSym:
		if v := a.Var; v != nil && (v.Space == ptx.SpaceShared || v.Space == ptx.SpaceGlobal || v.Space == ptx.SpaceConst) {
			return o.number(object{v: v})
		}
		return strange
	case ptx.OpAddr:
		if len(a.List) == 1 {
			return o.of(&a.List[0])
		}
		return strange
	}
	for i := range a.List {
		if from |= o.of(&a.List[i]); from&objectBits != 0 {
			from |= strange // a part of an address
		}
	}
	return from
}

// number returns the origin that is one object.
func (o *origins) number(x object) origin {
	for i := range o.list {
		if o.list[i] == x {
			return 1 << i
		}
	}
	if len(o.list) == mostObjects {
		return strange
	}
	o.list = append(o.list, x)
	bit := origin(1) << (len(o.list) - 1)
	if x.v == nil {
		o.params |= bit
	}
	return bit
}

// set adds an origin to what is known of a destination.
func (o *origins) set(a *ptx.Operand, from origin) {
	switch a.Kind {
	case ptx.OpReg:
		if a.Var == nil {
			return
		}
		k := slotKey{a.Var, a.Index, elemIndex(a.Elem)}
		if all := o.regs[k] | from; all != o.regs[k] {
			o.regs[k], o.changed = all, true
		}
	case ptx.OpAddr: // the address of a store
	default:
		for i := range a.List {
			o.set(&a.List[i], from)
		}
	}
}

// step follows an instruction.
func (o *origins) step(in *ptx.Inst) {
	switch in.Op {
	case "st", "red", "bra", "bar", "prefetch":
		return
	case "call":
		for i := range in.Args {
			if in.Args[i].Kind == ptx.OpList {
				o.set(&in.Args[i], loaded)
			}
		}
		return
	}
	if n := len(in.Args); n > 1 {
		var from [4]origin
		for i := range min(n-1, 4) {
			from[i] = o.of(&in.Args[i+1])
		}
		o.set(&in.Args[0], o.result(in, from[:min(n-1, 4)]))
	}
}

// result returns the origin of what an instruction makes of its sources.
func (o *origins) result(in *ptx.Inst, from []origin) origin {
	all := origin(0)
	for _, f := range from {
		all |= f
	}
	switch in.Op {
	case "ld", "ldu":
		if p, ok := o.pointer(in); ok {
			return p
		}
		return loaded
	case "atom":
		return loaded
	case "mov", "cvta", "cvt", "min", "max", "shfl":
		return from[0]
	case "selp":
		return from[0] | from[1]
	case "add":
		return sumOf(from[0], from[1])
	case "sub":
		return difference(from[0], from[1])
	case "mad":
		if len(from) > 2 {
			return sumOf(o.odd(from[0]|from[1], false), from[2])
		}
	case "or":
		return sumOf(from[0], from[1])
	case "and":
		if k := &in.Args[2]; k.Kind == ptx.OpImm {
			if int64(k.Imm.Bits) < 0 || len(in.Mods) == 1 && in.Mods[0] == "b32" && int32(k.Imm.Bits) < 0 {
				return from[0] // rounds an address down
			}
			return 0 // takes low bits of it
		}
	case "neg", "not", "xor", "prmt", "bfi", "lop3":
		return o.odd(all, true)
	}
	return o.odd(all, false)
}

// odd is the origin of what is made of addresses in another way than by adding to them. A
// parameter was a number then, unless sign is set: that is how offsets are negated.
func (o *origins) odd(from origin, sign bool) origin {
	if sign {
		if from&objectBits != 0 {
			return strange
		}
		return from
	}
	if from&(objectBits&^o.params) != 0 {
		return strange
	}
	return from & strange
}

// sumOf is the origin of a sum: an address with a number is an address of the same object.
func sumOf(a, b origin) origin {
	switch x, y := a&objectBits, b&objectBits; {
	case (a|b)&strange != 0, x != 0 && y != 0:
		return strange
	case x|y != 0:
		return x | y
	}
	return a | b
}

// difference is the origin of a-b. A distance within one object is a number.
func difference(a, b origin) origin {
	switch x, y := a&objectBits, b&objectBits; {
	case (a|b)&strange != 0:
		return strange
	case x == 0 && y == 0:
		return a | b
	case y == 0 && b&loaded == 0:
		return x
	case x == y && bits.OnesCount64(uint64(x)) == 1 && (a|b)&loaded == 0:
		return 0
	}
	return strange
}

// pointer returns the origin of a load of a kernel's parameter that may be a pointer.
func (o *origins) pointer(in *ptx.Inst) (origin, bool) {
	if spaceOf(in).String() != "param" || !o.d.ast.Entry || len(in.Args) < 2 {
		return 0, false
	}
	types := in.Types()
	a := &in.Args[1]
	offset := a.Offset
	if a.Kind == ptx.OpAddr && len(a.List) == 1 {
		a = &a.List[0]
	}
	if a.Kind != ptx.OpSym || a.Var == nil || len(types) == 0 {
		return 0, false
	}
	if types[len(types)-1].Bytes() != 8 {
		return 0, true // a number
	}
	if in.Args[0].Kind == ptx.OpVec {
		return 0, false
	}
	for _, p := range o.d.im.kernel.params {
		if p.Name == a.Var.Name {
			return o.number(object{param: p.Offset + int(offset) + int(a.Imm.Bits)}), true
		}
	}
	return 0, false
}
