package compile

import (
	"slices"

	"github.com/heddle-sim/heddle/internal/compile/ir"
)

// This file: copies disappear, and immediates and constants become operands of what uses them.

// moved is what a value is a copy of, nil if it is the result of a computation.
func moved(v *ir.Value) *ir.Arg {
	if v == nil || v.Def == nil || v.Def.Name != "MOV" || v.Def.Guard.Val != nil {
		return nil
	}
	a := &v.Def.Args[1]
	if a.Neg || a.Abs || a.Not || a.Suffix != "" || a.Kind == ir.Reg && a.Vals[0] != nil && a.Vals[0].Class != v.Class {
		return nil
	}
	return a
}

// original follows copies of registers.
func original(v *ir.Value) *ir.Value {
	for {
		a := moved(v)
		if a == nil || a.Kind != ir.Reg || a.Vals[0] == nil {
			return v
		}
		v = a.Vals[0]
	}
}

// fold replaces the uses of copies.
func fold(f *ir.Func) {
	var list []*ir.Arg
	for _, b := range f.Blocks {
		for _, p := range b.Phis {
			for i, v := range p.Args {
				p.Args[i] = original(v)
			}
		}
		for _, in := range b.Insts {
			in.Uses(func(v **ir.Value) { *v = original(*v) })
			if in.Name != ir.Copy {
				list = sourcesIn(list[:0], in)
				foldSources(in, list)
				foldAddress(in)
			}
		}
		b.Term.Cond = original(b.Term.Cond)
	}
}

// foldSources makes immediates and constants operands of an instruction with a list of sources.
func foldSources(in *ir.Inst, list []*ir.Arg) {
	for i := range list {
		n := i
		if in.Base() == "IMAD" { // a constant as addend saves two registers
			n = len(list) - 1 - i
		}
		a := list[n]
		if a.Kind != ir.Reg || a.Suffix != "" {
			continue
		}
		from, ok := together(a)
		if !ok {
			continue
		}
		if from.Kind == ir.Reg { // zero
			for i := range a.Vals {
				a.Vals[i] = nil
			}
			continue
		}
		at := n
		if !fits(in, list, n, with(a, from), len(a.Vals)) {
			at = other(in, list, n, from)
		}
		if at < 0 {
			continue
		}
		if at != n {
			swap(in, list[n], list[at])
		}
		x := list[at]
		*x = *with(x, from)
		if x.Kind == ir.Imm {
			settle(in, x)
		}
	}
}

// with is an operand with the signs of another.
func with(signs *ir.Arg, a ir.Arg) *ir.Arg {
	a.Neg, a.Abs, a.Not = signs.Neg, signs.Abs, signs.Not
	return &a
}

// other is a place with which a source may change its own so that what it is fits there, -1 if there
// is none.
func other(in *ir.Inst, list []*ir.Arg, n int, from ir.Arg) int {
	base := in.Base()
	if !swappable(in) {
		return -1
	}
	for m := range list {
		if m == n || m > 1 && base != "IADD3" || n > 1 && base != "IADD3" || list[m].Kind != ir.Reg || len(list[m].Vals) != 1 {
			continue
		}
		if base == "IADD3" && in.Has("X") && (list[m].Not || list[n].Not) {
			continue
		}
		rest := append([]*ir.Arg(nil), list...)
		rest[n] = list[m]
		if fits(in, rest, m, with(list[n], from), 1) {
			return m
		}
	}
	return -1
}

// together is the immediate, the constant or the zero that all registers of an operand are a copy of.
func together(a *ir.Arg) (ir.Arg, bool) {
	if !slices.ContainsFunc(a.Vals, func(v *ir.Value) bool { return !isZero(moved(v)) }) {
		return ir.RZ(), true
	}
	first := moved(a.Vals[0])
	if first == nil || first.Kind == ir.Reg && first.Vals[0] != nil || len(first.Vals) > 0 && first.Kind == ir.Const {
		return ir.Arg{}, false
	}
	for i, v := range a.Vals[1:] {
		m := moved(v)
		switch {
		case m == nil || m.Kind != first.Kind || first.Kind == ir.Imm:
			return ir.Arg{}, false
		case m.Kind == ir.Const && (m.Bank != first.Bank || m.Imm != first.Imm+4*int64(i+1) || len(m.Vals) > 0):
			return ir.Arg{}, false
		case m.Kind == ir.Reg && m.Vals[0] != nil:
			return ir.Arg{}, false
		}
	}
	return *first, true
}

// isZero reports whether what a value is a copy of is zero.
func isZero(a *ir.Arg) bool {
	return a != nil && (a.Kind == ir.Imm && uint32(a.Imm) == 0 || a.Kind == ir.Reg && a.Vals[0] == nil)
}

// foldAddress makes an immediate a part of a 32-bit address. Coordinates of surfaces have none.
func foldAddress(in *ir.Inst) {
	if base := in.Base(); base == "SULD" || base == "SUST" {
		return
	}
	for i := range in.Args {
		a := &in.Args[i]
		if a.Kind != ir.Mem || len(a.Vals) != 1 {
			continue
		}
		if m := moved(a.Vals[0]); m != nil && m.Kind == ir.Imm {
			if n := a.Imm + m.Imm; n >= 0 && n < farthest {
				a.Imm, a.Vals = n, nil
			}
		}
	}
}
