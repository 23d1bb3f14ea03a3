package compile

import (
	"fmt"
	"slices"

	"github.com/heddle-sim/heddle/internal/compile/ir"
)

// This file: a sum one of whose terms is shifted becomes LEA, of 32 bits or in its halves of 64.

// fuseShifts replaces sums of a shifted value and another one, where that leaves no use of what was
// shifted.
func fuseShifts(f *ir.Func) {
	uses, fused := usesOf(f), make([]int, len(f.Values))
	for _, b := range f.Blocks {
		for i := range b.Insts {
			_, terms := shiftedSum(b.Insts[i:])
			for _, v := range terms {
				fused[v.ID]++
			}
		}
	}
	for _, b := range f.Blocks {
		for i := range b.Insts {
			list, terms := shiftedSum(b.Insts[i:])
			if list == nil || slices.ContainsFunc(terms, func(v *ir.Value) bool { return fused[v.ID] != uses[v.ID] }) {
				continue
			}
			line := b.Insts[i].Line
			for k, in := range list {
				in.Line = line
				b.Put(i+k, in)
			}
		}
	}
}

// shiftedSum is what a sum at the beginning of a list becomes, and the values that were shifted for it;
// nil if it is none of those.
func shiftedSum(list []*ir.Inst) (now []*ir.Inst, terms []*ir.Value) {
	in := list[0]
	if in.Name != "IADD3" || in.Guard.Val != nil {
		return nil, nil
	}
	if len(in.Args) == 4 && zero(&in.Args[3]) {
		for k := range 2 {
			x, y := &in.Args[1+k], in.Args[2-k]
			if !plainRegister(x) || y.Neg {
				continue
			}
			if s := shift(x, "SHF.L.U32"); s != nil && zero(&s.Args[3]) {
				return []*ir.Inst{{Name: "LEA", Args: []ir.Arg{in.Args[0], s.Args[1].Clone(), y, byPlaces(s)}}}, x.Vals
			}
			// What is shifted right is the upper word of what is shifted left.
			if s := shift(x, "SHF.R.U32.HI"); s != nil && zero(&s.Args[1]) && plainRegister(&s.Args[3]) {
				return []*ir.Inst{{Name: "LEA.HI", Args: []ir.Arg{in.Args[0], s.Args[3].Clone(), y, ir.RZ(), ir.T(fmt.Sprintf("%#x", 32-s.Args[2].Imm))}}}, x.Vals
			}
		}
		return nil, nil
	}
	if len(list) < 2 || !halves(in, list[1]) {
		return nil, nil
	}
	hi := list[1]
	for k := range 2 {
		x, xh, y, yh := &in.Args[2+k], &hi.Args[1+k], in.Args[3-k], hi.Args[2-k]
		if !plainRegister(x) || !plainRegister(xh) || y.Neg || yh.Not {
			continue
		}
		s, sh := shift(x, "SHF.L.U64"), shift(xh, "SHF.L.U64.HI")
		if s == nil || sh == nil || s.Args[2].Imm != sh.Args[2].Imm || !plainRegister(&s.Args[1]) || !plainRegister(&sh.Args[1]) || s.Args[1].Vals[0] != sh.Args[1].Vals[0] {
			continue
		}
		upper := &ir.Inst{Name: "LEA.HI.X", Args: []ir.Arg{hi.Args[0], s.Args[1].Clone(), yh, sh.Args[3].Clone(), byPlaces(s), hi.Args[4]}}
		if signOf(&sh.Args[3], s.Args[1].Vals[0]) {
			upper = &ir.Inst{Name: "LEA.HI.X.SX32", Args: []ir.Arg{hi.Args[0], s.Args[1].Clone(), yh, byPlaces(s), hi.Args[4]}}
		}
		return []*ir.Inst{{Name: "LEA", Args: []ir.Arg{in.Args[0], in.Args[1], s.Args[1].Clone(), y, byPlaces(s)}}, upper}, []*ir.Value{x.Vals[0], xh.Vals[0]}
	}
	return nil, nil
}

// shift is the instruction that makes an operand, if it shifts by 1 to 31 places.
func shift(a *ir.Arg, name string) *ir.Inst {
	s := a.Vals[0].Def
	if s == nil || s.Name != name || s.Guard.Val != nil || s.Args[2].Kind != ir.Imm || s.Args[2].Imm < 1 || s.Args[2].Imm > 31 {
		return nil
	}
	return s
}

// byPlaces are the places by which an instruction shifts, as LEA has them.
func byPlaces(s *ir.Inst) ir.Arg { return ir.T(fmt.Sprintf("%#x", s.Args[2].Imm)) }

// signOf reports whether an operand is the sign of a value in all bits.
func signOf(a *ir.Arg, v *ir.Value) bool {
	if !plainRegister(a) || a.Vals[0].Def == nil {
		return false
	}
	s := a.Vals[0].Def
	return s.Name == "SHF.R.S32.HI" && s.Guard.Val == nil && s.Args[2].Kind == ir.Imm && s.Args[2].Imm == 31 && plainRegister(&s.Args[3]) && s.Args[3].Vals[0] == v
}
