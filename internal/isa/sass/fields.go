package sass

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// This file: the operands in the lines of a table, read.

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
