package compile

import "github.com/heddle-sim/heddle/internal/compile/ir"

// This file: ends of blocks become instructions.

// branchOut ends blocks with BRA and EXIT; to go to the next block of the code needs none.
func branchOut(f *ir.Func) {
	f.Renumber()
	for i, b := range f.Blocks {
		var next *ir.Block
		if i+1 < len(f.Blocks) {
			next = f.Blocks[i+1]
		}
		t := b.Term
		add := func(name string, g ir.Guard, to *ir.Block) {
			b.Insts = append(b.Insts, &ir.Inst{Name: name, Guard: g, Target: to, Block: b, Line: t.Line, Effect: true})
		}
		switch t.Flow {
		case ir.Exit:
			add("EXIT", ir.Guard{}, nil)
		case ir.Jump:
			if t.Then != next {
				add("BRA", ir.Guard{}, t.Then)
			}
		case ir.Branch:
			switch next {
			case t.Then:
				add("BRA", ir.Guard{Val: t.Cond, Not: !t.Not}, t.Else)
			case t.Else:
				add("BRA", ir.Guard{Val: t.Cond, Not: t.Not}, t.Then)
			default:
				add("BRA", ir.Guard{Val: t.Cond, Not: t.Not}, t.Then)
				add("BRA", ir.Guard{}, t.Else)
			}
		}
	}
}

// shorten removes empty blocks that only lead on, so that branches go where they end up.
func shorten(f *ir.Func) {
	for _, b := range f.Blocks {
		for _, s := range b.Succs() {
			for n := 0; len(s.Insts) == 0 && s.Term.Flow == ir.Jump && s.Term.Then != s && n < len(f.Blocks); n++ {
				to := s.Term.Then
				b.Replace(s, to)
				s = to
			}
		}
		if b.Term.Flow == ir.Branch && b.Term.Then == b.Term.Else {
			b.Term = ir.Term{Flow: ir.Jump, Then: b.Term.Then, Line: b.Term.Line}
		}
	}
	f.Connect()
	f.Prune()
}
