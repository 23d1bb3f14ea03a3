package flow

import (
	"slices"

	"github.com/heddle-sim/heddle/internal/isa"
)

// Exit is the virtual exit in place of a block or a pc. Functions also return it if there is
// no block.
const Exit = -1

// Block is a basic block: it is entered only at its first instruction and left only after
// its last.
type Block struct {
	First, Last int   // pcs of its first and last instruction
	Succs       []int // next blocks: the fall-through block, then its targets in order
	Preds       []int // previous blocks, ascending
	Leaves      bool  // the function may end after it: it has an edge to the virtual exit
	Endless     bool  // its edge to the virtual exit was added because execution never ends from here
}

// Graph is the control-flow graph of one function with its analyses. It is immutable.
type Graph struct {
	Blocks      []Block
	Loops       []Loop // natural loops; an outer loop comes before those inside it
	Irreducible bool   // some cycle can be entered at more than one block

	blockOf []int32 // by pc
	rpo     []int   // reachable blocks in reverse post-order
	order   []int32 // by block: position in rpo, -1 if unreachable
	idom    []int32 // by block: immediate dominator, Exit for none
	ipdom   []int32 // by block: immediate post-dominator, Exit for the virtual exit
	dom     interval
	pdom    interval
	loopOf  []int32 // by block: innermost loop, -1 if in none
}

// Analyze builds the graph of a function's code; targets are indices into code. It accepts
// any input: targets outside the code are ignored.
func Analyze(code []isa.Inst) *Graph {
	g := new(Graph)
	g.split(code)
	g.connect(code)
	g.end()
	n := len(g.Blocks)

	forward := newDigraph(n, func(b int) []int { return g.Blocks[b].Succs })
	idom := dominators(forward, 0)
	g.idom = idom
	g.number(forward)
	g.dom = numberTree(idom)

	// The virtual exit is node n of the reverse graph, and its root.
	backward := newDigraph(n+1, func(b int) []int {
		if b < n {
			return g.Blocks[b].Preds
		}
		var leaving []int
		for i := range g.Blocks {
			if g.Blocks[i].Leaves {
				leaving = append(leaving, i)
			}
		}
		return leaving
	})
	ipdom := dominators(backward, n)
	g.pdom = numberTree(ipdom)
	g.ipdom = ipdom[:n]
	for b, p := range g.ipdom {
		if int(p) == n {
			g.ipdom[b] = Exit
		}
	}
	g.findLoops()
	return g
}

// ends reports whether an instruction ends its block.
func ends(in *isa.Inst) bool {
	switch in.Flow {
	case isa.FlowBranch, isa.FlowIndirect, isa.FlowReturn, isa.FlowExit:
		return true
	}
	return false
}

// split finds the blocks' bounds.
func (g *Graph) split(code []isa.Inst) {
	if len(code) == 0 {
		return
	}
	leader := make([]bool, len(code)+1)
	leader[0] = true
	for pc := range code {
		in := &code[pc]
		if !ends(in) {
			continue
		}
		leader[pc+1] = true
		for _, t := range targets(in, len(code)) {
			leader[t] = true
		}
	}
	leader[len(code)] = true
	g.blockOf = make([]int32, len(code))
	first := 0
	for pc := range code {
		g.blockOf[pc] = int32(len(g.Blocks))
		if leader[pc+1] {
			g.Blocks = append(g.Blocks, Block{First: first, Last: pc})
			first = pc + 1
		}
	}
}

// targets returns the pcs to which the instruction jumps, without those outside the code.
func targets(in *isa.Inst, n int) []int32 {
	if in.Flow != isa.FlowBranch && in.Flow != isa.FlowIndirect {
		return nil
	}
	inside := func(t int32) bool { return t >= 0 && int(t) < n }
	for i, t := range in.Targets {
		if !inside(t) {
			kept := slices.Clone(in.Targets[:i])
			for _, t := range in.Targets[i:] {
				if inside(t) {
					kept = append(kept, t)
				}
			}
			return kept
		}
	}
	return in.Targets
}

// connect finds the edges.
func (g *Graph) connect(code []isa.Inst) {
	seen := make([]int32, len(g.Blocks)) // block+1 of the last source of an edge to it
	for b := range g.Blocks {
		blk := &g.Blocks[b]
		in := &code[blk.Last]
		add := func(s int) {
			if seen[s] != int32(b+1) {
				seen[s] = int32(b + 1)
				blk.Succs = append(blk.Succs, s)
			}
		}
		if !ends(in) || in.Guarded {
			if b+1 < len(g.Blocks) {
				add(b + 1)
			} else {
				blk.Leaves = true
			}
		}
		jumps := targets(in, len(code))
		for _, t := range jumps {
			add(int(g.blockOf[t]))
		}
		if ends(in) && len(jumps) == 0 {
			blk.Leaves = true
		}
	}
	for b := range g.Blocks {
		for _, s := range g.Blocks[b].Succs {
			g.Blocks[s].Preds = append(g.Blocks[s].Preds, b)
		}
	}
}

// end adds an edge to the exit from every set of blocks without a way out.
func (g *Graph) end() {
	n := len(g.Blocks)
	// Blocks that reach the exit.
	reaches := make([]bool, n)
	var work []int
	for b := range g.Blocks {
		if g.Blocks[b].Leaves {
			reaches[b] = true
			work = append(work, b)
		}
	}
	for len(work) > 0 {
		b := work[len(work)-1]
		work = work[:len(work)-1]
		for _, p := range g.Blocks[b].Preds {
			if !reaches[p] {
				reaches[p] = true
				work = append(work, p)
			}
		}
	}
	if !slices.Contains(reaches, false) {
		return
	}
	// Among the others, every strongly connected set that leads nowhere else gets one edge;
	// all others lead to such a set.
	comp, count := components(n, func(b int) []int { return g.Blocks[b].Succs })
	last := make([]int, count)
	terminal := make([]bool, count)
	for b := range g.Blocks {
		last[comp[b]] = b
		terminal[comp[b]] = !reaches[b]
	}
	for b := range g.Blocks {
		for _, s := range g.Blocks[b].Succs {
			if comp[s] != comp[b] {
				terminal[comp[b]] = false
			}
		}
	}
	for c, b := range last {
		if terminal[c] {
			g.Blocks[b].Leaves = true
			g.Blocks[b].Endless = true
		}
	}
}

// number puts the reachable blocks in reverse post-order. Successors are visited from last
// to first, so that a block's fall-through precedes its target if both orders are possible.
func (g *Graph) number(d digraph) {
	n := d.len()
	g.order = make([]int32, n)
	for b := range g.order {
		g.order[b] = -1
	}
	if n == 0 {
		return
	}
	type frame struct {
		b    int32
		left int32 // successors not yet visited
	}
	visited := make([]bool, n)
	visited[0] = true
	stack := []frame{{0, int32(len(d.succs(0)))}}
	for len(stack) > 0 {
		f := &stack[len(stack)-1]
		if f.left == 0 {
			g.rpo = append(g.rpo, int(f.b))
			stack = stack[:len(stack)-1]
			continue
		}
		f.left--
		if s := d.succs(int(f.b))[f.left]; !visited[s] {
			visited[s] = true
			stack = append(stack, frame{s, int32(len(d.succs(int(s))))})
		}
	}
	slices.Reverse(g.rpo)
	for i, b := range g.rpo {
		g.order[b] = int32(i)
	}
}

// BlockOf returns the block that contains the pc, Exit if the code does not.
func (g *Graph) BlockOf(pc int) int {
	if pc < 0 || pc >= len(g.blockOf) {
		return Exit
	}
	return int(g.blockOf[pc])
}

// Reachable reports whether control can get from the entry to the block.
func (g *Graph) Reachable(block int) bool { return g.order[block] >= 0 }

// ReversePostOrder returns the reachable blocks, each before its successors except across
// back edges. The slice must not be changed.
func (g *Graph) ReversePostOrder() []int { return g.rpo }

// IDom returns the immediate dominator of a block: the nearest other block on every path
// from the entry to it. It is Exit for the entry and for unreachable blocks.
func (g *Graph) IDom(block int) int { return int(g.idom[block]) }

// IPDom returns the immediate post-dominator of a block: the nearest other block on every
// path from it to the function's end, or Exit if there is none but the end itself.
func (g *Graph) IPDom(block int) int { return int(g.ipdom[block]) }

// Dominates reports whether every path from the entry to b leads through a. A block
// dominates itself. Unreachable blocks dominate, and are dominated by, themselves only.
func (g *Graph) Dominates(a, b int) bool { return g.dom.contains(a, b) }

// DominatorOrder is a block's place in a walk of the tree of dominators in which all blocks that a
// block dominates follow it without a gap.
func (g *Graph) DominatorOrder(block int) int { return int(g.dom.enter[block]) }

// PostDominates reports whether every path from b to the function's end leads through a. A
// block post-dominates itself.
func (g *Graph) PostDominates(a, b int) bool { return g.pdom.contains(a, b) }

// Reconverge returns the pc at which lanes that diverge at pc reconverge: the first pc of
// the immediate post-dominator if pc ends a block, and pc+1 if it does not. It is Exit if
// they do not reconverge before the function's end.
func (g *Graph) Reconverge(pc int) int {
	b := g.BlockOf(pc)
	if b == Exit {
		return Exit
	}
	if pc < g.Blocks[b].Last {
		return pc + 1
	}
	p := g.IPDom(b)
	if p == Exit {
		return Exit
	}
	return g.Blocks[p].First
}

// Diverges reports whether lanes can diverge at the block's end: it has more than one
// successor, counting the function's end.
func (g *Graph) Diverges(block int) bool {
	b := &g.Blocks[block]
	ways := len(b.Succs)
	if b.Leaves && !b.Endless {
		ways++
	}
	return ways > 1
}
