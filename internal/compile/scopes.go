package compile

import (
	"fmt"
	"slices"

	"github.com/heddle-sim/heddle/internal/compile/ir"
	"github.com/heddle-sim/heddle/internal/compile/machine"
	"github.com/heddle-sim/heddle/internal/isa/flow"
)

// This file: where lanes that go different ways meet again. BSSY notes the lanes that are to meet,
// BSYNC makes them wait for each other. A pair of them forms a scope: from the end of one block, which
// dominates all of it, to the beginning of another, through which all paths lead that do not end.

// convergence registers of a warp (the encoding).
const convergence = 16

// scope is a pair of BSSY and BSYNC.
type scope struct {
	enter *ir.Block // BSSY is at its end
	meet  *ir.Block // BSYNC is at its beginning
}

// converge puts a scope around every branch at which lanes may part.
func converge(f *ir.Func) {
	for splitNest(f) {
	}
	splitLoopEntries(f)
	g := f.Graph()
	if g.Irreducible {
		stop("a loop that is entered at several places", notYet)
	}
	blocks := slices.Clone(f.Blocks)
	var list []scope
	known := map[scope]bool{}
	waits := waiting(f, g)
	apart := false // some lanes meet late or never
	for _, n := range g.ReversePostOrder() {
		b := blocks[n]
		if b.Term.Flow != ir.Branch || b.Term.Uniform {
			continue
		}
		s, ok := scopeOf(f, g, b)
		switch {
		case ok && known[s]:
		case ok && !keepsApart(waits, s.enter, s.meet):
			known[s] = true
			list = append(list, s)
		case ok || g.IPDom(n) != flow.Exit:
			apart = true
		}
	}
	yield(f, g, waits)
	list = outermost(g, list)
	around := depths(g, len(blocks), list)
	slices.SortStableFunc(list, func(x, y scope) int { return around[x.enter.ID] - around[y.enter.ID] })
	same := make([]int, len(blocks)) // by the block in which they begin: the first scope is around the others
	for _, s := range list {
		place(f, g, len(blocks), s, around[s.enter.ID]+same[s.enter.ID])
		same[s.enter.ID]++
	}
	f.Renumber()
	if !apart && f.Reserved == 0 { // lanes may call, and return, apart
		dropSyncs(f)
	}
}

// dropSyncs removes the meetings of all lanes of a warp where they are together anyway.
func dropSyncs(f *ir.Func) {
	for _, b := range f.Blocks {
		b.Insts = slices.DeleteFunc(b.Insts, meeting)
	}
}

// meeting reports whether an instruction makes all lanes of a warp meet.
func meeting(in *ir.Inst) bool {
	return in.Name == "WARPSYNC" && in.Args[0].Kind == ir.Imm && uint32(in.Args[0].Imm) == ^uint32(0)
}

// meetOnce removes meetings after another one of their block: lanes go apart at its end, and where some of
// them end. They would keep what is between them in its order.
func meetOnce(f *ir.Func) {
	for _, b := range f.Blocks {
		met := false
		b.Insts = slices.DeleteFunc(b.Insts, func(in *ir.Inst) bool {
			again := met && meeting(in)
			met = met && machine.ClassOf(in.Name) != machine.Control || meeting(in)
			return again
		})
	}
}

// without are the blocks to which a block leads on paths that avoid another one.
func without(b, avoid *ir.Block) map[*ir.Block]bool {
	seen := map[*ir.Block]bool{}
	queue := slices.Clone(b.Succs())
	for len(queue) > 0 {
		x := queue[len(queue)-1]
		queue = queue[:len(queue)-1]
		if x != avoid && !seen[x] {
			seen[x] = true
			queue = append(queue, x.Succs()...)
		}
	}
	return seen
}

// splitNest finds two loops with one header, of which the inner one has a branch whose sides meet in
// the outer one, and gives the inner one a header of its own. It reports whether there was such a pair.
func splitNest(f *ir.Func) bool {
	g := f.Graph()
	for _, b := range f.Blocks {
		l, m := g.LoopOf(b.ID), g.IPDom(b.ID)
		if b.Term.Flow != ir.Branch || l < 0 || m == flow.Exit {
			continue
		}
		h := f.Blocks[g.Loops[l].Header]
		round := without(b, f.Blocks[m])
		if !round[b] || !inLoop(g, m, h.ID) || !round[h] && b != h {
			continue
		}
		var outer []*ir.Block
		latch := false // of the outer loop
		for _, p := range h.Preds {
			if !round[p] {
				outer, latch = append(outer, p), latch || inLoop(g, p.ID, h.ID)
			}
		}
		if latch {
			land(f, h, outer)
			return true
		}
	}
	return false
}

// splitLoopEntries gives every loop a block of its own before its header.
func splitLoopEntries(f *ir.Func) {
	g := f.Graph()
	blocks := slices.Clone(f.Blocks) // with the numbers that the loops have
	for _, l := range g.Loops {
		h := blocks[l.Header]
		var outside []*ir.Block
		for _, p := range h.Preds {
			if !inLoop(g, p.ID, l.Header) {
				outside = append(outside, p)
			}
		}
		if len(outside) == 1 && len(outside[0].Succs()) == 1 {
			continue
		}
		land(f, h, outside)
	}
	f.Renumber()
}

// inLoop reports whether a block is in the loop with a header.
func inLoop(g *flow.Graph, block, header int) bool {
	for l := g.LoopOf(block); l >= 0; l = g.Loops[l].Parent {
		if g.Loops[l].Header == header {
			return true
		}
	}
	return false
}

// land makes a block through which all of some edges to a block lead, just before it in the code.
func land(f *ir.Func, to *ir.Block, from []*ir.Block) *ir.Block {
	x := &ir.Block{ID: len(f.Blocks), Term: ir.Term{Flow: ir.Jump, Then: to}} // until blocks get new numbers
	f.Blocks = slices.Insert(f.Blocks, slices.Index(f.Blocks, to), x)
	for _, p := range to.Phis {
		n := &ir.Phi{Dst: f.NewValue(p.Dst.Class)}
		n.Dst.Block = x
		x.Phis = append(x.Phis, n)
	}
	for _, b := range from {
		i := to.PredIndex(b)
		for k, p := range to.Phis {
			x.Phis[k].Args = append(x.Phis[k].Args, p.Args[i])
		}
		unlink(b, to)
		b.Replace(to, x)
		x.Preds = append(x.Preds, b)
	}
	to.Preds = append(to.Preds, x)
	for k, p := range to.Phis {
		p.Args = append(p.Args, x.Phis[k].Dst)
	}
	return x
}

// scopeOf is the scope that a branch needs, if the sides meet at all.
func scopeOf(f *ir.Func, g *flow.Graph, b *ir.Block) (scope, bool) {
	enter, meet := b.ID, g.IPDom(b.ID)
	for meet != flow.Exit {
		// A scope that leaves a loop begins before it, and contains all ways out of it.
		out := -1
		for l := g.LoopOf(enter); l >= 0 && !inLoop(g, meet, g.Loops[l].Header); l = g.Loops[l].Parent {
			out = l
		}
		if l := g.LoopOf(enter); out < 0 && l >= 0 && without(f.Blocks[enter], f.Blocks[meet])[f.Blocks[enter]] {
			out = l // the branch may be reached again before the lanes meet
		}
		if out < 0 && enclosed(f, g, enter, meet) {
			return scope{f.Blocks[enter], f.Blocks[meet]}, true
		}
		if out < 0 { // others come in from the side: it begins before both
			if enter = g.IDom(enter); enter < 0 {
				break
			}
			for meet != flow.Exit && !g.PostDominates(meet, enter) {
				meet = g.IPDom(meet)
			}
			continue
		}
		header := g.Loops[out].Header
		enter = -1
		for _, p := range f.Blocks[header].Preds {
			if !inLoop(g, p.ID, header) {
				enter = p.ID
			}
		}
		for meet != flow.Exit && (!g.PostDominates(meet, header) || inLoop(g, meet, header)) {
			meet = g.IPDom(meet)
		}
		if enter < 0 {
			break
		}
	}
	return scope{}, false
}

// enclosed reports whether all code between two blocks is entered through the first.
func enclosed(f *ir.Func, g *flow.Graph, enter, meet int) bool {
	for b := range without(f.Blocks[enter], f.Blocks[meet]) {
		if !g.Dominates(enter, b.ID) {
			return false
		}
	}
	return true
}

// outermost leaves out scopes that end where one around them does: the lanes meet there anyway.
func outermost(g *flow.Graph, list []scope) []scope {
	byEntry := slices.Clone(list) // what a block dominates follows it without a gap
	slices.SortFunc(byEntry, func(x, y scope) int { return g.DominatorOrder(x.enter.ID) - g.DominatorOrder(y.enter.ID) })
	around := map[*ir.Block]scope{} // by the end: the last that stays
	inner := map[scope]bool{}
	for _, s := range byEntry {
		if o, ok := around[s.meet]; ok && g.Dominates(o.enter.ID, s.enter.ID) {
			inner[s] = true
		} else {
			around[s.meet] = s
		}
	}
	return slices.DeleteFunc(list, func(s scope) bool { return inner[s] })
}

// depths are the numbers of scopes around the blocks that are reached, but for those that begin in
// them: those whose first block dominates the block, and whose last does not.
func depths(g *flow.Graph, blocks int, list []scope) []int {
	within, here := make([]int, blocks), make([]int, blocks) // how the number changes below a block, and at it
	for _, s := range list {
		enter, meet := s.enter.ID, s.meet.ID
		if g.Dominates(meet, enter) {
			continue // it dominates all that the first does
		}
		within[enter]++
		if g.Dominates(enter, meet) {
			here[meet]--
		}
	}
	n := make([]int, blocks)
	for _, b := range g.ReversePostOrder() {
		if n[b] = here[b]; b > 0 {
			n[b] += n[g.IDom(b)] + within[g.IDom(b)]
		}
	}
	return n
}

// place puts BSSY and BSYNC into the code.
func place(f *ir.Func, g *flow.Graph, known int, s scope, n int) {
	if n >= convergence {
		stop(fmt.Sprintf("a nest of more than %d branches", convergence), notYet)
	}
	var inside, outside []*ir.Block
	for _, p := range s.meet.Preds {
		q := p
		for q.ID >= known { // a block made for another scope
			q = q.Preds[0]
		}
		if g.Dominates(s.enter.ID, q.ID) {
			inside = append(inside, p)
		} else {
			outside = append(outside, p)
		}
	}
	meet := s.meet
	if len(outside) > 0 {
		meet = land(f, s.meet, inside)
	}
	name := fmt.Sprintf("B%d", n)
	s.enter.Append(&ir.Inst{Name: "BSSY", Args: []ir.Arg{ir.T(name)}, Target: meet, Effect: true, Line: s.enter.Term.Line})
	meet.Insert(0, &ir.Inst{Name: "BSYNC", Args: []ir.Arg{ir.T(name)}, Effect: true, Line: s.enter.Term.Line})
}
