package ptx

import (
	"strconv"
	"strings"
)

// Parse parses a PTX file; name is used in messages. If there are errors, it still
// returns the module as far as it was recognised. The error is an ErrorList.
func Parse(name string, src []byte) (*Module, error) { return parse(name, src, nil) }

// parse is Parse and, with a place for what is not read, ParseHeads.
func parse(name string, src []byte, u *unread) (*Module, error) {
	text := strings.TrimRight(string(src), "\x00") // PTX embedded in binaries ends in NUL
	text = strings.TrimPrefix(text, "\ufeff")
	m := &Module{File: name, AddressSize: 32, Files: map[int]string{}, Lines: splitLines(text)}
	p := &parser{mod: m, modSets: map[string][]string{}, unread: u}
	p.lex = lexer{src: text, line: 1, fresh: true, report: p.lexError}
	p.advance()
	p.module()
	if !p.stopped() {
		r := resolver{mod: m, tainted: p.tainted}
		r.module()
		p.errs = append(p.errs, r.errs...)
		if u != nil {
			u.nextID, u.top = p.nextID, r.top
		}
	}
	if len(p.errs) > 0 {
		return m, finish(p.errs, name, m.Lines)
	}
	return m, nil
}

func splitLines(text string) []string {
	lines := make([]string, 0, strings.Count(text, "\n")+1)
	for l := range strings.Lines(text) {
		lines = append(lines, strings.TrimRight(l, "\r\n"))
	}
	return lines
}

// parser is a recursive-descent parser with one token of lookahead. Its methods
// report an error once and return false; a caller that can recover does so at the
// end of the statement.
type parser struct {
	lex    lexer
	tok    token
	ahead  token
	peeked bool
	last   token // the token before tok
	mod    *Module
	fn     *Func // whose body or parameters are being parsed
	errs   ErrorList
	depth  int
	nextID int
	unread *unread // nil if all is parsed at once

	inCall   bool            // the instruction is a call, whose operands are lists
	inHead   bool            // the head of a function has an error
	unclosed bool            // a missing } has been reported
	badLine  int32           // line of the last lexical error
	tainted  map[string]bool // names in statements with errors

	seenVersion, seenTarget, seenSize bool

	args  []Operand // operands of the current instruction
	stack []Operand // operands of nested lists
	arena []Operand // unused rest of the current chunk
	insts []Inst    // likewise

	mods    []string            // of the current instruction
	modSets map[string][]string // modifiers by their text
}

// lexError reports text that is not a token. Errors that the parser finds in the
// rest of the line are consequences, and are suppressed.
func (p *parser) lexError(pos Pos, msg, hint string) {
	p.badLine = 0
	p.errorAt(pos, msg, hint)
	p.badLine = pos.Line
}

func (p *parser) errorAt(pos Pos, msg, hint string) {
	if pos.Line == p.badLine {
		return
	}
	if len(p.errs) <= 4*maxErrors {
		p.errs = append(p.errs, &Error{Pos: pos, Msg: msg, Hint: hint})
	}
}

// stopped reports whether parsing should stop because of too many errors.
func (p *parser) stopped() bool { return len(p.errs) > 4*maxErrors }

func (p *parser) advance() {
	p.last = p.tok
	if p.peeked {
		p.tok, p.peeked = p.ahead, false
	} else {
		p.tok = p.lex.next()
	}
	for p.tok.kind == tokBad { // already reported
		p.tok = p.lex.next()
	}
}

func (p *parser) peek() token {
	if !p.peeked {
		p.ahead, p.peeked = p.lex.next(), true
	}
	return p.ahead
}

// accept consumes the punctuation if it is next.
func (p *parser) accept(s string) bool {
	if !p.tok.is(s) {
		return false
	}
	p.advance()
	return true
}

// expect consumes the punctuation, or reports what it found instead.
func (p *parser) expect(s, hint string) bool {
	if p.accept(s) {
		return true
	}
	p.missing(s, hint)
	return false
}

// missing reports that s was expected. If the current token begins a new line, the
// error is placed after the previous token.
func (p *parser) missing(s, hint string) {
	if (p.tok.first || p.tok.kind == tokEOF) && p.last.kind != tokEOF {
		pos := p.last.pos
		pos.Col += int32(p.last.end() - p.last.off)
		p.errorAt(pos, "expected "+s+" after "+p.last.describe(), hint)
		return
	}
	p.errorAt(p.tok.pos, "expected "+s+", found "+p.tok.describe(), hint)
}

func (p *parser) ident(what, hint string) (token, bool) {
	t := p.tok
	if t.kind != tokIdent {
		p.missing(what, hint)
		return t, false
	}
	p.advance()
	return t, true
}

// sync skips to the end of the statement: past the next `;`, or up to the `}` of
// the block, a block, a directive at the beginning of a line, or the end of the
// file. start is where the statement began; at least one token is skipped if
// nothing was.
func (p *parser) sync(start int) {
	open := p.taint(start, p.tok.off) // braces of operands that are open
	from := p.tok.off
	defer func() { p.taint(from, p.tok.off) }()
	if p.tok.off == start && p.tok.kind != tokEOF && !p.tok.is("}") {
		if p.accept(";") {
			return
		}
		p.advance()
	}
	for p.tok.kind != tokEOF {
		switch {
		case p.tok.first && (p.tok.kind == tokDot && statementWord[p.tok.text] || p.tok.kind == tokLine):
			return
		case p.tok.is("}") && open <= 0 && !p.strayBrace():
			return
		case p.tok.is("}"):
			open--
		case p.tok.is("{") && (p.tok.first || p.blockFollows()):
			return
		case p.tok.is("{"):
			open++
		case p.tok.is(";"):
			p.advance()
			return
		}
		p.advance()
	}
}

// blockFollows reports whether the current token { opens a block rather than a
// vector operand.
func (p *parser) blockFollows() bool {
	l := lexer{src: p.lex.src, off: p.tok.off + 1, report: func(Pos, string, string) {}}
	for {
		switch t := l.next(); {
		case t.is("}"):
			return false
		case t.is(";"), t.is("{"), t.kind == tokEOF:
			return true
		}
	}
}

// taint records the names in text with an error. The text may have declared them,
// so using one is not reported as another error. It returns how many more braces
// the text opens than it closes.
func (p *parser) taint(from, to int) (open int) {
	if p.tainted == nil {
		p.tainted = map[string]bool{}
	}
	declares := strings.HasPrefix(p.lex.src[from:], ".")
	l := lexer{src: p.lex.src[:to], off: from, report: func(Pos, string, string) {}}
	for t := l.next(); t.kind != tokEOF; t = l.next() {
		switch {
		case t.kind == tokIdent:
			p.tainted[t.text] = true
			if declares { // perhaps a family whose <n> was lost
				p.tainted[strings.TrimRight(t.text, "0123456789")] = true
			}
		case t.is("{"):
			open++
		case t.is("}"):
			open--
		}
	}
	return open
}

// statementWord holds the directives that begin a statement or an item.
var statementWord = map[string]bool{
	"version": true, "target": true, "address_size": true, "file": true, "loc": true, "section": true,
	"pragma": true, "alias": true, "visible": true, "extern": true, "weak": true, "common": true,
	"entry": true, "func": true, "reg": true, "sreg": true, "const": true, "global": true, "local": true,
	"param": true, "shared": true, "tex": true,
}

// itemWord holds the directives that begin an item at module scope and nothing
// inside a function.
var itemWord = map[string]bool{"version": true, "target": true, "address_size": true, "visible": true, "extern": true,
	"weak": true, "entry": true, "func": true, "global": true, "const": true, "alias": true}

var spaceWords = map[string]StateSpace{
	"reg": SpaceReg, "sreg": SpaceSreg, "const": SpaceConst, "global": SpaceGlobal, "local": SpaceLocal,
	"param": SpaceParam, "shared": SpaceShared, "tex": SpaceTex,
}

var linkageWords = map[string]Linkage{"extern": Extern, "visible": Visible, "weak": Weak, "common": Common}

func keys[V any](m map[string]V, prefix string) []string {
	out := make([]string, 0, len(m))
	for k := range m {
		out = append(out, prefix+k)
	}
	sortStrings(out)
	return out
}

// module parses the whole file.
func (p *parser) module() {
	for p.tok.kind != tokEOF && !p.stopped() {
		start := p.tok.off
		if !p.seenVersion && !p.tok.dot("version") && p.tok.kind != tokLine {
			p.errorAt(p.tok.pos, "a PTX file begins with .version, found "+p.tok.describe(), "write for example .version 7.8")
			p.seenVersion = true
		}
		if p.item() {
			continue
		}
		if p.inHead {
			p.inHead = false
			p.skipFunction(start)
			continue
		}
		p.sync(start)
		if p.tok.is("}") { // after a body whose beginning had an error
			p.advance()
		}
	}
	switch {
	case !p.seenVersion:
		p.errorAt(Pos{Line: 1, Col: 1}, "the file is empty", "a PTX file begins with .version and .target")
	case !p.seenTarget && len(p.errs) == 0:
		p.errorAt(Pos{Line: 1, Col: 1}, "no .target directive", "write for example .target sm_80 after .version")
	}
}

// item parses a module-level item.
func (p *parser) item() bool {
	t := p.tok
	switch {
	case t.kind == tokLine:
		p.mod.Items = append(p.mod.Items, &Directive{Pos: t.pos, Name: "@@DWARF", Raw: t.text})
		p.advance()
		return true
	case t.is(";"): // an empty item, left over by macros
		p.advance()
		return true
	case t.is("}"):
		p.errorAt(t.pos, "} without its {", "")
		p.advance()
		return true
	case t.is("{"):
		p.errorAt(t.pos, "block outside of a function", "a body follows .entry or .func")
		p.skipBraces()
		return true
	case t.kind == tokIdent:
		p.errorAt(t.pos, "instruction or label "+clip(t.text)+" outside of a function", "instructions belong between the braces of .entry or .func")
		p.skipStray()
		return true
	case t.kind != tokDot:
		p.errorAt(t.pos, "expected a directive, found "+t.describe(), "")
		return false
	}
	switch t.text {
	case "version":
		return p.version()
	case "target":
		return p.target()
	case "address_size":
		return p.addressSize()
	case "file", "section", "pragma", "loc":
		d, ok := p.directive()
		if ok {
			p.mod.Items = append(p.mod.Items, d)
		}
		return ok
	case "alias":
		return p.alias()
	}
	linkage, ok := p.linkage()
	if !ok {
		return false
	}
	switch {
	case p.tok.dot("entry"), p.tok.dot("func"):
		f, ok := p.function(t.pos, linkage)
		if f != nil {
			p.mod.Items = append(p.mod.Items, f)
			p.mod.Funcs = append(p.mod.Funcs, f)
		}
		return ok
	case p.tok.kind == tokDot && spaceWords[p.tok.text] != SpaceNone:
		d, ok := p.varDecl(t.pos, linkage)
		if d != nil {
			p.mod.Items = append(p.mod.Items, d)
			p.mod.Vars = append(p.mod.Vars, d.Vars...)
		}
		return ok
	}
	known := append(keys(statementWord, "."), keys(linkageWords, ".")...)
	if p.tok.kind == tokDot {
		p.errorAt(p.tok.pos, "unknown directive "+p.tok.describe(), didYouMean("."+p.tok.text, known))
		return false
	}
	p.missing("a state space, .entry or .func", "")
	return false
}

// skipFunction skips the rest of a function whose head has an error.
func (p *parser) skipFunction(start int) {
	for p.tok.kind != tokEOF && !p.tok.is("{") && !p.tok.is("}") {
		if p.tok.first && (p.tok.dot("visible") || p.tok.dot("entry") || p.tok.dot("func") || p.tok.dot("extern") || p.tok.dot("weak")) && p.tok.off > start {
			break
		}
		if p.accept(";") {
			break
		}
		p.advance()
	}
	p.taint(start, p.tok.off)
	if p.tok.is("{") {
		p.skipBraces()
	} else if p.tok.off == start {
		p.advance()
	}
}

// skipStray skips statements outside a function: there is a } too many or a { too
// few. It stops after the next } or before the next item.
func (p *parser) skipStray() {
	start := p.tok.off
	for p.tok.kind != tokEOF && !(p.tok.first && p.tok.kind == tokDot && itemWord[p.tok.text]) {
		if p.tok.is("{") {
			p.skipBraces()
			continue
		}
		stray := p.strayBrace()
		if p.accept("}") && !stray {
			break
		} else if !stray {
			p.advance()
		}
	}
	p.taint(start, p.tok.off)
}

// strayBrace reports whether the current token is a } that closes no block and
// belongs to an operand whose { is missing.
func (p *parser) strayBrace() bool {
	if !p.tok.is("}") || p.tok.first || p.last.is(";") || p.last.is("}") || p.last.is("{") {
		return false
	}
	next := p.peek()
	return next.is(";") || next.is(",")
}

// skipBraces skips a balanced { … }.
func (p *parser) skipBraces() {
	n := 0
	for p.tok.kind != tokEOF {
		if p.tok.is("{") {
			n++
		} else if p.tok.is("}") {
			n--
		}
		p.advance()
		if n == 0 {
			return
		}
	}
}

func (p *parser) linkage() (Linkage, bool) {
	l := NoLinkage
	for p.tok.kind == tokDot && linkageWords[p.tok.text] != NoLinkage {
		if l != NoLinkage {
			p.errorAt(p.tok.pos, "second linkage "+p.tok.describe(), "a declaration has one of .extern, .visible, .weak and .common")
			return l, false
		}
		l = linkageWords[p.tok.text]
		p.advance()
	}
	return l, true
}

func (p *parser) version() bool {
	at := p.tok.pos
	if p.mod.VersionMajor != 0 {
		p.errorAt(at, "second .version", "a file holds one module")
	}
	p.seenVersion = true
	p.advance()
	t := p.tok
	major, minor, cut := strings.Cut(t.text, ".")
	a, err1 := strconv.Atoi(major)
	b, err2 := strconv.Atoi(minor)
	if t.kind != tokNum || !cut || err1 != nil || err2 != nil || a < 1 || a > 99 || b > 99 {
		p.errorAt(t.pos, "bad version "+t.describe(), "a version is written as in .version 7.8")
		return false
	}
	p.mod.VersionMajor, p.mod.VersionMinor = a, b
	p.advance()
	return true
}

var targetOptions = map[string]bool{"texmode_unified": true, "texmode_independent": true, "debug": true, "map_f64_to_f32": true}

func (p *parser) target() bool {
	if p.seenTarget {
		p.errorAt(p.tok.pos, "second .target", "name all targets in one directive, separated by commas")
	}
	p.seenTarget = true
	p.advance()
	for {
		t, ok := p.ident("a target", "write for example .target sm_80")
		if !ok {
			return false
		}
		if n, isSM := smNumber(t.text); isSM {
			p.mod.SM = n
		} else if !targetOptions[t.text] {
			names := append(keys(targetOptions, ""), "sm_50", "sm_60", "sm_70", "sm_75", "sm_80", "sm_86", "sm_90", "sm_100", "sm_120")
			p.errorAt(t.pos, "unknown target "+clip(t.text), didYouMean(t.text, names))
		}
		p.mod.Targets = append(p.mod.Targets, t.text)
		if !p.accept(",") {
			return true
		}
	}
}

// smNumber returns the number of an architecture: sm_90a → 90.
func smNumber(s string) (int, bool) {
	digits, ok := strings.CutPrefix(s, "sm_")
	if !ok {
		return 0, false
	}
	if n := len(digits); n > 1 && (digits[n-1] == 'a' || digits[n-1] == 'f') {
		digits = digits[:n-1]
	}
	n, err := strconv.Atoi(digits)
	return n, err == nil && n >= 10 && n < 1000 && digits[0] != '+'
}

func (p *parser) addressSize() bool {
	if p.seenSize {
		p.errorAt(p.tok.pos, "second .address_size", "")
	}
	p.seenSize = true
	p.advance()
	switch {
	case p.tok.kind == tokNum && p.tok.text == "32":
		p.mod.AddressSize = 32
	case p.tok.kind == tokNum && p.tok.text == "64":
		p.mod.AddressSize = 64
	default:
		p.errorAt(p.tok.pos, "bad address size "+p.tok.describe(), "want 32 or 64")
		return false
	}
	p.advance()
	return true
}

func (p *parser) alias() bool {
	a := &Alias{Pos: p.tok.pos}
	p.advance()
	name, ok := p.ident("a name", "an alias is written .alias name, function;")
	if !ok || !p.expect(",", "an alias is written .alias name, function;") {
		return false
	}
	to, ok := p.ident("a function", "an alias is written .alias name, function;")
	if !ok {
		return false
	}
	a.Name, a.Target = name.text, to.text
	p.mod.Items = append(p.mod.Items, a)
	p.mod.Aliases = append(p.mod.Aliases, a)
	return p.expect(";", "every declaration ends with ;")
}

// smallInt parses a literal number from 0 to limit.
func (p *parser) smallInt(what string, limit int64) (int64, bool) {
	t := p.tok
	if t.kind != tokNum {
		p.missing(what, "")
		return 0, false
	}
	imm, msg, hint := parseNumber(t.text)
	if msg == "" && (imm.Kind > ImmUint || imm.Bits > uint64(limit)) {
		msg, hint = what+" "+clip(t.text)+" is out of range", "at most "+strconv.FormatInt(limit, 10)
	}
	if msg != "" {
		p.errorAt(t.pos, msg, hint)
		return 0, false
	}
	p.advance()
	return int64(imm.Bits), true
}

// directive parses .file, .section, .pragma, and .loc at module scope.
func (p *parser) directive() (*Directive, bool) {
	d := &Directive{Pos: p.tok.pos, Name: "." + p.tok.text}
	switch p.tok.text {
	case "file":
		return d, p.file(d)
	case "section":
		return d, p.section(d)
	case "loc":
		l, ok := p.loc()
		if ok {
			d.Raw = l.Raw
		}
		return d, ok
	}
	p.advance()
	var names []string
	for {
		if p.tok.kind != tokString {
			p.missing("a string", `a pragma is written .pragma "name";`)
			return d, false
		}
		names = append(names, p.tok.text)
		p.advance()
		if !p.accept(",") {
			break
		}
	}
	d.Raw = ".pragma " + strings.Join(names, ", ") + ";"
	return d, p.expect(";", "a pragma ends with ;")
}

func (p *parser) file(d *Directive) bool {
	p.advance()
	n, ok := p.smallInt("a file number", 1<<31-1)
	if !ok {
		return false
	}
	if p.tok.kind != tokString {
		p.missing("a file name in quotes", `write .file 1 "name.cu"`)
		return false
	}
	raw := p.tok.text
	d.Raw = ".file " + strconv.FormatInt(n, 10) + " " + raw
	p.mod.Files[int(n)] = unquote(raw)
	p.advance()
	for p.accept(",") { // time stamp and size
		v, ok := p.smallInt("a time stamp or file size", 1<<62)
		if !ok {
			return false
		}
		d.Raw += ", " + strconv.FormatInt(v, 10)
	}
	return true
}

// unquote removes the quotes and the escapes of \ and " from a string.
func unquote(s string) string {
	s = s[1 : len(s)-1]
	if !strings.Contains(s, `\`) {
		return s
	}
	return strings.NewReplacer(`\\`, `\`, `\"`, `"`).Replace(s)
}

// section parses debug data. It keeps the contents as text and checks only their
// structure: labels, and lists of numbers and labels after a type.
func (p *parser) section(d *Directive) bool {
	start := p.tok.off
	p.advance()
	if p.tok.kind != tokDot && p.tok.kind != tokIdent {
		p.missing("a section name", "write .section .debug_info { ... }")
		return false
	}
	p.advance()
	if !p.tok.is("{") {
		p.missing("{", "the contents of a section are in braces")
		return false
	}
	p.advance()
	for !p.tok.is("}") {
		switch {
		case p.tok.kind == tokIdent && p.peek().is(":"):
			p.advance()
			p.advance()
		case p.tok.kind == tokDot && sectionData[p.tok.text]:
			p.advance()
			if !p.sectionValues() {
				p.skipSection()
				return false
			}
		case p.tok.kind == tokEOF:
			p.missing("}", "the section that begins at line "+strconv.Itoa(int(d.Pos.Line))+" is not closed")
			return false
		default:
			p.errorAt(p.tok.pos, "expected debug data, found "+p.tok.describe(), "a section holds labels and .b8, .b16, .b32, .b64 data")
			p.skipSection()
			return false
		}
	}
	d.Raw = p.lex.src[start:p.tok.end()]
	p.advance()
	return true
}

var sectionData = map[string]bool{"b8": true, "b16": true, "b32": true, "b64": true, "byte": true, "4byte": true, "quad": true}

func (p *parser) sectionValues() bool {
	for {
		p.accept("-")
		switch p.tok.kind {
		case tokNum, tokIdent, tokDot, tokString:
		default:
			p.errorAt(p.tok.pos, "expected a number or a label, found "+p.tok.describe(), "")
			return false
		}
		p.advance()
		for p.tok.is("+") || p.tok.is("-") {
			p.advance()
			if p.tok.kind != tokNum && p.tok.kind != tokIdent {
				p.errorAt(p.tok.pos, "expected a number or a label, found "+p.tok.describe(), "")
				return false
			}
			p.advance()
		}
		if !p.accept(",") {
			return true
		}
	}
}

func (p *parser) skipSection() {
	for p.tok.kind != tokEOF && !p.accept("}") {
		p.advance()
	}
}

// loc parses a .loc directive.
func (p *parser) loc() (*Loc, bool) {
	l := &Loc{Pos: p.tok.pos}
	start := p.tok.off
	p.advance()
	var nums [3]int64
	for i := range nums {
		if i == 2 && (p.tok.kind != tokNum || p.tok.first) {
			break // the column is optional
		}
		n, ok := p.smallInt([]string{"a file number", "a line number", "a column"}[i], 1<<31-1)
		if !ok {
			return nil, false
		}
		nums[i] = n
	}
	l.File, l.Line, l.Col = int(nums[0]), int(nums[1]), int(nums[2])
	raw := ".loc " + strconv.Itoa(l.File) + " " + strconv.Itoa(l.Line) + " " + strconv.Itoa(l.Col)
	for p.tok.is(",") {
		p.advance()
		word, ok := p.ident("function_name or inlined_at", "")
		if !ok {
			return nil, false
		}
		switch word.text {
		case "function_name":
			name, ok := p.ident("a label", "function_name is followed by the label of the name in debug data")
			if !ok {
				return nil, false
			}
			raw += ", function_name " + name.text
			if p.accept("+") {
				n, ok := p.smallInt("an offset", 1<<62)
				if !ok {
					return nil, false
				}
				raw += "+" + strconv.FormatInt(n, 10)
			}
		case "inlined_at":
			raw += ", inlined_at"
			var at [3]int
			for i, what := range []string{"a file number", "a line number", "a column"} {
				n, ok := p.smallInt(what, 1<<31-1)
				if !ok {
					return nil, false
				}
				at[i] = int(n)
				raw += " " + strconv.FormatInt(n, 10)
			}
			l.InFile, l.InLine = at[0], at[1]
		default:
			p.errorAt(word.pos, "unknown attribute "+clip(word.text)+" of .loc", didYouMean(word.text, []string{"function_name", "inlined_at"}))
			return nil, false
		}
	}
	l.Raw = raw
	line, _, _ := strings.Cut(p.lex.src[start:p.tok.off], "\n")
	if at := strings.LastIndex(line, "@[ "); at >= 0 && l.InLine == 0 { // file:line:column, the outermost last
		f := strings.Split(strings.TrimRight(line[at+3:], " ]\r"), ":")
		if n := len(f); n > 2 {
			l.InName = strings.Join(f[:n-2], ":")
			l.InLine, _ = strconv.Atoi(f[n-2])
		}
	}
	return l, true
}
