package compile

import (
	"slices"

	"github.com/heddle-sim/heddle/internal/compile/ir"
)

// This file: parallel copies become moves, once registers are known.

// sequence replaces the parallel copies of a function.
func sequence(f *ir.Func) {
	for _, b := range f.Blocks {
		b.Phis = nil
		var list []*ir.Inst
		for _, in := range b.Insts {
			in.Else = nil // its results are in the same registers
			switch {
			case in.Name == ir.Copy:
				list = append(list, zeroPairs(moves(in))...)
			case in.Name == "MOV" && in.Guard.Val == nil && in.Args[1].Kind == ir.Reg && in.Args[1].Vals[0] != nil && same(in.Args[1].Vals[0], in.Args[0].Vals[0]):
			default:
				list = append(list, in)
			}
		}
		b.Insts = list
	}
}

// zeroPairs makes moves of zero to two neighbouring registers one instruction, in the place of the later one.
func zeroPairs(list []*ir.Inst) []*ir.Inst {
	at := map[int]int{} // by register: the place of the move of zero to it
	for i, in := range list {
		if in.Name != "MOV" || !zero(&in.Args[1]) {
			continue
		}
		d := in.Args[0].Vals[0]
		if k, ok := at[d.Reg^1]; ok {
			pair := []*ir.Value{d, list[k].Args[0].Vals[0]}
			if d.Reg%2 != 0 {
				slices.Reverse(pair)
			}
			list[i] = &ir.Inst{Name: "CS2R", Args: []ir.Arg{ir.D(pair...), ir.T("SRZ")}, Line: in.Line}
			list[k] = nil
		}
		at[d.Reg] = i
	}
	return slices.DeleteFunc(list, func(in *ir.Inst) bool { return in == nil })
}

// same reports whether two values are in one register.
func same(a, b *ir.Value) bool { return a.Reg == b.Reg && a.Class == b.Class }

// transfer is one copy of a parallel one.
type transfer struct{ dst, src ir.Arg }

// moves orders the copies so that none overwrites what another still reads; values that change places
// in a circle are exchanged by exclusive ors.
func moves(in *ir.Inst) []*ir.Inst {
	var todo []transfer
	n := len(in.Args) / 2
	for i := range n {
		t := transfer{in.Args[i], in.Args[n+i]}
		if s := t.source(); s == nil || !same(s, t.dst.Vals[0]) {
			todo = append(todo, t)
		}
	}
	var out []*ir.Inst
	for len(todo) > 0 {
		k := -1
		for i := range todo {
			if !wanted(todo, i) {
				k = i
				break
			}
		}
		if k >= 0 {
			out = append(out, todo[k].move(in.Line))
			todo = append(todo[:k:k], todo[k+1:]...)
			continue
		}
		// Only circles are left: exchange, after which the first is done and what wanted its old
		// value finds it where the first's source was.
		d, s := todo[0].dst.Vals[0], todo[0].source()
		out = append(out, exchange(todo[0], in.Line)...)
		rest := todo[1:]
		todo = nil
		for _, t := range rest {
			switch x := t.source(); {
			case x == nil || x.Class != d.Class:
			case x.Reg == d.Reg:
				t.src.Vals = []*ir.Value{s}
			case x.Reg == s.Reg:
				t.src.Vals = []*ir.Value{d}
			}
			if x := t.source(); x == nil || x.Reg != t.dst.Vals[0].Reg || x.Class != t.dst.Vals[0].Class {
				todo = append(todo, t)
			}
		}
	}
	return out
}

// source is the register that is copied, nil if it is something else.
func (t *transfer) source() *ir.Value {
	if len(t.src.Vals) == 1 {
		return t.src.Vals[0]
	}
	return nil
}

// wanted reports whether another copy still reads what the i-th overwrites.
func wanted(todo []transfer, i int) bool {
	d := todo[i].dst.Vals[0]
	for j := range todo {
		if s := todo[j].source(); j != i && s != nil && s.Reg == d.Reg && s.Class == d.Class {
			return true
		}
	}
	return false
}

func (t *transfer) move(line int32) *ir.Inst {
	if t.dst.Kind == ir.P {
		return &ir.Inst{Name: "PLOP3.LUT", Args: []ir.Arg{t.dst, ir.DP(nil), t.src, ir.Pr(nil, false), ir.Pr(nil, false), ir.T("0x80"), ir.T("0x0")}, Line: line}
	}
	return &ir.Inst{Name: "MOV", Args: []ir.Arg{t.dst, t.src}, Line: line}
}

// exchange swaps two registers.
func exchange(t transfer, line int32) []*ir.Inst {
	d, s := t.dst.Vals[0], t.source()
	if t.dst.Kind == ir.P { // both results of one instruction: the table of its second, and of its first operand
		return []*ir.Inst{{Name: "PLOP3.LUT", Args: []ir.Arg{ir.DP(d), ir.DP(s), ir.Pr(d, false), ir.Pr(s, false), ir.Pr(nil, false), ir.T("0xcc"), ir.T("0xf0")}, Line: line}}
	}
	xor := func(to, other *ir.Value) *ir.Inst {
		return &ir.Inst{Name: "LOP3.LUT", Args: []ir.Arg{ir.D(to), ir.R(to), ir.R(other), ir.RZ(), ir.T("0x3c"), ir.Pr(nil, true)}, Line: line}
	}
	return []*ir.Inst{xor(d, s), xor(s, d), xor(d, s)}
}
