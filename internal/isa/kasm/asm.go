package kasm

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/heddle-sim/heddle/internal/isa"
	"github.com/heddle-sim/heddle/internal/near"
)

// Error is one mistake in a program's text, ErrorList all of them, in line order.
type (
	Error     = isa.SourceError
	ErrorList = isa.SourceErrors
)

// maxErrors bounds the number of errors reported for one file.
const maxErrors = 20

// Program is an assembled program.
type Program struct {
	File   string
	Words  []uint64
	Lines  []int          // the line of each word
	Labels map[string]int // index of the word that follows each label
	Source []string       // the lines of the text
}

// Line returns the source line of a word and its number, if it comes from a line.
func (p *Program) Line(pc int) (number int, text string) {
	if pc < 0 || pc >= len(p.Lines) {
		return 0, ""
	}
	n := p.Lines[pc]
	return n, strings.TrimSpace(p.Source[n-1])
}

// Assemble assembles a program's text with the given numbering. On error it returns an
// ErrorList.
func Assemble(file, text string, enc Encoding) (*Program, error) {
	text = strings.TrimPrefix(text, "\ufeff")
	a := assembler{enc: enc, prog: &Program{File: file, Labels: map[string]int{}, Source: strings.Split(text, "\n")}}
	for i, line := range a.prog.Source {
		a.line, a.text, a.at = i+1, strings.TrimSuffix(line, "\r"), 0
		a.statement()
		if len(a.errs) > maxErrors {
			break
		}
	}
	a.resolve()
	if n := len(a.insts); n > ProgramWords {
		a.line, a.text = a.insts[ProgramWords].line, ""
		a.fail(0, fmt.Sprintf("keep the program within %d instructions", ProgramWords), "the program has %d instructions, but a warp's program memory holds %d", n, ProgramWords)
	}
	if len(a.errs) > 0 {
		slices.SortStableFunc(a.errs, func(x, y *Error) int { return int(x.Pos.Line - y.Pos.Line) })
		return nil, a.errs[:min(len(a.errs), maxErrors)]
	}
	for k, p := range a.insts {
		w := p.inst.Word()
		if p.raw {
			w = p.word
		} else if n, ok := enc.number(p.inst.Op); ok {
			w = w&^(0xff<<56) | uint64(n)<<56
		}
		a.prog.Words = append(a.prog.Words, w)
		a.prog.Lines = append(a.prog.Lines, a.insts[k].line)
	}
	return a.prog, nil
}

// pending is an instruction whose label, if any, is not resolved yet.
type pending struct {
	inst  Inst
	raw   bool   // word is the whole instruction
	word  uint64 //
	line  int
	col   int    // of the label
	label string // "" if the distance is known
	fixed bool   // a forced immediate overrides the label
}

// assembler reads a program line by line.
type assembler struct {
	prog  *Program
	enc   Encoding
	insts []pending
	errs  ErrorList

	line int
	text string // the line
	at   int    // next byte of it
}

func (a *assembler) fail(at int, hint, format string, args ...any) {
	a.errs = append(a.errs, &Error{File: a.prog.File, Pos: isa.Pos{Line: int32(a.line), Col: int32(at + 1)}, Msg: fmt.Sprintf(format, args...), Hint: hint, Text: a.text})
}

func (a *assembler) space() {
	for a.at < len(a.text) && (a.text[a.at] == ' ' || a.text[a.at] == '\t') {
		a.at++
	}
}

// peek returns the next byte that is not white space, 0 at the end of the line or the start
// of a comment.
func (a *assembler) peek() byte {
	a.space()
	if a.at >= len(a.text) || a.text[a.at] == '#' || a.text[a.at] == ';' {
		return 0
	}
	return a.text[a.at]
}

// accept skips c if it is next.
func (a *assembler) accept(c byte) bool {
	if a.peek() != c {
		return false
	}
	a.at++
	return true
}

func wordByte(c byte) bool {
	return c == '_' || c == '.' || c == '$' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// word reads letters, digits, dots and underscores; "" if none is next.
func (a *assembler) word() (text string, at int) {
	a.peek()
	at = a.at
	for a.at < len(a.text) && wordByte(a.text[a.at]) {
		a.at++
	}
	return a.text[at:a.at], at
}

// found describes what is next, for messages.
func (a *assembler) found() string {
	c := a.peek()
	if c == 0 {
		return "the end of the line"
	}
	if w, at := a.word(); w != "" {
		a.at = at
		return strconv.Quote(w)
	}
	for _, r := range a.text[a.at:] {
		return strconv.QuoteRune(r)
	}
	return strconv.QuoteRune(rune(c))
}

// statement reads a line.
func (a *assembler) statement() {
	for {
		if a.peek() == 0 {
			return
		}
		start := a.at
		name, at := a.word()
		if name == "" || a.peek() != ':' {
			a.at = start
			break
		}
		a.at++
		switch _, twice := a.prog.Labels[name]; {
		case !isLabel(name):
			a.fail(at, "labels start with a letter or underscore", "%q cannot be a label", name)
		case twice:
			a.fail(at, "", "label %s is already defined", name)
		}
		a.prog.Labels[name] = len(a.insts)
	}
	n := len(a.errs)
	p := pending{line: a.line, inst: Inst{Guard: Always}}
	if a.instruction(&p); len(a.errs) == n && a.peek() != 0 {
		a.fail(a.at, "", "%s after the end of the instruction", a.found())
	}
	a.insts = append(a.insts, p)
}

func isLabel(s string) bool {
	return s != "" && s[0] != '.' && (s[0] < '0' || s[0] > '9') && s[0] != '$'
}

// instruction reads a guard, an operation, its operands and forced fields.
func (a *assembler) instruction(p *pending) {
	guarded := a.peek() == '@'
	if guarded {
		a.at++
		neg := a.accept('!')
		n, ok := a.predicate()
		if !ok {
			return
		}
		p.inst.Guard = n
		if neg {
			p.inst.Guard |= 8
		}
	}
	name, at := a.word()
	if name == "" {
		a.fail(a.at, "an instruction is OP operands; labels end with a colon", "expected an operation, found %s", a.found())
		return
	}
	if strings.EqualFold(name, ".word") {
		if guarded {
			a.fail(at, "the guard is bits 31 to 28 of the word", ".word cannot have a guard")
			return
		}
		a.raw(p)
		return
	}
	upper := strings.ToUpper(name)
	base, cc, dotted := strings.Cut(upper, ".")
	op, ok := byName[base]
	if !ok { // some names have a dot
		op, ok = byName[upper]
		dotted = !ok
	}
	if !ok {
		hint := "an unknown opcode can be written as .word 0x…"
		if e := endings(base); e != nil {
			hint = "write " + base + "." + strings.Join(e, ", .")
		} else if n := near.Name(base, mnemonics()); n != "" {
			hint = "did you mean " + n + "?"
		}
		a.fail(at, hint, "unknown operation %q", name)
		return
	}
	if _, ok := a.enc.number(op); !ok {
		a.fail(at, "use --encoding rtl", "%s has no number in the datasheet's table, where 0x%02x is %v", op, uint8(op), Op(fromDatasheet[op]))
		return
	}
	p.inst.Op = op
	if ops[op].form == formSetp {
		i := slices.Index(comparisons[:], cc)
		if i < 0 {
			a.fail(at, "write "+base+"."+strings.Join(comparisons[:], ", ."), "%s needs a comparison", base)
			return
		}
		p.inst.Imm = int32(i)
	} else if dotted && ops[op].form == formTex {
		if !a.texEndings(&p.inst, cc, at+len(base)) {
			return
		}
	} else if dotted {
		a.fail(at+len(base), "only ISETP, FSETP and TEX have endings", "%s cannot have the ending .%s", base, strings.ToLower(cc))
		return
	}
	if a.operands(p) {
		a.forced(p)
	}
}

// raw reads the number of a .word.
func (a *assembler) raw(p *pending) {
	w, at := a.word()
	v, err := strconv.ParseUint(w, 0, 64)
	if err != nil || strings.Contains(w, "_") {
		a.fail(at, "for example .word 0x0100000070000000", ".word needs a number of 64 bits")
		return
	}
	p.raw, p.word = true, v
}

// operands reads the operands of an operation; false after an error.
func (a *assembler) operands(p *pending) bool {
	i := &p.inst
	switch ops[i.Op].form {
	case formPlain:
		return a.plain(p)
	case formLoad:
		return a.register(&i.Rd) && a.comma() && a.address(i)
	case formStore:
		return a.address(i) && a.comma() && a.register(&i.Rs2)
	case formBranch:
		return a.register(&i.Rs1) && a.comma() && a.register(&i.Rs2) && a.comma() && a.target(p)
	case formJump:
		return a.target(p)
	case formSetp:
		n, ok := a.predicate()
		i.Rd = n
		return ok && a.comma() && a.register(&i.Rs1) && a.comma() && a.register(&i.Rs2)
	case formSelp:
		if !(a.register(&i.Rd) && a.comma() && a.register(&i.Rs1) && a.comma() && a.register(&i.Rs2) && a.comma()) {
			return false
		}
		n, ok := a.predicate()
		i.Imm = int32(n)
		return ok
	case formAtomic:
		return a.register(&i.Rd) && a.comma() && a.address(i) && a.comma() && a.register(&i.Rs2)
	case formCas:
		return a.register(&i.Rd) && a.comma() && a.address(i) && a.comma() && a.register(&i.Rs2) && a.comma() && a.register(&i.Rs3)
	case formRast:
		n, ok := a.predicate()
		i.Rd = n
		return ok && a.comma() && a.register(&i.Rs1)
	case formTex:
		return a.register(&i.Rd) && a.comma() && a.register(&i.Rs1) && a.comma() && a.register(&i.Rs2) && a.comma() &&
			a.bracketed(&i.Rs3) && a.comma() && a.size(i)
	}
	return true
}

// plain reads up to four registers and at most one number.
func (a *assembler) plain(p *pending) bool {
	i := &p.inst
	fields := [...]*uint8{&i.Rd, &i.Rs1, &i.Rs2, &i.Rs3}
	n, number := 0, false
	for first := true; ; first = false {
		c := a.peek()
		if first && (c == 0 || a.isForced()) {
			return true
		}
		switch {
		case c == '-' || c == '+' || c >= '0' && c <= '9':
			at := a.at
			v, ok := a.number()
			if !ok {
				return false
			}
			if number {
				a.fail(at, "an instruction has one immediate", "unexpected second number")
				return false
			}
			number, i.Imm = true, v
		case n == len(fields):
			a.fail(a.at, "the order is rd, rs1, rs2, rs3, immediate", "%s has at most four registers", i.Op)
			return false
		default:
			if !a.register(fields[n]) {
				return false
			}
			n++
		}
		if !a.accept(',') {
			return true
		}
	}
}

func (a *assembler) comma() bool {
	if a.accept(',') {
		return true
	}
	a.fail(a.at, "", "expected a comma, found %s", a.found())
	return false
}

// register reads Rn.
func (a *assembler) register(field *uint8) bool {
	before := a.at
	w, at := a.word()
	if len(w) < 2 || w[0]|0x20 != 'r' || !digits(w[1:]) {
		a.at = before
		hint := "registers are R0 to R63"
		if len(w) > 1 && w[0]|0x20 == 'p' && digits(w[1:]) {
			hint = "want a register, not a predicate; " + hint
		}
		a.fail(at, hint, "expected a register, found %s", a.found())
		return false
	}
	n, err := strconv.Atoi(w[1:])
	if err != nil || n >= Registers {
		a.fail(at, "registers are R0 to R63; a raw field can be forced: rs1=64", "no such register: %s", w)
		return false
	}
	*field = uint8(n)
	return true
}

func digits(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return s != ""
}

// predicate reads Pn.
func (a *assembler) predicate() (uint8, bool) {
	before := a.at
	w, at := a.word()
	if len(w) < 2 || w[0]|0x20 != 'p' || !digits(w[1:]) {
		a.at = before
		a.fail(at, "predicates are P0 to P6, and P7 is always true", "expected a predicate, found %s", a.found())
		return 0, false
	}
	n, err := strconv.Atoi(w[1:])
	if err != nil || n > 7 {
		a.fail(at, "predicates are P0 to P6, and P7 is always true", "no such predicate: %s", w)
		return 0, false
	}
	return uint8(n), true
}

// address reads [Rn], [Rn + imm] or [Rn - imm].
func (a *assembler) address(i *Inst) bool {
	if !a.accept('[') {
		a.fail(a.at, "write [R1 + 4]", "expected an address, found %s", a.found())
		return false
	}
	if !a.register(&i.Rs1) {
		return false
	}
	if c := a.peek(); c == '+' || c == '-' {
		a.at++
		a.space()
		at := a.at
		v, ok := a.magnitude()
		if !ok {
			return false
		}
		if c == '-' {
			v = -v
		}
		if i.Imm, ok = a.inRange(v, at); !ok {
			return false
		}
	}
	if !a.accept(']') {
		a.fail(a.at, "write [R1 + 4]", "expected ], found %s", a.found())
		return false
	}
	return true
}

// target reads the target of a jump: a label, or a distance in instructions.
func (a *assembler) target(p *pending) bool {
	switch c := a.peek(); {
	case c == '-' || c == '+' || c >= '0' && c <= '9':
		v, ok := a.number()
		p.inst.Imm = v
		return ok
	case !a.isForced():
		if w, at := a.word(); isLabel(w) {
			p.label, p.col = w, at
			return true
		}
	}
	a.fail(a.at, "the target is a label or a distance in instructions", "expected a label, found %s", a.found())
	return false
}

// magnitude reads a number without sign: decimal or 0x. A sign may still precede it if an
// address has two.
func (a *assembler) magnitude() (int64, bool) {
	neg := false
	if c := a.peek(); c == '-' || c == '+' {
		neg = c == '-'
		a.at++
	}
	w, at := a.word()
	v, err := strconv.ParseInt(w, 0, 64)
	if err != nil || strings.Contains(w, "_") || len(w) > 1 && w[0] == '0' && digits(w) {
		if w == "" {
			a.at = at
			a.fail(at, "", "expected a number, found %s", a.found())
			return 0, false
		}
		if len(w) > 1 && digits(w) && w[0] == '0' {
			if v, err = strconv.ParseInt(w, 10, 64); err == nil {
				return sign(v, neg), true
			}
		}
		a.fail(at, "numbers are decimal or start with 0x", "%q is not a number", w)
		return 0, false
	}
	return sign(v, neg), true
}

func sign(v int64, neg bool) int64 {
	if neg && v != math.MinInt64 {
		return -v
	}
	return v
}

// inRange checks that a number fits the immediate.
func (a *assembler) inRange(v int64, at int) (int32, bool) {
	if v < MinImm || v > MaxImm {
		a.fail(at, fmt.Sprintf("the range is %d to %d; raw bits can be forced: imm=0xfffff", MinImm, MaxImm), "%d does not fit an immediate of 20 bits", v)
		return 0, false
	}
	return int32(v), true
}

// number reads a signed immediate.
func (a *assembler) number() (int32, bool) {
	a.space()
	at := a.at
	v, ok := a.magnitude()
	if !ok {
		return 0, false
	}
	return a.inRange(v, at)
}

// isForced reports whether field=value is next.
func (a *assembler) isForced() bool {
	before := a.at
	w, _ := a.word()
	ok := w != "" && a.peek() == '='
	a.at = before
	return ok
}

// forced reads the fields that are set by name.
func (a *assembler) forced(p *pending) {
	for a.isForced() {
		name, at := a.word()
		a.accept('=')
		a.space()
		valueAt := a.at
		v, ok := a.magnitude()
		if !ok {
			return
		}
		fields := map[string]*uint8{"rd": &p.inst.Rd, "rs1": &p.inst.Rs1, "rs2": &p.inst.Rs2, "rs3": &p.inst.Rs3}
		field, isField := fields[strings.ToLower(name)]
		switch {
		case isField && v >= 0 && v <= 255:
			*field = uint8(v)
		case isField:
			a.fail(valueAt, "the range is 0 to 255", "%d does not fit %s", v, name)
		case strings.EqualFold(name, "imm") && v >= MinImm && v < 1<<20:
			p.inst.Imm, p.fixed = int32(uint32(v)<<12)>>12, true
		case strings.EqualFold(name, "imm"):
			a.fail(valueAt, fmt.Sprintf("the range is %d to 0xfffff", MinImm), "%d does not fit imm", v)
		default:
			a.fail(at, "the fields are rd, rs1, rs2, rs3 and imm", "unknown field %q", name)
			return
		}
		a.accept(',')
	}
}

// resolve replaces labels by distances.
func (a *assembler) resolve() {
	for k := range a.insts {
		p := &a.insts[k]
		if p.label == "" {
			continue
		}
		a.line, a.text = p.line, a.prog.Source[p.line-1]
		to, ok := a.prog.Labels[p.label]
		if !ok {
			hint := "no line starts with " + p.label + ":"
			for l := range a.prog.Labels {
				if strings.EqualFold(l, p.label) {
					hint = "did you mean " + l + "? Labels are case-sensitive"
				}
			}
			a.fail(p.col, hint, "unknown label %s", p.label)
			continue
		}
		d := to - k
		if d < MinImm || d > MaxImm {
			a.fail(p.col, "", "label %s is out of range", p.label)
			continue
		}
		if !p.fixed {
			p.inst.Imm = int32(d)
		}
	}
}

// mnemonics returns the names of all opcodes.
func mnemonics() []string {
	var names []string
	for _, op := range Ops() {
		names = append(names, op.String())
	}
	return names
}
