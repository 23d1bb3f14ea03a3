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
	needed := make([]bool, len(f.Values))
	phi := make([]*ir.Phi, len(f.Values))
	var queue, some []*ir.Value
	need := func(list []*ir.Value) {
		for _, v := range list {
			if v != nil && !needed[v.ID] {
				needed[v.ID] = true
				queue = append(queue, v)
			}
		}
	}
	for _, b := range f.Blocks {
		for _, p := range b.Phis {
			phi[p.Dst.ID] = p
		}
		for _, in := range b.Insts {
			if in.Effect {
				some = in.Reads(some[:0])
				need(some)
			}
		}
		need([]*ir.Value{b.Term.Cond})
	}
	for len(queue) > 0 {
		v := queue[len(queue)-1]
		queue = queue[:len(queue)-1]
		if p := phi[v.ID]; p != nil {
			need(p.Args)
		} else if v.Def != nil {
			some = v.Def.Reads(some[:0])
			need(some)
		}
	}
	for _, b := range f.Blocks {
		b.Phis = slices.DeleteFunc(b.Phis, func(p *ir.Phi) bool { return !needed[p.Dst.ID] })
		b.Insts = slices.DeleteFunc(b.Insts, func(in *ir.Inst) bool { return !in.Effect && !makes(in, needed) })
	}
}

// makes reports whether an instruction defines one of some values.
func makes(in *ir.Inst, values []bool) bool {
	for i := range in.Args {
		if a := &in.Args[i]; a.Dst {
			for _, v := range a.Vals {
				if v != nil && values[v.ID] {
					return true
				}
			}
		}
	}
	return false
}

// discardResults drops predicate results that nothing needs.
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
		}
	}
}
