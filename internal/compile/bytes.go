package compile

import (
	"slices"

	"github.com/heddle-sim/heddle/internal/compile/ir"
)

// This file: bytes and halves of registers that are taken out, put together and taken out again. What
// needs them takes them from where they were first.

// octet is a byte of a value, or with sign eight copies of its sign; of no value: zero.
type octet struct {
	v    *ir.Value
	n    int
	sign bool
}

// octets are the bytes of a register.
type octets [4]octet

// bytesOf are the bytes of values that instructions have put together.
type bytesOf map[*ir.Value]octets

// of are the bytes of an operand; ok is false for what is no register as it is.
func (m bytesOf) of(a *ir.Arg) (o octets, ok bool) {
	if a.Kind != ir.Reg || len(a.Vals) != 1 || a.Neg || a.Abs || a.Not {
		return o, false
	}
	v := a.Vals[0]
	if v == nil {
		return o, true
	}
	if o, ok = m[v]; !ok {
		for n := range o {
			o[n] = octet{v: v, n: n}
		}
	}
	return o, true
}

// half is the half of a value that two bytes are: 0 or 1, -1 if they are none.
func half(lo, hi octet) int {
	if lo.v == nil || lo.v != hi.v || lo.sign || hi.sign || lo.n%2 != 0 || hi.n != lo.n+1 {
		return -1
	}
	return lo.n / 2
}

// fuseBytes makes instructions read bytes and halves from where they were first.
func fuseBytes(f *ir.Func) {
	known := bytesOf{}
	uses := usesOf(f)
	for _, b := range f.Blocks {
		for _, in := range b.Insts {
			switch in.Base() {
			case "HADD2", "HMUL2", "HFMA2", "HMNMX2", "HSETP2":
				for _, a := range sources(in) {
					known.swizzle(a, in.Has("F32"))
				}
			case "STG", "STS", "STL", "ST":
				known.stored(in)
			case "PRMT", "SHF", "LOP3":
				known.permute(in)
				pack(in, known, uses)
			}
		}
	}
}

// usesOf counts the uses of values by their numbers.
func usesOf(f *ir.Func) []int {
	uses := make([]int, len(f.Values))
	var list []*ir.Value
	for _, b := range f.Blocks {
		for _, in := range b.Insts {
			list = in.Reads(list[:0])
			for _, v := range list {
				uses[v.ID]++
			}
		}
		for _, p := range b.Phis {
			for _, v := range p.Args {
				if v != nil {
					uses[v.ID]++
				}
			}
		}
		if b.Term.Cond != nil {
			uses[b.Term.Cond.ID]++
		}
	}
	return uses
}

// swizzle makes an operand of packed halves name the half that was copied.
func (m bytesOf) swizzle(a *ir.Arg, single bool) {
	if a.Kind != ir.Reg || len(a.Vals) != 1 || a.Vals[0] == nil {
		return
	}
	o, ok := m[a.Vals[0]]
	if !ok {
		return
	}
	n := -1
	switch lo, hi := half(o[0], o[1]), half(o[2], o[3]); {
	case a.Suffix == "H0_H0":
		n = lo
	case a.Suffix == "H1_H1":
		n, o[0] = hi, o[2]
	case a.Suffix == "" && !single && lo >= 0 && o[0] == o[2] && o[1] == o[3]:
		n = lo
	}
	if n >= 0 {
		a.Vals[0], a.Suffix = o[0].v, []string{"H0_H0", "H1_H1"}[n]
	}
}

// stored makes a store of the lowest bytes of a register store those of what it was extended from.
func (m bytesOf) stored(in *ir.Inst) {
	n := 0
	switch {
	case in.Has("U8"):
		n = 1
	case in.Has("U16"):
		n = 2
	}
	for _, a := range sources(in) {
		o, ok := m.of(a)
		if !ok || n == 0 {
			continue
		}
		lowest := o[0].v != nil
		for i := range n {
			lowest = lowest && o[i] == octet{v: o[0].v, n: i}
		}
		if lowest {
			a.Vals[0] = o[0].v
		}
	}
}

// permute makes an instruction that moves bytes take them from where they were first.
func (m bytesOf) permute(in *ir.Inst) {
	o, ok := m.moved(in)
	if !ok {
		return
	}
	d := in.Args[0].Vals[0]
	m[d] = o
	if in.Name != "PRMT" {
		return
	}
	var from []*ir.Value
	for _, x := range o {
		if !slices.Contains(from, x.v) {
			from = append(from, x.v)
		}
	}
	if len(from) > 2 {
		return
	}
	if x := from[0]; len(from) == 1 && x != nil && o == (octets{{v: x}, {v: x, n: 1}, {v: x, n: 2}, {v: x, n: 3}}) {
		in.Name, in.Args = "MOV", []ir.Arg{in.Args[0], ir.R(x)}
		return
	}
	if from[0] == nil { // a first source that is a register
		slices.Reverse(from)
	}
	sel := uint32(0)
	for i, x := range o {
		n := uint32(4*slices.Index(from, x.v) + x.n)
		if x.sign {
			n |= 8
		}
		sel |= n << (4 * i)
	}
	in.Args = []ir.Arg{in.Args[0], ir.R(from[0]), ir.I(sel), ir.R(append(from, nil)[1])}
}

// moved are the bytes of the result of an instruction that only moves bytes.
func (m bytesOf) moved(in *ir.Inst) (o octets, ok bool) {
	if in.Guard.Val != nil || len(in.Args) < 4 {
		return o, false
	}
	switch {
	case in.Name == "PRMT" && in.Args[2].Kind == ir.Imm:
		lo, ok1 := m.of(&in.Args[1])
		hi, ok2 := m.of(&in.Args[3])
		if !ok1 || !ok2 {
			return o, false
		}
		all := append(lo[:], hi[:]...)
		for i := range o {
			n := in.Args[2].Imm >> (4 * i)
			if o[i] = all[n&7]; n&8 != 0 && o[i].v != nil {
				o[i].sign = true
			}
		}
		return o, true
	case in.Name == "SHF.R.U32.HI" && zero(&in.Args[1]) && in.Args[2].Kind == ir.Imm && in.Args[2].Imm%8 == 0 && in.Args[2].Imm > 0 && in.Args[2].Imm < 32:
		from, ok := m.of(&in.Args[3])
		copy(o[:], from[in.Args[2].Imm/8:])
		return o, ok
	case in.Name == "LOP3.LUT" && (in.Args[2].Kind == ir.Imm) && zero(&in.Args[3]) && in.Args[4].Text == "0xc0" && (in.Args[2].Imm == 0xff || in.Args[2].Imm == 0xffff):
		from, ok := m.of(&in.Args[1])
		o[0] = from[0]
		if in.Args[2].Imm == 0xffff {
			o[1] = from[1]
		}
		return o, ok
	}
	return o, false
}

// pack rounds two numbers at once, if they are put into one register and nowhere else.
func pack(in *ir.Inst, known bytesOf, uses []int) {
	if in.Name != "PRMT" {
		return
	}
	o := known[in.Args[0].Vals[0]]
	if half(o[0], o[1]) != 0 || half(o[2], o[3]) != 0 || o[0].v == o[2].v {
		return
	}
	lo, hi := o[0].v, o[2].v
	x, y := lo.Def, hi.Def
	if x == nil || y == nil || x.Name != y.Name || x.Base() != "F2FP" || x.Guard.Val != nil || y.Guard.Val != nil || uses[lo.ID] != 1 || uses[hi.ID] != 1 ||
		!zero(&x.Args[1]) || !zero(&y.Args[1]) || x.Args[2].Kind != ir.Reg || y.Args[2].Kind != ir.Reg {
		return
	}
	delete(known, in.Args[0].Vals[0])
	in.Name, in.Args = x.Name, []ir.Arg{in.Args[0], y.Args[2].Clone(), x.Args[2].Clone()}
}
