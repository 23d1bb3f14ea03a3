package compile

import (
	"slices"

	"github.com/heddle-sim/heddle/internal/compile/ir"
)

// This file: what is not needed disappears.

// simplifyPhis removes phis all of whose sources are one value.
func simplifyPhis(f *ir.Func) {
	same := make([]*ir.Value, len(f.Values))
	find := func(v *ir.Value) *ir.Value {
		for v != nil && same[v.ID] != nil {
			v = same[v.ID]
		}
		return v
	}
	some := false
	for again := true; again; {
		again = false
		for _, b := range f.Blocks {
			list := b.Phis[:0]
			for _, p := range b.Phis {
				var only *ir.Value
				several := false
				for _, a := range p.Args {
					a = find(a)
					switch {
					case a == p.Dst:
					case a == nil, only != nil && only != a:
						several = true
					default:
						only = a
					}
				}
				if several || only == nil {
					list = append(list, p)
					continue
				}
				same[p.Dst.ID], again, some = only, true, true
			}
			b.Phis = list
		}
	}
	if !some {
		return
	}
	for _, b := range f.Blocks {
		for _, p := range b.Phis {
			for i := range p.Args {
				p.Args[i] = find(p.Args[i])
			}
		}
		for _, in := range b.Insts {
			in.Uses(func(v **ir.Value) { *v = find(*v) })
		}
		if b.Term.Cond != nil {
			b.Term.Cond = find(b.Term.Cond)
		}
	}
}

// removeDead removes instructions and phis whose results nothing needs.
func removeDead(f *ir.Func) {
	f.Marks++
	phis := make([]*ir.Phi, len(f.Values)) // by result
	var queue []*ir.Inst
	var choices []*ir.Phi
	need := func(v *ir.Value) {
		if in := v.Def; in != nil {
			if in.Mark != f.Marks {
				in.Mark = f.Marks
				queue = append(queue, in)
			}
		} else if p := phis[v.ID]; p != nil && p.Mark != f.Marks {
			p.Mark = f.Marks
			choices = append(choices, p)
		}
	}
	for _, b := range f.Blocks {
		for _, p := range b.Phis {
			phis[p.Dst.ID] = p
		}
	}
	for _, b := range f.Blocks {
		for _, in := range b.Insts {
			if in.Effect {
				in.Mark = f.Marks
				queue = append(queue, in)
			}
		}
		if b.Term.Cond != nil {
			need(b.Term.Cond)
		}
	}
	var some []*ir.Value
	for len(queue)+len(choices) > 0 {
		if n := len(choices); n > 0 {
			p := choices[n-1]
			choices = choices[:n-1]
			for _, v := range p.Args {
				if v != nil {
					need(v)
				}
			}
			continue
		}
		in := queue[len(queue)-1]
		queue = queue[:len(queue)-1]
		some = in.Reads(some[:0])
		for _, v := range some {
			need(v)
		}
	}
	for _, b := range f.Blocks {
		b.Phis = slices.DeleteFunc(b.Phis, func(p *ir.Phi) bool { return p.Mark != f.Marks })
		b.Insts = slices.DeleteFunc(b.Insts, func(in *ir.Inst) bool { return in.Mark != f.Marks })
	}
}

// discardResults drops predicate results that nothing needs; a sum without its carry is an ordinary one.
func discardResults(f *ir.Func) {
	uses := usesOf(f)
	for _, b := range f.Blocks {
		for _, in := range b.Insts {
			n := 0 // among the results
			for i := range in.Args {
				a := &in.Args[i]
				for j, v := range a.Vals {
					if !a.Dst || v == nil {
						continue
					}
					if a.Kind == ir.P && uses[v.ID] == 0 {
						a.Vals[j] = nil
						if len(in.Else) > 0 {
							in.Else = append(in.Else[:n:n], in.Else[n+1:]...)
						}
						continue
					}
					n++
				}
			}
			if in.Name == "IADD3" && len(in.Args) == 5 && in.Args[1].Dst && in.Args[1].Vals[0] == nil {
				in.Args = append(in.Args[:1:1], in.Args[2:]...)
			}
		}
	}
}
