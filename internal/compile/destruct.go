package compile

import (
	"slices"

	"github.com/heddle-sim/heddle/internal/compile/ir"
)

// This file: values that must share a register, or lie in neighbouring ones, become values of their
// own, joined to the rest of the code by copies. Then all such demands can be met, whatever the rest
// does; the allocator lets most copies disappear (Boissinot et al., "Revisiting Out-of-SSA
// Translation", CGO 2009).

// isolate inserts the copies, and returns the groups of values that the demands are about.
func isolate(f *ir.Func) []group {
	splitCritical(f)
	var groups []group
	for _, b := range f.Blocks {
		groups = append(groups, isolatePhis(f, b)...)
	}
	for _, b := range f.Blocks {
		list := b.Insts
		b.Insts = make([]*ir.Inst, 0, 2*len(list))
		for _, in := range list {
			g, before := isolateTuples(f, in)
			groups = append(groups, g...)
			if before != nil {
				b.Append(before)
			}
			b.Insts = append(b.Insts, in)
		}
	}
	return groups
}

// group are values that need neighbouring registers: each row's values share one, and the rows follow
// each other. The first register's number is a multiple of the number of rows.
type group [][]*ir.Value

// splitCritical gives edges on which copies may be needed blocks of their own, unless the edge is the
// only way out of its block or the only one into the next.
func splitCritical(f *ir.Func) {
	f.Renumber()
	old := f.Blocks
	s := splitter{f: f, before: make([][]*ir.Block, len(old)), after: make([][]*ir.Block, len(old))}
	for _, b := range old {
		if len(b.Phis) == 0 || len(b.Preds) < 2 {
			continue
		}
		for _, p := range slices.Clone(b.Preds) {
			if len(p.Succs()) > 1 {
				s.edge(p, b)
			}
		}
	}
	f.Blocks = make([]*ir.Block, 0, 2*len(old))
	for i, b := range old {
		f.Blocks = append(append(f.Blocks, s.before[i]...), b)
		for k := range s.after[i] {
			f.Blocks = append(f.Blocks, s.after[i][len(s.after[i])-1-k])
		}
	}
	f.Renumber()
}

// splitter puts blocks into edges.
type splitter struct {
	f             *ir.Func
	before, after [][]*ir.Block // by block that was there: new ones, the last made next to it
}

// edge puts a block into an edge: after its source if that goes there by falling through, else before
// the target.
func (s *splitter) edge(p, b *ir.Block) {
	x := &ir.Block{Term: ir.Term{Flow: ir.Jump, Then: b}, Preds: []*ir.Block{p}}
	adjacent := b.ID == p.ID+1 && len(s.before[b.ID]) == 0 && len(s.after[p.ID]) == 0
	if p.Term.Else == b || b.ID > 0 && b.ID <= p.ID && !adjacent { // the latter is a loop's end
		s.after[p.ID] = append(s.after[p.ID], x)
	} else {
		s.before[b.ID] = append(s.before[b.ID], x)
	}
	b.Preds[b.PredIndex(p)] = x
	p.Replace(b, x)
}

// asItIs is a value.
func asItIs(v *ir.Value) ir.Arg {
	if v.Class == ir.Pred {
		return ir.Pr(v, false)
	}
	return ir.R(v)
}

// origin is what a value is a copy of, if that is no register, else the value.
func origin(v *ir.Value) ir.Arg {
	switch m := moved(v); {
	case isZero(m):
		return ir.RZ()
	case m != nil && len(m.Vals) == 0:
		return *m
	}
	return asItIs(v)
}

// addCopy makes d a copy of what src is.
func addCopy(c *ir.Inst, d *ir.Value, src ir.Arg) {
	dst := ir.D(d)
	if d.Class == ir.Pred {
		dst = ir.DP(d)
	}
	n := len(c.Args) / 2
	c.Args = slices.Insert(c.Args, n, dst)
	c.Args = append(c.Args, src)
}

// isolatePhis makes the values of each phi a group.
func isolatePhis(f *ir.Func, b *ir.Block) []group {
	if len(b.Phis) == 0 {
		return nil
	}
	var groups []group
	ends := make([]*ir.Inst, len(b.Preds))
	for i := range ends {
		ends[i] = &ir.Inst{Args: make([]ir.Arg, 0, 2*len(b.Phis))}
	}
	begin := &ir.Inst{Args: make([]ir.Arg, 0, 2*len(b.Phis))}
	for _, p := range b.Phis {
		row := []*ir.Value{f.NewValue(p.Dst.Class)}
		src := ir.R(row[0])
		if p.Dst.Class == ir.Pred {
			src = ir.Pr(row[0], false)
		}
		addCopy(begin, p.Dst, src)
		for i, a := range p.Args {
			if a != nil {
				p.Args[i] = f.NewValue(a.Class)
				addCopy(ends[i], p.Args[i], origin(a))
				row = append(row, p.Args[i])
			}
		}
		p.Dst = row[0]
		p.Dst.Block = b
		groups = append(groups, group{row})
	}
	b.Insert(0, begin)
	for i, p := range b.Preds {
		if len(ends[i].Args) > 0 {
			ends[i].Line = p.Term.Line
			p.Append(ends[i])
		}
	}
	return groups
}

// isolateTuples makes the tuples of an instruction groups, with the values that its results keep where
// its guard does not hold. before is the copy that it needs first, nil if none.
func isolateTuples(f *ir.Func, in *ir.Inst) (groups []group, before *ir.Inst) {
	if in.Name == ir.Copy {
		return nil, nil
	}
	copied := func(v *ir.Value, what func(v *ir.Value) ir.Arg) *ir.Value {
		if before == nil {
			before = &ir.Inst{Line: in.Line, Args: make([]ir.Arg, 0, 4)} // an address, or half of what has 16 bytes
		}
		d := f.NewValue(v.Class)
		addCopy(before, d, what(v))
		return d
	}
	n := 0 // among the results
	for i := range in.Args {
		a := &in.Args[i]
		if a.Dst {
			var g group
			if len(in.Else) == 0 && len(a.Vals) < 2 { // no demand
				continue
			}
			for _, v := range a.Vals {
				if v == nil {
					continue
				}
				row := []*ir.Value{v}
				if len(in.Else) > 0 && in.Else[n] != nil {
					in.Else[n] = copied(in.Else[n], origin) // the result takes its place: a number needs no register before
					row = append(row, in.Else[n])
				}
				n++
				g = append(g, row)
			}
			if len(g) > 1 || len(g) == 1 && len(g[0]) > 1 {
				groups = append(groups, g)
			}
			continue
		}
		if (a.Kind != ir.Reg && a.Kind != ir.Mem) || len(a.Vals) < 2 || a.Vals[0] == nil {
			continue
		}
		var g group
		a.Vals = slices.Clone(a.Vals)
		for j, v := range a.Vals {
			a.Vals[j] = copied(v, asItIs)
			g = append(g, []*ir.Value{a.Vals[j]})
		}
		groups = append(groups, g)
	}
	return groups, before
}
