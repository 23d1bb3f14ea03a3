package ptx

import (
	"fmt"
	"slices"
	"strings"
)

// problem is an error in an operand. shape means that the kind of the operand is
// wrong, not merely its type.
type problem struct {
	pos       Pos
	msg, hint string
	shape     bool
}

// checkInst checks the operands of an instruction against its row: their number,
// their kinds, and whether register types agree with the types of the instruction.
// It ignores instructions without a row; guards and names are checked by the
// resolver.
func checkInst(m *Module, v values, in *Inst) []*Error {
	var errs []*Error
	for _, p := range v.form.checkArgs(v, in) {
		e := &Error{Pos: p.pos, Msg: p.msg, Hint: p.hint}
		if m != nil {
			e.File = m.File
			if n := int(p.pos.Line); n >= 1 && n <= len(m.Lines) {
				e.Text = m.Lines[n-1]
			}
		}
		errs = append(errs, e)
	}
	return errs
}

// fits reports whether the operands of an instruction fit the row.
func (v values) fits(in *Inst) bool {
	return len(in.Args) >= v.form.nreq && len(in.Args) <= len(v.form.args) && len(v.form.checkArgs(v, in)) == 0
}

// fitsShape reports whether number and kinds of operands fit the row, types aside.
func (v values) fitsShape(in *Inst) bool {
	if len(in.Args) < v.form.nreq || len(in.Args) > len(v.form.args) {
		return false
	}
	return !slices.ContainsFunc(v.form.checkArgs(v, in), func(p problem) bool { return p.shape })
}

// checkArgs returns the errors in the operands. Optional operands may be omitted in
// any combination; the one with the fewest errors counts.
func (f *Form) checkArgs(v values, in *Inst) []problem {
	extra := len(in.Args) - f.nreq
	if extra < 0 || len(in.Args) > len(f.args) {
		return []problem{{pos: in.Pos, shape: true,
			msg:  fmt.Sprintf("%s takes %s, not %d", in.FullName(), f.countText(), len(in.Args)),
			hint: "the form is " + f.text(maxListed)}}
	}
	var best []problem
	if extra == 0 || len(in.Args) == len(f.args) { // all are there, or none of the optional ones
		n := 0
		for i := range f.args {
			if a := &f.args[i]; extra > 0 || !a.opt {
				best = append(best, checkArg(v, a, in, &in.Args[n])...)
				n++
			}
		}
		return best
	}
	first := true
	f.align(0, extra, nil, func(specs []int) bool {
		var ps []problem
		for i, s := range specs {
			ps = append(ps, checkArg(v, &f.args[s], in, &in.Args[i])...)
		}
		if first || len(ps) < len(best) {
			best, first = ps, false
		}
		return len(best) > 0
	})
	return best
}

// align enumerates the ways to assign n optional operands, leftmost first, until
// yield returns false.
func (f *Form) align(i, n int, chosen []int, yield func([]int) bool) bool {
	if i == len(f.args) {
		if n > 0 {
			return true
		}
		return yield(chosen)
	}
	if !f.args[i].opt {
		return f.align(i+1, n, append(chosen, i), yield)
	}
	if n > 0 && !f.align(i+1, n-1, append(chosen, i), yield) {
		return false
	}
	return f.align(i+1, n, chosen, yield)
}

// countText describes the number of operands that the row takes.
func (f *Form) countText() string {
	switch most := len(f.args); {
	case most == 0:
		return "no operands"
	case most == f.nreq && most == 1:
		return "1 operand"
	case most == f.nreq:
		return fmt.Sprintf("%d operands", most)
	default:
		return fmt.Sprintf("%d to %d operands", f.nreq, most)
	}
}

// argType returns the type that an operand must have, "" if any will do.
func argType(v values, a *argSpec) Type {
	switch {
	case a.typ == "WT":
		return wideType[v.typ(1)]
	case len(a.typ) == 2 && a.typ[0] == 'T':
		return v.typ(int(a.typ[1] - '0'))
	}
	return Type(a.typ)
}

// wideType is the type of a full-width product.
var wideType = map[Type]Type{"u16": "u32", "s16": "s32", "u32": "u64", "s32": "s64"}

// onlyKind has the kind of an operand where a row allows only one.
var onlyKind = [...]struct {
	kind OperandKind
	want string
}{
	argTex: {OpTexAddr, "[name, {coordinates}]"}, argTensor: {OpTexAddr, "[name, {coordinates}]"}, argImm: {OpImm, "a constant"},
	argLabel: {OpLabel, "a label"}, argList: {OpList, "a list in parentheses"}, argTable: {OpTable, "the label of a table or prototype"},
}

// checkArg checks an operand.
func checkArg(v values, a *argSpec, in *Inst, o *Operand) []problem {
	one := func(shape bool, hint, format string, args ...any) []problem {
		return []problem{{pos: o.Pos, shape: shape, hint: hint, msg: fmt.Sprintf(format, args...)}}
	}
	wrongKind := func(want string) []problem {
		return one(true, "the form is "+v.form.text(maxListed), "%s: operand %s is %s, expected %s", in.FullName(), a.name, o.describe(), want)
	}
	switch a.kind {
	case argAny:
		return nil
	case argAddr:
		if o.Kind != OpAddr && (o.Kind != OpTexAddr || len(o.List) > 1) {
			return wrongKind("an address in brackets")
		}
		return checkBase(in, o)
	case argFunc:
		if o.Kind == OpSym && o.Func == nil && o.Var != nil && o.Var.Space != SpaceReg || o.Kind != OpSym && o.Kind != OpReg {
			return wrongKind("a function or a register with its address")
		}
		return nil
	case argTex, argTensor, argImm, argLabel, argList, argTable:
		if x := &onlyKind[a.kind]; o.Kind != x.kind {
			return wrongKind(x.want)
		}
		return nil
	}
	if o.Neg && !a.neg && o.Kind != OpImm && (a.dest || !argType(v, a).Predicate()) {
		return one(false, "", "%s: operand %s cannot be negated", in.FullName(), a.name)
	}
	if a.pair && o.Kind == OpPair {
		// The second half of a pair is always a predicate.
		if len(o.List) != 2 {
			return wrongKind("a pair p|q")
		}
		head := *a
		head.pair, head.pair2 = false, false
		ps := checkArg(v, &head, in, &o.List[0])
		return append(ps, checkArg(v, &argSpec{name: "q", typ: "pred", dest: true, sink: true}, in, &o.List[1])...)
	}
	if a.pair2 {
		return wrongKind("a pair p|q")
	}
	t, n := argType(v, a), a.n
	switch n {
	case lenByMod:
		n = in.VecLen()
	case lenFrag:
		if n, t = fragment(v, a.name); n == 0 {
			return nil
		}
		if n == 1 && o.Kind != OpVec {
			n = lenScalar
		}
	case lenAnyOrNo:
		if o.Kind != OpVec {
			n = lenScalar
		}
	}
	if n == lenScalar {
		if o.Kind == OpVec && len(o.List) == 1 {
			o = &o.List[0]
		}
		return checkScalar(v, a, t, in, o, wrongKind)
	}
	return checkVector(v, a, t, n, in, o, wrongKind)
}

// checkBase checks the base register of an address.
func checkBase(in *Inst, o *Operand) []problem {
	if len(o.List) == 0 || o.List[0].Kind != OpReg || o.List[0].Var == nil {
		return nil
	}
	b := &o.List[0]
	if t := regType(b); t.Predicate() || t == "f32" || t == "f64" || t.Bits() < 32 && t.Bits() > 0 {
		return []problem{{pos: b.Pos, msg: fmt.Sprintf("%s: %s is .%s and cannot hold an address", in.FullName(), b.Name, t),
			hint: "an address needs an integer register of 32 or 64 bits"}}
	}
	return nil
}

// checkScalar checks an operand that is a single register, literal or address.
func checkScalar(v values, a *argSpec, t Type, in *Inst, o *Operand, wrongKind func(string) []problem) []problem {
	bad := func(hint, format string, args ...any) []problem {
		return []problem{{pos: o.Pos, hint: hint, msg: in.FullName() + ": " + fmt.Sprintf(format, args...)}}
	}
	want := "a register"
	if t.Predicate() {
		want = "a predicate"
	}
	switch o.Kind {
	case OpSink:
		if !a.sink {
			return wrongKind(want)
		}
		return nil
	case OpReg:
		if o.Var == nil {
			return nil
		}
		if o.Var.Vec > 0 && o.Elem == "" {
			return []problem{{pos: o.Pos, shape: true, hint: "pick an element: " + o.Name + ".x",
				msg: fmt.Sprintf("%s: %s is a vector of %d", in.FullName(), o.Name, o.Var.Vec)}}
		}
		if o.Var.Space != SpaceReg && o.Var.Space != SpaceSreg && o.Var.Space != SpaceParam {
			return wrongKind(want)
		}
		r := regType(o)
		if agree(t, r, a.wide) {
			return nil
		}
		return bad(typeHint(t, a.wide), "%s is .%s, operand %s needs %s", o.Name, r, a.name, typeText(t, a.wide))
	case OpSpecial:
		if a.dest {
			return bad("", "%s cannot be written", o.Name)
		}
		if t.Predicate() != (o.Name == "%is_explicit_cluster") && t != "" {
			return bad("", "%s does not fit operand %s of type .%s", o.Name, a.name, t)
		}
		return nil
	case OpImm:
		if a.dest {
			return wrongKind(want)
		}
		if f := o.Imm.Kind == ImmF32 || o.Imm.Kind == ImmF64; f && (t.Integer() || t.Predicate()) {
			return bad("", "floating-point constant %s where operand %s is .%s", o.Imm.Text, a.name, t)
		}
		return nil
	case OpSym:
		if a.dest {
			return wrongKind(want)
		}
		if t.Predicate() || t.Float() || t.Bits() > 0 && t.Bits() < 32 {
			return bad("", "the address of %s does not fit operand %s of type .%s", o.Name, a.name, t)
		}
		return nil
	}
	return wrongKind(want)
}

// checkVector checks an operand that is a vector of n registers, or of any number
// if n is negative.
func checkVector(v values, a *argSpec, t Type, n int, in *Inst, o *Operand, wrongKind func(string) []problem) []problem {
	want := "a vector"
	if n > 0 {
		want = fmt.Sprintf("a vector of %d", n)
	}
	if o.Kind == OpReg && o.Var != nil && o.Var.Vec > 0 && o.Elem == "" {
		if n > 0 && o.Var.Vec != n {
			return wrongKind(want)
		}
		if t != "" && !agree(t, o.Var.Type, a.wide) {
			return []problem{{pos: o.Pos, msg: fmt.Sprintf("%s: %s has elements of .%s, operand %s needs %s", in.FullName(), o.Name, o.Var.Type, a.name, typeText(t, a.wide))}}
		}
		return nil
	}
	if o.Kind == OpSink && a.sink {
		return nil
	}
	if o.Kind != OpVec || n > 0 && len(o.List) != n {
		return wrongKind(want)
	}
	elem := argSpec{name: a.name, dest: a.dest, wide: a.wide, sink: a.dest}
	var ps []problem
	bits := 0
	for i := range o.List {
		e := &o.List[i]
		ps = append(ps, checkScalar(v, &elem, t, in, e, func(want string) []problem {
			return []problem{{pos: e.Pos, shape: true, hint: "the form is " + v.form.text(maxListed),
				msg: fmt.Sprintf("%s: element of operand %s is %s, expected %s", in.FullName(), a.name, e.describe(), want)}}
		})...)
		if e.Kind == OpReg && e.Var != nil && bits >= 0 {
			bits += regType(e).Bits()
		} else {
			bits = -1 // the width of a literal or a sink is whatever remains
		}
	}
	if in.Op == "mov" && t == "" && len(ps) == 0 {
		if whole := v.typ(1).Bits(); bits >= 0 && bits != whole {
			ps = append(ps, problem{pos: o.Pos, msg: fmt.Sprintf("%s: the elements of %s have %d bits in total, the type has %d", in.FullName(), a.name, bits, whole)})
		}
	}
	return ps
}

// regType returns the type of a register operand. The selector of a video
// instruction (.b0, .h1) does not change it.
func regType(o *Operand) Type { return o.Var.Type }

// agree reports whether a register of type r may be used where an instruction needs
// type t. Types agree when their sizes are equal and one of them is untyped, or
// both are integers, or both are floating-point; a wide operand accepts a larger
// register. Formats that PTX keeps in untyped registers (f16, bf16, tf32, packed
// types) agree with any register of their size.
func agree(t, r Type, wide bool) bool {
	if t == "" || r == "" {
		return true
	}
	if t.Predicate() || r.Predicate() {
		return t.Predicate() && r.Predicate()
	}
	if r.Bits() != t.Bits() && (!wide || r.Bits() < t.Bits()) {
		return false
	}
	if t.Untyped() || r.Untyped() || looseFormat(t) {
		return true
	}
	return t.Float() == r.Float()
}

// looseFormat reports whether values of the type are kept in registers of other
// types.
func looseFormat(t Type) bool { return t.Packed() || t.Float() && t != "f32" && t != "f64" }

// typeText names the registers that fit a type.
func typeText(t Type, wide bool) string {
	switch {
	case t.Predicate():
		return "a predicate"
	case wide:
		return fmt.Sprintf(".%s or wider", t)
	}
	return "." + string(t)
}

// typeHint returns which registers fit a type besides its own.
func typeHint(t Type, wide bool) string {
	if t.Predicate() || t.Bits() < 16 {
		return ""
	}
	size := ""
	if wide {
		size = " at least"
	}
	kind := "integer or .bX"
	switch {
	case t.Untyped():
		kind = "any"
	case t.Float() && !looseFormat(t):
		kind = "." + string(t) + " or .bX"
	}
	return fmt.Sprintf("%s register of%s %d bits", kind, size, t.Bits())
}

var kindText = map[OperandKind]string{
	OpReg: "a register", OpSpecial: "a special register", OpImm: "a constant", OpSym: "an address", OpLabel: "a label",
	OpAddr: "an address in brackets", OpVec: "a vector", OpPair: "a pair", OpSink: "the sink _", OpTexAddr: "a texture operand",
	OpList: "a list", OpTable: "a table label",
}

// describe names an operand in messages.
func (o *Operand) describe() string {
	s := kindText[o.Kind]
	switch o.Kind {
	case OpVec:
		s += fmt.Sprintf(" of %d", len(o.List))
	case OpReg, OpSpecial, OpLabel, OpTable, OpSym:
		if o.Name != "" && !strings.ContainsAny(o.Name, "\n") {
			s += " (" + o.Name + ")"
		}
	}
	return s
}
