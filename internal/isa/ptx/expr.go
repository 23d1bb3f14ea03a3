package ptx

import (
	"math"
	"strconv"
	"strings"
)

// maxDepth bounds the nesting of parentheses, unary operators, braces and
// blocks, so that hostile input cannot exhaust the stack.
const maxDepth = 100

// value is a constant expression during folding.
type value struct {
	imm     Imm
	sym     string // symbol whose address is added
	symPos  Pos
	generic bool
	mask    uint64
	literal bool // imm.Text is a single literal as written
}

// warpSize is the predefined constant of the language.
const warpSize = "WARP_SZ"

func (v *value) float() bool { return v.imm.Kind == ImmF32 || v.imm.Kind == ImmF64 }

// f64 returns the value of a number as a float64.
func (i Imm) f64() float64 {
	switch i.Kind {
	case ImmF32:
		return float64(math.Float32frombits(uint32(i.Bits)))
	case ImmF64:
		return math.Float64frombits(i.Bits)
	case ImmUint:
		return float64(i.Bits)
	}
	return float64(int64(i.Bits))
}

// text is the canonical spelling of a folded number.
func (i Imm) text() string {
	switch i.Kind {
	case ImmF32:
		return "0f" + hexDigits(i.Bits&0xffffffff, 8)
	case ImmF64:
		return "0d" + hexDigits(i.Bits, 16)
	case ImmUint:
		return strconv.FormatUint(i.Bits, 10) + "U"
	}
	if i.Bits == 1<<63 { // a signed literal cannot express it directly
		return "-0x8000000000000000"
	}
	return strconv.FormatInt(int64(i.Bits), 10)
}

func hexDigits(v uint64, n int) string {
	s := strings.ToUpper(strconv.FormatUint(v, 16))
	return strings.Repeat("0", n-len(s)) + s
}

func intImm(v int64) Imm { i := Imm{Kind: ImmInt, Bits: uint64(v)}; i.Text = i.text(); return i }

// parseNumber returns the value of a literal; msg and hint describe an error.
func parseNumber(text string) (i Imm, msg, hint string) {
	i.Text = text
	if len(text) > 1 && text[0] == '0' && (text[1]|0x20 == 'f' || text[1]|0x20 == 'd') {
		digits, want, kind := text[2:], 8, ImmF32
		if text[1]|0x20 == 'd' {
			want, kind = 16, ImmF64
		}
		v, err := strconv.ParseUint(digits, 16, 64)
		if err != nil || len(digits) != want || strings.ContainsAny(digits, "_+") {
			return i, "bad floating-point literal " + clip(text), "0" + text[1:2] + " is followed by exactly " + strconv.Itoa(want) + " hexadecimal digits"
		}
		i.Kind, i.Bits = kind, v
		return i, "", ""
	}
	hex := len(text) > 1 && text[0] == '0' && text[1]|0x20 == 'x'
	if !hex && (strings.ContainsRune(text, '.') || strings.ContainsAny(text, "eE") && text[0] != '0') || text[0] == '0' && isDecimalExp(text) {
		v, err := strconv.ParseFloat(text, 64)
		if strings.ContainsRune(text, '_') || (err != nil && !math.IsInf(v, 0)) {
			return i, "bad floating-point literal " + clip(text), ""
		}
		i.Kind, i.Bits = ImmF64, math.Float64bits(v)
		return i, "", ""
	}
	digits, base := text, 10
	unsigned := strings.HasSuffix(text, "U") || strings.HasSuffix(text, "u")
	if unsigned {
		digits = digits[:len(digits)-1]
	}
	name := "decimal"
	switch {
	case hex:
		digits, base, name = digits[2:], 16, "hexadecimal"
	case len(digits) > 1 && digits[0] == '0' && digits[1]|0x20 == 'b':
		digits, base, name = digits[2:], 2, "binary"
	case len(digits) > 1 && digits[0] == '0':
		digits, base, name = digits[1:], 8, "octal"
	}
	v, err := strconv.ParseUint(digits, base, 64)
	if err != nil || strings.ContainsRune(digits, '_') {
		if ne, ok := err.(*strconv.NumError); ok && ne.Err == strconv.ErrRange {
			return i, "integer literal " + clip(text) + " does not fit in 64 bits", ""
		}
		return i, "bad " + name + " literal " + clip(text), ""
	}
	i.Bits = v
	if unsigned || v > math.MaxInt64 {
		i.Kind = ImmUint
	}
	return i, "", ""
}

// isDecimalExp reports whether a literal that begins with 0 has a decimal
// exponent, as in 0e5.
func isDecimalExp(s string) bool {
	return len(s) > 1 && s[1]|0x20 != 'x' && s[1]|0x20 != 'b' && strings.ContainsAny(s, "eE.")
}

// binaryPrec gives the precedence of the operators in constant expressions.
var binaryPrec = map[string]int{
	"||": 1, "&&": 2, "|": 3, "^": 4, "&": 5, "==": 6, "!=": 6,
	"<": 7, "<=": 7, ">": 7, ">=": 7, "<<": 8, ">>": 8,
	"+": 9, "-": 9, "*": 10, "/": 10, "%": 10,
}

// constExpr parses a constant expression. ok is false after an error.
func (p *parser) constExpr() (v value, ok bool) {
	v, ok = p.ternary()
	if ok && !v.literal {
		v.imm.Text = v.imm.text()
	}
	return v, ok
}

// enter goes one level deeper unless the nesting is too deep; leave goes back.
func (p *parser) enter() bool {
	if p.depth == maxDepth {
		p.errorAt(p.tok.pos, "nested too deeply", "at most "+strconv.Itoa(maxDepth)+" levels are supported")
		return false
	}
	p.depth++
	return true
}

func (p *parser) leave() { p.depth-- }

func (p *parser) ternary() (value, bool) {
	cond, ok := p.binary(1)
	if !ok || !p.tok.is("?") {
		return cond, ok
	}
	if !p.enter() {
		return value{}, false
	}
	defer p.leave()
	at := p.tok.pos
	p.advance()
	a, ok := p.ternary()
	if !ok || !p.expect(":", "a conditional expression is a ? b : c") {
		return value{}, false
	}
	b, ok := p.ternary()
	if !ok {
		return value{}, false
	}
	if cond.sym != "" || a.sym != "" || b.sym != "" {
		p.errorAt(at, "address in a conditional expression", "the value must be known when the file is read")
		return value{}, false
	}
	r := b
	if cond.imm.f64() != 0 {
		r = a
	}
	if a.float() != b.float() {
		r = value{imm: Imm{Kind: ImmF64, Bits: math.Float64bits(r.imm.f64())}}
	} else if a.imm.Kind == ImmUint || b.imm.Kind == ImmUint {
		r.imm.Kind = ImmUint
	}
	r.literal = false
	return r, true
}

// binary parses operators of at least the given precedence, left to right.
func (p *parser) binary(prec int) (value, bool) {
	left, ok := p.unary()
	for ok {
		p.splitRemainder()
		op := p.tok
		q := 0
		if op.kind == tokPunct {
			q = binaryPrec[op.text]
		}
		if q == 0 || q < prec {
			return left, true
		}
		p.advance()
		var right value
		if right, ok = p.binary(q + 1); ok {
			left, ok = p.fold(op, left, right)
		}
	}
	return value{}, false
}

// splitRemainder splits the token %3, which is a name elsewhere, into the operator
// % and the number 3: a name cannot follow a constant.
func (p *parser) splitRemainder() {
	t := p.tok
	if t.kind != tokIdent || t.text[0] != '%' || class[t.text[1]]&clsDigit == 0 {
		return
	}
	if !p.peeked {
		// Read the number again, so that 0x10 or 5.0 is split as in the lexer.
		p.lex.off = t.off + 1
		p.tok.kind, p.tok.text = tokPunct, "%"
	}
}

func (p *parser) unary() (value, bool) {
	if !p.enter() {
		return value{}, false
	}
	defer p.leave()
	op := p.tok
	if op.kind == tokPunct {
		switch op.text {
		case "-", "+", "!", "~":
			p.advance()
			v, ok := p.unary()
			if !ok {
				return v, false
			}
			if v.sym != "" {
				p.errorAt(op.pos, "operator "+op.text+" on an address", "only a constant can be added to an address")
				return v, false
			}
			return p.foldUnary(op, v)
		case "(":
			p.advance()
			if p.tok.dot("s64") || p.tok.dot("u64") {
				kind := ImmInt
				if p.tok.text == "u64" {
					kind = ImmUint
				}
				p.advance()
				if !p.expect(")", "a cast is (.s64) or (.u64)") {
					return value{}, false
				}
				v, ok := p.unary()
				if ok && (v.sym != "" || v.float()) {
					p.errorAt(op.pos, "cast of something that is not an integer", "casts apply to integer constants")
					return v, false
				}
				v.imm.Kind, v.literal = kind, false
				return v, ok
			}
			v, ok := p.ternary()
			if !ok {
				return v, false
			}
			return v, p.expect(")", "this closes the parenthesis of the expression")
		}
	}
	return p.primary()
}

func (p *parser) primary() (value, bool) {
	t := p.tok
	switch t.kind {
	case tokNum:
		imm, msg, hint := parseNumber(t.text)
		if msg != "" {
			p.errorAt(t.pos, msg, hint)
			return value{}, false
		}
		p.advance()
		if p.tok.is("(") && imm.Kind <= ImmUint { // byte mask: 0xFF00(sym)
			return p.maskedSymbol(t, imm)
		}
		return value{imm: imm, literal: true}, true
	case tokIdent:
		if t.text == warpSize {
			p.advance()
			return value{imm: Imm{Kind: ImmInt, Bits: 32, Text: warpSize}, literal: true}, true
		}
		if t.text == "generic" && p.peek().is("(") {
			p.advance()
			p.advance()
			if p.tok.kind != tokIdent {
				p.errorAt(p.tok.pos, "expected a variable, found "+p.tok.describe(), "generic(name) is the generic address of a variable")
				return value{}, false
			}
			v := value{sym: p.tok.text, symPos: p.tok.pos, generic: true}
			p.advance()
			return v, p.expect(")", "generic(name) is the generic address of a variable")
		}
		p.advance()
		return value{sym: t.text, symPos: t.pos}, true
	}
	p.errorAt(t.pos, "expected a constant, found "+t.describe(), "")
	return value{}, false
}

// maskedSymbol parses the rest of `0xFF00(sym)`, which selects one byte of an
// address.
func (p *parser) maskedSymbol(t token, mask Imm) (value, bool) {
	b := mask.Bits
	for b != 0 && b&0xff == 0 {
		b >>= 8
	}
	if b != 0xff {
		p.errorAt(t.pos, "bad byte mask "+clip(t.text), "a mask selects one byte: 0xFF, 0xFF00, 0xFF0000 ...")
		return value{}, false
	}
	p.advance()
	v, ok := p.ternary()
	if !ok || !p.expect(")", "a byte mask is written 0xFF(name)") {
		return v, false
	}
	if v.mask != 0 {
		p.errorAt(t.pos, "byte mask of a byte mask", "")
		return v, false
	}
	v.mask, v.literal = mask.Bits, false
	if v.sym == "" { // a constant: take the byte now
		if v.float() {
			p.errorAt(t.pos, "byte mask of a floating-point number", "")
			return v, false
		}
		shift := 0
		for mask.Bits>>shift&0xff == 0 {
			shift += 8
		}
		return value{imm: Imm{Kind: ImmInt, Bits: v.imm.Bits >> shift & 0xff}}, true
	}
	return v, true
}

func (p *parser) foldUnary(op token, v value) (value, bool) {
	lit := v.literal
	text := v.imm.Text
	v.literal = false
	switch op.text {
	case "+":
	case "-":
		switch v.imm.Kind {
		case ImmF32:
			v.imm.Bits ^= 1 << 31
		case ImmF64:
			v.imm.Bits ^= 1 << 63
		default:
			v.imm.Bits = -v.imm.Bits
			if v.imm.Kind == ImmUint && !strings.HasSuffix(text, "U") && v.imm.Bits == 1<<63 {
				v.imm.Kind = ImmInt // the smallest signed number
			}
		}
		if lit && text != warpSize && text[0] != '-' {
			v.literal = true
			v.imm.Text = "-" + text
		}
	case "!":
		v.imm = Imm{Bits: truth(v.imm.f64() == 0)}
	case "~":
		if v.float() {
			p.errorAt(op.pos, "operator ~ on a floating-point number", "")
			return v, false
		}
		v.imm.Bits = ^v.imm.Bits
	}
	return v, true
}

func truth(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

// fold applies a binary operator by the rules of C: the result of mixed signs is
// unsigned, and a floating operand makes the operation floating.
func (p *parser) fold(op token, a, b value) (value, bool) {
	if a.sym != "" || b.sym != "" {
		return p.foldAddress(op, a, b)
	}
	if a.float() || b.float() {
		return p.foldFloat(op, a.imm, b.imm)
	}
	x, y := a.imm.Bits, b.imm.Bits
	unsigned := a.imm.Kind == ImmUint || b.imm.Kind == ImmUint
	r := Imm{Kind: ImmInt}
	if unsigned {
		r.Kind = ImmUint
	}
	flag := func(c bool) { r = Imm{Kind: ImmInt, Bits: truth(c)} }
	less := func(x, y uint64) bool {
		if unsigned {
			return x < y
		}
		return int64(x) < int64(y)
	}
	switch op.text {
	case "+":
		r.Bits = x + y
	case "-":
		r.Bits = x - y
	case "*":
		r.Bits = x * y
	case "/", "%":
		switch {
		case y == 0:
			p.errorAt(op.pos, "division by zero in a constant expression", "")
			return value{}, false
		case unsigned && op.text == "/":
			r.Bits = x / y
		case unsigned:
			r.Bits = x % y
		case op.text == "/":
			r.Bits = uint64(int64(x) / int64(y))
		default:
			r.Bits = uint64(int64(x) % int64(y))
		}
	case "<<", ">>":
		r.Kind = a.imm.Kind
		switch {
		case op.text == "<<":
			r.Bits = x << min(y, 64)
		case r.Kind == ImmUint:
			r.Bits = x >> min(y, 64)
		default:
			r.Bits = uint64(int64(x) >> min(y, 63))
		}
	case "&":
		r.Bits = x & y
	case "|":
		r.Bits = x | y
	case "^":
		r.Bits = x ^ y
	case "&&":
		flag(x != 0 && y != 0)
	case "||":
		flag(x != 0 || y != 0)
	case "==":
		flag(x == y)
	case "!=":
		flag(x != y)
	case "<":
		flag(less(x, y))
	case "<=":
		flag(!less(y, x))
	case ">":
		flag(less(y, x))
	case ">=":
		flag(!less(x, y))
	}
	return value{imm: r}, true
}

func (p *parser) foldAddress(op token, a, b value) (value, bool) {
	bad := a.sym != "" && b.sym != "" || a.mask != 0 || b.mask != 0 || a.float() || b.float() ||
		op.text != "+" && (op.text != "-" || b.sym != "")
	if bad {
		p.errorAt(op.pos, "operator "+op.text+" on an address", "only an integer constant can be added to or subtracted from an address")
		return value{}, false
	}
	r := a
	if a.sym == "" {
		r = b
	}
	off := a.imm.Bits + b.imm.Bits
	if op.text == "-" {
		off = a.imm.Bits - b.imm.Bits
	}
	r.imm = Imm{Bits: off}
	r.literal = false
	return r, true
}

func (p *parser) foldFloat(op token, a, b Imm) (value, bool) {
	x, y := a.f64(), b.f64()
	number := func(f float64) (value, bool) {
		return value{imm: Imm{Kind: ImmF64, Bits: math.Float64bits(f)}}, true
	}
	flag := func(c bool) (value, bool) { return value{imm: Imm{Bits: truth(c)}}, true }
	switch op.text {
	case "+":
		return number(x + y)
	case "-":
		return number(x - y)
	case "*":
		return number(x * y)
	case "/":
		return number(x / y)
	case "==":
		return flag(x == y)
	case "!=":
		return flag(x != y)
	case "<":
		return flag(x < y)
	case "<=":
		return flag(x <= y)
	case ">":
		return flag(x > y)
	case ">=":
		return flag(x >= y)
	case "&&":
		return flag(x != 0 && y != 0)
	case "||":
		return flag(x != 0 || y != 0)
	}
	p.errorAt(op.pos, "operator "+op.text+" on a floating-point number", "")
	return value{}, false
}
