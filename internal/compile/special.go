package compile

import (
	"fmt"
	"strings"

	"github.com/heddle-sim/heddle/internal/compile/ir"
	"github.com/heddle-sim/heddle/internal/isa/ptx"
)

// This file: instructions whose operands decide what they become, so that no row of a table fits.

// special has a function for each such opcode.
var special map[string]func(*builder)

func init() {
	special = map[string]func(*builder){
		"mov": (*builder).move, "cvt": (*builder).convert, "cvta": (*builder).cvta, "isspacep": (*builder).isspacep,
		"ld": (*builder).load, "ldu": (*builder).load, "st": (*builder).store, "atom": (*builder).atomic, "red": (*builder).atomic,
		"bar": (*builder).barrier, "barrier": (*builder).barrier, "membar": (*builder).fence, "fence": (*builder).fence,
		"shfl": (*builder).shuffle, "vote": (*builder).vote, "activemask": (*builder).vote, "match": (*builder).match,
		"lop3": (*builder).lop3, "shf": (*builder).funnel, "bfe": (*builder).bfe, "bfi": (*builder).bfi,
		"div": (*builder).divide, "rcp": (*builder).divide, "sqrt": (*builder).root,
		"addc": (*builder).carries, "subc": (*builder).carries, "add": (*builder).carries, "sub": (*builder).carries, "mad": (*builder).carries, "madc": (*builder).carries,
		"mbarrier": (*builder).mbarrier, "redux": (*builder).redux, "ldmatrix": (*builder).loadMatrix, "movmatrix": (*builder).moveMatrix, "mma": (*builder).product, "wmma": (*builder).wmma, "tex": (*builder).texture, "tld4": (*builder).texture, "suld": (*builder).surface, "sust": (*builder).surface, "cp": (*builder).copyAsync, "createpolicy": (*builder).policy,
		"call": (*builder).call, "trap": func(b *builder) { b.effect("BPT.TRAP", ir.T("0x1")) }, "nanosleep": (*builder).nanosleep,
		"vadd": (*builder).scalarVideo, "vsub": (*builder).scalarVideo, "vabsdiff": (*builder).scalarVideo, "vmin": (*builder).scalarVideo, "vmax": (*builder).scalarVideo, "vset": (*builder).scalarVideo,
		"vshl": (*builder).scalarVideo, "vshr": (*builder).scalarVideo, "vmad": (*builder).productOfParts,
		"vadd2": (*builder).video, "vsub2": (*builder).video, "vavrg2": (*builder).video, "vabsdiff2": (*builder).video, "vmin2": (*builder).video, "vmax2": (*builder).video, "vset2": (*builder).video,
		"vadd4": (*builder).video, "vsub4": (*builder).video, "vavrg4": (*builder).video, "vabsdiff4": (*builder).video, "vmin4": (*builder).video, "vmax4": (*builder).video, "vset4": (*builder).video,
		"prefetch": func(*builder) {}, "prefetchu": func(*builder) {}, "pragma": func(*builder) {}, "discard": func(*builder) {},
	}
}

// Places in constant bank 0 before sm_90 (measured on cubins; exec/sass fills them).
const (
	blockDim    = 0x0
	gridDim     = 0xc
	sharedBase  = 0x18
	localBase   = 0x20
	stackTop    = 0x28
	descriptor  = 0x118
	specialDesc = "desc[UR4]" // the kernel's first instruction puts the descriptor there

	descriptorRegister = 4
)

// fixed are special registers of PTX that are constants of a launch.
var fixed = map[string]int64{
	"%ntid.x": blockDim, "%ntid.y": blockDim + 4, "%ntid.z": blockDim + 8,
	"%nctaid.x": gridDim, "%nctaid.y": gridDim + 4, "%nctaid.z": gridDim + 8,
}

// moving are special registers of PTX that the machine has, too.
var moving = map[string]string{
	"%tid.x": "SR_TID.X", "%tid.y": "SR_TID.Y", "%tid.z": "SR_TID.Z", "%ctaid.x": "SR_CTAID.X", "%ctaid.y": "SR_CTAID.Y", "%ctaid.z": "SR_CTAID.Z",
	"%laneid": "SR_LANEID", "%lanemask_eq": "SR_EQMASK", "%lanemask_lt": "SR_LTMASK", "%lanemask_le": "SR_LEMASK", "%lanemask_gt": "SR_GTMASK", "%lanemask_ge": "SR_GEMASK",
}

// special returns the value of a special register.
func (b *builder) special(o *ptx.Operand) *ir.Value {
	name := o.Name
	if o.Elem != "" && !strings.HasSuffix(name, "."+o.Elem) {
		name += "." + o.Elem
	}
	v := b.f.NewValue(ir.GPR)
	switch {
	case moving[name] != "":
		b.free("S2R", ir.D(v), ir.T(moving[name]))
	case name == "%clock":
		b.free("CS2R.32", ir.D(v), ir.T("SR_CLOCKLO")).Effect = true
	case strings.HasSuffix(name, ".w") && o.Elem == "w":
		b.free("MOV", ir.D(v), ir.RZ())
	default:
		at, ok := fixed[name]
		if !ok {
			stop("the register "+name, notYet)
		}
		b.free("MOV", ir.D(v), ir.C(0, at))
	}
	return v
}

// move is mov in all forms.
func (b *builder) move() {
	d, a := vectorOf(&b.inst.Args[0]), vectorOf(&b.inst.Args[1])
	t := b.typeOf()
	switch {
	case d.Kind == ptx.OpVec && a.Kind == ptx.OpVec:
		b.moveVector(d, a, t)
	case d.Kind == ptx.OpVec && a.Kind != ptx.OpVec:
		b.unpack(d, a, t)
	case a.Kind == ptx.OpVec:
		b.pack(d, a, t)
	case a.Kind == ptx.OpSpecial:
		if a.Name == "%clock64" {
			lo, hi := b.f.NewValue(ir.GPR), b.f.NewValue(ir.GPR)
			b.free("CS2R", ir.D(lo, hi), ir.T("SR_CLOCKLO")).Effect = true
			b.assign(d, 0, lo)
			b.assign(d, 1, hi)
			return
		}
		b.assign(d, 0, b.special(a))
		if width(d.Var.Type) == 2 {
			b.assign(d, 1, b.value(ir.RZ()))
		}
	case t.Predicate():
		b.movePredicate(d, a)
	default:
		var list []*ir.Value
		for i := range width(d.Var.Type) {
			list = append(list, b.value(b.source(a, t, i)))
		}
		for i, v := range list {
			b.assign(d, i, v)
		}
	}
}

// vectorOf is an operand, a register that is a vector as the list of its elements.
func vectorOf(o *ptx.Operand) *ptx.Operand {
	if o.Kind != ptx.OpReg || o.Var.Vec == 0 || o.Elem != "" {
		return o
	}
	v := &ptx.Operand{Kind: ptx.OpVec, Pos: o.Pos, Name: o.Name}
	for _, e := range elements(o) {
		v.List = append(v.List, *e)
	}
	return v
}

// moveVector is mov.v2 and its like: all elements at once.
func (b *builder) moveVector(d, a *ptx.Operand, t ptx.Type) {
	if len(d.List) != len(a.List) {
		stop(b.inst.FullName(), notYet)
	}
	var list [][]*ir.Value
	for i := range a.List {
		var parts []*ir.Value
		for n := range width(t) {
			parts = append(parts, b.value(b.source(&a.List[i], t, n)))
		}
		list = append(list, parts)
	}
	for i, parts := range list {
		for n, v := range parts {
			b.assign(&d.List[i], n, v)
		}
	}
}

func (b *builder) movePredicate(d, a *ptx.Operand) {
	var from ir.Arg
	if a.Kind == ptx.OpImm {
		from = ir.Pr(nil, a.Imm.Bits == 0)
	} else if from = b.source(a, "pred", 0); from.Vals[0] != nil && !from.Not {
		b.assign(d, 0, from.Vals[0])
		return
	}
	p := b.f.NewValue(ir.Pred)
	b.emit("PLOP3.LUT", ir.DP(p), ir.DP(nil), from, ir.Pr(nil, false), ir.Pr(nil, false), ir.T("0x80"), ir.T("0x0"))
	b.assign(d, 0, p)
}

// elements of a vector operand; elements without a register are sinks.
func elementBits(t ptx.Type, n int) int { return t.Bits() / n }

// unpack is mov.b64 {a, b}, c and its like.
func (b *builder) unpack(d, a *ptx.Operand, t ptx.Type) {
	n := len(d.List)
	size := elementBits(t, n)
	var list [][]*ir.Value
	for i := range n {
		var parts []*ir.Value
		switch {
		case size >= 32:
			for j := range size / 32 {
				parts = append(parts, b.value(b.source(a, t, i*size/32+j)))
			}
		default:
			word := b.source(a, t, i*size/32)
			v := b.f.NewValue(ir.GPR)
			sel := ir.I(selector(size, i*size%32/8, false))
			b.free("PRMT", ir.D(v), word, sel, ir.RZ())
			parts = append(parts, v)
		}
		list = append(list, parts)
	}
	for i := range d.List {
		for j, v := range list[i] {
			if o := &d.List[i]; o.Kind != ptx.OpSink {
				b.assign(o, j, v)
			}
		}
	}
}

// pack is mov.b64 a, {b, c} and its like.
func (b *builder) pack(d, a *ptx.Operand, t ptx.Type) {
	n := len(a.List)
	size := elementBits(t, n)
	et := ptx.Type(fmt.Sprintf("b%d", size))
	if d.Kind == ptx.OpVec || size < 8 {
		stop(b.inst.FullName(), notYet)
	}
	var words []*ir.Value
	switch {
	case size >= 32:
		for i := range n {
			for j := range size / 32 {
				words = append(words, b.value(b.source(&a.List[i], et, j)))
			}
		}
	case size == 16:
		for i := 0; i < n; i += 2 {
			words = append(words, b.pack16(b.source(&a.List[i], et, 0), b.source(&a.List[i+1], et, 0)))
		}
	default:
		for i := 0; i < n; i += 4 {
			var half [2]ir.Arg
			for j := range half {
				v := b.f.NewValue(ir.GPR)
				b.free("PRMT", ir.D(v), b.source(&a.List[i+2*j], et, 0), ir.I(0x40), b.source(&a.List[i+2*j+1], et, 0))
				half[j] = ir.R(v)
			}
			words = append(words, b.pack16(half[0], half[1]))
		}
	}
	for i, v := range words {
		b.assign(d, i, v)
	}
}

// pack16 puts two halves into a register.
func (b *builder) pack16(lo, hi ir.Arg) *ir.Value {
	v := b.f.NewValue(ir.GPR)
	b.free("PRMT", ir.D(v), lo, ir.I(0x5410), hi)
	return v
}

// window is the generic address at which a space begins, in constant bank 0.
func window(s ptx.StateSpace) int64 {
	switch s {
	case ptx.SpaceShared:
		return sharedBase
	case ptx.SpaceLocal:
		return localBase
	}
	return 0
}

// near is the place in a space of a generic address, of which the lower word is given.
func (b *builder) near(s ptx.StateSpace, lo ir.Arg) *ir.Value {
	return b.less(lo, ir.C(0, window(s)))
}

// less is the difference of a word and one of a constant bank.
func (b *builder) less(lo, base ir.Arg) *ir.Value {
	v := b.f.NewValue(ir.GPR)
	base.Neg = true
	b.emit("IADD3", ir.D(v), lo, base, ir.RZ())
	return v
}

// cvta turns generic addresses into those of a space, and back.
func (b *builder) cvta() {
	in := b.inst
	d, a := &in.Args[0], &in.Args[1]
	s, _ := in.Space()
	n := width(d.Var.Type)
	lo, hi := b.source(a, "u64", 0), ir.RZ()
	if n == 2 {
		hi = b.source(a, "u64", 1)
	}
	if s == ptx.SpaceGlobal || s == ptx.SpaceConst && b.mod.far {
		v, w := b.value(lo), b.value(hi)
		b.assign(d, 0, v)
		if n == 2 {
			b.assign(d, 1, w)
		}
		return
	}
	base := [2]ir.Arg{ir.C(0, window(s)), ir.C(0, window(s)+4)}
	switch s {
	case ptx.SpaceShared, ptx.SpaceLocal:
	case ptx.SpaceConst:
		base = [2]ir.Arg{b.mod.bankAddress(0), b.mod.bankAddress(1)}
	default:
		stop(in.FullName(), notYet)
	}
	v, w, p := b.f.NewValue(ir.GPR), b.f.NewValue(ir.GPR), b.f.NewValue(ir.Pred)
	if in.Has("to") {
		base[0].Neg, base[1].Not = true, true
	}
	b.emit("IADD3", ir.D(v), ir.DP(p), lo, base[0], ir.RZ())
	if n == 2 {
		b.emit("IADD3.X", ir.D(w), hi, base[1], ir.RZ(), ir.Pr(p, false), ir.Pr(nil, true))
		b.assign(d, 1, w)
	}
	b.assign(d, 0, v)
}

// isspacep tests in which space a generic address lies. Those of constants are addresses of global memory
// for the machine.
func (b *builder) isspacep() {
	in := b.inst
	s, sub := in.Space()
	kind := map[ptx.StateSpace]string{ptx.SpaceShared: "S", ptx.SpaceLocal: "L", ptx.SpaceGlobal: "G"}[s]
	if kind == "" || sub == "cluster" || s == ptx.SpaceGlobal && len(b.mod.consts) > 0 || in.Args[1].Kind != ptx.OpReg || width(in.Args[1].Var.Type) != 2 {
		stop(in.FullName(), notYet)
	}
	p := b.f.NewValue(ir.Pred)
	at := b.tuple(&in.Args[1], "b64", 2)
	b.emit("QSPC.E."+kind, ir.DP(p), ir.D(nil), ir.Arg{Kind: ir.Mem, Vals: at.Vals, Suffix: "E"})
	b.assign(&in.Args[0], 0, p)
}

// lop3 has its table in the last operand.
func (b *builder) lop3() {
	a := b.inst.Args
	if b.inst.BoolOp() != "" || len(a) != 5 || a[4].Kind != ptx.OpImm {
		stop(b.inst.FullName(), notYet)
	}
	v := b.f.NewValue(ir.GPR)
	b.emit("LOP3.LUT", ir.D(v), b.source(&a[1], "b32", 0), b.source(&a[2], "b32", 0), b.source(&a[3], "b32", 0), ir.T(fmt.Sprintf("%#x", a[4].Imm.Bits&0xff)), ir.Pr(nil, true))
	b.assign(&a[0], 0, v)
}

// funnel is shf: the machine's, with the operands in another order.
func (b *builder) funnel() {
	a := b.inst.Args
	name := "SHF.R"
	if b.inst.Has("l") {
		name = "SHF.L"
	}
	if b.inst.Has("wrap") {
		name += ".W"
	}
	name += ".U32"
	if b.inst.Has("l") {
		name += ".HI"
	}
	v := b.f.NewValue(ir.GPR)
	b.emit(name, ir.D(v), b.source(&a[1], "b32", 0), b.source(&a[3], "u32", 0), b.source(&a[2], "b32", 0))
	b.assign(&a[0], 0, v)
}

func (b *builder) nanosleep() {
	b.effect("NANOSLEEP", ir.R(b.value(b.source(&b.inst.Args[0], "u32", 0))))
}
