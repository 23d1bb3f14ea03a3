package ptx

import (
	"slices"
	"strconv"
	"strings"
)

// Bounds on the size of a declaration. They are far above what compilers write and
// keep hostile files from exhausting memory.
const (
	maxRegisters = 1 << 20 // of one parameterised declaration
	maxAlign     = 1 << 30
)

func sortStrings(s []string) { slices.Sort(s) }

// newVar makes a variable of the current scope.
func (p *parser) newVar(proto *Var) *Var {
	v := *proto
	v.ID = p.nextID
	v.Func = p.fn
	p.nextID++
	return &v
}

// varDecl parses a declaration statement, starting at its state space. It returns
// the variables that it recognised even if ok is false.
func (p *parser) varDecl(pos Pos, linkage Linkage) (d *VarDecl, ok bool) {
	proto := &Var{Linkage: linkage, Space: spaceWords[p.tok.text]}
	if !p.space(proto) || !p.varType(proto, false) {
		return nil, false
	}
	d = &VarDecl{Pos: pos}
	for {
		v := p.newVar(proto)
		if !p.declarator(v) {
			return d, false
		}
		d.Vars = append(d.Vars, v)
		if p.tok.is("=") && !p.initializer(v) {
			return d, false
		}
		if !p.accept(",") {
			break
		}
	}
	return d, p.expect(";", "every declaration ends with ;")
}

// space parses the state space and the bank of .const[n].
func (p *parser) space(v *Var) bool {
	p.advance()
	if v.Space == SpaceConst && p.tok.is("[") {
		p.advance()
		n, ok := p.smallInt("a bank number", 10)
		if !ok || !p.expect("]", "a constant bank is written .const[n]") {
			return false
		}
		v.Bank = int(n)
	}
	return true
}

// varType parses everything between the state space and the name: alignment,
// vector length, type and attributes, in any order.
func (p *parser) varType(v *Var, param bool) bool {
	for p.tok.kind == tokDot {
		t := p.tok
		switch t.text {
		case "align":
			n, ok := p.align()
			if !ok {
				return false
			}
			if v.Ptr != nil && v.Type != "" {
				v.Ptr.Align = n
			} else {
				v.Align = n
			}
			continue
		case "attribute":
			attrs, ok := p.attribute()
			if !ok {
				return false
			}
			v.Attrs = append(v.Attrs, attrs...)
			continue
		case "v2", "v4", "v8":
			v.Vec = int(t.text[1] - '0')
			p.advance()
			continue
		case "ptr":
			if !param {
				p.errorAt(t.pos, ".ptr on something that is not a parameter", "only kernel parameters can be pointers")
				return false
			}
			v.Ptr = &PtrAttr{}
			p.advance()
			if s := spaceWords[p.tok.text]; p.tok.kind == tokDot && (s == SpaceConst || s == SpaceGlobal || s == SpaceLocal || s == SpaceShared) {
				v.Ptr.Space = s
				p.advance()
			}
			continue
		}
		if !Type(t.text).declarable() {
			known := []string{".align", ".attribute", ".v2", ".v4"}
			for name := range typeInfos {
				if name.declarable() {
					known = append(known, "."+string(name))
				}
			}
			sortStrings(known)
			p.errorAt(t.pos, "unknown type "+t.describe(), didYouMean("."+t.text, known))
			return false
		}
		if v.Type != "" {
			p.errorAt(t.pos, "second type "+t.describe(), "the variable already has type ."+string(v.Type))
			return false
		}
		v.Type = Type(t.text)
		p.advance()
	}
	if v.Type == "" {
		p.missing("a type", "a declaration is written as in .reg .u32 name;")
		return false
	}
	if v.Type.Predicate() && v.Space != SpaceReg {
		p.errorAt(p.last.pos, "predicate outside of registers", ".pred is a type of .reg only")
		return false
	}
	return true
}

func (p *parser) align() (int, bool) {
	p.advance()
	at := p.tok.pos
	n, ok := p.smallInt("an alignment", maxAlign)
	if ok && (n == 0 || n&(n-1) != 0) {
		p.errorAt(at, "alignment "+strconv.FormatInt(n, 10)+" is not a power of two", "")
	}
	return int(n), ok
}

// attribute parses .attribute(a, b(c, d)) into its entries.
func (p *parser) attribute() (attrs []string, ok bool) {
	p.advance()
	const hint = "write for example .attribute(.managed)"
	if !p.expect("(", hint) {
		return nil, false
	}
	var b strings.Builder
	for depth := 0; ; p.advance() {
		t := p.tok
		switch {
		case t.is("("):
			depth++
		case t.is(")") && depth > 0:
			depth--
		case t.is(")"):
			p.advance()
			return append(attrs, b.String()), true
		case t.is(",") && depth == 0:
			attrs = append(attrs, b.String())
			b.Reset()
			continue
		case t.is(","):
			b.WriteString(", ")
			continue
		case t.kind == tokDot:
			b.WriteString("." + t.text)
			continue
		case t.kind == tokNum, t.kind == tokIdent:
		default:
			p.missing(")", hint)
			return nil, false
		}
		b.WriteString(t.text)
	}
}

// declarator parses a name with its count or dimensions.
func (p *parser) declarator(v *Var) bool {
	name, ok := p.ident("a name", "a declaration is written as in .reg .u32 name;")
	if !ok {
		return false
	}
	v.Pos, v.Name = name.pos, name.text
	if p.tok.is("<") {
		p.advance()
		at := p.tok.pos
		n, ok := p.constInt("the number of registers")
		if !ok || !p.expect(">", "%r<8> declares %r0 to %r7") {
			return false
		}
		if n < 1 || n > maxRegisters {
			p.errorAt(at, "number of registers "+strconv.FormatInt(n, 10)+" is out of range", "from 1 to "+strconv.Itoa(maxRegisters))
			n = 1
		}
		v.Count = int(n)
	}
	for p.tok.is("[") {
		if v.Space == SpaceReg && !v.Type.Opaque() {
			p.errorAt(p.tok.pos, "array of registers", "use %r<n> for several registers, or .local for an array")
			return false
		}
		p.advance()
		if p.accept("]") {
			if len(v.Dims) > 0 {
				p.errorAt(p.last.pos, "only the first dimension of an array may be omitted", "")
				return false
			}
			v.Dims = append(v.Dims, -1)
			continue
		}
		at := p.tok.pos
		n, ok := p.constInt("the array's size")
		if !ok || !p.expect("]", "an array is written name[size]") {
			return false
		}
		if n < 0 || n > maxVarSize {
			p.errorAt(at, "array size "+strconv.FormatInt(n, 10)+" is out of range", "")
			n = 1
		}
		v.Dims = append(v.Dims, n)
	}
	return true
}

// constInt parses a constant expression whose value must be an integer.
func (p *parser) constInt(what string) (int64, bool) {
	at := p.tok.pos
	v, ok := p.shiftFree()
	if !ok {
		return 0, false
	}
	if v.sym != "" {
		p.errorAt(v.symPos, what+" must be a constant", clip(v.sym)+" is not a number")
		return 0, false
	}
	if v.float() {
		p.errorAt(at, what+" must be an integer", "")
		return 0, false
	}
	if v.imm.Kind == ImmUint && int64(v.imm.Bits) < 0 {
		p.errorAt(at, what+" is out of range", "")
		return 0, false
	}
	return int64(v.imm.Bits), true
}

// shiftFree parses a constant expression in which > ends the expression.
func (p *parser) shiftFree() (value, bool) { return p.binary(binaryPrec["+"]) }

// initializer parses `= value` or `= { … }`.
func (p *parser) initializer(v *Var) bool {
	at := p.tok.pos
	p.advance()
	switch {
	case v.Space == SpaceReg || v.Space == SpaceParam || v.Space == SpaceLocal || v.Space == SpaceShared:
		p.errorAt(at, "initialiser of a variable that cannot have one", "only .global and .const variables can be initialised")
		return false
	case v.Linkage == Extern:
		p.errorAt(at, "initialiser of an .extern variable", "the module that defines it initialises it")
	}
	in, ok := p.initValue()
	if ok {
		v.Init = in
	}
	return ok
}

func (p *parser) initValue() (*Init, bool) {
	in := &Init{Pos: p.tok.pos}
	if !p.tok.is("{") {
		if p.tok.kind == tokIdent && p.peek().is("=") {
			return in, p.initField(in)
		}
		v, ok := p.constExpr()
		in.Expr = &Expr{Pos: in.Pos, Imm: v.imm, Sym: v.sym, Generic: v.generic, Mask: v.mask}
		if v.sym != "" {
			in.Expr.Pos = v.symPos
		}
		return in, ok
	}
	if !p.enter() {
		return in, false
	}
	defer p.leave()
	p.advance()
	in.List = []*Init{}
	for !p.accept("}") {
		if len(in.List) > 0 && !p.expect(",", "values are separated by commas and end with }") {
			return in, false
		}
		e, ok := p.initValue()
		if !ok {
			return in, false
		}
		in.List = append(in.List, e)
	}
	return in, true
}

// initField parses `name = value` of a texture, sampler or surface.
func (p *parser) initField(in *Init) bool {
	name := p.tok
	p.advance()
	p.advance()
	if p.tok.kind != tokIdent && p.tok.kind != tokNum {
		p.missing("a value", "write for example filter_mode = linear")
		return false
	}
	in.Expr = &Expr{Pos: name.pos, Entry: &InitField{Name: name.text, Value: p.tok.text}}
	p.advance()
	return true
}

// function parses an .entry or .func: its head, and its body if it has one.
func (p *parser) function(pos Pos, linkage Linkage) (*Func, bool) {
	f := &Func{Pos: pos, Linkage: linkage, Entry: p.tok.text == "entry"}
	p.advance()
	p.fn = f
	p.inHead = true
	defer func() { p.fn = nil }()
	if !p.attributes(f) {
		return nil, false
	}
	ok := true
	if p.tok.is("(") {
		if f.Entry {
			p.errorAt(p.tok.pos, "return value of a kernel", "an .entry returns nothing; write through a pointer instead")
		}
		if f.Rets, ok = p.params(); !ok {
			return nil, false
		}
	}
	name, ok := p.ident("a function name", "")
	if !ok {
		return nil, false
	}
	f.Pos, f.Name = name.pos, name.text
	hasList := p.tok.is("(")
	if hasList {
		if f.Params, ok = p.params(); !ok {
			return nil, false
		}
	}
	if !p.attributes(f) || !p.perf(f) {
		return nil, false
	}
	// nvopencc left out the semicolon of prototypes.
	bare := !f.Entry && p.tok.first && p.tok.kind == tokDot && (itemWord[p.tok.text] || p.tok.text == "file" || p.tok.text == "section")
	f.Proto = p.tok.is(";") || bare
	f.variadic(hasList)
	if f.Proto {
		p.inHead = false
		p.accept(";")
		return f, true
	}
	if !p.tok.is("{") {
		p.missing("{ or ;", "the head of a function is followed by a body in braces, or by ; for a prototype")
		return nil, false
	}
	if f.Linkage == Extern {
		p.errorAt(f.Pos, "body of the .extern function "+clip(f.Name), "omit .extern, or end the prototype with ;")
	}
	p.inHead = false
	if p.postpone(f) {
		return f, true
	}
	f.Body, ok = p.block()
	return f, ok
}

func (f *Func) variadic(hasList bool) {
	if n := len(f.Params); n > 0 {
		d := f.Params[n-1].Dims
		f.Variadic = len(d) > 0 && d[0] < 0
	} else {
		f.Variadic = f.Proto && !hasList
	}
}

func (p *parser) attributes(f *Func) bool {
	for p.tok.dot("attribute") {
		attrs, ok := p.attribute()
		if !ok {
			return false
		}
		f.Attrs = append(f.Attrs, attrs...)
	}
	return true
}

// params parses a parenthesised list of parameters.
func (p *parser) params() ([]*Var, bool) {
	p.advance()
	list := []*Var{}
	for !p.accept(")") {
		if len(list) > 0 && !p.expect(",", "parameters are separated by commas and end with )") {
			return nil, false
		}
		if !p.tok.dot("param") && !p.tok.dot("reg") {
			p.missing("a parameter", "a parameter begins with .param or .reg")
			return nil, false
		}
		proto := &Var{Pos: p.tok.pos, Space: spaceWords[p.tok.text]}
		p.advance()
		if !p.varType(proto, true) {
			return nil, false
		}
		v := p.newVar(proto)
		if p.tok.kind == tokIdent { // the name is optional in prototypes
			if !p.declarator(v) {
				return nil, false
			}
			if v.Count > 0 {
				p.errorAt(v.Pos, "several registers in one parameter", "declare each parameter separately")
				return nil, false
			}
		}
		if v.Name == "" {
			v.Name = "_"
		}
		list = append(list, v)
	}
	return list, true
}

// perf parses the directives between the head of a function and its body.
func (p *parser) perf(f *Func) bool {
	for p.tok.kind == tokDot {
		d := Directive{Pos: p.tok.pos, Name: "." + p.tok.text}
		word := p.tok.text
		switch word {
		case "pragma":
			pr, ok := p.directive()
			if !ok {
				return false
			}
			f.Perf = append(f.Perf, *pr)
			continue
		case "maxntid", "reqntid", "reqnctapercluster":
			p.advance()
			dims := map[string]*[3]int{"maxntid": &f.MaxNTID, "reqntid": &f.ReqNTID, "reqnctapercluster": &f.Cluster}[word]
			if *dims = ([3]int{1, 1, 1}); !p.extent(&d, dims) {
				return false
			}
		case "maxnreg", "minnctapersm", "maxnctapersm", "maxclusterrank", "abi_preserve", "abi_preserve_control":
			p.advance()
			n, ok := p.smallInt("a number", 1<<31-1)
			if !ok {
				return false
			}
			d.Raw = d.Name + " " + strconv.FormatInt(n, 10)
			switch word {
			case "maxnreg":
				f.MaxNReg = int(n)
			case "minnctapersm":
				f.MinNCTA = int(n)
			}
		case "noreturn", "explicitcluster", "blocksareclusters":
			p.advance()
			f.NoReturn = f.NoReturn || word == "noreturn"
			d.Raw = d.Name
		default:
			if statementWord[word] { // the next item; the caller knows whether it is allowed
				return true
			}
			p.errorAt(p.tok.pos, "unknown directive "+p.tok.describe(), didYouMean(d.Name, perfWords))
			return false
		}
		f.Perf = append(f.Perf, d)
	}
	return true
}

var perfWords = []string{".maxntid", ".reqntid", ".reqnctapercluster", ".maxnreg", ".minnctapersm", ".maxnctapersm", ".maxclusterrank",
	".abi_preserve", ".abi_preserve_control", ".noreturn", ".explicitcluster", ".blocksareclusters", ".pragma", ".attribute"}

// extent parses one to three sizes.
func (p *parser) extent(d *Directive, dims *[3]int) bool {
	raw := d.Name
	for i := range dims {
		n, ok := p.smallInt("a size", 1<<31-1)
		if !ok {
			return false
		}
		if n == 0 {
			p.errorAt(p.last.pos, "size 0 in "+d.Name, "every dimension is at least 1")
			n = 1
		}
		dims[i] = int(n)
		if i > 0 {
			raw += ","
		}
		raw += " " + strconv.FormatInt(n, 10)
		if !p.accept(",") {
			d.Raw = raw
			return true
		}
	}
	p.errorAt(p.tok.pos, d.Name+" has at most three sizes", "")
	return false
}
