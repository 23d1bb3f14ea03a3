package sass

import (
	"encoding/binary"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/heddle-sim/heddle/internal/isa"
	"github.com/heddle-sim/heddle/internal/near"
)

// Bounds of what a program can ask for.
const (
	maxRegs     = 255     // R0 to R254 (the encoding)
	maxShared   = 1 << 20 // bytes; more than any architecture has (our choice)
	maxBarriers = 16      // named barriers of a block (PTX manual)
	maxBank     = 1 << 16 // bytes of a constant bank (the encoding)
)

// statement is an instruction whose operands still need the labels.
type statement struct {
	src   *source
	raw   *word128 // .word
	ctl   isa.Control
	hasC  bool
	index int
	pos   isa.Pos
	line  string
}

type parser struct {
	file   *File
	kernel *Kernel
	errs   ErrorList
	lineNo int
	line   string
	stmts  []statement
	regs   bool   // .regs was given
	broken bool   // an instruction of the kernel could not be read
	header string // the line of its .kernel
	given  bool   // .arch was given
	ctlPos int    // lines of the first control code and the first instruction without one
	noCtl  int
	params int // bytes so far
	hex    bool

	references []reference
	named      map[string]bool // kernels
	labels     map[string]bool // of the kernel
}

// Parse reads a program (.sass). arch applies if the text has no .arch; 0 means unknown. On
// error it returns an ErrorList.
func Parse(name, text string, arch Arch) (*File, error) {
	p := &parser{file: &File{Name: name, Arch: arch}}
	text = strings.TrimPrefix(text, "\ufeff")
	for i, line := range strings.Split(text, "\n") {
		p.lineNo, p.line = i+1, strings.TrimSuffix(line, "\r")
		p.statement(blank(p.line))
		if len(p.errs) >= maxErrors {
			break
		}
	}
	p.finish()
	p.resolve()
	if len(p.file.Kernels) == 0 && len(p.errs) == 0 {
		p.lineNo, p.line = 1, ""
		p.fail(1, "a program begins with .arch sm_86 and .kernel NAME", "no kernel in this file")
	}
	if len(p.errs) > 0 {
		return nil, sorted(p.errs)
	}
	return p.file, nil
}

// blank replaces comments by spaces.
func blank(line string) string {
	for {
		n := strings.Index(line, "/*")
		if n < 0 {
			break
		}
		m := strings.Index(line[n+2:], "*/")
		if m < 0 {
			break
		}
		end := n + 2 + m + 2
		line = line[:n] + strings.Repeat(" ", end-n) + line[end:]
	}
	if n := strings.Index(line, "//"); n >= 0 {
		line = line[:n]
	}
	if n := strings.IndexByte(line, '#'); n >= 0 {
		line = line[:n]
	}
	return line
}

func (p *parser) fail(col int, hint, format string, args ...any) {
	p.errs = append(p.errs, &Error{File: p.file.Name, Pos: isa.Pos{Line: int32(p.lineNo), Col: int32(max(col, 1))}, Msg: fmt.Sprintf(format, args...), Hint: hint, Text: p.line})
}

func (p *parser) failAt(e *lineError) { p.fail(e.col, e.fix, "%s", e.what) }

var labelPattern = regexp.MustCompile(`^\s*([.$A-Za-z_][.$A-Za-z0-9_]*)\s*:`)

// statement reads a line.
func (p *parser) statement(line string) {
	at := 0
	for {
		m := labelPattern.FindStringSubmatchIndex(line[at:])
		if m == nil {
			break
		}
		p.label(line[at+m[2]:at+m[3]], at+m[2]+1)
		at += m[1]
	}
	rest := strings.TrimLeft(line[at:], " \t")
	col := len(line) - len(rest) + 1
	switch {
	case rest == "":
	case rest[0] == '.' && !strings.HasPrefix(rest, ".word"):
		p.directive(rest, col)
	default:
		p.instruction(rest, col)
	}
}

func (p *parser) label(name string, col int) {
	if p.kernel == nil {
		p.fail(col, "start a kernel with .kernel NAME", "label %s is outside a kernel", name)
		return
	}
	if p.labels[name] {
		p.fail(col, "", "label %s is already defined", name)
		return
	}
	if k, _ := parseArg(name); k.Kind != Word {
		p.fail(col, "choose another name", "%s is the name of a register", name)
		return
	}
	p.labels[name] = true
	p.kernel.Labels = append(p.kernel.Labels, Label{name, len(p.stmts)})
}

var directives = []string{".arch", ".data", ".bank", ".variable", ".address", ".kernel", ".param", ".regs", ".shared", ".local", ".barriers", ".maxthreads", ".block", ".const", ".line", ".word"}

// directive reads .name operands.
func (p *parser) directive(text string, col int) {
	name, rest, _ := strings.Cut(text, " ")
	name, tail, tab := strings.Cut(name, "\t")
	if tab {
		rest = tail + " " + rest
	}
	args := splitOperands(strings.TrimRight(strings.TrimSpace(rest), ";"))
	for i := range args {
		args[i] = strings.TrimSpace(args[i])
	}
	if len(args) == 1 && args[0] == "" {
		args = nil
	}
	if p.kernel == nil && p.shared(name, args, col) {
		return
	}
	if name != ".arch" && name != ".kernel" && p.kernel == nil {
		for _, d := range directives {
			if d == name {
				p.fail(col, "start a kernel with .kernel NAME", "%s is outside a kernel", name)
				return
			}
		}
	}
	need := func(n int, usage string) bool {
		if len(args) == n {
			return true
		}
		p.fail(col, "the form is: "+usage, "%s needs %d operands, not %d", name, n, len(args))
		return false
	}
	switch name {
	case ".arch":
		if need(1, ".arch sm_86") {
			p.architecture(args[0], col)
		}
	case ".kernel":
		if need(1, ".kernel NAME") {
			p.startKernel(args[0], col)
		}
	case ".param":
		if len(args) == 3 || need(2, ".param NAME, BYTES") {
			p.param(args, col)
		}
	case ".address":
		if len(args) == 3 || need(2, ".address lower, PLACE") {
			p.instructionAddress(args, col)
		}
	case ".line":
		if len(args) > 1 || need(2, ".line FILE, NUMBER") {
			p.sourceLine(args, col)
		}
	case ".const":
		if need(3, ".const BANK, OFFSET, HEX WORDS") {
			p.constants(args, col)
		}
	case ".maxthreads", ".block":
		if need(3, name+" X, Y, Z") {
			p.threads(name, args, col)
		}
	default:
		p.resource(name, args, col)
	}
}

// threads reads the sizes of a block.
func (p *parser) threads(name string, args []string, col int) {
	to := &p.kernel.MaxThreads
	if name == ".block" {
		to = &p.kernel.Block
	}
	for i := range to {
		n := 0
		p.size(args[i:i+1], &n, 1, isa.MaxThreads, name+" X, Y, Z", col)
		to[i] = uint32(n)
	}
}

// resource reads how much of something a kernel has.
func (p *parser) resource(name string, args []string, col int) {
	switch name {
	case ".regs":
		p.size(args, &p.kernel.Regs, 1, maxRegs, name+" NUMBER", col)
		p.regs = true
	case ".shared":
		p.size(args, &p.kernel.Shared, 0, maxShared, name+" BYTES", col)
	case ".local":
		p.size(args, &p.kernel.Local, 0, isa.MaxLocal, name+" BYTES", col)
	case ".barriers":
		p.size(args, &p.kernel.Barriers, 0, maxBarriers, name+" NUMBER", col)
	case ".data", ".bank", ".variable":
		p.fail(col, "put it before", "%s must precede the first kernel", name)
	default:
		hint := "directives are " + strings.Join(directives, " ")
		if n := near.Name(name, directives); n != "" {
			hint = "did you mean " + n + "?"
		}
		p.fail(col, hint, "unknown directive %s", name)
	}
}

func (p *parser) architecture(name string, col int) {
	a, err := ParseArch(name)
	switch {
	case err != nil:
		p.fail(col, "", "%v", err)
	case p.given:
		p.fail(col, "one file is for one architecture", ".arch is given twice")
	case len(p.file.Kernels) > 0:
		p.fail(col, "put it in the first line", ".arch must precede the first kernel")
	default:
		p.file.Arch, p.given = a, true
	}
}

func (p *parser) size(args []string, to *int, lo, hi int, usage string, col int) {
	if len(args) != 1 {
		p.fail(col, "the form is: "+usage, "expected one number")
		return
	}
	v, err := parseInt(args[0])
	if err != nil || v < int64(lo) || v > int64(hi) {
		p.fail(col, fmt.Sprintf("%d to %d", lo, hi), "%q is not in range", args[0])
		return
	}
	*to = int(v)
}

var namePattern = regexp.MustCompile(`^[$A-Za-z_][$A-Za-z0-9_.]*$`)

func (p *parser) startKernel(name string, col int) {
	p.finish()
	if p.file.Arch == 0 {
		p.fail(col, "put .arch sm_86 in the first line, or give --arch", "the architecture is unknown")
		p.file.Arch = 86 // one message is enough; the rest of the file is still looked at
	}
	if !p.hex && !p.file.Arch.Assembles() && len(p.file.Kernels) == 0 {
		p.fail(col, "programs of sm_75 to sm_89, sm_120 and sm_121 can be assembled", "%s can only be disassembled", p.file.Arch)
	}
	if !namePattern.MatchString(name) {
		p.fail(col, "letters, digits, _, $ and dots", "%q is not a valid kernel name", name)
	}
	if p.named[name] {
		p.fail(col, "", "kernel %s is already defined", name)
	}
	if p.named == nil {
		p.named = map[string]bool{}
	}
	p.named[name] = true
	p.kernel = &Kernel{Name: name, Arch: p.file.Arch, Pos: isa.Pos{Line: int32(p.lineNo), Col: int32(col)}}
	p.file.Kernels = append(p.file.Kernels, p.kernel)
	p.labels = map[string]bool{}
	p.stmts, p.regs, p.ctlPos, p.noCtl, p.params, p.broken, p.header = nil, false, 0, 0, 0, false, p.line
}

// nextParam is where a parameter of n bytes lies if used bytes precede it: aligned to the largest
// power of two up to 8 that divides its size, as compilers place scalars and pointers.
func nextParam(used, n int) int {
	align := 8
	for n%align != 0 {
		align /= 2
	}
	return (used + align - 1) / align * align
}

// param places a parameter, where the third operand says or else after the others.
func (p *parser) param(args []string, col int) {
	n, err := parseInt(args[1])
	if err != nil || n < 1 || n > isa.MaxParams {
		p.fail(col, fmt.Sprintf("1 to %d", isa.MaxParams), "%q is not a valid parameter size in bytes", args[1])
		return
	}
	if !namePattern.MatchString(args[0]) {
		p.fail(col, "letters, digits, _, $ and dots", "%q is not a valid parameter name", args[0])
		return
	}
	for _, q := range p.kernel.Params {
		if q.Name == args[0] {
			p.fail(col, "", "parameter %s is already defined", args[0])
			return
		}
	}
	at := nextParam(p.params, int(n))
	if len(args) == 3 {
		v, err := parseInt(args[2])
		if err != nil || v < int64(p.params) || v > isa.MaxParams {
			p.fail(col, fmt.Sprintf("%d to %d: after the parameters before it", p.params, isa.MaxParams), "%q is not a valid place of a parameter", args[2])
			return
		}
		at = int(v)
	}
	if p.params = at + int(n); p.params > isa.MaxParams {
		p.fail(col, fmt.Sprintf("at most %d bytes fit", isa.MaxParams), "too many parameters")
		return
	}
	p.kernel.Params = append(p.kernel.Params, Param{Name: args[0], Bytes: int(n), Offset: p.file.Arch.ParamBase() + at})
}

// constants reads .const BANK, OFFSET, words.
func (p *parser) constants(args []string, col int) {
	bank, err1 := parseInt(args[0])
	off, err2 := parseInt(args[1])
	if err1 != nil || bank < 0 || bank >= ConstBanks {
		p.fail(col, fmt.Sprintf("0 to %d", ConstBanks-1), "%q is not a constant bank that a program fills", args[0])
		return
	}
	if err2 != nil || off < 0 || off%4 != 0 {
		p.fail(col, "a multiple of 4", "%q is not a valid offset in a constant bank", args[1])
		return
	}
	var data []byte
	for _, w := range strings.Fields(args[2]) {
		v, err := strconv.ParseUint(strings.TrimPrefix(w, "0x"), 16, 32)
		if err != nil {
			p.fail(col, "words of up to 8 hexadecimal digits", "%q is not a word", w)
			return
		}
		data = binary.LittleEndian.AppendUint32(data, uint32(v))
	}
	if off+int64(len(data)) > maxBank {
		p.fail(col, fmt.Sprintf("a bank holds %d bytes", maxBank), "these words exceed the bank")
		return
	}
	p.kernel.Consts = append(p.kernel.Consts, ConstData{Bank: int(bank), Offset: int(off), Bytes: data})
}

// instruction reads a control code and an instruction, or .word.
func (p *parser) instruction(text string, col int) {
	if p.kernel == nil {
		p.fail(col, "start a kernel with .kernel NAME", "instruction outside a kernel")
		return
	}
	st := statement{index: len(p.stmts), line: p.line}
	if strings.HasPrefix(text, ".word") {
		st.pos = isa.Pos{Line: int32(p.lineNo), Col: int32(col)}
		w, err := parseWords(strings.TrimSuffix(strings.TrimSpace(text[len(".word"):]), ";"))
		if err != nil {
			p.fail(col, "the form is: .word 0x000000000000794d, 0x000fea0003800000", "%v", err)
		}
		st.raw = &w
		p.add(st)
		return
	}
	if strings.HasPrefix(text, "[") {
		n := strings.IndexByte(text, ']')
		if n < 0 {
			p.fail(col, controlHint, "the control code has no closing bracket")
			p.broken = true
			return
		}
		c, err := parseControl(text[:n+1])
		if err != nil {
			p.fail(col+err.col-1, err.fix, "%s", err.what)
		}
		st.ctl, st.hasC = c, true
		rest := strings.TrimLeft(text[n+1:], " \t")
		col += len(text) - len(rest)
		text = rest
	}
	if n := strings.IndexByte(text, ';'); n >= 0 && strings.TrimSpace(text[n+1:]) != "" {
		p.fail(col+n+1, "one instruction per line", "unexpected text after the semicolon")
		p.broken = true
		return
	}
	st.pos = isa.Pos{Line: int32(p.lineNo), Col: int32(col)}
	src, err := parseInstruction(text, col, tableOf(p.kernel.Arch))
	if err != nil {
		p.failAt(err)
		src, p.broken = nil, true
	}
	st.src = src
	switch {
	case st.hasC && p.ctlPos == 0:
		p.ctlPos = p.lineNo
	case !st.hasC && p.noCtl == 0:
		p.noCtl = p.lineNo
	}
	if st.hasC && p.noCtl > 0 || !st.hasC && p.ctlPos > 0 {
		where := max(p.ctlPos, p.noCtl)
		if where == p.lineNo {
			p.fail(col, "give every instruction of a kernel a control code, or none", "only some instructions of this kernel have control codes")
		}
	}
	if st.hasC && src != nil && st.ctl.Yield {
		for i := range src.args {
			if src.args[i].Reuse {
				p.fail(src.args[i].col, "write - in place of Y, or leave .reuse out", "reuse and yield cannot be combined")
				break
			}
		}
	}
	p.add(st)
}

func (p *parser) add(st statement) { p.stmts = append(p.stmts, st) }

// parseWords reads the two words of .word, low word first.
func parseWords(text string) (word128, error) {
	lo, hi, ok := strings.Cut(text, ",")
	a, err1 := strconv.ParseUint(strings.TrimPrefix(strings.TrimSpace(lo), "0x"), 16, 64)
	b, err2 := strconv.ParseUint(strings.TrimPrefix(strings.TrimSpace(hi), "0x"), 16, 64)
	if !ok || err1 != nil || err2 != nil {
		return word128{}, fmt.Errorf("expected two words of up to 16 hexadecimal digits")
	}
	return word128{a, b}, nil
}

const controlHint = "a control code has the form [B0-----:R-:W1:-:S04]: wait mask, read counter, write counter, Y or -, stall"

// parseControl reads [B------:R-:W-:-:S01]. The column in its error counts from the bracket.
func parseControl(s string) (isa.Control, *lineError) {
	c := isa.Control{Read: isa.NoCounter, Write: isa.NoCounter}
	parts := strings.Split(strings.TrimSuffix(strings.TrimPrefix(s, "["), "]"), ":")
	if len(parts) != 5 {
		return c, &lineError{1, len(s), fmt.Sprintf("%s is not a control code", s), controlHint}
	}
	at := 2
	col := make([]int, 5)
	for i, part := range parts {
		col[i] = at
		at += len(part) + 1
	}
	if len(parts[0]) != 7 || parts[0][0] != 'B' {
		return c, &lineError{col[0], len(parts[0]), fmt.Sprintf("%q is not a wait mask", parts[0]), "want B and six positions, each a digit or -: B0-2---"}
	}
	for n := range isa.Counters {
		switch b := parts[0][n+1]; b {
		case '-':
		case byte('0' + n):
			c.Wait |= 1 << n
		case '6', '7', '8', '9':
			return c, &lineError{col[0] + n + 1, 1, fmt.Sprintf("dependence counter %c does not exist", b), "want 0 to 5"}
		default:
			return c, &lineError{col[0] + n + 1, 1, fmt.Sprintf("%q is misplaced in a wait mask", string(b)), "each counter has its own position: B012345"}
		}
	}
	for i, to := range []*uint8{&c.Read, &c.Write} {
		part, letter := parts[i+1], "RW"[i]
		switch {
		case len(part) == 2 && part[0] == letter && part[1] == '-':
		case len(part) == 2 && part[0] == letter && part[1] >= '0' && part[1] <= '5':
			*to = part[1] - '0'
		case len(part) == 2 && part[0] == letter && part[1] >= '6' && part[1] <= '9':
			return c, &lineError{col[i+1], len(part), fmt.Sprintf("dependence counter %c does not exist", part[1]), "want 0 to 5, or - for none"}
		default:
			return c, &lineError{col[i+1], len(part), fmt.Sprintf("%q is not a counter", part), fmt.Sprintf("want %c and a digit or -", letter)}
		}
	}
	switch parts[3] {
	case "Y":
		c.Yield = true
	case "-":
	default:
		return c, &lineError{col[3], len(parts[3]), fmt.Sprintf("%q is not a yield mark", parts[3]), "want Y or -"}
	}
	n, err := strconv.ParseUint(strings.TrimPrefix(parts[4], "S"), 10, 16)
	if err != nil || !strings.HasPrefix(parts[4], "S") || len(parts[4]) > 3 {
		return c, &lineError{col[4], len(parts[4]), fmt.Sprintf("%q is not a stall count", parts[4]), "want S00 to S15"}
	}
	if n > 15 {
		return c, &lineError{col[4], len(parts[4]), fmt.Sprintf("a stall of %d cycles cannot be encoded", n), "want S00 to S15"}
	}
	c.Stall = uint8(n)
	return c, nil
}

// finish encodes the kernel that has just been read.
func (p *parser) finish() {
	k := p.kernel
	if k == nil {
		return
	}
	lineNo, line := p.lineNo, p.line
	defer func() { p.lineNo, p.line = lineNo, line }()
	k.Control = p.ctlPos > 0
	t := tableOf(k.Arch)
	labels := make(map[string]int64, len(k.Labels))
	names := make([]string, 0, len(k.Labels))
	for _, l := range k.Labels {
		labels[l.Name] = int64(l.Index) * InstBytes
		names = append(names, l.Name)
	}
	k.Code = make([]Inst, len(p.stmts))
	for i := range p.stmts {
		if len(p.errs) >= 2*maxErrors {
			break
		}
		st := &p.stmts[i]
		p.lineNo, p.line = int(st.pos.Line), st.line
		addr := uint32(i) * InstBytes
		in := &k.Code[i]
		switch {
		case st.raw != nil:
			*in = fromWords(k.Arch, *st.raw, addr)
		case st.src != nil:
			st.src.addr = addr
			for j := range st.src.args {
				st.src.args[j].resolve(labels, names)
			}
			var ctl *isa.Control
			if k.Control {
				ctl = &st.ctl
			}
			_, made, err := t.encode(st.src, ctl)
			if err != nil {
				p.failAt(err)
				p.broken = true
				continue
			}
			*in = made
			if in.Ctl = st.ctl; !k.Control {
				in.Ctl = isa.Control{}
			}
		}
		in.Pos = st.pos
	}
	k.link()
	p.check(k)
	if k.declared = p.regs; !p.regs {
		k.Regs = max(k.usedRegs(), 1)
	}
	p.kernel = nil
}

// resolve gives an operand that is a label's name its address.
func (a *arg) resolve(labels map[string]int64, names []string) {
	if a.Kind != Word || a.label == "" {
		return
	}
	if v, ok := labels[a.label]; ok {
		a.Operand.Imm, a.found = v, true
		return
	}
	a.near = near.Name(a.label, names)
}

// fromWords decodes words, or makes an instruction that only holds them.
func fromWords(arch Arch, w word128, addr uint32) Inst {
	in, err := Decode(arch, w, addr)
	if err != nil {
		in = Inst{Words: w, Addr: addr, Guard: Guard{Pred: PT}}
		in.Ctl, _ = decodeControl(w)
	}
	return in
}

// link gives branch targets the indices of their instructions.
func (k *Kernel) link() {
	for i := range k.Code {
		for j := range k.Code[i].Operands {
			o := &k.Code[i].Operands[j]
			if o.Kind != Target {
				continue
			}
			o.Index = -1
			if o.Imm >= 0 && o.Imm%InstBytes == 0 && o.Imm/InstBytes < int64(len(k.Code)) {
				o.Index = int32(o.Imm / InstBytes)
			}
		}
	}
}

// top is one more than the highest general register of an operand, 0 if it has none.
func (o *Operand) top() int {
	if o.Kind == Reg && o.Reg != RZ || o.Kind == Mem && o.Reg != RZ || o.Kind == Const && o.Reg != RZ {
		return int(o.Reg) + int(max(o.Count, 1))
	}
	return 0
}

// usedRegs is the number of general registers that the code names.
func (k *Kernel) usedRegs() int {
	n := 0
	for i := range k.Code {
		for j := range k.Code[i].Operands {
			n = max(n, k.Code[i].Operands[j].top())
		}
	}
	return n
}

// ends reports whether nothing runs after the instruction.
func (in *Inst) ends() bool {
	if !in.Guard.Always() || in.Find(Pp) != nil {
		return false
	}
	switch in.Op {
	case OpEXIT, OpRET, OpBRX, OpBRXU, OpJMP, OpJMX, OpKILL:
		return true
	case OpBRA:
		return len(in.Mods) == 0 && in.Find(A) == nil
	}
	return false
}

// check looks for errors in a kernel as a whole.
func (p *parser) check(k *Kernel) {
	at := func(pos isa.Pos, line string) { p.lineNo, p.line = int(pos.Line), line }
	for i := range k.Code {
		in := &k.Code[i]
		at(in.Pos, p.stmts[i].line)
		regs := math.MaxInt
		if p.regs {
			regs = k.Regs
		}
		k.faults(in, regs, func(j int, hint, what string) {
			col := int(in.Pos.Col)
			if src := p.stmts[i].src; src != nil && j < len(src.args) {
				col = src.args[j].col
			}
			p.fail(col, hint, "%s", what)
		})
	}
	if p.broken { // the missing part may be in a line with errors
		return
	}
	switch n := len(k.Code); {
	case !k.exits():
		at(k.Pos, p.header)
		p.fail(int(k.Pos.Col), "end it with EXIT ;", "kernel %s has no EXIT", k.Name)
	case k.open():
		last := &k.Code[n-1]
		at(last.Pos, p.stmts[n-1].line)
		p.fail(int(last.Pos.Col), "end the kernel with EXIT, or a branch back", "execution runs past the end of kernel %s here", k.Name)
	}
}

// faults reports what is wrong with an instruction of a kernel with a number of registers: the operand, how to
// mend it, and what it is.
func (k *Kernel) faults(in *Inst, regs int, report func(operand int, hint, what string)) {
	for j := range in.Operands {
		o := &in.Operands[j]
		if n := o.top(); n > regs {
			report(j, fmt.Sprintf("raise .regs to %d", n), fmt.Sprintf("%s exceeds .regs %d", o, k.Regs))
		}
		if n := misaligned(o); n > 0 {
			report(j, fmt.Sprintf("its number must be a multiple of %d", n), fmt.Sprintf("%s is the first of %d registers", o, n))
		}
		if o.Kind == Target && o.Index < 0 && !o.Tail {
			report(j, fmt.Sprintf("instructions are at 0x0 to 0x%x, in steps of 0x%x", (len(k.Code)-1)*InstBytes, InstBytes), fmt.Sprintf("%s has no instruction at its target %s", in.Op, hexInt(o.Imm)))
		}
	}
}

// exits reports whether a kernel has an end.
func (k *Kernel) exits() bool {
	return slices.ContainsFunc(k.Code, func(in Inst) bool {
		return in.Op == OpEXIT || in.Op == OpRET || in.Op == OpBPT || in.Op == NoOp
	})
}

// open reports whether execution runs past the last instruction.
func (k *Kernel) open() bool {
	last := &k.Code[len(k.Code)-1]
	return !last.ends() && last.Op != NoOp && last.Op != OpNOP
}

// misaligned returns the alignment that an operand's register number violates, 0 if it is
// fine: pairs must start at an even number, four registers at a multiple of four.
func misaligned(o *Operand) int {
	bad := func(n, count uint8) bool { return (count == 2 || count == 4) && n%count != 0 }
	switch o.Kind {
	case Reg, Mem:
		if o.Reg != RZ && bad(o.Reg, o.Count) {
			return int(o.Count)
		}
	case UReg:
		if o.Reg != URZ && bad(o.Reg, o.Count) {
			return int(o.Count)
		}
	}
	if o.Kind == Mem && o.HasU && o.UReg != URZ && bad(o.UReg, o.UCount) {
		return int(o.UCount)
	}
	return 0
}
