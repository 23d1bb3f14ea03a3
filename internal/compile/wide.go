package compile

import (
	"slices"

	"github.com/heddle-sim/heddle/internal/compile/ir"
)

// This file: a product of 64 bits and a sum of 64 bits become one instruction, as in addresses of
// elements of arrays.

// fuseWide looks for IADD3 and IADD3.X, the halves of a sum, one of whose terms is the product of
// IMAD.WIDE, and makes the other term the addend of a product of their own.
func fuseWide(f *ir.Func) {
	uses := usesOf(f)
	for _, b := range f.Blocks {
		for i := 1; i < len(b.Insts); i++ {
			lo, hi := b.Insts[i-1], b.Insts[i]
			in := fused(lo, hi)
			if in == nil || uses[lo.Args[1].Vals[0].ID] != 1 {
				continue
			}
			b.Insts = slices.Delete(b.Insts, i-1, i+1)
			i--
			if _, constant := together(&in.Args[3]); constant && in.Args[2].Kind == ir.Imm { // only one may be no register
				v := f.NewValue(ir.GPR)
				b.Insert(i, &ir.Inst{Name: "MOV", Args: []ir.Arg{ir.D(v), in.Args[2]}, Line: in.Line})
				in.Args[2] = ir.R(v)
				i++
			}
			b.Insert(i, in)
		}
	}
}

// fused is the product with an addend that replaces the halves of a sum, nil if they are none.
func fused(lo, hi *ir.Inst) *ir.Inst {
	if !halves(lo, hi) {
		return nil
	}
	for k := range 2 {
		x, xh, y, yh := &lo.Args[2+k], &hi.Args[1+k], &lo.Args[3-k], &hi.Args[2-k]
		if !plainRegister(x) || !plainRegister(xh) || !plainRegister(y) || !plainRegister(yh) {
			continue
		}
		w := x.Vals[0].Def
		if w == nil || w.Base() != "IMAD" || !w.Has("WIDE") || w.Guard.Val != nil || len(w.Args) != 4 || !zero(&w.Args[3]) {
			continue
		}
		if d := w.Args[0].Vals; d[0] != x.Vals[0] || d[1] != xh.Vals[0] {
			continue
		}
		return &ir.Inst{Name: w.Name, Line: lo.Line, Args: []ir.Arg{
			ir.D(lo.Args[0].Vals[0], hi.Args[0].Vals[0]), w.Args[1].Clone(), w.Args[2].Clone(), ir.R(y.Vals[0], yh.Vals[0])}}
	}
	return nil
}

// halves reports whether two instructions are the halves of a sum of two terms.
func halves(lo, hi *ir.Inst) bool {
	if lo.Name != "IADD3" || hi.Name != "IADD3.X" || lo.Guard.Val != nil || hi.Guard.Val != nil || len(lo.Args) != 5 || len(hi.Args) != 6 {
		return false
	}
	p := lo.Args[1].Vals[0]
	return p != nil && hi.Args[4].Vals[0] == p && !hi.Args[4].Not && zero(&lo.Args[4]) && zero(&hi.Args[3]) && hi.Args[5].Vals[0] == nil && hi.Args[5].Not
}

func zero(a *ir.Arg) bool { return a.Kind == ir.Reg && a.Vals[0] == nil }

// plainRegister reports whether an operand is one register as it is.
func plainRegister(a *ir.Arg) bool {
	return a.Kind == ir.Reg && len(a.Vals) == 1 && a.Vals[0] != nil && !a.Neg && !a.Not && !a.Abs
}
