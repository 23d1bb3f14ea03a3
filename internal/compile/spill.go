package compile

import (
	"slices"

	"github.com/heddle-sim/heddle/internal/compile/ir"
)

// This file: predicates that are too many move to registers, where they are 0 or 1, and become
// predicates again just before they are used.

// spillPredicates leaves at most limit predicates needed at once, as far as that helps.
func spillPredicates(f *ir.Func, limit int) {
	s := &spiller{f: f, in: map[*ir.Value]*ir.Value{}, gone: map[*ir.Value]bool{}, saves: map[*ir.Inst]bool{}}
	for range len(f.Values) {
		list := crowded(f, limit, s.gone)
		if len(list) == 0 {
			return
		}
		s.find(list)
		for _, v := range list {
			s.spill(v)
		}
	}
}

// find finds the blocks in which predicates are read that are about to move.
func (s *spiller) find(list []*ir.Value) {
	s.where = make([][]*ir.Block, len(s.f.Values))
	moves := make([]bool, len(s.f.Values))
	for _, v := range list {
		moves[v.ID] = true
	}
	var some []*ir.Value
	for _, b := range s.f.Blocks {
		for _, in := range b.Insts {
			some = in.Reads(some[:0])
			for _, v := range some {
				if moves[v.ID] {
					s.note(v, b)
				}
			}
		}
		if c := b.Term.Cond; c != nil && moves[c.ID] {
			s.note(c, b)
		}
		for _, p := range b.Phis {
			for i, a := range p.Args {
				if a != nil && moves[a.ID] {
					s.note(a, b.Preds[i])
				}
			}
		}
	}
}

// note notes that a predicate is read in a block, or by a phi at its end.
func (s *spiller) note(v *ir.Value, b *ir.Block) {
	if v.ID >= len(s.where) {
		return // it was made in this round, and stays
	}
	if list := s.where[v.ID]; len(list) == 0 || list[len(list)-1] != b {
		s.where[v.ID] = append(list, b)
	}
}

// crowded are predicates to move: where more than limit are needed, those with the longest ranges.
func crowded(f *ir.Func, limit int, gone map[*ir.Value]bool) []*ir.Value {
	type event struct {
		at, step int
		v        *ir.Value
	}
	live := findLive(f)
	var list []event
	for _, v := range f.Values {
		if v.Class == ir.Pred {
			for _, s := range live.of[v.ID] {
				list = append(list, event{s.from, 1, v}, event{s.to, -1, v})
			}
		}
	}
	slices.SortStableFunc(list, func(a, b event) int {
		if a.at != b.at {
			return a.at - b.at
		}
		return a.step - b.step
	})
	length := func(v *ir.Value) int {
		n := 0
		for _, s := range live.of[v.ID] {
			n += s.to - s.from
		}
		return n
	}
	var victims []*ir.Value
	moved := map[*ir.Value]bool{}
	now := map[*ir.Value]bool{}
	for _, e := range list {
		if e.step < 0 {
			delete(now, e.v)
			continue
		}
		if moved[e.v] {
			continue
		}
		if now[e.v] = true; len(now) <= limit {
			continue
		}
		var best *ir.Value
		for v := range now {
			if !gone[v] && (best == nil || length(v) > length(best) || length(v) == length(best) && v.ID < best.ID) {
				best = v
			}
		}
		if best != nil {
			delete(now, best)
			moved[best] = true
			victims = append(victims, best)
		}
	}
	return victims
}

// spiller moves predicates to registers.
type spiller struct {
	f     *ir.Func
	in    map[*ir.Value]*ir.Value // by predicate: the register that has its value
	gone  map[*ir.Value]bool      // predicates that are in a register, or are made of one for a use
	saves map[*ir.Inst]bool       // instructions that move one to a register
	where [][]*ir.Block           // by predicate that moves in this round: the blocks in which it is read, some twice
}

// save makes a register of a predicate.
func (s *spiller) save(v *ir.Value, r *ir.Value, line int32) *ir.Inst {
	in := &ir.Inst{Name: "SEL", Args: []ir.Arg{ir.D(r), ir.RZ(), ir.I(1), ir.Pr(v, true)}, Line: line}
	s.saves[in] = true
	return in
}

// again makes a predicate of a register.
func (s *spiller) again(r *ir.Value, line int32) (*ir.Inst, *ir.Value) {
	p := s.f.NewValue(ir.Pred)
	s.gone[p], s.in[p] = true, r
	return &ir.Inst{Name: "ISETP.NE.AND", Args: []ir.Arg{ir.DP(p), ir.DP(nil), ir.R(r), ir.RZ(), ir.Pr(nil, false)}, Line: line}, p
}

// spill moves a predicate to a register.
func (s *spiller) spill(v *ir.Value) {
	r := s.f.NewValue(ir.GPR)
	s.gone[v], s.in[v] = true, r
	blocks := s.where[v.ID]
	slices.SortFunc(blocks, func(x, y *ir.Block) int { return x.ID - y.ID })
	for _, b := range slices.Compact(blocks) {
		s.replace(b, v, r)
	}
	if v.Def == nil {
		s.phi(v, r)
		return
	}
	b := v.Def.Block
	b.Insert(slices.Index(b.Insts, v.Def)+1, s.save(v, r, v.Def.Line))
}

// replace makes what reads a predicate in a block read one that is made of the register.
func (s *spiller) replace(b *ir.Block, v, r *ir.Value) {
	list := b.Insts
	b.Insts = make([]*ir.Inst, 0, len(list)+8)
	for _, in := range list {
		if s.saves[in] && in.Args[3].Vals[0] == v { // it is in a register now
			in.Name, in.Args = "MOV", []ir.Arg{in.Args[0], ir.R(r)}
			delete(s.saves, in)
		}
		var from *ir.Inst
		var p *ir.Value
		in.Uses(func(u **ir.Value) {
			if *u == v {
				if from == nil {
					from, p = s.again(r, in.Line)
				}
				*u = p
			}
		})
		if from != nil {
			b.Append(from)
		}
		b.Insts = append(b.Insts, in)
	}
	for _, next := range b.Succs() {
		i := next.PredIndex(b)
		for _, x := range next.Phis {
			if x.Args[i] == v && x.Dst != v {
				from, p := s.again(r, b.Term.Line)
				b.Append(from)
				x.Args[i] = p
			}
		}
	}
	if b.Term.Cond == v {
		from, p := s.again(r, b.Term.Line)
		b.Append(from)
		b.Term.Cond = p
	}
}

// phi makes the choice among predicates one among registers.
func (s *spiller) phi(v, r *ir.Value) {
	b := v.Block
	i := slices.IndexFunc(b.Phis, func(x *ir.Phi) bool { return x.Dst == v })
	old := b.Phis[i]
	x := &ir.Phi{Dst: r, Args: make([]*ir.Value, len(old.Args))}
	r.Block = b
	b.Phis[i] = x
	for k, a := range old.Args {
		switch {
		case a == nil:
		case s.in[a] != nil:
			x.Args[k] = s.in[a]
		default:
			x.Args[k] = s.f.NewValue(ir.GPR)
			b.Preds[k].Append(s.save(a, x.Args[k], b.Preds[k].Term.Line))
			s.note(a, b.Preds[k])
		}
	}
}
