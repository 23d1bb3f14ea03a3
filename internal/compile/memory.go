package compile

import (
	"fmt"

	"github.com/heddle-sim/heddle/internal/compile/ir"
	"github.com/heddle-sim/heddle/internal/isa/ptx"
)

// This file: accesses to memory.

// farthest is the largest offset in an address (24 bits with a sign: the encoding).
const farthest = 1 << 23

// address is the operand of a memory instruction; wide says that it has 64 bits.
func (b *builder) address(o *ptx.Operand, wide bool) ir.Arg {
	base, off := &o.List[0], o.Offset
	m := ir.Arg{Kind: ir.Mem}
	if base.Kind != ptx.OpReg {
		lo := b.source(base, "u64", 0)
		if lo.Kind == ir.Imm && !wide {
			m.Imm = lo.Imm + off
			if m.Imm >= -farthest && m.Imm < farthest {
				return m
			}
		}
		m.Vals = []*ir.Value{b.value(lo)}
		if wide {
			m.Vals = append(m.Vals, b.value(b.source(base, "u64", 1)))
		}
	} else {
		m.Vals = []*ir.Value{b.value(b.source(base, "u64", 0))}
		if wide {
			m.Vals = append(m.Vals, b.value(b.source(base, "u64", 1)))
		}
	}
	if m.Imm = off; off < -farthest || off >= farthest {
		b.far(&m)
	}
	return m
}

// far adds an offset that the field for it cannot hold.
func (b *builder) far(m *ir.Arg) {
	lo, p := b.f.NewValue(ir.GPR), b.f.NewValue(ir.Pred)
	b.free("IADD3", ir.D(lo), ir.DP(p), ir.R(m.Vals[0]), ir.I(uint32(m.Imm)), ir.RZ())
	list := []*ir.Value{lo}
	if len(m.Vals) == 2 {
		hi := b.f.NewValue(ir.GPR)
		b.free("IADD3.X", ir.D(hi), ir.R(m.Vals[1]), ir.I(uint32(m.Imm>>32)), ir.RZ(), ir.Pr(p, false), ir.Pr(nil, true))
		list = append(list, hi)
	}
	m.Vals, m.Imm = list, 0
}

// global makes an address use the descriptor of global memory, where there is one.
func (b *builder) global(m ir.Arg) ir.Arg {
	if b.mod.turing() {
		m.Suffix = "E" // 64 bits by the mnemonic
		return m
	}
	m.Text = specialDesc
	if !b.lay.desc {
		b.lay.desc = true
		entry := b.f.Blocks[0]
		entry.Insert(0, &ir.Inst{Name: "ULDC.64", Args: []ir.Arg{ir.T("UR4"), ir.C(0, descriptor)}, Effect: true})
		if b.cur == entry {
			b.from++
		}
	}
	return m
}

// sizeOf has the modifiers for bytes in memory.
func sizeOf(bytes int, signed bool) string {
	switch bytes {
	case 1, 2:
		return fmt.Sprintf(".%s%d", map[bool]string{true: "S", false: "U"}[signed], 8*bytes)
	case 8:
		return ".64"
	case 16:
		return ".128"
	}
	return ""
}

// elements are the operands of a vector, or the operand itself.
func elements(o *ptx.Operand) []*ptx.Operand {
	if o.Kind == ptx.OpReg && o.Var.Vec > 0 && o.Elem == "" {
		var list []*ptx.Operand
		for _, name := range []string{"x", "y", "z", "w"}[:min(o.Var.Vec, 4)] {
			e := *o
			e.Elem = name
			list = append(list, &e)
		}
		return list
	}
	if o.Kind != ptx.OpVec {
		return []*ptx.Operand{o}
	}
	var list []*ptx.Operand
	for i := range o.List {
		list = append(list, &o.List[i])
	}
	return list
}

// spaceOf is the space of an access; an address that names a variable decides it for generic ones.
func (b *builder) spaceOf(o *ptx.Operand) ptx.StateSpace {
	s, sub := b.inst.Space()
	if sub == "cluster" {
		stop(b.inst.FullName(), notYet)
	}
	if base := &o.List[0]; s == ptx.SpaceNone && base.Kind == ptx.OpSym && base.Var != nil {
		if s = base.Var.Space; s == ptx.SpaceConst {
			s = ptx.SpaceNone
		}
	}
	return s
}

// load is ld in all spaces.
func (b *builder) load() {
	in := b.inst
	list := elements(&in.Args[0])
	t := b.typeOf()
	bytes := t.Bytes() * len(list)
	if t.Bits() == 128 {
		stop(in.FullName(), notYet)
	}
	if v, at, ok := b.passed(&in.Args[1]); ok {
		b.loadPassed(v, at, list, t)
		return
	}
	var words []*ir.Value
	for range max(1, bytes/4) {
		words = append(words, b.f.NewValue(ir.GPR))
	}
	signed := t.Signed() && len(list) == 1
	from := in.Args[1]
	for rest := words; len(rest) > 0; from.Offset += 16 { // a piece has 16 bytes at most
		n := min(4, len(rest))
		b.loadWords(&from, rest[:n:n], min(bytes, 4*n), signed)
		rest = rest[n:]
	}
	b.acquire(words)
	b.spread(list, words, t)
}

// loadWords loads bytes into registers.
func (b *builder) loadWords(o *ptx.Operand, words []*ir.Value, bytes int, signed bool) {
	size, d := sizeOf(bytes, signed), ir.D(words...)
	order := b.order()
	switch s := b.spaceOf(o); s {
	case ptx.SpaceParam, ptx.SpaceConst:
		b.loadConstant(o, words, bytes, signed, s)
	case ptx.SpaceShared:
		b.effectLoad("LDS"+size, d, b.address(o, false))
	case ptx.SpaceLocal:
		b.effectLoad("LDL"+size, d, b.address(o, false))
	case ptx.SpaceGlobal:
		if b.inst.Has("nc") || b.inst.Op == "ldu" {
			order = ".CONSTANT"
		}
		b.effectLoad("LDG.E"+size+order, d, b.global(b.address(o, true)))
	default:
		b.effectLoad("LD.E"+size+order, d, b.global(b.address(o, true)))
	}
}

// effectLoad emits a load. A strong one is kept even if nothing reads its result.
func (b *builder) effectLoad(name string, args ...ir.Arg) {
	in := b.emit(name, args...)
	in.Effect = b.strong()
}

// loadConstant is a load from a parameter or from constant memory.
func (b *builder) loadConstant(o *ptx.Operand, words []*ir.Value, bytes int, signed bool, s ptx.StateSpace) {
	bank, at := uint8(0), int64(b.mod.arch.ParamBase())
	if s == ptx.SpaceConst {
		bank, at = 3, 0
	}
	base := &o.List[0]
	switch {
	case base.Kind == ptx.OpSym && s == ptx.SpaceParam:
		p, ok := b.lay.param[base.Var]
		if !ok {
			stop("a parameter of a call", notYet)
		}
		at += p + int64(base.Imm.Bits) + o.Offset
	case base.Kind == ptx.OpSym:
		at += b.mod.constant(base.Var) + int64(base.Imm.Bits) + o.Offset
	default:
		c := ir.C(bank, at+o.Offset)
		lo := b.source(base, "u64", 0)
		if s == ptx.SpaceConst && b.mod.far {
			lo = ir.R(b.less(lo, b.mod.bankAddress(0)))
		}
		c.Vals = []*ir.Value{b.value(lo)}
		b.indexed(c, words, bytes, signed)
		return
	}
	if bytes >= 4 && at%4 == 0 {
		for i, v := range words {
			b.emit("MOV", ir.D(v), ir.C(bank, at+4*int64(i)))
		}
		return
	}
	c := ir.C(bank, at)
	c.Vals = []*ir.Value{nil}
	b.indexed(c, words, bytes, signed)
}

// indexed is LDC, which loads at most 64 bits.
func (b *builder) indexed(c ir.Arg, words []*ir.Value, bytes int, signed bool) {
	for ; bytes > 8; bytes -= 8 {
		b.emit("LDC.64", ir.D(words[:2]...), c.Clone())
		words, c.Imm = words[2:], c.Imm+8
	}
	b.emit("LDC"+sizeOf(bytes, signed), ir.D(words...), c)
}

// spread gives loaded words to registers.
func (b *builder) spread(list []*ptx.Operand, words []*ir.Value, t ptx.Type) {
	if t.Bits() < 32 && len(list) > 1 {
		n := 32 / t.Bits()
		for i, o := range list {
			v := b.f.NewValue(ir.GPR)
			sel := ir.I(selector(t.Bits(), i%n*t.Bytes(), t.Signed()))
			b.emit("PRMT", ir.D(v), ir.R(words[i/n]), sel, ir.RZ())
			b.assignWide(o, v, t.Signed())
		}
		return
	}
	n := width(t)
	for i, o := range list {
		if n == 1 {
			b.assignWide(o, words[i], t.Signed())
			continue
		}
		for j := range n {
			b.assign(o, j, words[i*n+j])
		}
	}
}

// assignWide gives a register a value of up to 32 bits, extended to its width.
func (b *builder) assignWide(o *ptx.Operand, v *ir.Value, signed bool) {
	b.assign(o, 0, v)
	if o.Kind == ptx.OpReg && width(o.Var.Type) == 2 {
		hi := b.f.NewValue(ir.GPR)
		if signed {
			b.emit("SHF.R.S32.HI", ir.D(hi), ir.RZ(), ir.I(31), ir.R(v))
		} else {
			b.emit("MOV", ir.D(hi), ir.RZ())
		}
		b.assign(o, 1, hi)
	}
}

// gather puts the elements of a vector into registers as they lie in memory.
func (b *builder) gather(list []*ptx.Operand, t ptx.Type) ir.Arg {
	if t.Bits() < 32 && len(list) > 1 {
		var words []*ir.Value
		part := func(i int) ir.Arg { return b.source(list[i], t, 0) }
		if t.Bits() == 16 {
			for i := 0; i+1 < len(list); i += 2 {
				words = append(words, b.pack16(part(i), part(i+1)))
			}
			return ir.R(words...)
		}
		var halves []ir.Arg
		for i := 0; i+1 < len(list); i += 2 {
			v := b.f.NewValue(ir.GPR)
			b.free("PRMT", ir.D(v), part(i), ir.I(0x40), part(i+1))
			halves = append(halves, ir.R(v))
		}
		if len(halves) == 1 {
			return halves[0]
		}
		for i := 0; i+1 < len(halves); i += 2 {
			words = append(words, b.pack16(halves[i], halves[i+1]))
		}
		return ir.R(words...)
	}
	n := width(t)
	if len(list) == 1 {
		return b.tuple(list[0], t, n)
	}
	var words []*ir.Value
	for _, o := range list {
		for j := range n {
			words = append(words, b.value(b.source(o, t, j)))
		}
	}
	return ir.R(words...)
}

// store is st in all spaces.
func (b *builder) store() {
	in := b.inst
	list := elements(&in.Args[1])
	t := b.typeOf()
	bytes := t.Bytes() * len(list)
	if t.Bits() == 128 {
		stop(in.FullName(), notYet)
	}
	if v, at, ok := b.passed(&in.Args[0]); ok {
		b.storePassed(v, at, list, t)
		return
	}
	b.release()
	o := in.Args[0]
	for ; bytes > 16; bytes -= 16 {
		n := 16 / t.Bytes()
		b.storeWords(&o, b.gather(list[:n], t), 16)
		list, o.Offset = list[n:], o.Offset+16
	}
	b.storeWords(&o, b.gather(list, t), bytes)
}

// storeWords stores at most 16 bytes.
func (b *builder) storeWords(o *ptx.Operand, v ir.Arg, bytes int) {
	size, order := sizeOf(bytes, false), b.order()
	switch b.spaceOf(o) {
	case ptx.SpaceShared:
		b.effect("STS"+size, b.address(o, false), v)
	case ptx.SpaceLocal:
		b.effect("STL"+size, b.address(o, false), v)
	case ptx.SpaceGlobal:
		b.effect("STG.E"+size+order, b.global(b.address(o, true)), v)
	case ptx.SpaceNone:
		b.effect("ST.E"+size+order, b.global(b.address(o, true)), v)
	default:
		stop(b.inst.FullName(), notYet)
	}
}
