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

// joins is the control flow of a function, with the places where lanes meet again. Sides of a branch that
// lead only to ends of their own have no part in that: nobody waits for lanes that have ended.
type joins struct {
	*flow.Graph
	f    *ir.Func
	lost map[*ir.Block]bool // from which no path leads to the last end
	rest *flow.Graph        // without edges from other blocks to them

	inside map[[2]int]bool                  // what enclosed has found
	before map[*ir.Block]map[*ir.Block]bool // what late has found, by the ends of scopes
}

func newJoins(f *ir.Func) *joins {
	j := &joins{Graph: f.Graph(), f: f, lost: map[*ir.Block]bool{}, inside: map[[2]int]bool{}, before: map[*ir.Block]map[*ir.Block]bool{}}
	j.rest = j.Graph
	led := lastEnd(f)
	if led == nil {
		return j
	}
	var meetings []*ir.Block
	for _, b := range f.Blocks {
		if !led[b] && synchronises(b) { // lanes there may wait for those that would wait for them
			meetings = append(meetings, b)
		}
	}
	kept := leading(meetings...)
	for _, b := range f.Blocks {
		if !led[b] && !kept[b] {
			j.lost[b] = true
		}
	}
	if len(j.lost) > 0 {
		j.rest = f.GraphWithout(j.lost)
	}
	return j
}

// synchronises reports whether lanes of a block meet others.
func synchronises(b *ir.Block) bool {
	return slices.ContainsFunc(b.Insts, func(in *ir.Inst) bool {
		switch in.Base() {
		case "BAR", "WARPSYNC", "CALL":
			return true
		}
		return false
	})
}

// lastEnd are the blocks from which paths lead to a return, or in a function that has none to one end: that
// to which most blocks with barriers lead, and of these most blocks. It is nil if there is nothing to choose.
func lastEnd(f *ir.Func) map[*ir.Block]bool {
	var ends, returns []*ir.Block
	for _, b := range f.Blocks {
		switch b.Term.Flow {
		case ir.Exit:
			ends = append(ends, b)
		case ir.Return:
			returns = append(returns, b)
		}
	}
	switch {
	case len(ends) == 0 || len(ends) == 1 && len(returns) == 0:
		return nil
	case len(returns) > 0:
		return leading(returns...)
	}
	all := 0
	worth := make([]int, len(f.Blocks))
	for i, b := range f.Blocks {
		if worth[i] = 1; synchronises(b) {
			worth[i] = len(f.Blocks)
		}
		all += worth[i]
	}
	var most map[*ir.Block]bool
	best := 0
	for _, e := range slices.Backward(ends) {
		if best > all-len(ends) {
			break // no other end can have more
		}
		led, sum := leading(e), 0
		for b := range led {
			sum += worth[b.ID]
		}
		if sum > best {
			most, best = led, sum
		}
	}
	return most
}

// leading are the blocks from which paths lead to some.
func leading(to ...*ir.Block) map[*ir.Block]bool {
	led := map[*ir.Block]bool{}
	for len(to) > 0 {
		b := to[len(to)-1]
		if to = to[:len(to)-1]; !led[b] {
			led[b] = true
			to = append(to, b.Preds...)
		}
	}
	return led
}

// after is the graph that says where lanes of a block meet again.
func (j *joins) after(b int) *flow.Graph {
	if j.lost[j.f.Blocks[b]] {
		return j.Graph
	}
	return j.rest
}

// IPDom is the next block to which all lanes of a block come that do not end before.
func (j *joins) IPDom(b int) int { return j.after(b).IPDom(b) }

// PostDominates reports whether all lanes of block b come to block a that do not end before.
func (j *joins) PostDominates(a, b int) bool { return j.after(b).PostDominates(a, b) }

// parts reports whether a branch has a side of which no lane comes back to the other.
func (j *joins) parts(b *ir.Block) bool {
	return !j.lost[b] && slices.ContainsFunc(b.Succs(), func(s *ir.Block) bool { return j.lost[s] })
}

// meet reports whether lanes that part at a branch may come to one block again.
func (j *joins) meet(b *ir.Block) bool {
	if j.Graph.IPDom(b.ID) != flow.Exit {
		return true
	}
	one := reached(b.Term.Then)
	for x := range reached(b.Term.Else) {
		if one[x] {
			return true
		}
	}
	return false
}

// converge puts a scope around every branch at which lanes may part.
func converge(f *ir.Func) {
	for splitNest(f) {
	}
	splitLoopEntries(f)
	apartCalls := isolateCalls(f)
	g := newJoins(f)
	if g.Irreducible {
		stop("a loop that is entered at several places", notYet)
	}
	blocks := slices.Clone(f.Blocks)
	var list []scope
	known := map[scope]bool{}
	waits := waiting(f, g.Graph)
	apart := false // some lanes meet late or never
	var branches []*ir.Block
	for _, n := range g.ReversePostOrder() {
		if b := blocks[n]; b.Term.Flow == ir.Branch {
			branches = append(branches, b)
		}
	}
	syncs := slices.ContainsFunc(f.Blocks, synchronises)
	around := map[*ir.Block]scope{}
	for _, b := range slices.Backward(branches) { // inner ones first, of which the outer ones consist
		if s, ok := scopeOf(g, b); ok {
			around[b] = s
		}
	}
	for _, b := range branches {
		s, ok := around[b]
		apart = apart || syncs && ok && !b.Term.Uniform && g.late(b, s)
		switch {
		case b.Term.Uniform || ok && known[s]:
		case ok && !keepsApart(waits, s.enter, s.meet):
			known[s] = true
			list = append(list, s)
		case ok || g.meet(b):
			apart = true
		}
	}
	for _, s := range apartCalls {
		if !keepsApart(waits, s.enter, s.meet) {
			list = append(list, s)
		}
	}
	yield(f, g.Graph, waits)
	list = instead(g, outermost(g, list), branches, around, waits)
	nested := depths(g, list)
	slices.SortStableFunc(list, func(x, y scope) int { return nested[x.enter.ID] - nested[y.enter.ID] })
	same := make([]int, len(blocks)) // by the block in which they begin: the first scope is around the others
	for _, s := range list {
		place(f, g.Graph, len(blocks), s, nested[s.enter.ID]+same[s.enter.ID])
		same[s.enter.ID]++
	}
	f.Renumber()
	if apart {
		meetAtBarriers(f)
	} else if f.Reserved == 0 { // lanes may call, and return, apart
		dropSyncs(f)
	}
}

// isolateCalls gives each call through a register a block of its own: lanes may call different functions, and
// meet again after it. It returns the scopes around these calls.
func isolateCalls(f *ir.Func) (list []scope) {
	for i := 0; i < len(f.Blocks); i++ { // what is cut off comes next
		b := f.Blocks[i]
		at := slices.IndexFunc(b.Insts, func(in *ir.Inst) bool { return in.Name == indirectName })
		if at < 0 {
			continue
		}
		meet := cut(f, cut(f, b, at), 1)
		list = append(list, scope{b, meet})
		i++
	}
	f.Renumber()
	return list
}

// cut moves the instructions of a block from place i on to a new one after it.
func cut(f *ir.Func, b *ir.Block, i int) *ir.Block {
	x := &ir.Block{Term: b.Term, Preds: []*ir.Block{b}}
	for _, s := range b.Succs() {
		s.Preds[s.PredIndex(b)] = x
	}
	for _, in := range b.Insts[i:] {
		x.Append(in)
	}
	b.Insts, b.Term = b.Insts[:i:i], ir.Term{Flow: ir.Jump, Then: x, Line: b.Term.Line}
	f.Blocks = slices.Insert(f.Blocks, slices.Index(f.Blocks, b)+1, x)
	return x
}

// meetAtBarriers makes lanes that may be apart meet before each barrier that all of them pass at the same place:
// programs rely on lanes that go on together after it.
func meetAtBarriers(f *ir.Func) {
	for _, b := range f.Blocks {
		for i := len(b.Insts) - 1; i >= 0; i-- {
			if in := b.Insts[i]; in.Base() == "BAR" && !in.Alone {
				b.Insert(i, &ir.Inst{Name: "WARPSYNC", Args: []ir.Arg{ir.I(^uint32(0))}, Effect: true, Line: in.Line})
			}
		}
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
func without(b, avoid *ir.Block) map[*ir.Block]bool { return spread(slices.Clone(b.Succs()), avoid) }

// reached are a block and those to which it leads.
func reached(b *ir.Block) map[*ir.Block]bool { return spread([]*ir.Block{b}, nil) }

// spread are blocks and those to which they lead on paths that avoid another one.
func spread(queue []*ir.Block, avoid *ir.Block) map[*ir.Block]bool {
	seen := map[*ir.Block]bool{}
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
	g := newJoins(f)
	for _, b := range f.Blocks {
		l, m := g.LoopOf(b.ID), g.IPDom(b.ID)
		if b.Term.Flow != ir.Branch || l < 0 || m == flow.Exit {
			continue
		}
		h := f.Blocks[g.Loops[l].Header]
		if !inLoop(g.Graph, m, h.ID) {
			continue
		}
		round := without(b, f.Blocks[m])
		if !round[b] || !round[h] && b != h {
			continue
		}
		var outer []*ir.Block
		latch, entry := false, false // of the outer loop
		for _, p := range h.Preds {
			if !round[p] {
				again := inLoop(g.Graph, p.ID, h.ID)
				outer, latch, entry = append(outer, p), latch || again, entry || !again
			}
		}
		if latch && entry { // else the new block would be no header, and the pair would be found again
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
func scopeOf(g *joins, b *ir.Block) (scope, bool) {
	blocks := g.f.Blocks
	enter, meet := b.ID, g.IPDom(b.ID)
	for meet != flow.Exit && g.lost[blocks[enter]] == g.lost[blocks[meet]] && !g.parts(b) {
		// A scope that leaves a loop begins before it, and contains all ways out of it.
		out := -1
		for l := g.LoopOf(enter); l >= 0 && !inLoop(g.Graph, meet, g.Loops[l].Header); l = g.Loops[l].Parent {
			out = l
		}
		if l := g.LoopOf(enter); out < 0 && l >= 0 && without(blocks[enter], blocks[meet])[blocks[enter]] {
			out = l // the branch may be reached again before the lanes meet
		}
		if l := g.LoopOf(meet); out < 0 && l >= 0 && !inLoop(g.Graph, enter, g.Loops[l].Header) {
			// Its end would be passed in every round of a loop that it begins before.
			for meet != flow.Exit && inLoop(g.Graph, meet, g.Loops[l].Header) {
				meet = g.IPDom(meet)
			}
			continue
		}
		if out < 0 && g.enclosed(enter, meet) {
			return scope{blocks[enter], blocks[meet]}, true
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
		for _, p := range blocks[header].Preds {
			if !inLoop(g.Graph, p.ID, header) {
				enter = p.ID
			}
		}
		for meet != flow.Exit && (!g.PostDominates(meet, header) || inLoop(g.Graph, meet, header)) {
			meet = g.IPDom(meet)
		}
		if enter < 0 {
			break
		}
	}
	return scope{}, false
}

// late reports whether lanes that part at a branch are to meet, as they synchronise, before its scope has them meet.
func (j *joins) late(b *ir.Block, s scope) bool {
	m := j.IPDom(b.ID)
	if m == flow.Exit || m == s.meet.ID {
		return false
	}
	if j.before[s.meet] == nil {
		j.before[s.meet] = j.synchronising(s.meet)
	}
	return j.before[s.meet][j.f.Blocks[m]]
}

// synchronising are the blocks from which paths that avoid another one lead to where lanes synchronise.
func (j *joins) synchronising(avoid *ir.Block) map[*ir.Block]bool {
	led, queue := map[*ir.Block]bool{}, []*ir.Block{}
	for _, b := range j.f.Blocks {
		if synchronises(b) {
			queue = append(queue, b)
		}
	}
	for len(queue) > 0 {
		b := queue[len(queue)-1]
		if queue = queue[:len(queue)-1]; b != avoid && !led[b] {
			led[b] = true
			queue = append(queue, b.Preds...)
		}
	}
	return led
}

// enclosed reports whether all code between two blocks is entered through the first, but for what only
// leads to another end. What it has found of blocks further in is not walked through again.
func (j *joins) enclosed(enter, meet int) bool {
	at := [2]int{enter, meet}
	if is, known := j.inside[at]; known {
		return is
	}
	first, is := j.f.Blocks[enter], true
	seen := map[*ir.Block]bool{j.f.Blocks[meet]: true}
	for queue := slices.Clone(first.Succs()); is && len(queue) > 0; {
		x := queue[len(queue)-1]
		queue = queue[:len(queue)-1]
		if seen[x] || j.lost[x] != j.lost[first] {
			continue
		}
		seen[x] = true
		is = j.Dominates(enter, x.ID)
		if !j.inside[[2]int{x.ID, meet}] {
			queue = append(queue, x.Succs()...)
		}
	}
	j.inside[at] = is
	return is
}

// outermost leaves out scopes that end where one around them does: the lanes meet there anyway.
func outermost(g *joins, list []scope) []scope {
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

// instead puts the scope of a branch at which no lanes part in place of several inside it that end where it does.
func instead(g *joins, list []scope, branches []*ir.Block, around map[*ir.Block]scope, waits map[*ir.Block]bool) []scope {
	ends := map[*ir.Block]int{}
	for _, s := range list {
		ends[s.meet]++
	}
	for _, b := range branches {
		s, ok := around[b]
		if !b.Term.Uniform || !ok || ends[s.meet] < 2 || keepsApart(waits, s.enter, s.meet) {
			continue
		}
		inner := func(x scope) bool { return x.meet == s.meet && g.Dominates(s.enter.ID, x.enter.ID) }
		n := 0
		for _, x := range list {
			if inner(x) {
				n++
			}
		}
		if n > 1 {
			list = append(slices.DeleteFunc(list, inner), s)
			ends[s.meet] -= n - 1
		}
	}
	return list
}

// depths are the numbers of scopes around the blocks that are reached, but for those that begin in
// them: those whose first block dominates the block, and whose last does not. Where lanes leave others for
// good, all scopes count that they may have been in, as the others still wait at their ends.
func depths(g *joins, list []scope) []int {
	blocks := len(g.f.Blocks)
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
		for _, p := range g.f.Blocks[b].Preds {
			if g.lost[g.f.Blocks[b]] && !g.lost[p] {
				n[b] = max(n[b], n[p.ID]+within[p.ID])
			}
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
