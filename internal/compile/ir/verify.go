package ir

import (
	"fmt"

	"github.com/heddle-sim/heddle/internal/isa/flow"
)

// Verify returns what is wrong with a function, nil if nothing is: each value has one definition,
// which comes before its uses on every path; classes fit operands, which are their own; edges agree in
// both directions.
func (f *Func) Verify() error {
	v := &verifier{f: f, defined: make([]place, len(f.Values))}
	if err := v.edges(); err != nil {
		return err
	}
	if err := v.owners(); err != nil {
		return err
	}
	v.graph = f.Graph()
	if err := v.definitions(); err != nil {
		return err
	}
	return v.uses()
}

// place is where a value is defined: in a block, before (0) or at (from 1 on) an instruction.
type place struct {
	block *Block
	at    int
}

type verifier struct {
	f       *Func
	graph   *flow.Graph
	defined []place
}

func (v *verifier) edges() error {
	if len(v.f.Blocks) == 0 {
		return fmt.Errorf("there are no blocks")
	}
	known := map[*Block]bool{}
	for _, b := range v.f.Blocks {
		known[b] = true
	}
	count := map[[2]*Block]int{}
	for _, b := range v.f.Blocks {
		if b.Term.Flow == Branch && b.Term.Cond == nil {
			return fmt.Errorf("b%d: a branch without a condition", b.ID)
		}
		for _, s := range b.Succs() {
			if !known[s] {
				return fmt.Errorf("b%d leads to a block outside of the function", b.ID)
			}
			count[[2]*Block{b, s}]++
		}
	}
	for _, b := range v.f.Blocks {
		for _, p := range b.Preds {
			if count[[2]*Block{p, b}]--; count[[2]*Block{p, b}] < 0 {
				return fmt.Errorf("b%d has b%d as a predecessor, which does not lead to it", b.ID, p.ID)
			}
		}
		for _, x := range b.Phis {
			if len(x.Args) != len(b.Preds) {
				return fmt.Errorf("b%d: %s has %d sources for %d predecessors", b.ID, x.Dst, len(x.Args), len(b.Preds))
			}
		}
	}
	for e, n := range count {
		if n != 0 {
			return fmt.Errorf("b%d lacks its predecessor b%d", e[1].ID, e[0].ID)
		}
	}
	return nil
}

// owners checks that no two operands have their values in one slice: to replace one of an operand would
// replace that of the other.
func (v *verifier) owners() error {
	owner := map[**Value]*Inst{}
	for _, b := range v.f.Blocks {
		for _, in := range b.Insts {
			for i := range in.Args {
				if len(in.Args[i].Vals) == 0 {
					continue
				}
				first := &in.Args[i].Vals[0]
				if old := owner[first]; old != nil {
					return fmt.Errorf("b%d: %v and %v share an operand", b.ID, old, in)
				}
				owner[first] = in
			}
		}
	}
	return nil
}

func (v *verifier) define(x *Value, b *Block, at int) error {
	switch {
	case x.ID >= len(v.f.Values) || v.f.Values[x.ID] != x:
		return fmt.Errorf("b%d: %s is no value of the function", b.ID, x)
	case v.defined[x.ID].block != nil:
		return fmt.Errorf("b%d: %s is defined twice", b.ID, x)
	}
	v.defined[x.ID] = place{b, at}
	return nil
}

func (v *verifier) definitions() error {
	for _, b := range v.f.Blocks {
		for _, x := range b.Phis {
			if err := v.define(x.Dst, b, 0); err != nil {
				return err
			}
		}
		for i, in := range b.Insts {
			if err := in.check(); err != nil {
				return fmt.Errorf("b%d: %s: %w", b.ID, in, err)
			}
			for _, x := range in.Defs() {
				if err := v.define(x, b, i+1); err != nil {
					return err
				}
				if x.Def != in {
					return fmt.Errorf("b%d: %s does not know that %s defines it", b.ID, x, in)
				}
			}
		}
	}
	return nil
}

// check looks at one instruction alone.
func (in *Inst) check() error {
	for i := range in.Args {
		a := &in.Args[i]
		if n := len(a.Vals); a.Kind == Reg && n != 1 && n != 2 && n != 4 {
			return fmt.Errorf("operand %d has %d registers; want 1, 2 or 4", i, n)
		}
		for _, x := range a.Vals {
			if x != nil && (x.Class == Pred) != (a.Kind == P) {
				return fmt.Errorf("operand %d is %s", i, x)
			}
		}
	}
	defs := in.Defs()
	switch {
	case in.Guard.Val == nil && len(in.Else) > 0:
		return fmt.Errorf("no guard, but values for lanes in which it does not hold")
	case in.Guard.Val != nil && in.Guard.Val.Class != Pred:
		return fmt.Errorf("its guard is no predicate")
	case in.Guard.Val != nil && len(in.Else) != len(defs):
		return fmt.Errorf("%d values for lanes in which its guard does not hold; want %d", len(in.Else), len(defs))
	}
	for i, e := range in.Else {
		if e != nil && e.Class != defs[i].Class {
			return fmt.Errorf("%s may become %s", e, defs[i])
		}
	}
	if in.Name == Copy {
		return in.checkCopy()
	}
	return nil
}

func (in *Inst) checkCopy() error {
	n := len(in.Args) / 2
	if len(in.Args)%2 != 0 || in.Guard.Val != nil {
		return fmt.Errorf("a copy needs as many results as sources, and no guard")
	}
	for i := range n {
		if !in.Args[i].Dst || in.Args[n+i].Dst || len(in.Args[i].Vals) != 1 {
			return fmt.Errorf("a copy has its results first, each a register")
		}
	}
	return nil
}

// reaches reports whether a definition comes before place at of a block on all paths.
func (v *verifier) reaches(x *Value, b *Block, at int) bool {
	d := v.defined[x.ID]
	if d.block == nil {
		return false
	}
	if d.block == b {
		return d.at < at
	}
	return v.graph.Dominates(d.block.ID, b.ID)
}

func (v *verifier) uses() error {
	for _, b := range v.f.Blocks {
		if !v.graph.Reachable(b.ID) {
			continue
		}
		for i, in := range b.Insts {
			var err error
			in.Uses(func(p **Value) {
				if err == nil && !v.reaches(*p, b, i+1) {
					err = fmt.Errorf("b%d: %s: %s is not defined before", b.ID, in, *p)
				}
			})
			if err != nil {
				return err
			}
		}
		if c := b.Term.Cond; b.Term.Flow == Branch && !v.reaches(c, b, len(b.Insts)+1) {
			return fmt.Errorf("b%d: its condition %s is not defined before", b.ID, c)
		}
		for _, x := range b.Phis {
			for i, a := range x.Args {
				switch p := b.Preds[i]; {
				case a == nil:
				case a.Class != x.Dst.Class:
					return fmt.Errorf("b%d: %s and its source %s are of different classes", b.ID, x.Dst, a)
				case v.graph.Reachable(p.ID) && !v.reaches(a, p, len(p.Insts)+1):
					return fmt.Errorf("b%d: %s, a source of %s, is not defined in b%d", b.ID, a, x.Dst, p.ID)
				}
			}
		}
	}
	return nil
}
