package compile

import "github.com/heddle-sim/heddle/internal/compile/ir"

// This file: lanes that branch to where they end, end at once. A guarded EXIT needs no place where
// lanes meet again.

// exitEarly replaces branches to blocks that only end.
func exitEarly(f *ir.Func) {
	only := func(b *ir.Block) bool { return b != nil && b.Term.Flow == ir.Exit && len(b.Insts) == 0 }
	for again := true; again; {
		again = false
		for _, b := range f.Blocks {
			again = endEarly(b, only) || again
		}
	}
	f.Prune()
}

// endEarly does so in one block, and reports whether it did.
func endEarly(b *ir.Block, only func(*ir.Block) bool) bool {
	t := &b.Term
	switch {
	case t.Flow == ir.Jump && only(t.Then):
		unlink(b, t.Then)
		*t = ir.Term{Flow: ir.Exit, Line: t.Line}
	case t.Flow == ir.Branch && (only(t.Then) || only(t.Else)):
		gone, stay, not := t.Then, t.Else, t.Not
		if !only(gone) {
			gone, stay, not = t.Else, t.Then, !t.Not
		}
		unlink(b, gone)
		b.Append(&ir.Inst{Name: "EXIT", Guard: ir.Guard{Val: t.Cond, Not: not}, Effect: true, Line: t.Line})
		*t = ir.Term{Flow: ir.Jump, Then: stay, Line: t.Line}
		if only(stay) {
			unlink(b, stay)
			*t = ir.Term{Flow: ir.Exit, Line: t.Line}
		}
	default:
		return false
	}
	return true
}

// unlink takes b out of a block's predecessors.
func unlink(b, from *ir.Block) {
	i := from.PredIndex(b)
	if i < 0 {
		return
	}
	from.Preds = append(from.Preds[:i:i], from.Preds[i+1:]...)
	for _, p := range from.Phis {
		p.Args = append(p.Args[:i:i], p.Args[i+1:]...)
	}
}

// mergeBlocks joins blocks of which one is the only way to the other.
func mergeBlocks(f *ir.Func) {
	for _, b := range f.Blocks {
		for b.Term.Flow == ir.Jump {
			s := b.Term.Then
			if s == b || len(s.Preds) != 1 || len(s.Phis) > 0 || s == f.Blocks[0] {
				break
			}
			for _, in := range s.Insts {
				b.Append(in)
			}
			b.Term = s.Term
			for _, n := range b.Succs() {
				n.Preds[n.PredIndex(s)] = b
			}
			s.Insts, s.Preds, s.Term = nil, nil, ir.Term{Flow: ir.Exit}
		}
	}
	f.Prune()
}
