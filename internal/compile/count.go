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
		c.Registers, c.Predicates = atOnce(f, ir.GPR), atOnce(f, ir.Pred)
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

// atOnce is how many values of a class are needed at once, at most.
func atOnce(f *ir.Func, class ir.Class) int {
	live := findLive(f)
	last := 0
	if n := len(live.last); n > 0 {
		last = live.last[n-1] + 2
	}
	change := make([]int, last+2) // by place in the code
	for _, v := range f.Values {
		if v.Class == class {
			for _, s := range live.of[v.ID] {
				change[s.from]++
				change[min(s.to, last+1)]--
			}
		}
	}
	now, most := 0, 0
	for _, n := range change {
		now += n
		most = max(most, now)
	}
	return most
}
