package program

import (
	"slices"

	xptx "github.com/heddle-sim/heddle/internal/exec/ptx"
	"github.com/heddle-sim/heddle/internal/isa/ptx"
)

// This file: modules that refer to each other, before they are compiled. Each is compiled with what the others define.

// linked is a module with the variables and functions of its group in its own place: those that linking has chosen, in one
// order for all of the group. The kernels are the module's own.
func linked(p *xptx.Program, m *ptx.Module, group []*ptx.Module) *ptx.Module {
	if len(group) < 2 {
		return m
	}
	out := *m
	out.Vars, out.Funcs, out.Lines = nil, nil, slices.Clone(m.Lines)
	for _, x := range group {
		if x != m {
			out.Lines = append(out.Lines, x.Lines...) // by which what is made is known again
		}
		for _, v := range x.Vars {
			if d := p.Variable(v); d == v || d == nil {
				out.Vars = append(out.Vars, v)
			}
		}
		for _, f := range x.Funcs {
			switch d := p.Function(f); {
			case f.Entry:
				if x == m {
					out.Funcs = append(out.Funcs, f)
				}
			case d == f && x != m:
				out.Funcs = append(out.Funcs, withoutLines(f))
			case d == f || d == nil:
				out.Funcs = append(out.Funcs, f)
			}
		}
	}
	return &out
}

// withoutLines is a function of another file: its lines would be taken for those of this one.
func withoutLines(f *ptx.Func) *ptx.Func {
	out := *f
	out.Pos, out.Code = ptx.Pos{}, nil
	for _, in := range f.Code {
		x := *in
		x.Pos, x.Loc = ptx.Pos{}, nil
		out.Code = append(out.Code, &x)
	}
	return &out
}
