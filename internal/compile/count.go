package compile

import "github.com/heddle-sim/heddle/internal/compile/ir"

// This file: how much a kernel has after a pass.

// count counts what a kernel has.
func count(f *ir.Func, pass string, ssa bool) Count {
	c := Count{Pass: pass, Blocks: len(f.Blocks)}
	for _, b := range f.Blocks {
		for _, in := range b.Insts {
			if in.Name != ir.Copy {
				c.Instructions++
			}
		}
	}
	if ssa {
		most := highest(findNeeded(f).peaks(f))
		c.Registers, c.Predicates = most[ir.GPR], most[ir.Pred]
		return c
	}
	for _, b := range f.Blocks {
		for _, in := range b.Insts {
			in.EachDef(func(v *ir.Value) {
				switch v.Class {
				case ir.GPR:
					c.Registers = max(c.Registers, v.Reg+1)
				case ir.Pred:
					c.Predicates = max(c.Predicates, v.Reg+1)
				}
			})
		}
	}
	return c
}
