package flow

import "slices"

// Loop is a natural loop: the blocks from which control can return to the header without
// passing through it, all dominated by the header. Cycles with several entries are not loops
// in this sense.
type Loop struct {
	Header  int   // the block through which the loop is entered
	Latches []int // blocks with an edge back to the header, ascending
	Parent  int   // index of the loop around it, -1 if none
	Depth   int   // 1 for a loop in no other loop
	own     []int // its blocks that are in no loop inside it, ascending
	inner   []int // the loops directly inside it
}

// LoopOf returns the index of the innermost loop that contains the block, -1 if
// none does.
func (g *Graph) LoopOf(block int) int { return int(g.loopOf[block]) }

// Depth returns the number of loops that contain the block.
func (g *Graph) Depth(block int) int {
	if l := g.loopOf[block]; l >= 0 {
		return g.Loops[l].Depth
	}
	return 0
}

// LoopBlocks returns all blocks of a loop, including those of inner loops, by ascending pc.
func (g *Graph) LoopBlocks(loop int) []int {
	var blocks []int
	work := []int{loop}
	for len(work) > 0 {
		l := &g.Loops[work[len(work)-1]]
		work = append(work[:len(work)-1], l.inner...)
		blocks = append(blocks, l.own...)
	}
	slices.Sort(blocks)
	return blocks
}

// findLoops finds the natural loops, innermost first, and whether the graph is reducible. A
// loop that has been found is folded into its header, so that each edge is visited once per
// loop that it enters and not once per enclosing loop.
func (g *Graph) findLoops() {
	n := len(g.Blocks)
	g.loopOf = make([]int32, n)
	folded := make([]int32, n) // towards the header of the outermost loop found so far
	for b := range n {
		g.loopOf[b] = -1
		folded[b] = int32(b)
	}
	find := func(b int) int {
		for int(folded[b]) != b {
			folded[b] = folded[folded[b]]
			b = int(folded[b])
		}
		return b
	}
	var found []Loop // innermost first
	var work []int
	for i := len(g.rpo) - 1; i >= 0; i-- {
		h := g.rpo[i]
		var latches []int
		for _, p := range g.Blocks[h].Preds {
			switch {
			case !g.Reachable(p) || g.order[p] < g.order[h]:
			case g.Dominates(h, p):
				latches = append(latches, p)
			default:
				g.Irreducible = true
			}
		}
		if latches == nil {
			continue
		}
		id := int32(len(found))
		loop := Loop{Header: h, Latches: latches, Parent: -1}
		g.loopOf[h] = id
		work = append(work[:0], latches...)
		for len(work) > 0 {
			x := find(work[len(work)-1])
			work = work[:len(work)-1]
			if x == h {
				continue
			}
			folded[x] = int32(h)
			if l := g.loopOf[x]; l >= 0 {
				found[l].Parent = int(id)
			} else {
				g.loopOf[x] = id
			}
			for _, p := range g.Blocks[x].Preds {
				if g.Reachable(p) {
					work = append(work, p)
				}
			}
		}
		found = append(found, loop)
	}
	g.nestLoops(found)
}

// nestLoops stores the loops, which are given innermost first, outermost first: outer loops
// have headers earlier in reverse post-order.
func (g *Graph) nestLoops(found []Loop) {
	slices.Reverse(found)
	flip := func(l int) int {
		if l < 0 {
			return -1
		}
		return len(found) - 1 - l
	}
	for l := range found {
		found[l].Parent = flip(found[l].Parent)
		found[l].Depth = 1
		if p := found[l].Parent; p >= 0 {
			found[l].Depth = found[p].Depth + 1
			found[p].inner = append(found[p].inner, l)
		}
	}
	for b := range g.loopOf {
		l := flip(int(g.loopOf[b]))
		g.loopOf[b] = int32(l)
		if l >= 0 {
			found[l].own = append(found[l].own, b)
		}
	}
	g.Loops = found
}
