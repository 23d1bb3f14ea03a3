package compile

import (
	"cmp"
	"slices"
	"strings"

	"github.com/heddle-sim/heddle/internal/compile/ir"
)

// This file: registers that are too many move to the thread's local memory. A value is stored once, where
// it is made, and loaded before each use; what one instruction can make again is made again instead. The values
// that go are those with the least accesses, weighed by the depth of loops, for the length of code in
// which they are needed (Chaitin, "Register Allocation & Spilling via Graph Coloring", 1982).

// spilled is what went to local memory.
type spilled struct {
	bytes         int // of local memory
	stores, loads int // instructions
}

// evictor moves values of a function.
type evictor struct {
	f     *ir.Func
	limit int
	sp    *ir.Value // of the local memory, nil if there is none yet
	base  int       // where the bytes for moved values begin, relative to sp
	done  spilled

	gone   []bool // by value: it is needed only around one instruction, or was moved
	weight []int  // by block
	live   *liveness
	place  []*memorySlot // by value: where it is in this round, nil if it stays
	again  []*ir.Inst    // by value: the instruction that makes it again, nil if it is stored
	// remakes are, by value, instructions that make it again.
	remakes []*ir.Inst
}

// memorySlot is a place in local memory of values that are never needed at once.
type memorySlot struct {
	in   ranges
	at   int         // bytes from sp
	into *memorySlot // the place with which it was joined, nil if it stands for itself
}

// root is the place that stands for all with which one was joined.
func (s *memorySlot) root() *memorySlot {
	for s != nil && s.into != nil {
		s = s.into
	}
	return s
}

// evict leaves at most limit general registers needed at once, as far as that helps. The moved values
// lie from base on, in bytes relative to sp; with sp nil nothing is stored.
func evict(f *ir.Func, limit int, sp *ir.Value, base int) spilled {
	e := &evictor{f: f, limit: limit, sp: sp, base: base}
	hoist(f, sp)
	if sp != nil { // a round that stores nothing leaves it to later ones
		was := sp.Def.Effect
		sp.Def.Effect = true
		defer func() { sp.Def.Effect = was }()
	}
	e.weigh()
	for range 50 { // each round shortens what is needed long
		list := e.choose()
		if len(list) == 0 {
			break
		}
		e.round(list)
	}
	return e.done
}

// hoist puts what makes the stack pointer before all else; passes before may have moved or removed it.
func hoist(f *ir.Func, sp *ir.Value) {
	if sp == nil {
		return
	}
	var first []*ir.Inst
	var need func(v *ir.Value)
	need = func(v *ir.Value) {
		if !slices.Contains(first, v.Def) {
			v.Def.Uses(func(u **ir.Value) { need(*u) })
			first = append(first, v.Def)
		}
	}
	need(sp)
	b := f.Blocks[0]
	b.Insts = slices.DeleteFunc(b.Insts, func(in *ir.Inst) bool { return slices.Contains(first, in) })
	b.Insert(0, first...)
}

// weigh weighs the blocks: ten times for each loop around one.
func (e *evictor) weigh() {
	g := e.f.Graph()
	e.weight = make([]int, len(e.f.Blocks))
	for i := range e.f.Blocks {
		e.weight[i] = 1
		for range min(g.Depth(i), 6) {
			e.weight[i] *= 10
		}
	}
}

// remade is the instruction that makes a value again wherever it is needed, nil if none does: a move of a number or a
// constant, the number of the thread or block, or what computes it from other registers that are needed there anyway.
func (e *evictor) remade(v *ir.Value) *ir.Inst {
	in := v.Def
	if in == nil || in.Guard.Val != nil || in.Effect {
		return nil
	}
	switch in.Base() {
	case "MOV", "IADD3", "LOP3", "SHF", "LEA", "IMAD", "PRMT":
	case "S2R":
		if t := in.Args[1].Text; !strings.HasPrefix(t, "SR_TID") && !strings.HasPrefix(t, "SR_CTAID") {
			return nil
		}
	default:
		return nil
	}
	for i := range in.Args {
		if a := &in.Args[i]; a.Dst && (a.Kind != ir.Reg || len(a.Vals) != 1) && a.Vals[0] != nil {
			return nil
		}
	}
	ok := true
	in.Uses(func(x **ir.Value) {
		ok = ok && (*x).Class == ir.GPR && e.live.of[(*x).ID].cover(e.live.of[v.ID])
	})
	if !ok {
		return nil
	}
	return in
}

// costs are how much longer the code takes without each value, for each place in which it is needed.
func (e *evictor) costs() []float64 {
	cost := make([]float64, len(e.f.Values))
	for _, b := range e.f.Blocks {
		w := float64(e.weight[b.ID])
		for _, in := range b.Insts {
			in.Uses(func(v **ir.Value) { cost[(*v).ID] += w })
			in.EachDef(func(v *ir.Value) { cost[v.ID] += w })
		}
		for _, p := range b.Phis {
			cost[p.Dst.ID] += w
			for i, a := range p.Args {
				if a != nil {
					cost[a.ID] += float64(e.weight[b.Preds[i].ID])
				}
			}
		}
	}
	for _, v := range e.f.Values {
		n := 1
		for _, s := range e.live.of[v.ID] {
			n += s.to - s.from
		}
		if cost[v.ID] /= float64(n); e.remakes[v.ID] != nil {
			cost[v.ID] /= 10 // not a load
		}
	}
	return cost
}

// event is where a value begins to be needed, or ends.
type event struct {
	at, step int
	v        *ir.Value
}

// events are those of all general registers, in the order of the code.
func (e *evictor) events() (list []event) {
	for _, v := range e.f.Values {
		if v.Class == ir.GPR {
			for _, s := range e.live.of[v.ID] {
				list = append(list, event{s.from, 1, v}, event{s.to, -1, v})
			}
		}
	}
	slices.SortStableFunc(list, func(a, b event) int { return cmp.Or(a.at-b.at, a.step-b.step) })
	return list
}

// choose lists values to move: where more than the limit are needed, the cheapest of them.
func (e *evictor) choose() []*ir.Value {
	e.live = findLive(e.f)
	for len(e.gone) < len(e.f.Values) {
		e.gone = append(e.gone, false)
	}
	e.remakes = make([]*ir.Inst, len(e.f.Values))
	for _, v := range e.f.Values {
		e.remakes[v.ID] = e.remade(v)
	}
	cost, to := e.costs(), e.chosen()
	pinned, moved := make([]bool, len(e.f.Values)), make([]bool, len(e.f.Values)) // the former: others are made again of it
	may := func(v *ir.Value) bool {
		if e.gone[v.ID] || v == e.sp || pinned[v.ID] {
			return false
		}
		if in := e.remakes[v.ID]; in != nil {
			there := true
			in.Uses(func(x **ir.Value) { there = there && !moved[(*x).ID] })
			if there {
				return true
			}
			e.remakes[v.ID] = nil
			cost[v.ID] *= 10 // loads, in the end
		}
		return e.sp != nil
	}
	at := make([]int, len(e.f.Values)) // by value: its place in now
	var victims, now []*ir.Value
	drop := func(v *ir.Value) {
		last := now[len(now)-1]
		now[at[v.ID]], at[last.ID] = last, at[v.ID]
		now = now[:len(now)-1]
	}
	for _, x := range e.events() {
		switch {
		case moved[x.v.ID]:
			continue
		case x.step < 0:
			drop(x.v)
			continue
		}
		at[x.v.ID] = len(now)
		if now = append(now, x.v); len(now) <= e.limit {
			continue
		}
		var best *ir.Value
		for _, v := range now {
			if may(v) && (best == nil || cost[v.ID] < cost[best.ID] || cost[v.ID] == cost[best.ID] && v.ID < best.ID) {
				best = v
			}
		}
		if best != nil {
			drop(best)
			moved[best.ID] = true
			if in := e.remakes[best.ID]; in != nil {
				in.Uses(func(x **ir.Value) { pinned[(*x).ID] = true })
			}
			victims = append(victims, best)
			continue
		}
		for _, v := range now { // what was fetched for a phi: that moves instead
			if d := to[v.ID]; d != nil && (best == nil || cost[d.ID] < cost[to[best.ID].ID]) && (moved[d.ID] || !e.gone[d.ID] && !pinned[d.ID]) && e.sp != nil {
				best = v
			}
		}
		if best == nil {
			continue
		}
		drop(best)
		moved[best.ID] = true
		if d := to[best.ID]; !moved[d.ID] {
			if i := slices.Index(now, d); i >= 0 {
				drop(d)
			}
			moved[d.ID] = true
			victims = append(victims, d)
		}
	}
	return victims
}

// chosen are, by value, the last phi that chooses it, nil if none does.
func (e *evictor) chosen() []*ir.Value {
	to := make([]*ir.Value, len(e.f.Values))
	for _, b := range e.f.Blocks {
		for _, p := range b.Phis {
			for _, a := range p.Args {
				if a != nil {
					to[a.ID] = p.Dst
				}
			}
		}
	}
	return to
}

// round moves values.
func (e *evictor) round(list []*ir.Value) {
	n := len(e.f.Values)
	e.place, e.again = make([]*memorySlot, n), make([]*ir.Inst, n)
	phis := map[*ir.Value]*ir.Phi{}
	for _, b := range e.f.Blocks {
		for _, p := range b.Phis {
			phis[p.Dst] = p
		}
	}
	for _, v := range list {
		e.gone[v.ID] = true
		if e.again[v.ID] = e.remakes[v.ID]; e.again[v.ID] == nil {
			e.place[v.ID] = &memorySlot{in: slices.Clone(e.live.of[v.ID])}
		}
	}
	arrive := map[*ir.Phi]*memorySlot{}
	for _, v := range list {
		if p := phis[v]; p != nil {
			arrive[p] = e.arrival(p)
		}
	}
	e.layOut(list, arrive)
	for _, b := range e.f.Blocks {
		e.block(b)
	}
	for _, b := range e.f.Blocks {
		e.phis(b, arrive)
	}
	removeDead(e.f)
}

// arrival is the place in which the blocks before a phi that moves leave its value: the phi's own, if
// its old value is not needed there any more.
func (e *evictor) arrival(p *ir.Phi) *memorySlot {
	b := p.Dst.Block
	ends := make([]ranges, len(b.Preds))
	var all ranges
	for i, q := range b.Preds {
		ends[i] = ranges{{e.live.last[q.ID], e.live.last[q.ID] + 2}}
		if a := p.Args[i]; e.fetched(a, q) { // it is stored at once
			ends[i] = ends[i].join(e.live.of[a.ID])
		}
		all = all.join(ends[i])
	}
	own := e.placeOf(p.Dst)
	if own.in.overlaps(all) {
		begin := ranges{{e.live.first[b.ID], e.live.first[b.ID] + 1}}
		return &memorySlot{in: all.join(begin)}
	}
	together := own.in
next:
	for _, a := range p.Args { // sources that can be in the same place all the time need no store here
		s := e.placeOf(a)
		if s == nil || s == own {
			continue
		}
		for j := range ends {
			if p.Args[j] != a && s.in.overlaps(ends[j]) {
				continue next
			}
		}
		if !s.in.overlaps(together) {
			together = together.join(s.in)
			s.into = own
		}
	}
	own.in = together.join(all)
	return own
}

// placeOf is where a value is in this round, nil if it is in a register or made again.
func (e *evictor) placeOf(v *ir.Value) *memorySlot {
	if v == nil || v.ID >= len(e.place) {
		return nil
	}
	return e.place[v.ID].root()
}

// layOut gives the places of a round their bytes; those that are not needed at once share them.
func (e *evictor) layOut(list []*ir.Value, arrive map[*ir.Phi]*memorySlot) {
	var words []ranges
	seen := map[*memorySlot]bool{}
	put := func(s *memorySlot) {
		if s = s.root(); s == nil || seen[s] {
			return
		}
		seen[s] = true
		k := slices.IndexFunc(words, func(r ranges) bool { return !r.overlaps(s.in) })
		if k < 0 {
			k, words = len(words), append(words, nil)
		}
		words[k] = words[k].join(s.in)
		s.at = e.base + e.done.bytes + 4*k
	}
	for _, v := range list {
		put(e.placeOf(v))
	}
	for _, b := range e.f.Blocks {
		for _, p := range b.Phis {
			put(arrive[p])
		}
	}
	e.done.bytes += 4 * len(words)
}

// fetched reports whether a value that stays in a register is made in a block, in a round before, and
// needed only there.
func (e *evictor) fetched(a *ir.Value, b *ir.Block) bool {
	return a != nil && e.gone[a.ID] && !e.moves(a) && a.Def != nil && a.Def.Block == b
}

// moves reports whether a value moves in this round.
func (e *evictor) moves(v *ir.Value) bool {
	return v != nil && v.ID < len(e.place) && (e.place[v.ID] != nil || e.again[v.ID] != nil)
}

// fetch makes a new value of a moved one.
func (e *evictor) fetch(v *ir.Value, line int32) (*ir.Inst, *ir.Value) {
	t := e.f.NewValue(ir.GPR)
	e.gone = append(e.gone, true)
	if m := e.again[v.ID]; m != nil {
		in := &ir.Inst{Name: m.Name, Line: line}
		for i := range m.Args {
			in.Args = append(in.Args, m.Args[i].Clone())
			if a := &in.Args[i]; a.Dst && a.Kind == ir.Reg {
				a.Vals[0] = t
			}
		}
		return in, t
	}
	return e.load(t, e.placeOf(v), line), t
}

func (e *evictor) load(t *ir.Value, s *memorySlot, line int32) *ir.Inst {
	e.done.loads++
	return &ir.Inst{Name: "LDL", Args: []ir.Arg{ir.D(t), e.address(s)}, Line: line}
}

func (e *evictor) store(s *memorySlot, a ir.Arg, line int32) *ir.Inst {
	e.done.stores++
	return &ir.Inst{Name: "STL", Args: []ir.Arg{e.address(s), a}, Line: line, Effect: true}
}

func (e *evictor) address(s *memorySlot) ir.Arg {
	return ir.Arg{Kind: ir.Mem, Vals: []*ir.Value{e.sp}, Imm: int64(s.at)}
}

// block moves what a block's instructions define and use. A value that was fetched, or has just been
// made, serves the next few instructions, too.
func (e *evictor) block(b *ir.Block) {
	type recent struct {
		v  *ir.Value
		at int
	}
	have := map[*ir.Value]recent{}
	window := e.limit / 16 // more would fill the registers again
	list := b.Insts
	b.Insts = make([]*ir.Inst, 0, len(list))
	for n, in := range list {
		in.Uses(func(u **ir.Value) {
			v := *u
			if !e.moves(v) {
				return
			}
			r, ok := have[v]
			if !ok || n-r.at > window {
				from, t := e.fetch(v, in.Line)
				b.Append(from)
				r = recent{t, n}
				have[v] = r
			}
			*u = r.v
		})
		b.Insts = append(b.Insts, in)
		in.EachDef(func(v *ir.Value) {
			if e.moves(v) {
				have[v] = recent{v, n}
				if s := e.placeOf(v); s != nil {
					b.Append(e.store(s, ir.R(v), in.Line))
				}
			}
		})
	}
}

// phis moves what a block's phis choose, and choose among.
func (e *evictor) phis(b *ir.Block, arrive map[*ir.Phi]*memorySlot) {
	list := b.Phis[:0]
	var begin []*ir.Inst
	for _, p := range b.Phis {
		to := arrive[p].root()
		for i, a := range p.Args {
			q := b.Preds[i]
			switch {
			case to == nil && e.moves(a):
				from, t := e.fetch(a, q.Term.Line)
				q.Append(from)
				p.Args[i] = t
			case to == nil, e.placeOf(a) == to:
			case e.moves(a):
				from, t := e.fetch(a, q.Term.Line)
				q.Append(from)
				q.Append(e.store(to, ir.R(t), q.Term.Line))
			case a == nil: // nothing was assigned, but the bytes are read
				q.Append(e.store(to, ir.RZ(), q.Term.Line))
			case e.fetched(a, q):
				q.Insert(slices.Index(q.Insts, a.Def)+1, e.store(to, ir.R(a), q.Term.Line))
			default:
				q.Append(e.store(to, ir.R(a), q.Term.Line))
			}
		}
		if to == nil {
			list = append(list, p)
			continue
		}
		if s := e.placeOf(p.Dst); s != to {
			t := e.f.NewValue(ir.GPR)
			e.gone = append(e.gone, true)
			begin = append(begin, e.load(t, to, b.Term.Line), e.store(s, ir.R(t), b.Term.Line))
		}
	}
	b.Phis = list
	b.Insert(0, begin...)
}
