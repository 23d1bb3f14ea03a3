package compile

import (
	"fmt"

	"github.com/heddle-sim/heddle/internal/compile/ir"
	"github.com/heddle-sim/heddle/internal/isa/ptx"
)

// This file: barriers and what the lanes of a warp do together.

// barrier is bar.sync and bar.arrive.
func (b *builder) barrier() {
	in := b.inst
	if in.Has("warp") {
		b.effect("WARPSYNC", b.source(&in.Args[0], "b32", 0))
		return
	}
	name := "BAR.SYNC.DEFER_BLOCKING"
	switch {
	case in.Has("red"):
		b.reduce()
		return
	case in.Has("cluster"):
		stop(in.FullName(), notYet)
	case in.Has("arrive"):
		name = "BAR.ARV"
	}
	var args []ir.Arg
	b.lay.bars = max(b.lay.bars, 1)
	for i := range in.Args {
		o := &in.Args[i]
		if o.Kind != ptx.OpImm {
			args, b.lay.bars = append(args, ir.R(b.value(b.source(o, "u32", 0)))), 16
			continue
		}
		if i == 0 {
			b.lay.bars = max(b.lay.bars, int(o.Imm.Bits)+1)
		}
		args = append(args, ir.T(fmt.Sprintf("%#x", o.Imm.Bits)))
	}
	b.effect(name, args...).Alone = b.alone()
}

// alone reports whether lanes of a warp may pass a barrier at different places.
func (b *builder) alone() bool { return b.inst.Op == "barrier" && !b.inst.Has("aligned") }

// reduce is bar.red: the barrier, and then its result.
func (b *builder) reduce() {
	in := b.inst
	a := in.Args
	if len(a) != 3 || a[1].Kind != ptx.OpImm {
		stop(in.FullName(), "with these operands "+notYet)
	}
	b.lay.bars = max(b.lay.bars, int(a[1].Imm.Bits)+1)
	mode := "POPC"
	if in.Has("and") {
		mode = "AND"
	} else if in.Has("or") {
		mode = "OR"
	}
	b.effect("BAR.RED."+mode+".DEFER_BLOCKING", ir.T(fmt.Sprintf("%#x", a[1].Imm.Bits)), b.source(&a[2], "pred", 0)).Alone = b.alone()
	if mode == "POPC" {
		d := b.f.NewValue(ir.GPR)
		b.effect("B2R.RESULT", ir.D(d))
		b.assign(&a[0], 0, d)
		return
	}
	p := b.f.NewValue(ir.Pred)
	b.effect("B2R.RESULT", ir.D(nil), ir.DP(p))
	b.assign(&a[0], 0, p)
}

// redux is redux.sync: the result is in a uniform register, from which it is copied.
func (b *builder) redux() {
	in := b.inst
	t := b.typeOf()
	op, known := map[string]string{"add": "SUM", "min": "MIN", "max": "MAX", "and": "", "or": "OR", "xor": "XOR"}[in.Mods[1]]
	if !known || t.Float() || in.Has("abs") || in.Has("NaN") {
		stop(in.FullName(), notYet)
	}
	b.members(&in.Args[2])
	if b.mod.turing() {
		b.reduxRounds(in.Mods[1], t)
		return
	}
	name := "REDUX"
	if op != "" {
		name += "." + op
	}
	if t.Signed() {
		name += ".S32"
	}
	u, d := b.f.NewValue(ir.UGPR), b.f.NewValue(ir.GPR)
	b.effect(name, ir.D(u), ir.R(b.value(b.source(&in.Args[1], t, 0))))
	b.effect("MOV", ir.D(d), ir.R(u)) // it stays before calls, which may use the register
	b.assign(&in.Args[0], 0, d)
}

// members makes the lanes of a mask meet before they do something together; see dropSyncs.
func (b *builder) members(o *ptx.Operand) {
	b.effect("WARPSYNC", b.source(o, "b32", 0))
}

// shuffle is shfl.
func (b *builder) shuffle() {
	in := b.inst
	a := in.Args
	if in.Has("sync") {
		b.members(&a[4])
	}
	mode := ""
	for _, m := range in.Mods {
		if x := map[string]string{"up": "UP", "down": "DOWN", "bfly": "BFLY", "idx": "IDX"}[m]; x != "" {
			mode = x
		}
	}
	d, p := b.f.NewValue(ir.GPR), (*ir.Value)(nil)
	if a[0].Kind == ptx.OpPair {
		p = b.f.NewValue(ir.Pred)
	}
	field := func(o *ptx.Operand, limit uint64) ir.Arg {
		if o.Kind == ptx.OpImm && o.Imm.Bits < limit {
			return ir.T(fmt.Sprintf("%#x", o.Imm.Bits))
		}
		return ir.R(b.value(b.source(o, "u32", 0)))
	}
	v := b.value(b.source(&a[1], "b32", 0))
	b.effect("SHFL."+mode, ir.DP(p), ir.D(d), ir.R(v), field(&a[2], 32), field(&a[3], 1<<13)).Effect = false
	if a[0].Kind == ptx.OpPair {
		if a[0].List[0].Kind != ptx.OpSink {
			b.assign(&a[0].List[0], 0, d)
		}
		if a[0].List[1].Kind != ptx.OpSink {
			b.assign(&a[0].List[1], 0, p)
		}
		return
	}
	b.assign(&a[0], 0, d)
}

// vote is vote and activemask.
func (b *builder) vote() {
	in := b.inst
	if in.Op == "activemask" {
		d := b.f.NewValue(ir.GPR)
		b.effect("VOTE.ANY", ir.D(d), ir.DP(nil), ir.Pr(nil, false))
		b.assign(&in.Args[0], 0, d)
		return
	}
	if in.Has("sync") {
		b.members(&in.Args[2])
	}
	from := ir.Pr(nil, false)
	if o := &in.Args[1]; o.Kind == ptx.OpImm {
		from.Not = o.Imm.Bits == 0
	} else {
		from = b.source(o, "pred", 0)
	}
	if in.Has("ballot") {
		d := b.f.NewValue(ir.GPR)
		b.emit("VOTE.ANY", ir.D(d), ir.DP(nil), from)
		b.assign(&in.Args[0], 0, d)
		return
	}
	p := b.f.NewValue(ir.Pred)
	name := "VOTE.EQ"
	switch {
	case in.Has("all"):
		name = "VOTE.ALL"
	case in.Has("any"):
		name = "VOTE.ANY"
	}
	b.emit(name, ir.DP(p), from)
	b.assign(&in.Args[0], 0, p)
}

// match is match.sync.
func (b *builder) match() {
	in := b.inst
	a := in.Args
	b.members(&a[2])
	t := b.typeOf()
	v := b.tuple(&a[1], t, width(t))
	kind := map[bool]string{true: ".U64", false: ""}[t.Bits() == 64]
	d := b.f.NewValue(ir.GPR)
	if in.Has("any") {
		b.emit("MATCH.ANY"+kind, ir.D(d), v)
		b.assign(&a[0], 0, d)
		return
	}
	p := b.f.NewValue(ir.Pred)
	b.emit("MATCH.ALL"+kind, ir.DP(p), ir.D(d), v)
	if a[0].Kind == ptx.OpPair {
		b.assign(&a[0].List[0], 0, d)
		b.assign(&a[0].List[1], 0, p)
		return
	}
	b.assign(&a[0], 0, d)
}
