package compile

import (
	"github.com/heddle-sim/heddle/internal/compile/ir"
	"github.com/heddle-sim/heddle/internal/compile/machine"
)

// This file: short branches disappear. What was in them gets a guard, or a selection chooses between
// results.

// longest is how many instructions may get a guard for a branch at which lanes may part, and for one at
// which they go the same way. Our choice: the former needs BSSY, BRA and BSYNC, each with its wait.
const (
	longest        = 8
	longestUniform = 3
)

// flatten replaces branches around short blocks, the inner ones first.
func flatten(f *ir.Func) {
	for again := true; again; {
		again = false
		for i := len(f.Blocks) - 1; i >= 0; i-- {
			again = flattenBlock(f, f.Blocks[i]) || again
		}
		if again {
			f.Prune()
			simplifyPhis(f)
			mergeBlocks(f)
		}
	}
}

// arm is a block that a branch leads around: only the branch leads to it, and it leads to where the
// other side goes on.
func arm(b, x *ir.Block) bool {
	return x != b && len(x.Preds) == 1 && len(x.Phis) == 0 && x.Term.Flow == ir.Jump && x.Term.Then != x
}

// flattenBlock replaces the branch at a block's end.
func flattenBlock(f *ir.Func, b *ir.Block) bool {
	t := b.Term
	if t.Flow != ir.Branch || t.Then == t.Else {
		return false
	}
	var arms [2]*ir.Block // what the condition's lanes do, and the others
	var join *ir.Block
	switch then, other := arm(b, t.Then), arm(b, t.Else); {
	case then && other && t.Then.Term.Then == t.Else.Term.Then:
		arms, join = [2]*ir.Block{t.Then, t.Else}, t.Then.Term.Then
	case then && t.Then.Term.Then == t.Else:
		arms[0], join = t.Then, t.Else
	case other && t.Else.Term.Then == t.Then:
		arms[1], join = t.Else, t.Then
	}
	if join == nil || join == b {
		return false
	}
	most, n := longest, 0
	if t.Uniform {
		most = longestUniform
	}
	for _, a := range arms {
		if a == nil {
			continue
		}
		for _, in := range a.Insts {
			if n++; !guardable(in) {
				return false
			}
		}
	}
	chosen, selections, ok := sides(b, join, arms)
	if !ok || n+selections > most {
		return false
	}
	// The others' instructions come first: results of the condition's lanes replace theirs.
	for _, k := range []int{1, 0} {
		if a := arms[k]; a != nil {
			for _, in := range a.Insts {
				in.Guard = ir.Guard{Val: t.Cond, Not: t.Not != (k == 1)}
				in.Else = make([]*ir.Value, len(in.Defs()))
				b.Append(in)
			}
			a.Insts = nil
		}
	}
	from := [2]*ir.Block{arms[0], arms[1]}
	for k := range from {
		if from[k] == nil {
			from[k] = b
		}
	}
	keep, gone := join.PredIndex(from[0]), join.PredIndex(from[1])
	for i, p := range join.Phis {
		p.Args[keep] = chosen[i].value(f, b, t)
		p.Args = append(p.Args[:gone:gone], p.Args[gone+1:]...)
	}
	join.Preds[keep] = b
	join.Preds = append(join.Preds[:gone:gone], join.Preds[gone+1:]...)
	for _, a := range arms {
		if a != nil {
			a.Preds = nil
		}
	}
	b.Term = ir.Term{Flow: ir.Jump, Then: join, Line: t.Line}
	return true
}

// choice is what a phi gets from the two sides of a branch.
type choice struct {
	yes, no *ir.Value
	by      *ir.Value // the result that replaces the other where its guard holds, nil for a selection
}

// sides says for the phis of the block in which a branch's sides meet how they get their values; some
// may not be had.
func sides(b, join *ir.Block, arms [2]*ir.Block) (list []choice, selections int, ok bool) {
	at := [2]int{}
	for k, a := range arms {
		if a == nil {
			a = b
		}
		at[k] = join.PredIndex(a)
	}
	taken := map[*ir.Value]bool{}
	for _, p := range join.Phis {
		c := choice{yes: p.Args[at[0]], no: p.Args[at[1]]}
		in := func(v *ir.Value, a *ir.Block) bool {
			return v != nil && a != nil && v.Def != nil && v.Block == a && !taken[v]
		}
		switch {
		case c.yes == c.no || c.yes == nil || c.no == nil:
		case in(c.yes, arms[0]):
			c.by = c.yes
		case in(c.no, arms[1]) && !(arms[0] != nil && c.yes.Block == arms[0]):
			c.by = c.no
		case p.Dst.Class != ir.GPR:
			return nil, 0, false
		default:
			selections++
		}
		if c.by != nil {
			taken[c.by] = true
		}
		list = append(list, c)
	}
	return list, selections, true
}

// value makes the value, at the end of a block.
func (c *choice) value(f *ir.Func, b *ir.Block, t ir.Term) *ir.Value {
	switch {
	case c.yes == c.no || c.no == nil:
		return c.yes
	case c.yes == nil:
		return c.no
	case c.by != nil:
		other := c.yes
		if c.by == c.yes {
			other = c.no
		}
		for i, v := range c.by.Def.Defs() {
			if v == c.by {
				c.by.Def.Else[i] = other
			}
		}
		return c.by
	}
	v := f.NewValue(ir.GPR)
	b.Append(&ir.Inst{Name: "SEL", Args: []ir.Arg{ir.D(v), ir.R(c.yes), ir.R(c.no), ir.Pr(t.Cond, t.Not)}, Line: t.Line})
	return v
}

// guardable reports whether an instruction may get a guard: it has none, and does not depend on which
// lanes come with it.
func guardable(in *ir.Inst) bool {
	if in.Guard.Val != nil || in.Name == ir.Copy || in.Target != nil {
		return false
	}
	for i := range in.Args {
		for _, v := range in.Args[i].Vals {
			if v != nil && v.Class == ir.UGPR {
				return false
			}
		}
	}
	switch machine.ClassOf(in.Name) {
	case machine.ALU, machine.FMA, machine.Wide, machine.Half, machine.SFU, machine.Double:
		return true
	}
	switch in.Base() {
	case "LD", "LDG", "LDL", "LDS", "ST", "STG", "STL", "STS":
		return true
	}
	return false
}
