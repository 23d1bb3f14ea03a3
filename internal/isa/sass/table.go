package sass

import (
	"embed"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// The tables are text, so that they can be read and checked like a manual.
// table/sm_75.txt explains their syntax; this file turns them into rows, once, when the first
// program is read.

//go:embed table/*.txt
var tableText embed.FS

// enum is a field whose values have names.
type enum struct {
	name  string
	at    span
	names map[uint64][]string // the first is printed; "" prints nothing
	order []enumName          // longest first, for reading
}

type enumName struct {
	text  string
	value uint64
}

// modField is a part of the mnemonic after the opcode.
type modField struct {
	enum *enum
	at   span
	text string // a modifier: always printed if enum is nil and at empty, else if the bit is set
}

// immType is the interpretation of a number in a field.
type immType uint8

const (
	immUnsigned immType = iota
	immSigned
	immF16
	immF32
	immF64 // the upper 32 bits of a double
	immH2  // two halves, the upper one first
	immB2  // two bfloat16, the upper one first
)

// field kinds of operands
type fieldKind uint8

const (
	fGPR fieldKind = iota
	fUGPR
	fPred
	fUPred
	fBReg
	fSB
	fSReg
	fImm
	fConst  // c[bank][word offset]
	fCX     // cx[UR][word offset]
	fLDC    // c[bank][R + byte offset]
	fULDC   // c[bank][UR + byte offset]
	fLDCU   // c[bank][UR + byte offset], one bit lower
	fTarget // relative to the next instruction
	fAbs    // code address
	fMask
	fWord
	fEnum
	fMem
	fPnz  // predicate whose encoding is mirrored: PT is 0
	fUPnz // the same of a uniform predicate
	fDesc
	fGDesc
)

// opt says when the text omits an operand.
type opt uint8

const (
	always    opt = iota
	unlessPT      // omitted if PT (or an offset of 0)
	unlessNot     // omitted if !PT
)

// operandField is an operand of a row.
type operandField struct {
	kind    fieldKind
	role    Role
	dst     bool
	at      span
	opt     opt
	neg     int // bit numbers, -1 if none
	abs     int
	inv     int
	not     int
	reuse   int
	suffix  *enum
	suffAt  span
	imm     immType
	scale   int64
	count   string // number of registers: "", "2", "sz" etc.; see counts.go
	tail    bool
	word    string
	half    bool // half-precision slot
	next    bool // uniform register after the one in the field
	literal int  // required register number, -1 if any

	// of memory operands
	base      *operandField
	ureg      *operandField
	keepURZ   bool
	offset    *operandField
	desc      *operandField
	descOld   bool
	wide      bool // base's suffix bit follows .E if there is no base
	zeroShown bool // or the base is written as RZ
}

// row is one instruction form.
type row struct {
	op       Op
	src      string // the table's line, for messages
	mask     word128
	value    word128 // required values of the bits of mask
	known    word128 // all bits that belong to a field; others must be zero
	mods     []modField
	operands []operandField
	shl      bool // the immediate must be a power of two, and not 0x10000
	guard    bool // its guard is a uniform predicate
}

// pair reports whether the field holds two numbers.
func (f *operandField) pair() bool { return f.kind == fImm && (f.imm == immH2 || f.imm == immB2) }

// table holds the rows of one architecture.
type table struct {
	arch     Arch
	rows     []*row
	byOpcode map[uint64][]*row
	byOp     map[Op][]*row
}

// names lists the opcodes that the architecture has.
func (t *table) names() []string {
	var list []string
	for op := NoOp + 1; op < Ops; op++ {
		if len(t.byOp[op]) > 0 {
			list = append(list, opNames[op])
		}
	}
	return list
}

// opcodeSpan is the 13-bit opcode.
var opcodeSpan = span{{91, 91}, {11, 0}}

// guardSpan is the guard predicate, guardNot its negation.
var guardSpan = span{{14, 12}}

const guardNot = 15

// descPrinted says before sm_90 that a descriptor is printed.
var descPrinted = span{{101, 101}}

// controlMask covers the control bits except reuse.
var controlMask = span{{121, 105}}.mask()

// archTables are the architectures and the files that make up their tables, base first: a
// later file's rows precede an earlier one's, and `drop` removes opcodes that have another
// meaning.
var archTables = map[Arch][]string{
	70: {"sm_75", "mem_75", "tex", "sm_70"},
	75: {"sm_75", "mem_75", "tex"},
	80: {"sm_75", "mem_80", "tex", "sm_80"},
	86: {"sm_75", "mem_80", "tex", "sm_80", "sm_86"},
	87: {"sm_75", "mem_80", "tex", "sm_80", "sm_86"},
	89: {"sm_75", "mem_80", "tex", "sm_80", "sm_86", "sm_89"},
	90: {"sm_75", "mem_80", "tex", "sm_80", "hopper", "sm_90"},

	120: {"sm_75", "mem_100", "tex", "sm_80", "hopper", "sm_100", "sm_120"},
	121: {"sm_75", "mem_100", "tex", "sm_80", "hopper", "sm_100", "sm_120"},

	// These can only be disassembled, and not completely.
	100: {"sm_75", "mem_100", "tex", "sm_80", "hopper", "sm_100"},
	110: {"sm_75", "mem_100", "tex", "sm_80", "hopper", "sm_100"},
}

// Assembles reports whether programs of the architecture can be assembled; others can only
// be disassembled.
func (a Arch) Assembles() bool { return a < 100 || a >= 120 }

// Executes reports whether what the architecture's instructions do is defined in exec/sass; code
// of others can only be listed.
func (a Arch) Executes() bool { return archTables[a] != nil && a.Assembles() && a != 70 && a != 90 }

// ExecutedArchs names the architectures that Executes accepts, for messages.
const ExecutedArchs = "sm_75 to sm_89, sm_120 and sm_121"

// wideUniform reports whether uniform registers have numbers of eight bits.
func (a Arch) wideUniform() bool { return a >= 100 }

// wideSpans are the places of uniform registers with eight bits.
var wideSpans = map[string]string{"21:16": "23:16", "29:24": "31:24", "37:32": "39:32", "69:64": "71:64"}

// Archs lists the architectures with tables, in order.
func Archs() []Arch {
	list := make([]Arch, 0, len(archTables))
	for a := range archTables {
		list = append(list, a)
	}
	slices.Sort(list)
	return list
}

// String is the architecture's name: sm_86.
func (a Arch) String() string { return fmt.Sprintf("sm_%d", int(a)) }

// ParseArch reads the name of an architecture. sm_90a, with the instructions that only this
// architecture has, is sm_90: their words are in its table.
func ParseArch(name string) (Arch, error) {
	if num, ok := strings.CutPrefix(name, "sm_"); ok {
		if n, err := strconv.Atoi(strings.TrimRight(num, "af")); err == nil {
			if _, ok := archTables[Arch(n)]; ok {
				return Arch(n), nil
			}
		}
	}
	names := make([]string, 0, len(archTables))
	for _, a := range Archs() {
		names = append(names, a.String())
	}
	return 0, fmt.Errorf("unknown architecture %q; want one of %s", name, strings.Join(names, ", "))
}

var tables sync.Map // Arch to func() *table

// tableOf returns the rows of an architecture, built on first use. The tables
// are part of the program: an error in them is a bug, which a test finds.
func tableOf(a Arch) *table {
	f, ok := tables.Load(a)
	if !ok {
		f, _ = tables.LoadOrStore(a, sync.OnceValue(func() *table {
			t, err := buildTable(a)
			if err != nil {
				panic(err)
			}
			return t
		}))
	}
	return f.(func() *table)()
}

// builder reads table files.
type builder struct {
	enums   map[string]*enum
	rows    []*row
	noReuse map[Op]bool
	wide    bool // uniform registers have eight bits
	volta   bool // there are no uniform registers
	hopper  bool // sm_90 and later: bit 101 is never set, and every descriptor is printed
}

func buildTable(a Arch) (*table, error) {
	b := &builder{enums: warpgroupShapes(), noReuse: map[Op]bool{}, wide: a.wideUniform(), volta: a < 75, hopper: a >= 90}
	b.enums["np"] = quadSigns()
	var all []*row
	for _, name := range archTables[a] {
		text, err := tableText.ReadFile("table/" + name + ".txt")
		if err != nil {
			return nil, err
		}
		b.rows = nil
		var drop []uint64
		for i, line := range strings.Split(string(text), "\n") {
			if n := strings.Index(line, "#"); n >= 0 {
				line = line[:n]
			}
			words := strings.Fields(line)
			if len(words) == 0 {
				continue
			}
			var err error
			switch words[0] {
			case "enum":
				err = b.enum(words[1:])
			case "noreuse", "reuse":
				for _, w := range words[1:] {
					op, ok := opsByName[w]
					if !ok {
						err = fmt.Errorf("mnemonic %q is not in op.go", w)
					}
					b.noReuse[op] = words[0] == "noreuse"
				}
			case "drop":
				for _, w := range words[1:] {
					n, e := strconv.ParseUint(w, 16, 64)
					if e != nil {
						err = e
					}
					drop = append(drop, n)
				}
			default:
				err = b.row(line)
			}
			if err != nil {
				return nil, fmt.Errorf("%s.txt:%d: %w", name, i+1, err)
			}
		}
		all = slices.DeleteFunc(all, func(r *row) bool { return slices.Contains(drop, opcodeSpan.get(r.value)) })
		all = append(b.rows, all...)
	}
	if b.volta {
		all = slices.DeleteFunc(all, (*row).uniform)
	}
	t := &table{arch: a, rows: all, byOpcode: map[uint64][]*row{}, byOp: map[Op][]*row{}}
	for _, r := range all {
		code := opcodeSpan.get(r.value)
		t.byOpcode[code] = append(t.byOpcode[code], r)
		t.byOp[r.op] = append(t.byOp[r.op], r)
	}
	return t, nil
}

// uniform reports whether the form names a uniform register or predicate.
func (r *row) uniform() bool {
	return r.guard || slices.ContainsFunc(r.operands, func(f operandField) bool {
		switch f.kind {
		case fUGPR, fUPred, fCX, fULDC, fLDCU:
			return true
		}
		return f.ureg != nil || f.desc != nil
	})
}

// groupSpan is the shape of an instruction of four warps: rows, columns and depth.
var groupSpan = span{{59, 53}}

// warpgroupShapes are the shapes of HGMMA, QGMMA, IGMMA and BGMMA, and of their sparse forms: 64 rows,
// a multiple of 8 columns (only some of integers), and 32 bytes of each row, or twice as many.
func warpgroupShapes() map[string]*enum {
	enums := map[string]*enum{}
	add := func(name string, value uint64, columns, depth int) {
		e := enums[name]
		if e == nil {
			e = &enum{name: "shape", at: groupSpan, names: map[uint64][]string{}}
			enums[name] = e
		}
		text := fmt.Sprintf("64x%dx%d", columns, depth)
		e.names[value] = []string{text}
		e.order = append(e.order, enumName{text, value})
	}
	for i := range 32 {
		n, v := 8*(i+1), uint64(i)
		add("hgmma", v, n, 16)
		add("hgmma", 32+v, n, 8)
		add("hgmmasp", 64+v, n, 32)
		add("qgmma", v, n, 32)
		add("qgmmasp", 32+v, n, 64)
	}
	for i := range 18 {
		n, v := 8*(i+1), uint64(i)
		if i > 2 {
			n = 16 * (i - 1)
		}
		add("bgmma", v, n, 256)
		add("igmma", 3*v, n, 32)
		add("igmmasp", 3*v+1, n, 64)
	}
	return enums
}

// quadSigns is the operand of FSWZADD: four times two bits for the signs of a pair of
// lanes.
func quadSigns() *enum {
	e := &enum{name: "signs of lanes", at: span{{39, 32}}, names: map[uint64][]string{}}
	pairs := [4]string{"PP", "PN", "NP", "ZP"}
	for v := range uint64(256) {
		text := pairs[v>>6] + pairs[v>>4&3] + pairs[v>>2&3] + pairs[v&3]
		e.names[v] = []string{text}
		e.order = append(e.order, enumName{text, v})
	}
	return e
}

// parseSpan reads 79:78 or 91+11:0.
func parseSpan(s string) (span, error) {
	var out span
	for _, part := range strings.Split(s, "+") {
		hi, lo, two := strings.Cut(part, ":")
		h, err := strconv.Atoi(hi)
		if err != nil {
			return nil, fmt.Errorf("bit span %q", s)
		}
		l := h
		if two {
			if l, err = strconv.Atoi(lo); err != nil {
				return nil, fmt.Errorf("bit span %q", s)
			}
		}
		if h < l || h > 127 {
			return nil, fmt.Errorf("bit span %q", s)
		}
		out = append(out, segment{h, l})
	}
	return out, nil
}

// enum reads: name span value=name|other value=name …; "-" is the name that is not printed.
func (b *builder) enum(words []string) error {
	if len(words) < 3 {
		return fmt.Errorf("an enum needs a name, a span and values")
	}
	e := &enum{name: words[0], names: map[uint64][]string{}}
	var err error
	if e.at, err = parseSpan(words[1]); err != nil {
		return err
	}
	for _, w := range words[2:] {
		num, names, ok := strings.Cut(w, "=")
		v, err := strconv.ParseUint(num, 0, 64)
		if !ok || err != nil {
			return fmt.Errorf("enum value %q", w)
		}
		for _, n := range strings.Split(names, "|") {
			if n == "-" {
				n = ""
			}
			e.names[v] = append(e.names[v], n)
			e.order = append(e.order, enumName{n, v})
		}
	}
	slices.SortStableFunc(e.order, func(x, y enumName) int { return len(y.text) - len(x.text) })
	b.enums[e.name] = e
	return nil
}

// newRow starts a row of an opcode.
func newRow(op Op, line string, opcode uint64) *row {
	r := &row{op: op, src: strings.TrimSpace(line)}
	r.fix(opcodeSpan, opcode)
	r.use(guardSpan)
	r.useBit(guardNot)
	r.known = r.known.or(controlMask)
	return r
}

func (r *row) fix(at span, v uint64) {
	m := at.mask()
	r.mask, r.known = r.mask.or(m), r.known.or(m)
	at.set(&r.value, v)
}

func (r *row) use(at span) { r.known = r.known.or(at.mask()) }

func (r *row) useBit(n int) {
	if n >= 0 {
		r.known.setBit(n, 1)
	}
}

// slot is the place of a row's variable operand in one of its forms.
type slot struct {
	kind fieldKind
	at   string
	low  bool // in bits 63:32, negated by bit 63 etc.; otherwise in Rc's place
}

// form is one operand form of the ALU instructions: what it adds to the opcode, and the
// places of B and C.
type form struct {
	letter string
	add    uint64
	b, c   slot
}

var (
	regLow  = slot{fGPR, "39:32", true}
	regHigh = slot{fGPR, "71:64", false}
	immLow  = slot{fImm, "63:32", true}
	conLow  = slot{fConst, "", true}
	cxLow   = slot{fCX, "", true}
	urLow   = slot{fUGPR, "37:32", true}
	urHigh  = slot{fUGPR, "69:64", false}
)

// shapes are the operand forms (bits 11:9 of the opcode, bit 91): R register, I immediate, C
// constant, X constant through a uniform register, U uniform register, in B's place; r is the
// plain form and i, c, x, u the same in C's place.
var shapes = map[string][]form{
	"b": {
		{"R", 0x200, regLow, regHigh}, {"I", 0x800, immLow, regHigh}, {"C", 0xa00, conLow, regHigh},
		{"X", 0x1a00, cxLow, regHigh}, {"U", 0x1c00, urLow, regHigh},
	},
	"bc": {
		{"R", 0x200, regLow, regHigh}, {"I", 0x800, immLow, regHigh}, {"C", 0xa00, conLow, regHigh},
		{"X", 0x1a00, cxLow, regHigh}, {"U", 0x1c00, urLow, regHigh},
		{"i", 0x400, regHigh, immLow}, {"c", 0x600, regHigh, conLow}, {"x", 0x1600, regHigh, cxLow}, {"u", 0x1e00, regHigh, urLow},
	},
	"c": { // two sources, with the forms that C has in bc
		{"R", 0x200, regLow, slot{}}, {"I", 0x400, immLow, slot{}}, {"C", 0x600, conLow, slot{}},
		{"X", 0x1600, cxLow, slot{}}, {"U", 0x1e00, urLow, slot{}},
	},
	"d": { // the same, with a register in Rc's place
		{"R", 0x200, regHigh, slot{}}, {"I", 0x400, immLow, slot{}}, {"C", 0x600, conLow, slot{}},
		{"X", 0x1600, cxLow, slot{}}, {"U", 0x1e00, urLow, slot{}},
	},
	"ub": {{"R", 0x1200, urLow, urHigh}, {"I", 0x1800, immLow, urHigh}},
	"ubc": {
		{"R", 0x1200, urLow, urHigh}, {"I", 0x1800, immLow, urHigh}, {"i", 0x1400, urHigh, immLow},
	},
}

// row reads a line: opcode, shape, mnemonic, modifiers, operands, fixed bits.
func (b *builder) row(line string) error {
	body, fixed, _ := strings.Cut(line, ";")
	words := strings.Fields(body)
	if len(words) < 3 {
		return fmt.Errorf("a row needs an opcode, a shape and a mnemonic")
	}
	code, err := strconv.ParseUint(words[0], 16, 64)
	if err != nil {
		return fmt.Errorf("opcode %q", words[0])
	}
	op, ok := opsByName[words[2]]
	if !ok {
		return fmt.Errorf("mnemonic %q is not in op.go", words[2])
	}
	n := 3
	for n < len(words) && strings.HasPrefix(words[n], ".") {
		n++
	}
	mods, rest := words[3:n], strings.Join(words[n:], " ")
	forms := []form{{}}
	if words[1] != "-" {
		name, letters, some := strings.Cut(words[1], ":")
		list, ok := shapes[name]
		if !ok {
			return fmt.Errorf("shape %q", words[1])
		}
		forms = nil
		for _, f := range list {
			if !some || strings.Contains(letters, f.letter) {
				forms = append(forms, f)
			}
		}
	}
	for _, f := range forms {
		r := newRow(op, line, code+f.add)
		if err := b.mods(r, mods); err != nil {
			return err
		}
		if err := b.operands(r, rest, f); err != nil {
			return err
		}
		if err := b.fixed(r, fixed); err != nil {
			return err
		}
		if b.hopper && descPrinted.get(r.value) != 0 {
			continue
		}
		b.rows = append(b.rows, r)
	}
	return nil
}

// fixed reads the fixed bits of a row.
func (b *builder) fixed(r *row, text string) error {
	for _, w := range strings.Fields(text) {
		switch w {
		case "shl":
			r.shl = true
			continue
		case "uguard":
			r.guard = true
			continue
		case "always":
			r.fix(guardSpan, PT)
			r.fix(span{{guardNot, guardNot}}, 0)
			continue
		}
		at, v, ok := strings.Cut(w, "=")
		if wide := wideSpans[at]; b.wide && wide != "" && v == strconv.Itoa(URZ6) { // no uniform register
			at, v = wide, strconv.Itoa(URZ)
		}
		s, err := parseSpan(at)
		num, err2 := strconv.ParseUint(v, 0, 64)
		if !ok || err != nil || err2 != nil {
			return fmt.Errorf("fixed bits %q", w)
		}
		r.fix(s, num)
	}
	return nil
}

func (b *builder) mods(r *row, words []string) error {
	for _, w := range words {
		name, at, placed := strings.Cut(w[1:], "@")
		var s span
		if placed {
			var err error
			if s, err = parseSpan(at); err != nil {
				return err
			}
		}
		m := modField{text: name, at: s}
		if name == strings.ToLower(name) && name[0] >= 'a' {
			e, ok := b.enums[name]
			if !ok {
				return fmt.Errorf("enum %q", name)
			}
			m.enum = e
			if !placed {
				m.at = e.at
			}
		}
		r.use(m.at)
		r.mods = append(r.mods, m)
	}
	return nil
}

// operandPattern splits an operand of a table into name, place, marks, suffix, number type
// and register count.
var operandPattern = regexp.MustCompile(`^(\+?)([A-Za-z][A-Za-z0-9]*)(?:@([0-9:+]+))?([-|~?!]*)(?:\.([a-z0-9]+)(?:@([0-9:+]+))?)?(?::([a-z0-9]+))?(?:\*([a-z0-9]+))?(?:=([0-9]+))?$`)

var immTypes = map[string]immType{"u": immUnsigned, "s": immSigned, "f16": immF16, "f32": immF32, "f64": immF64, "h2": immH2, "b2": immB2}

// descFieldPattern splits a descriptor that no address follows.
var descFieldPattern = regexp.MustCompile(`^(g?desc)\[([^\]]+)\]([^\[\]]*)$`)

// named are the operands that have their own place.
var named = map[string]struct {
	kind fieldKind
	role Role
	at   string
	dst  bool
	not  int
}{
	"Rd": {fGPR, Rd, "23:16", true, -1}, "Ra": {fGPR, A, "31:24", false, -1}, "Rb": {fGPR, B, "39:32", false, -1},
	"Rc": {fGPR, C, "71:64", false, -1}, "Rx": {fGPR, Extra, "71:64", false, -1}, "Rd2": {fGPR, Extra, "71:64", true, -1},
	"URd": {fUGPR, Rd, "21:16", true, -1}, "URa": {fUGPR, A, "29:24", false, -1}, "URb": {fUGPR, B, "37:32", false, -1},
	"URc": {fUGPR, C, "69:64", false, -1}, "URx": {fUGPR, Extra, "69:64", false, -1},
	"Pu": {fPred, Pu, "83:81", true, -1}, "Pv": {fPred, Pv, "86:84", true, -1}, "Pp": {fPred, Pp, "89:87", false, 90},
	"Pq": {fPred, Pq, "79:77", false, 80}, "Pr": {fPred, Pr, "70:68", false, 71},
	"UPu": {fUPred, Pu, "83:81", true, -1}, "UPv": {fUPred, Pv, "86:84", true, -1}, "UPp": {fUPred, Pp, "89:87", false, 90},
	"UPq": {fUPred, Pq, "79:77", false, 80}, "UPr": {fUPred, Pr, "70:68", false, 71},
	"Bd": {fBReg, Bar, "19:16", false, -1}, "Ba": {fBReg, Bar, "29:24", false, -1},
	"SB": {fSB, Extra, "46:44", false, -1}, "SR": {fSReg, A, "79:72", false, -1},
	"mask": {fMask, Extra, "37:32", false, -1},
	"rel":  {fTarget, Dest, "81:34", false, -1}, "near": {fTarget, Dest, "30:24", false, -1}, "abs": {fAbs, Dest, "80:34", false, -1},
	"c": {fConst, B, "", false, -1}, "ldc": {fLDC, Addr, "", false, -1},
	"UPb": {fUPred, Extra, "26:24", false, 27},
	"URt": {fUGPR, Extra, "45:40", false, -1},
	"Rm":  {fGPR, Extra, "47:40", false, -1}, "Rn": {fGPR, Extra, "59:52", false, -1}, "URs": {fUGPR, Extra, "77:73+62:60", false, -1}, "URn": {fUGPR, Extra, "69:64", false, -1},
	"Rw": {fGPR, Extra, "23:16", false, -1}, "URi": {fUGPR, A, "29:24", false, 30},
	"Bw":   {fBReg, Bar, "19:16", true, -1},
	"immA": {fImm, A, "63:32", false, -1}, "immB": {fImm, B, "63:32", false, -1}, "immC": {fImm, C, "63:32", false, -1},
	"immv": {fImm, Extra, "", false, -1}, "roff": {fImm, Dest, "81:34", false, -1}, "uldc": {fULDC, Addr, "", false, -1}, "cdcu": {fLDCU, Addr, "", false, -1}, "cdcur": {fLDCU, Addr, "29:24", false, -1}, "uldcr": {fULDC, Addr, "29:24", false, -1},
	"imm": {fImm, Extra, "63:32", false, -1}, "lut": {fImm, Lut, "79:72", false, -1}, "lut2": {fImm, Lut2, "23:16", false, -1},
	"Pz": {fPnz, Pp, "67:64", false, -1}, "UPz": {fUPnz, Pp, "90:87", false, -1},
}

// constSpan is bank and word offset of a constant operand, ldcSpan bank and byte offset of a
// constant that is loaded.
var (
	constBank = span{{58, 54}}
	constWord = span{{53, 40}}
	ldcBytes  = span{{53, 38}}
	ldcuBytes = span{{53, 37}}
	cxReg     = span{{37, 32}}
	ldcReg    = span{{31, 24}}
)

func (b *builder) operands(r *row, text string, f form) error {
	if text == "" {
		return nil
	}
	for _, part := range splitOperands(text) {
		part = strings.TrimSpace(part)
		tail := false
		if p, ok := strings.CutPrefix(part, "&"); ok { // follows after a space
			part, tail = p, true
		}
		o, err := b.operand(r, part, f)
		if err != nil {
			return err
		}
		o.tail = tail
		r.operands = append(r.operands, o)
	}
	return nil
}

// splitOperands splits at commas outside brackets.
func splitOperands(s string) []string {
	var out []string
	depth, from := 0, 0
	for i, c := range s {
		switch c {
		case '[', '{':
			depth++
		case ']', '}':
			depth--
		case ',':
			if depth == 0 {
				out = append(out, s[from:i])
				from = i + 1
			}
		}
	}
	return append(out, s[from:])
}

func (b *builder) operand(r *row, text string, f form) (operandField, error) {
	if word, ok := strings.CutPrefix(text, "'"); ok {
		o := newField()
		o.kind, o.word, o.role = fWord, word, Extra
		return o, nil
	}
	if m := descFieldPattern.FindStringSubmatch(text); m != nil { // a descriptor by itself
		o, err := b.operand(r, m[2]+m[3], f)
		o.kind = map[string]fieldKind{descShown: fDesc, descMatrix: fGDesc}[m[1]]
		return o, err
	}
	if strings.Contains(text, "[") {
		return b.mem(r, text, f)
	}
	m := operandPattern.FindStringSubmatch(text)
	if m == nil {
		return operandField{}, fmt.Errorf("operand %q", text)
	}
	if e, ok := b.enums[m[2]]; ok {
		return b.word(r, e, m[3])
	}
	return b.field(r, &spelling{name: m[2], at: m[3], marks: m[4], suffix: m[5], suffixAt: m[6], number: m[7], count: m[8], literal: m[9]}, f)
}

// spelling is an operand of a row in its parts.
type spelling struct {
	name, at, marks, suffix, suffixAt, number, count, literal string
}

func newField() operandField {
	return operandField{neg: -1, abs: -1, inv: -1, not: -1, reuse: -1, literal: -1, scale: 1}
}

// word is an operand that is one of an enum's names.
func (b *builder) word(r *row, e *enum, at string) (operandField, error) {
	o := newField()
	o.kind, o.suffix, o.suffAt, o.role = fEnum, e, e.at, Extra
	if at != "" {
		s, err := parseSpan(at)
		if err != nil {
			return o, err
		}
		o.suffAt = s
	}
	r.use(o.suffAt)
	return o, nil
}

// field is an operand with a place of its own, or in a slot of the row's form.
func (b *builder) field(r *row, p *spelling, f form) (operandField, error) {
	o := newField()
	at, low, inSlot := p.at, false, true
	var sl slot
	switch p.name {
	case "B":
		sl, o.role = f.b, B
	case "C":
		sl, o.role = f.c, C
	default:
		d, ok := named[p.name]
		if !ok {
			return o, fmt.Errorf("operand name %q", p.name)
		}
		o.role, o.dst, o.not, inSlot = d.role, d.dst, d.not, false
		sl = slot{d.kind, d.at, p.name == "Rb" || p.name == "URb" || p.name == "c"}
	}
	o.kind, low = sl.kind, sl.low
	if at == "" {
		at = sl.at
		if w, ok := wideSpans[at]; ok && b.wide && (o.kind == fUGPR || o.kind == fLDCU || o.kind == fULDC) {
			at = w
		}
	}
	if at != "" {
		s, err := parseSpan(at)
		if err != nil {
			return o, err
		}
		o.at = s
		r.use(s)
	}
	o.constant(r)
	o.named(p.name)
	if (o.kind == fPred || o.kind == fUPred) && len(o.at) == 1 && o.not < 0 && !o.dst {
		o.not = o.at[0].hi + 1
	}
	r.useBit(o.not)
	sign := signBits(o.role, low)
	o.marks(r, p.marks, sign)
	if p.suffix != "" && o.kind != fImm {
		if err := b.suffixed(r, &o, p, sign, (o.role == C || o.role == B && inSlot) && !low); err != nil {
			return o, err
		}
	}
	if p.number != "" {
		t, ok := immTypes[p.number]
		if !ok {
			return o, fmt.Errorf("number type %q", p.number)
		}
		o.imm = t
		if o.kind == fImm && t == immF16 && inSlot {
			o.at = span{{47, 32}}
		}
	}
	o.count = p.count
	if p.literal != "" {
		o.literal, _ = strconv.Atoi(p.literal)
		r.fix(o.at, uint64(o.literal))
	}
	if o.kind == fGPR && !o.dst && !b.noReuse[r.op] && (o.role == A || o.role == B || o.role == C) {
		o.reuse = map[Role]int{A: 122, B: 123, C: 124}[o.role]
		if inSlot && f.c == (slot{}) { // in shapes c and d the operand called B is the third source
			o.reuse = 124
		}
	}
	return o, nil
}

// constant says which bits a constant takes.
func (f *operandField) constant(r *row) {
	switch f.kind {
	case fConst:
		r.use(constBank)
		r.use(constWord)
	case fCX:
		r.use(cxReg)
		r.use(constWord)
	case fLDC:
		r.use(constBank)
		r.use(ldcBytes)
		r.use(ldcReg)
	case fULDC:
		r.use(constBank)
		r.use(ldcBytes)
	case fLDCU:
		r.use(constBank)
		r.use(ldcuBytes)
	}
}

// named sets what belongs to some operands' names.
func (f *operandField) named(name string) {
	if f.kind == fTarget || f.kind == fAbs {
		f.scale = 4
	}
	switch name {
	case "near":
		f.scale = 1
	case "immv": // offsets of vectors
		f.scale = 32
	case "roff":
		f.scale, f.imm = 4, immSigned
	case "Rm":
		f.reuse = 50
	case "Rn":
		f.reuse = 51
	case "URn":
		f.next = true
	}
}

// marks reads the marks after an operand's name: the signs that it may have, and whether it may be
// omitted.
func (f *operandField) marks(r *row, marks string, sign signs) {
	if f.kind != fImm {
		for _, c := range marks {
			switch c {
			case '-':
				f.neg = sign.neg
			case '|':
				f.abs = sign.abs
			case '~':
				f.inv = sign.neg
			}
		}
		r.useBit(f.neg)
		r.useBit(f.abs)
		r.useBit(f.inv)
	}
	if strings.Contains(marks, "?") {
		f.opt = unlessPT
		if strings.Contains(marks, "!") {
			f.opt = unlessNot
		}
	}
}

// suffixed sets an operand's suffix. That of packed halves has a place in each slot; third says that
// the operand is in that of the third source.
func (b *builder) suffixed(r *row, o *operandField, p *spelling, sign signs, third bool) error {
	e, ok := b.enums[p.suffix]
	if !ok {
		return fmt.Errorf("enum %q", p.suffix)
	}
	o.suffix, o.suffAt = e, e.at
	if e.name == "swz" {
		o.suffAt, o.half = span{sign.swz}, true
		if third && o.neg >= 0 {
			o.neg = 84
			r.useBit(84)
		}
		if third && o.abs >= 0 {
			o.abs = 83
			r.useBit(83)
		}
	}
	if p.suffixAt != "" {
		s, err := parseSpan(p.suffixAt)
		if err != nil {
			return err
		}
		o.suffAt = s
	}
	r.use(o.suffAt)
	return nil
}

// signs are the bits that negate, take the absolute value and select halves of a source.
type signs struct {
	neg, abs int
	swz      segment
}

func signBits(role Role, low bool) signs {
	switch {
	case role == A:
		return signs{72, 73, segment{75, 74}}
	case low:
		return signs{63, 62, segment{61, 60}}
	}
	return signs{75, 74, segment{82, 81}}
}

// memPattern splits [Ra.w90+UR@69:64!+s24] and desc[URb][…].
var memPattern = regexp.MustCompile(`^(desc0?\[([^\]]+)\])?\[([^\]+]*)((?:\+[^\]+]+)*)\](\^)?$`)

func (b *builder) mem(r *row, text string, f form) (operandField, error) {
	o := newField()
	o.kind, o.role = fMem, Addr
	m := memPattern.FindStringSubmatch(text)
	if m == nil {
		return o, fmt.Errorf("address %q", text)
	}
	if m[5] != "" {
		o.role = Addr2
	}
	one := func(s string) (*operandField, error) {
		p, err := b.operand(r, s, f)
		return &p, err
	}
	var err error
	if m[2] != "" {
		if o.desc, err = one(m[2]); err != nil {
			return o, err
		}
		o.descOld = strings.HasPrefix(text, "desc0") && !b.hopper
	}
	parts := append([]string{m[3]}, strings.Split(strings.TrimPrefix(m[4], "+"), "+")...)
	for _, p := range parts {
		switch {
		case p == "":
		case strings.HasPrefix(p, "UR"):
			p, o.keepURZ = strings.TrimSuffix(p, "!"), strings.HasSuffix(p, "!")
			o.ureg, err = one(p)
		case strings.HasPrefix(p, "R"):
			o.base, err = one(p)
			if o.base != nil && o.base.suffix != nil {
				o.wide = o.base.suffix.name == "w"
			}
		case strings.HasPrefix(p, "imm"):
			o.offset, err = one(p)
		default:
			err = fmt.Errorf("address %q", text)
		}
		if err != nil {
			return o, err
		}
	}
	o.zeroShown = b.hopper
	if o.base != nil {
		o.base.reuse = -1
	}
	if !o.wide { // it may be omitted only after a register with .64 or .U32
		o.keepURZ = true
	}
	return o, nil
}
