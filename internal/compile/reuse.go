package compile

import (
	"github.com/heddle-sim/heddle/internal/compile/ir"
	"github.com/heddle-sim/heddle/internal/compile/machine"
)

// This file: reuse bits. A source whose register the next instruction reads in the same place is kept in
// the register-file cache, so that the next one needs no port of its bank for it (MICRO 2025).

// reuse sets the bits of a function. They have the place of the yield bit in the encoding, which comes first.
func reuse(f *ir.Func, m *machine.Machine) {
	for _, b := range f.Blocks {
		for i := 1; i < len(b.Insts); i++ {
			in, next := b.Insts[i-1], b.Insts[i]
			if in.Ctl.Yield || !keeps(in) || !keeps(next) {
				continue
			}
			x, y := slotsOf(in), slotsOf(next)
			for k := range min(len(x), len(y), m.ReuseSlots) {
				if v := x[k].Vals[0]; v.Reg == y[k].Vals[0].Reg && v.Reg != in.Args[0].Vals[0].Reg {
					x[k].Suffix = "reuse"
				}
			}
		}
	}
}

// keeps reports whether an instruction's sources can be kept.
func keeps(in *ir.Inst) bool {
	switch in.Name {
	case "FFMA", "FADD", "FMUL", "IMAD", "IADD3", "LOP3.LUT":
		return in.Guard.Val == nil && len(in.Args) > 0 && in.Args[0].Kind == ir.Reg && in.Args[0].Vals[0] != nil
	}
	return false
}

// slotsOf are the sources in registers, in their places, up to the first that is something else.
func slotsOf(in *ir.Inst) []*ir.Arg {
	var list []*ir.Arg
	for i := range in.Args {
		a := &in.Args[i]
		if a.Dst {
			continue
		}
		if a.Kind != ir.Reg || len(a.Vals) != 1 || a.Vals[0] == nil || a.Vals[0].Class != ir.GPR || a.Suffix != "" && a.Suffix != "reuse" {
			break
		}
		list = append(list, a)
	}
	return list
}
