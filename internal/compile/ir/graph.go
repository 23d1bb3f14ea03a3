package ir

import (
	"github.com/heddle-sim/heddle/internal/isa"
	"github.com/heddle-sim/heddle/internal/isa/flow"
)

// Graph analyses the control flow: dominators, post-dominators and loops, by the blocks' numbers.
func (f *Func) Graph() *flow.Graph { return f.GraphWithout(nil) }

// GraphWithout is the graph without edges from blocks outside a set to blocks in it.
func (f *Func) GraphWithout(set map[*Block]bool) *flow.Graph {
	f.Renumber()
	code := make([]isa.Inst, len(f.Blocks)) // one for each block: only where it leads counts
	for i, b := range f.Blocks {
		in := &code[i]
		in.PC = int32(i)
		switch in.Flow = isa.FlowIndirect; b.Term.Flow {
		case Exit, Return:
			in.Flow = isa.FlowExit
		default:
			for _, s := range b.Succs() {
				if !set[s] || set[b] {
					in.Targets = append(in.Targets, int32(s.ID))
				}
			}
		}
	}
	return flow.Analyze(code)
}

// Connect makes the lists of predecessors anew, for blocks without phis.
func (f *Func) Connect() {
	for _, b := range f.Blocks {
		b.Preds = nil
	}
	for _, b := range f.Blocks {
		for _, s := range b.Succs() {
			s.Preds = append(s.Preds, b)
		}
	}
}

// Prune removes blocks that are not reached, with their edges.
func (f *Func) Prune() {
	seen := make(map[*Block]bool, len(f.Blocks))
	for queue := []*Block{f.Blocks[0]}; len(queue) > 0; queue = queue[1:] {
		if b := queue[0]; !seen[b] {
			seen[b] = true
			queue = append(queue, b.Succs()...)
		}
	}
	list := f.Blocks[:0]
	for _, b := range f.Blocks {
		if !seen[b] {
			continue
		}
		list = append(list, b)
		n := 0
		for i, p := range b.Preds {
			if !seen[p] {
				continue
			}
			b.Preds[n] = p
			for _, x := range b.Phis {
				x.Args[n] = x.Args[i]
			}
			n++
		}
		b.Preds = b.Preds[:n]
		for _, x := range b.Phis {
			x.Args = x.Args[:n]
		}
	}
	f.Blocks = list
	f.Renumber()
}
