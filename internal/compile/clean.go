package compile

import "github.com/heddle-sim/heddle/internal/compile/ir"

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
				same[p.Dst.ID], again = only, true
			}
			b.Phis = list
		}
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
	var queue []*ir.Value
	need := func(v *ir.Value) {
		if v != nil && !needed[v.ID] {
			needed[v.ID] = true
			queue = append(queue, v)
		}
	}
	use := func(v **ir.Value) { need(*v) }
	for _, b := range f.Blocks {
		for _, p := range b.Phis {
			phi[p.Dst.ID] = p
		}
		for _, in := range b.Insts {
			if in.Effect {
				in.Uses(use)
			}
		}
		need(b.Term.Cond)
	}
	for len(queue) > 0 {
		v := queue[len(queue)-1]
		queue = queue[:len(queue)-1]
		if p := phi[v.ID]; p != nil {
			for _, a := range p.Args {
				need(a)
			}
		} else if v.Def != nil {
			v.Def.Uses(use)
		}
	}
	for _, b := range f.Blocks {
		phis := b.Phis[:0]
		for _, p := range b.Phis {
			if needed[p.Dst.ID] {
				phis = append(phis, p)
			}
		}
		b.Phis = phis
		list := b.Insts[:0]
		for _, in := range b.Insts {
			keep := in.Effect
			in.EachDef(func(v *ir.Value) { keep = keep || needed[v.ID] })
			if keep {
				list = append(list, in)
			}
		}
		b.Insts = list
	}
}

// discardResults drops predicate results that nothing needs.
func discardResults(f *ir.Func) {
	used := make([]bool, len(f.Values))
	for _, b := range f.Blocks {
		for _, in := range b.Insts {
			in.Uses(func(v **ir.Value) { used[(*v).ID] = true })
		}
		for _, p := range b.Phis {
			for _, a := range p.Args {
				if a != nil {
					used[a.ID] = true
				}
			}
		}
		if c := b.Term.Cond; c != nil {
			used[c.ID] = true
		}
	}
	for _, b := range f.Blocks {
		for _, in := range b.Insts {
			n := 0 // among the results
			for i := range in.Args {
				a := &in.Args[i]
				for j, v := range a.Vals {
					if !a.Dst || v == nil {
						continue
					}
					if a.Kind == ir.P && !used[v.ID] {
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
