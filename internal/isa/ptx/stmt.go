package ptx

import (
	"slices"
	"strconv"
)

// block parses `{ … }`. A block with errors inside is returned as far as it was
// recognised; ok is false only if it is not closed.
func (p *parser) block() (*Block, bool) {
	b := &Block{Pos: p.tok.pos}
	if !p.enter() {
		p.skipBraces()
		return b, true
	}
	defer p.leave()
	p.advance()
	for !p.tok.is("}") {
		switch {
		case p.tok.kind == tokEOF:
			if !p.unclosed { // report only the innermost block
				p.errorAt(b.Pos, "{ without its }", "the file ends inside this block")
			}
			p.unclosed = true
			return b, true
		case p.stopped():
			return b, false
		case p.tok.dot("entry"), p.tok.dot("func"), p.tok.dot("visible") && (p.peek().dot("entry") || p.peek().dot("func")):
			p.errorAt(p.tok.pos, "function inside a function", "a } is missing above: the block that begins at line "+strconv.Itoa(int(b.Pos.Line))+" is still open")
			return b, true
		}
		start := p.tok.off
		if !p.statement(b) {
			p.sync(start)
		}
	}
	p.advance()
	return b, true
}

// statement parses a statement into b.
func (p *parser) statement(b *Block) bool {
	add := func(s Stmt) { b.Stmts = append(b.Stmts, s) }
	t := p.tok
	switch t.kind {
	case tokIdent:
		if p.peek().is(":") {
			p.advance()
			p.advance()
			return p.label(b, t)
		}
		in, ok := p.instruction(nil)
		if ok {
			add(in)
		}
		return ok
	case tokLine:
		add(&Directive{Pos: t.pos, Name: "@@DWARF", Raw: t.text})
		p.advance()
		return true
	case tokDot:
		return p.bodyDirective(b)
	}
	switch {
	case t.is("{"):
		inner, ok := p.block()
		add(inner)
		return ok
	case t.is(";"):
		p.advance()
		return true
	case t.is("@"):
		g, ok := p.guard()
		if !ok {
			return false
		}
		in, ok := p.instruction(g)
		if ok {
			in.Pos = t.pos
			add(in)
		}
		return ok
	}
	p.errorAt(t.pos, "expected an instruction, a label or a directive, found "+t.describe(), "")
	return false
}

// label adds a label, or the table or prototype that it names.
func (p *parser) label(b *Block, name token) bool {
	switch {
	case p.tok.dot("branchtargets"), p.tok.dot("calltargets"):
		tab := &Table{Pos: name.pos, Name: name.text, Call: p.tok.text == "calltargets"}
		p.advance()
		for {
			t, ok := p.ident("a label", "write .branchtargets L1, L2;")
			if !ok {
				return false
			}
			tab.Names = append(tab.Names, t.text)
			if !p.accept(",") {
				break
			}
		}
		b.Stmts = append(b.Stmts, tab)
		return p.expect(";", "every declaration ends with ;")
	case p.tok.dot("callprototype"):
		f, ok := p.callPrototype(name)
		if ok {
			b.Stmts = append(b.Stmts, f)
		}
		return ok
	}
	b.Stmts = append(b.Stmts, &Label{Pos: name.pos, Name: name.text})
	return true
}

// callPrototype parses the signature of an indirect call, after `name: `.
func (p *parser) callPrototype(name token) (*Func, bool) {
	f := &Func{Pos: name.pos, Name: name.text, Proto: true}
	p.advance()
	ok := true
	if p.tok.is("(") {
		if f.Rets, ok = p.params(); !ok {
			return nil, false
		}
	}
	if _, ok = p.ident("_", "a prototype is written (return values) _ (parameters)"); !ok {
		return nil, false
	}
	hasList := p.tok.is("(")
	if hasList {
		if f.Params, ok = p.params(); !ok {
			return nil, false
		}
	}
	if !p.perf(f) {
		return nil, false
	}
	f.variadic(hasList)
	return f, p.expect(";", "a prototype ends with ;")
}

func (p *parser) bodyDirective(b *Block) bool {
	t := p.tok
	switch t.text {
	case "loc":
		l, ok := p.loc()
		if ok {
			b.Stmts = append(b.Stmts, l)
		}
		return ok
	case "file", "section", "pragma":
		d, ok := p.directive()
		if ok {
			b.Stmts = append(b.Stmts, d)
		}
		return ok
	case "branchtargets", "calltargets", "callprototype":
		p.errorAt(t.pos, t.describe()+" without a name", "write name: "+t.describe()+" ...")
		return false
	}
	linkage, ok := p.linkage()
	if !ok {
		return false
	}
	if p.tok.kind == tokDot && spaceWords[p.tok.text] != SpaceNone {
		d, ok := p.varDecl(t.pos, linkage)
		if d != nil {
			b.Stmts = append(b.Stmts, d)
		}
		return ok
	}
	known := append(keys(spaceWords, "."), ".loc", ".pragma", ".extern", ".weak")
	p.errorAt(p.tok.pos, "unknown directive "+p.tok.describe()+" in a function", didYouMean("."+p.tok.text, known))
	return false
}

// guard parses `@p` or `@!p`.
func (p *parser) guard() (*Guard, bool) {
	p.advance()
	g := &Guard{Neg: p.accept("!")}
	t, ok := p.ident("a predicate", "a guard is written @%p or @!%p")
	if !ok {
		return nil, false
	}
	g.Reg = Operand{Kind: OpReg, Pos: t.pos, Name: t.text}
	return g, true
}

// instruction parses opcode, modifiers and operands up to the semicolon.
func (p *parser) instruction(g *Guard) (*Inst, bool) {
	op, ok := p.ident("an instruction", "")
	if !ok {
		return nil, false
	}
	if len(p.insts) == 0 {
		p.insts = make([]Inst, 64)
	}
	in := &p.insts[0]
	p.insts = p.insts[1:]
	*in = Inst{Pos: op.pos, Guard: g, Op: op.text}
	if c := op.text[0]; c == '%' || c == '$' || c == '_' {
		p.errorAt(op.pos, "expected an instruction, found "+op.describe(), "a label is followed by :")
		return nil, false
	}
	in.Mods = p.modifiers()
	p.args = p.args[:0]
	p.inCall = in.Op == "call"
	for !p.tok.is(";") {
		if len(p.args) > 0 && !p.tok.is(",") {
			p.missing(", or ;", "operands are separated by commas, and an instruction ends with ;")
			if p.tok.first || p.tok.is("}") && !p.strayBrace() { // only the semicolon is missing
				break
			}
			return nil, false
		}
		if len(p.args) > 0 {
			p.advance()
		} else if p.tok.is("}") && !p.strayBrace() || p.tok.kind == tokEOF || p.tok.first && p.beginsStatement() {
			p.missing(";", "an instruction ends with ;")
			break
		}
		o, ok := p.operand()
		if !ok {
			return nil, false
		}
		p.args = append(p.args, o)
		if in.Op == "call" && len(p.args) == 1 && o.Kind == OpList && !p.tok.is(",") {
			p.missing(",", "a call is written call (results), function, (arguments);")
			return nil, false
		}
	}
	p.accept(";")
	in.Args = p.keep(p.args)
	return in, true
}

// maxModifiers is more than any instruction has.
const maxModifiers = 32

// modifiers parses the dotted words after an opcode. Equal combinations share a
// slice; a file uses only a few.
func (p *parser) modifiers() []string {
	if p.tok.kind != tokDot {
		return nil
	}
	start, end := p.tok.off, p.tok.off
	p.mods = p.mods[:0]
	for p.tok.kind == tokDot {
		p.mods = append(p.mods, p.tok.text)
		end = p.tok.end()
		p.advance()
	}
	if n := len(p.mods); n > maxModifiers {
		p.errorAt(p.last.pos, "instruction with "+strconv.Itoa(n)+" modifiers", "no instruction has more than a dozen")
		p.mods = p.mods[:maxModifiers]
		return slices.Clone(p.mods)
	}
	text := p.lex.src[start:end]
	mods, ok := p.modSets[text]
	if !ok {
		mods = slices.Clip(slices.Clone(p.mods))
		p.modSets[text] = mods
	}
	return mods
}

// beginsStatement reports whether the token, the first of its line, is more likely
// the next statement than an operand of the previous instruction.
func (p *parser) beginsStatement() bool {
	switch p.tok.kind {
	case tokDot, tokLine:
		return true
	case tokIdent:
		next := p.peek()
		return next.is(":") || next.kind == tokDot && next.glued && len(next.text) > 1
	}
	return p.tok.is("@")
}

// keep copies operands into memory of their exact size.
func (p *parser) keep(ops []Operand) []Operand {
	n := len(ops)
	if n == 0 {
		return nil
	}
	if len(p.arena) < n {
		p.arena = make([]Operand, max(256, n))
	}
	out := p.arena[:n:n]
	p.arena = p.arena[n:]
	copy(out, ops)
	return out
}

// operand parses an operand; a pair `a|b` or `{a, b}|p` is one.
func (p *parser) operand() (Operand, bool) {
	o, ok := p.single()
	if !ok || !p.tok.is("|") || o.Kind != OpSym && o.Kind != OpSink && o.Kind != OpVec {
		return o, ok
	}
	p.advance()
	second, ok := p.single()
	if !ok {
		return o, false
	}
	if second.Kind != OpSym && second.Kind != OpSink {
		p.errorAt(second.Pos, "bad second half of a pair", "a pair is written %r|%p")
		return o, false
	}
	return Operand{Kind: OpPair, Pos: o.Pos, List: p.keep([]Operand{o, second})}, true
}

func (p *parser) single() (Operand, bool) {
	t := p.tok
	o := Operand{Pos: t.pos}
	switch t.kind {
	case tokIdent:
		switch {
		case t.text == "_":
			p.advance()
			o.Kind = OpSink
			return o, true
		case t.text == warpSize, t.text == "generic" && p.peek().is("("):
			return p.constOperand()
		}
		return p.named()
	case tokNum:
		return p.constOperand()
	case tokPunct:
		switch t.text {
		case "{":
			return p.list(OpVec, "}")
		case "(":
			if p.inCall {
				p.inCall = false // parentheses inside the list are expressions
				o, ok := p.list(OpList, ")")
				p.inCall = true
				return o, ok
			}
			return p.constOperand()
		case "[":
			return p.address()
		case "!", "-":
			next := p.peek()
			if next.kind == tokIdent && next.text != warpSize && next.text != "generic" {
				p.advance()
				o, ok := p.named()
				o.Pos = t.pos
				o.Neg = true
				return o, ok
			}
			return p.constOperand()
		case "+", "~":
			return p.constOperand()
		}
	}
	if t.is(";") || t.first || t.kind == tokEOF {
		p.missing("an operand", "")
	} else {
		p.errorAt(t.pos, "expected an operand, found "+t.describe(), "")
	}
	return o, false
}

// named parses an operand that begins with a name: a register, perhaps with an
// element, a label, or a symbol with an offset. resolve.go determines which.
func (p *parser) named() (Operand, bool) {
	t := p.tok
	o := Operand{Kind: OpSym, Pos: t.pos, Name: t.text}
	p.advance()
	if p.tok.kind == tokDot && p.tok.glued {
		o.Elem = element(p.tok.text)
		p.advance()
	}
	if p.tok.is("[") && p.tok.glued { // an element of an array: a[2]
		p.advance()
		at := p.tok.pos
		if p.tok.kind == tokIdent && p.tok.text != warpSize {
			p.errorAt(at, "array index that is not a constant", "compute the address in a register")
			return o, false
		}
		n, ok := p.constInt("an array index")
		if !ok || !p.expect("]", "an array element is written name[index]") {
			return o, false
		}
		index := Operand{Kind: OpImm, Pos: at, Imm: intImm(n)}
		return Operand{Kind: opIndex, Pos: o.Pos, List: p.keep([]Operand{o, index})}, true
	}
	if p.tok.is("+") || p.tok.is("-") {
		off, ok := p.offset()
		o.Imm = Imm{Bits: uint64(off)}
		return o, ok
	}
	return o, true
}

// opIndex is an operand `array[n]` before names are resolved and the element size
// is known. Its List has the array and the index.
const opIndex OperandKind = 255

// element maps the colour names of vector elements to x, y, z and w.
func element(s string) string {
	switch s {
	case "r":
		return "x"
	case "g":
		return "y"
	case "b":
		return "z"
	case "a":
		return "w"
	}
	return s
}

// offset parses `+ constant` or `- constant`; the sign is the current token.
func (p *parser) offset() (int64, bool) {
	minus := p.tok.is("-")
	if !minus {
		p.advance()
	}
	at := p.tok.pos
	if p.tok.kind == tokIdent && p.tok.text != warpSize {
		p.errorAt(at, "offset "+p.tok.describe()+" is not a constant", "compute the address in a register first; only a constant can be added here")
		return 0, false
	}
	v, ok := p.binary(binaryPrec["|"])
	if !ok {
		return 0, false
	}
	if v.sym != "" {
		p.errorAt(v.symPos, "offset "+clip(v.sym)+" is not a constant", "compute the address in a register first; only a constant can be added here")
		return 0, false
	}
	if v.float() {
		p.errorAt(at, "offset is not an integer", "")
		return 0, false
	}
	return int64(v.imm.Bits), true
}

// constOperand parses an operand that is a constant expression.
func (p *parser) constOperand() (Operand, bool) {
	o := Operand{Kind: OpImm, Pos: p.tok.pos}
	v, ok := p.constExpr()
	if !ok {
		return o, false
	}
	if v.sym == "" {
		o.Imm = v.imm
		return o, true
	}
	if v.mask != 0 {
		p.errorAt(o.Pos, "byte mask in an instruction", "byte masks of addresses are only allowed in initialisers; use and.b32 here")
		return o, false
	}
	return Operand{Kind: OpSym, Pos: v.symPos, Name: v.sym, Generic: v.generic, Imm: Imm{Bits: v.imm.Bits}}, true
}

// list parses operands between the current bracket and close.
func (p *parser) list(kind OperandKind, closing string) (Operand, bool) {
	o := Operand{Kind: kind, Pos: p.tok.pos}
	if !p.enter() {
		return o, false
	}
	defer p.leave()
	p.advance()
	mark := len(p.stack)
	defer func() { p.stack = p.stack[:mark] }()
	for !p.accept(closing) {
		if len(p.stack) > mark && !p.expect(",", "the list ends with "+closing) {
			return o, false
		}
		e, ok := p.single()
		if !ok {
			return o, false
		}
		p.stack = append(p.stack, e)
	}
	o.List = p.keep(p.stack[mark:])
	return o, true
}

// address parses `[ … ]`: an address, or the parts of a texture operand.
func (p *parser) address() (Operand, bool) {
	o := Operand{Kind: OpAddr, Pos: p.tok.pos}
	if !p.enter() {
		return o, false
	}
	defer p.leave()
	p.advance()
	mark := len(p.stack)
	defer func() { p.stack = p.stack[:mark] }()
	const hint = "an address is written [%r], [%r+8] or [name+8]"
	base, off, ok := p.addressPart()
	if !ok {
		return o, false
	}
	if p.tok.is("]") {
		p.advance()
		o.List, o.Offset = p.keep([]Operand{base}), off
		return o, true
	}
	o.Kind = OpTexAddr
	for {
		if off != 0 {
			base = Operand{Kind: OpAddr, Pos: base.Pos, Offset: off, List: p.keep([]Operand{base})}
		}
		p.stack = append(p.stack, base)
		if p.accept("]") {
			break
		}
		if !p.expect(",", hint) {
			return o, false
		}
		if base, off, ok = p.addressPart(); !ok {
			return o, false
		}
	}
	o.List = p.keep(p.stack[mark:])
	return o, true
}

// addressPart parses a part of an address operand with its offset.
func (p *parser) addressPart() (base Operand, off int64, ok bool) {
	if p.tok.is("]") {
		p.errorAt(p.tok.pos, "empty address", "an address is written [%r], [%r+8] or [name+8]")
		return base, 0, false
	}
	if p.tok.is("{") {
		base, ok = p.list(OpVec, "}")
		return base, 0, ok
	}
	if p.tok.is("[") {
		p.errorAt(p.tok.pos, "address inside an address", "")
		return base, 0, false
	}
	base, ok = p.single()
	if ok && base.Kind == OpSym {
		off = int64(base.Imm.Bits)
		base.Imm = Imm{}
	}
	if ok && base.Neg {
		p.errorAt(base.Pos, "negated name in an address", "compute the address in a register first")
		return base, 0, false
	}
	return base, off, ok
}
