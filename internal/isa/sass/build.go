package sass

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// This file: the lines of a table, read.

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
		r.before = t.byOpcode[code]
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
