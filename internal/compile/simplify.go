package compile

import (
	"fmt"
	"slices"

	"github.com/heddle-sim/heddle/internal/compile/ir"
)

// This file: what is known without executing anything is computed, sums of a value and a number that are addresses
// become their offsets, and signs of floats become those of operands.

// simplify does so in the order of the code, so that what it finds helps later instructions.
func simplify(f *ir.Func) {
	uses := usesOf(f)
	for _, n := range f.Graph().ReversePostOrder() {
		for _, in := range f.Blocks[n].Insts {
			in.Uses(func(v **ir.Value) { *v = original(*v) })
			if in.Guard.Val == nil {
				reduce(in, uses)
			}
			shortAddresses(in)
			floatSigns(in)
		}
	}
}

// number is the value of an operand of integers that is known.
func number(a *ir.Arg) (n uint32, ok bool) {
	switch {
	case a.Suffix != "" || a.Abs || a.Float:
		return 0, false
	case a.Kind == ir.Imm:
		n = uint32(a.Imm)
	case a.Kind != ir.Reg || len(a.Vals) != 1:
		return 0, false
	case a.Vals[0] != nil:
		m := moved(a.Vals[0])
		if m == nil || m.Kind != ir.Imm && !isZero(m) {
			return 0, false
		}
		n = uint32(m.Imm)
	}
	if a.Not {
		n = ^n
	}
	if a.Neg {
		n = -n
	}
	return n, true
}

// becomes makes an instruction a move.
func becomes(in *ir.Inst, a ir.Arg) { in.Name, in.Args = "MOV", []ir.Arg{in.Args[0], a} }

// reduce replaces an instruction by a simpler one.
func reduce(in *ir.Inst, uses []int) {
	switch in.Base() {
	case "IADD3":
		reduceSum(in)
	case "LOP3":
		reduceLogic(in)
	case "SHF":
		reduceShift(in)
	case "SHFL":
		reduceShuffle(in, uses)
	}
}

// reduceSum adds the terms that are numbers, and the number that another sum has added to the only other term.
func reduceSum(in *ir.Inst) {
	if in.Name != "IADD3" || len(in.Args) != 4 {
		return
	}
	sum, known := uint32(0), 0
	var rest []ir.Arg
	for i := 1; i < 4; i++ {
		if n, ok := number(&in.Args[i]); ok {
			sum += n
			known++
		} else {
			rest = append(rest, in.Args[i])
		}
	}
	if len(rest) == 1 && plainRegister(&rest[0]) {
		if x, n, ok := offset(rest[0].Vals[0]); ok {
			rest[0], sum, known = ir.R(x), sum+n, known+1
		}
	}
	switch {
	case len(rest) == 0:
		becomes(in, ir.I(sum))
	case len(rest) == 1 && sum == 0 && plainRegister(&rest[0]):
		becomes(in, rest[0])
	case len(rest) == 1 && known > 1 && rest[0].Kind == ir.Reg:
		in.Args = []ir.Arg{in.Args[0], rest[0], ir.I(sum), ir.RZ()}
	}
}

// offset splits a sum of a register and a number.
func offset(v *ir.Value) (x *ir.Value, n uint32, ok bool) {
	in := v.Def
	if in == nil || in.Name != "IADD3" || len(in.Args) != 4 || in.Guard.Val != nil || !zero(&in.Args[3]) {
		return nil, 0, false
	}
	for i := 1; i <= 2; i++ {
		if n, ok := number(&in.Args[3-i]); ok && plainRegister(&in.Args[i]) && n != 0 {
			return in.Args[i].Vals[0], n, true
		}
	}
	return nil, 0, false
}

// reduceLogic handles operations of two bit patterns one of which is known.
func reduceLogic(in *ir.Inst) {
	if len(in.Args) != 6 || !zero(&in.Args[3]) {
		return
	}
	x, a := in.Args[1], &in.Args[2]
	n, ok := number(a)
	if !ok {
		if n, ok = number(&x); !ok {
			return
		}
		x = *a
	}
	m, both := number(&x)
	switch table := in.Args[4].Text; {
	case table != "0xc0" && table != "0xfc" && table != "0x3c":
	case both:
		becomes(in, ir.I(map[string]uint32{"0xc0": n & m, "0xfc": n | m, "0x3c": n ^ m}[table]))
	case !plainRegister(&x):
	case table == "0xc0" && n == 0, table == "0xfc" && n == ^uint32(0):
		becomes(in, ir.I(n))
	case table == "0xc0" && n == ^uint32(0), table != "0xc0" && n == 0:
		becomes(in, x)
	}
}

// reduceShift shifts numbers.
func reduceShift(in *ir.Inst) {
	if len(in.Args) != 4 {
		return
	}
	n, ok := number(&in.Args[2])
	if !ok || n > 31 {
		return
	}
	var a *ir.Arg
	var f func(x uint32) uint32
	switch {
	case in.Name == "SHF.L.U32" && zero(&in.Args[3]):
		a, f = &in.Args[1], func(x uint32) uint32 { return x << n }
	case in.Name == "SHF.R.U32.HI" && zero(&in.Args[1]):
		a, f = &in.Args[3], func(x uint32) uint32 { return x >> n }
	case in.Name == "SHF.R.S32.HI" && zero(&in.Args[1]):
		a, f = &in.Args[3], func(x uint32) uint32 { return uint32(int32(x) >> n) }
	default:
		return
	}
	if x, ok := number(a); ok {
		becomes(in, ir.I(f(x)))
	} else if n == 0 && plainRegister(a) {
		becomes(in, *a)
	}
}

// Fields for numbers in SHFL (the encoding): a lane, and what bounds it.
const (
	shuffleLanes = 1 << 5
	shuffleBound = 1 << 13
)

// reduceShuffle puts numbers into the fields for them. A number that all lanes have is one that all get; what comes from a lane that does not take part is open (PTX manual, shfl).
func reduceShuffle(in *ir.Inst, uses []int) {
	if n, ok := number(&in.Args[2]); ok && (in.Args[0].Vals[0] == nil || uses[in.Args[0].Vals[0].ID] == 0) {
		in.Name, in.Args = "MOV", []ir.Arg{in.Args[1], ir.I(n)}
		return
	}
	for i, limit := range [...]uint32{3: shuffleLanes, 4: shuffleBound} {
		if i < 3 {
			continue
		}
		if a := &in.Args[i]; a.Kind == ir.Reg {
			if n, ok := number(a); ok && n < limit {
				*a = ir.T(fmt.Sprintf("%#x", n))
			}
		}
	}
}

// reachOf is how far the offsets of the addresses of an instruction may reach, nil if that is not known.
func reachOf(in *ir.Inst) []int64 {
	switch in.Base() {
	case "LDS", "STS", "LDSM", "LDG", "STG", "LD", "ST", "ATOMS":
		return []int64{farthest}
	case "LDGSTS":
		return []int64{farthestTo, farthestFrom}
	}
	return nil
}

// shortAddresses makes numbers in addresses offsets.
func shortAddresses(in *ir.Inst) {
	reach := reachOf(in)
	for i := range in.Args {
		a := &in.Args[i]
		if a.Kind != ir.Mem || len(reach) == 0 {
			continue
		}
		far := reach[0]
		reach = reach[1:]
		for {
			vals, n, ok := addressSum(a.Vals)
			if n += a.Imm; !ok || n < -far || n >= far-16 {
				break
			}
			a.Vals, a.Imm = vals, n
		}
	}
}

// addressSum splits an address that is a sum of another one and a number.
func addressSum(vals []*ir.Value) (base []*ir.Value, n int64, ok bool) {
	switch {
	case len(vals) == 1 && vals[0] != nil:
		x, n, ok := offset(vals[0])
		return []*ir.Value{x}, int64(int32(n)), ok
	case len(vals) != 2 || vals[0] == nil || vals[1] == nil:
		return nil, 0, false
	}
	lo, hi := vals[0].Def, vals[1].Def
	if lo == nil || hi == nil || !halves(lo, hi) {
		return nil, 0, false
	}
	for k := range 2 {
		x, xh, y, yh := &lo.Args[2+k], &hi.Args[1+k], &lo.Args[3-k], &hi.Args[2-k]
		l, ok := number(y)
		h, okh := number(yh)
		if ok && okh && !y.Neg && !yh.Not && plainRegister(x) && plainRegister(xh) && h == uint32(int32(l)>>31) {
			return []*ir.Value{x.Vals[0], xh.Vals[0]}, int64(int32(l)), true
		}
	}
	return nil, 0, false
}

// floatSigns makes operands magnitudes, or negated, of what an instruction made of their bits. Results that are NaN
// do not depend on the sign of one.
func floatSigns(in *ir.Inst) {
	switch in.Base() {
	case "FADD", "FMUL", "FSETP", "FMNMX":
	case "FFMA": // of which not every machine takes magnitudes
	default:
		return
	}
	for i := range in.Args {
		a := &in.Args[i]
		if a.Dst || a.Kind != ir.Reg || len(a.Vals) != 1 || a.Vals[0] == nil || a.Suffix != "" {
			continue
		}
		switch x, abs := signOnly(a.Vals[0], in.Has("FTZ")); {
		case x == nil, abs && in.Base() == "FFMA":
		case abs:
			a.Vals, a.Abs = []*ir.Value{x}, true
		case a.Abs:
			a.Vals = []*ir.Value{x}
		default:
			a.Vals, a.Neg = []*ir.Value{x}, !a.Neg
		}
	}
}

// signOnly is the value of which another one is the magnitude, or else the negated one; with flush also where numbers
// that the reader takes for zeros are zeros.
func signOnly(v *ir.Value, flush bool) (x *ir.Value, abs bool) {
	in := v.Def
	if in == nil || in.Guard.Val != nil {
		return nil, false
	}
	if in.Name == "SEL" && flush && zero(&in.Args[1]) && plainRegister(&in.Args[2]) { // see abs.ftz in select/float.txt
		p := in.Args[3].Vals[0]
		x, abs = signOnly(in.Args[2].Vals[0], false)
		if !abs || in.Args[3].Not || p == nil || p.Def == nil || p.Def.Name != "FSETP.LT.AND" || p.Def.Guard.Val != nil {
			return nil, false
		}
		if c := p.Def.Args; c[2].Abs && slices.Equal(c[2].Vals, []*ir.Value{x}) && c[3].Kind == ir.Imm && c[3].Imm == 0x00800000 && c[4].Vals[0] == nil && !c[4].Not {
			return x, true
		}
		return nil, false
	}
	if in.Name != "LOP3.LUT" || len(in.Args) != 6 || !plainRegister(&in.Args[1]) || in.Args[2].Kind != ir.Imm || !zero(&in.Args[3]) {
		return nil, false
	}
	switch n, table := uint32(in.Args[2].Imm), in.Args[4].Text; {
	case n == 1<<31-1 && table == "0xc0":
		return in.Args[1].Vals[0], true
	case n == 1<<31 && table == "0x3c":
		return in.Args[1].Vals[0], false
	}
	return nil, false
}
