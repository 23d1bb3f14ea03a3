package compile

import (
	"slices"

	"github.com/heddle-sim/heddle/internal/compile/ir"
	"github.com/heddle-sim/heddle/internal/isa/flow"
)

// This file: where lanes wait for other threads. Threads of PTX go on independently, so that a lane may wait
// for another one of its warp. That one must not wait for it in turn, at a BSYNC after what it waits in.

// waiting finds what lanes wait in: loops whose end other threads may decide, by their headers, and barriers
// that lanes of a warp pass at different places, and calls in which they may wait, by their blocks.
func waiting(f *ir.Func, g *flow.Graph) map[*ir.Block]bool {
	phis := map[*ir.Value]*ir.Phi{}
	for _, b := range f.Blocks {
		for _, p := range b.Phis {
			phis[p.Dst] = p
		}
	}
	blocks, talks := make([][]*ir.Block, len(g.Loops)), make([]bool, len(g.Loops))
	for _, b := range f.Blocks {
		does := slices.ContainsFunc(b.Insts, func(in *ir.Inst) bool { return atomicOp(in) || waitsInside(f, in) })
		for l := g.LoopOf(b.ID); l >= 0; l = g.Loops[l].Parent {
			blocks[l], talks[l] = append(blocks[l], b), talks[l] || does
		}
	}
	list := map[*ir.Block]bool{}
	for l := range g.Loops {
		w := &wait{f: f, g: g, loop: l, blocks: blocks[l], phis: phis, seen: map[*ir.Value]bool{}, asked: map[*ir.Block]bool{}}
		if talks[l] && w.depends() {
			list[f.Blocks[g.Loops[l].Header]] = true
		}
	}
	for _, b := range f.Blocks {
		if slices.ContainsFunc(b.Insts, func(in *ir.Inst) bool { return in.Base() == "BAR" && in.Alone || waitsInside(f, in) }) {
			list[b] = true
		}
	}
	return list
}

// wait asks whether the end of a loop depends on other threads.
type wait struct {
	f    *ir.Func
	g    *flow.Graph
	loop int
	phis map[*ir.Value]*ir.Phi

	blocks []*ir.Block // of the loop
	queue  []*ir.Value // on which the end depends
	seen   map[*ir.Value]bool
	asked  map[*ir.Block]bool
}

func (w *wait) inside(b *ir.Block) bool { return inLoop(w.g, b.ID, w.g.Loops[w.loop].Header) }

// atomicOp reports whether an instruction reads what other threads may have written, in one step with its
// own change or with an order.
func atomicOp(in *ir.Inst) bool {
	switch in.Base() {
	case "ATOM", "ATOMG", "ATOMS":
		return true
	case "LD", "LDG", "LDS":
		return in.Effect
	}
	return false
}

// waitsInside reports whether a called function may wait for other threads, or return what they have written.
func waitsInside(f *ir.Func, in *ir.Inst) bool {
	return f.CalleesWait && in.Base() == "CALL" && in.Name != machineName
}

// ends are the branches of the loop that lead out of it.
func (w *wait) ends() []*ir.Block {
	var list []*ir.Block
	for _, b := range w.blocks {
		if b.Term.Flow == ir.Branch && slices.ContainsFunc(b.Succs(), func(s *ir.Block) bool { return !w.inside(s) }) {
			list = append(list, b)
		}
	}
	return list
}

// depends reports whether what decides on the loop's end has come from other threads.
func (w *wait) depends() bool {
	ends := w.ends()
	if len(ends) == 1 && ends[0].Term.Brief {
		return false
	}
	for _, b := range ends {
		w.ask(b)
		for _, latch := range w.f.Blocks[w.g.Loops[w.loop].Header].Preds {
			if w.inside(latch) && !w.g.Dominates(b.ID, latch.ID) { // a round may pass it by
				w.askAll(w.g.Loops[w.loop].Header)
			}
		}
	}
	for len(w.queue) > 0 {
		v := w.queue[len(w.queue)-1]
		w.queue = w.queue[:len(w.queue)-1]
		if v == nil || w.seen[v] || v.Block == nil || !w.inside(v.Block) {
			continue
		}
		if w.seen[v] = true; v.Def == nil {
			w.choice(w.phis[v])
			continue
		}
		switch base := v.Def.Base(); base {
		case "LD", "LDG", "LDS", "LDL": // a plain one has what the thread has noted
			return true
		default:
			if atomicOp(v.Def) || waitsInside(w.f, v.Def) {
				return true
			}
		}
		w.queue = v.Def.Reads(w.queue)
	}
	return false
}

// ask asks for the condition of a branch.
func (w *wait) ask(b *ir.Block) {
	if !w.asked[b] {
		w.asked[b] = true
		w.queue = append(w.queue, b.Term.Cond)
	}
}

// askAll asks for the conditions of all branches in the loop that a block dominates.
func (w *wait) askAll(from int) {
	for _, b := range w.blocks {
		if b.Term.Flow == ir.Branch && w.g.Dominates(from, b.ID) {
			w.ask(b)
		}
	}
}

// choice asks for what decides on the value of a phi: its sources, and from where control comes.
func (w *wait) choice(p *ir.Phi) {
	w.queue = append(w.queue, p.Args...)
	ways := 0
	for _, b := range p.Dst.Block.Preds {
		if w.inside(b) {
			ways++
		}
	}
	if ways < 2 {
		return
	}
	at := p.Dst.Block.ID
	if at != w.g.Loops[w.loop].Header {
		at = w.g.IDom(at)
	}
	w.askAll(at)
}

// keepsApart reports whether lanes wait for other threads between a branch and the place where its sides
// meet.
func keepsApart(waits map[*ir.Block]bool, enter, meet *ir.Block) bool {
	if len(waits) == 0 {
		return false
	}
	for b := range without(enter, meet) {
		if waits[b] {
			return true
		}
	}
	return false
}

// yield lets other lanes of a warp go on in each round of a loop that waits.
func yield(f *ir.Func, g *flow.Graph, waits map[*ir.Block]bool) {
	for l := range g.Loops {
		h := f.Blocks[g.Loops[l].Header]
		if !waits[h] {
			continue
		}
		for _, b := range h.Preds {
			if inLoop(g, b.ID, h.ID) && !slices.ContainsFunc(b.Insts, func(in *ir.Inst) bool { return in.Name == "YIELD" }) {
				b.Append(&ir.Inst{Name: "YIELD", Effect: true, Line: b.Term.Line})
			}
		}
	}
}
