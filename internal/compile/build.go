package compile

import (
	"slices"
	"strings"

	"github.com/heddle-sim/heddle/internal/compile/ir"
	"github.com/heddle-sim/heddle/internal/isa/ptx"
)

// This file: from the list of PTX instructions to blocks of values. Values are found by Braun et al.,
// "Simple and Efficient Construction of Static Single Assignment Form", CC 2013.

// slot is a register of PTX, or the part of one that fits a machine's register.
type slot struct {
	v     *ptx.Var
	index int  // number within a parameterised declaration
	elem  int8 // of a vector register
	part  int8 // 32 bits each, the lowest first
}

// builder makes one kernel.
type builder struct {
	mod *module
	fn  *ptx.Func
	f   *ir.Func
	lay *layout

	blockAt []*ir.Block // by the instruction with which it begins; one more than there are instructions
	cur     *ir.Block
	inst    *ptx.Inst
	guard   ir.Guard // of the instruction

	state   map[*ir.Block]*building
	values  valueTable
	at      *building           // that of a block which was asked for last
	block   *ir.Block           // this one
	numbers map[*ptx.Var]uint64 // of variables, for keys of slots
	spare   []*applying         // rules that have been applied, to be used again
	carry   slot                // of add.cc
	returns *ptx.Var            // of a function: where it returns to, and the stack pointer
	top     *ir.Value
	from    int                // where the instructions of the PTX instruction begin in cur
	callers map[*ptx.Inst]bool // that call routines
}

// building is a block whose values are being found.
type building struct {
	number         uint32 // of the block, in the table of values
	sealed, filled bool
	waiting        []open // if the predecessors are not all known
}

// open is a phi without sources.
type open struct {
	slot slot
	phi  *ir.Phi
}

// of is the state of a block.
func (b *builder) of(x *ir.Block) *building {
	if x == b.block {
		return b.at
	}
	s := b.state[x]
	if s == nil {
		s = &building{number: uint32(len(b.state) + 1)}
		b.state[x] = s
	}
	b.block, b.at = x, s
	return s
}

// key is a slot as a number.
func (b *builder) key(s slot) uint64 {
	n := b.numbers[s.v]
	if n == 0 {
		n = uint64(len(b.numbers) + 1)
		b.numbers[s.v] = n
	}
	return n<<40 | uint64(uint32(s.index))<<8 | uint64(s.elem)<<4 | uint64(s.part)
}

// build makes the first form of a kernel, or of a function. Its frame is larger by two numbers of bytes, for
// registers. With routines it calls those for instructions that it has in several places.
func build(m *module, fn *ptx.Func, moved, kept int64, routines bool) (f *ir.Func, lay *layout) {
	b := &builder{
		mod: m, fn: fn, f: &ir.Func{Name: fn.Name}, lay: newLayout(fn), blockAt: make([]*ir.Block, len(fn.Code)+1),
		state: map[*ir.Block]*building{}, numbers: map[*ptx.Var]uint64{}, values: newValueTable(len(fn.Code)), carry: slot{v: &ptx.Var{Name: "the carry", Type: "pred"}},
	}
	if b.f.IsRoutine = m.routine; routines && !m.routine {
		b.callers = callers(fn)
	}
	m.at = func() *ptx.Inst { return b.inst }
	b.returns = &ptx.Var{Name: "the return address", Type: "b64"}
	if !fn.Entry {
		b.f.NewBlock()
	}
	b.blocks()
	b.lay.reserve(moved, kept)
	switch {
	case !fn.Entry:
		b.lay.hang()
		b.f.Blocks[0].Term = ir.Term{Flow: ir.Jump, Then: b.blockAt[0]}
	case moved > 0:
		b.stack()
	}
	b.edges()
	b.inst = &ptx.Inst{Pos: fn.Pos} // a function may have no other than ret
	if !fn.Entry {
		b.enter()
		b.cur = b.f.Blocks[0]
	}
	b.seal(b.f.Blocks)
	for pc := range fn.Code {
		b.step(pc)
	}
	b.finish()
	if !fn.Entry {
		b.leave(b.blockAt[len(fn.Code)])
	}
	b.f.Prune()
	return b.f, b.lay
}

// ends reports whether an instruction is the last of its block.
func ends(in *ptx.Inst) bool {
	switch in.Op {
	case "bra":
		return true
	case "ret", "exit":
		return in.Guard == nil
	}
	return false
}

// blocks finds where blocks begin.
func (b *builder) blocks() {
	first := make([]bool, len(b.blockAt))
	first[0] = true
	for pc, in := range b.fn.Code {
		if ends(in) {
			first[pc+1] = true
		}
		if in.Op == "bra" {
			for i := range in.Args {
				first[in.Args[i].Target] = true
			}
		}
	}
	first[len(b.fn.Code)] = true // where labels at the very end lead: the kernel returns
	for pc, is := range first {
		if is {
			b.blockAt[pc] = b.f.NewBlock()
		}
	}
}

// edges gives each block its end; conditions come later.
func (b *builder) edges() {
	var cur *ir.Block
	for pc, in := range b.fn.Code {
		if x := b.blockAt[pc]; x != nil {
			cur = x
			cur.Term = ir.Term{Flow: ir.Exit}
		}
		next := b.blockAt[pc+1]
		if next == nil {
			continue
		}
		t := ir.Term{Flow: ir.Jump, Then: next, Line: in.Pos.Line}
		switch {
		case in.Op == "bra":
			t.Then = b.blockAt[in.Args[0].Target]
			if in.Guard != nil {
				t.Flow, t.Else = ir.Branch, next
			}
		case ends(in):
			t = ir.Term{Flow: ir.Exit, Line: in.Pos.Line}
		}
		cur.Term = t
	}
	b.blockAt[len(b.fn.Code)].Term = ir.Term{Flow: ir.Exit}
	b.cutDead()
	b.f.Connect()
}

// cutDead ends blocks to which nothing leads, so that they are no predecessors of others: a loop of
// such blocks has no value for what it reads.
func (b *builder) cutDead() {
	live := map[*ir.Block]bool{}
	for list := []*ir.Block{b.f.Blocks[0]}; len(list) > 0; {
		x := list[len(list)-1]
		list = list[:len(list)-1]
		if x == nil || live[x] {
			continue
		}
		live[x] = true
		list = append(list, x.Term.Then, x.Term.Else)
	}
	for _, x := range b.f.Blocks {
		if !live[x] {
			x.Term = ir.Term{Flow: ir.Exit}
		}
	}
}

// step compiles an instruction.
func (b *builder) step(pc int) {
	if x := b.blockAt[pc]; x != nil {
		b.finish()
		b.cur = x
	}
	b.inst = b.fn.Code[pc]
	in := b.inst
	if len(b.cur.Preds) == 0 && b.cur != b.f.Blocks[0] {
		return // nothing leads here
	}
	b.guard = ir.Guard{}
	if in.Guard != nil {
		b.guard = ir.Guard{Val: b.read(b.slotOf(&in.Guard.Reg, 0)), Not: in.Guard.Neg}
		if b.guard.Val == nil { // never assigned: false
			b.guard.Val = b.never()
		}
	}
	if in.Bad != nil {
		why := strings.TrimPrefix(strings.TrimPrefix(in.Bad.Error(), in.FullName()+": "), in.Op+": ")
		stop(in.FullName()+" cannot be compiled:", why)
	}
	switch in.Op {
	case "bra":
		if in.Guard != nil {
			b.cur.Term.Cond, b.cur.Term.Not = b.guard.Val, b.guard.Not
			b.cur.Term.Uniform = in.Has("uni")
			if b.cur.Term.Then == b.cur.Term.Else {
				b.cur.Term = ir.Term{Flow: ir.Jump, Then: b.cur.Term.Then, Line: in.Pos.Line}
			}
		}
	case "ret", "exit":
		if in.Guard != nil {
			b.effect("EXIT")
		}
	default:
		b.from = len(b.cur.Insts)
		b.choose()
	}
}

// never is a predicate that holds in no lane.
func (b *builder) never() *ir.Value {
	p := b.f.NewValue(ir.Pred)
	g := b.guard
	b.guard = ir.Guard{}
	b.emit("ISETP.NE.AND", ir.DP(p), ir.DP(nil), ir.RZ(), ir.RZ(), ir.Pr(nil, false))
	b.guard = g
	return p
}

// finish ends the block that is being made.
func (b *builder) finish() {
	if b.cur == nil {
		return
	}
	b.of(b.cur).filled = true
	next := b.cur.Succs()
	slices.SortFunc(next, func(x, y *ir.Block) int { return x.ID - y.ID })
	b.seal(next)
}

// seal makes the sources of phis in those blocks of a list whose predecessors are complete.
func (b *builder) seal(list []*ir.Block) {
	for _, x := range list {
		to := b.of(x)
		if to.sealed {
			continue
		}
		ready := true
		for i := len(x.Preds) - 1; ready && i >= 0; i-- { // the last are filled last
			p := x.Preds[i]
			ready = b.of(p).filled || len(p.Preds) == 0 && p != b.f.Blocks[0]
		}
		if !ready {
			continue
		}
		to.sealed = true
		for _, w := range to.waiting {
			b.sources(x, w.slot, w.phi)
		}
		to.waiting = nil
	}
}

// sources fills in a phi.
func (b *builder) sources(x *ir.Block, s slot, p *ir.Phi) {
	key := b.key(s)
	for i, from := range x.Preds {
		p.Args[i] = b.find(from, s, key)
	}
}

// read is the value of a register, nil if nothing was assigned to it.
func (b *builder) read(s slot) *ir.Value { return b.readAt(b.cur, s) }

func (b *builder) readAt(x *ir.Block, s slot) *ir.Value { return b.find(x, s, b.key(s)) }

func (b *builder) find(x *ir.Block, s slot, key uint64) *ir.Value {
	at := b.of(x)
	if v, ok := b.values.get(at.number, key); ok {
		return v
	}
	var v *ir.Value
	switch {
	case !at.sealed:
		p := b.phi(x, s)
		at.waiting = append(at.waiting, open{s, p})
		v = p.Dst
	case len(x.Preds) == 0:
	case len(x.Preds) == 1:
		v = b.find(x.Preds[0], s, key)
	default:
		p := b.phi(x, s)
		b.values.set(at.number, key, p.Dst) // ends cycles
		b.sources(x, s, p)
		v = p.Dst
	}
	b.values.set(at.number, key, v)
	return v
}

func (b *builder) phi(x *ir.Block, s slot) *ir.Phi {
	c := ir.GPR
	if s.v.Type.Predicate() {
		c = ir.Pred
	}
	p := &ir.Phi{Dst: b.f.NewValue(c), Args: make([]*ir.Value, len(x.Preds))}
	p.Dst.Block = x
	x.Phis = append(x.Phis, p)
	return p
}

func (b *builder) writeAt(x *ir.Block, s slot, v *ir.Value) {
	b.values.set(b.of(x).number, b.key(s), v)
}

// emit appends an instruction, under the guard of the PTX instruction. What its results were before
// does not matter: guarded says where it does.
func (b *builder) emit(name string, args ...ir.Arg) *ir.Inst {
	if b.mod.turing() {
		name = b.onTuring(name)
	}
	in := &ir.Inst{Name: name, Args: args, Line: b.inst.Pos.Line}
	if b.guard.Val != nil {
		in.Guard, in.Else = b.guard, make([]*ir.Value, len(in.Defs()))
	}
	return b.cur.Append(in)
}

// effect is emit for an instruction that does more than to compute results.
func (b *builder) effect(name string, args ...ir.Arg) *ir.Inst {
	in := b.emit(name, args...)
	in.Effect = true
	return in
}

// slotOf is a part of a register operand.
func (b *builder) slotOf(o *ptx.Operand, part int) slot {
	s := slot{v: o.Var, index: o.Index, part: int8(part)}
	switch o.Elem {
	case "y":
		s.elem = 1
	case "z":
		s.elem = 2
	case "w":
		s.elem = 3
	}
	return s
}

// assign gives a part of a register a value. Under a guard the register keeps its value in the other
// lanes.
func (b *builder) assign(o *ptx.Operand, part int, v *ir.Value) {
	if o.Kind == ptx.OpSink || v == nil {
		return
	}
	if o.Kind != ptx.OpReg {
		stop(b.inst.FullName(), "has a result that is no register, which "+notYet)
	}
	b.set(b.slotOf(o, part), v)
}

// set is assign to a slot.
func (b *builder) set(s slot, v *ir.Value) {
	if b.guard.Val != nil {
		if old := b.read(s); old != nil {
			v = b.keep(v, old)
		}
	}
	b.writeAt(b.cur, s, v)
}

// keep makes a value defined under the guard be old in the other lanes.
func (b *builder) keep(v, old *ir.Value) *ir.Value {
	for _, in := range b.cur.Insts[b.from:] {
		if in != v.Def || in.Guard != b.guard {
			continue
		}
		for i, d := range in.Defs() {
			if d == v && in.Else[i] == nil {
				in.Else[i] = old
				return v
			}
		}
	}
	n := b.f.NewValue(v.Class)
	var in *ir.Inst
	if v.Class == ir.Pred {
		in = b.emit("PLOP3.LUT", ir.DP(n), ir.DP(nil), ir.Pr(v, false), ir.Pr(nil, false), ir.Pr(nil, false), ir.T("0x80"), ir.T("0x0"))
	} else {
		in = b.emit("MOV", ir.D(n), ir.R(v))
	}
	in.Else[0] = old
	return n
}
