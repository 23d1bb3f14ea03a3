package ptx

import (
	"slices"
	"strconv"
)

// Flattening: the nested blocks of a function become one list of instructions,
// and labels become indices into it. Names are resolved on the way, because a
// block is a scope.

// fixup is an operand that waits for the position of its label.
type fixup struct {
	operand *Operand
	label   *labelEntry
}

type tableFixup struct {
	table *Table
	scope *scope
}

// function resolves and flattens one function.
func (r *resolver) function(f *Func) {
	for _, v := range slices.Concat(f.Rets, f.Params) {
		if v.Space == SpaceReg && f.Entry {
			r.errorAt(v.Pos, "register parameter of a kernel", "kernel parameters are .param")
		}
	}
	if f.Body == nil {
		return
	}
	r.fn, r.depth, r.loc = f, 0, nil
	r.reported, r.suffix = nil, nil
	f.Labels = map[string]int{}
	f.Protos = map[string]*Func{}
	f.Tables = map[string]*Table{}
	r.cur = newScope(r.top)
	for _, v := range slices.Concat(f.Rets, f.Params) {
		r.declareVar(r.cur, v)
	}
	outer := map[string]bool{}
	for _, s := range f.Body.Stmts {
		if l, ok := s.(*Label); ok {
			outer[l.Name] = true
		}
	}
	r.block(f.Body, outer)
	for _, t := range r.tables {
		r.targets(t)
	}
	for _, x := range r.fixups {
		x.operand.Target = x.label.index
	}
	r.fixups, r.tables = r.fixups[:0], r.tables[:0]
	r.cur, r.fn = r.top, nil
}

// unique returns name, with a suffix if taken says that it is in use.
func (r *resolver) unique(name string, taken func(string) bool) string {
	if !taken(name) {
		return name
	}
	if r.suffix == nil {
		r.suffix = map[string]int{}
	}
	for {
		n := r.suffix[name] + 1
		r.suffix[name] = n
		if key := name + "#" + strconv.Itoa(n+1); !taken(key) {
			return key
		}
	}
}

// block resolves the statements of a block in the current scope. outer holds the
// labels of the function's own block, which keep their plain names.
func (r *resolver) block(b *Block, outer map[string]bool) {
	r.depth++
	defer func() { r.depth-- }()
	f := r.fn
	labels := r.declareLabels(b)
	for _, s := range b.Stmts {
		switch s := s.(type) {
		case *Label:
			e := labels[s]
			e.index = len(f.Code)
			key := r.unique(s.Name, func(k string) bool {
				_, ok := f.Labels[k]
				return ok || r.depth > 1 && outer[k]
			})
			f.Labels[key] = e.index
		case *VarDecl:
			for _, v := range s.Vars {
				r.declareVar(r.cur, v)
				r.variable(v)
				f.Vars = append(f.Vars, v)
			}
		case *Loc:
			r.loc = s
		case *Table:
			key := r.unique(s.Name, func(k string) bool { return f.Tables[k] != nil })
			f.Tables[key] = s
			r.tables = append(r.tables, tableFixup{s, r.cur})
		case *Func:
			key := r.unique(s.Name, func(k string) bool { return f.Protos[k] != nil })
			f.Protos[key] = s
			// A prototype may be declared again; uses refer to the latest.
			if e := r.cur.names[s.Name]; e.proto {
				r.cur.names[s.Name] = entry{pos: s.Pos, fn: s, proto: true}
			}
		case *Block:
			r.cur = newScope(r.cur)
			r.block(s, outer)
			r.cur = r.cur.parent
		case *Inst:
			s.Index = len(f.Code)
			s.Loc = r.loc
			f.Code = append(f.Code, s)
			r.instruction(s)
		}
	}
}

// declareLabels enters the labels, tables and prototypes of a block, which may be
// used before their declaration.
func (r *resolver) declareLabels(b *Block) map[*Label]*labelEntry {
	var labels map[*Label]*labelEntry
	for _, s := range b.Stmts {
		switch s := s.(type) {
		case *Label:
			if labels == nil {
				labels = map[*Label]*labelEntry{}
			}
			e := &labelEntry{name: s.Name}
			labels[s] = e
			r.declare(r.cur, s.Name, entry{pos: s.Pos, label: e})
		case *Table:
			r.declare(r.cur, s.Name, entry{pos: s.Pos, table: s})
		case *Func:
			if !r.cur.names[s.Name].proto {
				r.declare(r.cur, s.Name, entry{pos: s.Pos, fn: s, proto: true})
			}
		}
	}
	return labels
}

// targets resolves the names of a .branchtargets or .calltargets list.
func (r *resolver) targets(t tableFixup) {
	r.cur = t.scope
	tab := t.table
	for _, name := range tab.Names {
		e, _, _, ok := t.scope.find(name)
		switch {
		case !ok && r.tainted[name]:
		case tab.Call && ok && e.fn != nil && !e.proto:
			tab.Funcs = append(tab.Funcs, e.fn)
		case !tab.Call && ok && e.label != nil:
			tab.Targets = append(tab.Targets, e.label.index)
		case tab.Call:
			r.errorAt(tab.Pos, unknownOr(ok, "function", name), r.suggest(name, func(e entry) bool { return e.fn != nil && !e.proto }))
		default:
			r.errorAt(tab.Pos, unknownOr(ok, "label", name), r.suggest(name, func(e entry) bool { return e.label != nil }))
		}
	}
}

// unknownOr returns the error for a name that does not refer to the expected thing.
func unknownOr(exists bool, what, name string) string {
	if exists {
		return clip(name) + " is not a " + what
	}
	return "unknown " + what + " " + clip(name)
}
