package compile

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/heddle-sim/heddle/internal/compile/ir"
)

// This file: two instructions of a block become one, where the second alone needs the result of the first: logic of
// three bit patterns, sums of three terms, comparisons joined with other predicates.

// fusePairs looks for such pairs.
func fusePairs(f *ir.Func) {
	uses := usesOf(f)
	for _, b := range f.Blocks {
		// only is the instruction that makes a value which no other one needs.
		only := func(v *ir.Value) *ir.Inst {
			if v == nil || uses[v.ID] != 1 || v.Def == nil || v.Def.Block != b || v.Def.Guard.Val != nil || v.Def.Effect {
				return nil
			}
			return v.Def
		}
		for _, in := range b.Insts {
			if in.Guard.Val != nil {
				continue
			}
			switch in.Name {
			case "LOP3.LUT":
				for combineLogic(in, only) {
				}
			case "IADD3":
				combineSum(in, only)
			case "PLOP3.LUT":
				joinComparison(in, only)
			case "SEL":
				guardSelection(in, only, uses)
			}
		}
	}
}

// guardSelection makes a selection between a value that ends there and what another selection chooses a guard of that
// one.
func guardSelection(in *ir.Inst, only func(*ir.Value) *ir.Inst, uses []int) {
	for k := 1; k <= 2; k++ {
		y, x, q := &in.Args[k], &in.Args[3-k], in.Args[3]
		if !plainRegister(x) || !plainRegister(y) || q.Vals[0] == nil {
			continue
		}
		inner := only(y.Vals[0])
		if inner == nil || inner.Name != "SEL" {
			continue
		}
		left := uses[x.Vals[0].ID] - 1 // those elsewhere than in what decides
		for _, p := range [2]*ir.Value{q.Vals[0], inner.Args[3].Vals[0]} {
			if p != nil && p.Def != nil && (p != q.Vals[0] || p != inner.Args[3].Vals[0]) {
				p.Def.Uses(func(v **ir.Value) {
					if *v == x.Vals[0] {
						left--
					}
				})
			}
		}
		if left != 0 {
			continue
		}
		in.Guard, in.Else = ir.Guard{Val: q.Vals[0], Not: q.Not != (k == 2)}, []*ir.Value{x.Vals[0]}
		in.Args = []ir.Arg{in.Args[0], inner.Args[1].Clone(), inner.Args[2].Clone(), inner.Args[3].Clone()}
		return
	}
}

// combineLogic makes an operation on bits whose operand is another one a single one of at most three operands.
func combineLogic(in *ir.Inst, only func(*ir.Value) *ir.Inst) bool {
	if !logic(in) {
		return false
	}
	for k := 1; k <= 3; k++ {
		if !plainRegister(&in.Args[k]) {
			continue
		}
		inner := only(in.Args[k].Vals[0])
		if inner == nil || !logic(inner) {
			continue
		}
		var list []ir.Arg
		for i := 1; i <= 3; i++ {
			list = addOperand(list, &inner.Args[i])
			if i != k {
				list = addOperand(list, &in.Args[i])
			}
		}
		if len(list) > 3 || numbersIn(list) > 1 {
			continue
		}
		table := 0
		for bits := range 8 {
			was := func(a *ir.Arg) int {
				for i := range list {
					if sameOperand(&list[i], a) {
						return bits >> (2 - i) & 1
					}
				}
				return 0 // RZ
			}
			mid := tableOf(inner, was(&inner.Args[1]), was(&inner.Args[2]), was(&inner.Args[3]))
			var x [3]int
			for i := range x {
				if x[i] = mid; i+1 != k {
					x[i] = was(&in.Args[i+1])
				}
			}
			table |= tableOf(in, x[0], x[1], x[2]) << bits
		}
		for len(list) < 3 {
			list = append(list, ir.RZ())
		}
		args := []ir.Arg{in.Args[0]}
		for i := range list {
			args = append(args, list[i].Clone())
		}
		in.Args = append(args, ir.T(fmt.Sprintf("%#x", table)), in.Args[5])
		if list[0].Kind != ir.Reg { // an immediate is the second one
			swap(in, &in.Args[1], &in.Args[2])
		} else if list[2].Kind != ir.Reg {
			in.Args[2], in.Args[3] = in.Args[3], in.Args[2]
			in.Args[4] = ir.T(fmt.Sprintf("%#x", table&0x99|table<<1&0x44|table>>1&0x22))
		}
		return true
	}
	return false
}

// logic reports whether an instruction is an operation on the bits of operands as they are.
func logic(in *ir.Inst) bool {
	if in.Name != "LOP3.LUT" || len(in.Args) != 6 || in.Args[5].Vals[0] != nil || !in.Args[5].Not {
		return false
	}
	for i := 1; i <= 3; i++ {
		if a := &in.Args[i]; !zero(a) && !plainRegister(a) && a.Kind != ir.Imm {
			return false
		}
	}
	return true
}

// tableOf is an entry of the table of an operation on bits.
func tableOf(in *ir.Inst, a, b, c int) int {
	t, _ := strconv.ParseUint(in.Args[4].Text, 0, 8)
	return int(t) >> (a<<2 | b<<1 | c) & 1
}

// sameOperand reports whether two operands are one register, or one number.
func sameOperand(a, b *ir.Arg) bool {
	return a.Kind == b.Kind && (a.Kind == ir.Imm && uint32(a.Imm) == uint32(b.Imm) || a.Kind == ir.Reg && slices.Equal(a.Vals, b.Vals))
}

// addOperand adds an operand to a list that lacks it, unless it is zero.
func addOperand(list []ir.Arg, a *ir.Arg) []ir.Arg {
	if zero(a) || slices.ContainsFunc(list, func(x ir.Arg) bool { return sameOperand(&x, a) }) {
		return list
	}
	return append(list, *a)
}

// numbersIn counts operands that are no registers, or will be none.
func numbersIn(list []ir.Arg) (n int) {
	for i := range list {
		if a := &list[i]; a.Kind != ir.Reg {
			n++
		} else if m := moved(a.Vals[0]); m != nil && m.Kind != ir.Reg {
			n++
		}
	}
	return n
}

// combineSum makes a sum one of whose terms is another sum a single one of three terms.
func combineSum(in *ir.Inst, only func(*ir.Value) *ir.Inst) {
	if len(in.Args) != 4 {
		return
	}
	for k := 1; k <= 3; k++ {
		a := &in.Args[k]
		if a.Kind != ir.Reg || a.Vals[0] == nil || a.Not || a.Suffix != "" {
			continue
		}
		inner := only(a.Vals[0])
		if inner == nil || inner.Name != "IADD3" || len(inner.Args) != 4 || slices.ContainsFunc(inner.Args, func(x ir.Arg) bool { return x.Not || x.Suffix != "" }) {
			continue
		}
		var list []ir.Arg
		for i := 1; i <= 3; i++ {
			if x := &in.Args[i]; i != k && !zero(x) {
				list = append(list, *x)
			}
			if x := inner.Args[i]; !zero(&x) {
				x.Neg = x.Neg != a.Neg
				list = append(list, x)
			}
		}
		if len(list) > 3 || numbersIn(list) > 1 {
			continue
		}
		args := []ir.Arg{in.Args[0]}
		for i := range list {
			args = append(args, list[i].Clone())
		}
		for len(args) < 4 {
			args = append(args, ir.RZ())
		}
		for i := range args { // an immediate is the second one
			if args[i].Kind != ir.Reg {
				if args[i].Kind == ir.Imm {
					settle(in, &args[i])
				}
				args[2], args[i] = args[i], args[2]
				break
			}
		}
		in.Args = args
		return
	}
}

// joinComparison makes a comparison take part in what a predicate is joined with.
func joinComparison(in *ir.Inst, only func(*ir.Value) *ir.Inst) {
	op := map[string]string{"0x80": "AND", "0xa8": "OR", "0x28": "XOR"}[in.Args[5].Text]
	if op == "" || in.Args[1].Vals[0] != nil || in.Args[4].Vals[0] != nil || in.Args[4].Not {
		return
	}
	for _, k := range []int{3, 2} {
		a, other := in.Args[k], in.Args[5-k]
		c := only(a.Vals[0])
		if c == nil || a.Not || other.Vals[0] == nil || c.Base() != "ISETP" && c.Base() != "FSETP" || c.Has("EX") || !strings.HasSuffix(c.Name, ".AND") {
			continue
		}
		if p := c.Args[len(c.Args)-1]; len(c.Args) != 5 || p.Vals[0] != nil || p.Not || c.Args[1].Vals[0] != nil || c.Args[0].Vals[0] != a.Vals[0] {
			continue
		}
		in.Name = strings.TrimSuffix(c.Name, "AND") + op
		in.Args = []ir.Arg{in.Args[0], in.Args[1], c.Args[2].Clone(), c.Args[3].Clone(), other}
		return
	}
}
