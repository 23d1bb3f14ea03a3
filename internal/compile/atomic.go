package compile

import (
	"slices"
	"strings"

	"github.com/heddle-sim/heddle/internal/compile/ir"
	"github.com/heddle-sim/heddle/internal/isa/ptx"
)

// This file: atom and red. What the machine has no instruction for is a loop that computes the new value,
// and stores it if the old one is still there.

// atomicTypes are the modifiers of atomic operations by type.
var atomicTypes = map[ptx.Type]string{"u32": "", "b32": "", "s32": ".S32", "u64": ".64", "b64": ".64", "s64": ".S64", "f32": ".F32.FTZ.RN", "f64": ".F64.RN", "f16x2": ".F16x2.RN", "f16": "", "b16": ""}

// combine are the new values of 64 and of 32 bits in loops, by operation and type: of the old ones, w0 or
// o, and the operands w1 or m.
var combine = map[string]string{
	"add.u64": "IADD3 w2.lo, p0, w0.lo, w1.lo, RZ ; IADD3.X w2.hi, w0.hi, w1.hi, RZ, p0, !PT",
	"and.b64": "LOP3.LUT w2.lo, w0.lo, w1.lo, RZ, 0xc0, !PT ; LOP3.LUT w2.hi, w0.hi, w1.hi, RZ, 0xc0, !PT",
	"or.b64":  "LOP3.LUT w2.lo, w0.lo, w1.lo, RZ, 0xfc, !PT ; LOP3.LUT w2.hi, w0.hi, w1.hi, RZ, 0xfc, !PT",
	"xor.b64": "LOP3.LUT w2.lo, w0.lo, w1.lo, RZ, 0x3c, !PT ; LOP3.LUT w2.hi, w0.hi, w1.hi, RZ, 0x3c, !PT",
	"min.u64": "ISETP.LT.U32.AND p0, PT, w0.lo, w1.lo, PT ; ISETP.LT.U32.AND.EX p1, PT, w0.hi, w1.hi, PT, p0 ; SEL w2.lo, w0.lo, w1.lo, p1 ; SEL w2.hi, w0.hi, w1.hi, p1",
	"min.s64": "ISETP.LT.U32.AND p0, PT, w0.lo, w1.lo, PT ; ISETP.LT.AND.EX p1, PT, w0.hi, w1.hi, PT, p0 ; SEL w2.lo, w0.lo, w1.lo, p1 ; SEL w2.hi, w0.hi, w1.hi, p1",
	"max.u64": "ISETP.GT.U32.AND p0, PT, w0.lo, w1.lo, PT ; ISETP.GT.U32.AND.EX p1, PT, w0.hi, w1.hi, PT, p0 ; SEL w2.lo, w0.lo, w1.lo, p1 ; SEL w2.hi, w0.hi, w1.hi, p1",
	"max.s64": "ISETP.GT.U32.AND p0, PT, w0.lo, w1.lo, PT ; ISETP.GT.AND.EX p1, PT, w0.hi, w1.hi, PT, p0 ; SEL w2.lo, w0.lo, w1.lo, p1 ; SEL w2.hi, w0.hi, w1.hi, p1",
	"add.f64": "DADD w2, w0, w1",

	"add.f32": "FADD t0, o, m", "add.f16x2": "HADD2 t0, o, m",
	// In halves of a word: at t3, of what is at t1 in o.
	"add.f16": "PRMT t4, o, t1, RZ ; HADD2 t5, t4, m ; PRMT t0, o, t3, t5",
	"cas.b16": "LOP3.LUT t7, m, 0xffff, RZ, 0xc0, !PT ; PRMT t4, o, t1, RZ ; ISETP.EQ.AND p0, PT, t4, t7, PT ; PRMT t5, o, t3, t6 ; SEL t0, t5, o, p0",
}

// atomic is an atomic operation.
type atomic struct {
	op     string // of PTX: add
	t      ptx.Type
	space  ptx.StateSpace
	at     *ptx.Operand
	values []ir.Arg
	scope  string       // .STRONG.GPU
	d      *ptx.Operand // nil if nothing wants the result
}

// steps are the instructions of the operation in a loop, "" if there are none.
func (a *atomic) steps() string {
	t := a.t
	if a.op == "add" && t == "s64" {
		t = "u64"
	}
	return combine[a.op+"."+string(t)]
}

// loops reports whether the machine has no instruction for the operation: in shared memory none on floats,
// and few on 64 bits.
func (a *atomic) loops() bool {
	switch {
	case a.t.Bits() == 16:
		return true
	case a.space == ptx.SpaceShared:
		return a.t.Float() || a.t.Bits() == 64 && a.op != "cas" && a.op != "exch"
	}
	return false
}

// atomic is atom and red.
func (b *builder) atomic() {
	in := b.inst
	a := &atomic{scope: ".STRONG." + scopes[in.Scope()]}
	if a.scope == ".STRONG." {
		a.scope = ".STRONG.GPU"
	}
	for _, m := range in.Mods {
		switch m {
		case "add", "min", "max", "inc", "dec", "and", "or", "xor", "exch", "cas":
			a.op = m
		case "async", "v2", "v4", "v8", "b128":
			stop(in.FullName(), notYet)
		}
	}
	args := in.Args
	if in.Op == "atom" {
		if d := &in.Args[0]; d.Kind != ptx.OpSink {
			a.d = d
		}
		args = args[1:]
	}
	ts := in.Types()
	a.t = ts[0]
	a.at, a.space = &args[0], b.spaceOf(&args[0])
	_, known := atomicTypes[a.t]
	if a.op == "" || !known || len(ts) > 1 || a.t.Float() && a.op != "add" || a.t == "b16" && a.op != "cas" || a.d != nil && (a.d.Kind != ptx.OpReg || width(a.d.Var.Type) != width(a.t)) {
		stop(in.FullName(), notYet)
	}
	n := width(a.t)
	a.values = append(a.values, b.tuple(&args[1], a.t, n))
	if a.op == "cas" {
		a.values = append(a.values, b.tuple(&args[2], a.t, n))
	}
	b.release()
	switch {
	case a.loops():
		b.under(a.d, n, func() []*ir.Value { return b.exchange(a) })
	case a.t.Float() && a.space == ptx.SpaceNone:
		b.under(a.d, n, func() []*ir.Value { return b.either(a) })
	default:
		d := b.atom(a)
		b.acquire(d)
		for i, v := range d {
			if a.d != nil {
				b.assign(a.d, i, v)
			}
		}
		return
	}
	b.acquire(nil)
}

// atom emits the machine's instruction for an operation, and returns its result, nil if there is none.
func (b *builder) atom(a *atomic) []*ir.Value {
	kind := atomicTypes[a.t]
	switch {
	case a.op == "min" || a.op == "max" || a.t.Float():
	case a.t.Bits() == 32:
		kind = ""
	case a.t == "s64":
		kind = ".64"
	}
	op := strings.ToUpper(a.op) + kind
	if a.space == ptx.SpaceGlobal && a.d == nil && a.op != "cas" && a.op != "exch" {
		b.effect("RED.E."+op+a.scope, b.global(b.address(a.at, true)), a.values[0])
		return nil
	}
	var d []*ir.Value
	for range width(a.t) {
		d = append(d, b.f.NewValue(ir.GPR))
	}
	if a.space == ptx.SpaceShared {
		b.effect("ATOMS."+op, append([]ir.Arg{ir.D(d...), b.address(a.at, false)}, a.values...)...)
		return d
	}
	name := "ATOM.E."
	if a.space == ptx.SpaceGlobal {
		name = "ATOMG.E."
	}
	m := b.address(a.at, true)
	if a.op == "cas" {
		m.Suffix = "E" // 64 bits by the mnemonic
	} else {
		m = b.global(m)
	}
	b.effect(name+op+a.scope, append([]ir.Arg{ir.DP(nil), ir.D(d...), m}, a.values...)...)
	return d
}

// either is an operation on floats at a generic address: where that is in shared memory, a loop.
func (b *builder) either(a *atomic) []*ir.Value {
	m := b.address(a.at, true)
	shared := b.f.NewValue(ir.Pred)
	b.emit("QSPC.E.S", ir.DP(shared), ir.D(nil), m)
	b.guard = ir.Guard{Val: shared, Not: true}
	d := b.atom(a)
	b.guard = ir.Guard{}
	return b.aside(shared, d, func() []*ir.Value { return b.exchange(a) })
}

// exchange is an operation as a loop. It returns the old value.
func (b *builder) exchange(a *atomic) []*ir.Value {
	wide := a.space != ptx.SpaceShared
	m := b.address(a.at, wide)
	x := b.applying(nil)
	if a.t.Bits() == 16 {
		m = x.word(m)
		if a.op == "cas" {
			x.names["t6"] = b.value(a.values[1])
		}
	}
	n := width(a.t)
	old := [2][]string{{"o"}, {"w0.lo", "w0.hi"}}[n-1]
	for i, name := range [2][]string{{"m"}, {"w1.lo", "w1.hi"}}[n-1] {
		x.names[name] = b.value(ir.R(a.values[0].Vals[i]))
	}
	result := [2][]string{{"t0"}, {"w2.lo", "w2.hi"}}[n-1]
	load, store, size := "LDS", "ATOMS.CAS", sizeOf(4*n, false)
	switch a.space {
	case ptx.SpaceGlobal:
		load, store = "LDG.E", "ATOMG.E.CAS"
	case ptx.SpaceNone:
		load, store = "LD.E", "ATOM.E.CAS"
	}
	first, from := b.fresh(n), m.Clone()
	if wide {
		size += a.scope
		from = b.global(from)
	}
	b.emit(load+size, ir.D(first...), from)
	last := b.rounds(first, func(now []*ir.Value) ([]*ir.Value, *ir.Value) {
		for i, name := range old {
			x.names[name] = now[i]
		}
		x.text(a.steps())
		var want []*ir.Value
		for _, name := range result {
			want = append(want, x.names[name])
		}
		seen, at := b.fresh(n), m.Clone()
		list := []ir.Arg{ir.D(seen...), at, ir.R(slices.Clone(now)...), ir.R(want...)}
		if wide {
			list[1].Suffix = "E"
			list = append([]ir.Arg{ir.DP(nil)}, list...)
		}
		b.effect(store+size, list...)
		done := ir.Pr(nil, false)
		for i, v := range seen {
			p := b.f.NewValue(ir.Pred)
			b.emit("ISETP.EQ.AND", ir.DP(p), ir.DP(nil), ir.R(v), ir.R(now[i]), done)
			done = ir.Pr(p, false)
		}
		return seen, done.Vals[0]
	})
	if a.t.Bits() != 16 {
		return last
	}
	d := b.f.NewValue(ir.GPR)
	b.emit("PRMT", ir.D(d), ir.R(last[0]), ir.R(x.names["t1"]), ir.RZ())
	return []*ir.Value{d}
}

// fresh are n new values.
func (b *builder) fresh(n int) []*ir.Value {
	var list []*ir.Value
	for range n {
		list = append(list, b.f.NewValue(ir.GPR))
	}
	return list
}

// word turns the address of a half into that of its word: t1 takes the half out of it, t3 puts one in.
func (x *applying) word(m ir.Arg) ir.Arg {
	m.Vals, m.Imm = x.inRegisters(m), 0
	x.names["u0"] = m.Vals[0]
	x.text("LOP3.LUT t7, u0, 2, RZ, 0xc0, !PT ; ISETP.NE.AND p2, PT, t7, RZ, PT ; LOP3.LUT u1, u0, 0xfffffffc, RZ, 0xc0, !PT")
	x.text("MOV u2, 0x4410 ; MOV u3, 0x4432 ; MOV u4, 0x3254 ; MOV u5, 0x5410 ; SEL t1, u3, u2, p2 ; SEL t3, u5, u4, p2")
	m.Vals[0] = x.names["u1"]
	return m
}
