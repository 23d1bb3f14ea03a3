package compile

import (
	"slices"

	"github.com/heddle-sim/heddle/internal/compile/ir"
	"github.com/heddle-sim/heddle/internal/compile/machine"
	"github.com/heddle-sim/heddle/internal/isa/flow"
)

// This file: which values are the same in all lanes of a warp, so that lanes do not part at branches on them.

// mostSteps bounds the time to find where lanes that part come together: blocks that are looked at, of all branches
// together (our choice: about 0.2 s).
const mostSteps = 1_000_000

// uniformBranches marks branches at which all lanes that come go the same way.
func uniformBranches(f *ir.Func) {
	u := findUniform(f)
	for _, b := range f.Blocks {
		if t := &b.Term; t.Flow == ir.Branch && u.same(t.Cond) {
			t.Uniform = true
		}
	}
}

// uniformity says which values are the same in all lanes that compute them together: those that come of
// constants, of the place of the block, and of what nobody writes, where lanes that took other ways, or went
// through a loop more or less often, have no say.
type uniformity struct {
	g       *joins
	differ  []bool        // by value: lanes may have different ones
	apart   []bool        // by block: lanes that parted may come to it by different ways
	escapes [][]*ir.Value // by loop: what is defined in it and used after it
	ways    [][]*ir.Block // by loop: the blocks to which it leads, one for each way
	left    []bool        // by loop: lanes may leave it in different rounds
	mixed   []bool        // by loop: lanes may be in different rounds of it where they meet
	order   []int         // blocks, definitions first
	at      []int         // by block: its place there
	steps   int           // that are left
	parted  []bool        // by block: part has looked at its end
	more    bool          // there was something new
	// from is in join, by block, 1 and more for the way by which lanes have come, or after all these that of the
	// last block to which they came by several; 0 for others.
	from []int
}

// same reports whether a value is the same in all lanes.
func (u *uniformity) same(v *ir.Value) bool { return v == nil || !u.differ[v.ID] }

// findUniform finds what is the same: all that no reason speaks against.
func findUniform(f *ir.Func) *uniformity {
	n := len(f.Blocks)
	u := &uniformity{g: newJoins(f), steps: mostSteps, differ: make([]bool, len(f.Values)), apart: make([]bool, n), at: make([]int, n), parted: make([]bool, n), from: make([]int, n)}
	u.findEscapes(f)
	u.order = u.g.ReversePostOrder()
	for i, n := range u.order {
		u.at[n] = i
	}
	if u.g.Irreducible {
		u.steps = -1
	}
	var some []*ir.Value
	for u.more = true; u.more && u.steps >= 0; u.steps -= len(u.order) {
		u.more = false
		for _, n := range u.order {
			b := f.Blocks[n]
			for _, p := range b.Phis {
				if u.apart[n] || slices.ContainsFunc(p.Args, func(v *ir.Value) bool { return !u.same(v) }) {
					u.mark(p.Dst)
				}
			}
			for _, in := range b.Insts {
				some = in.Reads(some[:0])
				if !pure(in) || slices.ContainsFunc(some, func(v *ir.Value) bool { return !u.same(v) }) {
					in.EachDef(u.mark)
				}
			}
			if b.Term.Flow == ir.Branch && !b.Term.Uniform && !u.parted[n] && !u.same(b.Term.Cond) {
				u.parted[n] = true
				u.part(b)
			}
		}
	}
	if u.more || u.steps < 0 { // too many, or a loop with several entries
		for i := range u.differ {
			u.differ[i] = true
		}
	}
	return u
}

// mark notes that lanes may have different values.
func (u *uniformity) mark(v *ir.Value) {
	u.more = u.more || !u.differ[v.ID]
	u.differ[v.ID] = true
}

// pure reports whether the results of an instruction depend on its sources alone, or are those of the block.
func pure(in *ir.Inst) bool {
	if in.Effect || in.Name == ir.Copy {
		return false
	}
	switch in.Base() {
	case "S2R":
		t := in.Args[1].Text
		return t == "SR_CTAID.X" || t == "SR_CTAID.Y" || t == "SR_CTAID.Z"
	case "FSWZADD":
		return false
	case routineName:
		return true
	case "LDG":
		return in.Has("CONSTANT") // nobody writes there
	}
	switch machine.ClassOf(in.Name) {
	case machine.ALU, machine.FMA, machine.Wide, machine.Half, machine.SFU, machine.Double, machine.Constant:
		return true
	}
	return false
}

// findEscapes lists what is used outside of the loops in which it is defined, and the ways out of them.
func (u *uniformity) findEscapes(f *ir.Func) {
	n := len(u.g.Loops)
	u.escapes, u.ways, u.left, u.mixed = make([][]*ir.Value, n), make([][]*ir.Block, n), make([]bool, n), make([]bool, n)
	home := make([]int, len(f.Values))
	for _, b := range f.Blocks {
		for _, p := range b.Phis {
			home[p.Dst.ID] = b.ID
		}
		for _, in := range b.Insts {
			in.EachDef(func(v *ir.Value) { home[v.ID] = b.ID })
		}
	}
	use := func(v *ir.Value, in *ir.Block) {
		if v == nil {
			return
		}
		for l := u.g.LoopOf(home[v.ID]); l >= 0 && !inLoop(u.g.Graph, in.ID, u.g.Loops[l].Header); l = u.g.Loops[l].Parent {
			u.escapes[l] = append(u.escapes[l], v)
		}
	}
	var some []*ir.Value
	for _, b := range f.Blocks {
		for _, p := range b.Phis {
			for _, v := range p.Args {
				use(v, b)
			}
		}
		for _, in := range b.Insts {
			some = in.Reads(some[:0])
			for _, v := range some {
				use(v, b)
			}
		}
		use(b.Term.Cond, b)
		for _, s := range b.Succs() {
			for l := u.g.LoopOf(b.ID); l >= 0 && !inLoop(u.g.Graph, s.ID, u.g.Loops[l].Header); l = u.g.Loops[l].Parent {
				u.ways[l] = append(u.ways[l], s)
			}
		}
	}
}

// part notes what follows where lanes part at a branch.
func (u *uniformity) part(b *ir.Block) {
	u.follow(b.Succs(), u.g.IPDom(b.ID), u.g.LoopOf(b.ID), func(x *ir.Block) bool { return x == b })
}

// follow notes what follows where lanes part in a loop, and go on by some ways to where they meet: where several
// of them lead to one block, what comes to it may differ. A loop that some of them may leave, or go through once more,
// while others are on their way is left in different rounds; if they meet in it, what they have of their rounds differs
// there. Where end holds, what follows is known.
func (u *uniformity) follow(ways []*ir.Block, meet, loop int, end func(x *ir.Block) bool) {
	var left []int
	seen := u.join(ways, meet, end)
	inside := func(b, l int) bool { return b != flow.Exit && inLoop(u.g.Graph, b, u.g.Loops[l].Header) }
	for l := loop; l >= 0; l = u.g.Loops[l].Parent {
		h, stay := u.g.Loops[l].Header, inside(meet, l)
		if stay && (h == meet || !slices.Contains(seen, h)) && !slices.ContainsFunc(ways, func(x *ir.Block) bool { return !inside(x.ID, l) }) {
			continue
		}
		if stay && !u.mixed[l] {
			u.mixed[l] = true
			u.markLoop(l)
		}
		if !u.left[l] {
			u.left[l] = true
			left = append(left, l)
		}
	}
	for _, l := range left {
		for _, v := range u.escapes[l] {
			u.mark(v)
		}
		to := u.g.Loops[l].Header
		for inside(to, l) {
			to = u.g.IPDom(to)
		}
		u.follow(u.ways[l], to, u.g.Loops[l].Parent, func(x *ir.Block) bool { return inside(x.ID, l) })
	}
}

// markLoop notes that lanes may have different values of all that is defined in a loop.
func (u *uniformity) markLoop(l int) {
	u.steps -= len(u.g.f.Blocks)
	for _, b := range u.g.f.Blocks {
		if !inLoop(u.g.Graph, b.ID, u.g.Loops[l].Header) {
			continue
		}
		for _, p := range b.Phis {
			u.mark(p.Dst)
		}
		for _, in := range b.Insts {
			in.EachDef(u.mark)
		}
	}
}

// join finds blocks to which several of some ways lead, up to where all meet. It returns the blocks on the ways.
func (u *uniformity) join(ways []*ir.Block, meet int, end func(x *ir.Block) bool) (seen []int) {
	var queue waitlist
	own := 1 + len(ways)
	come := func(x *ir.Block, by int) {
		switch old := u.from[x.ID]; {
		case old == by || old == own+x.ID:
			return
		case old == 0:
			seen = append(seen, x.ID)
		default:
			by = own + x.ID
			u.more = u.more || !u.apart[x.ID]
			u.apart[x.ID] = true
		}
		if u.from[x.ID] = by; x.ID != meet && !end(x) {
			queue.add(u.at[x.ID])
		}
	}
	for i, x := range ways {
		come(x, 1+i)
	}
	for ; len(queue) > 0 && u.steps >= 0; u.steps-- {
		x := u.g.f.Blocks[u.order[queue.first()]]
		for _, s := range x.Succs() {
			come(s, u.from[x.ID])
		}
	}
	for _, n := range seen {
		u.from[n] = 0
	}
	return seen
}

// waitlist are places in an order, of which the first is taken next.
type waitlist []int

func (p *waitlist) add(n int) {
	i, known := slices.BinarySearchFunc(*p, n, func(x, n int) int { return n - x })
	if !known {
		*p = slices.Insert(*p, i, n)
	}
}

func (p *waitlist) first() int {
	n := (*p)[len(*p)-1]
	*p = (*p)[:len(*p)-1]
	return n
}
