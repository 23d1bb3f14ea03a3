package replay

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/heddle-sim/heddle/internal/isa"
	"github.com/heddle-sim/heddle/internal/isa/sass"
	"github.com/heddle-sim/heddle/internal/trace"
)

// This file: a disassembly as a second source. A trace names mnemonics and general
// registers; a listing of the same binary has control bits, words, guards and all
// operands. They are joined by kernel names and the addresses within kernels.

// maxListing is the maximum size of a listing in bytes.
const maxListing = 1 << 30

// maxLine is the maximum length of one of its lines in bytes.
const maxLine = 1 << 20

// Listed is an instruction of a listing.
type Listed struct {
	PC      uint32
	Text    string // with guard and operands, without control codes; "" if only words are known
	Op      string // mnemonic with modifiers; "" if only words are known
	Guard   trace.Guard
	Words   [2]uint64
	Control *isa.Control
	Line    int
}

// Listing is a disassembly, by function.
type Listing struct {
	File string
	// Names are the functions in order, Code their instructions by address.
	Names []string
	Code  map[string][]Listed
	Arch  int // 80 for sm_80; 0 if the listing does not say
}

// JoinReport describes what a listing contributed to a trace.
type JoinReport struct {
	// Functions are those of the listing that were used.
	Functions []string
	// Covered counts static instructions found in the listing, Control those that have
	// control bits afterwards.
	Covered, Control, Total int
	// Missing are the addresses of static instructions not in the listing, by
	// function, up to a limit.
	Missing []string
}

// maxMissing is the maximum number of addresses in a JoinReport.
const maxMissing = 20

// ReadListing reads a disassembly: the output of nvdisasm and cuobjdump -sass, with or
// without words in comments, with control bits in CUDA 13's notation; CuAssembler's text;
// or words alone, two of 16 hex digits per line, with functions named by lines
// "# .kernel NAME". The error names file and line.
func ReadListing(file string, r io.Reader) (*Listing, error) {
	l := &Listing{File: file, Code: map[string][]Listed{}}
	s := bufio.NewScanner(io.LimitReader(r, maxListing+1))
	s.Buffer(make([]byte, 0, 64<<10), maxLine)
	p := listingParser{l: l}
	size := 0
	for n := 1; s.Scan(); n++ {
		if size += len(s.Bytes()) + 1; size > maxListing {
			return nil, &trace.Error{File: file, Line: n, Msg: fmt.Sprintf("the listing is longer than %d bytes", maxListing)}
		}
		if err := p.line(n, string(bytes.ToValidUTF8(s.Bytes(), []byte("?")))); err != nil {
			return nil, &trace.Error{File: file, Line: n, Msg: err.Error()}
		}
	}
	if err := s.Err(); err != nil {
		return nil, &trace.Error{File: file, Msg: fmt.Sprintf("cannot read the listing: %v", err)}
	}
	p.end()
	if len(l.Names) == 0 {
		return nil, &trace.Error{File: file, Msg: "no instruction found; want lines such as \"/*0010*/ MOV R1, c[0x0][0x28] ; /* 0x…  */\""}
	}
	for _, name := range l.Names {
		code := l.Code[name]
		slices.SortStableFunc(code, func(a, b Listed) int { return int(int64(a.PC) - int64(b.PC)) })
		for i := 1; i < len(code); i++ {
			if code[i].PC == code[i-1].PC {
				return nil, &trace.Error{File: file, Line: code[i].Line, Msg: fmt.Sprintf("function %s has address %#x twice; the first is in line %d", name, code[i].PC, code[i-1].Line)}
			}
		}
	}
	return l, nil
}

// listingParser reads a listing line by line.
type listingParser struct {
	l    *Listing
	name string // of the current function
	high bool   // the upper word of the last instruction is expected
	pc   uint32 // of the next pair of words
}

func (p *listingParser) line(n int, text string) error {
	t := strings.TrimSpace(text)
	if name, ok := functionName(t); ok {
		p.end()
		p.name, p.pc = name, 0
		return nil
	}
	if arch, ok := archOf(t); ok {
		p.l.Arch = arch
		return nil
	}
	if p.high {
		if w, rest, ok := word(t); ok && strings.TrimSpace(rest) == "" {
			code := p.l.Code[p.name]
			code[len(code)-1].Words[1] = w
			p.high = false
			p.decode(&code[len(code)-1])
			return nil
		}
	}
	if a, b, ok := plainWords(t); ok {
		x := Listed{PC: p.pc, Words: [2]uint64{a, b}, Line: n}
		p.pc += sass.InstBytes
		p.add(x)
		code := p.l.Code[p.name]
		p.decode(&code[len(code)-1])
		return nil
	}
	return p.instruction(n, t)
}

// end records that no upper word follows. A single word is an instruction from before
// Volta, whose encoding is unknown.
func (p *listingParser) end() {
	if p.high {
		code := p.l.Code[p.name]
		code[len(code)-1].Words = [2]uint64{}
		p.high = false
	}
}

func (p *listingParser) add(x Listed) {
	if _, ok := p.l.Code[p.name]; !ok {
		p.l.Names = append(p.l.Names, p.name)
	}
	p.l.Code[p.name] = append(p.l.Code[p.name], x)
}

// functionName finds the beginning of a function.
func functionName(t string) (string, bool) {
	for _, prefix := range []string{"Function :", ".section .text.", ".section\t.text.", "# .kernel ", ".kernel "} {
		if rest, ok := strings.CutPrefix(t, prefix); ok {
			name, _, _ := strings.Cut(strings.TrimSpace(rest), ",")
			return strings.Trim(strings.TrimSpace(name), `"`), name != ""
		}
	}
	if rest, ok := strings.CutPrefix(t, "//--------------------- .text."); ok {
		name, _, _ := strings.Cut(rest, " ")
		return name, name != ""
	}
	if rest, ok := strings.CutPrefix(t, ".text."); ok {
		if name, ok := strings.CutSuffix(rest, ":"); ok {
			return name, true
		}
	}
	return "", false
}

// archOf finds the architecture: "code for sm_80", ".target sm_80", ".arch
// sm_80".
func archOf(t string) (int, bool) {
	for _, prefix := range []string{"code for sm_", ".target sm_", ".target\tsm_", ".arch sm_", "# .arch sm_", "arch = sm_"} {
		if rest, ok := strings.CutPrefix(t, prefix); ok {
			end := 0
			for end < len(rest) && rest[end] >= '0' && rest[end] <= '9' {
				end++
			}
			if n, err := strconv.Atoi(rest[:end]); err == nil && n > 0 && n < 1000 {
				return n, true
			}
		}
	}
	return 0, false
}

// word reads a comment with a word: /* 0x000fe400078e00ff */.
func word(t string) (w uint64, rest string, ok bool) {
	t = strings.TrimSpace(t)
	if !strings.HasPrefix(t, "/*") {
		return 0, t, false
	}
	in, rest, ok := strings.Cut(t[2:], "*/")
	if !ok {
		return 0, t, false
	}
	digits, ok := strings.CutPrefix(strings.TrimSpace(in), "0x")
	if !ok || len(digits) != 16 {
		return 0, t, false
	}
	w, err := strconv.ParseUint(digits, 16, 64)
	return w, rest, err == nil
}

// plainWords reads two words of 16 digits, low word first.
func plainWords(t string) (a, b uint64, ok bool) {
	f := strings.Fields(t)
	if len(f) != 2 {
		return 0, 0, false
	}
	var w [2]uint64
	for i := range f {
		digits := strings.TrimPrefix(strings.TrimSuffix(f[i], ","), "0x")
		v, err := strconv.ParseUint(digits, 16, 64)
		if err != nil || len(digits) != 16 {
			return 0, 0, false
		}
		w[i] = v
	}
	return w[0], w[1], true
}

// instruction reads a line with an instruction and ignores other lines.
func (p *listingParser) instruction(n int, t string) error {
	var ctl *isa.Control
	if strings.HasPrefix(t, "[B") {
		code, rest, ok := strings.Cut(t, "]")
		c, err := controlCode(code + "]")
		if !ok || err != nil {
			return fmt.Errorf("control code %.40q: %v; want the form [B0-----:R-:W1:-:S04]", code, err)
		}
		ctl, t = &c, strings.TrimSpace(rest)
	}
	if !strings.HasPrefix(t, "/*") {
		return nil
	}
	at, rest, ok := strings.Cut(t[2:], "*/")
	if !ok {
		return nil
	}
	pc, err := strconv.ParseUint(strings.TrimSpace(at), 16, 32)
	if err != nil || len(strings.TrimSpace(at)) < 4 {
		return nil // another comment
	}
	text, rest, ended := strings.Cut(rest, ";")
	if !ended {
		return fmt.Errorf("the instruction at %#x does not end with a semicolon", pc)
	}
	x := Listed{PC: uint32(pc), Text: squeeze(text), Line: n, Control: ctl}
	// A brace around two instructions that issue together.
	x.Text = strings.TrimSpace(strings.TrimPrefix(x.Text, "{"))
	if i := strings.IndexAny(x.Text, "&?"); i > 0 { // control bits after the operands
		c, err := cuda13(x.Text[i:])
		if err != nil {
			return err
		}
		if ctl == nil {
			x.Control = &c
		}
		x.Text = strings.TrimSpace(x.Text[:i])
	}
	x.Op, x.Guard = opAndGuard(x.Text)
	if x.Op == "" {
		return fmt.Errorf("no mnemonic at %#x", pc)
	}
	p.end()
	if w, _, ok := word(rest); ok && (p.l.Arch == 0 || p.l.Arch >= 70) {
		x.Words[0] = w
		p.add(x)
		p.high = true
		return nil
	}
	p.add(x)
	return nil
}

// decode takes control bits out of an instruction's words.
func (p *listingParser) decode(x *Listed) {
	if x.Control == nil {
		c := controlOf(x.Words[1])
		x.Control = &c
	}
}

// text fills in the text of an instruction known only by its words.
func (x *Listed) text(arch int) {
	if x.Op != "" || x.Words == ([2]uint64{}) || !slices.Contains(sass.Archs(), sass.Arch(arch)) {
		return
	}
	if in, err := sass.Decode(sass.Arch(arch), x.Words, x.PC); err == nil {
		x.Text = in.Text()
		x.Op, x.Guard = opAndGuard(x.Text)
	}
}

// controlOf reads the control bits of the high word.
func controlOf(hi uint64) isa.Control {
	c := hi >> 41
	return isa.Control{
		Stall: uint8(c & 0xf), Yield: c>>4&1 == 0, Write: uint8(c >> 5 & 7), Read: uint8(c >> 8 & 7), Wait: uint8(c >> 11 & 0x3f),
		Reuse: uint8(c >> 17 & 0xf),
	}
}

// controlCode reads [B0-2---:R1:W-:Y:S04].
func controlCode(s string) (isa.Control, error) {
	c := isa.Control{Write: isa.NoCounter, Read: isa.NoCounter}
	f := strings.Split(strings.Trim(s, "[]"), ":")
	if len(f) != 5 || len(f[0]) != 7 || len(f[1]) != 2 || len(f[2]) != 2 || len(f[3]) != 1 || len(f[4]) != 3 || f[0][0] != 'B' || f[1][0] != 'R' || f[2][0] != 'W' || f[4][0] != 'S' {
		return c, fmt.Errorf("want five parts of the right lengths")
	}
	for i := range isa.Counters {
		switch f[0][1+i] {
		case '-':
		case byte('0' + i):
			c.Wait |= 1 << i
		default:
			return c, fmt.Errorf("position %d of the wait mask is %q", i, f[0][1+i])
		}
	}
	for _, x := range []struct {
		text string
		to   *uint8
	}{{f[1], &c.Read}, {f[2], &c.Write}} {
		switch d := x.text[1]; {
		case d == '-':
		case d >= '0' && d < '0'+isa.Counters:
			*x.to = d - '0'
		default:
			return c, fmt.Errorf("no such counter: %q", d)
		}
	}
	switch f[3] {
	case "Y":
		c.Yield = true
	case "-":
	default:
		return c, fmt.Errorf("yield is %q; want Y or -", f[3])
	}
	n, err := strconv.ParseUint(f[4][1:], 10, 8)
	if err != nil || n > maxStall {
		return c, fmt.Errorf("stall is %q; want 00 to 15", f[4][1:])
	}
	c.Stall = uint8(n)
	return c, nil
}

// cuda13 reads what CUDA 13's disassembler prints after an instruction:
// &req={1,2} &wr=0x3 &rd=0x1 ?trans7 or ?WAIT5_END_GROUP or ?DRAIN.
func cuda13(s string) (isa.Control, error) {
	c := isa.Control{Write: isa.NoCounter, Read: isa.NoCounter, Stall: 1}
	for f := range strings.FieldsSeq(strings.ReplaceAll(s, ", ", ",")) {
		switch {
		case strings.HasPrefix(f, "&req="):
			for d := range strings.SplitSeq(strings.Trim(f[5:], "{}"), ",") {
				n, err := strconv.ParseUint(d, 0, 8)
				if err != nil || n >= isa.Counters {
					return c, fmt.Errorf("invalid counter in %q", f)
				}
				c.Wait |= 1 << n
			}
		case strings.HasPrefix(f, "&wr="), strings.HasPrefix(f, "&rd="):
			n, err := strconv.ParseUint(f[4:], 0, 8)
			if err != nil || n > isa.NoCounter || n == isa.Counters {
				return c, fmt.Errorf("invalid counter in %q", f)
			}
			if f[1] == 'w' {
				c.Write = uint8(n)
			} else {
				c.Read = uint8(n)
			}
		case f == "?DRAIN":
			c.Stall, c.Yield = 0, true
		case strings.HasPrefix(f, "?trans"):
			n, err := strconv.ParseUint(f[6:], 10, 8)
			if err != nil || n > 11 {
				return c, fmt.Errorf("%q is not a stall; want ?trans1 to ?trans11", f)
			}
			c.Stall = uint8(n)
		case strings.HasPrefix(f, "?WAIT"):
			d, _, _ := strings.Cut(f[5:], "_")
			n, err := strconv.ParseUint(d, 10, 8)
			if err != nil || n > maxStall {
				return c, fmt.Errorf("%q is not a stall; want ?WAIT1_END_GROUP to ?WAIT15_END_GROUP", f)
			}
			c.Stall, c.Yield = uint8(n), true
		}
	}
	return c, nil
}

// opAndGuard extracts guard and mnemonic from an instruction's text.
func opAndGuard(text string) (string, trace.Guard) {
	g := trace.Guard{Known: true, Reg: sass.PT}
	if strings.HasPrefix(text, "@") {
		var name string
		name, text, _ = strings.Cut(text[1:], " ")
		name, g.Negated = strings.CutPrefix(name, "!")
		name, g.Uniform = strings.CutPrefix(name, "U")
		if d, ok := strings.CutPrefix(name, "P"); ok && len(d) == 1 && d[0] >= '0' && d[0] <= '6' {
			g.Reg = d[0] - '0'
		} else if name != "PT" {
			g.Known = false
		}
		text = strings.TrimSpace(text)
	}
	op, _, _ := strings.Cut(text, " ")
	return op, g
}

func squeeze(s string) string { return strings.Join(strings.Fields(s), " ") }

// Join attaches a listing's data to the static instructions of a launch: text, guard,
// words and control bits, unless the trace has them. It changes k.Code. If a mnemonic
// differs, the listing is of another binary: the error is a *trace.Error with the line of
// the listing.
func Join(k *trace.Kernel, l *Listing) (JoinReport, error) {
	r := JoinReport{Total: len(k.Code)}
	if l.Arch != 0 && k.Arch != 0 && l.Arch != k.Arch {
		return r, &trace.Error{File: l.File, Msg: fmt.Sprintf("the listing is for sm_%d, but the trace of kernel %s is for sm_%d; make it from the binary that was traced", l.Arch, k.Kernel, k.Arch)}
	}
	name := k.Kernel
	code, ok := l.Code[name]
	if !ok { // a variant number may follow it
		if base, _, cut := strings.Cut(name, "____"); cut {
			code, ok = l.Code[base]
			name = base
		}
	}
	if !ok && len(l.Names) == 1 && l.Names[0] == "" {
		code, ok, name = l.Code[""], true, "" // words of one function, unnamed
	}
	if !ok {
		r.Missing = append(r.Missing, fmt.Sprintf("function %s", k.Kernel))
		for i := range k.Code {
			if k.Code[i].Control != nil {
				r.Control++
			}
		}
		return r, nil
	}
	r.Functions = append(r.Functions, name)
	main := kernelFunction(k)
	for i := range k.Code {
		s := &k.Code[i]
		at, found := slices.BinarySearchFunc(code, s.PC, func(x Listed, pc uint32) int { return int(int64(x.PC) - int64(pc)) })
		if found && s.Func == main {
			x := &code[at]
			x.text(k.Arch)
			if x.Op != "" && x.Op != s.Op && !sameOp(x.Op, s.Op) {
				if k.Version < 6 && s.Func == 0 && twice(k, i) {
					found = false // the trace mixes a called function with the kernel
				} else {
					return r, &trace.Error{File: l.File, Line: x.Line, Msg: fmt.Sprintf(
						"function %s has %s at %#x, but the trace has %s there; make the listing from the binary that was traced", name, x.Op, s.PC, s.Op)}
				}
			}
			if found {
				r.Covered++
				attach(s, x)
			}
		}
		if !found || s.Func != main {
			if len(r.Missing) < maxMissing {
				r.Missing = append(r.Missing, fmt.Sprintf("%#x %s", s.PC, s.Op))
			}
		}
		if s.Control != nil {
			r.Control++
		}
	}
	return r, nil
}

// kernelFunction is the function number of the kernel itself: that of the first record.
func kernelFunction(k *trace.Kernel) int32 {
	if len(k.Code) == 0 {
		return 0
	}
	return k.Code[0].Func
}

// twice reports whether the trace has another instruction at an address.
func twice(k *trace.Kernel, i int) bool {
	return slices.ContainsFunc(k.Code, func(s trace.Static) bool { return s.PC == k.Code[i].PC && s.Op != k.Code[i].Op })
}

// attach fills in what the trace lacks.
func attach(s *trace.Static, x *Listed) {
	if s.Text == "" {
		s.Text = x.Text
	}
	if !s.Guard.Known {
		s.Guard = x.Guard
		if x.Op == "" {
			s.Guard = trace.Guard{}
		}
	}
	if s.Words == ([2]uint64{}) {
		s.Words = x.Words
	}
	if s.Control == nil && x.Control != nil {
		c := *x.Control
		s.Control = &c
	}
}

// sameOp reports whether two mnemonics are spellings of the same one: disassemblers omit
// modifiers that others print, and print an IMAD that adds or moves as what it does.
func sameOp(a, b string) bool {
	x, _, _ := strings.Cut(a, ".")
	y, _, _ := strings.Cut(b, ".")
	return x == y
}
