package ptx

import "github.com/heddle-sim/heddle/internal/isa/ptx"

// This file: what linking has found, for those that make other code of modules.

// Variable returns the definition of a variable that a module declares, nil if there is none.
func (p *Program) Variable(v *ptx.Var) *ptx.Var {
	if g := p.varDef[v]; g != nil {
		return g.v
	}
	return nil
}

// Function returns the definition of a function that a module declares, nil if there is none.
func (p *Program) Function(f *ptx.Func) *ptx.Func { return p.fnDef[f] }

// Groups returns, for each module, those that share variables or functions with it or with one of these, in order;
// itself is one of them.
func (p *Program) Groups() map[*ptx.Module][]*ptx.Module {
	parent := map[*ptx.Module]*ptx.Module{}
	root := func(m *ptx.Module) *ptx.Module {
		for parent[m] != nil {
			m = parent[m]
		}
		return m
	}
	join := func(a, b *ptx.Module) {
		if a, b = root(a), root(b); a != b {
			parent[a] = b
		}
	}
	for _, m := range p.mods {
		for _, v := range m.Vars {
			if g := p.varDef[v]; g != nil {
				join(m, g.mod)
			}
		}
		for _, f := range m.Funcs {
			if d := p.fnDef[f]; d != nil && !d.Entry {
				join(m, p.fnMod[d])
			}
		}
	}
	members, groups := map[*ptx.Module][]*ptx.Module{}, map[*ptx.Module][]*ptx.Module{}
	for _, m := range p.mods {
		members[root(m)] = append(members[root(m)], m)
	}
	for _, m := range p.mods {
		groups[m] = members[root(m)]
	}
	return groups
}
