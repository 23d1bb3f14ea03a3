package compile

import (
	"cmp"
	"slices"

	"github.com/heddle-sim/heddle/internal/compile/ir"
	"github.com/heddle-sim/heddle/internal/compile/machine"
	"github.com/heddle-sim/heddle/internal/isa/flow"
)

// This file: what is the same in each round of a loop is computed before it, as far as there are registers. The
// compilers that make PTX do so with what they see; parts of a division, of which PTX has one instruction, they
// do not.

// invariants moves instructions before loops, the inner ones first.
func invariants(f *ir.Func, m *machine.Machine) {
	splitLoopEntries(f)
	g := f.Graph()
	if g.Irreducible || len(g.Loops) == 0 {
		return
	}
	h := &mover{f: f, g: g, peak: findNeeded(f).peaks(f), blocks: make([][]*ir.Block, len(g.Loops)), left: usesOf(f), can: make([]bool, len(f.Values))}
	h.most = [ir.Classes]int{ir.GPR: min(mostLive, m.Registers-fewest), ir.Pred: mostPredicates}
	for _, n := range g.ReversePostOrder() {
		for l := g.LoopOf(n); l >= 0; l = g.Loops[l].Parent {
			h.blocks[l] = append(h.blocks[l], f.Blocks[n])
		}
	}
	order := make([]int, len(g.Loops))
	for l := range order {
		order[l] = l
	}
	slices.SortStableFunc(order, func(x, y int) int { return cmp.Compare(g.Loops[y].Depth, g.Loops[x].Depth) })
	for _, l := range order {
		h.loop(l)
	}
}

// mover moves instructions of one function.
type mover struct {
	f      *ir.Func
	g      *flow.Graph
	blocks [][]*ir.Block     // by loop, in an order in which definitions come first
	peak   [][ir.Classes]int // by block: how many values are needed at once
	most   [ir.Classes]int   // how many of them may be
	left   []int             // by value: uses by what has not been moved before the loop at hand
	can    []bool            // by value: it is the same in each round of that loop, in which it is computed
	room   [ir.Classes]int   // how many values more may be needed in all of that loop
}

// same reports whether an instruction of a loop computes the same in each round, and whenever it is asked.
func (h *mover) same(l int, in *ir.Inst) bool {
	if !reusable(in) || machine.ClassOf(in.Name) == machine.Memory || machine.ClassOf(in.Name) == machine.Control {
		return false
	}
	ok := true
	in.Uses(func(v **ir.Value) { ok = ok && (h.can[(*v).ID] || !inLoop(h.g, (*v).Block.ID, h.g.Loops[l].Header)) })
	return ok
}

// slight reports whether an instruction is not worth a register for a whole loop.
func slight(in *ir.Inst) bool { return in.Name == "MOV" && in.Args[1].Kind != ir.Reg }

// loop moves instructions before a loop.
func (h *mover) loop(l int) {
	header := h.f.Blocks[h.g.Loops[l].Header]
	at := slices.IndexFunc(header.Preds, func(p *ir.Block) bool { return !inLoop(h.g, p.ID, header.ID) })
	if at < 0 {
		return // the function begins with the loop
	}
	before, list := header.Preds[at], h.blocks[l]
	for _, b := range list {
		for _, in := range b.Insts {
			if in.Name == callName || in.Name == indirectName { // what is needed after it would be kept in memory
				return
			}
		}
	}
	h.room = h.most
	var found []*ir.Inst
	for _, b := range list {
		for c := range h.room {
			h.room[c] = min(h.room[c], h.most[c]-h.peak[b.ID][c])
		}
		for _, in := range b.Insts {
			if h.same(l, in) {
				found = append(found, in)
				in.EachDef(func(v *ir.Value) { h.can[v.ID] = true })
			}
		}
	}
	room, uses := h.room, map[*ir.Value]int{}
	for _, in := range found {
		in.EachDef(func(v *ir.Value) { uses[v] = h.left[v.ID] })
	}
	for _, in := range found {
		if !slight(in) {
			h.take(in, before)
		}
	}
	for _, in := range found {
		in.EachDef(func(v *ir.Value) { h.can[v.ID], h.left[v.ID] = false, uses[v] })
	}
	for _, b := range list {
		b.Insts = slices.DeleteFunc(b.Insts, func(in *ir.Inst) bool { return in.Block == before })
		for c := range room {
			h.peak[b.ID][c] += room[c] - h.room[c]
		}
	}
}

// take moves an instruction before a loop, if there is room for its results; what of its sources is only a number
// comes with it.
func (h *mover) take(in *ir.Inst, before *ir.Block) {
	list, ok := []*ir.Inst{in}, true
	in.Uses(func(v **ir.Value) {
		switch d := (*v).Def; {
		case !h.can[(*v).ID] || d.Block == before || slices.Contains(list, d):
		case slight(d):
			list = append(list, d)
		default:
			ok = false // it has stayed
		}
	})
	if !ok {
		return
	}
	room := h.room
	for _, x := range slices.Backward(list) {
		x.EachDef(func(v *ir.Value) { room[v.Class]-- })
	}
	in.Uses(func(v **ir.Value) {
		if h.can[(*v).ID] {
			if h.left[(*v).ID]--; h.left[(*v).ID] == 0 {
				room[(*v).Class]++
			}
		}
	})
	if slices.ContainsFunc(room[:], func(n int) bool { return n < 0 }) {
		in.Uses(func(v **ir.Value) {
			if h.can[(*v).ID] {
				h.left[(*v).ID]++
			}
		})
		return
	}
	h.room = room
	for _, x := range slices.Backward(list) {
		before.Append(x)
	}
}
